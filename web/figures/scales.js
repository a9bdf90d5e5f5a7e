// Domains and ticks. Everything that a logarithmic or finite axis cannot show is left out by points.js.
import { formatTick } from "./format.js";

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
  let [low, high] = extent(values) ?? [axis.scale === "log" ? 0.1 : 0, 1];
  if (axis.scale === "log") {
    if (low === high) return [low / 2, high * 2];
    return [low, high];
  }
  if (zero) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
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
    return powers.filter((_, i) => i % step === 0);
  }
  for (const steps of [[1, 2, 5], [1, 3], [1]]) {
    const ticks = [];
    for (let e = first; e <= last; ++e) for (const s of steps) ticks.push(Number(`${s}e${e}`));
    const shown = inside(ticks);
    if (shown.length <= most && shown.length >= 2) return shown;
  }
  return powers.length >= 2 ? powers : null;
}

// The options of a Plot scale and of its axis. Plot labels axes itself where ticks are left out.
export function scaleOf(axis, domain, most) {
  const options = { type: axis.scale, domain, label: null };
  if (axis.scale === "log") {
    const ticks = logTicks(domain, most);
    if (ticks) return { ...options, ticks, tickFormat: formatTick };
    return { ...options, ticks: Math.min(most, 5), tickFormat: formatTick };
  }
  return { ...options, nice: true, ticks: most, tickFormat: formatTick };
}
