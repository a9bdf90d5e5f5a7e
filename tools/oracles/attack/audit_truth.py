"""Scores with known truth, and how often a stated lower bound exceeds it."""

import math
import os

import distributions
import numpy as np
from claims import run
from gmpy2 import mpfr
from normal_pair import Pair, epsilon
from scipy.special import ndtri
from scipy.stats import binom

FALSE_ALARM = 1e-6  # of one pool, by the exact binomial tail


class World:
    """Scores of members and of non-members, and a privacy curve that they obey."""

    def __init__(self, name, draw, epsilon_at, delta_at, mu=None):
        self.name, self.draw, self.epsilon_at, self.delta_at, self.mu = name, draw, epsilon_at, delta_at, mu
        self.tied = any(word in name for word in ("binary", "rounded", "no information"))


def gaussian(mu, places=None):
    """Rounding scores to few places makes ties and reveals less, so that the curve still holds."""
    with distributions.digits(100):
        pair = Pair([mpfr(1)], [mpfr(mu)])

    def draw(rng, member):
        scores = rng.normal(size=len(member)) + mu * member
        return scores if places is None else np.round(scores, places)

    name = f"normal, shift {mu:g}" + ("" if places is None else f", rounded to {places} places")
    return World(name, draw, lambda d: float(epsilon(pair, d)), lambda e: float(pair.delta(e)), mu)


def laplace(eps):
    def draw(rng, member):
        return rng.laplace(size=len(member), scale=1 / eps) + member

    return World(
        f"Laplace, eps {eps:g}",
        draw,
        lambda d: max(0.0, eps + 2 * math.log1p(-d)),
        lambda e: max(0.0, -math.expm1((e - eps) / 2)),
    )


def binary(eps):
    """Randomised response: two values of the score, hence ties without end."""
    p = 1 / (1 + math.exp(-eps))

    def draw(rng, member):
        return np.where(rng.random(len(member)) < p, member, 1 - member).astype(float)

    # The trade-off curve has one corner (1 - p, p): mu of the tightest Gaussian curve below it.
    mu = float(ndtri(p) - ndtri(1 - p))
    return World(
        f"binary, eps {eps:g}",
        draw,
        lambda d: max(0.0, math.log((p - d) / (1 - p))) if p > d else 0.0,
        lambda e: max(0.0, p - math.exp(e) * (1 - p)),
        mu,
    )


def constant():
    def draw(rng, member):
        scores = np.full(len(member), 0.5)
        scores[rng.integers(len(scores))] = 0.25
        return scores

    return World("no information, one score apart", draw, lambda d: 0.0, lambda e: 0.0, 0.0)


WORLDS = [
    constant(),
    binary(0.0),
    binary(0.3),
    binary(1.5),
    gaussian(0.0),
    gaussian(0.0, 0),
    gaussian(0.5, 0),
    gaussian(1.0),
    gaussian(3.0),
    laplace(0.5),
    laplace(2.0),
]


def write(path, scores):
    np.savetxt(path, scores, header="score", comments="", fmt="%.17g")


def bounds(document):
    """(quantity, value) of every lower bound with a confidence."""
    for block in document["blocks"]:
        if block["type"] != "table":
            continue
        for row in block["rows"]:
            cell = row.get("value")
            if isinstance(cell, dict) and cell.get("symbol") == ">=":
                yield row["quantity"], float("inf") if cell["value"] == "inf" else float(cell["value"])


def truth_of(world, quantity):
    """None where the claim rests on an assumption that does not hold for these scores."""
    if "Gaussian-DP" in quantity:
        return (
            None
            if world.mu is None
            else gaussian_epsilon(world.mu, float(quantity.split("=")[1].split(",")[0]))
        )
    if quantity.startswith("eps at delta"):
        return world.epsilon_at(float(quantity.split("=")[1]))
    if quantity.startswith("delta at eps"):
        return world.delta_at(float(quantity.split("=")[1]))
    if quantity.strip() == "mu" or quantity.startswith("mu"):
        return world.mu
    raise ValueError(f"not known: {quantity}")


