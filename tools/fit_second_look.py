#!/usr/bin/env python3
"""Looks again at the cells of docs/results/fit.md in which the default lost on a table of at most 20,000 rows, whose test rows are few: the default and the method that beat it, on 20 other splits of the table with four
fresh seeds of the noise each, compared split by split. Writes docs/results/fit_second_look.csv, from which tools/fit_study.py --report-only takes what it says.

  tools/fit_second_look.py [--splits 20] [--seeds 4]

What stands in the file is not made again. Only losses are looked at: the numbers say how large they are beyond the one split of the study, not how many wins would stay.
"""
import argparse
import csv
import math
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from fit_numbers import read_numbers  # noqa: E402
from fit_peers import diffprivlib  # noqa: E402
from fit_report import rows_of  # noqa: E402
from fit_study import ROOT, ours  # noqa: E402
from fit_tables import FRESH, NAMES, NEW, load  # noqa: E402

RESULTS = ROOT / "docs/results"
MOST_ROWS = 20000


def quality(table, work, method, epsilon, seed):
    return diffprivlib(table, epsilon, seed) if method == "diffprivlib" else ours(table, work, method, epsilon, seed)


def look(name, epsilon, default, other, splits, seeds):
    """Mean and error, over splits, of what the other method has more than the default."""
    differences = []
    for split in range(1000, 1000 + splits):
        table = load(name, split)
        with tempfile.TemporaryDirectory(prefix="sfumato-study-") as work:
            table.write(work)
            mine, its = (np.mean([quality(table, work, m, epsilon, 1000 * split + s) for s in range(seeds)]) for m in (default, other))
        differences.append(its - mine)
    return float(np.mean(differences)), float(np.std(differences, ddof=1) / math.sqrt(splits))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=4)
    options = parser.parse_args()
    numbers = read_numbers(RESULTS / "fit_numbers.csv")
    path = RESULTS / "fit_second_look.csv"
    known = {}
    if path.is_file():
        with path.open(newline="") as file:
            known = {tuple(list(row.values())[:6]): row for row in csv.DictReader(file)}
    lost = []
    for name in NAMES + FRESH + NEW:
        table = load(name) if name != "fashion" else None  # 60,000 rows
        if table and len(table.train) <= MOST_ROWS:
            lost += [t for t in rows_of(table, [0.1, 0.3, 1.0, 3.0, 8.0], numbers)[1] if t["result"] == "loss"]
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["table", "epsilon", "default", "other", "splits", "seeds", "ahead", "error"])
        for t in lost:
            cell = t["table"].name, f"{t['epsilon']:g}", t["default"], t["best"], str(options.splits), str(options.seeds)
            if cell in known:
                writer.writerow(known[cell].values())
                continue
            ahead, error = look(t["table"].name, t["epsilon"], t["default"], t["best"], options.splits, options.seeds)
            writer.writerow([*cell, f"{ahead:.4f}", f"{error:.4f}"])
            file.flush()
            print(*cell[:4], f"{ahead:.4f} +- {error:.4f}", flush=True)


if __name__ == "__main__":
    main()
