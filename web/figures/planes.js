// Values over a plane as filled contours, and images over pixels; one panel per series.
import * as Plot from "@observablehq/plot";
import { axisTitle, formatTick } from "./format.js";
import { itemsOf, stopsOf } from "./curves.js";
import { nameMarks, places } from "./names.js";
import { extent, frameOf, logTicks, look } from "./scales.js";

const levels = 12;

// The values as a dense grid if the points are one with equal steps; null otherwise.
function gridOf(points, axes) {
  const steps = (values, axis) => {
    const sorted = [...new Set(values)].sort((a, b) => a - b);
    const place = v => axis.scale === "log" ? Math.log(v) : v;
    const gap = (place(sorted.at(-1)) - place(sorted[0])) / (sorted.length - 1);
    const even = sorted.every((v, i) => Math.abs(place(v) - place(sorted[0]) - i * gap) < 1e-6 * Math.abs(gap) * sorted.length);
    return sorted.length > 1 && even ? sorted : null;
  };
  const xs = steps(points.map(p => p.x), axes.x), ys = steps(points.map(p => p.y), axes.y);
  if (!xs || !ys || xs.length * ys.length !== points.length) return null;
  const column = new Map(xs.map((v, i) => [v, i])), row = new Map(ys.map((v, i) => [v, i]));
  const values = new Float64Array(points.length).fill(NaN);
  for (const p of points) values[row.get(p.y) * xs.length + column.get(p.x)] = p.drawn ? p.z : NaN;
  return { xs, ys, values };
}

function ends(values, axis) {
  const first = values[0], last = values.at(-1), n = values.length - 1;
  if (axis.scale === "log") {
    const half = (last / first) ** (0.5 / n);
    return [first / half, last * half];
  }
  const half = (last - first) / n / 2;
  return [first - half, last + half];
}

function panelWidth(width, count) {
  if (count === 1) return Math.min(width, 360);
  return width < 560 ? width : Math.floor((width - 16) / 2);
}

// The colours of all panels: a scale on the values, or on their logarithms.
function colourOf(items, axis) {
  const values = items.flatMap(i => i.drawn.map(p => p.z));
  const [low, high] = extent(values) ?? [0, 1];
  const isLog = axis.scale === "log";
  const place = v => isLog ? Math.log10(v) : v;
  const back = v => isLog ? 10 ** v : v;
  const domain = low === high ? [place(low) - 0.5, place(high) + 0.5] : [place(low), place(high)];
  return { place, back, domain, isLog, values: [low, high] };
}

function legendOf(scale, axis, width) {
  const ticks = scale.isLog ? (logTicks(scale.values, 6) ?? scale.values).map(scale.place) : 5;
  const svg = Plot.legend({
    color: { type: "linear", scheme: "viridis", domain: scale.domain, label: axisTitle(axis) },
    width: Math.min(width, 320), height: 48, marginLeft: 12, marginRight: 12, ticks,
    tickFormat: v => formatTick(Number(scale.back(v).toPrecision(3))),
  });
  svg.classList.add("ramp");
  return svg;
}

function contourMarks(item, figure, scale) {
  const [low, high] = scale.domain;
  const thresholds = Array.from({ length: levels }, (_, i) => low + (high - low) * i / levels);
  const common = { fill: Plot.identity, thresholds, stroke: "var(--page)", strokeWidth: 0.5, strokeOpacity: 0.6 };
  const grid = gridOf(item.points, figure.axes);
  if (grid) {
    const { xs, ys, values } = grid;
    // Values stand in the middle of their cells, so the grid reaches half a step beyond the outermost.
    const [left, right] = ends(xs, figure.axes.x), [bottom, top] = ends(ys, figure.axes.y);
    return [Plot.contour(Array.from(values, v => scale.place(v)), { ...common, width: xs.length, height: ys.length,
      x1: left, y1: bottom, x2: right, y2: top, clip: true })];
  }
  return [Plot.contour(item.drawn, { ...common, x: "x", y: "y", fill: p => scale.place(p.z), interpolate: "barycentric" })];
}

function imageMarks(item, scale) {
  return [Plot.rect(item.drawn, { x1: p => p.x - 0.5, x2: p => p.x + 0.5, y1: p => p.y - 0.5, y2: p => p.y + 0.5,
    fill: p => scale.place(p.z), stroke: p => scale.place(p.z), strokeWidth: 0.3 })];
}

export function drawPlanes(figure, width) {
  const { x, y, z } = figure.axes;
  const isImage = figure.mark === "image";
  const fields = itemsOf(figure, item => item.mark === figure.mark);
  const over = itemsOf(figure, item => item.mark !== figure.mark);
  const scale = colourOf(fields, z);
  const size = panelWidth(width, fields.length);
  const panels = fields.map(item => {
    const points = [...item.drawn, ...over.flatMap(o => o.drawn)];
    const room = isImage ? 0.5 : 0;
    const domain = key => {
      const [low, high] = extent(points.map(p => p[key])) ?? [0, 1];
      return [low - room, high + room];
    };
    const domains = { x: domain("x"), y: domain("y") };
    const columns = domains.x[1] - domains.x[0], rows = domains.y[1] - domains.y[0];
    const wide = isImage ? Math.min(size, 380) : size;
    const margins = isImage ? { marginLeft: 46, marginRight: 8, marginTop: 28, marginBottom: 46 }
      : { marginLeft: 52, marginRight: 12, marginTop: 28, marginBottom: 44 };
    const inner = wide - margins.marginLeft - margins.marginRight;
    const tall = isImage ? inner * rows / columns : inner * 0.78;
    const frame = frameOf(figure.axes, isImage ? { x: domains.x, y: [domains.y[1], domains.y[0]] } : domains,
      { mostX: 5, mostY: 5, nice: false, grid: false });
    const svg = Plot.plot({
      ...look, width: wide, height: Math.round(tall + margins.marginTop + margins.marginBottom), ...margins, ...frame.scales,
      color: { type: "linear", scheme: "viridis", domain: scale.domain },
      marks: [...(isImage ? imageMarks(item, scale) : contourMarks(item, figure, scale)), ...frame.axes, ...overlays(over)],
    });
    return { svg, title: fields.length > 1 ? item.series.title : null, stops: () => stopsOf([item, ...over], figure) };
  });
  return [{ svg: legendOf(scale, z, size), isLegend: true }, ...panels];
}

// Points on a coloured ground: white rings around dark dots are seen on every colour.
function overlays(items) {
  const lines = items.filter(item => item.mark === "line"), points = items.filter(item => item.mark !== "line").flatMap(item => item.drawn);
  return [
    ...lines.flatMap(({ drawn }) => [Plot.line(drawn, { x: "x", y: "y", stroke: "#fff", strokeWidth: 4 }),
      Plot.line(drawn, { x: "x", y: "y", stroke: "#111", strokeWidth: 1.8 })]),
    Plot.dot(points, { x: "x", y: "y", r: 5, fill: "#111", stroke: "#fff", strokeWidth: 1.8 }),
    nameMarks(points, { at: places.above, fill: "#fff", stroke: "#111", strokeWidth: 3 }),
  ];
}
