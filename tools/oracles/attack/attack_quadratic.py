"""`sfumato quadratic` and `sfumato bound` on linear problems: random pairs at all scales, flows, chains, releases, singular noise."""

import math
import os

import distributions
from attack_rows import near_epsilon, refusal_kind
from claims import cells, check, run
from flint import arb
from gmpy2 import mpfr
from normal_pair import NoReference, to_arb, true_positive_rate
from tables import random_table, spread, write_csv

INF = float("inf")


def toml(value):
    if isinstance(value, list):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    return repr(value)


def full_matrix(rng, d, level, rank=None):
    """G G^T from short binary fractions, times a power of 2: exact in doubles. `rank` below d makes it singular."""
    columns = d if rank is None else rank
    g = [[rng.randint(-8, 8) / 8 + (1.5 if i == j else 0.0) for j in range(columns)] for i in range(d)]
    power = 2.0 ** round(math.log2(level))
    extra = 0.125 if rank is None else 0.0
    return [
        [power * (sum(a * b for a, b in zip(g[i], g[j])) + (extra if i == j else 0.0)) for j in range(d)]
        for i in range(d)
    ]


def random_covariance(rng, d, level, may_be_singular):
    """What goes into the file."""
    kind = rng.random()
    if kind < 0.35:
        return level
    if kind < 0.65:
        values = [level * spread(rng, -3, 3) for _ in range(d)]
        if may_be_singular and rng.random() < 0.3:
            values[rng.randrange(d)] = 0.0
        return values
    if may_be_singular and d > 1 and rng.random() < 0.3:
        return full_matrix(rng, d, level, rank=rng.randint(1, d - 1))
    m = full_matrix(rng, d, level)
    if rng.random() < 0.4:  # coordinates in other units: powers of 2 keep it exact
        s = [2.0 ** rng.randint(-20, 20) for _ in range(d)]
        m = [[s[i] * s[j] * m[i][j] for j in range(d)] for i in range(d)]
    return m


def as_matrix(value, d):
    if isinstance(value, float):
        return distributions.scalar(value, d)
    if isinstance(value[0], float):
        return distributions.diagonal(value)
    return distributions.matrix(value)


