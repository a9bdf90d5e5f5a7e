#!/usr/bin/env python3
"""How often 95 % intervals of `sfumato fit` hold the true coefficients where values are missing completely at random.

Each table has 8,000 rows of a skewed income (lognormal), an age, a region and a spending that is linear in them; a share of the incomes, a quarter of that of the
regions, is blank. Ranges are generous, the rule is --missing (drop unless it is given). Prints the share of intervals that hold the truth, for each share of missing values, with its Monte Carlo error
(that of the tables: coefficients of one fit are not independent), and how many fits gave intervals.

    tools/fit_missing_coverage.py --tables 300
"""
import argparse
import json
import math
import os
import random
import subprocess
import tempfile
from pathlib import Path

SFUMATO = os.environ.get("SFUMATO", str(Path(__file__).resolve().parent.parent / "build/bin/sfumato"))
TRUTH = {"intercept": 20.0, "income": 0.0006, "age": 0.2, "region=North": 0.0, "region=South": 3.0}
BOUNDS = """column,kind,low,high,levels,missing,source
income,numeric,0,250000,,,simulated
age,numeric,18,100,,,simulated
region,category,,,East|North|South,,simulated
spend,target,0,200,,,simulated
(records),,,8000,,,
(adjacency),,,,add_remove,,
"""


def write_table(path, rows, share, seed):
    """Residuals have a deviation of 6, so that clipping at the ends of the target's range is nearly never."""
    chance = random.Random(seed)
    with open(path, "w") as file:
        file.write("income,age,region,spend\n")
        for _ in range(rows):
            income = min(250000.0, math.exp(chance.gauss(math.log(30000), 0.5)))
            age, region = chance.uniform(18, 80), chance.choice(["East", "North", "South"])
            spend = (TRUTH["intercept"] + TRUTH["income"] * income + TRUTH["age"] * age + TRUTH.get("region=" + region, 0.0)
                     + chance.gauss(0, 6))
            shown = "" if chance.random() < share else f"{income:.2f}"
            file.write(f"{shown},{age:.3f},{'' if chance.random() < share / 4 else region},{spend:.4f}\n")


def intervals(table, bounds, epsilon, seed, rule):
    """{feature: (estimate, standard error)}; empty where the fit gives none."""
    done = subprocess.run([SFUMATO, "fit", table, "--model", "ridge", "--bounds", bounds, "--target-epsilon", str(epsilon), "--target-delta", "1e-6",
                           "--seed", str(seed), "--missing", rule, "--json"], capture_output=True, text=True, check=True)
    results = json.loads(done.stdout)["results"]
    values = {row["feature"]: row["value"] for row in results if row["quantity"] == "coefficient"}
    errors = {row["feature"]: row["value"] for row in results if row["quantity"] == "coefficient_error"}
    return {name: (values[name], errors[name]) for name in errors}


def coverage(share, tables, epsilon, rule, rows=8000, first_seed=0):
    """Shares of intervals that hold the truth, one for each fit that has intervals; and the same for each coefficient."""
    shares, by_name = [], {name: [] for name in TRUTH}
    with tempfile.TemporaryDirectory() as folder:
        bounds, table = Path(folder, "b.csv"), Path(folder, "t.csv")
        bounds.write_text(BOUNDS)
        for i in range(first_seed, first_seed + tables):
            write_table(table, rows, share, i)
            found = intervals(table, bounds, epsilon, i, rule)
            if not found:
                continue
            held = {name: abs(found[name][0] - truth) <= 1.959964 * found[name][1] for name, truth in TRUTH.items()}
            shares.append(sum(held.values()) / len(held))
            for name, holds in held.items():
                by_name[name].append(holds)
    return shares, by_name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--missing", default="drop", help="the rule: drop, middle or value:X")
    parser.add_argument("--shares", default="0,0.05,0.2", help="of incomes that are missing")
    options = parser.parse_args()
    print(f"{options.tables} tables each, epsilon {options.epsilon:g}, --missing {options.missing}")
    for share in map(float, options.shares.split(",")):
        shares, by_name = coverage(share, options.tables, options.epsilon, options.missing)
        count = max(1, len(shares))
        mean = sum(shares) / count
        error = math.sqrt(sum((s - mean) ** 2 for s in shares) / max(1, count - 1) / count)
        each = ", ".join(f"{name} {100 * sum(held) / max(1, len(held)):.1f}" for name, held in by_name.items())
        print(f"{100 * share:g} % missing: {100 * mean:.1f} % +- {100 * error:.1f} % of intervals hold the truth in {len(shares)} fits with intervals ({each})",
              flush=True)


if __name__ == "__main__":
    main()
