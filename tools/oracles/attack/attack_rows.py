"""`sfumato rows` with ridge regression: every number of every row against the two distributions."""

import os
import re

import distributions
from claims import cells, check, run, value_of
from flint import arb
from gmpy2 import mpfr
from normal_pair import NoReference, epsilon, to_arb
from tables import random_noise, random_table, spread, write_csv, write_matrix


class Question:
    """One call of the program and the meaning of its options."""

    def __init__(self, rng, folder):
        self.x, self.y = random_table(rng)
        n, features = len(self.x), len(self.x[0])
        self.intercept = rng.random() < 0.7
        d = features + self.intercept
        self.loss = rng.choice(["sum", "mean"])
        self.scale_rows = self.loss == "sum" and rng.random() < 0.25
        size = max((abs(v) for row in self.x for v in row), default=1.0) or 1.0
        curvature = size * size * (n if self.loss == "sum" else 1.0) + 1e-300
        self.ridge = rng.choice(
            [0.0, 1.0, 1e-3, spread(rng, -9, 3), spread(rng, -9, 3), curvature * spread(rng, -12, 0)]
        )
        level = rng.choice([1.0, 1.0, spread(rng, -6, 6)])
        noise, self.noise = random_noise(rng, d, level)
        self.eps = rng.choice([[1.0], [0.0, 0.5], [0.1, 3.0], [spread(rng, -3, 2)]])
        self.delta = rng.choice([1e-5, 1e-5, 1e-9, 0.01, 1e-100, spread(rng, -30, -1)])
        self.mode = rng.choice(["stationary", "time", "time", "steps", "steps", "steps inf", "release"])
        self.other = None
        base = os.path.join(folder, "table.csv")
        write_csv(base, self.x, self.y)
        self.arguments = [
            "rows",
            base,
            "--target",
            "y",
            "--loss",
            self.loss,
            "--ridge",
            repr(self.ridge),
            "--top",
            str(n),
            "--epsilons",
            ",".join(map(repr, self.eps)),
            "--delta",
            repr(self.delta),
            "--threads",
            "1",
        ]
        if isinstance(noise, str):
            self.arguments += ["--noise", noise]
        else:
            write_matrix(os.path.join(folder, "noise.csv"), noise)
            self.arguments += ["--noise", os.path.join(folder, "noise.csv")]
        if rng.random() < 0.3:
            self.other = (
                [v * rng.choice([1.0, -1.0, 1.1, 10.0]) for v in rng.choice(self.x)],
                rng.choice(self.y) + 1.0,
            )
            write_csv(os.path.join(folder, "other.csv"), [self.other[0]], [self.other[1]])
            self.arguments += ["--adjacency", "replace", "--with", os.path.join(folder, "other.csv")]
        else:
            self.arguments += ["--adjacency", "remove"]
        if not self.intercept:
            self.arguments += ["--no-intercept"]
        if self.scale_rows:
            self.arguments += ["--ridge-scale", "rows"]
        fastest = 1.0 / curvature
        if self.mode == "time":
            self.time = rng.choice([0.05, 1.0, fastest * spread(rng, -3, 3), spread(rng, -6, 6)])
            self.arguments += ["--time", repr(self.time)]
        elif self.mode == "stationary":
            self.arguments += ["--training", "flow"]
        elif self.mode == "release":
            self.arguments += ["--release"]
        elif self.mode.startswith("steps"):
            self.rate = rng.choice(
                [fastest * spread(rng, -3, 0), fastest * rng.uniform(0.1, 0.9), fastest / d]
            )
            self.steps = (
                float("inf")
                if self.mode == "steps inf"
                else float(rng.choice([1, 2, 10, 1000, rng.randint(1, 100000)]))
            )
            self.arguments += [
                "--learning-rate",
                repr(self.rate),
                "--steps",
                "inf" if self.steps == float("inf") else str(int(self.steps)),
            ]

    def distribution(self, rows):
        """The released distribution on a data set: a list of (features, target)."""
        n, d = len(self.x), len(self.noise)  # of D on both sides: a removed row leaves its place empty
        a = [[mpfr(0)] * d for _ in range(d)]
        pull = [mpfr(0)] * d
        for x, y in rows:
            row = [mpfr(v) for v in x] + ([mpfr(1)] if self.intercept else [])
            for i in range(d):
                pull[i] += row[i] * mpfr(y)
                for j in range(d):
                    a[i][j] += row[i] * row[j]
        if self.loss == "mean":
            a, pull = [[v / n for v in row] for row in a], [v / n for v in pull]
        for i in range(d):
            a[i][i] += mpfr(self.ridge) * (n if self.scale_rows else 1)
        noise = distributions.matrix(self.noise)
        if self.mode == "stationary":
            return distributions.flow(a, pull, noise, mpfr("inf"))
        if self.mode == "time":
            return distributions.flow(a, pull, noise, self.time)
        if self.mode == "release":
            c = distributions.Curvature(a)
            if min(c.values) <= 0:
                raise distributions.NoDistribution("no unique minimiser")
            return c.solve(pull), noise
        eta = mpfr(self.rate)
        return distributions.chain(a, pull, eta, [[eta * v for v in row] for row in noise], self.steps)

    def data(self, without=None):
        rows = list(zip(self.x, self.y))
        if without is None:
            return rows
        return rows[:without] + ([self.other] if self.other else []) + rows[without + 1 :]

    def leverage(self, row):
        """x^T (X^T X + ridge)^-1 x, in the units of the loss: how far the fit at the row follows its own target."""
        n, d = len(self.x), len(self.noise)
        full = [[mpfr(v) for v in x] + ([mpfr(1)] if self.intercept else []) for x in self.x]
        strength = mpfr(self.ridge) * (n if self.scale_rows or self.loss == "mean" else 1)
        a = [
            [sum(r[i] * r[j] for r in full) + (strength if i == j else 0) for j in range(d)] for i in range(d)
        ]
        c = distributions.Curvature(a)
        z = distributions.times(distributions.transposed(c.q), full[row])
        return sum((v * v / l for v, l in zip(z, c.values) if l != 0), mpfr(0))


