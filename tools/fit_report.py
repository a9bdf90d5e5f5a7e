"""Writes what tools/fit_study.py found: tables, tallies, goals, and the figure of the gain predicted from the spectrum beside the gain measured."""
import csv
import math
from pathlib import Path

import numpy as np

from fit_tables import FRESH, NEW

NO_GUARANTEE = ("isotropic, tuned",)  # settings and ranges that nobody paid for


def cell(number):
    if number is None:
        return "-"
    if number.mean <= -10:
        return f"{number.mean:.0e}"
    mark = " †" if number.older else ""
    return f"{number.mean:.3f} (one run){mark}" if math.isnan(number.error) else f"{number.mean:.3f} ± {1.96 * number.error:.3f}{mark}"


def outcome(mine, other):
    """win, tie or loss beyond 1.96 standard errors of the difference of means; of single runs nothing is known."""
    difference, error = mine.mean - other.mean, math.hypot(mine.error, other.error)
    if math.isnan(error):
        return "unknown"
    return "win" if difference > 1.96 * error else "loss" if difference < -1.96 * error else "tie"


def condition_of(table):
    """Of the second moments, directions that no row has left out."""
    h = np.linalg.eigvalsh(table.x.T @ table.x / len(table.x))
    return h[-1] / h[h > 1e-9 * h[-1]][0]


def noise_of_average(shrink, steps, last):
    """sum_i ((1/m) sum_{t >= max(i, T-m+1)} a^{t-i})^2 (Spec §22.4), of an array of a."""
    inner, total, window = np.zeros_like(shrink), np.zeros_like(shrink), steps - last + 1
    for _ in range(last):
        inner = 1 + shrink * inner
        total += (inner / last) ** 2
    factor = shrink.copy()
    for _ in range(window - 1):
        total += (factor * inner / last) ** 2
        factor = factor * shrink
    return total


def excess(h, optimum, reach, rate, steps, last, noise):
    shrink = 1 - rate * reach
    left = np.mean([shrink ** t for t in range(steps - last + 1, steps + 1)], axis=0)
    return 0.5 * np.sum(h * optimum ** 2 * left ** 2) + 0.5 * (rate * noise) ** 2 * np.sum(reach * noise_of_average(shrink, steps, last))


