// Series as points that can be drawn, and how many of each cannot.
import { toNumber } from "./format.js";

const fits = (value, axis) => Number.isFinite(value) && (axis.scale !== "log" || value > 0);
// An axis that says where it begins shows what is below it at its edge: a rate of 0 on a logarithmic axis.
const placed = (value, axis) => axis.from !== undefined && value < axis.from ? axis.from : value;

export function pointsOf(series, figure) {
  const { x: xAxis, y: yAxis, z: zAxis } = figure.axes;
  const intervals = key => series[key] && { low: series[key].low.map(toNumber), high: series[key].high.map(toNumber) };
  const xs = intervals("x_intervals"), ys = intervals("y_intervals");
  const points = [];
  for (let i = 0; i < series.y.length; ++i) {
    const trueX = toNumber(series.x[i]), trueY = toNumber(series.y[i]);
    const point = { trueX, trueY, x: placed(trueX, xAxis), y: placed(trueY, yAxis), label: series.labels?.[i] };
    if (series.z) point.z = toNumber(series.z[i]);
    if (xs) [point.x1, point.x2] = [xs.low[i], xs.high[i]];
    if (ys) [point.y1, point.y2] = [ys.low[i], ys.high[i]];
    point.drawn = fits(point.x, xAxis) && fits(point.y, yAxis) && (point.z === undefined || fits(point.z, zAxis));
    points.push(point);
  }
  return points;
}

export function binsOf(series, figure) {
  const edges = series.x.map(toNumber);
  return series.y.map((height, i) => ({
    low: edges[i], high: edges[i + 1], height: toNumber(height),
    drawn: Number.isFinite(toNumber(height)) && fits(Math.max(edges[i], -Number.MAX_VALUE), { scale: "linear" }),
  }));
}