def truths(question, pair):
    """Truth of each column by its key; epsilon is left to who knows what was printed."""
    back = pair.swapped()
    found = {"advantage": pair.delta(0), "kl_forward": pair.kl(), "kl_reverse": back.kl()}
    for e in question.eps:
        found["delta_forward", e], found["delta_reverse", e] = pair.delta(e), back.delta(e)
    return found


def near_epsilon(pair, delta, printed):
    """The true epsilon: the printed one itself if it is right to seven digits (two integrals instead of a search)."""
    value = value_of(printed)
    if value.is_finite() and value > 0 and not pair.singular and delta > 0:
        if pair.delta(value * arb("0.9999999")) >= delta >= pair.delta(value * arb("1.0000001")):
            return value
    return epsilon(pair, delta)


def refusal_kind(message):
    line = message.split("\n")[0]
    line = re.sub(r"/\S+", "FILE", line)
    line = re.sub(r"-?\d[\d.]*(e[-+]?\d+)?", "#", line)
    return line[:110]


def compare(question, program, tally, label):
    code, text, error, document = run(program, question.arguments)
    if document is None:
        with distributions.digits(260):
            try:
                question.distribution(question.data())
                answerable = "the distribution of D is known"
            except distributions.NoDistribution as why:
                answerable = str(why)
        tally.refusals["rows", code, f"{question.mode} ({answerable})", refusal_kind(error)] += 1
        if code not in (64, 65):
            tally.add("rows", "", "crash or unknown code", f"{label}: code {code}: {error[:300]}")
        return 0
    for block in document["blocks"]:
        if block["type"] == "statement" and block["kind"] == "warning":
            tally.refusals["rows", code, "warning", refusal_kind(block["text"])] += 1
    by_row, numbers, worst = {}, 0, {}
    refused = [
        row["row"]
        for b in document["blocks"]
        if b["type"] == "table" and b["key"] == "riskiest_rows"
        for row in b["rows"]
        if isinstance(row.get("advantage"), dict) and row["advantage"].get("value") is None
    ]
    with distributions.digits(260):
        distribution, reason = None, None
        try:
            distribution = question.distribution(question.data())
        except distributions.NoDistribution as why:
            reason = why
        if distribution is None:
            tally.add("rows", "", "answered where there is no distribution", f"{label}: {reason}")
            return 0
        for table, _, row, key, cell, printed in cells(document, text):
            if table != "riskiest_rows":
                continue
            number = row["row"]
            where = f"{label} row {number} {key}"
            if number not in by_row:
                try:
                    other = question.distribution(question.data(number - 1))
                    by_row[number] = distributions.compare(*distribution, *other)
                    by_row[number].truth = truths(question, by_row[number])
                except NoReference as why:
                    by_row[number] = None
                    tally.add("rows", "", "no reference", f"{where}: {why}")
                except distributions.NoDistribution as why:
                    by_row[number] = None
                    if key != "leverage":
                        tally.add("rows", "", "answered where there is no distribution", f"{where}: {why}")
            pair = by_row[number]
            if key == "leverage":
                truth = to_arb(question.leverage(number - 1))
            elif pair is None:
                continue
            elif key.startswith("epsilon"):
                try:
                    truth = near_epsilon(
                        pair if key.endswith("forward") else pair.swapped(), question.delta, cell["value"]
                    )
                except NoReference as why:
                    tally.add("rows", "", "no reference", f"{where}: {why}")
                    continue
            elif key.startswith("delta"):
                truth = pair.truth[delta_key(key, question.eps)]
            else:
                truth = pair.truth[key]
            worst.setdefault(key, {})[number] = truth
            check(tally, "rows", where, cell, printed, truth)
            numbers += 1
        # Quantiles of the worse direction are numbers of rows, so they can be told from the truth too.
        complete = all(len(v) == len(question.x) for v in worst.values()) and not refused
        for table, index, row, key, cell, printed in cells(document, text):
            if table != "quantiles" or not complete or "advantage" not in worst:
                continue
            level = [0, 0.25, 0.5, 0.75, 0.95, 0.99, 1][index]
            keys = [
                k
                for k in worst
                if k == key or k.split("_")[0] == key.split("_")[0] and suffix(k) == suffix(key)
            ]
            if not keys:
                tally.add("rows", "", "column not known", f"{label} {table} {key} {list(worst)}")
                continue
            values = sorted((max(float(worst[k][r]) for k in keys) for r in worst[keys[0]]))
            position = max(0, -int(-level * len(values) // 1) - 1)
            best = [worst[k][r] for k in keys for r in worst[k] if float(worst[k][r]) == values[position]]
            check(tally, "rows", f"{label} quantile {level} {key}", cell, printed, best[0])
            numbers += 1
    return numbers


def suffix(key):
    return key.split("_at_")[1] if "_at_" in key else ""


def delta_key(key, epsilons):
    """delta_forward_at_0.5 -> ("delta_forward", 0.5)."""
    side, at = key.split("_at_")
    return side, min(epsilons, key=lambda e: abs(e - float(at)))