class Problem:
    """One problem file."""

    def __init__(self, rng, folder, command):
        self.command = command
        self.d = d = rng.choice([1, 2, 2, 3, 4, 6])
        self.mode = (
            "flow" if command == "bound" else rng.choice(["flow", "flow", "chain", "chain", "release"])
        )
        level = rng.choice([1.0, 1.0, spread(rng, -8, 8)])
        kind = rng.random()
        if kind < 0.3:
            a = [level * spread(rng, -3, 3) for _ in range(d)]
        elif kind < 0.4:
            a = level
        else:
            a = full_matrix(rng, d, level)
            if rng.random() < 0.4:
                s = [2.0 ** rng.randint(-15, 15) for _ in range(d)]
                a = [[s[i] * s[j] * a[i][j] for j in range(d)] for i in range(d)]
        noise_level = rng.choice([1.0, spread(rng, -6, 6)])
        self.sides = [{"A": a}]
        where = rng.choice(["minimiser", "pull"])
        size = spread(rng, -2, 2)
        centre = [size * rng.gauss(0, 1) for _ in range(d)]
        self.sides[0][where] = centre
        singular = command == "quadratic" and rng.random() < 0.15
        self.noise_key = "Sigma" if command == "bound" or self.mode == "flow" or rng.random() < 0.5 else "S"
        noise = random_covariance(rng, d, noise_level, singular)
        if self.mode != "release":
            self.sides[0][self.noise_key] = noise
            if rng.random() < 0.3 or command == "bound" and rng.random() < 0.7:
                self.sides[0]["start_mean"] = [size * rng.gauss(0, 1) for _ in range(d)]
            if rng.random() < 0.25 or command == "bound" and rng.random() < 0.7:
                self.sides[0]["start_covariance"] = random_covariance(
                    rng, d, noise_level * spread(rng, -1, 1), False
                )
        prime = {}
        change = rng.choice(["place", "place", "curvature", "both", "noise", "all"])
        if change in ("place", "both", "all"):
            step = spread(rng, -6, 1)
            prime[where] = [c + size * step * rng.gauss(0, 1) for c in centre]
        if change in ("curvature", "both", "all"):
            factor = 1.0 + rng.choice([0.01, 0.3, 1e-6, 2.0**-20]) * rng.uniform(-0.5, 1)
            if isinstance(a, float):
                prime["A"] = a * factor
            elif isinstance(a[0], float):
                prime["A"] = [v * (factor if rng.random() < 0.7 else 1.0) for v in a]
            else:
                prime["A"] = [
                    [a[i][j] * (factor if i == j and factor > 1 else 1.0) for j in range(d)] for i in range(d)
                ]
        if change in ("noise", "all") and self.mode != "release":
            prime[self.noise_key] = random_covariance(rng, d, noise_level * spread(rng, -0.5, 0.5), singular)
        if rng.random() < 0.1 and "start_mean" in self.sides[0]:
            prime["start_mean"] = [v * 1.01 for v in self.sides[0]["start_mean"]]
        self.sides.append({**{k: v for k, v in self.sides[0].items()}, **prime})
        rates = [self.eigen_scale(s["A"]) for s in self.sides]
        fastest = 1.0 / max(rates)
        text = []
        if self.mode == "flow":
            self.looks = [fastest * spread(rng, -3, 3), rng.choice([INF, fastest * spread(rng, -1, 5)])]
            if command == "bound":
                self.looks = [fastest * spread(rng, -2, 2)] + ([INF] if rng.random() < 0.3 else [])
            text.append("[flow]\ntimes = " + toml(self.looks))
        elif self.mode == "chain":
            self.rate = fastest * rng.choice([0.01, 0.5, 0.9, spread(rng, -4, 0)])
            self.looks = [float(rng.choice([1, 2, 5, 100, 10000])), rng.choice([INF, 3.0, 777.0])]
            text.append(
                f"[chain]\nlearning_rate = {self.rate!r}\nsteps = "
                + toml([v if math.isinf(v) else int(v) for v in self.looks])
            )
        else:
            self.release = noise
            self.looks = [0.0]
            text.append("[release]\nS = " + toml(noise))
        self.eps = [rng.choice([0.0, 0.3, 1.0]), spread(rng, -2, 2)]
        self.deltas = [rng.choice([1e-5, 0.1]), spread(rng, -40, -2)] if command == "quadratic" else [1e-5]
        self.rates = [0.01, spread(rng, -14, -1)]
        self.orders = [2.0, spread(rng, -1, 2)]
        risk = f"[risk]\nepsilons = {toml(self.eps)}\n"
        if command == "quadratic":
            risk += f"deltas = {toml(self.deltas)}\nrenyi_orders = {toml(self.orders)}\nfalse_positive_rates = {toml(self.rates)}"
        else:
            risk += "delta = 1e-5\n[estimate]\nmonte_carlo = false\nfokker_planck = false"
        text.append(risk)
        text.append("[d]\n" + "\n".join(f"{k} = {toml(v)}" for k, v in self.sides[0].items()))
        text.append("[d_prime]\n" + "\n".join(f"{k} = {toml(v)}" for k, v in prime.items()))
        path = os.path.join(folder, "problem.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n\n".join(text) + "\n")
        self.arguments = [command, path]

    @staticmethod
    def eigen_scale(a):
        if isinstance(a, float):
            return a
        if isinstance(a[0], float):
            return max(a)
        return max(sum(abs(v) for v in row) for row in a)

    def loss(self, side):
        """(A, A x*) of 1/2 x^T A x - (A x*)^T x."""
        s = self.sides[side]
        a = as_matrix(s["A"], self.d)
        return a, [mpfr(v) for v in s["pull"]] if "pull" in s else distributions.times(
            a, [mpfr(v) for v in s["minimiser"]]
        )

    def noise_distribution(self, side, look, alone):
        """The distribution of one side; `alone`: of the noise only, without start, place and pull."""
        d, s = self.d, self.sides[side]
        a, pull = self.loss(side)
        zero = [mpfr(0)] * d
        if self.mode == "release":
            c = distributions.Curvature(a)
            return (zero if alone else c.solve(pull)), as_matrix(self.release, d)
        noise = as_matrix(s[self.noise_key], d)
        m0 = [mpfr(v) for v in s["start_mean"]] if "start_mean" in s and not alone else None
        v0 = as_matrix(s["start_covariance"], d) if "start_covariance" in s and not alone else None
        if alone:
            pull = zero
        if self.mode == "flow":
            return distributions.flow(a, pull, noise, look, m0, v0)
        eta = mpfr(self.rate)
        if self.noise_key == "Sigma":
            noise = [[eta * v for v in row] for row in noise]
        return distributions.chain(a, pull, eta, noise, look, m0, v0)

    def accuracy(self, side, look):
        d = self.d
        a, pull = self.loss(side)
        place = distributions.Curvature(a).solve(pull)
        mean, cov = self.noise_distribution(side, look, False)
        gap = [x - y for x, y in zip(mean, place)]
        error = sum(g * g for g in gap) + sum(cov[i][i] for i in range(d))
        loss = sum(g * h for g, h in zip(gap, distributions.times(a, gap))) + sum(
            a[i][j] * cov[j][i] for i in range(d) for j in range(d)
        )
        return to_arb(error), to_arb(loss / 2)

    def look_of(self, row):
        if self.mode == "release":
            return self.looks[0]
        label = row.get("time", row.get("steps"))
        label = INF if label == "inf" else float(label)
        return min(
            self.looks,
            key=lambda v: (
                0.0
                if v == label
                else 1.0
                if math.isinf(v) or math.isinf(label)
                else abs(v - label) / (v + 1e-300) + 1e-9
            ),
        )


