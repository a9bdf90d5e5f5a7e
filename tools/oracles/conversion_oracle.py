"""Reference values for the conversions of Spec §3.1 and §4, by mpmath and dp-accounting.

  conversion_oracle.py OUT.json [SEED]      the committed file has the default seed

Sharp KL -> delta: the maximum over two-point distributions itself (Spec §4.2 (1), (2)), by bisection on the sign of the
derivative along the curve kl(x||y) = K; the library minimises the dual instead. Where dp-accounting computes the
same quantity (Gaussian mechanism, Renyi to (eps, delta)) its value must agree, or this script fails.
"""

import math
import random
import sys
from importlib import metadata

import common
from dp_accounting import gaussian_mechanism
from dp_accounting.rdp import rdp_privacy_accountant
from mpmath import mp, mpf

mp.dps = 70


def agree(what, ours, theirs, rtol):
    if not common.close(float(theirs), float(ours), rtol):
        raise ArithmeticError(f"{what}: ours {mp.nstr(ours, 17)}, dp-accounting {theirs!r}")


# --------------------------------------------------------------------------------- sharp KL -> delta

def kl(x, y):
    """Relative entropy of two coins."""
    first = x * mp.log(x / y) if x > 0 else mpf(0)
    second = (1 - x) * mp.log((1 - x) / (1 - y)) if x < 1 else mpf(0)
    return first + second


def kl_slopes(x, y):
    """Derivatives of kl(x||y) in x and in y."""
    return mp.log(x / y) - mp.log((1 - x) / (1 - y)), (y - x) / (y * (1 - y))


def bisect(increasing, lo, hi, steps=240):
    """Where an increasing predicate turns true."""
    for _ in range(steps):
        middle = (lo + hi) / 2
        lo, hi = (lo, middle) if increasing(middle) else (middle, hi)
    return (lo + hi) / 2


def partner(x, bound, above):
    """The y on the given side of x with kl(x||y) = bound, found through log y or log(1-y)."""
    # kl >= -log 2 - x log y and >= -log 2 - (1-x) log(1-y), so no root lies beyond these ends.
    if above:
        t = bisect(lambda t: kl(x, -mp.expm1(t)) < bound, -(bound + 1) / (1 - x), mp.log(1 - x))
        return -mp.expm1(t)
    t = bisect(lambda t: kl(x, mp.exp(t)) < bound, -(bound + 1) / x, mp.log(x))
    return mp.exp(t)


def sharp_forward(bound, eps):
    """max { x - e^eps y : kl(x||y) <= K }."""
    e = mp.exp(eps)

    def past_the_top(logit):
        x = 1 / (1 + mp.exp(-logit))
        y = partner(x, bound, above=False)
        in_x, in_y = kl_slopes(x, y)
        return 1 + e * in_x / in_y < 0  # 1 - e^eps y'(x), and y' = -in_x / in_y

    # The value is flat at the top: 2^-120 of the bracket gives more than 50 digits.
    logit = bisect(past_the_top, mpf(-400), mpf(400), steps=130)
    x = 1 / (1 + mp.exp(-logit))
    return max(x - e * partner(x, bound, above=False), 1 - mp.exp(eps - bound), mpf(0))


def sharp_reverse(bound, eps):
    """max { y - e^eps x : kl(x||y) <= K }."""
    e = mp.exp(eps)

    def past_the_top(log_x):
        x = mp.exp(log_x)
        y = partner(x, bound, above=True)
        in_x, in_y = kl_slopes(x, y)
        return -in_x / in_y < e

    # |log x| at the top is about e^eps, so the bracket grows with it.
    log_x = bisect(past_the_top, -200 - 4 * e * mp.exp(bound), -mpf(10) ** -30, steps=150)
    x = mp.exp(log_x)
    return max(partner(x, bound, above=True) - e * x, -mp.expm1(-bound))


def sharp_cases(out):
    # K >= 1e-4: below about 1e-8 the specification evaluates at 1e-8, and rtol grows on the way there.
    for bound in (1e-4, 1e-3, 0.01, 0.0625, 0.3, 1.0, 2.0, 5.0, 20.0):
        for eps in (0.0, 0.125, 0.5, 1.0, 3.0):
            k, e = mpf(bound), mpf(eps)
            out.add("4", "delta_from_kl", {"kl": bound, "eps": eps},
                    {"delta_forward": sharp_forward(k, e), "delta_reverse": sharp_reverse(k, e),
                     "pinsker": mp.sqrt(k / 2), "bretagnolle_huber": mp.sqrt(-mp.expm1(-k))}, 1e-8)


# --------------------------------------------------------------------------------------------- others

def gdp_delta(mu, eps):
    def tail(x):
        return mp.erfc(x / mp.sqrt(2)) / 2
    return tail(eps / mu - mu / 2) - mp.exp(eps) * tail(eps / mu + mu / 2)


