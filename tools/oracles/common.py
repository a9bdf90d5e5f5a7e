"""The golden-file format (tests/golden/README.md), shared by the oracle scripts."""

import json
import math
import platform

import mpmath
from mpmath import mp

DIGITS = 50  # of every reported value; intermediate results carry more


def number(value):
    """How a file shows an output: the nearest double, or "inf"."""
    return "inf" if value == mp.inf else float(value)


class GoldenFile:
    def __init__(self, title, command, libraries, notes):
        self.meta = {
            "title": title,
            "command": command,
            "digits": DIGITS,
            "libraries": {"mpmath": mpmath.__version__, **libraries},
            "python": platform.python_version(),
            "conventions": [
                "section numbers refer to docs/spec.md; matrices are lists of rows",
                "inputs are doubles, shown by their shortest decimals; 'inf' (string) means +infinity",
                "pass when |got - expected| <= atol + rtol*|expected| for every output",
                *notes,
            ],
        }
        self.cases = []
        self.counts = {}

    def add(self, section, function, inputs, outputs, rtol, atol=0.0):
        self.counts[function] = self.counts.get(function, 0) + 1
        self.cases.append({
            "id": f"oracle_{function}-{self.counts[function]:03d}",
            "section": section,
            "function": function,
            "inputs": inputs,
            "outputs": {name: number(value) for name, value in outputs.items()},
            "rtol": rtol,
            "atol": atol,
            "outputs_22_digits": {name: mp.nstr(value, 22) for name, value in outputs.items()},
        })

    def write(self, path):
        self.meta["count"] = len(self.cases)
        # One case per line: a change of one value is a change of one line.
        lines = ",\n  ".join(json.dumps(case) for case in self.cases)
        with open(path, "w", encoding="utf-8") as file:
            file.write('{\n "meta": ' + json.dumps(self.meta, indent=1).replace("\n", "\n ")
                       + ',\n "cases": [\n  ' + lines + "\n ]\n}\n")


def close(got, expected, rtol):
    """Equal, or within rtol of each other; infinities and NaN only equal themselves."""
    if got == expected:
        return True
    return math.isfinite(got) and math.isfinite(expected) and abs(got - expected) <= rtol * abs(expected)
