// Texts of a figure as the rest of the page shows them (report/printable.cpp): control characters and marks of
// direction, which could turn a name around, become escapes; line breaks and tabs become spaces.
const hidden = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function escape(character) {
  const code = character.codePointAt(0);
  if (/[\t\n\r]/.test(character)) return " ";
  const hex = code.toString(16);
  return code < 0xa0 ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex}}`;
}

export const printable = text => text.replace(hidden, escape);

// Of the values of a figure many are numbers, in arrays of nothing else: those stay as they are.
export function withPrintableTexts(value) {
  if (typeof value === "string") return printable(value);
  if (Array.isArray(value)) return typeof value[0] === "number" ? value : value.map(withPrintableTexts);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withPrintableTexts(part)]));
}
