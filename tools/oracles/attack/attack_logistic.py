"""`sfumato rows --model logistic`: proven upper bounds against distributions found by quadrature.

One and two parameters. In the long run the flow has the density exp(-2 f / noise), on a grid; the chain is its kernel applied k times to a grid
(one parameter); a release is two normal distributions at minimisers found by Newton's method. The grids are good to 1e-6 or better, so a bound
that is below by less is not counted.
"""

import os

import numpy as np
from attack_rows import refusal_kind
from claims import cells, run
from scipy.special import log_ndtr, logsumexp
from tables import spread, write_csv


class Question:
    def __init__(self, rng, folder):
        n = rng.choice([2, 3, 5, 10, 20])
        self.intercept = rng.random() < 0.4
        self.mode = rng.choice(["stationary", "stationary", "steps", "release"])
        if self.mode == "steps":
            self.intercept = False
        scale = rng.choice([1.0, 1.0, spread(rng, -3, 3)])
        self.x = np.array([[scale * rng.gauss(0, 1) + rng.choice([0, 0, 2]) * scale] for _ in range(n)])
        self.y = np.array([float(rng.random() < 0.5) for _ in range(n)])
        self.y[0], self.y[-1] = 0.0, 1.0
        if rng.random() < 0.2:
            self.x[rng.randrange(n)] *= 20
        self.loss = rng.choice(["sum", "mean"])
        self.scale_rows = self.loss == "sum" and rng.random() < 0.2
        top = (
            float((self.x**2).sum()) / 4 * (1 if self.loss == "sum" else 1 / n)
            + 0.25 * (n if self.loss == "sum" else 1) * self.intercept
        )
        self.ridge = top * spread(rng, -3, 0.5)
        self.noise = top * spread(rng, -3, 3) / max(1.0, scale * scale)
        self.eps, self.delta = rng.choice([0.5, 1.0, 2.0]), 1e-5
        base = os.path.join(folder, "table.csv")
        write_csv(base, [[float(v) for v in r] for r in self.x], [float(v) for v in self.y])
        self.arguments = [
            "rows",
            base,
            "--target",
            "y",
            "--model",
            "logistic",
            "--loss",
            self.loss,
            "--ridge",
            repr(self.ridge),
            "--noise",
            repr(self.noise),
            "--top",
            str(n),
            "--epsilons",
            repr(self.eps),
            "--delta",
            repr(self.delta),
            "--adjacency",
            "remove",
            "--check",
            "0",
            "--threads",
            "1",
        ]
        if not self.intercept:
            self.arguments += ["--no-intercept"]
        if self.scale_rows:
            self.arguments += ["--ridge-scale", "rows"]
        if self.mode == "release":
            self.arguments += ["--release"]
        if self.mode == "stationary":
            self.arguments += ["--training", "flow"]
        if self.mode == "steps":
            self.rate = rng.choice([0.1, 0.5, 1.0]) / (top + self.ridge * (n if self.scale_rows else 1))
            self.steps = rng.choice([1, 2, 5, 20])
            self.arguments += ["--learning-rate", repr(self.rate), "--steps", str(self.steps)]

    def features(self, keep):
        x = self.x[keep]
        return np.column_stack([x, np.ones(len(x))]) if self.intercept else x

    def strength(self, n):
        return self.ridge * (n if self.scale_rows else 1)

    def potential(self, keep, w):
        """f at points w (count x d)."""
        x, y = self.features(keep), self.y[keep]
        z = w @ x.T
        losses = (np.logaddexp(0, z) - y * z).sum(axis=1)
        if self.loss == "mean":
            losses = losses / len(self.y)
        return losses + self.strength(len(self.y)) / 2 * (w * w).sum(axis=1)

    def gradient(self, keep, w):
        x, y = self.features(keep), self.y[keep]
        p = 1 / (1 + np.exp(-np.clip(w @ x.T, -700, 700)))
        g = (p - y) @ x
        if self.loss == "mean":
            g = g / len(self.y)
        return g + self.strength(len(self.y)) * w

    def minimiser(self, keep):
        x, y = self.features(keep), self.y[keep]
        share = 1 / len(self.y) if self.loss == "mean" else 1.0
        w = np.zeros(x.shape[1])

        def hessian(w):
            p = 1 / (1 + np.exp(-np.clip(x @ w, -700, 700)))
            return share * (x * (p * (1 - p))[:, None]).T @ x + self.strength(len(self.y)) * np.eye(len(w))

        for _ in range(500):
            g = self.gradient(keep, w[None])[0]
            step = np.linalg.solve(hessian(w), g)
            t = 1.0
            base = self.potential(keep, w[None])[0]
            while t > 1e-6 and self.potential(keep, (w - t * step)[None])[
                0
            ] > base - 1e-4 * t * g @ step + 1e-14 * abs(base):
                t /= 2
            w = w - t * step
            if np.linalg.norm(step) < 1e-13 * (1 + np.linalg.norm(w)):
                break
        return w, hessian(w)


def grid_for(question, keeps):
    """Points and cell size that hold both distributions down to e^-60 of their peaks."""
    centres = [question.minimiser(k) for k in keeps]
    d = len(centres[0][0])
    q = np.linalg.eigh(centres[0][1])[1]
    middle = (centres[0][0] + centres[1][0]) / 2
    axes = []
    for j in range(d):
        low = high = 0.0
        for keep, (w, _) in zip(keeps, centres):
            # Strong convexity: 2 f / noise grows at least by strength / noise times the square of the distance.
            base = float(question.potential(keep, w[None])[0])
            at = float((w - middle) @ q[:, j])
            for sign in (-1, 1):
                # On the line through the minimiser; the marginal is wider by the coupling, hence the factor below.
                r = 1e-9
                while (
                    2 * (question.potential(keep, (w + sign * r * q[:, j])[None])[0] - base) / question.noise
                    < 60
                    and r < 1e12
                ):
                    r *= 1.3
                low, high = min(low, at - 1.5 * r), max(high, at + 1.5 * r)
        axes.append(np.linspace(low, high, 40001 if d == 1 else 900))
    mesh = np.stack([m.ravel() for m in np.meshgrid(*axes, indexing="ij")], axis=1)
    cell = np.prod([a[1] - a[0] for a in axes])
    return middle + mesh @ q.T, cell


