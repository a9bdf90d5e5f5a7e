// Lines, steps, regions and points, with intervals; where upper and lower bounds meet, what they rule out is shaded.
import * as Plot from "@observablehq/plot";
import { axisTitle, format, symbols } from "./format.js";
import { isHollow, paintOf, strokeOf, symbolOf } from "./looks.js";
import { nameMarks } from "./names.js";
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
const curveOf = mark => mark === "steps" ? "step-after" : "linear";

// What a claim allows: everything below its line.
function regionMarks({ drawn }, domains) {
  return [
    Plot.areaY(drawn, { x: "x", y1: () => domains.y[0], y2: p => clamp(p.y, domains.y), fill: "var(--region)", fillOpacity: 0.22,
      className: "region" }),
    Plot.line(drawn, { x: "x", y: p => clamp(p.y, domains.y), stroke: "var(--region)", strokeWidth: 1.4 }),
  ];
}

function intervalMarks({ series, paint, drawn, mark }, domains, isBox) {
  const y1 = p => clamp(p.y1, domains.y), y2 = p => clamp(p.y2, domains.y);
  const x1 = p => clamp(p.x1, domains.x), x2 = p => clamp(p.x2, domains.x);
  if (isBox && series.x_intervals && series.y_intervals) {
    return [Plot.rect(drawn, { x1, x2, y1, y2, fill: paint, fillOpacity: 0.12, stroke: paint, strokeWidth: 1 })];
  }
  const marks = [];
  if (series.y_intervals && (mark === "steps" || (mark === "line" && drawn.length > most))) { // of few points each has its own
    marks.push(Plot.areaY(drawn, { x: "x", y1, y2, fill: paint, fillOpacity: 0.16, curve: curveOf(mark) }));
  } else if (series.y_intervals) {
    marks.push(Plot.ruleX(drawn, { x: "x", y1, y2, stroke: paint, strokeWidth: 1.4 }));
  }
  if (series.x_intervals) marks.push(Plot.ruleY(drawn, { y: "y", x1, x2, stroke: paint, strokeWidth: 1.4 }));
  return marks;
}

const few = 8; // points with labels that are all named

// The first names of a series; the title of the axis stands where some of them might.
const named = (drawn, count, yTitle) => nameMarks(drawn, { named: count, over: 22, fill: "var(--soft)",
  taken: [{ left: 0, right: 7 * yTitle.length + 8, top: 0, bottom: margins.marginTop - 8 }] });

function lineMarks({ series, index, paint, drawn, mark }, yTitle = "", isAlone = false) {
  const marks = [];
  if (mark !== "points") {
    marks.push(Plot.line(drawn, { x: "x", y: "y", stroke: paint, strokeLinejoin: "round", curve: curveOf(mark),
      ...strokeOf(series.claim, mark) }));
  }
  if (mark === "steps") return marks;
  const dots = mark === "points" ? drawn : symbolsAlong(drawn, index);
  marks.push(Plot.dot(dots, { x: "x", y: "y", r: mark === "points" ? 4 : 3, symbol: symbolOf(series.claim, index),
    stroke: paint, fill: isHollow(series.claim) ? "var(--page)" : paint, strokeWidth: 1.5 }));
  if (mark === "points" && series.labels) { // of many the first are named: those that matter
    if (drawn.length > most) marks.push(named(drawn, 3, yTitle));
    else if (isAlone && drawn.length <= few) marks.push(named(drawn, drawn.length, yTitle));
  }
  return marks;
}

function curveMarks(figure, items, domains, isBox) {
  const regions = items.filter(item => item.mark === "region"), rest = items.filter(item => item.mark !== "region");
  const marks = regions.flatMap(item => regionMarks(item, domains));
  const claims = new Set(rest.map(item => item.series.claim));
  if (regions.length === 0 && claims.has("lower_bound") && (claims.has("upper_bound") || claims.has("exact"))) {
    for (const { series, paint, drawn, mark } of rest) {
      if (mark !== "line" || drawn.length < 2 || series.claim === "exact" || series.claim === "estimate") continue;
      const limit = domains.y[series.claim === "upper_bound" ? 1 : 0];
      marks.push(Plot.areaY(drawn, { x: "x", y1: "y", y2: () => limit, fill: paint, fillOpacity: 0.08,
        className: "ruled-out" }));
    }
  }
  return [...marks, ...rest.flatMap(item => intervalMarks(item, domains, isBox)), ...rest.flatMap(item => lineMarks(item, axisTitle(figure.axes.y), items.length === 1))];
}

const mostDecades = 12; // of a logarithmic axis; what is smaller is as good as zero beside the rest