def gdp_cases(out):
    for mu in (1 / 64, 0.125, 0.5, 1.0, 2.0, 6.0, 30.0):
        m = mpf(mu)
        for width in (-4, -1, 0, 1, 3, 8, 20):
            eps = round((mu * mu / 2 + width * mu) * 4096) / 4096
            value = gdp_delta(m, mpf(eps))
            if eps < 0 or value < mpf(10) ** -290:
                continue
            out.add("3", "gdp_delta", {"mu": mu, "eps": eps}, {"delta": value}, 1e-9)
            if value > mpf(10) ** -200:  # their log-space search is asked for the way back
                back = gaussian_mechanism.get_epsilon_gaussian(1 / mu, float(value))
                if value < mpf("0.99") and eps > 0:
                    agree(f"eps of mu={mu}", mpf(eps), back, 1e-6)
        for delta in (1e-2, 1e-5, 1e-9, 1e-30):
            target = mpf(delta)
            if gdp_delta(m, mpf(0)) <= target:
                eps = mpf(0)
            else:
                eps = bisect(lambda e: gdp_delta(m, e) < target, mpf(0), m * m / 2 + 40 * m)
            out.add("3", "gdp_eps", {"mu": mu, "delta": delta}, {"eps": eps}, 1e-9)
            agree(f"eps({delta}) of mu={mu}", eps, gaussian_mechanism.get_epsilon_gaussian(1 / mu, delta), 1e-8)


def rdp_cases(out, rng):
    for alpha in (1.25, 1.5, 2.0, 4.0, 10.0, 32.0, 256.0):
        for _ in range(6):
            renyi = rng.choice([0.001, 0.02, 0.1, 0.5, 2.0, 8.0])
            eps = renyi + rng.choice([0.125, 0.5, 1.0, 4.0])
            delta = rng.choice([1e-2, 1e-5, 1e-9])
            a, d, e, t = mpf(alpha), mpf(renyi), mpf(eps), mpf(delta)
            delta_out = (1 - 1 / a) ** a / (a - 1) * mp.exp((a - 1) * (d - e))
            eps_out = max(mpf(0), d + mp.log(1 - 1 / a) - mp.log(a * t) / (a - 1))
            # An upper bound that underflows is the smallest double, not 0, which would be below it.
            least = math.ulp(0.0)
            out.add("4", "rdp_conversion", {"renyi": renyi, "alpha": alpha, "eps": eps, "delta": delta},
                    {"delta": delta_out, "eps": eps_out}, 1e-10, least if delta_out < least else 0.0)
            # dp-accounting also knows delta <= sqrt(1 - e^-D); compare where that is not the smaller.
            theirs, _ = rdp_privacy_accountant.compute_delta([alpha], [renyi], eps)
            agree("delta from Renyi", min(delta_out, mp.sqrt(-mp.expm1(-d))), theirs, 1e-9)
            if t * t + mp.expm1(-d) <= 0:
                theirs, _ = rdp_privacy_accountant.compute_epsilon([alpha], [renyi], delta)
                agree("eps from Renyi", eps_out, theirs, 1e-9)


def concentration_cases(out, rng):
    for d in (1, 2, 3):
        for r in (0.0, 0.5, 2.0):
            variances = [rng.choice([0.25, 0.5, 1.0, 4.0]) for _ in range(d)]
            shift = [rng.randint(1, 16) / 16 for _ in range(d)]
            squared = sum(mpf(s) ** 2 / v for s, v in zip(shift, variances))
            lipschitz = sum(mpf(s) ** 2 / mpf(v) ** 2 for s, v in zip(shift, variances))
            width = mpf(r)
            out.add("4", "concentration_equal_cov",
                    {"mean_difference": shift,
                     "cov": [[variances[i] if i == j else 0.0 for j in range(d)] for i in range(d)], "r": r},
                    {"kl": squared / 2, "eps": squared / 2 + width,
                     "delta_printed": mp.exp(-width ** 2 / (2 * max(variances) * lipschitz)),
                     "delta_whitened": mp.exp(-width ** 2 / (2 * squared)),
                     "delta_exact": gdp_delta(mp.sqrt(squared), squared / 2 + width)}, 1e-10)


def main(path, seed=20231):
    out = common.GoldenFile(
        "Conversions between divergences and (eps, delta)",
        f"tools/oracles/run (conversion_oracle.py, seed {seed})",
        {name: metadata.version(name) for name in ("dp-accounting", "numpy", "scipy")},
        ["delta_forward bounds delta_{p,q} and delta_reverse bounds delta_{q,p}, given kl = KL(p||q)"])
    rng = random.Random(seed)
    sharp_cases(out)
    gdp_cases(out)
    rdp_cases(out, rng)
    concentration_cases(out, rng)
    out.write(path)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
