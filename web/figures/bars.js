// Histograms, and bars or points over categories.
import * as Plot from "@observablehq/plot";
import { axisTitle, format, symbols } from "./format.js";
import { itemsOf } from "./curves.js";
import { isHollow, paintOf, symbolOf } from "./looks.js";
import { binsOf } from "./points.js";
import { domainOf, frameOf, look } from "./scales.js";

export function drawHistogram(figure, width) {
  const { x, y } = figure.axes;
  const items = figure.series.map((series, index) => ({ series, index, bins: binsOf(series, figure) }));
  const isLog = x.scale === "log";
  const edges = items.flatMap(item => item.bins.flatMap(b => [b.low, b.high]))
    .filter(v => Number.isFinite(v) && (!isLog || v > 0));
  // A bin without an end is drawn as wide as a tenth of the rest; its true edge is in the text.
  const [low, high] = domainOf(edges, x);
  const below = isLog ? low / (high / low) ** 0.1 : low - (high - low) / 10;
  const above = isLog ? high * (high / low) ** 0.1 : high + (high - low) / 10;
  const from = b => Number.isFinite(b.low) && (!isLog || b.low > 0) ? b.low : below;
  const to = b => Number.isFinite(b.high) ? b.high : above;
  const drawn = items.map(item => ({ ...item, bins: item.bins.filter(b => b.drawn || Number.isFinite(b.height)) }));
  const xDomain = domainOf(drawn.flatMap(i => i.bins.flatMap(b => [from(b), to(b)])), x);
  const yDomain = domainOf(drawn.flatMap(i => i.bins.map(b => b.height)), y, { zero: y.scale === "linear" });
  const several = items.length > 1;
  const base = y.scale === "log" ? yDomain[0] : 0;
  // Counts have no ticks between them.
  const counts = drawn.every(i => i.bins.every(b => Number.isInteger(b.height)));
  const frame = frameOf(figure.axes, { x: xDomain, y: yDomain },
    { mostX: width < 480 ? 5 : 9, mostY: counts ? Math.min(6, yDomain[1]) : 6, nice: false });
  const svg = Plot.plot({
    ...look, width, height: Math.round(Math.min(360, Math.max(240, width * 0.45))),
    marginLeft: 64, marginRight: 16, marginTop: 32, marginBottom: 48, ...frame.scales,
    marks: [
      frame.below[1], ...frame.axes,
      ...drawn.map(({ bins, index }) => Plot.rect(bins, { x1: from, x2: to, y1: () => base, y2: "height",
        fill: paintOf(figure, index), fillOpacity: several ? 0.35 : 0.75, stroke: paintOf(figure, index), strokeWidth: several ? 1.2 : 0.6,
        inset: several ? 0 : 0.5 })),
      Plot.ruleY([base], { stroke: "currentColor" }),
    ],
  });
  const stops = () => drawn.flatMap(({ series, bins }) => bins.map(b => ({
    x: isLog ? Math.sqrt(from(b) * to(b)) : (from(b) + to(b)) / 2, y: Math.max(b.height, base),
    lines: [...(several ? [[series.title]] : []), [axisTitle(x), `${format(b.low)} to ${format(b.high)}`],
      [axisTitle(y), `${symbols[series.claim]} ${format(b.height, series.claim)}`]],
  })));
  return [{ svg, stops }];
}

function widened([low, high], isLog) {
  const share = 0.04;
  if (isLog) return [low / (high / low) ** share, high * (high / low) ** share];
  return [low - (high - low) * share, high + (high - low) * share];
}

// Bars lie, so that the names of the categories can be read on a phone; so do rows of points.
export function drawColumns(figure, width) {
  const { x, y } = figure.axes;
  const items = itemsOf(figure);
  const names = x.categories;
  const wanted = Math.max(...names.map(n => n.length)) * 8 + 20;
  const longest = Math.min(wanted, width * 0.4);
  const values = items.flatMap(i => i.drawn.flatMap(p => [p.y, p.y1 ?? p.y, p.y2 ?? p.y])).filter(Number.isFinite);
  const isPoints = figure.mark === "points";
  const whole = domainOf(values, y, { zero: y.scale === "linear" && !isPoints });
  const domain = isPoints ? widened(whole, y.scale === "log") : whole; // a point on the frame is half a point
  const base = y.scale === "log" || isPoints ? domain[0] : 0;
  const thick = 0.8 / items.length;
  const middle = (p, k) => p.x - 0.4 + thick * (k + 0.5);
  const points = (item, k) => [
    ...(item.series.y_intervals ? [Plot.ruleY(item.drawn, { y: p => middle(p, k), x1: "y1", x2: "y2", stroke: item.paint, strokeWidth: 1.6 })] : []),
    Plot.dot(item.drawn, { x: "y", y: p => middle(p, k), r: 4, symbol: symbolOf(item.series.claim, item.index), stroke: item.paint,
      fill: isHollow(item.series.claim) ? "var(--page)" : item.paint, strokeWidth: 1.5 }),
  ];
  const marks = items.flatMap((item, k) => isPoints ? points(item, k) : [
    Plot.rect(item.drawn, { x1: () => base, x2: "y", y1: p => middle(p, k) - thick / 2, y2: p => middle(p, k) + thick / 2,
      fill: item.paint, fillOpacity: 0.8, stroke: item.paint, strokeWidth: 0.6, insetTop: 0.5, insetBottom: 0.5 }),
    ...(item.series.y_intervals ? [Plot.ruleY(item.drawn, { y: p => middle(p, k), x1: "y1", x2: "y2", stroke: "currentColor", strokeWidth: 1.4 })] : []),
  ]);
  const rows = names.length * Math.max(isPoints ? 0.8 : 1, items.length * (isPoints ? 0.35 : 0.7));
  const axes = { x: y, y: { title: "", unit: "", scale: "linear" } };
  const frame = frameOf(axes, { x: domain, y: [names.length - 0.5, -0.5] }, { mostX: width < 480 ? 4 : 7, nice: false });
  const svg = Plot.plot({
    ...look, width, height: Math.round(Math.min(70 + rows * 26, 900)),
    marginLeft: longest, marginRight: 20, marginTop: 12, marginBottom: 48, x: frame.scales.x, y: { ...frame.scales.y, axis: null },
    marks: [
      frame.below[0], frame.axes[0], ...marks,
      Plot.ruleX([base], { stroke: "currentColor" }),
      Plot.text(names.map((name, i) => ({ name, i })), { x: () => base, y: "i", text: "name", textAnchor: "end", dx: -8, className: "categories",
        lineWidth: longest < wanted ? (longest - 20) / 14 : Infinity, textOverflow: "ellipsis" }),
    ],
  });
  const stops = () => items.flatMap((item, k) => item.drawn.map(p => ({
    x: p.y, y: middle(p, k),
    lines: [[names[p.x]], ...(items.length > 1 ? [[item.series.title]] : []),
      [axisTitle(y), `${symbols[item.series.claim]} ${format(p.y, item.series.claim)}`]],
  })));
  return [{ svg, stops }];
}
