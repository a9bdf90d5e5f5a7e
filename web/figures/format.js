// Numbers as people read them, rounded towards their claim, as src/sfumato/report/number.hpp has them.
export const symbols = { exact: "=", upper_bound: "≤", lower_bound: "≥", estimate: "~" };

export function toNumber(value) {
  if (value === "inf") return Infinity;
  if (value === "-inf") return -Infinity;
  return value;
}

// `value` with `digits` significant digits; up for an upper bound, down for a lower one.
export function format(value, claim = "exact", digits = 4) {
  if (value === Infinity) return "∞";
  if (value === -Infinity) return "-∞";
  if (value === 0) return "0";
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value);
  let text = value.toExponential(digits - 1);
  const step = 10 ** (Number(text.split("e")[1]) - digits + 1);
  if (claim === "upper_bound" && Number(text) < value) text = (Number(text) + step).toExponential(digits - 1);
  if (claim === "lower_bound" && Number(text) > value) text = (Number(text) - step).toExponential(digits - 1);
  const size = Math.abs(Number(text));
  if (size < 1e-4 || size >= 1e6) return text.replace("e+", "e");
  return Number(text).toPrecision(size >= 10 ** digits ? Math.ceil(Math.log10(size)) : digits);
}

const superscripts = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

// A tick of a logarithmic axis: 0.01, 1, 100, 10⁻⁵, 2·10⁻⁵.
export function formatTick(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e5) return String(Number(value.toPrecision(6)));
  const [digits, exponent] = Number(value.toPrecision(6)).toExponential().split("e");
  const power = "10" + [...exponent.replace("+", "")].map(c => superscripts[c]).join("");
  return digits === "1" ? power : `${digits}·${power}`;
}

export function axisTitle(axis) {
  return axis.unit ? `${axis.title} (${axis.unit})` : axis.title;
}
