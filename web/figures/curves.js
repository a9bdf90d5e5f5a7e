// Lines and points, with intervals; where upper and lower bounds meet, what they rule out is shaded.
import * as Plot from "@observablehq/plot";
import { axisTitle, format, symbols } from "./format.js";
import { colour, isHollow, strokeOf, symbolOf } from "./looks.js";
import { pointsOf } from "./points.js";
import { domainOf, scaleOf } from "./scales.js";

const most = 24; // points of a line that get symbols; more would hide it

// The symbols of a line: all of a short one, about eight of a long one.
function symbolsAlong(points) {
  if (points.length <= most) return points;
  const step = Math.ceil(points.length / 8);
  return points.filter((_, i) => i % step === Math.floor(step / 2));
}

const clamp = (value, [low, high]) => Math.min(Math.max(value, low), high);

export function curveMarks(items, domains) {
  const marks = [];
  const claims = new Set(items.map(item => item.series.claim));
  if (claims.has("upper_bound") && claims.has("lower_bound")) {
    for (const { series, index, drawn, mark } of items) {
      if (mark !== "line" || drawn.length < 2 || series.claim === "exact" || series.claim === "estimate") continue;
      const limit = domains.y[series.claim === "upper_bound" ? 1 : 0];
      marks.push(Plot.areaY(drawn, { x: "x", y1: "y", y2: () => limit, fill: colour(index), fillOpacity: 0.08,
        className: "ruled-out" }));
    }
  }
  for (const { series, index, drawn, mark } of items) {
    const paint = colour(index);
    if (series.y_intervals && mark === "line") {
      marks.push(Plot.areaY(drawn, { x: "x", y1: p => clamp(p.y1, domains.y), y2: p => clamp(p.y2, domains.y),
        fill: paint, fillOpacity: 0.16 }));
    } else if (series.y_intervals) {
      marks.push(Plot.ruleX(drawn, { x: "x", y1: p => clamp(p.y1, domains.y), y2: p => clamp(p.y2, domains.y),
        stroke: paint, strokeWidth: 1.4 }));
    }
    if (series.x_intervals) {
      marks.push(Plot.ruleY(drawn, { y: "y", x1: p => clamp(p.x1, domains.x), x2: p => clamp(p.x2, domains.x),
        stroke: paint, strokeWidth: 1.4 }));
    }
  }
  for (const { series, index, drawn, mark } of items) {
    const paint = colour(index);
    if (mark === "line") {
      marks.push(Plot.line(drawn, { x: "x", y: "y", stroke: paint, strokeLinejoin: "round", ...strokeOf(series.claim) }));
    }
    const bound = series.claim === "upper_bound" || series.claim === "lower_bound";
    const dots = mark === "points" || drawn.length === 1 ? drawn
      : bound || drawn.length <= most ? symbolsAlong(drawn) : [];
    marks.push(Plot.dot(dots, { x: "x", y: "y", r: mark === "points" ? 4 : 2.6, symbol: symbolOf(series.claim),
      stroke: paint, fill: isHollow(series.claim) ? "var(--page)" : paint, strokeWidth: 1.5 }));
  }
  return marks;
}

// The series of a figure with the points that can be drawn.
export function itemsOf(figure, accepts = () => true) {
  return figure.series.map((series, index) => {
    const points = pointsOf(series, figure);
    return { series, index, mark: series.mark ?? figure.mark, points, drawn: points.filter(p => p.drawn) };
  }).filter(accepts);
}

export function stopsOf(items, figure) {
  const { x, y, z } = figure.axes;
  const name = (axis, value) => axis.categories?.[value] ?? format(value);
  return items.flatMap(({ series, drawn }) => drawn.map(p => ({
    x: p.x, y: p.y,
    lines: [
      ...(figure.series.length > 1 || p.label ? [[p.label ? `${series.title}: ${p.label}` : series.title]] : []),
      [axisTitle(x), `${name(x, p.x)}${range(p.x1, p.x2)}`],
      z && p.z !== undefined ? [axisTitle(y), format(p.y)] :
        [axisTitle(y), `${symbols[series.claim]} ${format(p.y, series.claim)}${range(p.y1, p.y2)}`],
      ...(z && p.z !== undefined ? [[axisTitle(z), `${symbols[series.claim]} ${format(p.z, series.claim)}`]] : []),
    ],
  })));
}

const range = (low, high) => low === undefined ? "" : ` [${format(low)}, ${format(high)}]`;

export function drawCurves(figure, width) {
  const items = itemsOf(figure);
  const all = items.flatMap(item => item.drawn);
  const finite = (axis, values) => values.filter(v => Number.isFinite(v) && (axis.scale !== "log" || v > 0));
  const { x, y } = figure.axes;
  const domains = {
    x: domainOf(finite(x, all.flatMap(p => [p.x, p.x1 ?? p.x, p.x2 ?? p.x])), x),
    y: domainOf(finite(y, all.flatMap(p => [p.y, p.y1 ?? p.y, p.y2 ?? p.y])), y, { zero: y.scale === "linear" && all.every(p => p.y >= 0) }),
  };
  const height = Math.round(Math.min(420, Math.max(260, width * 0.52)));
  const svg = Plot.plot({
    width, height, marginLeft: 62, marginRight: 16, marginTop: 30, marginBottom: 46,
    x: { ...scaleOf(x, domains.x, width < 480 ? 5 : 8) },
    y: { ...scaleOf(y, domains.y, 6) },
    marks: [
      Plot.gridX({ stroke: "var(--line)", strokeOpacity: 1 }), Plot.gridY({ stroke: "var(--line)", strokeOpacity: 1 }),
      Plot.axisX({ label: axisTitle(x), labelAnchor: "center", labelArrow: "none", labelOffset: 38, tickSize: 4 }),
      Plot.axisY({ label: axisTitle(y), labelArrow: "none", tickSize: 4, labelAnchor: "top" }),
      ...curveMarks(items, domains),
    ],
  });
  return [{ svg, stops: stopsOf(items, figure) }];
}
