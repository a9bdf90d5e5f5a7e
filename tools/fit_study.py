#!/usr/bin/python3
"""Accuracy of private regressions at equal epsilon, over tables, mechanisms and seeds; writes docs/results/fit.md.

  tools/fit_study.py [--seeds 20] [--epsilons 0.1,0.3,1,3,8] [--tables elevators,...] [--out docs/results/fit.md]

Tables are those below SFUMATO_DATA/tables, with bounds declared in studies/fit, and made-up ones with known spectra; what is missing is said. Each
is split once, four fifths to fit; the same seeds serve every method. diffprivlib is run if this Python has it.
"""
import argparse
import csv
import gzip
import io
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
SFUMATO = os.environ.get("SFUMATO", str(ROOT / "build/bin/sfumato"))
DELTA = 1e-6
TARGETS = {"elevators": "Goal", "bike": "cnt", "protein": "rmsd", "parkinsons": "total_UPDRS", "airfoil": "sound_level",
           "concrete": "strength", "wine_red": "quality", "adult": "income"}
METHODS = ["whitened", "isotropic", "statistics", "minimiser"]


def real_table(name):
    path = Path(os.environ.get("SFUMATO_DATA", "")) / "tables" / f"{name}.csv.gz"
    if not path.is_file():
        return None
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:], (ROOT / "studies/fit" / f"{name}.csv").read_text(), TARGETS[name]


def made_table(condition):
    """20,000 rows of 12 features that are mixtures of independent ones with variances from 1 down to 1/condition."""
    rng = np.random.default_rng(int(condition))
    d, n = 12, 20000
    spectrum = np.logspace(0, -math.log10(condition), d)
    mix, _ = np.linalg.qr(rng.normal(size=(d, d)))
    x = np.clip(rng.normal(size=(n, d)) * np.sqrt(spectrum) @ mix.T / 3, -1, 1)
    w = mix @ (rng.normal(size=d) / np.sqrt(spectrum)) * 0.15
    y = np.clip(x @ w + 0.1 * rng.normal(size=n), -1, 1)
    head = [f"x{j}" for j in range(d)] + ["y"]
    bounds = "column,kind,low,high,levels,source\n" + "".join(f"x{j},numeric,-1,1,,made\n" for j in range(d))
    bounds += "y,target,-1,1,,made\n(records),,,16000,,\n(adjacency),,,,zero_out,\n"
    return head, [[repr(float(v)) for v in row] for row in np.column_stack([x, y])], bounds, "y"


def split(rows):
    order = np.random.default_rng(7).permutation(len(rows))
    cut = 4 * len(rows) // 5
    return [rows[i] for i in order[:cut]], [rows[i] for i in order[cut:]]


def declared(bounds):
    return [row for row in csv.DictReader(io.StringIO(bounds)) if row["kind"] in ("numeric", "category")]


def encoded(columns, head, rows):
    """The features in the units of the table, as the model takes them; an intercept is not among them."""
    where = {name: i for i, name in enumerate(head)}
    parts = []
    for column in columns:
        texts = [row[where[column["column"]]] for row in rows]
        if column["kind"] == "numeric":
            low, high = float(column["low"]), float(column["high"])
            parts.append(np.array([[min(max(number(t, (low + high) / 2), low), high)] for t in texts]))
        else:
            levels = column["levels"].split("|")[1:]
            parts.append(np.array([[float(t == level) for level in levels] for t in texts]))
    return np.hstack(parts)


def number(text, missing):
    try:
        return float(text)
    except ValueError:
        return missing


def scaled(columns, x):
    """The same in [-1, 1], with the intercept: rows no longer than `bound`."""
    out, at, square = [], 0, 1
    for column in columns:
        square += 1
        if column["kind"] == "numeric":
            low, high = float(column["low"]), float(column["high"])
            out.append((x[:, at:at + 1] - (low + high) / 2) / ((high - low) / 2))
            at += 1
        else:
            width = len(column["levels"].split("|")) - 1
            out.append(x[:, at:at + width])
            at += width
    return np.hstack(out + [np.ones((len(x), 1))]), math.sqrt(square)


def r2(y, guess):
    return 1 - np.sum((y - guess) ** 2) / np.sum((y - y.mean()) ** 2)


def quality(classes, y, score):
    return r2(y, score) if not classes else float(np.mean((score > 0) == (y == 1)))


