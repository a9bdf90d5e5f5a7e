// Draws the figures of a report from the JSON in the page.
import { drawColumns, drawHistogram } from "./bars.js";
import { coinciding, drawCurves, itemsOf } from "./curves.js";
import { swatchOf } from "./looks.js";
import { numbersOf } from "./numbers.js";
import { drawPlanes } from "./planes.js";
import { withPrintableTexts } from "./printable.js";
import { addProbe } from "./probe.js";
import { savePdf, savePng, saveSvg } from "./save.js";

const drawPoints = (figure, width) => (figure.axes.x.categories ? drawColumns : drawCurves)(figure, width);
const draw = {
  line: drawCurves, steps: drawCurves, region: drawCurves, points: drawPoints, bars: drawHistogram, columns: drawColumns, plane: drawPlanes, image: drawPlanes,
};

const report = JSON.parse(document.getElementById("report-data").textContent);

function leftOut(figure) {
  if (figure.mark === "bars") return 0;
  return itemsOf(figure).reduce((sum, item) => sum + item.points.length - item.drawn.length, 0);
}

// Plot labels its groups for screen readers, which may not read labels of groups without a role; the
// description of the whole figure is what they get.
function nameMarks(svg) {
  svg.querySelectorAll("g[aria-label]").forEach(group => {
    group.dataset.mark = group.getAttribute("aria-label");
    group.removeAttribute("aria-label");
  });
}

function button(label, action) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = label;
  element.addEventListener("click", action);
  return element;
}

// The figure of the JSON with its texts as the page has them: typeset.
function figureOf(block) {
  const [chapter, index] = block.dataset.figure.split("/").map(Number);
  const figure = withPrintableTexts(report.chapters[chapter].blocks[index]);
  figure.title = block.dataset.title;
  for (const key of ["x", "y", "z"]) if (figure.axes[key]) figure.axes[key].title = block.dataset[key];
  block.querySelectorAll(".series li[data-series]").forEach((item, i) => { figure.series[i].title = item.dataset.title; });
  return figure;
}

function note(text) {
  const element = document.createElement("p");
  element.className = "left-out";
  element.textContent = text;
  return element;
}

function prepare(block) {
  const figure = figureOf(block);
  const place = block.querySelector(".plot");
  const caption = block.querySelector("figcaption");
  const description = `${caption.textContent.trim()} ${block.querySelector(".axes").textContent.trim()}`;
  place.replaceChildren();
  const panels = document.createElement("div");
  panels.className = "panels";
  place.append(panels);
  let svgs = [];
  let drawnWidth = 0;

  function render() {
    const width = Math.floor(place.clientWidth);
    if (width < 40 || width === drawnWidth) return;
    drawnWidth = width;
    const parts = draw[figure.mark](figure, width);
    svgs = parts.map(part => part.svg);
    panels.replaceChildren(...parts.map(part => {
      const panel = document.createElement("div");
      panel.className = part.isLegend ? "panel legend" : "panel";
      if (part.title) {
        const title = document.createElement("p");
        title.className = "panel-title";
        title.textContent = part.title;
        panel.append(title);
      }
      part.svg.setAttribute("role", "img");
      part.svg.setAttribute("aria-label", part.isLegend ? "Colours" : `${part.title ? part.title + ". " : ""}${description}`);
      nameMarks(part.svg);
      panel.append(part.svg);
      if (part.stops) {
        panel.tabIndex = 0;
        panel.setAttribute("role", "group");
        panel.setAttribute("aria-label", `${part.title ?? figure.title}: values by arrow keys`);
      }
      return panel;
    }));
    // Sizes are known only now.
    parts.forEach((part, i) => part.stops && addProbe(panels.children[i], part.svg, part.stops));
  }

  block.classList.add("drawn");
  block.querySelectorAll(".series li[data-series]").forEach((item, i) => {
    const series = figure.series[i];
    const mark = series.mark ?? figure.mark;
    const swatch = item.querySelector(".swatch");
    if (mark === "plane" || mark === "image") item.style.paddingLeft = "0";
    else swatch.append(swatchOf(figure, i));
  });
  const count = leftOut(figure);
  if (count > 0) {
    place.after(note(`${count} value${count === 1 ? " is" : "s are"} infinite, or too small for a logarithmic axis, and not drawn.`));
  }
  const groups = coinciding(figure);
  if (groups.length > 0) {
    const same = note(groups.map(group => `These curves coincide: ${group.join("; ")}.`).join(" "));
    same.classList.add("coincide");
    place.after(same);
  }
  const tools = document.createElement("div");
  tools.className = "block-tools";
  let numbers = null;
  const toggle = button("Show numbers", () => {
    if (numbers) { numbers.remove(); numbers = null; }
    else { numbers = numbersOf(figure, block); block.append(numbers); }
    toggle.setAttribute("aria-expanded", String(numbers !== null));
    toggle.textContent = numbers ? "Hide numbers" : "Show numbers";
  });
  toggle.setAttribute("aria-expanded", "false");
  const forPaper = width => draw[figure.mark](figure, width);
  tools.append(button("Save SVG", () => saveSvg(figure, forPaper)), button("Save PDF", () => savePdf(figure, forPaper)),
    button("Save PNG", () => savePng(figure, svgs)), toggle);
  block.append(tools);
  return () => {
    render();
    if (block.classList.contains("ready")) return;
    block.classList.add("ready");
    new ResizeObserver(render).observe(place);
  };
}

// What is in view is drawn at once, the rest when there is time: a page with many figures opens as fast.
const blocks = [...document.querySelectorAll("figure[data-figure]")];
const visible = block => block.getBoundingClientRect().top < innerHeight;
const all = blocks.map(block => ({ block, draw: prepare(block) }));
const pending = [...all];
// What was folded is drawn when it is opened, and here because paper shows all of it.
const drawAll = () => all.forEach(({ draw: drawOne }) => drawOne());

function drawSome(deadline) {
  do {
    if (pending.length === 0) return;
    pending.shift().draw();
  } while (deadline.timeRemaining() > 5);
  later();
}
const later = () => window.requestIdleCallback
  ? requestIdleCallback(drawSome, { timeout: 200 }) : setTimeout(() => drawSome({ timeRemaining: () => 0 }), 0);

while (pending.length && visible(pending[0].block)) pending.shift().draw();
later();
addEventListener("sfumato:unfolded", drawAll);
