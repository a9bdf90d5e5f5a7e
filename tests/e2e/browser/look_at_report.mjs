// Opens a report in headless Chromium and prints, as JSON, what a reader would meet.
//   node look_at_report.mjs PAGE.html DIRECTORY-FOR-SCREENSHOTS [look]      (look: without using the page)
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

const web = createRequire(new URL("../../../web/package.json", import.meta.url));
const { chromium } = web("playwright-core");
const axe = readFileSync(web.resolve("axe-core/axe.min.js"), "utf8");

const [page_path, shots, only_look] = process.argv.slice(2);
const name = basename(page_path, ".html");
mkdirSync(shots, { recursive: true });

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"] });
const seen = { console: [], requests: [], openMilliseconds: [], accessibility: {}, overflow: {}, heights: {} };

async function open(options) {
  const context = await browser.newContext({ acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000); // a machine with other work is slow, not broken
  page.on("console", message => seen.console.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", error => seen.console.push(`error: ${error}`));
  page.on("dialog", dialog => { seen.console.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", request => seen.requests.push(request.url()));
  const start = performance.now();
  await page.goto(pathToFileURL(page_path).href, { waitUntil: "load" });
  seen.openMilliseconds.push(performance.now() - start);
  await page.waitForFunction(() => document.querySelectorAll("figure[data-figure]:not(.ready)").length === 0 ||
    document.querySelector(".plot.missing") !== null);
  return page;
}

// Dark and light differ in colours alone, so that the rules about anything else need not run twice.
const violations = async (page, mode) => {
  await page.evaluate(axe);
  const { violations: found } = await page.evaluate(only => window.axe.run(document, { resultTypes: ["violations"],
    ...(only ? { runOnly: { type: "rule", values: only } } : {}) }), mode === "dark" ? ["color-contrast", "link-in-text-block"] : null);
  return found.map(v => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(" | ")}`);
};

for (const [mode, options] of Object.entries({
  light: { colorScheme: "light", viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  phone: { colorScheme: "light", viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true },
})) {
  const page = await open(options);
  seen.accessibility[mode] = await violations(page, mode);
  seen.heights[mode] = await page.evaluate(() => document.documentElement.scrollHeight);
  seen.overflow[mode] = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (mode === "phone") {
    seen.cutCaptions = await page.evaluate(() => [...document.querySelectorAll("caption")]
      .filter(caption => caption.getBoundingClientRect().right > innerWidth + 1).map(caption => caption.textContent));
  }
  await page.screenshot({ path: join(shots, `${name}-${mode}.jpeg`), type: "jpeg", quality: 80, fullPage: true });
  await page.close();
}

const page = await open({ colorScheme: "light", viewport: { width: 1280, height: 900 } });
// What is folded, and that links and paper open it.
seen.folds = await page.evaluate(() => {
  const count = () => document.querySelectorAll("details:not([open])").length;
  const all = document.querySelectorAll("details").length, before = count();
  dispatchEvent(new Event("beforeprint"));
  const printed = count();
  dispatchEvent(new Event("afterprint"));
  const after = count();
  const note = document.querySelector("details:not([open]) li[id*=note]");
  if (note) location.hash = note.id;
  return { all, before, printed, after, hasNote: note !== null };
});
if (seen.folds.hasNote) {
  await page.waitForFunction(() => document.getElementById(location.hash.slice(1)).closest("details").open);
}
await page.evaluate(() => document.querySelectorAll("details").forEach(fold => { fold.open = true; }));
await page.waitForFunction(() => [...document.querySelectorAll("figure[data-figure]")].every(figure => figure.querySelector(".plot.missing, .panel svg")));
seen.captions = await page.evaluate(() => [...document.querySelectorAll("figcaption .label, caption .label, summary .label")].map(label => label.textContent));
await page.emulateMedia({ media: "print" });
seen.printed = await page.evaluate(() => [...document.querySelectorAll(".table-block")].map(block => ({
  heads: [...block.querySelectorAll("th button.sort")].map(button => getComputedStyle(button).display),
  rows: block.querySelectorAll("tbody tr").length, breaks: getComputedStyle(block.querySelector(".scroll")).breakInside,
})));
// Panels that stand in one row on the screen do on paper too.
seen.printedRows = await page.evaluate(() => [...document.querySelectorAll("figure.wide .panels:not(:has(> .legend))")].map(panels =>
  new Set([...panels.children].map(panel => Math.round(panel.getBoundingClientRect().bottom))).size));
await page.emulateMedia({ media: null });
seen.math = await page.evaluate(() => document.querySelectorAll("math").length);
seen.globals = await page.evaluate(() => Object.keys(window).filter(key => key.startsWith("hacked")));
seen.title = await page.title();
// Marks that turn texts around, in anything but the data.
seen.overrides = await page.evaluate(() => {
  const copy = document.documentElement.cloneNode(true);
  copy.querySelectorAll("script").forEach(script => script.remove());
  return (copy.outerHTML.match(/[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g) ?? []).length;
});
seen.text = await page.evaluate(() => document.querySelector("main").innerText);
seen.elements = await page.evaluate(() => ({ img: document.images.length,
  scripts: document.scripts.length, iframes: document.querySelectorAll("iframe").length }));
seen.data = await page.evaluate(() => document.getElementById("report-data").textContent);
seen.tables = await page.evaluate(() => [...document.querySelectorAll(".table-block")].map(block => ({
  key: block.dataset.key,
  rows: [...block.querySelectorAll("tbody tr")].map(row => [...row.cells].map(cell => {
    const data = cell.querySelector("data");
    const set = cell.querySelector("[data-text]");
    return { text: set ? set.dataset.text : cell.textContent, value: data && data.value, shown: data && data.textContent,
      claim: cell.querySelector(".claim")?.textContent ?? null };
  })),
})));
seen.figures = await page.evaluate(() => [...document.querySelectorAll("figure[data-figure]")].map(block => {
  const panels = [...block.querySelectorAll(".panel:not(.legend) svg")];
  const count = selector => panels.map(svg => svg.querySelectorAll(selector).length).reduce((a, b) => a + b, 0);
  return {
    key: block.dataset.key, missing: block.querySelector(".plot.missing") !== null, panels: panels.length,
    panelRows: new Set(panels.map(svg => Math.round(svg.closest(".panel").getBoundingClientRect().bottom))).size,
    legends: block.querySelectorAll(".legend svg").length, series: block.querySelectorAll(".series li[data-series]").length,
    lines: count("g[data-mark=line] path"), dots: count("g[data-mark=dot] circle, g[data-mark=dot] path"),
    rects: count("g[data-mark=rect] rect"), contours: count("g[data-mark=contour] path"),
    areas: count("g[data-mark=area] path"), regions: panels.map(svg => svg.querySelectorAll(".region path").length).reduce((a, b) => a + b, 0),
    titles: [block.dataset.x, block.dataset.y], notes: [...block.querySelectorAll(".left-out")].map(note => note.textContent),
    legend: [...block.querySelectorAll(".series li")].map(item => item.innerText.trim()),
    square: panels.map(svg => { const x = svg.scale?.("x")?.range, y = svg.scale?.("y")?.range; return x && y ? Math.abs(x[1] - x[0]) / Math.abs(y[1] - y[0]) : null; }),
    grid: count("g[data-mark='x-grid'] line, g[data-mark='y-grid'] line"),
    emptyTicks: panels.map(svg => [...svg.querySelectorAll("g[data-mark$='tick label'] text")].filter(t => t.textContent === "").length).reduce((a, b) => a + b, 0), rules: count("g[data-mark=rule] line"),
    // Numbers of an axis that stand on one another.
    overlappingTicks: panels.flatMap(svg => ["x", "y"].flatMap(axis => {
      const all = [...svg.querySelectorAll(`g[data-mark='${axis}-axis tick label'] text`)].map(t => ({ text: t.textContent, box: t.getBoundingClientRect() }));
      return all.filter(a => all.some(b => b !== a && Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left) > 1 &&
        Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top) > 2)).map(a => a.text);
    })),
    categories: panels.flatMap(svg => [...svg.querySelectorAll("g.categories text")].map(t => t.textContent)),
    names: panels.flatMap(svg => [...svg.querySelectorAll("g.names text")].map(t => t.textContent)),
    // Names of points that cover points or one another.
    coveredNames: panels.flatMap(svg => {
      const boxes = selector => [...svg.querySelectorAll(selector)].map(element => ({ element, box: element.getBoundingClientRect() }));
      const names = boxes("g.names text"), others = [...names, ...boxes("g[data-mark=dot] circle, g[data-mark=dot] path")];
      const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
      return names.filter(a => others.some(b => b.element !== a.element && meet(a.box, b.box))).map(a => a.element.textContent);
    }),
    // Series whose symbol in the legend is grey, if their line in the drawing is.
    greys: [...block.querySelectorAll(".series li[data-series]")].filter(item => /--reference/.test(item.innerHTML)).map(item => item.dataset.series)
      .filter(() => panels.every(svg => /--reference/.test(svg.outerHTML))),
    panelTitles: [...block.querySelectorAll(".panel-title")].map(title => title.textContent),
    pixelsPerUnit: panels.map(svg => {
      const per = name => { const { domain, range } = svg.scale?.(name) ?? {}; return domain && Math.abs((range[1] - range[0]) / (domain[1] - domain[0])); };
      return Math.round(100 * per("x") / per("y")) / 100;
    }),
    // Names of points on the title of the axis.
    coveredTitles: panels.some(svg => {
      const boxes = selector => [...svg.querySelectorAll(selector)].map(element => element.getBoundingClientRect());
      return boxes("g.names text").some(a => boxes("g[data-mark$='axis label'] text").some(b =>
        Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3));
    }),
    acrossTicks: panels.flatMap(svg => [...svg.querySelectorAll("g[data-mark='x-axis tick label'] text")].map(t => t.textContent)),
    ticks: count("g[data-mark$='tick label'] text"), labels: panels.flatMap(svg =>
      [...svg.querySelectorAll("g[data-mark$='axis label'] text")].map(text => text.textContent)),
    upTicks: panels.flatMap(svg => [...svg.querySelectorAll("g[data-mark='y-axis tick label'] text")].map(t => t.textContent)),
    left_out: block.querySelector(".left-out")?.textContent ?? null,
  };
}));

if (!only_look && seen.figures.some(figure => figure.panels > 0)) {
  const panel = page.locator(".panel[tabindex='0']").first();
  await panel.focus();
  await page.keyboard.press("Home");
  seen.keyboardTip = await panel.locator(".tip").innerText();
  await page.keyboard.press("Escape");
  const svg_box = await panel.locator("svg").boundingBox();
  seen.hoverTip = null;
  for (let x = 0.15; x < 1 && !seen.hoverTip; x += 0.2) {
    for (let y = 0.15; y < 1 && !seen.hoverTip; y += 0.2) {
      await panel.locator("svg").hover({ position: { x: svg_box.width * x, y: svg_box.height * y }, force: true });
      if (await panel.locator(".tip").isVisible()) seen.hoverTip = await panel.locator(".tip").innerText();
    }
  }
  const save = async label => {
    const [download] = await Promise.all([page.waitForEvent("download"),
      page.getByRole("button", { name: label }).first().click()]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  };
  const svg = await save("Save SVG"), png = await save("Save PNG"), pdf = await save("Save PDF");
  seen.pdf = { name: pdf.name, text: pdf.bytes.toString("latin1") };
  seen.svg = { name: svg.name, text: svg.bytes.toString("utf8") };
  seen.png = { name: png.name, signature: png.bytes.subarray(0, 8).toString("hex"), size: png.bytes.length };
  await page.getByRole("button", { name: "Show numbers" }).first().click();
  seen.methods = await page.locator(".numbers .methods").first().innerText();
  seen.numberRows = await page.locator(".numbers tbody tr").count();
}
const sortable = page.locator("th:has(button.sort)").first();
if (!only_look && await sortable.count() > 0) {
  const table = page.locator(".table-block:has(button.sort)").first();
  const column = () => table.locator("tbody tr > :first-child").allInnerTexts();
  seen.order = { before: await column() };
  await sortable.locator("button").click();
  seen.order.ascending = await column();
  await sortable.locator("button").click();
  seen.order.descending = await column();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]).catch(() => {});
  await table.getByRole("button", { name: "Copy table" }).click();
  await table.locator("output").filter({ hasText: /./ }).waitFor();
  seen.copied = await page.evaluate(() => navigator.clipboard.readText());
  await table.getByRole("button", { name: "Copy as LaTeX" }).click();
  await table.locator("output").filter({ hasText: /booktabs/ }).waitFor();
  seen.latex = await page.evaluate(() => navigator.clipboard.readText());
}
if (!only_look) await page.pdf({ path: join(shots, `${name}.pdf`), format: "A4", printBackground: true });
await browser.close();
process.stdout.write(JSON.stringify(seen));
