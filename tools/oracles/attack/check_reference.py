"""The references against closed forms, against real quadrature and against samples, before anything else is held against them."""

import math
import random

import gmpy2
import mpmath
import numpy as np
from flint import arb
from gmpy2 import mpfr
from normal_pair import Pair, epsilon, true_positive_rate


def mid(x):
    return mpmath.mpf(x.mid().str(60, radius=False))


def one_dimension(lam, c, eps):
    """{L > eps} is an interval or the outside of one, between the roots of a quadratic."""
    with mpmath.workdps(int(100 + abs(eps))):
        lam, c, eps = mpmath.mpf(lam), mpmath.mpf(c), mpmath.mpf(eps)
        a, b = (1 / lam - 1) / 2, -c / lam
        k = c * c / (2 * lam) + mpmath.log(lam) / 2 - eps
        disc = b * b - 4 * a * k

        def cdf(x, m, v):
            return mpmath.erfc((m - x) / mpmath.sqrt(2 * v)) / 2

        def weight(lo, hi, m, v):
            return cdf(hi, m, v) - cdf(lo, m, v)

        if disc <= 0:
            return 1 - mpmath.exp(eps) if a > 0 else mpmath.mpf(0)
        r1, r2 = sorted([(-b - mpmath.sqrt(disc)) / (2 * a), (-b + mpmath.sqrt(disc)) / (2 * a)])
        p, q = weight(r1, r2, 0, 1), weight(r1, r2, c, lam)
        if a > 0:
            p, q = 1 - p, 1 - q
        return +(p - mpmath.exp(eps) * q)


def two_dimensions(lam, c, eps):
    """The first coordinate by the closed form, the second by quadrature: delta = E_z2 of a one-dimensional hockey-stick."""
    l2, c2 = mpmath.mpf(lam[1]), mpmath.mpf(c[1])

    def f(z):
        # L2(z) shifts eps: E_P (1 - e^{eps - L1 - L2})_+
        shift = mpmath.log(l2) / 2 + (z - c2) ** 2 / (2 * l2) - z * z / 2
        return one_dimension(lam[0], c[0], eps - shift) * mpmath.exp(-z * z / 2) / mpmath.sqrt(2 * mpmath.pi)

    return mpmath.quad(f, mpmath.linspace(-9, 9, 37), maxdegree=8)


def check():
    gmpy2.get_context().precision = 800
    mpmath.mp.dps = 60
    rng = random.Random(3)
    worst = 0.0
    for _ in range(100):
        lam = math.exp(rng.gauss(0, 1) * rng.choice([1e-6, 0.1, 1, 8]))
        c = rng.gauss(0, 1) * rng.choice([0, 1e-6, 0.1, 1, 10]) * math.sqrt(lam)
        pair = Pair([mpfr(lam)], [mpfr(c)])
        spread = float((2 * pair.parts[0][0] ** 2 + pair.parts[0][1]).sqrt()) if pair.parts else 1.0
        eps = float(pair.kl()) + rng.choice([-20, -3, -1, 0, 1, 5, 20]) * spread * rng.random()
        eps = max(-300.0, min(eps, 300.0))  # the closed form needs as many digits as e^eps has
        truth, got = one_dimension(lam, c, eps), mid(pair.delta(eps))
        error = float(abs(got - truth) / truth) if truth else float(abs(got))
        worst = max(worst, error)
        assert error < 1e-18, (lam, c, eps, truth, got)
    print(f"one dimension, closed form: 100 cases, largest relative error {worst:.1e}")
    mpmath.mp.dps = 20
    worst = 0.0
    for lam, c, eps in (
        ([0.5, 3.0], [0.5, -1.0], 0.7),
        ([2.0, 5.0], [1.5, 0.1], 0.2),
        ([0.2, 0.9], [0.1, 0.1], -0.3),
    ):
        pair = Pair([mpfr(x) for x in lam], [mpfr(x) for x in c])
        truth, got = two_dimensions(lam, c, eps), mid(pair.delta(eps))
        worst = max(worst, float(abs(got - truth) / truth))
        assert abs(got - truth) < 1e-6 * truth, (
            lam,
            c,
            eps,
            truth,
            got,
        )  # the square-root ends of the inner set limit the quadrature
    print(f"two dimensions, quadrature: 3 cases, largest relative error {worst:.1e}")
    mpmath.mp.dps = 60
    for mu, eps in ((1.0, 1.0), (0.1, 1.0), (7.0, -2.0), (1e-3, 0.01)):
        pair = Pair([mpfr(1), mpfr(1)], [mpfr(mu) * 3 / 5, mpfr(mu) * 4 / 5])
        near = Pair([1 + mpfr(10) ** -60, mpfr(1)], [mpfr(mu) * 3 / 5, mpfr(mu) * 4 / 5])
        a, b = mid(pair.delta(eps)), mid(near.delta(eps))
        assert abs(a - b) < 1e-18 * abs(a), (mu, eps, a, b)
    print("equal covariances, the closed form and the path: 4 cases")
    # Samples: a false alarm needs five standard errors, 12 comparisons: 1e-5.
    draws = np.random.default_rng(5)
    for _ in range(4):
        d = 3
        lam, c = np.exp(draws.normal(0, 0.7, d)), draws.normal(0, 0.7, d)
        z = draws.normal(size=(400000, d))
        L = (0.5 * np.log(lam) + (z - c) ** 2 / (2 * lam) - z * z / 2).sum(axis=1)
        pair = Pair([mpfr(float(x)) for x in lam], [mpfr(float(x)) for x in c])
        eps = 0.4
        value = np.maximum(0, 1 - np.exp(eps - L))
        for got, sample in ((pair.delta(eps), value), (pair.kl(), L), (pair.tail_p(eps), L > eps)):
            assert abs(float(got) - sample.mean()) < 5 * sample.std() / math.sqrt(len(L)), (lam, c)
        e = epsilon(pair, 1e-5)
        assert abs(float(pair.delta(e)) - 1e-5) < 1e-16
        tpr = true_positive_rate(pair, 0.01)
        w = np.exp(-L)  # Q by weights
        order = np.argsort(-L)
        cut = order[: np.searchsorted(np.cumsum(w[order]) / len(L), 0.01)]
        assert abs(len(cut) / len(L) - float(tpr)) < 0.01, (len(cut) / len(L), float(tpr))
        # The two tails and delta: three paths, one identity.
        identity = pair.tail_p(eps) - arb(eps).exp() * pair.tail_q(eps)
        assert abs(float((identity - pair.delta(eps)) / pair.delta(eps))) < 1e-16
    print("three dimensions, samples and the identity of three paths: 4 cases")


if __name__ == "__main__":
    check()
