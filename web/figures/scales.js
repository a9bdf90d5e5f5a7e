// Domains and ticks. Everything that a logarithmic or finite axis cannot show is left out by points.js.
import * as Plot from "@observablehq/plot";
import { axisTitle, formatTick } from "./format.js";

export function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}

// A domain around the values that is never empty.
export function domainOf(values, axis, { zero = false } = {}) {
  if (axis.from !== undefined && axis.to !== undefined) return [axis.from, axis.to];
  let [low, high] = extent(values) ?? [axis.scale === "log" ? 0.1 : 0, 1];
  if (axis.from !== undefined) low = axis.from;
  if (axis.to !== undefined) high = axis.to;
  if (axis.scale === "log") {
    if (!(low < high)) return [low / 2, low * 2];
    return [low, high];
  }
  if (zero && axis.from === undefined) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
  if (low === high) {
    const room = Math.abs(low) / 2 || 1;
    [low, high] = zero ? [low, high + room] : [low - room, high + room];
  }
  return [low, high];
}

// Powers of ten, thinned to at most `most`; with 2 and 5 in between where there are few.
export function logTicks([low, high], most) {
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  const inside = list => list.filter(t => t >= low * (1 - 1e-9) && t <= high * (1 + 1e-9));
  const powers = inside(Array.from({ length: last - first + 1 }, (_, i) => Number(`1e${first + i}`)));
  if (powers.length > most) {
    const step = Math.ceil(powers.length / most);
    return powers.filter((_, i) => (powers.length - 1 - i) % step === 0);
  }
  for (const steps of [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]]) {
    const ticks = [];
    for (let e = first; e <= last; ++e) for (const s of steps) ticks.push(Number(`${s}e${e}`));
    const shown = inside(ticks);
    if (shown.length <= most && shown.length >= 2) return shown;
  }
  return powers.length >= 2 ? powers : null;
}

// The ticks of an axis: at most about `most` of them.
function ticksOf(axis, domain, most) {
  if (axis.scale !== "log") {
    const [low, high] = domain;
    // Between whole numbers that are few, halves would say nothing: directions, steps.
    const whole = Number.isInteger(low) && Number.isInteger(high) && high - low >= 3 && high - low <= most;
    return { ticks: whole ? Array.from({ length: high - low + 1 }, (_, i) => low + i) : most, tickFormat: formatTick };
  }
  // `text`, not `tickFormat`: of a logarithmic axis Plot would leave some without their number.
  return { ticks: logTicks(domain, most) ?? Math.min(most, 4), text: formatTick };
}

// Scales, grid and axes of a plot, as options and marks of Plot.
export function frameOf({ x, y }, domains, { mostX = 8, mostY = 6, nice = true, grid = true } = {}) {
  const scale = (axis, domain) => ({ type: axis.scale, domain, nice: nice && axis.scale === "linear" && axis.from === undefined, label: null });
  const tx = ticksOf(x, domains.x, mostX), ty = ticksOf(y, domains.y, mostY);
  const line = { stroke: "var(--line)", strokeOpacity: 1 };
  return {
    scales: { x: scale(x, domains.x), y: scale(y, domains.y) },
    below: grid ? [Plot.gridX({ ...line, ticks: tx.ticks }), Plot.gridY({ ...line, ticks: ty.ticks })] : [],
    axes: [
      Plot.axisX({ ...tx, label: axisTitle(x), labelAnchor: "center", labelArrow: "none", labelOffset: 38, tickSize: 4 }),
      Plot.axisY({ ...ty, label: axisTitle(y), labelAnchor: "top", labelArrow: "none", tickSize: 4 }),
    ],
  };
}

export const look = { style: { fontSize: "12px", fontFamily: "inherit", background: "none" } };
