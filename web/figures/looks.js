// How a series looks: its colour and the shape of its symbols by its place in the figure, its stroke and whether
// symbols are triangles or hollow by its claim, so that nothing depends on colour alone.
import { symbolCircle, symbolCross, symbolDiamond, symbolSquare, symbolStar, symbolWye, symbol as makeSymbol } from "d3";

export const colour = index => `var(--series-${index % 8 + 1})`;

// Isotropic noise is what other noises are compared with: grey in every figure that has others, as is the series that stands
// behind the others in small multiples.
const isReference = ({ layout, series }, index) => series.length > 1
  && (series[index].key === "isotropic" || (layout === "multiples" && series.length > 2 && index === 0));
export const paintOf = (figure, index) => isReference(figure, index) ? "var(--reference)" : colour(index);

const strokes = {
  exact: { strokeWidth: 2.4 },
  upper_bound: { strokeWidth: 1.8 },
  lower_bound: { strokeWidth: 1.8 },
  estimate: { strokeWidth: 1.8, strokeDasharray: "6 4" },
};
// Steps of an estimate are solid: dashes would hide where they are.
export const strokeOf = (claim, mark = "line") => mark === "steps" ? { strokeWidth: 2 } : strokes[claim];

// The truth is below an upper bound and above a lower one: the triangles point to it.
const down = { draw(context, size) { triangle(context, size, 1); } };
const up = { draw(context, size) { triangle(context, size, -1); } };
function triangle(context, size, sign) {
  const r = Math.sqrt(size / Math.PI) * 1.25;
  context.moveTo(0, sign * r);
  context.lineTo(0.9 * r, -sign * 0.7 * r);
  context.lineTo(-0.9 * r, -sign * 0.7 * r);
  context.closePath();
}
const shapes = [symbolCircle, symbolSquare, symbolDiamond, symbolCross, symbolStar, symbolWye];
export function symbolOf(claim, index) {
  if (claim === "upper_bound") return down;
  if (claim === "lower_bound") return up;
  return shapes[index % shapes.length];
}
export const isHollow = claim => claim === "estimate";

const svgNamespace = "http://www.w3.org/2000/svg";
export function svgElement(tag, attributes) {
  const element = document.createElementNS(svgNamespace, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

// A small picture of a series for the legend, 32 x 16; over a plane, marks are black with a white rim.
export function swatchOf(figure, index) {
  const { claim, mark = figure.mark } = figure.series[index];
  const onPlane = "z" in figure.axes;
  const svg = svgElement("svg", { width: 32, height: 16, viewBox: "0 0 32 16", "aria-hidden": "true" });
  const paint = onPlane ? "#111" : paintOf(figure, index);
  if (onPlane && mark === "points") {
    svg.append(svgElement("circle", { cx: 16, cy: 8, r: 5, style: "fill:#111;stroke:#fff", "stroke-width": 1.8 }));
    return svg;
  }
  if (mark === "bars" || mark === "columns") {
    svg.append(svgElement("rect", { x: 6, y: 3, width: 20, height: 11, style: `fill:${paint};stroke:${paint}`, "fill-opacity": 0.35 }));
    return svg;
  }
  if (mark === "region") {
    svg.append(svgElement("rect", { x: 4, y: 3, width: 24, height: 11, style: "fill:var(--region);stroke:none", "fill-opacity": 0.22 }),
      svgElement("line", { x1: 4, x2: 28, y1: 3, y2: 3, style: "stroke:var(--region)", "stroke-width": 1.4 }));
    return svg;
  }
  if (mark === "line" || mark === "steps") {
    const { strokeWidth, strokeDasharray = "none" } = strokeOf(claim, mark);
    if (onPlane) svg.append(svgElement("line", { x1: 1, x2: 31, y1: 8, y2: 8, style: "stroke:#fff", "stroke-width": 4 }));
    svg.append(svgElement("line", { x1: 1, x2: 31, y1: 8, y2: 8, style: `stroke:${paint}`,
      "stroke-width": strokeWidth, "stroke-dasharray": strokeDasharray }));
    if (mark === "steps" || onPlane) return svg;
  }
  const style = `stroke:${paint};fill:${isHollow(claim) ? "var(--page)" : paint}`;
  svg.append(svgElement("path", { d: makeSymbol(symbolOf(claim, index), mark === "points" ? 50 : 32)(),
    transform: "translate(16,8)", style, "stroke-width": 1.5 }));
  return svg;
}