class TableProblem(Problem):
    """Least squares on a table, D' without one row: `B` and `y` of quadratic, `model = "ridge"` of bound."""

    def __init__(self, rng, folder, command):
        self.command = command
        while True:
            self.x, self.y = random_table(rng, 15)
            if len(self.x) > 2:
                break
        n = len(self.x)
        self.without = rng.randrange(n)
        self.ridge, self.mean = 0.0, False
        self.columns = [row[:] for row in self.x]
        if command == "bound":
            self.ridge, self.mean = spread(rng, -6, 3), rng.random() < 0.5
            self.columns = [[*row, 1.0] for row in self.x]
        self.d = d = len(self.columns[0])
        size = max(abs(v) for row in self.columns for v in row) or 1.0
        fastest = 1.0 / (size * size * n)
        self.mode = rng.choice(["flow", "chain"]) if command == "quadratic" else "flow"
        self.noise_key = "Sigma"
        noise = random_covariance(rng, d, rng.choice([1.0, spread(rng, -6, 6)]), False)
        self.sides = [{"Sigma": noise}, {"Sigma": noise}]
        if command == "bound":
            self.sides[0]["start_covariance"] = self.sides[1]["start_covariance"] = spread(rng, -3, 3)
        self.eps, self.deltas, self.orders, self.rates = (
            [rng.choice([0.3, 1.0])],
            [1e-5],
            [2.0],
            [0.01, spread(rng, -10, -2)],
        )
        self.looks = [rng.choice([0.05, 1.0, fastest * spread(rng, -2, 3)])] + (
            [INF] if rng.random() < 0.5 else []
        )
        head = "[flow]\ntimes = " + toml(self.looks)
        if self.mode == "chain":
            self.rate = fastest * spread(rng, -2, 0)
            self.looks = [float(rng.choice([1, 7, 1000])), INF]
            head = f"[chain]\nlearning_rate = {self.rate!r}\nsteps = " + toml(
                [v if math.isinf(v) else int(v) for v in self.looks]
            )
        text = [head, f"[risk]\nepsilons = {toml(self.eps)}\ndelta = 1e-5"]
        if command == "quadratic":
            text[1] += f"\nrenyi_orders = {toml(self.orders)}\nfalse_positive_rates = {toml(self.rates)}"
            text.append(f"[d]\nB = {toml(self.columns)}\ny = {toml(self.y)}\nSigma = {toml(noise)}")
        else:
            write_csv(os.path.join(folder, "table.csv"), self.x, self.y)
            text.append("[estimate]\nmonte_carlo = false\nfokker_planck = false")
            text.append(
                f'[d]\nmodel = "ridge"\ndata = "table.csv"\ntarget = "y"\nridge = {self.ridge!r}\nloss = "{"mean" if self.mean else "sum"}"\n'
                f"Sigma = {toml(noise)}\nstart_covariance = {toml(self.sides[0]['start_covariance'])}"
            )
        text.append(f"[d_prime]\nwithout_row = {self.without + 1}")
        path = os.path.join(folder, "problem.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n\n".join(text) + "\n")
        self.arguments = [command, path]

    def loss(self, side):
        rows = [
            ([mpfr(v) for v in row], mpfr(y))
            for k, (row, y) in enumerate(zip(self.columns, self.y))
            if side == 0 or k != self.without
        ]
        share, d = (len(self.columns) if self.mean else 1), self.d
        a = [
            [
                sum(r[i] * r[j] for r, _ in rows) / share + (mpfr(self.ridge) if i == j else 0)
                for j in range(d)
            ]
            for i in range(d)
        ]
        return a, [sum(r[i] * y for r, y in rows) / share for i in range(d)]


