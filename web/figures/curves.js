// Lines and points, with intervals; where upper and lower bounds meet, what they rule out is shaded.
import * as Plot from "@observablehq/plot";
import { axisTitle, format, symbols } from "./format.js";
import { colour, isHollow, strokeOf, symbolOf } from "./looks.js";
import { pointsOf } from "./points.js";
import { domainOf, frameOf, look } from "./scales.js";

const most = 24; // points of a line that get symbols; more would hide it

// The symbols of a line: all of a short one, about eight of a long one, shifted so that those of lines that
// run together are seen.
function symbolsAlong(points, index) {
  if (points.length <= most) return points;
  const step = Math.ceil(points.length / 8);
  const first = Math.floor(step * (index % 4 + 0.5) / 4);
  return points.filter((_, i) => i % step === first);
}

const clamp = (value, [low, high]) => Math.min(Math.max(value, low), high);

export function curveMarks(items, domains) {
  const marks = [];
  const claims = new Set(items.map(item => item.series.claim));
  if (claims.has("lower_bound") && (claims.has("upper_bound") || claims.has("exact"))) {
    for (const { series, index, drawn, mark } of items) {
      if (mark !== "line" || drawn.length < 2 || series.claim === "exact" || series.claim === "estimate") continue;
      const limit = domains.y[series.claim === "upper_bound" ? 1 : 0];
      marks.push(Plot.areaY(drawn, { x: "x", y1: "y", y2: () => limit, fill: colour(index), fillOpacity: 0.08,
        className: "ruled-out" }));
    }
  }
  for (const { series, index, drawn, mark } of items) {
    const paint = colour(index);
    if (series.y_intervals && mark === "line" && drawn.length > most) { // of few points each has its own
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
    const dots = mark === "points" ? drawn : symbolsAlong(drawn, index);
    marks.push(Plot.dot(dots, { x: "x", y: "y", r: mark === "points" ? 4 : 3, symbol: symbolOf(series.claim, index),
      stroke: paint, fill: isHollow(series.claim) ? "var(--page)" : paint, strokeWidth: 1.5 }));
  }
  return marks;
}

const mostDecades = 12; // of a logarithmic axis; what is smaller is as good as zero beside the rest

// The series of a figure with the points that can be drawn.
export function itemsOf(figure, accepts = () => true) {
  const items = figure.series.map((series, index) => {
    const points = pointsOf(series, figure);
    return { series, index, mark: series.mark ?? figure.mark, points };
  }).filter(accepts);
  for (const key of ["x", "y"]) {
    if (figure.axes[key].scale !== "log") continue;
    const shown = items.flatMap(item => item.points.filter(p => p.drawn));
    const least = Math.max(0, ...shown.map(p => p[key])) / 10 ** mostDecades;
    for (const point of shown) point.drawn = point[key] >= least;
  }
  return items.map(item => ({ ...item, drawn: item.points.filter(p => p.drawn) }));
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

const middle = (axis, low, high) => axis.scale === "log" ? Math.sqrt(low * high) : (low + high) / 2;

// An attack that knows nothing, for comparison.
function coinToss({ x, y }, domains) {
  if (x.title !== "false-positive rate" || y.title !== "true-positive rate") return [];
  const low = Math.max(domains.x[0], domains.y[0]), high = Math.min(domains.x[1], domains.y[1]);
  if (!(low < high)) return [];
  return [
    Plot.link([0], { x1: () => low, y1: () => low, x2: () => high, y2: () => high, stroke: "var(--strong-line)", strokeDasharray: "1 3" }),
    Plot.text([0], { x: () => middle(x, low, high), y: () => middle(y, low, high), text: () => "coin toss", textAnchor: "start",
      dx: 8, dy: 10, fill: "var(--soft)", stroke: "var(--page)", strokeWidth: 3 }),
  ];
}

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
  const frame = frameOf(figure.axes, domains, { mostX: width < 480 ? 5 : 8 });
  const svg = Plot.plot({
    ...look, width, height, marginLeft: 64, marginRight: 16, marginTop: 32, marginBottom: 48, ...frame.scales,
    marks: [...frame.below, ...frame.axes, ...coinToss(figure.axes, domains), ...curveMarks(items, domains)],
  });
  return [{ svg, stops: () => stopsOf(items, figure) }];
}
