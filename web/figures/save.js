// A drawn figure as a file of its own: title, panels and legend in one SVG with its colours written out.
import { svgElement, swatchOf } from "./looks.js";
import { symbols } from "./format.js";
import { pdfOf } from "./pdf.js";
import { look } from "./scales.js";

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

function legendEntries(figure) {
  if (figure.mark === "plane" || figure.mark === "image") return figure.series.filter(series => (series.mark ?? figure.mark) === "points" || series.mark === "line");
  return figure.series;
}

// Title (of a picture that stands alone), panels and legend below one another; `size` is that of the letters.
function compose(figure, parts, { size, title, edge }) {
  const root = document.documentElement, theme = root.dataset.theme;
  root.dataset.theme = "light"; // what is saved goes on paper
  const sheet = svgElement("svg", { xmlns: "http://www.w3.org/2000/svg", "font-family": "Helvetica, Arial, sans-serif", "font-size": size, fill: "#1a1f26" });
  document.body.append(sheet); // for computed styles
  const width = Math.max(...parts.map(({ svg }) => svg.viewBox.baseVal.width), title ? 420 : 0) + 2 * edge;
  let y = edge;
  sheet.append(svgElement("rect", { width: "100%", height: "100%", fill: "#ffffff" }));
  if (title) {
    sheet.append(text(title, edge, y + 12, { "font-weight": 600, "font-size": size + 1 }));
    y += 26;
  }
  for (const part of parts) {
    if (part.title) sheet.append(text(part.title, edge, y += size, {}));
    const copy = standalone(part.svg);
    const { width: w, height: h } = part.svg.viewBox.baseVal;
    for (const [key, value] of Object.entries({ x: edge, y, width: w, height: h })) copy.setAttribute(key, value);
    sheet.append(copy);
    y += h + size / 3;
  }
  const entries = legendEntries(figure);
  if (entries.length > 1 || title) {
    for (const series of entries) {
      const swatch = swatchOf(figure, figure.series.indexOf(series));
      sheet.append(swatch);
      const copy = standalone(swatch);
      swatch.remove();
      copy.setAttribute("x", edge);
      copy.setAttribute("y", y);
      sheet.append(copy, text(`${symbols[series.claim]} ${series.title}`, edge + 40, y + 8 + size / 3));
      y += size * 1.5;
    }
  }
  const height = Math.ceil(y + edge);
  for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) sheet.setAttribute(key, value);
  sheet.remove();
  if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
  return { sheet, source: () => new XMLSerializer().serializeToString(sheet), width, height };
}

// A column of a paper: 3.25 in wide, letters of 8 pt, no title, which the caption is.
const column = { inches: 3.25, pixels: 312, size: 32 / 3 };

function composeForPaper(figure, drawAt) {
  const was = look.style.fontSize;
  look.style.fontSize = `${column.size}px`;
  const place = document.createElement("div");
  place.className = "off-screen";
  document.body.append(place); // for computed styles
  const parts = drawAt(column.pixels - 8);
  place.append(...parts.map(part => part.svg));
  const made = compose(figure, parts, { size: column.size, edge: 4 });
  place.remove();
  look.style.fontSize = was;
  return made;
}

function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export function saveSvg(figure, drawAt) {
  const { sheet, source, width, height } = composeForPaper(figure, drawAt);
  sheet.setAttribute("width", `${width / 96}in`);
  sheet.setAttribute("height", `${height / 96}in`);
  download(`${figure.key}.svg`, new Blob([source()], { type: "image/svg+xml" }));
}

export async function savePdf(figure, drawAt) {
  const { sheet, width, height } = composeForPaper(figure, drawAt);
  download(`${figure.key}.pdf`, new Blob([await pdfOf(sheet, width, height)], { type: "application/pdf" }));
}

export async function savePng(figure, svgs) {
  const made = compose(figure, svgs.map(svg => ({ svg, title: svg.closest(".panel")?.querySelector(".panel-title")?.textContent })),
    { size: 13, title: figure.title, edge: 16 });
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([made.source()], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = document.createElement("canvas");
  const zoom = 3; // 300 dots per inch at the size on the screen
  canvas.width = made.width * zoom;
  canvas.height = made.height * zoom;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  download(`${figure.key}.png`, await new Promise(done => canvas.toBlob(done, "image/png")));
}
