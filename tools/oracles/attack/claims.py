"""What was printed, cell by cell, and whether it is true."""

import json
import re
import subprocess
from collections import Counter
from decimal import Decimal

from flint import arb

NUMBER = re.compile(r"^(?:(=|<=|>=|~)\s+)?(1 - )?(-?(?:\d[\d.]*(?:e-?\d+)?|inf))(?:\s+\[\d+\])?$")


def run(program, arguments, text=True, timeout=300):
    """(exit code, text, error line, document) of one question, asked as JSON and, if wanted, once more as text."""
    data = subprocess.run([program, *arguments, "--json"], capture_output=True, text=True, timeout=timeout)
    if not data.stdout.strip():
        return data.returncode, "", data.stderr.strip(), None
    printed = ""
    if text:
        again = subprocess.run([program, *arguments, "--full"], capture_output=True, text=True, timeout=timeout)
        if again.returncode != data.returncode:
            raise AssertionError(f"exit code {data.returncode} with --json and {again.returncode} without")
        printed = again.stdout
    return data.returncode, printed, data.stderr.strip(), json.loads(data.stdout)


def chunks(text):
    """The tables of a text output as they are printed: [(titles, rows of cells)], wide ones in several pieces."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if not re.fullmatch(r"-+(  -+)+", line):
            continue
        spans, at = [], 0
        for piece in line.split("  "):
            spans.append((at, at + len(piece)))
            at += len(piece) + 2
        top = i
        while top > 0 and lines[top - 1].strip():
            top -= 1
        header = ""
        # The line of titles is the last above the dashes that is no line of units.
        for h in reversed(lines[top:i]):
            if h.strip() and not all(re.fullmatch(r"\(.*\)", p) for p in re.split(r"\s{2,}", h.strip())):
                header = h
                break
        titles = [re.sub(r" \[\d+\]$", "", header[a:b].strip()) for a, b in spans]
        rows = []
        for row in lines[i + 1 :]:
            if not row.strip() or row.startswith("["):
                break
            rows.append(
                [row[a : b if k + 1 < len(spans) else None].strip() for k, (a, b) in enumerate(spans)]
            )
        yield titles, rows


def cells(document, text):
    """(table key, row number, row, column key, JSON cell, text of the cell or None) of all claims."""
    printed = list(chunks(text))
    position = 0
    for block in document["blocks"]:
        if block["type"] != "table":
            continue
        titles = {c["title"]: c["key"] for c in block["columns"]}
        count = len(block["rows"])
        texts = [{} for _ in range(count)]
        while position < len(printed):
            names, rows = printed[position]
            known = [titles.get(n) for n in names]
            if not all(known) or len(rows) != count or (known[0] != block["columns"][0]["key"]):
                break
            if any(k in texts[0] for k in known[block.get("key_columns", 1) :]) if count else False:
                break
            for cell, row in zip(texts, rows):
                cell.update(zip(known, row))
            position += 1
            if count and set(texts[0]) == set(titles.values()):
                break
        for number, row in enumerate(block["rows"]):
            for key, cell in row.items():
                if isinstance(cell, dict) and cell.get("claim"):
                    yield block["key"], number, row, key, cell, texts[number].get(key)


def value_of(x):
    return arb("inf") if x == "inf" else arb("-inf") if x == "-inf" else arb(x)


def read(text):
    """(symbol, value, unit of the last digit) of a printed cell; unit 0 for inf and whole numbers."""
    match = NUMBER.match(text)
    if not match:
        return None
    symbol, one_minus, digits = match.groups()
    if digits.endswith("inf"):
        return symbol, arb(digits), arb(0)
    number = Decimal(digits)
    unit = arb(10) ** number.as_tuple().exponent
    exact = arb(str(number.as_integer_ratio()[0])) / arb(str(number.as_integer_ratio()[1]))
    return symbol, (1 - exact if one_minus else exact), unit


class Tally:
    """Counts by command, claim and outcome, and the failures themselves."""

    def __init__(self):
        self.counts = Counter()
        self.failures = []
        self.refusals = Counter()
        self.largest = {}
        self.slack = {}
        self.examples = {}

    def add(self, command, claim, outcome, detail=None):
        self.counts[command, claim, outcome] += 1
        if detail and outcome not in (
            "right",
            "last digit",
            "by rounding",
            "fewer than 6 digits",
            "0 for less than the least double",
            "without a distribution",
        ):
            self.failures.append((command, claim, outcome, detail))

    def merge_error(self, name, error, detail):
        if error > self.largest.get(name, (0.0, ""))[0]:
            self.largest[name] = (error, detail)


def judge(claim, value, truth, slack=arb("1e-11")):
    """Outcome of a number with all its digits against the truth."""
    if not truth.is_finite() or not value.is_finite():
        if truth == value:
            return "right"
        if claim == "=":
            return "digits wrong"
        # An infinite truth above a finite upper bound is as wrong as it gets; an infinite bound is only useless.
        finite_side = value.is_finite()
        return "wrong side" if finite_side == (claim == "<=") else "right"
    size, least = abs(truth), arb("4.95e-324")
    if claim == "<=":
        if value == 0 and truth < arb("4.95e-324"):
            return "right" if truth == 0 else "0 for less than the least double"
        return (
            "right"
            if value >= truth
            else "by rounding"
            if value >= truth - size * slack - least
            else "wrong side"
        )
    if claim == ">=":
        return "right" if value <= truth else "by rounding" if value <= truth + size * slack else "wrong side"
    gap = abs(value - truth)
    if gap <= size * arb("1e-6") + least:
        return "right"
    return "fewer than 6 digits" if gap <= size * arb("5e-4") else "digits wrong"


def judge_text(claim, printed, truth):
    symbol, value, unit = printed
    if symbol is not None and symbol != claim:
        return "another symbol than in JSON"
    if not truth.is_finite() or not value.is_finite():
        return judge(claim, value, truth)
    if claim == "<=":
        if value == 0 and truth < arb("4.95e-324"):
            return "right" if truth == 0 else "0 for less than the least double"
        return "right" if value >= truth * (1 - arb("1e-15")) else "wrong side"
    if claim == ">=":
        return "right" if value <= truth * (1 + arb("1e-15")) else "wrong side"
    gap = abs(value - truth)
    if value == 0:
        return "right" if truth < arb("4.95e-324") else "digits wrong"
    if gap <= unit * arb("0.5005"):
        return "right"
    return "last digit" if gap <= unit else "digits wrong"


def check(tally, command, where, cell, text, truth):
    """One claim, in JSON and as printed."""
    claim = cell["symbol"]
    if claim == "~":
        tally.add(command, claim, "estimate, not compared")
        return
    value = value_of(cell["value"])
    detail = f"{where}: {claim} {cell['value']} (printed {text!r}), truth {short(truth)}"
    outcome = judge(claim, value, truth)
    tally.add(command, claim, outcome, detail)
    if outcome in ("fewer than 6 digits", "by rounding"):
        tally.examples.setdefault((command, claim, outcome), []).append(detail)
    if claim == "=" and truth.is_finite() and value.is_finite() and abs(truth) > arb("1e-300"):
        tally.merge_error(f"{command} =", float(abs(value - truth) / abs(truth)), detail)
    if text is not None:
        printed = read(text)
        if printed is None:
            tally.add(command, claim, "text not understood", detail)
        else:
            tally.add(command, claim + " printed", judge_text(claim, printed, truth), detail)


def short(x):
    return x.mid().str(12, radius=False)
