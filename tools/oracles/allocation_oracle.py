#!/usr/bin/python3
"""Random allocation (Spec §28) in ball arithmetic: golden rows of random settings, to be compared by `sfumato verify`.

  allocation_oracle.py SEED FILE [--settings 500] [--minutes 60]      needs python-flint

Everything is on the real ray: b_n(r) in hundreds of bits, so that the digits which cancel there are affordable, and
n, abscissa and step are this script's own. Every quantity is a ball; what is cut off is bounded by Chernoff's bound and
by the decay of the transform, and a row is written only where the ball and these bounds are below 1e-13 of delta.
"""

import argparse
import json
import math
import random
import time

from flint import acb, arb, arb_mat, arb_series, ctx, fmpz

LOST = 62  # e^-62: what sums leave out, relative


class Moments:
    """M(p) = E R^p for Re p < n, from b_n on a grid of u = log r (Spec §28.4)."""

    def __init__(self, t, sigma, n, least_p, most_y):
        self.t, self.m, self.n = t, 1 / arb(sigma), n
        m, lost = 1 / sigma, LOST + math.pi / 2 * most_y + 10
        ctx.prec = int(lost / math.log(2)) + 110
        # x: the line may be moved by c while the angle m c stays below 1.4.
        c = min(1.4 / m, 12.0)
        step = 2 * math.pi * c / (lost + math.log(t) + c * c / 2 + 10)
        reach = math.sqrt(2 * (lost + math.log(t))) + 1
        low, high = -reach - m * max(-least_p, 0), reach + m * (n + 1)
        count = int((high - low) / step) + 1
        h, first = arb(fmpz(int(step * 2**20))) / 2**20, int(low / step)
        points = [h * (first + j) for j in range(count)]
        weights = [h * (-(x * x) / 2).exp() / (2 * arb.pi()).sqrt() for x in points]
        ratios = [(self.m * x - self.m * self.m / 2).exp() / t for x in points]
        rows = []
        for w, r in zip(weights, ratios):
            power, row = w, []
            for k in range(n + 1):
                row.append(power)
                power = power * r / (k + 1)
            rows.append(row)
        # u: lower tail like e^{(n - p) u}, upper like the least R.
        nu = max(n - 25.0, 3.0) if n > 20 else 3.0
        alpha = 1.1
        self.h = arb(fmpz(int(2 * math.pi * alpha / ((math.pi / 2 + alpha) * most_y + (n + 3 - least_p) * 0.8 + LOST + 10) * 2**20))) / 2**20
        down = -(lost + 30) / nu
        up = math.log(lost + 40 + n) + m * math.sqrt(2 * lost / 1) * min(1.0, 6 / math.sqrt(t)) + m * m + 3
        nodes = range(int(down / float(self.h)), int(up / float(self.h)) + 1)
        self.u = [self.h * j for j in nodes]
        rs = [u.exp() for u in self.u]
        decays = arb_mat([[(-r * q).exp() for q in ratios] for r in rs])
        sums = decays * arb_mat(rows)
        self.log_b = []
        for i, r in enumerate(rs):
            power, series = arb(1), []
            for k in range(n + 1):
                series.append(sums[i, k] * power)
                power = power * r
            ctx.cap = n + 1
            total = arb_series(series, prec=n + 1) ** t
            self.log_b.append(total[n].log())

    def at(self, p, ys):
        """M(p + iy) for each y; p is a double, n > p."""
        n, p = self.n, arb(p)
        terms = [(b - p * u).exp() for b, u in zip(self.log_b, self.u)]
        unit = arb(n).fac() * self.h if n else self.h
        found = []
        turn = [acb(0, -u) for u in self.u]
        for y in ys:
            y = arb(y)
            total = acb(0)
            for term, angle in zip(terms, turn):
                total += (angle * y).exp() * term
            found.append(total * unit / acb(n - p, -y).gamma())
        # The first and last terms have to be nothing beside the sum.
        edge = max(float(abs(terms[0]).log()), float(abs(terms[-1]).log())) - float(sum(terms).log())
        return found, edge