class Grid:
    """Two densities by their logarithms, normalised."""

    def __init__(self, log_p, log_q):
        self.p, self.q = log_p - logsumexp(log_p), log_q - logsumexp(log_q)

    def kl(self, forward=True):
        a, b = (self.p, self.q) if forward else (self.q, self.p)
        keep = a > -700
        return float((np.exp(a[keep]) * (a[keep] - b[keep])).sum())

    def delta(self, eps, forward=True):
        a, b = (self.p, self.q) if forward else (self.q, self.p)
        return float(np.maximum(np.exp(a) - np.exp(np.minimum(b + eps, 700)), 0).sum())


class Shift:
    """N(0, 1) against N(mu, 1)."""

    def __init__(self, mu):
        self.mu = mu

    def kl(self, forward=True):
        return self.mu**2 / 2

    def delta(self, eps, forward=True):
        if self.mu == 0:
            return 0.0
        a = log_ndtr(self.mu / 2 - eps / self.mu)
        b = eps + log_ndtr(-self.mu / 2 - eps / self.mu)
        return float(np.exp(a) * -np.expm1(min(b - a, 0.0)))


def distributions_of(question, keeps):
    if question.mode == "release":
        a, b = (question.minimiser(k)[0] for k in keeps)
        return Shift(float(np.linalg.norm(a - b)) / question.noise**0.5)
    if question.mode == "stationary":
        points, _ = grid_for(question, keeps)
        return Grid(*(-2 * question.potential(k, points) / question.noise for k in keeps))
    return Grid(*chain_distributions(question, keeps))


def chain_distributions(question, keeps):
    """Log densities after the steps, on a common grid: the kernel is normal, its matrix is applied in logarithms' stead to densities."""
    sd = (question.rate * question.noise) ** 0.5
    reach, at = 9 * sd, [np.zeros(1), np.zeros(1)]
    low, high = 0.0, 0.0
    for _ in range(question.steps):
        at = [w - question.rate * question.gradient(k, w[None])[0] for k, w in zip(keeps, at)]
        low, high = min(low, *(float(w[0]) for w in at)), max(high, *(float(w[0]) for w in at))
    reach = 9 * sd * question.steps**0.5
    count = int(min(2001, max(801, (high - low + 2 * reach) / sd * 12)))
    grid = np.linspace(low - reach, high + reach, count)
    cell = grid[1] - grid[0]
    if cell > sd / 4:
        raise ValueError("the grid would be too coarse")
    out = []
    for keep in keeps:
        moved = (grid[:, None] - question.rate * question.gradient(keep, grid[:, None]))[:, 0]
        first = float((np.zeros(1) - question.rate * question.gradient(keep, np.zeros((1, 1)))[0])[0])
        log_density = -(((grid - first) / sd) ** 2) / 2
        kernel = np.exp(-(((grid[:, None] - moved[None, :]) / sd) ** 2) / 2) if question.steps > 1 else None
        for _ in range(question.steps - 1):
            density = np.exp(log_density - log_density.max())
            log_density = np.log(np.maximum(kernel @ density, 1e-300))
        out.append(log_density)
    return out


def compare(question, program, tally, label):
    code, text, error, document = run(program, question.arguments)
    if document is None:
        tally.refusals["logistic", code, question.mode, refusal_kind(error)] += 1
        return 0
    numbers, by_row = 0, {}
    everything = np.arange(len(question.y))
    for table, _, row, key, cell, printed in cells(document, text):
        if table != "riskiest_rows" or cell["symbol"] != "<=":
            continue
        number = row["row"]
        where = f"{label} {question.mode} row {number} {key}"
        if number not in by_row:
            try:
                by_row[number] = distributions_of(question, [everything, np.delete(everything, number - 1)])
            except ValueError as why:
                by_row[number] = None
                tally.add("logistic", "", "no reference", f"{where}: {why}")
        pair = by_row[number]
        if pair is None:
            continue
        value = float("inf") if cell["value"] == "inf" else cell["value"]
        forward = "reverse" not in key
        if key.startswith("kl"):
            truth, bound = pair.kl(forward), value
        elif key == "advantage":
            truth, bound = pair.delta(0.0), value
        elif key.startswith("delta"):
            truth, bound = pair.delta(question.eps, forward), value
        elif key.startswith("epsilon"):
            truth, bound = (pair.delta(value, forward) if value < 600 else 0.0), question.delta
        elif key == "mu":
            gaps = [(pair.delta(e, f), Shift(value).delta(e)) for e in (0.0, 0.5, 2.0) for f in (True, False)]
            truth, bound = max(gaps, key=lambda g: g[0] - g[1])
        else:
            tally.add("logistic", "<=", "not compared")
            continue
        tolerance = 1e-9 if question.mode == "release" else 2e-5 if question.intercept else 1e-6
        wrong = bound < truth * (1 - tolerance) - 1e-10
        tally.add(
            "logistic",
            "<=",
            "wrong side" if wrong else "right",
            f"{where}: <= {cell['value']}, bound {bound!r} truth {truth!r}",
        )
        if truth > 1e-8:
            tally.slack.setdefault(("logistic", question.mode, key.split("_")[0]), []).append(bound / truth)
        numbers += 1
    return numbers