def gaussian_epsilon(mu, delta):
    with distributions.digits(100):
        return float(epsilon(Pair([mpfr(1)], [mpfr(mu)]), delta))


def one_audit(rng, world, unit, n, program, folder, options):
    member = (rng.random(n) < 0.5).astype(float) if unit == "records" else np.repeat([1.0, 0.0], n)
    if unit == "records" and not 0 < member.sum() < n:
        return None
    scores = world.draw(rng, member)
    write(os.path.join(folder, "in.csv"), scores[member == 1])
    write(os.path.join(folder, "out.csv"), scores[member == 0])
    arguments = [
        "audit",
        "--members",
        os.path.join(folder, "in.csv"),
        "--nonmembers",
        os.path.join(folder, "out.csv"),
        "--unit",
        unit,
        *options,
    ]
    return (*run(program, arguments, text=False), arguments)


SIZES = {"records": [10, 52, 68, 100, 333, 1660], "models": [3, 20, 60, 200, 500]}
STRATEGIES = [
    [],
    ["--strategy", "held-out"],
    ["--strategy", "ranks"],
    ["--strategy", "fixed", "--threshold", "0.5,1"],
]


def attack(seed, runs, program, folder, tally):
    """`runs` audits of worlds, sizes and options in turn; audits with any bound above the truth are counted in several pools, each of
    which has an exact binomial test of its own."""
    rng = np.random.default_rng(seed)
    pools = {}
    for index in range(runs):
        world = WORLDS[index % len(WORLDS)]
        unit = "models" if index // len(WORLDS) % 3 == 2 else "records"
        confidence = [0.95, 0.95, 0.95, 0.5, 0.99][index // len(WORLDS) % 5]
        n = int(rng.choice(SIZES[unit]))
        options = ["--confidence", repr(confidence), "--delta", "1e-5"]
        # Every fourth: nothing but ties, asked as most would ask. An order of ties that knows the coins shows here at once.
        plain = index % 4 == 3
        if plain:
            world, unit, n = (
                WORLDS[index // 4 % 2],
                "records",
                SIZES["records"][index // 8 % len(SIZES["records"])],
            )
        if not plain and rng.random() < 0.3:
            options += ["--seed", str(int(rng.integers(1, 9)))]
        if unit == "records":
            options += ["--randomised"]
            if not plain and rng.random() < 0.3:
                options += ["--guesses", str(max(2, n // int(rng.choice([1, 2, 4])) // 2 * 2))]
        else:
            options += STRATEGIES[int(rng.integers(len(STRATEGIES)))]
        result = one_audit(rng, world, unit, n, program, folder, options)
        if result is None:
            continue
        code, _, error, document, arguments = result
        if document is None:
            tally.refusals["audit", code, unit, error.split("\n")[0].replace(folder, "")[:110]] += 1
            continue
        above = False
        for quantity, value in bounds(document):
            truth = truth_of(world, quantity)
            if truth is None:
                tally.add("audit", ">=", "rests on a false assumption, not compared")
                continue
            wrong = value > truth * (1 + 1e-9) + 1e-12
            tally.add("audit", ">=", "above the truth (see the rates)" if wrong else "right")
            above = above or wrong
        names = [f"confidence {confidence:g}, {unit}"]
        if confidence == 0.95:
            names += [
                f"confidence 0.95, {unit}, {world.name}",
                f"confidence 0.95, {unit}, {n} scores, {'ties' if world.tied else 'no ties'}",
            ]
        for name in names:
            wrong, total = pools.get(name, (0, 0))
            pools[name] = (wrong + above, total + 1)
    report = []
    for name, (wrong, total) in sorted(pools.items()):
        nominal = 1 - float(name.split(",")[0].split()[1])
        chance = float(binom.sf(wrong - 1, total, nominal))
        line = f"  {name}: {wrong} of {total} audits above the truth, chance {chance:.2g} if the confidence holds"
        if wrong or name.count(",") == 1:
            report.append(line)
        if chance < FALSE_ALARM:
            tally.add("audit", "confidence", "does not hold", line)
    report.append(
        f"  {len(pools)} pools, false alarm {len(pools) * FALSE_ALARM:.1g} in all; pools without any are not listed"
    )
    return report