// The series of a figure with the points that can be drawn.
export function itemsOf(figure, accepts = () => true) {
  const items = figure.series.map((series, index) => {
    const points = pointsOf(series, figure);
    return { series, index, paint: paintOf(figure, index), mark: series.mark ?? figure.mark, points };
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
    x: p.x, y: p.placed ?? p.y,
    lines: [
      ...(figure.series.length > 1 || p.label ? [[p.label ? `${series.title}: ${p.label}` : series.title]] : []),
      [axisTitle(x), `${name(x, p.trueX)}${range(p.x1, p.x2)}`],
      z && p.z !== undefined ? [axisTitle(y), format(p.y)] : y.categories ? [axisTitle(y), y.categories[p.y]] :
        [axisTitle(y), `${symbols[series.claim]} ${format(p.trueY, series.claim)}${range(p.y1, p.y2)}`],
      ...(z && p.z !== undefined ? [[axisTitle(z), `${symbols[series.claim]} ${format(p.z, series.claim)}`]] : []),
    ],
  })));
}

const range = (low, high) => low === undefined ? "" : ` [${format(low)}, ${format(high)}]`;

// A true-positive rate over the false-positive rate: "roc", "trade_off", "tradeoff", "tradeoff_POLICY".
export const isRates = ({ key }) => /^(roc|trade_?off)/.test(key);

// An attack that knows nothing, for comparison.
function coinToss(figure, domains) {
  if (!isRates(figure)) return [];
  const { x } = figure.axes;
  const low = Math.max(domains.x[0], domains.y[0]), high = Math.min(domains.x[1], domains.y[1]);
  if (!(low < high)) return [];
  const at = x.scale === "log" ? Math.sqrt(low * high) : (low + high) / 2;
  return [
    Plot.link([0], { x1: () => low, y1: () => low, x2: () => high, y2: () => high, stroke: "var(--strong-line)", strokeDasharray: "1 3" }),
    Plot.text([0], { x: () => at, y: () => at, text: () => "coin toss", textAnchor: "start",
      dx: 6, dy: 10, fill: "var(--soft)", stroke: "var(--page)", strokeWidth: 3 }),
  ];
}

function domainsOf(figure, items) {
  const all = items.flatMap(item => item.drawn);
  const { x, y } = figure.axes;
  const finite = (axis, values) => values.filter(v => Number.isFinite(v) && (axis.scale !== "log" || v > 0));
  const domain = (axis, key, zero) => domainOf(finite(axis, all.flatMap(p => [p[key], p[key + "1"] ?? p[key], p[key + "2"] ?? p[key]])),
    axis, { zero });
  return { x: domain(x, "x", false), y: domain(y, "y", y.scale === "linear" && all.every(p => p.y >= 0)) };
}

const margins = { marginLeft: 60, marginRight: 16, marginTop: 30, marginBottom: 46 };

// Two lengths in one unit: a circle is drawn as one.
const isToScale = ({ x, y }) => x.unit !== "" && x.unit === y.unit && x.scale === "linear" && y.scale === "linear";

// How high the drawing is for its domains to have the scale of its width; the lower of them grows if it would be a strip.
function heightToScale(domains, wide) {
  const span = ([low, high]) => high - low;
  const least = 0.4 * span(domains.x), missing = Math.max(0, least - span(domains.y)) / 2;
  domains.y = [domains.y[0] - missing, domains.y[1] + missing];
  return wide * span(domains.y) / span(domains.x);
}

function panelOf(figure, items, domains, width, marks) {
  const square = isRates(figure), toScale = isToScale(figure.axes);
  const wide = square ? Math.min(width, 480) : toScale ? Math.min(width, 420) : width;
  const inside = wide - margins.marginLeft - margins.marginRight;
  const height = square || toScale ? Math.round((square ? inside : heightToScale(domains, inside)) + margins.marginTop + margins.marginBottom)
    : Math.round(Math.min(380, Math.max(240, wide * 0.56)));
  const frame = frameOf(figure.axes, domains, { mostX: wide < 300 ? 3 : wide < 480 ? 5 : 8, nice: !toScale });
  const svg = Plot.plot({
    ...look, width: wide, height, ...margins, ...frame.scales, clip: square,
    marks: [...frame.below, ...frame.axes, ...coinToss(figure, domains), ...marks],
  });
  return { svg, stops: () => stopsOf(items, figure) };
}

