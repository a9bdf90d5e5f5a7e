// A composed figure as a PDF of one page with paths and letters, for LaTeX. It knows what figures consist of:
// groups, paths, lines, rectangles, circles, images and texts, with the styles written out as attributes.

const perPixel = 0.75; // points
const number = value => String(Math.round(value * 1000) / 1000);

// Letters that Helvetica lacks are in Symbol, at these places; raised and lowered digits are small ones.
const inSymbol = { α: 97, β: 98, χ: 99, δ: 100, ε: 101, φ: 102, γ: 103, η: 104, κ: 107, λ: 108, μ: 109, ψ: 121, ρ: 114, σ: 115, τ: 116,
  θ: 113, ω: 119, ζ: 122, Σ: 83, Λ: 76, Θ: 81, Φ: 70, Ψ: 89, Ω: 87, "≤": 163, "≥": 179, "∞": 165, "→": 174, "′": 162, "∫": 242, "∇": 209, "√": 214 };
// Widths in thousandths of the size, as the standard fonts have them: Helvetica from the blank on, Symbol by place.
const helvetica = [278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556,
  278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667,
  944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
  278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584];
const symbol = { 97: 631, 98: 549, 99: 549, 100: 494, 101: 439, 102: 521, 103: 411, 104: 603, 107: 549, 108: 549, 109: 576, 121: 686, 114: 549, 115: 603,
  116: 439, 113: 521, 119: 686, 122: 494, 83: 592, 76: 686, 81: 741, 70: 763, 89: 795, 87: 768, 163: 549, 179: 549, 165: 713, 174: 987, 162: 247, 242: 274,
  209: 713, 214: 549 };
const raised = { "⁰": "0", "¹": "1", "²": "2", "³": "3", "⁴": "4", "⁵": "5", "⁶": "6", "⁷": "7", "⁸": "8", "⁹": "9", "⁻": "-", "⁺": "+", "ᵀ": "T", "ⁿ": "n" };
const lowered = { "₀": "0", "₁": "1", "₂": "2", "₃": "3", "₄": "4", "₅": "5", "₆": "6", "₇": "7", "₈": "8", "₉": "9", "ᵢ": "i", "ⱼ": "j", "ₜ": "t", "ₖ": "k", "ₙ": "n" };
const plain = { "–": 150, "—": 151, "−": 45, "‖": "||", "’": 39, "“": 147, "”": 148, "…": 133 };

// A text as runs of one font, size and height above the line.
function runsOf(text) {
  const runs = [];
  const put = (font, scale, rise, code) => {
    const last = runs.at(-1);
    if (last && last.font === font && last.rise === rise) last.codes.push(code);
    else runs.push({ font, scale, rise, codes: [code] });
  };
  for (const c of text) {
    if (c in inSymbol) put("F2", 1, 0, inSymbol[c]);
    else if (c in raised) put("F1", 0.7, 0.33, raised[c].charCodeAt(0));
    else if (c in lowered) put("F1", 0.7, -0.12, lowered[c].charCodeAt(0));
    else if (typeof plain[c] === "string") for (const d of plain[c]) put("F1", 1, 0, d.charCodeAt(0));
    else put("F1", 1, 0, plain[c] ?? (c.codePointAt(0) < 256 ? c.codePointAt(0) : 63));
  }
  return runs;
}

const widthOf = (run, size, bold) => run.codes.reduce((sum, code) => sum +
  (run.font === "F2" ? symbol[code] : helvetica[code - 32] ?? 556), 0) / 1000 * size * run.scale * (bold ? 1.06 : 1);

// "rgb(1, 2, 3)", "rgba(...)", "#abc": colour and opacity, or null for none.
function paintOf(value) {
  if (!value || value === "none" || value === "transparent") return null;
  const parts = value.match(/[\d.]+/g);
  if (value.startsWith("rgb")) return { rgb: parts.slice(0, 3).map(v => v / 255), alpha: parts[3] === undefined ? 1 : Number(parts[3]) };
  const hex = value.slice(1);
  const wide = hex.length === 3 ? [...hex].map(c => c + c).join("") : hex;
  return { rgb: [0, 2, 4].map(i => parseInt(wide.slice(i, i + 2), 16) / 255), alpha: 1 };
}

