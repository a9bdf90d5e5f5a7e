// Values under the pointer and under the arrow keys.
import { svgElement } from "./looks.js";

function place(stop, scales) {
  return { ...stop, px: scales.x.apply(stop.x), py: scales.y.apply(stop.y) };
}

export function addProbe(panel, svg, stops) {
  let placed = null; // made at the first use: a plane has thousands
  const places = () => {
    const scales = { x: svg.scale("x"), y: svg.scale("y") };
    placed ??= stops().map(stop => place(stop, scales)).filter(s => Number.isFinite(s.px) && Number.isFinite(s.py));
    return placed;
  };
  const ring = svgElement("circle", { r: 7, fill: "none", stroke: "currentColor", "stroke-width": 2, visibility: "hidden", class: "probe" });
  svg.append(ring);
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "status");
  tip.hidden = true;
  panel.append(tip);
  let current = -1;

  function show(index) {
    current = index;
    const stop = places()[index];
    if (!stop) return;
    ring.setAttribute("cx", stop.px);
    ring.setAttribute("cy", stop.py);
    ring.setAttribute("visibility", "visible");
    tip.replaceChildren(...stop.lines.map(([name, value]) => {
      const line = document.createElement("div");
      if (value === undefined) {
        const strong = document.createElement("b");
        strong.textContent = name;
        line.append(strong);
      } else {
        line.textContent = `${name}: ${value}`;
      }
      return line;
    }));
    tip.hidden = false;
    const box = svg.getBoundingClientRect(), home = panel.getBoundingClientRect();
    const factor = box.width / svg.viewBox.baseVal.width;
    const x = box.left - home.left + stop.px * factor, y = box.top - home.top + stop.py * factor;
    const left = x + 14 + tip.offsetWidth > home.width ? x - 14 - tip.offsetWidth : x + 14;
    tip.style.left = `${Math.max(0, Math.min(left, home.width - tip.offsetWidth))}px`;
    tip.style.top = `${Math.max(0, y - tip.offsetHeight - 8)}px`;
  }

  function hide() {
    tip.hidden = true;
    ring.setAttribute("visibility", "hidden");
  }

  svg.addEventListener("pointermove", event => {
    const box = svg.getBoundingClientRect(), factor = svg.viewBox.baseVal.width / box.width;
    const x = (event.clientX - box.left) * factor, y = (event.clientY - box.top) * factor;
    let nearest = -1, best = 60 * 60;
    places().forEach((stop, i) => {
      const distance = (stop.px - x) ** 2 + (stop.py - y) ** 2;
      if (distance < best) [nearest, best] = [i, distance];
    });
    if (nearest >= 0) show(nearest); else hide();
  });
  svg.addEventListener("pointerleave", hide);
  panel.addEventListener("blur", hide);
  panel.addEventListener("keydown", event => {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    if (event.key === "Escape") return hide();
    if (event.key === "Home") show(0);
    else if (event.key === "End") show(places().length - 1);
    else if (event.key in steps) show(Math.min(Math.max(current + steps[event.key], 0), places().length - 1));
    else return;
    event.preventDefault();
  });
}
