// Draws the figures of a report from the JSON in the page.
import { drawColumns, drawHistogram } from "./bars.js";
import { drawCurves, itemsOf } from "./curves.js";
import { swatchOf } from "./looks.js";
import { numbersOf } from "./numbers.js";
import { drawPlanes } from "./planes.js";
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

function button(label, action) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = label;
  element.addEventListener("click", action);
  return element;
}

function prepare(block) {
  const [chapter, index] = block.dataset.figure.split("/").map(Number);
  const figure = report.chapters[chapter].blocks[index];
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
      panel.append(part.svg);
      if (part.stops.length) {
        panel.tabIndex = 0;
        panel.setAttribute("role", "group");
        panel.setAttribute("aria-label", `${part.title ?? figure.title}: values by arrow keys`);
      }
      return panel;
    }));
    // Sizes are known only now.
    parts.forEach((part, i) => addProbe(panels.children[i], part.svg, part.stops));
  }

  block.classList.add("drawn");
  block.querySelectorAll(".series li[data-series]").forEach((item, i) => {
    const series = figure.series[i];
    const mark = series.mark ?? figure.mark;
    const swatch = item.querySelector(".swatch");
    if (mark === "plane" || mark === "image") item.style.paddingLeft = "0";
    else swatch.append(swatchOf(mark, series.claim, i));
  });
  const count = leftOut(figure);
  if (count > 0) {
    const note = document.createElement("p");
    note.className = "left-out";
    note.textContent = `${count} value${count === 1 ? " is" : "s are"} infinite, or not positive on a logarithmic axis, and not drawn.`;
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
  render();
  new ResizeObserver(render).observe(place);
}

document.querySelectorAll("figure[data-figure]").forEach(prepare);