def truth_of(problem, pair, table, row, key, cell, look):
    """The truth that a cell claims something about, or None if this attack has none."""
    back = pair.swapped()
    side = pair if key.endswith("forward") or row.get("direction") == "D||D'" else back
    if key in ("kl_forward", "kl_reverse"):
        return side.kl()
    if key == "advantage":
        return pair.delta(0)
    if key.startswith("tpr_at_"):
        rate = min(problem.rates, key=lambda r: abs(r - float(key[7:])))
        return true_positive_rate(pair, rate)
    if key.startswith("delta_"):
        e = min(problem.eps, key=lambda v: abs(v - float(row["epsilon"])))
        return side.delta(e)
    if key.startswith("epsilon_"):
        delta = (
            min(problem.deltas, key=lambda v: abs(v - float(row["delta"])))
            if "delta" in row
            else problem.deltas[0]
        )
        return near_epsilon(side, delta, cell["value"])
    if key.startswith("renyi_"):
        order = min(problem.orders, key=lambda v: abs(v - float(row["order"])))
        return side.renyi(to_arb(order))
    if table == "chain_bounds":
        if key in ("kl", "contractive", "path"):
            return side.kl()
        if key == "mu":  # mu-GDP implies KL <= mu^2 / 2
            return (2 * side.kl()).sqrt()
    if key == "mu":
        return pair.line.sqrt() if not pair.singular else arb("inf")
    return None


def compare(problem, program, tally, label):
    command = problem.command
    code, text, error, document = run(program, problem.arguments)
    if document is None:
        with distributions.digits(300):
            try:
                problem.noise_distribution(0, problem.looks[0], False)
                answerable = "the first distribution is known"
            except distributions.NoDistribution as why:
                answerable = str(why)
        tally.refusals[command, code, f"{problem.mode} ({answerable})", refusal_kind(error)] += 1
        if code not in (64, 65):
            tally.add(command, "", "crash or unknown code", f"{label}: code {code}: {error[:300]}")
        return 0
    for block in document["blocks"]:
        if block["type"] == "statement" and block["kind"] == "warning":
            tally.refusals[command, code, "warning", refusal_kind(block["text"])] += 1
    numbers, pairs = 0, {}

    def pair_of(look, alone):
        if (look, alone) not in pairs:
            for digits in (300, 900):
                try:
                    with distributions.digits(digits):
                        pairs[look, alone] = distributions.compare(
                            *problem.noise_distribution(0, look, alone), *problem.noise_distribution(1, look, alone)
                        )
                    break
                except (NoReference, distributions.NoDistribution) as why:
                    pairs[look, alone] = why
                    if isinstance(why, distributions.NoDistribution):
                        break
        return pairs[look, alone]

    with distributions.digits(300):
        for table, _, row, key, cell, printed in cells(document, text):
            if cell["symbol"] == "~" or key in ("lipschitz", "d", "d_prime"):
                continue
            # The tables of methods of `bound` have one time each: the exact row is the KL, the proven ones are not below it.
            look = (
                problem.looks[int(table.split("_")[1]) - 1]
                if table.startswith("bounds_")
                else problem.look_of(row)
            )
            where = f"{label} {table} {row.get('method', row.get('evidence', ''))} {look} {key}"
            try:
                if table == "accuracy":
                    values = problem.accuracy(1 if key.endswith("prime") else 0, look)
                    truth = values[0] if key.startswith("error") else values[1]
                else:
                    pair = pair_of(look, table == "noise_floor")
                    if isinstance(pair, Exception):
                        raise pair
                    truth = truth_of(problem, pair, table, row, key, cell, look)
            except NoReference as why:
                tally.add(command, "", "no reference", f"{where}: {why}")
                continue
            except distributions.NoDistribution as why:
                # A flat direction may have an infinite error and a finite loss, and a bound may be 0 for two equal problems.
                kind = (
                    "without a distribution"
                    if table in ("accuracy", "chain_bounds")
                    else "answered where there is no distribution"
                )
                tally.add(command, cell["symbol"], kind, f"{where}: {why}; printed {cell['value']}")
                continue
            if truth is None:
                tally.add(command, cell["symbol"], "not compared")
                continue
            check(tally, command, where, cell, printed, truth)
            numbers += 1
    return numbers