def reference(t, sigma, epochs, eps, direction):
    """delta(eps) as a ball, or None where it is not narrow enough."""
    most_y = math.sqrt(2 * LOST * t / epochs) * sigma
    remove = direction == "remove"
    n = 30 if remove else 4
    moments = Moments(t, sigma, n, 0.0 if remove else -24.0, most_y)
    power = (lambda s: 1 + s) if remove else (lambda s: -s)
    grid = [.4, .7, 1.1, 1.7, 2.5, 3.5, 5.0, 7.0, 10.0, 14.0, 18.0]
    logs, edges = {}, {}
    for s in grid:
        value, edge = moments.at(power(s), [0])
        logs[s] = float(value[0].real.log()) * epochs
        edges[s] = edge
    s0 = min(grid[:-1], key=lambda s: logs[s] - s * eps - math.log(s * (1 + s)))
    if edges[s0] > -LOST - math.pi / 2 * most_y:
        return None
    chernoff = {s: logs[s] - s * eps for s in grid}
    least = min(chernoff.values())  # about log delta
    # Aliases: sum over k of e^{s0 k L} delta(eps + k L).
    length = (45 - least) / s0
    for _ in range(60):
        above = min(logs[s] - s * (eps + length) + s0 * length for s in grid if s > s0)
        if above < least - 45:
            break
        length *= 1.1
    step = 2 * math.pi / length
    count = int(most_y / step) + 2
    if count > 4000:
        return None
    h = 2 * arb.pi() / arb(length)
    values, _ = moments.at(power(s0), [h * k for k in range(count)])
    total = arb(0)
    for k, value in enumerate(values):
        s = acb(s0, h * k)
        if not remove:
            value = value.conjugate()
        term = value**epochs * (-s * eps).exp() / (s * (s + 1))
        total += term.real / (2 if k == 0 else 1)
    delta = total * h / arb.pi()
    width = float(delta.rad()) / float(delta.mid())
    aliases = 2 * math.exp(-s0 * length - math.log(float(delta.mid()))) + 2 * math.exp(above - math.log(float(delta.mid())))
    if not (float(delta.mid()) > 0 and width < 1e-14 and aliases < 1e-14):
        return None
    return delta


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("file")
    parser.add_argument("--settings", type=int, default=500)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--reach", type=float, default=22, help="largest ordinate: more takes longer")
    given = parser.parse_args()
    rng, begin, cases, tried = random.Random(given.seed), time.monotonic(), [], 0
    while len(cases) < given.settings and time.monotonic() - begin < 60 * given.minutes:
        t = rng.choice([2, 3, 5, 10, 20, 50, 100, 200, 300])
        sigma = round(math.exp(rng.uniform(math.log(.4), math.log(5))), 3)
        epochs = int(math.exp(rng.uniform(0, math.log(1000))))
        if not 1 < math.sqrt(2 * LOST * t / epochs) * sigma < given.reach:
            continue
        direction = rng.choice(["remove", "add"])
        spread = math.sqrt(epochs) / sigma / math.sqrt(t)
        eps = round(spread * rng.uniform(0, 6), 4)
        tried += 1
        try:
            delta = reference(t, sigma, epochs, eps, direction)
        except (ValueError, OverflowError, ZeroDivisionError):
            delta = None
        if delta is None:
            continue
        digits = delta.str(22, radius=False)
        cases.append({"id": f"random-{given.seed}-{tried}", "section": "28.7", "function": "allocation_delta",
                      "inputs": {"t": t, "noise_multiplier": sigma, "direction": direction, "epochs": epochs, "eps": eps},
                      "outputs": {"delta": float(delta.mid()), "log_delta": float(delta.log().mid())}, "rtol": 1e-5, "atol": 0.0,
                      "outputs_22_digits": {"delta": digits}})
        with open(given.file, "w", encoding="utf-8") as out:
            json.dump({"meta": {"title": "Random allocation against ball arithmetic", "seed": given.seed, "tried": tried,
                                "count": len(cases)}, "cases": cases}, out, indent=1)
    print(f"{len(cases)} of {tried} settings have a reference; {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
