// A drawn figure as a file of its own: title, panels and legend in one SVG with its colours written out.
import { svgElement, swatchOf } from "./looks.js";
import { symbols } from "./format.js";

const margin = 16, lineHeight = 20;
const styled = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "fill-opacity", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor", "visibility"];

// A copy that looks the same outside of the page.
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, i) => {
    if (element.localName === "style") return;
    const style = getComputedStyle(element);
    for (const key of styled) {
      const value = style.getPropertyValue(key);
      if (value) to[i].setAttribute(key, value);
    }
    to[i].removeAttribute("style");
  });
  copy.querySelectorAll("style, .probe").forEach(element => element.remove());
  return copy;
}

function text(content, x, y, attributes = {}) {
  const element = svgElement("text", { x, y, ...attributes });
  element.textContent = content;
  return element;
}

function compose(title, figure, svgs) {
  const root = document.documentElement, theme = root.dataset.theme;
  root.dataset.theme = "light"; // what is saved goes on paper
  const sheet = svgElement("svg", { xmlns: "http://www.w3.org/2000/svg", "font-family": "Helvetica, Arial, sans-serif", "font-size": 13, fill: "#1a1f26" });
  document.body.append(sheet); // for computed styles
  const width = Math.max(...svgs.map(s => s.viewBox.baseVal.width), 420) + 2 * margin;
  let y = margin + 12;
  const ground = svgElement("rect", { width: "100%", height: "100%", fill: "#ffffff" });
  sheet.append(ground, text(title, margin, y, { "font-weight": 600, "font-size": 14 }));
  y += 14;
  for (const svg of svgs) {
    const copy = standalone(svg);
    const { width: w, height: h } = svg.viewBox.baseVal;
    for (const [key, value] of Object.entries({ x: margin, y, width: w, height: h })) copy.setAttribute(key, value);
    sheet.append(copy);
    y += h + 6;
  }
  if (figure.mark !== "plane" && figure.mark !== "image") {
    figure.series.forEach((series, i) => {
      const swatch = swatchOf(series.mark ?? figure.mark, series.claim, i);
      sheet.append(swatch);
      const copy = standalone(swatch);
      swatch.remove();
      copy.setAttribute("x", margin);
      copy.setAttribute("y", y);
      sheet.append(copy, text(`${symbols[series.claim]} ${series.title}`, margin + 40, y + 13));
      y += lineHeight;
    });
  }
  const height = Math.ceil(y + margin);
  for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) sheet.setAttribute(key, value);
  sheet.remove();
  if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
  return { source: new XMLSerializer().serializeToString(sheet), width, height };
}

function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export function saveSvg(name, title, figure, svgs) {
  download(`${name}.svg`, new Blob([compose(title, figure, svgs).source], { type: "image/svg+xml" }));
}

export async function savePng(name, title, figure, svgs) {
  const { source, width, height } = compose(title, figure, svgs);
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([source], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = document.createElement("canvas");
  const zoom = 3; // 300 dots per inch at the size on the screen
  canvas.width = width * zoom;
  canvas.height = height * zoom;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  download(`${name}.png`, await new Promise(done => canvas.toBlob(done, "image/png")));
}
