"""The page, the figure and the document of the equal-privacy study, from its runs."""
import json
import math
import statistics
from collections import defaultdict

LEVEL = 0.05
METHODS = ["isotropic", "per_layer", "whitened", "low_rank", "released", "input", "input_all"]


def betacf(a, b, x):
    """Continued fraction of the incomplete beta function (modified Lentz)."""
    tiny, c, d = 1e-300, 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1.0 / (d or tiny)
    h = d
    for m in range(1, 400):
        for numerator in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1.0 / ((1.0 + numerator * d) or tiny)
            c = (1.0 + numerator / c) or tiny
            h *= d * c
        if abs(d * c - 1.0) < 1e-15:
            break
    return h


def t_tail(t, f):
    """P(|T| > |t|) of Student's distribution with f degrees of freedom."""
    x, a, b = f / (f + t * t), f / 2, 0.5
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) if 0 < x < 1 else 0.0
    if x >= 1:
        return 1.0
    return front * betacf(a, b, x) / a if x < (a + 1) / (a + b + 2) else 1 - front * betacf(b, a, 1 - x) / b


def t_quantile(f):
    low, high = 0.0, 1000.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if t_tail(middle, f) > LEVEL else (low, middle)
    return high


def interval(values):
    """Mean and half the width of its 95 % interval, in per cent."""
    values = [100 * value for value in values]
    if len(values) < 2:
        return values[0], float("nan")
    return statistics.mean(values), t_quantile(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))


def welch(a, b):
    """Two-sided p of equal means, variances unequal."""
    va, vb = statistics.variance(a) / len(a), statistics.variance(b) / len(b)
    if va + vb == 0:
        return 0.0 if statistics.mean(a) != statistics.mean(b) else 1.0
    f = (va + vb) ** 2 / (va ** 2 / (len(a) - 1) + vb ** 2 / (len(b) - 1))
    return t_tail((statistics.mean(a) - statistics.mean(b)) / math.sqrt(va + vb), f)


def holm(ps):
    """Which of the hypotheses are rejected together at LEVEL."""
    rejected = set()
    for rank, key in enumerate(sorted(ps, key=ps.get)):
        if ps[key] > LEVEL / (len(ps) - rank):
            break
        rejected.add(key)
    return rejected


def chosen_settings(plan, rows):
    """The best setting of each task, method and epsilon on validation records, and how many were tried."""
    best, tried = {}, defaultdict(int)
    for row in rows:
        if row["part"] != "validation" or row["task"] not in plan["tasks"] or int(row["protocol"]) != plan["protocol"]:
            continue
        key = (row["task"], row["method"], float(row["epsilon"]))
        tried[key] += 1
        if key not in best or float(row["accuracy"]) > best[key][0]:  # the first of equals
            best[key] = (float(row["accuracy"]), row["setting"])
    return {key: value[1] for key, value in best.items()}, tried


def collect(plan, rows):
    chosen, tried = chosen_settings(plan, rows)
    found = defaultdict(list)
    for row in rows:
        if row["part"] != "test" or int(row["protocol"]) != plan["protocol"]:
            continue
        key = (row["task"], row["method"], float(row["epsilon"]))
        if chosen.get(key) == row["setting"]:
            found[key].append(float(row["accuracy"]))
    return chosen, tried, found


def verdicts(plan, found):
    """For each task and epsilon: what the declared shaped method is beside isotropic noise, judged together."""
    ps, signs = {}, {}
    for task, spec in plan["tasks"].items():
        for epsilon in plan["epsilons"]:
            plain, shaped = found.get((task, "isotropic", epsilon), []), found.get((task, spec["shaped"], epsilon), [])
            if len(plain) < plan["least_seeds"] or len(shaped) < plan["least_seeds"]:
                continue
            ps[task, epsilon] = welch(shaped, plain)
            signs[task, epsilon] = statistics.mean(shaped) - statistics.mean(plain)
    rejected = holm(ps)
    return {key: ("tie" if key not in rejected else "win" if signs[key] > 0 else "loss", 100 * signs[key], ps[key]) for key in ps}


def cell(values):
    if not values:
        return "-"
    mean, half = interval(values)
    return f"{mean:.2f}" + (f" ± {half:.2f}" if len(values) > 1 else "") + (f" ({len(values)})" if len(values) != 10 else "")


