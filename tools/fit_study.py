#!/usr/bin/env python3
"""Accuracy of private regressions at equal epsilon, over tables, mechanisms and seeds; writes docs/results/fit.md and fit_gain.svg.

  tools/fit_study.py [--seeds 20] [--epsilons 0.1,0.3,1,3,8] [--tables elevators,...] [--ledger build/fit_study.jsonl] [--report-only]

Tables are those below SFUMATO_DATA/tables, with bounds declared in studies/fit, three of scikit-learn's, Fashion-MNIST in 49 blocks of pixels, and made-up
ones with known spectra; what is missing is said. Each is split once, four fifths to fit; the same seeds serve every method. Every number goes into the
ledger as it is made: a stopped study goes on where it was. Needs `tools/setup peers` for diffprivlib and scikit-learn.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from fit_tables import NAMES, load  # noqa: E402
from fit_peers import adassp, diffprivlib, tuned_isotropic, without_privacy  # noqa: E402
from fit_report import write_report  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
SFUMATO = os.environ.get("SFUMATO", str(ROOT / "build/bin/sfumato"))
DELTA = 1e-6


class Ledger:
    """One line for each number: table, epsilon, method, seed, value."""

    def __init__(self, path):
        self.path, self.known = Path(path), {}
        if self.path.is_file():
            for line in self.path.read_text().splitlines():
                row = json.loads(line)
                self.known[row["table"], row["epsilon"], row["method"], row["seed"]] = row["value"]

    def get(self, table, epsilon, method, seed, make):
        key = (table, epsilon, method, seed)
        if key not in self.known:
            self.known[key] = make()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a") as file:
                file.write(json.dumps(dict(zip(("table", "epsilon", "method", "seed"), key), value=self.known[key])) + "\n")
        return self.known[key]


def command(table, work, epsilon, seed, *more):
    return [SFUMATO, "fit", str(Path(work, "train.csv")), "--model", table.model, "--bounds", str(Path(work, "bounds.csv")), "--target-epsilon",
            str(epsilon), "--target-delta", str(DELTA), "--seed", str(seed), "--holdout", "0", "--force", *more]


def run(arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode:
        sys.exit(" ".join(arguments) + "\n" + done.stderr)
    return done.stdout


def ours(table, work, method, epsilon, seed):
    out = Path(work, "model.json")
    # Hundreds of steps take half the time in double precision, and lose nothing that could be seen here.
    mode = ["--noise-mode", "gaussian"] if method == "isotropic" else []
    run(command(table, work, epsilon, seed, "--mechanism", method, "--out", str(out), *mode))
    found = json.loads(out.read_text())
    columns = [{"column": c["name"], "kind": c["kind"], "low": c.get("low"), "high": c.get("high"), "levels": "|".join(c.get("levels", []))}
               for c in found["columns"]]
    x = table.encoded(columns, table.test)
    return table.quality(x @ np.atleast_2d(found["coef_"]).T + np.ravel(found["intercept_"]))


def chosen(table, work, epsilon):
    """The mechanism that the program takes by itself: a function of what is public, hence the same for every seed."""
    settings = next(block for block in json.loads(run(command(table, work, epsilon, 0, "--full", "--json")))["blocks"]
                    if block.get("key") == "settings")
    return next(row["value"] for row in settings["rows"] if row["setting"] == "mechanism")


def mu_of(epsilon):
    found = json.loads(run([SFUMATO, "account", "--target-epsilon", str(epsilon), "--target-delta", str(DELTA), "--sampler", "full", "--steps", "1",
                            "--adjacency", "zero_out", "--json"]))
    return 1 / next(row["value"] for row in found["results"] if row["quantity"] == "noise_multiplier")


def study(table, epsilons, seeds, ledger):
    name = table.name
    ledger.get(name, 0, "none", 0, lambda: without_privacy(table))
    with tempfile.TemporaryDirectory(prefix="sfumato-study-") as work:
        table.write(work)
        for epsilon in epsilons:
            mu = mu_of(epsilon)
            ledger.get(name, epsilon, "default", 0, lambda: chosen(table, work, epsilon))
            for method in table.methods:
                for seed in range(table.seeds_of(method, seeds)):
                    ledger.get(name, epsilon, method, seed, lambda: ours(table, work, method, epsilon, seed))
            if table.model != "softmax":
                for seed in range(table.seeds_of("diffprivlib", seeds)):
                    ledger.get(name, epsilon, "diffprivlib", seed, lambda: diffprivlib(table, epsilon, seed))
            if table.model == "ridge":
                for seed in range(seeds):
                    ledger.get(name, epsilon, "AdaSSP", seed, lambda: adassp(table, mu, np.random.default_rng(seed)))
                if any((name, epsilon, "isotropic, tuned", seed) not in ledger.known for seed in range(seeds)):
                    for seed, value in enumerate(tuned_isotropic(table, mu, seeds)):
                        ledger.get(name, epsilon, "isotropic, tuned", seed, lambda: value)
            print(name, epsilon, {m: round(float(np.mean([v for k, v in ledger.known.items() if k[:3] == (name, epsilon, m)])), 3)
                                  for m in table.columns_shown}, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--epsilons", default="0.1,0.3,1,3,8")
    parser.add_argument("--tables", default=",".join(NAMES))
    parser.add_argument("--ledger", default=str(ROOT / "build/fit_study.jsonl"))
    parser.add_argument("--out", default=str(ROOT / "docs/results/fit.md"))
    parser.add_argument("--report-only", action="store_true")
    options = parser.parse_args()
    epsilons = [float(e) for e in options.epsilons.split(",")]
    ledger = Ledger(options.ledger)
    tables, missing = [], []
    for name in options.tables.split(","):
        table = load(name)
        (tables.append(table) if table else missing.append(name))
    for table in tables:
        if not options.report_only:
            study(table, epsilons, min(options.seeds, table.most_seeds), ledger)
    write_report(Path(options.out), tables, missing, epsilons, options.seeds, ledger.known, {e: mu_of(e) for e in epsilons}, DELTA)


if __name__ == "__main__":
    main()
