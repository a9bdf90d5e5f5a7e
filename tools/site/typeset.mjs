// Reads a JSON list of [TeX, display] from standard input and prints the list of their HTML.
import { readFileSync } from "node:fs";
import katex from "katex";

const formulas = JSON.parse(readFileSync(0, "utf8"));
const html = ([source, display]) => katex.renderToString(source, { displayMode: display, throwOnError: true, strict: "error" });
process.stdout.write(JSON.stringify(formulas.map(html)));