def said(verdict):
    return f"{verdict[1]:+.2f}: {verdict[0]} (p = {verdict[2]:.1g})" if verdict else "not judged"


def task_table(plan, task, found, judged):
    spec = plan["tasks"][task]
    methods = [m for m in METHODS if any((task, m, e) in found for e in plan["epsilons"])]
    lines = ["| epsilon | " + " | ".join(methods) + f" | {spec['shaped']} less isotropic |", "| --- " * (len(methods) + 2) + "|"]
    for epsilon in plan["epsilons"]:
        if not any((task, m, epsilon) in found for m in methods):
            continue
        cells = [cell(found.get((task, m, epsilon), [])) for m in methods]
        lines.append(f"| {epsilon:g} | " + " | ".join(cells) + f" | {said(judged.get((task, epsilon)))} |")
    return lines


def summary_table(plan, judged):
    lines = ["| task | shaped noise | " + " | ".join(f"epsilon = {e:g}" for e in plan["epsilons"]) + " |",
             "| --- " * (2 + len(plan["epsilons"])) + "|"]
    for task, spec in plan["tasks"].items():
        lines.append(f"| {spec['title']} | {spec['shaped']} | " + " | ".join(said(judged.get((task, e))) for e in plan["epsilons"]) + " |")
    return lines


def missing_text(plan, found):
    """Which of the planned comparisons have too few seeds, or none."""
    absent = []
    for task, spec in plan["tasks"].items():
        by_epsilons = defaultdict(list)
        for method in spec["settings"]:
            wanted = plan["epsilons"] if method in ("isotropic", spec["shaped"]) else plan["epsilons_of_others"]
            few = [e for e in wanted if len(found.get((task, method, e), [])) < plan["least_seeds"]]
            if few:
                by_epsilons[", ".join(f"{e:g}" for e in few)].append(f"`{method}`")
        if by_epsilons:
            absent.append(f"- {spec['title']}: " + "; ".join(f"{', '.join(methods)} at epsilon = {few}" for few, methods in by_epsilons.items()))
    if not absent:
        return ["Nothing of the plan is missing."]
    return ["**Missing** (no run, or fewer than ten seeds), for want of time and not because of what it showed; `make equal-privacy` goes on from the runs that are kept:", ""] + absent


def end_of_range(plan, rows, chosen):
    """Where the setting chosen has the largest or smallest learning rate of those that were tried."""
    rate = lambda setting: json.loads(setting)["train.learning_rate"]  # noqa: E731
    rates = defaultdict(list)
    for row in rows:
        if row["part"] == "validation" and int(row["protocol"]) == plan["protocol"]:
            rates[row["task"], row["method"], float(row["epsilon"])].append(rate(row["setting"]))
    return [f"{plan['tasks'][key[0]]['title']}, `{key[1]}`, epsilon = {key[2]:g}" for key, setting in sorted(chosen.items())
            if rate(setting) in (min(rates[key]), max(rates[key]))]


def settings_text(setting):
    return ", ".join(f"{key.split('.')[-1]} {value}" for key, value in json.loads(setting).items())