def ours(table, work, model, method, epsilon, seed):
    out = Path(work, "model.json")
    command = [SFUMATO, "fit", str(Path(work, "train.csv")), "--model", model, "--bounds", str(Path(work, "bounds.csv")),
               "--target-epsilon", str(epsilon), "--target-delta", str(DELTA), "--mechanism", method, "--seed", str(seed),
               "--holdout", "0", "--out", str(out), "--force"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    found = json.loads(out.read_text())
    columns = [{"column": c["name"], "kind": c["kind"], "low": c.get("low"), "high": c.get("high"),
                "levels": "|".join(c.get("levels", []))} for c in found["columns"]]
    x = encoded(columns, table["head"], table["test"])
    return quality(table["classes"], table["y_test"], x @ np.ravel(found["coef_"]) + np.ravel(found["intercept_"])[0])


def mu_of(epsilon):
    done = subprocess.run([SFUMATO, "account", "--target-epsilon", str(epsilon), "--target-delta", str(DELTA), "--sampler", "full",
                           "--steps", "1", "--adjacency", "zero_out", "--json"], capture_output=True, text=True, check=True)
    return 1 / [row["value"] for row in json.loads(done.stdout)["results"] if row["quantity"] == "noise_multiplier"][0]


def adassp(table, mu, rng):
    """Spec §22.3 with a third of mu^2 for each of the least eigenvalue, the moments and the cross moments."""
    x, bound = scaled(table["columns"], table["x"])
    y = table["y"] - table["middle"]
    d, each = x.shape[1], mu / math.sqrt(3)
    noise = rng.normal(size=(d, d))
    s = x.T @ x
    t = math.sqrt(2 * math.log(2 / 0.05))
    least = max(0, np.linalg.eigvalsh(s)[0] + bound ** 2 / each * (rng.normal() - t))
    ridge = max(0, bound ** 2 / each * (math.sqrt(2 * d) + t) - least)
    s = s + bound ** 2 / each * (noise + noise.T) / 2
    b = x.T @ y + bound * table["half"] / each * rng.normal(size=d)
    theta = np.linalg.solve(s + ridge * np.eye(d), b)
    return r2(table["y_test"], scaled(table["columns"], table["x_test"])[0] @ theta + table["middle"])


def diffprivlib(table, epsilon, seed):
    from diffprivlib.models import LinearRegression, LogisticRegression
    x, bound = scaled(table["columns"], table["x"])
    test = scaled(table["columns"], table["x_test"])[0]
    if table["classes"]:
        model = LogisticRegression(epsilon=epsilon, data_norm=bound, max_iter=300, random_state=seed).fit(x[:, :-1], table["y"])
        return float(np.mean(model.predict(test[:, :-1]) == table["y_test"]))
    low, high = table["middle"] - table["half"], table["middle"] + table["half"]
    model = LinearRegression(epsilon=epsilon, bounds_X=(-1.0, 1.0), bounds_y=(low, high), random_state=seed)
    return r2(table["y_test"], model.fit(x[:, :-1], np.clip(table["y"], low, high)).predict(test[:, :-1]))


def without_privacy(table):
    x, _ = scaled(table["columns"], table["x"])
    test = scaled(table["columns"], table["x_test"])[0]
    if not table["classes"]:
        return r2(table["y_test"], test @ np.linalg.lstsq(x, table["y"], rcond=None)[0])
    theta = np.zeros(x.shape[1])
    for _ in range(40):  # Newton
        p = 1 / (1 + np.exp(-x @ theta))
        theta -= np.linalg.solve((x.T * (p * (1 - p))) @ x + 1e-6 * np.eye(len(theta)), x.T @ (p - table["y"]))
    return float(np.mean((test @ theta > 0) == (table["y_test"] == 1)))


def prepared(name, head, rows, bounds, target):
    train, test = split(rows)
    where = head.index(target)
    declaration = next(row for row in csv.DictReader(io.StringIO(bounds)) if row["kind"] == "target")
    classes = declaration["levels"].split("|") if declaration["levels"] else []
    value = (lambda text: float(classes.index(text))) if classes else float
    table = {"name": name, "head": head, "train": train, "test": test, "bounds": bounds, "classes": classes,
             "columns": declared(bounds), "y": np.array([value(row[where]) for row in train]),
             "y_test": np.array([value(row[where]) for row in test])}
    if not classes:
        low, high = float(declaration["low"]), float(declaration["high"])
        table["middle"], table["half"] = (low + high) / 2, (high - low) / 2
    table["x"], table["x_test"] = (encoded(table["columns"], head, part) for part in (train, test))
    return table


def cell(values):
    mean = np.mean(values)
    half = 1.96 * np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else float("nan")
    return f"{mean:.3f} ± {half:.3f}"


def has_diffprivlib():
    try:
        import diffprivlib  # noqa: F401
        return True
    except ImportError:
        return False


def study(table, epsilons, seeds):
    model = "logistic" if table["classes"] else "ridge"
    methods = [m for m in METHODS if not (table["classes"] and m == "statistics")]
    others = ([] if table["classes"] else ["AdaSSP"]) + (["diffprivlib"] if has_diffprivlib() else [])
    lines, tally = [], []
    none = without_privacy(table)
    with tempfile.TemporaryDirectory(prefix="sfumato-study-") as work:
        with open(Path(work, "train.csv"), "w", newline="") as file:
            csv.writer(file).writerows([table["head"]] + table["train"])
        Path(work, "bounds.csv").write_text(table["bounds"])
        for epsilon in epsilons:
            mu = mu_of(epsilon)
            scores = {m: [ours(table, work, model, m, epsilon, seed) for seed in range(seeds)] for m in methods}
            for other in others:
                scores[other] = [adassp(table, mu, np.random.default_rng(seed)) if other == "AdaSSP" else
                                 diffprivlib(table, epsilon, seed) for seed in range(seeds)]
            lines.append((epsilon, none, scores))
            print(table["name"], epsilon, {k: round(float(np.mean(v)), 3) for k, v in scores.items()}, f"none {none:.3f}", flush=True)
            tally.append(compare(scores))
    return lines, tally


def compare(scores):
    """Whitened against the best of the others: win, tie or loss beyond 1.96 standard errors."""
    best = max((v for k, v in scores.items() if k != "whitened"), key=np.mean)
    difference = np.mean(scores["whitened"]) - np.mean(best)
    error = math.sqrt((np.var(scores["whitened"]) + np.var(best)) / max(1, len(best) - 1))
    return "win" if difference > 1.96 * error else "loss" if difference < -1.96 * error else "tie"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--epsilons", default="0.1,0.3,1,3,8")
    parser.add_argument("--tables", default=",".join([*TARGETS, "made-1", "made-100", "made-10000", "made-1000000"]))
    parser.add_argument("--out", default=str(ROOT / "docs/results/fit.md"))
    options = parser.parse_args()
    epsilons = [float(e) for e in options.epsilons.split(",")]
    text = ["# Private regression at equal epsilon", "",
            f"Made by `make fit-study`: {options.seeds} seeds of the noise for each number, one split of each table (four fifths to fit), delta = {DELTA:g}, "
            "zero_out. Test R^2; of adult the accuracy. Intervals are of the mean over seeds (95 %). Bounds are declared in `studies/fit` from outside "
            "knowledge; made-up tables have 12 mixed features whose variances fall from 1 to 1/condition. `whitened`, `isotropic`, `statistics`, `minimiser`: "
            "`sfumato fit --mechanism`, default settings, no tuning: those of `isotropic` come from public quantities, too, and settings tuned on each table, "
            "which nobody pays for, would serve it better. `AdaSSP`: Spec §22.3. `diffprivlib`, where it is installed: pure epsilon, its default settings.", ""]
    tally = []
    for name in options.tables.split(","):
        found = made_table(float(name[5:])) if name.startswith("made-") else real_table(name)
        if found is None:
            text += [f"## {name}", "", "Not run: the table is not below SFUMATO_DATA.", ""]
            continue
        table = prepared(name, *found)
        lines, outcomes = study(table, epsilons, options.seeds)
        tally += outcomes
        heads = list(lines[0][2])
        text += [f"## {name}", "", f"{len(table['train'])} rows, {scaled(table['columns'], table['x'])[0].shape[1]} parameters; without privacy "
                 f"{lines[0][1]:.3f}.", "", "| epsilon | " + " | ".join(heads) + " | whitened is a |",
                 "| --- |" + " --- |" * (len(heads) + 1)]
        for (epsilon, _, scores), outcome in zip(lines, outcomes):
            text.append(f"| {epsilon:g} | " + " | ".join(cell(scores[h]) for h in heads) + f" | {outcome} |")
        text.append("")
    counts = {word: tally.count(word) for word in ("win", "tie", "loss")}
    text[4:4] = [f"Whitened descent against the best of all other columns, beyond 1.96 standard errors: {counts['win']} wins, {counts['tie']} ties, "
                 f"{counts['loss']} losses.", ""]
    Path(options.out).write_text("\n".join(text))


if __name__ == "__main__":
    main()