// The commands of a path, absolute, as PDF has them; arcs become curves.
function pathOf(d) {
  const out = [];
  let x = 0, y = 0, startX = 0, startY = 0;
  const tokens = d.match(/[a-zA-Z]|-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?/gi) ?? [];
  let i = 0, command = "";
  const take = () => Number(tokens[i++]);
  const line = (px, py) => { [x, y] = [px, py]; out.push(`${number(x)} ${number(y)} l`); };
  while (i < tokens.length) {
    if (/[a-zA-Z]/.test(tokens[i])) command = tokens[i++];
    const relative = command === command.toLowerCase(), ox = relative ? x : 0, oy = relative ? y : 0;
    switch (command.toUpperCase()) {
      case "M": [x, y] = [take() + ox, take() + oy]; [startX, startY] = [x, y]; out.push(`${number(x)} ${number(y)} m`); command = relative ? "l" : "L"; break;
      case "L": line(take() + ox, take() + oy); break;
      case "H": line(take() + ox, y); break;
      case "V": line(x, take() + oy); break;
      case "C": {
        const c = Array.from({ length: 6 }, (_, k) => take() + (k % 2 ? oy : ox));
        [x, y] = c.slice(4);
        out.push(`${c.map(number).join(" ")} c`);
        break;
      }
      case "Q": {
        const [cx, cy, ex, ey] = Array.from({ length: 4 }, (_, k) => take() + (k % 2 ? oy : ox));
        out.push(`${[x + (cx - x) * 2 / 3, y + (cy - y) * 2 / 3, ex + (cx - ex) * 2 / 3, ey + (cy - ey) * 2 / 3, ex, ey].map(number).join(" ")} c`);
        [x, y] = [ex, ey];
        break;
      }
      case "A": { // of circles alone, which is all that symbols have
        const r = take(); take(); take();
        const large = take(), sweep = take(), ex = take() + ox, ey = take() + oy;
        arc(out, x, y, r, large, sweep, ex, ey);
        [x, y] = [ex, ey];
        break;
      }
      case "Z": out.push("h"); [x, y] = [startX, startY]; break;
      default: return out; // nothing that figures have
    }
  }
  return out;
}

function arc(out, x1, y1, r, large, sweep, x2, y2) {
  const dx = (x1 - x2) / 2, dy = (y1 - y2) / 2;
  const half = Math.hypot(dx, dy);
  if (half === 0) return;
  const radius = Math.max(r, half);
  const away = Math.sqrt(Math.max(0, radius * radius - half * half)) / half * (large === sweep ? -1 : 1);
  const cx = (x1 + x2) / 2 + away * dy, cy = (y1 + y2) / 2 - away * dx;
  let from = Math.atan2(y1 - cy, x1 - cx), to = Math.atan2(y2 - cy, x2 - cx);
  if (sweep && to <= from) to += 2 * Math.PI;
  if (!sweep && to >= from) to -= 2 * Math.PI;
  const pieces = Math.ceil(Math.abs(to - from) / (Math.PI / 2));
  const step = (to - from) / pieces, k = 4 / 3 * Math.tan(step / 4) * radius;
  for (let i = 0; i < pieces; ++i, from += step) {
    const end = from + step;
    const at = a => [cx + radius * Math.cos(a), cy + radius * Math.sin(a)];
    const [ax, ay] = at(from), [bx, by] = at(end);
    out.push(`${[ax - k * Math.sin(from), ay + k * Math.cos(from), bx + k * Math.sin(end), by - k * Math.cos(end), bx, by].map(number).join(" ")} c`);
  }
}