def figure(plan, found, path):
    """Accuracy against epsilon, a small plot for each task."""
    colours = {"isotropic": "#666666", "per_layer": "#b8860b", "whitened": "#2e8b57", "low_rank": "#8fbc8f", "released": "#9467bd", "input": "#c0392b", "input_all": "#1f77b4"}
    tasks = [t for t in plan["tasks"] if any(key[0] == t for key in found)]
    width, height, columns = 290, 190, 4
    rows = -(-len(tasks) // columns)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns * width} {rows * height + 30}" font-family="sans-serif" font-size="11">',
           "<title>Test accuracy at equal certified privacy, 95 % intervals over seeds</title>"]
    xs = {epsilon: 50 + i * 80 for i, epsilon in enumerate(plan["epsilons"])}
    for n, task in enumerate(tasks):
        values = {key[1:]: interval(v) for key, v in found.items() if key[0] == task and len(v) > 1}
        if not values:
            continue
        low = min(m - h for m, h in values.values())
        high = max(m + h for m, h in values.values())
        low, high = low - 0.08 * (high - low), high + 0.08 * (high - low)
        y = lambda v: 160 - 125 * (v - low) / (high - low)  # noqa: E731
        out.append(f'<g transform="translate({n % columns * width},{n // columns * height + 30})">')
        out.append(f'<text x="40" y="22" font-weight="bold">{plan["tasks"][task]["title"]}</text>')
        out.append('<path d="M40 30V160H230" fill="none" stroke="#999"/>')
        step = next(s for s in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20) if (high - low) / s <= 5)
        tick = math.ceil(low / step) * step
        while tick <= high:
            out.append(f'<text x="36" y="{y(tick) + 4:.1f}" text-anchor="end" fill="#555">{tick:.3g}</text><path d="M40 {y(tick):.1f}H230" stroke="#eee"/>')
            tick += step
        for epsilon, x in xs.items():
            out.append(f'<text x="{x + 10}" y="175" text-anchor="middle" fill="#555">{"eps " if x == 50 else ""}{epsilon:g}</text>')
        for i, method in enumerate(METHODS):
            points = [(xs[e] + 10 + 3 * (i - 2.5), *values[method, e]) for e in plan["epsilons"] if (method, e) in values]
            if not points:
                continue
            line = " ".join(f"{x:.1f},{y(m):.1f}" for x, m, _ in points)
            out.append(f'<polyline points="{line}" fill="none" stroke="{colours[method]}" stroke-width="1.5"/>')
            for x, m, h in points:
                out.append(f'<path d="M{x:.1f} {y(m - h):.1f}V{y(m + h):.1f}" stroke="{colours[method]}" stroke-width="1.5"/>'
                           f'<circle cx="{x:.1f}" cy="{y(m):.1f}" r="2.5" fill="{colours[method]}"/>')
        out.append("</g>")
    x = 40
    for method in METHODS:
        if any(key[1] == method for key in found):
            out.append(f'<circle cx="{x}" cy="14" r="4" fill="{colours[method]}"/><text x="{x + 8}" y="18">{method}</text>')
            x += 30 + 7 * len(method)
    out.append(f'<text x="{x + 20}" y="18" fill="#555">test accuracy in %, mean and 95 % interval over seeds</text></svg>')
    path.write_text("\n".join(out) + "\n")


def claimed(value, method):
    """A measured number, as documents have them (docs/json.md)."""
    return {"value": value, "claim": "estimate", "symbol": "~", "method": method, "assumptions": [], "confidence": None}


def accuracy_series(plan, found, task, method):
    points = [(e, *interval(found[task, method, e])) for e in plan["epsilons"] if len(found.get((task, method, e), [])) > 1]
    return {"key": method, "title": method, "claim": "estimate", "symbol": "~", "method": "mean over seeds, 95 % interval (Student)",
            "assumptions": [], "confidence": 0.95, "x": [e for e, _, _ in points], "y": [m for _, m, _ in points],
            "y_intervals": {"low": [m - h for _, m, h in points], "high": [m + h for _, m, h in points]}}


def task_figure(plan, found, task):
    spec = plan["tasks"][task]
    series = [s for s in (accuracy_series(plan, found, task, m) for m in ("isotropic", spec["shaped"])) if s["x"]]
    low = min(v for s in series for v in s["y_intervals"]["low"])
    high = max(v for s in series for v in s["y_intervals"]["high"])
    room = 0.08 * (high - low)
    return {"type": "figure", "key": task, "title": spec["title"], "mark": "line",
            "axes": {"x": {"title": "certified epsilon", "unit": "", "scale": "log", "from": 0.8, "to": 10},
                     "y": {"title": "test accuracy", "unit": "%", "scale": "linear", "from": low - room, "to": high + room}},
            "series": series}