// A panel for each series but the first, which stands behind it in grey.
function drawMultiples(figure, items, width) {
  const [reference, ...others] = items;
  const domains = domainsOf(figure, items);
  const across = width < 520 ? 1 : width < 860 ? 2 : others.length === 4 ? 4 : 3;
  const each = Math.floor((width - 16 * (across - 1)) / across);
  return others.map(item => ({
    ...panelOf(figure, [reference, item], domains, each,
      [...lineMarks(reference), ...intervalMarks(item, domains, false), ...lineMarks(item)]),
    title: item.series.title,
  }));
}

// Single values beside one another, a row for each category: what a histogram of few cannot show.
function drawStrips(figure, items, width) {
  const { x, y } = figure.axes;
  const names = y.categories;
  const all = items.flatMap(item => item.drawn);
  // Spread within the row, the same every time.
  for (const item of items) item.drawn.forEach((p, i) => { p.placed = p.y + ((i * 0.61803 + 0.5) % 1 - 0.5) * 0.56; });
  const longest = Math.max(...names.map(n => n.length)) * 7.5 + 18;
  const domains = { x: domainOf(all.map(p => p.x), x), y: [names.length - 0.5, -0.5] };
  const frame = frameOf({ x, y: { title: "", unit: "", scale: "linear" } }, domains, { mostX: width < 480 ? 5 : 8 });
  const median = values => { const s = [...values].sort((a, b) => a - b); return (s[(s.length - 1) >> 1] + s[s.length >> 1]) / 2; };
  const middles = items.flatMap(item => names.map((_, row) => ({ index: item.index, row, values: item.drawn.filter(p => p.y === row).map(p => p.x) })))
    .filter(m => m.values.length > 0).map(m => ({ ...m, x: median(m.values) }));
  const svg = Plot.plot({
    ...look, width, height: 58 + 52 * names.length, marginLeft: longest, marginRight: 16, marginTop: 8, marginBottom: 46,
    x: frame.scales.x, y: { ...frame.scales.y, axis: null },
    marks: [
      frame.below[0], frame.axes[0],
      Plot.ruleX(middles, { x: "x", y1: m => m.row - 0.4, y2: m => m.row + 0.4, stroke: "currentColor", strokeWidth: 1.2 }),
      ...items.map(item => Plot.dot(item.drawn, { x: "x", y: "placed", r: 3.4, symbol: symbolOf(item.series.claim, item.index),
        stroke: item.paint, fill: item.paint, fillOpacity: 0.45, strokeWidth: 1.1 })),
      Plot.text(names.map((name, i) => ({ name, i })), { x: () => domains.x[0], y: "i", text: "name", textAnchor: "end", dx: -10 }),
    ],
  });
  return [{ svg, stops: () => stopsOf(items, figure) }];
}

export function drawCurves(figure, width) {
  const items = itemsOf(figure);
  if (figure.axes.y.categories) return drawStrips(figure, items, width);
  if (figure.layout === "multiples" && items.length > 2) return drawMultiples(figure, items, width);
  const domains = domainsOf(figure, items);
  return [panelOf(figure, items, domains, width, curveMarks(figure, items, domains, isRates(figure)))];
}

// Which lines run so close together that only one of them is seen: groups of titles.
export function coinciding(figure) {
  if (!["line", "steps"].includes(figure.mark) || figure.axes.y.categories || figure.layout === "multiples") return [];
  const items = itemsOf(figure).filter(item => item.mark === "line" || item.mark === "steps").filter(item => item.drawn.length > 1);
  const domains = domainsOf(figure, items);
  const place = (axis, value, [low, high]) => axis.scale === "log" ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  const { x, y } = figure.axes;
  const lines = items.map(item => ({ title: item.series.title,
    points: item.drawn.map(p => [place(x, p.x, domains.x), place(y, p.y, domains.y)]).sort((a, b) => a[0] - b[0]) }));
  const at = (points, px) => {
    const i = points.findIndex(p => p[0] >= px - 1e-9);
    if (i < 0) return NaN;
    if (i === 0 || points[i][0] - px < 1e-9) return points[i][0] - px < 1e-6 ? points[i][1] : NaN;
    const [a, b] = [points[i - 1], points[i]];
    return a[1] + (b[1] - a[1]) * (px - a[0]) / (b[0] - a[0]);
  };
  const close = 0.006; // of the frame: half the width of a line
  const same = (a, b) => [[a, b], [b, a]].every(([p, q]) => p.points.every(([px, py]) => Math.abs(at(q.points, px) - py) < close));
  const groups = [];
  for (const line of lines) {
    const group = groups.find(g => same(g[0], line));
    if (group) group.push(line); else groups.push([line]);
  }
  return groups.filter(group => group.length > 1).map(group => group.map(line => line.title));
}
