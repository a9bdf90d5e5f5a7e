"""Reference values for the audits of Spec §11, by mpmath and SciPy.

  audit_oracle.py OUT.json [SEED]      the committed file has the default seed

Up to 100 trials Clopper-Pearson limits are roots of binomial sums in mpmath, and SciPy's beta quantiles must agree
or this script fails; beyond that they are SciPy's alone, with a wider tolerance. One-run p-values are sums of the
binomial probabilities themselves, the maximum over i taken one by one. The credible interval integrates over the
error rate that the library does not integrate over, by SciPy's adaptive quadrature.
"""

import random
import sys

import common
import numpy
import scipy
from mpmath import mp, mpf
from scipy import integrate, optimize, special, stats

mp.dps = 40
EXACT_TRIALS = 100


def bisect(holds, low, high, steps=110):
    """The end of an initial stretch of [low, high] on which `holds`."""
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def tail(k, n, p):
    """P[Bin(n, p) >= k]."""
    return mp.fsum(mp.binomial(n, j) * p**j * (1 - p)**(n - j) for j in range(k, n + 1))


def lower(k, n, a):
    if k == 0:
        return mpf(0)
    fast = float(stats.beta.ppf(a, k, n - k + 1))
    if n > EXACT_TRIALS:
        return mpf(fast)
    # tail(k) <= a, from whichever side has fewer terms
    if k > n // 2:
        value = bisect(lambda p: tail(k, n, p) <= a, mpf(0), mpf(1))
    else:
        value = bisect(lambda p: tail(n - k + 1, n, 1 - p) >= 1 - mpf(a), mpf(0), mpf(1))
    if not common.close(fast, float(value), 1e-9):
        raise ArithmeticError(f"lower({k}, {n}, {a}): {float(value)!r}, SciPy {fast!r}")
    return value


def upper(k, n, a):
    if n > EXACT_TRIALS:
        return mpf(1) if k == n else mpf(float(stats.beta.isf(a, k + 1, n - k)))
    return 1 - lower(n - k, n, a)


def quantile(p):
    return mp.sqrt(2) * mp.erfinv(2 * p - 1)


def add_counts(out, k1, n1, k0, n0, delta, eps, alpha):
    tpr, fpr = lower(k1, n1, alpha / 2), upper(k0, n0, alpha / 2)
    tnr, fnr = lower(n0 - k0, n0, alpha / 2), upper(n1 - k1, n1, alpha / 2)
    rtol = 1e-8 if max(n1, n0) <= EXACT_TRIALS else 1e-6
    counts = {"true_positives": k1, "positives": n1, "false_positives": k0, "negatives": n0}
    ratios = [(tpr - delta) / fpr, (tnr - delta) / fnr]
    logs = [mp.log(r) for r in ratios if r > 0]
    mu = quantile(tpr) - quantile(fpr) if tpr > 0 and fpr < 1 else mpf(0)
    out.add("11", "eps_lower_bound", {**counts, "delta": delta, "alpha": alpha},
            {"tpr_lower": tpr, "fpr_upper": fpr, "eps_lower": max([mpf(0), *logs]), "mu_lower": max(mpf(0), mu)},
            rtol, 1e-12)
    growth = mp.exp(eps)
    out.add("11", "delta_lower_bound", {**counts, "eps": eps, "alpha": alpha},
            {"delta_lower": max(mpf(0), tpr - growth * fpr, tnr - growth * fnr)}, rtol, 1e-12)


def p_value(m, r, v, eps, delta):
    """By binomial probabilities: exact up to 100 guesses, SciPy's beyond."""
    if v == 0:
        return mpf(1)
    if r <= EXACT_TRIALS:
        q = 1 / (1 + mp.exp(-mpf(eps)))
        mass = [mp.binomial(r, j) * q**j * (1 - q)**(r - j) for j in range(r + 1)]
        above = mp.fsum(mass[v:])
        means, total = [], mpf(0)
        for i in range(1, v + 1):
            total += mass[v - i]
            means.append(total / i)
        return min(mpf(1), above + 2 * m * mpf(delta) * max(means))
    distribution = stats.binom(r, 1 / (1 + numpy.exp(-eps)))
    mass = distribution.pmf(numpy.arange(v - 1, -1, -1))
    means = numpy.cumsum(mass) / numpy.arange(1, v + 1)
    return mpf(min(1.0, float(distribution.sf(v - 1) + 2 * m * delta * means.max())))


def one_run_eps(m, r, v, delta, alpha):
    if p_value(m, r, v, 0.0, delta) >= alpha:
        return mpf(0)
    steps = 45 if r <= EXACT_TRIALS else 40
    return bisect(lambda eps: p_value(m, r, v, float(eps), delta) < alpha, mpf(0), mpf(40), steps)