class Writer {
  constructor(height) {
    this.height = height;
    this.content = [];
    this.alphas = new Map();
    this.images = [];
  }

  alpha(stroke, fill) {
    const key = `${number(stroke)} ${number(fill)}`;
    if (!this.alphas.has(key)) this.alphas.set(key, `G${this.alphas.size}`);
    return `/${this.alphas.get(key)} gs`;
  }

  async draw(element) {
    if (element.nodeType !== 1 || ["style", "clippath", "defs", "title"].includes(element.localName.toLowerCase())) return;
    if (element.getAttribute("visibility") === "hidden") return;
    this.content.push("q");
    this.place(element);
    const tag = element.localName;
    if (tag === "text") this.text(element);
    else if (tag === "image") await this.image(element);
    else if (tag === "g" || tag === "svg") for (const child of element.children) await this.draw(child);
    else this.shape(element, tag);
    this.content.push("Q");
  }

  place(element) {
    const transform = element.getAttribute("transform") ?? "";
    for (const [, kind, numbers] of transform.matchAll(/(\w+)\(([^)]*)\)/g)) {
      const v = numbers.split(/[\s,]+/).filter(Boolean).map(Number);
      if (kind === "translate") this.content.push(`1 0 0 1 ${number(v[0])} ${number(v[1] ?? 0)} cm`);
      if (kind === "scale") this.content.push(`${number(v[0])} 0 0 ${number(v[1] ?? v[0])} 0 0 cm`);
      if (kind === "rotate") {
        const a = v[0] * Math.PI / 180;
        this.content.push(`${[Math.cos(a), Math.sin(a), -Math.sin(a), Math.cos(a), 0, 0].map(number).join(" ")} cm`);
      }
    }
    if (element.localName === "svg" && element.parentElement) {
      this.content.push(`1 0 0 1 ${number(this.at(element, "x"))} ${number(this.at(element, "y"))} cm`);
    }
  }

  at(element, key) {
    const value = element.getAttribute(key);
    return value?.endsWith("%") ? 0 : Number.parseFloat(value ?? 0) || 0;
  }

  shape(element, tag) {
    const at = key => this.at(element, key);
    let path = [];
    if (tag === "path") path = pathOf(element.getAttribute("d") ?? "");
    else if (tag === "line") path = [`${number(at("x1"))} ${number(at("y1"))} m ${number(at("x2"))} ${number(at("y2"))} l`];
    else if (tag === "circle") path = pathOf(`M${at("cx") + at("r")},${at("cy")}A${at("r")},${at("r")},0,1,1,${at("cx") - at("r")},${at("cy")}A${at("r")},${at("r")},0,1,1,${at("cx") + at("r")},${at("cy")}`);
    else if (tag === "rect") {
      if (element.getAttribute("width") === "100%") return; // paper is white
      path = [`${number(at("x"))} ${number(at("y"))} ${number(at("width"))} ${number(at("height"))} re`];
    }
    this.paint(element, path, tag === "line");
  }

  paint(element, path, isLine) {
    if (path.length === 0) return;
    const share = key => { const v = Number(element.getAttribute(key) ?? 1); return Number.isFinite(v) ? v : 1; };
    const fill = isLine ? null : paintOf(element.getAttribute("fill"));
    const stroke = paintOf(element.getAttribute("stroke"));
    const width = Number.parseFloat(element.getAttribute("stroke-width") ?? 1);
    if (!fill && !stroke) return;
    this.content.push(this.alpha((stroke?.alpha ?? 1) * share("stroke-opacity") * share("opacity"), (fill?.alpha ?? 1) * share("fill-opacity") * share("opacity")));
    if (fill) this.content.push(`${fill.rgb.map(number).join(" ")} rg`);
    if (stroke) {
      const dashes = (element.getAttribute("stroke-dasharray") ?? "").match(/[\d.]+/g) ?? [];
      this.content.push(`${stroke.rgb.map(number).join(" ")} RG ${number(width)} w 1 j [${dashes.join(" ")}] 0 d`);
    }
    this.content.push(...path, fill && stroke ? "B" : fill ? "f" : "S");
  }

  text(element) {
    const size = Number.parseFloat(element.getAttribute("font-size") ?? 13);
    const anchor = element.getAttribute("text-anchor") ?? "start";
    const bold = Number(element.getAttribute("font-weight")) >= 600;
    const paint = paintOf(element.getAttribute("fill")) ?? { rgb: [0, 0, 0], alpha: 1 };
    const lines = element.querySelectorAll("tspan").length > 0 ? [...element.querySelectorAll("tspan")] : [element];
    let y = 0;
    for (const line of lines) {
      const length = key => { const v = line.getAttribute(key) ?? "0"; return Number.parseFloat(v) * (v.endsWith("em") ? size : 1) || 0; };
      y = line.hasAttribute("y") ? length("y") : y;
      y += length("dy");
      const own = line.textContent;
      const runs = runsOf(own);
      const widths = runs.map(run => widthOf(run, size, bold));
      const total = widths.reduce((a, b) => a + b, 0);
      let x = length("x") - (anchor === "middle" ? total / 2 : anchor === "end" ? total : 0);
      this.content.push(this.alpha(1, paint.alpha * Number(element.getAttribute("fill-opacity") ?? 1)), `${paint.rgb.map(number).join(" ")} rg`);
      runs.forEach((run, i) => {
        const bytes = run.codes.map(code => code.toString(16).padStart(2, "0")).join("");
        const font = run.font === "F1" && bold ? "F3" : run.font;
        // Upside down, because the page is.
        this.content.push(`BT /${font} ${number(size * run.scale)} Tf 1 0 0 -1 ${number(x)} ${number(y - run.rise * size)} Tm <${bytes}> Tj ET`);
        x += widths[i];
      });
    }
  }

  async image(element) {
    const image = new Image();
    image.src = element.getAttribute("href") ?? element.getAttributeNS("http://www.w3.org/1999/xlink", "href");
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    let hex = "";
    for (let i = 0; i < data.length; ++i) if (i % 4 !== 3) hex += data[i].toString(16).padStart(2, "0");
    this.images.push({ width: canvas.width, height: canvas.height, hex });
    const at = key => this.at(element, key);
    this.content.push(`${number(at("width"))} 0 0 ${number(-at("height"))} ${number(at("x"))} ${number(at("y") + at("height"))} cm /I${this.images.length - 1} Do`);
  }
}

