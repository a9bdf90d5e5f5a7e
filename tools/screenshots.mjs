// Makes the pictures of the docs from real pages: runs the program, opens what it writes in headless Chromium.
//   node tools/screenshots.mjs PROGRAM DIRECTORY
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");
const [program, images] = process.argv.slice(2).map(path => resolve(path));
const work = mkdtempSync(join(tmpdir(), "sfumato-screenshots-"));

/// Runs the program in the repository's root; verdicts have codes of their own.
function sfumato(...args) {
  try {
    execFileSync(program, args, { cwd: root, stdio: "ignore" });
  } catch (error) {
    if (error.status !== 1 && error.status !== 2) throw error;
  }
}

const ledger = join(work, "canary.ledger");
const pages = {
  report() {
    sfumato("study", "run", "examples/train/canary.toml", "--ledger", ledger);
    sfumato("report", ledger, "--out", join(work, "report.html"));
  },
  account() {
    sfumato("account", "--noise_multiplier", "1.1", "--sample_rate", "0.00427", "--steps", "14062", "--sampler", "poisson", "--adjacency", "add_remove",
      "--target_delta", "1e-5", "--report", join(work, "account.html"));
  },
  rows() {
    sfumato("rows", "examples/rows/diabetes.csv", "--target", "progression", "--adjacency", "remove", "--loss", "sum", "--ridge", "100", "--noise", "0.001",
      "--standardise", "examples/rows/public.csv", "--report", join(work, "rows.html"));
  },
};

const heights = { report: 1680 }; // down to the figures

mkdirSync(images, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  for (const [name, make] of Object.entries(pages)) {
    make();
    const page = await browser.newPage({ viewport: { width: 1120, height: heights[name] ?? 760 }, colorScheme: "light" });
    await page.goto(pathToFileURL(join(work, `${name}.html`)).href, { waitUntil: "load" });
    await page.waitForFunction(() => document.querySelectorAll("figure[data-figure]:not(.ready)").length === 0);
    await page.screenshot({ path: join(images, `${name}.png`) });
    await page.close();
    console.log(join(images, `${name}.png`));
  }
} finally {
  await browser.close();
  rmSync(work, { recursive: true });
}