def document(plan, found, judged, runs):
    """The comparison as a document, of which `sfumato report` makes a page: the answer, one table, a figure for each task."""
    counts = {outcome: sum(j[0] == outcome for j in judged.values()) for outcome in ("win", "tie", "loss")}
    tasks = [t for t in plan["tasks"] if any(k[0] == t for k in judged)]
    won = [t for t in tasks if any(judged[k][0] == "win" for k in judged if k[0] == t)]
    method = "mean over seeds"
    table, results = [], []
    for (task, epsilon), (outcome, gain, p) in judged.items():
        spec = plan["tasks"][task]
        means = {m: interval(found[task, m, epsilon])[0] for m in ("isotropic", spec["shaped"])}
        table.append({"task": spec["title"], "epsilon": {"value": epsilon, "claim": "upper_bound", "symbol": "<=", "method": "the accountant",
                                                         "assumptions": [], "confidence": None},
                      "isotropic": claimed(means["isotropic"], method), "shaped": claimed(means[spec["shaped"]], method),
                      "gain": claimed(gain, method), "p": claimed(p, "Welch's test, two-sided"), "outcome": outcome})
        for m, mean in means.items():
            results.append({"quantity": "test_accuracy", "task": task, "metric": m, "epsilon": epsilon, **claimed(mean, method)})
    columns = [("task", "task", "", "left"), ("epsilon", "epsilon", "", "right"), ("isotropic", "isotropic", "%", "right"),
               ("shaped", "shaped", "%", "right"), ("gain", "gain", "points", "right"), ("p", "p", "", "right"), ("outcome", "outcome", "", "left")]
    answer = (f"Shaped noise wins {counts['win']}, ties {counts['tie']} and loses {counts['loss']} of {len(judged)} comparisons with isotropic "
              f"noise (DP-SGD); it wins at one epsilon or more on {len(won)} of {len(tasks)} tasks.")
    lost = [t for t in tasks if any(judged[k][0] == "loss" for k in judged if k[0] == t)]
    verdict = (f"{len(won)} of {len(tasks)} tasks won at one epsilon or more, " +
               (f"{len(lost)} lost at one or more." if lost else "none lost at any."))
    missing = [text for text in missing_text(plan, found) if text.startswith("- ")]
    blocks = [{"type": "statement", "kind": "verdict", "text": verdict, "outcome": "bad" if counts["loss"] else "good" if 2 * len(won) >= len(tasks) else "open"},
              {"type": "table", "key": "outcomes", "title": f"Gain of the metric {', '.join(sorted({plan['tasks'][t]['shaped'] for t in tasks}))} over isotropic noise, "
               "in points of test accuracy", "key_columns": 1,
               "columns": [{"key": k, "title": t, "unit": "", "align": "left"} for k, t in
                           [("task", "task")] + [(f"epsilon_{e:g}", f"epsilon = {e:g}") for e in plan["epsilons"]]],
               "rows": [{"task": plan["tasks"][t]["title"],
                         **{f"epsilon_{e:g}": f"{judged[t, e][1]:+.2f}, {judged[t, e][0]}" if (t, e) in judged else
                            {"value": None, "reason": "not run yet"} for e in plan["epsilons"]}} for t in tasks]}]
    blocks += [task_figure(plan, found, task) for task in tasks]
    blocks.append({"type": "table", "key": "comparison", "title": "Test accuracy at the same certified privacy, delta = 1e-5", "key_columns": 2,
                   "columns": [{"key": k, "title": t, "unit": u, "align": a} for k, t, u, a in columns], "rows": table})
    blocks += [{"type": "statement", "kind": "assumption", "text": text} for text in plan["text"]["page"]]
    if missing:
        blocks.append({"type": "statement", "kind": "warning", "text": "not run yet: " + "; ".join(text[2:].replace("`", "") for text in missing) + "."})
    return {"schema_version": 1, "command": "equal-privacy", "title": "Private training at equal epsilon",
            "abstract": {"asked": "Does noise that is shaped by the data's second moments, which are paid for, give better models than isotropic noise at the same certified (epsilon, delta)?",
                         "answer": answer, "released": "A model of each task, and the second moments of its inputs where the metric is input"},
            "provenance": {"runs": str(runs), "protocol": str(plan["protocol"]), "settings": "studies/equal_privacy/plan.toml"},
            "results": results, "verdicts": [], "blocks": blocks}


