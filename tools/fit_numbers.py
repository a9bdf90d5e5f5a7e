"""Numbers of tools/fit_study.py: a mean over seeds with its standard error, and the file that they are published in."""
import csv
import math
from dataclasses import dataclass

import numpy as np


@dataclass
class Number:
    mean: object  # a number; the name of a mechanism where that is what was asked
    error: float  # standard error of the mean; 0 for what has no noise
    seeds: int
    older: bool = False  # made by a program whose results have changed since; `fit_study.py --again older` makes it again

    @staticmethod
    def of(found):
        values = list(found.values())
        if isinstance(values[0], str) or len(values) == 1:
            return Number(values[0], 0.0 if isinstance(values[0], str) else math.nan, len(values))
        return Number(float(np.mean(values)), float(np.std(values, ddof=1) / math.sqrt(len(values))), len(values))


def read_numbers(path):
    if not path.is_file():
        return {}
    numbers = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            mean = row["mean"] if row["method"] == "default" else float(row["mean"])
            numbers[row["table"], float(row["epsilon"]), row["method"]] = Number(mean, float(row["error"] or "nan"), int(row["seeds"]), row.get("older") == "yes")
    return numbers


def write_numbers(path, numbers):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["table", "epsilon", "method", "seeds", "mean", "error", "older"])
        for (table, epsilon, method), number in sorted(numbers.items()):
            shown = number.mean if isinstance(number.mean, str) else f"{number.mean:.6g}"
            writer.writerow([table, f"{epsilon:g}", method, number.seeds, shown, "" if math.isnan(number.error) else f"{number.error:.3g}",
                             "yes" if number.older else ""])
