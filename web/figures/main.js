// Draws the figures of a report from the JSON in the page.
import { drawColumns, drawHistogram } from "./bars.js";
import { drawCurves, itemsOf } from "./curves.js";
import { swatchOf } from "./looks.js";
import { numbersOf } from "./numbers.js";
import { drawPlanes } from "./planes.js";
import { withPrintableTexts } from "./printable.js";
import { addProbe } from "./probe.js";
import { savePng, saveSvg } from "./save.js";

const draw = {
  line: drawCurves, points: drawCurves, bars: drawHistogram, columns: drawColumns, plane: drawPlanes, image: drawPlanes,
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

function prepare(block) {
  const [chapter, index] = block.dataset.figure.split("/").map(Number);
  const figure = withPrintableTexts(report.chapters[chapter].blocks[index]);
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
    else swatch.append(swatchOf(mark, series.claim, i, "z" in figure.axes));
  });
  const count = leftOut(figure);
  if (count > 0) {
    const note = document.createElement("p");
    note.className = "left-out";
    note.textContent = `${count} value${count === 1 ? " is" : "s are"} infinite, or too small for a logarithmic axis, and not drawn.`;
    place.after(note);
  }
  const tools = document.createElement("div");
  tools.className = "block-tools";
  let numbers = null;
  const toggle = button("Show numbers", () => {
    if (numbers) { numbers.remove(); numbers = null; }
    else { numbers = numbersOf(figure, caption.id); block.append(numbers); }
    toggle.setAttribute("aria-expanded", String(numbers !== null));
    toggle.textContent = numbers ? "Hide numbers" : "Show numbers";
  });
  toggle.setAttribute("aria-expanded", "false");
  tools.append(button("Save SVG", () => saveSvg(figure.key, figure.title, figure, svgs)),
    button("Save PNG", () => savePng(figure.key, figure.title, figure, svgs)), toggle);
  block.append(tools);
  return () => {
    if (block.classList.contains("ready")) return;
    render();
    block.classList.add("ready");
    new ResizeObserver(render).observe(place);
  };
}

// What is in view is drawn at once, the rest when there is time: a page with many figures opens as fast.
const blocks = [...document.querySelectorAll("figure[data-figure]")];
const visible = block => block.getBoundingClientRect().top < innerHeight;
const pending = blocks.map(block => ({ block, draw: prepare(block) }));
const drawAll = () => { while (pending.length) pending.shift().draw(); };

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
addEventListener("beforeprint", drawAll);
