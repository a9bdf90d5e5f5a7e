"""Scores with known truth, and how often a stated lower bound exceeds it."""

import math
import os

import numpy as np
from flint import arb
from gmpy2 import mpfr
from scipy.special import ndtri
from scipy.stats import binom

import laws
from claims import run
from normal_pair import Pair, epsilon

FALSE_ALARM = 1e-5  # of one configuration, by the exact binomial tail


class World:
    """Scores of members and of non-members, and a privacy curve that they obey."""

    def __init__(self, name, draw, epsilon_at, delta_at, mu=None):
        self.name, self.draw, self.epsilon_at, self.delta_at, self.mu = name, draw, epsilon_at, delta_at, mu


def gaussian(mu, places=None):
    """Rounding scores to few places makes ties and reveals less, so that the curve still holds."""
    with laws.digits(100):
        pair = Pair([mpfr(1)], [mpfr(mu)])

    def draw(rng, member):
        scores = rng.normal(size=len(member)) + mu * member
        return scores if places is None else np.round(scores, places)
    name = f"normal, shift {mu:g}" + ("" if places is None else f", rounded to {places} places")
    return World(name, draw, lambda d: float(epsilon(pair, d)), lambda e: float(pair.delta(e)), mu)


def laplace(eps):
    def draw(rng, member):
        return rng.laplace(size=len(member), scale=1 / eps) + member
    return World(f"Laplace, eps {eps:g}", draw, lambda d: max(0.0, eps + 2 * math.log1p(-d)), lambda e: max(0.0, -math.expm1((e - eps) / 2)))


def binary(eps):
    """Randomised response: two values of the score, hence ties without end."""
    p = 1 / (1 + math.exp(-eps))

    def draw(rng, member):
        return np.where(rng.random(len(member)) < p, member, 1 - member).astype(float)
    # The trade-off curve has one corner (1 - p, p): mu of the tightest Gaussian curve below it.
    mu = float(ndtri(p) - ndtri(1 - p))
    return World(f"binary, eps {eps:g}", draw, lambda d: max(0.0, math.log((p - d) / (1 - p))) if p > d else 0.0,
                 lambda e: max(0.0, p - math.exp(e) * (1 - p)), mu)


def constant():
    def draw(rng, member):
        scores = np.full(len(member), 0.5)
        scores[rng.integers(len(scores))] = 0.25
        return scores
    return World("no information, one score apart", draw, lambda d: 0.0, lambda e: 0.0, 0.0)


WORLDS = [constant(), binary(0.0), binary(0.3), binary(1.5), gaussian(0.0), gaussian(0.0, 0), gaussian(0.5, 0), gaussian(1.0), gaussian(3.0),
          laplace(0.5), laplace(2.0)]


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
        return None if world.mu is None else gaussian_epsilon(world.mu, float(quantity.split("=")[1].split(",")[0]))
    if quantity.startswith("eps at delta"):
        return world.epsilon_at(float(quantity.split("=")[1]))
    if quantity.startswith("delta at eps"):
        return world.delta_at(float(quantity.split("=")[1]))
    if quantity.strip() == "mu" or quantity.startswith("mu"):
        return world.mu
    raise ValueError(f"not known: {quantity}")


def gaussian_epsilon(mu, delta):
    with laws.digits(100):
        return float(epsilon(Pair([mpfr(1)], [mpfr(mu)]), delta))


def one_audit(rng, world, unit, n, program, folder, options):
    member = (rng.random(n) < 0.5).astype(float) if unit == "records" else np.repeat([1.0, 0.0], n)
    if unit == "records" and not 0 < member.sum() < n:
        return None
    scores = world.draw(rng, member)
    write(os.path.join(folder, "in.csv"), scores[member == 1])
    write(os.path.join(folder, "out.csv"), scores[member == 0])
    arguments = ["audit", "--members", os.path.join(folder, "in.csv"), "--nonmembers", os.path.join(folder, "out.csv"), "--unit", unit, *options]
    return (*run(program, arguments, text=False), arguments)


def attack(seed, runs, program, folder, tally):
    """`runs` audits, spread over configurations drawn at random; the rate of audits with any bound above the truth."""
    rng = np.random.default_rng(seed)
    rates = {}
    for index in range(runs):
        world = WORLDS[index % len(WORLDS)]
        unit = ["records", "models"][(index // len(WORLDS)) % 2]
        confidence = [0.95, 0.95, 0.5, 0.99][(index // (2 * len(WORLDS))) % 4]
        # Sizes at which a fixed order of ties was found to hit, and others.
        n = int(rng.choice([52, 68, 100, 200, 400, 1660])) if unit == "records" else int(rng.choice([3, 20, 60, 200, 500]))
        options = ["--confidence", repr(confidence), "--delta", "1e-5", "--seed", str(int(rng.integers(0, 4)))]
        if unit == "records":
            options += ["--randomised"]
            if rng.random() < 0.4:
                options += ["--guesses", str(max(2, n // int(rng.choice([2, 4, 10])) // 2 * 2))]
        else:
            options += [["--strategy", "held-out"], ["--strategy", "ranks"], ["--strategy", "fixed", "--threshold", "0.5,1"], []][int(rng.integers(4))]
        result = one_audit(rng, world, unit, n, program, folder, options)
        if result is None:
            continue
        code, _, error, document, arguments = result
        if document is None:
            tally.refusals["audit", code, unit, error.split("\n")[0][:110].replace(folder, "")] += 1
            continue
        above = []
        for quantity, value in bounds(document):
            truth = truth_of(world, quantity)
            if truth is None:
                tally.add("audit", ">=", "rests on a false assumption, not compared")
                continue
            wrong = value > truth * (1 + 1e-9) + 1e-12
            tally.add("audit", ">=", "above the truth (nominal rate below)" if wrong else "right")
            above.append(wrong)
        key = (world.name, unit, confidence)
        wrong, total = rates.get(key, (0, 0))
        rates[key] = (wrong + any(above), total + 1)
    report = []
    for (name, unit, confidence), (wrong, total) in sorted(rates.items()):
        chance = float(binom.sf(wrong - 1, total, 1 - confidence))
        report.append(f"  {name}, {unit}, confidence {confidence:g}: {wrong} of {total} audits above the truth, chance {chance:.2g}")
        if chance < FALSE_ALARM:
            tally.add("audit", "confidence", "does not hold", report[-1])
    return report
