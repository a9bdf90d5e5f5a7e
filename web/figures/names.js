// Names beside points, each at the first place where it covers no point and no other name; where there is none, it is left out.
import * as Plot from "@observablehq/plot";

// Where a name may stand: its left end and the middle of its height, the best place first.
const beside = (x, y, long) => [[x + 8, y], [x, y - 13], [x, y - 26], [x - 8 - long, y], [x, y + 13], [x - long, y - 13]];
const above = (x, y, long) => [[x - long / 2, y - 14], [x - long / 2, y + 15], [x + 9, y], [x - 9 - long, y], [x + 6, y - 12], [x - 6 - long, y - 12]];
export const places = { beside, above };

const letter = 6.8, reach = 4; // half of a dot
const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

// The first `named` of `points` get their labels; `taken` is what stands there already, `at` one of `places`. Names keep within
// the frame, `over` above it.
export function nameMarks(points, { named = points.length, at = beside, taken = [], over = 0, ...look }) {
  const options = { x: "x", y: "y", text: "label", textAnchor: "start", className: "names", ...look };
  return Plot.text(points, Plot.initializer(options, (data, facets, { x, y, text }, scales, { width, height, marginLeft, marginTop, marginBottom }) => {
    const X = Array.from(x.value, v => scales.x(v)), Y = Array.from(y.value, v => scales.y(v));
    const used = [...taken, ...X.map((cx, i) => ({ left: cx - reach, right: cx + reach, top: Y[i] - reach, bottom: Y[i] + reach }))];
    const kept = new Set();
    for (let i = 0; i < named; ++i) {
      if (!text.value[i]) continue;
      const long = letter * String(text.value[i]).length;
      for (const [left, middle] of at(X[i], Y[i], long)) {
        const box = { left, right: left + long, top: middle - 7, bottom: middle + 7 };
        if (left < marginLeft || box.right > width || box.top < marginTop - over || box.bottom > height - marginBottom) continue;
        if (used.some(other => meets(box, other))) continue;
        used.push(box);
        kept.add(i);
        [X[i], Y[i]] = [left, middle];
        break;
      }
    }
    return { data, facets: facets.map(facet => facet.filter(i => kept.has(i))), channels: { x: { value: X }, y: { value: Y } } };
  }));
}