def opacus_part(rows, plan):
    by = defaultdict(dict)
    for row in rows:
        if row["task"] == "opacus":
            by[row["method"]][int(row["seed"])] = row
    if not (len(by["opacus"]) > 1 and len(by["sfumato"]) > 1):
        return ["Not run."]
    lines = ["| | test accuracy, mean ± 95 % interval | seeds | seconds of steps |", "| --- | --- | --- | --- |"]
    values = {}
    for method in ("sfumato", "opacus"):
        values[method] = [float(row["accuracy"]) for row in by[method].values()]
        mean, half = interval(values[method])
        seconds = statistics.median(float(row["seconds"]) for row in by[method].values())
        lines.append(f"| {method} | {mean:.2f} ± {half:.2f} | {len(values[method])} | {seconds:.2g} |")
    p = welch(values["sfumato"], values["opacus"])
    difference = 100 * (statistics.mean(values["sfumato"]) - statistics.mean(values["opacus"]))
    return lines + ["", f"Difference {difference:+.2f} points, p = {p:.2g} (Welch): " +
                    ("the intervals agree." if p > LEVEL else "they differ.")]


def write(plan, rows, root):
    rows = list(rows)
    chosen, tried, found = collect(plan, rows)
    judged = verdicts(plan, found)
    counts = defaultdict(int)
    for verdict, _, _ in judged.values():
        counts[verdict] += 1
    won = [t for t in plan["tasks"] if any(j[0] == "win" for k, j in judged.items() if k[0] == t)]
    lost = [t for t in plan["tasks"] if any(j[0] == "loss" for k, j in judged.items() if k[0] == t)]
    tasks = [t for t in plan["tasks"] if any(k[0] == t for k in judged)]
    title = lambda names: "; ".join(plan["tasks"][t]["title"] for t in names) or "none"  # noqa: E731
    number = lambda n, word: f"{n} {word if n == 1 else {'loss': 'losses'}.get(word, word + 's')}"  # noqa: E731
    out = ["# Private training at equal epsilon", "",
           f"Shaped noise against isotropic noise (DP-SGD) at the same certified (epsilon, 1e-5): **{number(counts['win'], 'win')}, "
           f"{number(counts['tie'], 'tie')}, {number(counts['loss'], 'loss')}** in {len(judged)} comparisons on {len(tasks)} of {len(plan['tasks'])} tasks. "
           f"A significant win at one epsilon or more: {len(won)} of {len(tasks)} tasks. A significant loss: {f'{len(lost)} ({title(lost)})' if lost else 'none'}.", ""]
    out += summary_table(plan, judged) + ["", *missing_text(plan, found), "", "![Test accuracy against epsilon](equal_privacy.svg)", "",
                                          "The same as a page: `sfumato report docs/results/equal_privacy.json --out equal_privacy.html`.", "",
                                          plan["text"]["how"].strip(), ""]
    for task, spec in plan["tasks"].items():
        out += [f"## {spec['title']}", "", spec["about"].strip(), ""]
        out += task_table(plan, task, found, judged) if any(k[0] == task for k in found) else ["Not run."]
        out.append("")
    out += ["## Why", "", plan["text"]["why"].strip(), "", "## Published numbers", "", plan["text"]["published"].strip(), "",
            "## Beside Opacus", "", plan["opacus"]["about"].strip(), ""] + opacus_part(rows, plan)
    out += ["", "## Settings", "", plan["text"]["settings"].strip(), ""]
    ends = end_of_range(plan, rows, chosen)
    if ends:
        out += ["The best rate was the least or the largest of those tried for: " + "; ".join(ends) + ".", ""]
    out += ["| task | method | epsilon | settings tried | chosen |", "| --- | --- | --- | --- | --- |"]
    for task in plan["tasks"]:
        for method in METHODS:
            for epsilon in plan["epsilons"]:
                key = (task, method, epsilon)
                if key in chosen:
                    out.append(f"| {plan['tasks'][task]['title']} | {method} | {epsilon:g} | {tried[key]} | {settings_text(chosen[key])} |")
    now = [row for row in rows if int(row["protocol"]) == plan["protocol"]]
    out += ["", f"All {len(rows)} runs, with their settings and seeds: [equal_privacy.csv](equal_privacy.csv). Those of this protocol ({len(now)}) took "
            f"{sum(float(row['seconds']) for row in now) / 60:.0f} minutes of processor time.", ""]
    (root / "docs/results/equal_privacy.md").write_text("\n".join(out))
    figure(plan, found, root / "docs/results/equal_privacy.svg")
    if judged:
        made = document(plan, found, judged, len(now))
        (root / "docs/results/equal_privacy.json").write_text(json.dumps(made, indent=1) + "\n")
