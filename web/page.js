"use strict";
// What a page can do beyond being read: tables that sort and copy, the colour scheme, the JSON as a file.
(() => {
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const symbols = { exact: "=", upper_bound: "<=", lower_bound: ">=", estimate: "~" };

  function save(name, type, content) {
    const url = URL.createObjectURL(new Blob([content], { type }));
    make("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
  }

  function fileName() {
    const last = decodeURIComponent(location.pathname.split("/").pop() || "");
    return last.replace(/\.html?$/, "") || "report";
  }

  function addTools() {
    const tools = document.getElementById("tools");
    const root = document.documentElement;
    const theme = make("button", { type: "button" });
    const isDark = () => root.dataset.theme ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    const label = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
    theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; label(); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
    label();
    const json = make("button", { type: "button", textContent: "Save JSON" });
    json.addEventListener("click", () =>
      save(fileName() + ".json", "application/json", document.getElementById("report-data").textContent));
    const print = make("button", { type: "button", textContent: "Print" });
    print.addEventListener("click", () => window.print());
    tools.append(theme, json, print);
  }

  // The value that a cell is sorted by: its number, or its text.
  function keyOf(cell) {
    const data = cell.querySelector("data");
    if (data) return Number(data.value.replace("inf", "Infinity"));
    const text = cell.textContent.trim();
    return text === "–" ? null : text;
  }

  function compare(a, b) {
    if (a === null || b === null) return (a === null) - (b === null); // what has no value comes last
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  }

  function makeSortable(table) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    if (rows.length < 2) return;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const name = head.querySelector(".name");
      const button = make("button", { type: "button", className: "sort" });
      button.append(...name.childNodes);
      name.append(button);
      button.addEventListener("click", () => {
        const was = head.getAttribute("aria-sort");
        heads.forEach(other => other.removeAttribute("aria-sort"));
        let order = rows;
        if (was !== "descending") {
          const sign = was === "ascending" ? -1 : 1;
          head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
          order = [...rows].sort((r, s) => {
            const a = keyOf(r.cells[column]), b = keyOf(s.cells[column]);
            return a === null || b === null ? compare(a, b) : sign * compare(a, b);
          });
        }
        body.append(...order);
      });
    });
  }

  // Tab-separated, for spreadsheets: every digit, the claim in the heading where a column has only one.
  function tableText(table) {
    const heads = [...table.tHead.rows[0].cells];
    const rows = [...table.tBodies[0].rows];
    const claimOf = cell => {
      const claim = cell.querySelector(".claim");
      return claim ? symbols[[...claim.classList].find(c => c in symbols)] : "";
    };
    const shared = heads.map((_, i) => {
      const claims = new Set(rows.filter(r => r.cells[i] && r.cells[i].querySelector("data")).map(r => claimOf(r.cells[i])));
      return claims.size === 1 ? [...claims][0] : "";
    });
    const title = (head, i) => {
      const unit = head.querySelector(".unit");
      return head.querySelector(".name").textContent + (unit ? ` (${unit.textContent})` : "") +
        (shared[i] ? ` [${shared[i]}]` : "");
    };
    const value = (cell, i) => {
      const data = cell.querySelector("data");
      if (!data) return cell.textContent.trim().replace(/^–\d*$/, "").replace(/\s+/g, " ");
      const claim = claimOf(cell);
      return (claim && !shared[i] ? claim + " " : "") + data.value;
    };
    return [heads.map(title), ...rows.map(row => [...row.cells].map(value))].map(line => line.join("\t")).join("\n");
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Pages opened from the disk may not have the clipboard: the selection has.
      const area = make("textarea", { value: text });
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  }

  function addTableTools(block) {
    const table = block.querySelector("table");
    if (!table.querySelector("data") && table.tBodies[0].rows.length < 2) return;
    makeSortable(table);
    const said = make("output");
    const button = make("button", { type: "button", textContent: "Copy table" });
    button.addEventListener("click", async () => {
      said.textContent = await copy(tableText(table)) ? "Copied, with every digit." : "The browser refused.";
      setTimeout(() => { said.textContent = ""; }, 3000);
    });
    block.append(make("div", { className: "block-tools" }, button, said));
  }

  addTools();
  document.querySelectorAll(".table-block").forEach(addTableTools);
})();
