"use strict";
// What a page can do beyond being read: tables that sort and copy, the colour scheme, the JSON as a file, folds
// that open for links and paper.
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
    const text = textOf(cell);
    return /^–\d*$/.test(text) ? null : text;
  }

  // The text of a cell as it was before its mathematics was set.
  function textOf(cell) {
    const set = cell.querySelector("[data-text]");
    return (set ? set.dataset.text : cell.textContent).trim().replace(/\s+/g, " ");
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

  const claimOf = cell => {
    const claim = cell.querySelector(".claim");
    return claim ? symbols[[...claim.classList].find(c => c in symbols)] : "";
  };

  // A table as rows of texts: every digit, the claim in the heading where a column has only one.
  function contentOf(table, { shown = cell => cell.querySelector("data").value } = {}) {
    const heads = [...table.tHead.rows[0].cells];
    const rows = [...table.tBodies[0].rows];
    const shared = heads.map((_, i) => {
      const claims = new Set(rows.filter(r => r.cells[i] && r.cells[i].querySelector("data")).map(r => claimOf(r.cells[i])));
      return claims.size === 1 ? [...claims][0] : "";
    });
    const title = (head, i) => {
      const unit = head.querySelector(".unit");
      return textOf(head.querySelector(".name")) + (unit ? ` (${unit.textContent})` : "") +
        (shared[i] ? ` [${shared[i]}]` : "");
    };
    const value = (cell, i) => {
      if (!cell.querySelector("data")) return textOf(cell).replace(/^–\d*$/, "");
      const claim = claimOf(cell);
      return (claim && !shared[i] ? claim + " " : "") + shown(cell);
    };
    return { heads: heads.map(title), rows: rows.map(row => [...row.cells].map(value)), right: heads.map(head => head.classList.contains("number")) };
  }

  // Tab-separated, for spreadsheets.
  function tableText(table) {
    const { heads, rows } = contentOf(table);
    return [heads, ...rows].map(line => line.join("\t")).join("\n");
  }

  const greek = "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|kappa|lambda|mu|rho|sigma|tau|phi|chi|psi|omega|Sigma|Lambda|Theta|Phi|Psi|Omega";

  // A text of a table in LaTeX: special characters escaped, mathematics between dollars.
  function latex(text) {
    const math = part => `$${part}$`;
    const special = { "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "&": "\\&", "%": "\\%", "#": "\\#", $: "\\$", _: "\\_", "~": "$\\sim$", "^": "\\^{}",
      "<": "$<$", ">": "$>$", "|": "$|$", "∞": "$\\infty$" };
    const pattern = new RegExp([
      String.raw`(?<number>(?<![\w.])\d+(?:\.\d+)?e[-+]?\d+(?!\w))`,
      String.raw`(?<letter>(?<![\w])(?:(?:${greek}|eps)\b|[A-Za-z](?![A-Za-z]))'*(?:_(?:\{[^}]*\}|[A-Za-z0-9]{1,3}(?!\w)))?(?:\^(?:\{[^}]*\}|-?[A-Za-z0-9]{1,6}))?(?![\w=]))`,
      String.raw`(?<after>(?<=[)|\]])\^(?:\{[^}]*\}|-?[A-Za-z0-9]{1,6}))`, String.raw`(?<root>\bsqrt(?=\())`,
      String.raw`(?<sign><=|>=|->|\|\|)`, String.raw`(?<special>[\\{}&%#$_~^<>|∞])`].join("|"), "g");
    return text.replace(pattern, (whole, ...rest) => {
      const { number, letter, after, root, sign, special: character } = rest.at(-1);
      if (number) {
        const [digits, power] = number.split("e");
        return math(`${digits === "1" ? "" : digits + "\\cdot "}10^{${Number(power)}}`);
      }
      if (after) return math(`^{${after.slice(1).replace(/[{}]/g, "")}}`);
      if (root) return math("\\surd");
      if (sign) return math({ "<=": "\\le", ">=": "\\ge", "->": "\\to", "||": "\\Vert" }[sign]);
      if (character) return special[character];
      if (/^[A-Za-z]$/.test(letter)) return letter; // an article or a unit as likely as a variable
      return math(letter.replace(new RegExp(`\\b(${greek})\\b`, "g"), "\\$1").replace(/\beps\b/g, "\\varepsilon").replace(/\\epsilon/g, "\\varepsilon")
        .replace(/([_^])(-?[A-Za-z0-9]+)/g, "$1{$2}"));
    });
  }

  // As papers have it: booktabs, numbers as shown, claims as signs.
  function tableLatex(block, table) {
    const { heads, rows, right } = contentOf(table, { shown: cell => cell.querySelector("data").textContent });
    const caption = block.querySelector(".title");
    const line = cells => cells.map(cell => latex(cell)).join(" & ") + " \\\\";
    const spaced = latex(caption ? caption.textContent : "");
    return ["% \\usepackage{booktabs}", "\\begin{table}", "\\centering", `\\caption{${spaced}}`,
      `\\begin{tabular}{${right.map(r => r ? "r" : "l").join("")}}`, "\\toprule", line(heads), "\\midrule", ...rows.map(line),
      "\\bottomrule", "\\end{tabular}", "\\end{table}"].join("\n");
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
    const button = (label, content, done) => {
      const element = make("button", { type: "button", textContent: label });
      element.addEventListener("click", async () => {
        said.textContent = await copy(content()) ? done : "The browser refused.";
        setTimeout(() => { said.textContent = ""; }, 3000);
      });
      return element;
    };
    table.closest(".scroll").after(make("div", { className: "block-tools" },
      button("Copy table", () => tableText(table), "Copied, with every digit."),
      button("Copy as LaTeX", () => tableLatex(block, table), "Copied, for booktabs."), said));
  }

  // A link into a fold opens it.
  function openTarget() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let fold = target.closest("details:not([open])"); fold; fold = target.closest("details:not([open])")) fold.open = true;
    target.scrollIntoView();
  }

  // Paper shows everything.
  let closed = [];
  function unfold() {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach(fold => { fold.open = true; });
    dispatchEvent(new Event("sfumato:unfolded"));
  }
  addEventListener("beforeprint", unfold);
  addEventListener("afterprint", () => { closed.forEach(fold => { fold.open = false; }); closed = []; });

  addTools();
  document.querySelectorAll(".table-block").forEach(addTableTools);
  addEventListener("hashchange", openTarget);
  openTarget();
})();
