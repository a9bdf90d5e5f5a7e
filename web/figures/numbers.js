// The numbers of a figure as a table, for readers who cannot or do not want to look at it.
import { axisTitle, format, symbols, toNumber } from "./format.js";

const mostRows = 600;

function row(cells, tag) {
  const tr = document.createElement("tr");
  for (const cell of cells) {
    const element = document.createElement(tag);
    element.textContent = cell;
    if (tag === "th") element.scope = "col";
    tr.append(element);
  }
  return tr;
}

// What the legend leaves out: how many values, from where to where, by which method.
function methodsOf(block) {
  const list = document.createElement("ul");
  list.className = "methods";
  for (const item of block.querySelectorAll(".series li[data-series]")) {
    const line = document.createElement("li");
    const name = document.createElement("b");
    name.append(...[...item.querySelector(".name").childNodes].map(node => node.cloneNode(true)));
    line.append(name, ": ", item.querySelector(".extent").textContent);
    const method = item.querySelector(".method");
    if (method) line.append("; ", ...[...method.childNodes].map(node => node.cloneNode(true)));
    list.append(line);
  }
  return list;
}

export function numbersOf(figure, block) {
  const { x, y, z } = figure.axes;
  const bars = figure.mark === "bars";
  const name = (axis, value) => axis.categories?.[value] ?? format(toNumber(value));
  const rows = [];
  for (const series of figure.series) {
    for (let i = 0; i < series.y.length && rows.length < mostRows; ++i) {
      const claimed = value => `${symbols[series.claim]} ${format(toNumber(value), series.claim)}`;
      rows.push([series.title + (series.labels ? `: ${series.labels[i]}` : ""),
        bars ? `${format(toNumber(series.x[i]))} to ${format(toNumber(series.x[i + 1]))}` : name(x, series.x[i]),
        z ? name(y, series.y[i]) : claimed(series.y[i]), ...(z ? [series.z ? claimed(series.z[i]) : ""] : [])]);
    }
  }
  const table = document.createElement("table");
  const head = table.createTHead(), body = table.createTBody();
  head.append(row(["series", axisTitle(x), axisTitle(y), ...(z ? [axisTitle(z)] : [])], "th"));
  body.append(...rows.map(cells => row(cells, "td")));
  const frame = document.createElement("div");
  frame.className = "numbers";
  frame.tabIndex = 0;
  frame.setAttribute("role", "region");
  frame.setAttribute("aria-labelledby", `${block.id}-caption`);
  frame.append(methodsOf(block), table);
  const total = figure.series.reduce((sum, series) => sum + series.y.length, 0);
  if (total > rows.length) {
    const note = document.createElement("p");
    note.textContent = `The first ${rows.length} of ${total} values; all are in the JSON.`;
    frame.append(note);
  }
  return frame;
}