def credible(k1, n1, k0, n0, delta, credibility):
    """Quantiles of the epsilon of two independent Jeffreys posteriors."""
    inside, outside = (n1 - k1 + 0.5, k1 + 0.5), (k0 + 0.5, n0 - k0 + 0.5)
    if stats.beta.var(*inside) < stats.beta.var(*outside):  # the library puts the wider one inside
        inside, outside = outside, inside
    inside, (a, b) = outside, inside

    def below(eps):
        growth = numpy.exp(eps)

        def integrand(angle):  # y = sin(angle)^2 takes the singularities of the density away
            sine, cosine = numpy.sin(angle), numpy.cos(angle)
            y = sine * sine
            density = 2 * numpy.exp((2 * a - 1) * numpy.log(sine) + (2 * b - 1) * numpy.log(cosine)
                                    - special.betaln(a, b))
            least = max(1 - delta - growth * y, (1 - delta - y) / growth)
            most = min(delta + growth * (1 - y), 1 - (y - delta) / growth)
            low, high = (special.betainc(*inside, min(1.0, max(0.0, x))) for x in (least, most))
            return density * max(0.0, high - low)
        ends = [numpy.arcsin(numpy.sqrt(stats.beta.ppf(t, a, b))) for t in (1e-12, 0.01, 0.2, 0.5, 0.8, 0.99)]
        ends.append(numpy.arcsin(numpy.sqrt(stats.beta.isf(1e-12, a, b))))
        return sum(integrate.quad(integrand, x, y, epsabs=1e-10, epsrel=1e-9)[0] for x, y in zip(ends, ends[1:]))

    def at(level):
        if below(0.0) >= level:
            return 0.0
        return optimize.brentq(lambda e: below(e) - level, 0.0, 60.0, xtol=1e-8)
    half = (1 - credibility) / 2
    return at(half), at(1 - half)


def main(path, seed=20236):
    rng = random.Random(seed)
    out = common.GoldenFile(
        "Audits: Clopper-Pearson, bounds from counts, one-run audit, credible interval",
        f"tools/oracles/run (audit_oracle.py, seed {seed})",
        {"numpy": numpy.__version__, "scipy": scipy.__version__},
        ["'tail', 'alpha' and 'p' are error probabilities; credible intervals are equal-tailed"])
    for _ in range(40):
        n = rng.choice([1, 2, 5, 10, 50, 100, 400])
        k, a = rng.choice([0, n, rng.randint(0, n), rng.randint(0, n)]), rng.choice([0.05, 0.025, 0.005, 1e-4, 0.3])
        out.add("11", "clopper_pearson", {"successes": k, "trials": n, "tail": a},
                {"lower": lower(k, n, a), "upper": upper(k, n, a)}, 1e-10, 1e-300)
    for n, k in ((10**4, 17), (10**6, 0), (10**6, 3), (10**6, 400_000), (10**6, 999_999), (10**7, 10**7)):
        out.add("11", "clopper_pearson", {"successes": k, "trials": n, "tail": 0.025},
                {"lower": lower(k, n, 0.025), "upper": upper(k, n, 0.025)}, 1e-8, 1e-300)
    for _ in range(30):
        n1, n0 = rng.choice([5, 10, 50, 100, 400, 1000]), rng.choice([5, 10, 50, 100, 400, 1000])
        k1, k0 = rng.randint(n1 // 2, n1), rng.randint(0, n0 // 2)
        add_counts(out, k1, n1, k0, n0, rng.choice([0.0, 1e-5, 0.01, 0.1]), rng.choice([0.0, 0.5, 1.0, 3.0]),
                   rng.choice([0.05, 0.01, 0.1]))
    for _ in range(30):
        r = rng.choice([1, 10, 50, 100, 300, 1000, 10000])
        m = r * rng.choice([1, 2, 10])
        v, delta = rng.randint(r // 2, r), rng.choice([0.0, 1e-6, 1e-4, 1e-3])
        eps = rng.uniform(0.0, 4.0)
        loose = r > EXACT_TRIALS
        out.add("11", "one_run_p_value", {"m": m, "r": r, "v": v, "eps": eps, "delta": delta},
                {"p": p_value(m, r, v, eps, delta)}, 1e-7 if loose else 1e-9, 1e-280)
        if r >= 50:
            out.add("11", "one_run_eps", {"m": m, "r": r, "v": v, "delta": delta, "p": 0.05},
                    {"eps_lower": one_run_eps(m, r, v, delta, 0.05)}, 1e-7, 1e-9)
    out.add("11", "one_run_eps", {"m": 100000, "r": 100000, "v": 60000, "delta": 1e-8, "p": 0.05},
            {"eps_lower": one_run_eps(100000, 100000, 60000, 1e-8, 0.05)}, 1e-7)
    for k1, n1, k0, n0 in ((95, 100, 3, 100), (100, 100, 0, 100), (10, 10, 0, 10), (60, 100, 40, 100),
                           (990, 1000, 0, 50), (3, 200, 0, 1000)):
        for delta in (0.0, 0.01):
            low, high = credible(k1, n1, k0, n0, delta, 0.95)
            out.add("11", "credible_epsilon",
                    {"true_positives": k1, "positives": n1, "false_positives": k0, "negatives": n0,
                     "delta": delta, "credibility": 0.95}, {"lower": mpf(low), "upper": mpf(high)}, 1e-5, 1e-6)
    out.write(path)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