def predicted_gain(table, mu):
    """Spec §22.4 with the table's own spectrum: isotropic descent, its steps and rate the best by the formula, over whitened descent, the best of the steps that the program takes."""
    n, d = table.x.shape
    h, vectors = np.linalg.eigh(table.x.T @ table.x / n)
    h = np.maximum(h, 0)
    y = np.clip(table.y - table.middle, -table.half, table.half)
    optimum = vectors.T @ np.linalg.lstsq(table.x, y, rcond=None)[0]
    scale = 0.6 * table.half
    isotropic = min(excess(h, optimum, h, rate / h[-1], steps, steps // 2, math.sqrt(steps) / mu * scale * math.sqrt(h.sum()) / n)
                    for steps in (25, 50, 100, 200, 400, 800) for rate in (0.1, 0.3, 1.0, 1.5))
    share, rounds = 0.3, 3
    per_round = math.sqrt(share / rounds) * mu
    edge = math.sqrt(2 * d) / (per_round * n)
    inverse = h + 0.225 * table.bound ** 2 * edge
    for k in range(1, rounds):
        dims = max(1.0, np.sum(h / inverse))
        inverse = h + (0.45 if k == rounds - 1 else 0.225) * 2.25 * dims * edge * inverse

    def whitened(steps):
        last = 2 * steps // 3
        noise = math.sqrt(steps / (1 - share)) / mu
        floored = inverse + max(1.0, np.sum(h / inverse)) * (noise * 0.6 * table.bound / n) ** 2 / last
        reach = h / floored
        return excess(h, optimum, reach, 1.0, steps, last, noise * scale * math.sqrt(max(1.0, np.sum(reach))) / n)

    return isotropic / min(whitened(steps) for steps in (24, 96, 192))


def gain_points(tables, epsilons, known, mus):
    points = []
    for table in tables:
        if table.model != "ridge":
            continue
        # What narrower ranges clip is lost at every epsilon: the limit is the best that whitened descent does.
        limit = max((known[table.name, e, "whitened"].mean for e in epsilons if (table.name, e, "whitened") in known), default=0.0)
        for epsilon in epsilons:
            mine, other = (known.get((table.name, epsilon, m)) for m in ("whitened", "isotropic, tuned"))
            if mine is None or other is None:
                continue
            lost, lost_by_other = limit - mine.mean, limit - other.mean
            # Resolved, and of a fit of some use: below, differences are those of the split, above, first-order formulas say nothing.
            if lost > max(3 * mine.error, 0.002) and lost_by_other > 0.002 and lost < 0.5 * limit:
                points.append((table.name, epsilon, predicted_gain(table, mus[epsilon]), lost_by_other / lost))
    return points


def svg_of(points):
    """Both axes logarithmic, equality as a line, one colour for each table."""
    width, height, left, bottom, top = 640, 460, 70, 60, 20
    values_shown = [v for _, _, a, b in points for v in (a, b)] or [1.0]
    low, high = math.floor(math.log10(min(values_shown + [1.0]))), math.ceil(math.log10(max(values_shown + [10.0])))
    side_x, side_y = width - left - 170, height - bottom - top

    def x_of(v):
        return left + (math.log10(v) - low) / (high - low) * side_x

    def y_of(v):
        return height - bottom - (math.log10(v) - low) / (high - low) * side_y

    colours = ["#3f51b5", "#d95f02", "#1b9e77", "#e7298a", "#66a61e", "#e6ab02", "#7570b3", "#a6761d", "#444444", "#00acc1", "#c62828", "#8d6e63"]
    names = list(dict.fromkeys(name for name, *_ in points))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           '<title>Gain of whitened over isotropic descent: predicted from the spectrum and measured</title>',
           f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for k in range(low, high + 1):
        v = 10.0 ** k
        out += [f'<line x1="{x_of(v):.1f}" x2="{x_of(v):.1f}" y1="{top}" y2="{height - bottom}" stroke="#ddd"/>',
                f'<line x1="{left}" x2="{left + side_x}" y1="{y_of(v):.1f}" y2="{y_of(v):.1f}" stroke="#ddd"/>',
                f'<text x="{x_of(v):.1f}" y="{height - bottom + 18}" text-anchor="middle">{v:g}</text>',
                f'<text x="{left - 8}" y="{y_of(v) + 4:.1f}" text-anchor="end">{v:g}</text>']
    out += [f'<line x1="{x_of(10.0 ** low):.1f}" y1="{y_of(10.0 ** low):.1f}" x2="{x_of(10.0 ** high):.1f}" y2="{y_of(10.0 ** high):.1f}" stroke="#888" stroke-dasharray="4 3"/>',
            f'<text x="{left + side_x / 2}" y="{height - 18}" text-anchor="middle">gain predicted from the spectrum</text>',
            f'<text transform="translate(18 {top + side_y / 2}) rotate(-90)" text-anchor="middle">gain measured</text>']
    for name, epsilon, a, b in points:
        out.append(f'<circle cx="{x_of(a):.1f}" cy="{y_of(b):.1f}" r="4" fill="{colours[names.index(name) % len(colours)]}" fill-opacity=".8">'
                   f'<title>{name}, epsilon {epsilon:g}: predicted {a:.3g}, measured {b:.3g}</title></circle>')
    for i, name in enumerate(names):
        y = top + 14 + 20 * i
        out += [f'<circle cx="{width - 150}" cy="{y}" r="4" fill="{colours[i % len(colours)]}"/>', f'<text x="{width - 138}" y="{y + 4}">{name}</text>']
    return "\n".join(out + ["</svg>", ""])


def rows_of(table, epsilons, known):
    """One line for each epsilon that was run: cells, what is taken by default, and how that compares."""
    lines, tallies = [], []
    for epsilon in epsilons:
        default = known.get((table.name, epsilon, "default"))
        found = {m: known.get((table.name, epsilon, m)) for m in table.columns_shown}
        if default is None or found[default.mean] is None:
            continue
        mine = found[default.mean]
        peers = {m: v for m, v in found.items() if m != default.mean and m not in NO_GUARANTEE and v is not None}
        if not peers:
            lines.append(f"| {epsilon:g} | {default.mean}: {mine.mean:.3f} | " + " | ".join(cell(v) for v in found.values()) + " | - | - |")
            continue
        best = max(peers, key=lambda m: peers[m].mean)
        result = outcome(mine, peers[best])
        tuned = found.get("isotropic, tuned")
        free = outcome(mine, tuned) if tuned else ""
        white = [v for m, v in found.items() if m not in ("whitened", *NO_GUARANTEE) and v is not None]
        tallies.append({"table": table, "epsilon": epsilon, "default": default.mean, "result": result, "best": best, "free": free, "mean": mine.mean,
                        "behind": peers[best].mean - mine.mean, "whitened": outcome(found["whitened"], max(white, key=lambda v: v.mean)) if found["whitened"] else "", "seeds": mine.seeds})
        lines.append(f"| {epsilon:g} | {default.mean}: {mine.mean:.3f} | " + " | ".join(cell(v) for v in found.values()) +
                     f" | {result} ({best}) | {free or '-'} |")
    return lines, tallies


def counted(tallies, key):
    words = [t[key] for t in tallies if t[key]]
    return f"{words.count('win')} wins, {words.count('tie')} ties, {words.count('loss')} losses"


def listed(tallies, known):
    return "; ".join(f"{t['table'].name} at epsilon {t['epsilon']:g} ({t['default']} {t['mean']:.3f}, {t['best']} better by {t['behind']:.3f}; "
                     f"without privacy {known[t['table'].name, 0.0, 'none'].mean:.3f})" for t in tallies) or "none"


def goals(tallies, known):
    lost = [t for t in tallies if t["result"] == "loss"]
    steep = [t for t in tallies if condition_of(t["table"]) > 100]
    not_better = [t for t in steep if t["result"] != "win"]
    near = [(t["table"].name, known[t["table"].name, 0.0, "none"].mean - t["mean"]) for t in tallies
            if t["epsilon"] == 1 and t["table"].model == "ridge" and len(t["table"].train) >= 10000 and t["table"].x.shape[1] <= 20]
    return [f"- Never significantly worse than the best other method: {len(lost)} of {len(tallies)} cells are ({listed(lost, known)}).",
            f"- Significantly better wherever the second moments have a condition number above 100: in {len(steep) - len(not_better)} of {len(steep)} cells. "
            f"Not: {'; '.join('%s at %g (%s)' % (t['table'].name, t['epsilon'], t['result']) for t in not_better) or 'none'}.",
            *(["- Within 0.01 R^2 of no privacy at epsilon 1, for at least 10,000 rows and at most 20 parameters: "
               + ", ".join(f"{name} {gap:.3f}{'' if gap <= 0.01 else ' (not)'}" for name, gap in near) + " lost."] if near else []), ""]


def table_part(table, known, lines, tallies, seeds):
    fewer = f" ({tallies[0]['seeds']} seeds)" if tallies and tallies[0]["seeds"] != seeds else ""
    several = "" if len(table.classes) < 3 else " for each of %d classes" % len(table.classes)
    return [f"### {table.name}", "", f"{len(table.train)} rows, {table.x.shape[1]} parameters{several}, condition number {condition_of(table):.1e}; "
            f"{'R^2' if table.model == 'ridge' else 'accuracy'} without privacy {known[table.name, 0.0, 'none'].mean:.3f}{fewer}.", "",
            "| epsilon | by default | " + " | ".join(table.columns_shown) + " | against the best other | against tuned |",
            "| --- |" + " --- |" * (len(table.columns_shown) + 3), *lines, ""]


def tally_lines(tallies):
    tuned = f"Against tuned isotropic descent: {counted(tallies, 'free')}. " if any(t["free"] for t in tallies) else ""
    return [f"The default against the best other method with a guarantee, beyond 1.96 standard errors: {counted(tallies, 'result')}. {tuned}"
            f"Whitened descent, also where it is not the default, against the best other with a guarantee: {counted(tallies, 'whitened')}.", ""]


def group_of(name):
    return "new" if name in NEW else "fresh" if name in FRESH else "known"


def second_look(path):
    """What tools/fit_second_look.py found of the cells in which the default lost."""
    if not path.is_file():
        return []
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        return []
    cells = "; ".join(f"{r['table']} at {r['epsilon']}: {r['other']} {'ahead by' if float(r['ahead']) > 0 else 'behind by'} {abs(float(r['ahead'])):.4f} ± {1.96 * float(r['error']):.4f}" for r in rows)
    still = sum(float(r["ahead"]) > 1.96 * float(r["error"]) for r in rows)
    return ["## Losses looked at again", "",
            f"The intervals of the tables are those of the noise: the split is one. So every cell in which the default lost on a table of at most 20,000 rows was run again on {rows[0]['splits']} other splits with {rows[0]['seeds']} fresh seeds each (`tools/fit_second_look.py`, [fit_second_look.csv](fit_second_look.csv)), and the other method compared with the default "
            f"split by split: {still} of {len(rows)} {'is a loss' if still == 1 else 'are losses'} there. {cells}. Wins were not looked at again: this says how large the losses are, not how many wins would stay.", ""]


def write_report(path, tables, missing, epsilons, seeds, known, mus, delta):
    parts, tallies = {"new": [], "fresh": [], "known": []}, {"new": [], "fresh": [], "known": []}
    for table in tables:
        fresh = group_of(table.name)
        lines, found = rows_of(table, epsilons, known)
        tallies[fresh] += found
        if not lines:
            missing.append(table.name)
            continue
        parts[fresh] += table_part(table, known, lines, found, seeds)
    points = gain_points(tables, epsilons, known, mus)
    (path.parent / "fit_gain.svg").write_text(svg_of(points))
    ratio = np.array([math.log10(b / a) for _, _, a, b in points]) if points else np.zeros(1)
    text = ["# Private regression at equal epsilon", "",
            f"Made by `make fit-study`: {seeds} seeds of the noise for each number unless said otherwise (a quarter of them for `isotropic` and `diffprivlib` on more than 10,000 rows), one split of each table (four fifths to fit), delta = {delta:g}, zero_out. Test R^2, or "
            "accuracy of classes; intervals are of the mean over seeds (95 %). Bounds are declared in `studies/fit` from outside knowledge. Made-up tables have 12 "
            "mixed features whose variances fall from 1 to 1/condition; fashion is Fashion-MNIST in 49 blocks of pixels. Numbers with their errors, and how many seeds each has: [fit_numbers.csv](fit_numbers.csv).", "",
            "- `whitened`, `isotropic`, `statistics`, `minimiser`: `sfumato fit --mechanism`, default settings. *By default*: the one that the program takes by itself, from public quantities.",
            "- `AdaSSP`: Spec §22.3, ours. `diffprivlib`: `LinearRegression`, `LogisticRegression` of diffprivlib 0.6.6, default settings, the same bounds; pure epsilon, so no delta.",
            "- `isotropic, tuned` has no guarantee: the best of eight settings (steps, rate, clip) *chosen on the test rows*, in ranges found without paying. A generous comparison.", "",
            "The default meets the best of up to five others in every cell, at 1.96 standard errors and without correction for so many comparisons: a few losses would appear among equals.", "",
            *(["† made by a program whose defaults have changed since; `tools/fit_study.py --again older` makes these again.", ""]
              if any(number.older for number in known.values()) else []),
            "Wider clips where noise is tiny (Spec §22.4) came last, and were chosen while looking at tables of all three groups below: no table here is fresh for them. What they do for tables that are not here stands in the Spec.", "",
            "## Fresh tables", "",
            "Five tables that nothing had been tried on when the margin of ranges and the steps of whitened descent were changed (Spec §22.4, §22.7); their bounds were written down before the first run. One of them, star, then showed that both the steps and the rule "
            "of choice were wrong for it (the default was isotropic at epsilon 0.1, 3 and 8, with R^2 .146, .384 and .384), and is not fresh for what was mended; neither was changed because of the other four. All results:", "",
            *tally_lines(tallies["new"]), *goals(tallies["new"], known),
            "## Tables that were fresh for the rule of choice", "",
            "Nine tables that no default, and no rule of choice, had been tried on when these were fixed; bounds declared before the first run. The steps of whitened descent were changed afterwards, while looking at three of them (boston, computers, vietnam).", "",
            *tally_lines(tallies["fresh"]), *goals(tallies["fresh"], known),
            "## Tables that the defaults were chosen on", "",
            *tally_lines(tallies["known"]), *goals(tallies["known"], known),
            *second_look(path.with_name("fit_second_look.csv")),
            "## Gain predicted and measured", "",
            "![Gain of whitened over isotropic descent, predicted from the spectrum and measured](fit_gain.svg)", "",
            f"Excess loss of tuned isotropic descent over that of whitened descent, both against whitened descent at its least noise, in {len(points)} cells of quantities where it is resolved, beside the prediction of Spec §22.4 from the table's spectrum. "
            f"Measured over predicted: median {10 ** float(np.median(ratio)):.2f}, from {10 ** float(ratio.min()):.2g} to {10 ** float(ratio.max()):.2g}. The prediction knows no clipping and no noise in "
            "the metric: an order of magnitude.", "",
            "## Fresh tables, one by one", "", *parts["new"], "## Tables that were fresh for the rule of choice, one by one", "", *parts["fresh"], "## The others, one by one", "", *parts["known"]]
    if missing:
        text += ["Not run here (no data): " + ", ".join(missing) + ".", ""]
    path.write_text("\n".join(text))
