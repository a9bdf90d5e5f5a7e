// Makes one script of figures/ and the packages it uses, headed by their licences.
//   node bundle.mjs OUTPUT.js
import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [output] = process.argv.slice(2);

const result = await build({
  absWorkingDir: here, entryPoints: ["figures/main.js"], bundle: true, minify: true, format: "iife", target: "es2020",
  legalComments: "none", write: false, metafile: true, logLevel: "warning",
});

// Every package that something came from: its copyright lines, by the text of its licence.
const packages = new Set(Object.keys(result.metafile.inputs)
  .map(path => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]).filter(Boolean));
const licences = new Map();
for (const name of [...packages].sort()) {
  const folder = join(here, "node_modules", name);
  const file = readdirSync(folder).find(entry => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no licence file: it cannot be part of the report`);
  const lines = readFileSync(join(folder, file), "utf8").split("\n").map(line => line.trim());
  const holders = lines.filter(line => /^(Copyright|\(c\))/i.test(line));
  const terms = lines.filter(line => !holders.includes(line)).join(" ").replace(/\s+/g, " ").replaceAll("*/", "").trim();
  licences.set(terms, [...(licences.get(terms) ?? []), `${name}: ${holders.join("; ")}`]);
}
const banner = [...licences].map(([terms, names]) => `${names.join("\n")}\n${terms}`).join("\n\n").replaceAll("<", "(").replaceAll(">", ")");

writeFileSync(output, `/*\n${banner}\n*/\n${result.outputFiles[0].text}`);