export async function pdfOf(sheet, width, height) {
  const writer = new Writer(height);
  await writer.draw(sheet);
  const w = number(width * perPixel), h = number(height * perPixel);
  const content = `${number(perPixel)} 0 0 ${number(-perPixel)} 0 ${h} cm\n${writer.content.join("\n")}`;
  const states = [...writer.alphas].map(([key, name]) => { const [CA, ca] = key.split(" "); return `/${name} << /CA ${CA} /ca ${ca} >>`; });
  const firstImage = 8;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${w} ${h}] /Contents 4 0 R /Resources << /Font << /F1 5 0 R /F2 6 0 R /F3 7 0 R >> ` +
      `/ExtGState << ${states.join(" ")} >> /XObject << ${writer.images.map((_, i) => `/I${i} ${firstImage + i} 0 R`).join(" ")} >> >> >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Symbol >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
    ...writer.images.map(image => `<< /Type /XObject /Subtype /Image /Width ${image.width} /Height ${image.height} /ColorSpace /DeviceRGB ` +
      `/BitsPerComponent 8 /Filter /ASCIIHexDecode /Length ${image.hex.length + 1} >>\nstream\n${image.hex}>\nendstream`),
  ];
  let file = "%PDF-1.4\n";
  const places = objects.map((object, i) => {
    const at = file.length;
    file += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const table = file.length;
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.map(at => `${String(at).padStart(10, "0")} 00000 n \n`).join("")}` +
    `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`;
  return file;
}
