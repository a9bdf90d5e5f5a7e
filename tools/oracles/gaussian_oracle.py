"""Reference values for pairs of Gaussian distributions (Spec §2 and §3), by mpmath.

  gaussian_oracle.py OUT.json [SEED]        the committed file has the default seed

The pairs are built so that their whitened form is known exactly: V = s T T^t, V' = s T diag(lam) T^t,
m' - m = sqrt(s) T c, with T an integer matrix of determinant one, s a power of four and lam, c short binary
fractions. All entries are then doubles without rounding, and lam and c need no eigenvalue solver.

KL and Renyi use the determinant formulas on the matrices themselves. The hockey-stick divergence does not use
the library's contour: in one dimension it is the closed form on the intervals where the log ratio exceeds
eps; in more it is the integral of that closed form over the other coordinates (equal eigenvalues enter
through the radius, a chi variable). Only pairs with three or four different eigenvalues need the inversion
integral, evaluated here with 70 digits on two different contours that must agree.
"""

import random
import sys

import common
from mpmath import mp, mpf

mp.dps = 70
HALF = mpf(1) / 2


# ---------------------------------------------------------------------------- one dimension, closed form

def tail(x):
    """P(Z > x) for a standard normal Z, with full relative precision."""
    return mp.erfc(x / mp.sqrt(2)) / 2


def interval(lo, hi):
    """P(lo < Z < hi), without cancellation between values near one."""
    if lo > 0:
        return tail(lo) - tail(hi)
    if hi < 0:
        return tail(-hi) - tail(-lo)
    return 1 - tail(hi) - tail(-lo)


def coefficients(lam, c):
    """a, b, k of the log ratio a z^2 + b z + k of N(0,1) against N(c, lam)."""
    return (1 - lam) / (2 * lam), -c / lam, mp.log(lam) / 2 + c * c / (2 * lam)


def stick_1d(lam, c, eps):
    """Hockey-stick of N(0,1) against N(c, lam)."""
    e = mp.exp(eps)
    a, b, k = coefficients(lam, c)
    if a == 0:
        if c == 0:
            return max(mpf(0), 1 - e)
        mu = abs(c)
        return tail(eps / mu - mu / 2) - e * tail(eps / mu + mu / 2)
    discriminant = b * b - 4 * a * (k - eps)
    if discriminant <= 0:
        return max(mpf(0), 1 - e) if a > 0 else mpf(0)
    root = mp.sqrt(discriminant)
    far = (-b - root) / (2 * a) if b > 0 else (-b + root) / (2 * a)  # no cancellation in -b -+ root
    lo, hi = sorted([far, (k - eps) / a / far])
    scale = mp.sqrt(lam)
    lo_q, hi_q = (lo - c) / scale, (hi - c) / scale
    if a > 0:  # the two outer rays
        return tail(-lo) + tail(hi) - e * (tail(-lo_q) + tail(hi_q))
    return interval(lo, hi) - e * interval(lo_q, hi_q)


# ---------------------------------------------------------- more dimensions: integrate the closed form

def integrate(f, lo, hi, breaks):
    """Integral of a positive function with one hump or a few over [lo, hi], split at its kinks."""
    # Where the function matters, found on a coarse grid in each smooth piece: what lies 70 digits below
    # the top is left out.
    ends = sorted({lo, hi, *[b for b in breaks if lo < b < hi]})
    cells = []
    for u, v in zip(ends, ends[1:]):
        count = max(20, int(mp.ceil(4 * (v - u))))
        points = [u + (v - u) * i / count for i in range(count + 1)]
        cells += list(zip(points, points[1:]))
    with mp.workdps(20):
        heights = [max(f(u), f((u + v) / 2), f(v)) for u, v in cells]
    top = max(heights)
    if top <= 0:
        return mpf(0)
    kept = [i for i, h in enumerate(heights) if h > top * mpf(10) ** -70]
    left, right = cells[max(kept[0] - 1, 0)][0], cells[min(kept[-1] + 1, len(cells) - 1)][1]
    ends = sorted({left, right, *[b for b in breaks if left < b < right]})

    def piece(u, v, depth):
        # Scaled to height one, because mp.quad stops at an absolute error.
        value, error = mp.quad(lambda x: f(x) / top, [u, v], error=True, maxdegree=8)
        if error <= mpf(10) ** -35:
            return value
        if depth == 0:
            raise ArithmeticError(f"quadrature on [{mp.nstr(u, 5)}, {mp.nstr(v, 5)}] reached only "
                                  f"{mp.nstr(error, 3)} of {mp.nstr(value, 3)}")
        middle = (u + v) / 2
        return piece(u, middle, depth - 1) + piece(middle, v, depth - 1)

    total = mpf(0)
    for u, v in zip(ends, ends[1:]):
        count = max(1, int(mp.ceil((v - u) / 4)))
        for k in range(count):
            total += piece(u + (v - u) * k / count, u + (v - u) * (k + 1) / count, 6)
    return top * total


def kinks(lam, c, eps, a2, b2, k2):
    """Where the discriminant of stick_1d(lam, c, eps - a2 x^2 - b2 x - k2) vanishes."""
    a, b, k = coefficients(lam, c)
    if a == 0 or a2 == 0:
        return []
    constant = k + k2 - eps - b * b / (4 * a)
    discriminant = b2 * b2 - 4 * a2 * constant
    if discriminant < 0:
        return []
    return [(-b2 + sign * mp.sqrt(discriminant)) / (2 * a2) for sign in (-1, 1)]


def stick_two(lam, c, lam2, c2, eps):
    """Two coordinates: integrate over the second."""
    a2, b2, k2 = coefficients(lam2, c2)

    def f(z):
        return mp.npdf(z) * stick_1d(lam, c, eps - (a2 * z + b2) * z - k2)

    return integrate(f, mpf(-60), mpf(60), kinks(lam, c, eps, a2, b2, k2))


def stick_radial(lam, c, lam2, count, eps):
    """One coordinate, and `count` more with common eigenvalue lam2 and no shift: integrate the radius."""
    a2, _, k2 = coefficients(lam2, mpf(0))
    k2 *= count
    norm = mpf(2) ** (HALF * count - 1) * mp.gamma(HALF * count)

    def f(x):
        return x ** (count - 1) * mp.exp(-x * x / 2) / norm * stick_1d(lam, c, eps - a2 * x * x - k2)

    return integrate(f, mpf(0), mpf(60), kinks(lam, c, eps, a2, mpf(0), k2))


# -------------------------------------------------------------- three and more different eigenvalues

def stick_contour(lam, c, eps):
    """Inversion integral of Spec §3.3 (b) to the right of zero, on two contours that must agree."""
    triples = [coefficients(l, x) for l, x in zip(lam, c)]
    k = sum(t[2] for t in triples)
    growth = k - eps - sum(b * b / (4 * a) for a, b, _ in triples)  # extremum of the log ratio, minus eps
    if all(l > 1 for l in lam) and growth <= 0:
        return mpf(0)
    if all(l < 1 for l in lam) and growth >= 0:
        return 1 - mp.exp(eps)
    s_max = min([l / (1 - l) for l in lam if l < 1], default=mpf(1000))

    def exponent(s):
        return s * (k - eps) + sum(-mp.log(1 - 2 * s * a) / 2 + s * s * b * b / (2 * (1 - 2 * s * a))
                                   for a, b, _ in triples)

    def height(s):
        return exponent(s) - mp.log(s) - mp.log(1 + s)

    lo, hi = s_max * mpf(10) ** -6, s_max * (1 - mpf(10) ** -6)
    for _ in range(100):  # the height is convex in s
        left, right = lo + (hi - lo) / 3, hi - (hi - lo) / 3
        lo, hi = (lo, right) if height(left) < height(right) else (left, hi)
    saddle = (lo + hi) / 2
    width = 1 / mp.sqrt(abs(mp.diff(height, saddle, 2)))
    side = -1 if growth > 0 else 1  # bend towards where e^{exponent} decays

    def on_contour(start, bend):
        def f(w):
            y = width * mp.sinh(w)
            rho = mp.sqrt(y * y + width * width)
            s = start + side * bend * (rho - width) + 1j * y
            slope = (side * bend * y / rho + 1j) * width * mp.cosh(w)
            return (mp.exp(exponent(s)) / (s * (s + 1)) * slope).imag / mp.pi
        last, step = None, mpf(1) / 8
        while step > mpf(1) / 2000:
            total, w = f(mpf(0)) / 2, step
            while True:
                term = f(w)
                total += term
                w += step
                if (abs(term) < abs(total) * mpf(10) ** -60 and w > 3) or w > 60:
                    break
            total *= step
            if last is not None and abs(total - last) < abs(total) * mpf(10) ** -30:
                return total
            last, step = total, step / 2
        raise ArithmeticError("the trapezoidal rule does not settle")

    first, second = on_contour(saddle, mpf("0.3")), on_contour(saddle * mpf("0.8"), mpf("0.2"))
    if abs(first - second) > abs(first) * mpf(10) ** -25:
        raise ArithmeticError(f"contours disagree: {first} {second}")
    return first


# ------------------------------------------------------------------------------------ one pair of distributions

def stick(lam, c, eps):
    """Hockey-stick of N(0, I) against N(c, diag(lam)): dispatch on the pattern of eigenvalues."""
    groups = {}
    for l, x in zip(lam, c):
        groups.setdefault(l, []).append(x)
    # A rotation inside a group leaves one coordinate with the whole shift and the others without.
    parts = [(l, mp.sqrt(sum(x * x for x in xs)), len(xs)) for l, xs in groups.items()]
    if len(parts) == 1:
        l, shift, count = parts[0]
        if l == 1 or count == 1:
            return stick_1d(l, shift, eps)
        return stick_radial(l, shift, l, count - 1, eps)
    if len(parts) == 2:
        for (l, shift, count), (l2, shift2, count2) in (parts, parts[::-1]):
            if (count == 1 or l == 1) and shift2 == 0:
                return stick_radial(l, shift, l2, count2, eps)
        if all(count == 1 or l == 1 for l, _, count in parts):
            (l, shift, _), (l2, shift2, _) = parts
            return stick_two(l, shift, l2, shift2, eps)
    return stick_contour(lam, c, eps)


def swapped(lam, c):
    """The same pair with the roles of the distributions exchanged."""
    return [1 / l for l in lam], [-x / mp.sqrt(l) for l, x in zip(lam, c)]


def safe_stick(lam, c, eps):
    """The contour is right of zero: far below the mean use the identity of Spec §14.2."""
    mean = sum(a + k for a, _, k in (coefficients(l, x) for l, x in zip(lam, c)))
    if len(set(lam)) > 2 and eps < mean:
        return 1 - mp.exp(eps) + mp.exp(eps) * stick_contour(*swapped(lam, c), -eps)
    return stick(lam, c, eps)


class Pair:
    """Exact matrices of a pair with known lam and c."""

    def __init__(self, rng, lam, c, scale_exponent=0, shear=True):
        d = len(lam)
        self.lam, self.c = [mpf(l) for l in lam], [mpf(x) for x in c]
        lower, upper = mp.eye(d), mp.eye(d)
        if shear:
            for i in range(d):
                for j in range(i):
                    lower[i, j], upper[j, i] = rng.randint(-1, 1), rng.randint(-1, 1)
        t = lower * upper
        s = mpf(4) ** scale_exponent
        self.cov_p = s * t * t.T
        self.cov_q = s * t * mp.diag(self.lam) * t.T
        self.mean_p = mp.matrix([mpf(rng.randint(-8, 8)) / 4 * mp.sqrt(s) for _ in range(d)])
        self.mean_q = self.mean_p + mp.sqrt(s) * t * mp.matrix(self.c)
        for m in (self.cov_p, self.cov_q, self.mean_p, self.mean_q):
            if any(mpf(float(x)) != x for x in m):
                raise ArithmeticError("an entry is not a double")

    def inputs(self, **more):
        def rows(m):
            return [[float(m[i, j]) for j in range(m.cols)] for i in range(m.rows)]
        return {"mean_p": [float(x) for x in self.mean_p], "cov_p": rows(self.cov_p),
                "mean_q": [float(x) for x in self.mean_q], "cov_q": rows(self.cov_q), **more}

    def kl(self, forward=True):
        """Spec §2 (1)."""
        v, w, diff = self.cov_p, self.cov_q, self.mean_q - self.mean_p
        if not forward:
            v, w = w, v
        inverse = w ** -1
        product = inverse * v
        trace = sum(product[i, i] for i in range(v.rows))
        quadratic = (diff.T * inverse * diff)[0]
        return (mp.log(mp.det(w)) - mp.log(mp.det(v)) - v.rows + trace + quadratic) / 2

    def renyi(self, alpha, forward=True):
        """Spec §2 (3), (4)."""
        v, w, diff = self.cov_p, self.cov_q, self.mean_q - self.mean_p
        if not forward:
            v, w = w, v
        mixed = (1 - alpha) * v + alpha * w
        # Definite exactly when (1 - a) + a r > 0 for each eigenvalue r of w relative to v.
        ratios = self.lam if forward else [1 / l for l in self.lam]
        if any((1 - alpha) + alpha * r <= 0 for r in ratios):
            return mp.inf
        quadratic = (diff.T * mixed ** -1 * diff)[0]
        logs = mp.log(mp.det(mixed)) - (1 - alpha) * mp.log(mp.det(v)) - alpha * mp.log(mp.det(w))
        return alpha / 2 * quadratic - logs / (2 * (alpha - 1))

    def stick(self, eps):
        eps = mpf(eps)
        return safe_stick(self.lam, self.c, eps), safe_stick(*swapped(self.lam, self.c), eps)

    def loss_moments(self):
        """Mean and standard deviation of the log ratio under the first distribution."""
        triples = [coefficients(l, x) for l, x in zip(self.lam, self.c)]
        mean = sum(a + k for a, _, k in triples)
        return float(mean), float(mp.sqrt(sum(2 * a * a + b * b for a, b, _ in triples)))


# ------------------------------------------------------------------------------------------- the cases

def fraction(rng, lo, hi):
    """A random binary fraction with 12 bits after the point."""
    return rng.randint(int(lo * 4096), int(hi * 4096)) / 4096


def eigenvalue(rng):
    return rng.choice([fraction(rng, 0.1, 0.9), fraction(rng, 1.1, 6.0)])


NEAR = 2.0 ** -20  # about 1e-6


def divergence_cases(out, rng):
    """KL and Renyi: dimensions 1 to 4, ordinary, nearly equal and very unequal covariances, all scales."""
    def add(pair, rtol, alphas):
        out.add("2", "gaussian_kl", pair.inputs(), {"kl_pq": pair.kl(), "kl_qp": pair.kl(False)}, rtol)
        for alpha in alphas:
            a = mpf(alpha)
            out.add("2", "gaussian_renyi", pair.inputs(alpha=alpha),
                    {"d_pq": pair.renyi(a), "d_qp": pair.renyi(a, False)}, rtol)

    alphas = [0.25, 0.5, 0.9375, 1.0625, 1.5, 2.0, 8.0, 64.0]
    for d in (1, 2, 3, 4):
        for scale in (0, 0, 0, -30, 30):
            pair = Pair(rng, [eigenvalue(rng) for _ in range(d)],
                        [fraction(rng, -2, 2) for _ in range(d)], scale)
            add(pair, 1e-10, rng.sample(alphas, 2))
        for shift, rtol in ((0.0, 1e-6), (0.125, 1e-9), (30.0, 1e-10)):
            # Without a shift KL is about 1e-13 and the matrices hold lam - 1 to nine digits only.
            lam = [1 + rng.choice([-1, 1]) * NEAR for _ in range(d)]
            add(Pair(rng, lam, [shift] + [0.0] * (d - 1), rng.choice([0, -15, 15])), rtol, [2.0])
        # A shear would mix 2^-20 and 2^20 in one entry and cost the digits that we want to test.
        wide = [2.0 ** rng.choice([-20, -10, 10, 20]) for _ in range(d)]
        add(Pair(rng, wide, [fraction(rng, -1, 1) for _ in range(d)], 0, shear=False), 1e-9, [0.5])


def epsilons(rng, pair, widths):
    """eps at the given numbers of standard deviations from the mean of the log ratio, as short fractions."""
    mean, deviation = pair.loss_moments()
    return [round((mean + w * deviation) * 4096) / 4096 for w in widths]


def stick_cases(out, rng):
    def add(pair, eps_list, rtol=1e-9):
        for eps in eps_list:
            pq, qp = pair.stick(eps)
            if all(v == 0 or v > mpf(10) ** -290 for v in (pq, qp)):
                out.add("3", "gaussian_hockey_stick", pair.inputs(eps=eps),
                        {"delta_pq": pq, "delta_qp": qp}, rtol)
        if rng.random() < 0.6:
            out.add("3", "gaussian_tv", pair.inputs(), {"tv": pair.stick(0)[0]}, rtol)

    # One dimension: ordinary pairs at all distances from the mean, then the hard corners.
    for scale in (0, 0, 0, -30, 30):
        pair = Pair(rng, [eigenvalue(rng)], [fraction(rng, 0.2, 3)], scale)
        add(pair, epsilons(rng, pair, [-3, 1.5, 6]) + [0.5])
    for shift in (0.0, 0.125, 30.0):
        for sign in (-1, 1):
            pair = Pair(rng, [1 + sign * NEAR], [shift])
            rtol = 1e-9 if shift else 1e-7
            add(pair, (epsilons(rng, pair, [-12, -4, 4, 12]) if shift else []) + [0.0], rtol)
    add(Pair(rng, [2.0 ** -20], [1.0]), [0.5, 8.0])
    add(Pair(rng, [2.0 ** 20], [1.0]), [0.5, 4.0])
    add(Pair(rng, [1 + 2.0 ** -42], [0.125]), [0.25, 0.5], 1e-8)

    # All eigenvalues equal: a shifted ball, also nearly one and exactly one.
    for d in (2, 3, 4):
        for lam in (eigenvalue(rng), 1 + NEAR, 1 - NEAR, 1.0):
            shift = 0.125 if lam in (1 + NEAR, 1 - NEAR) else 1.0
            pair = Pair(rng, [lam] * d, [shift * rng.choice([-1, 1]) for _ in range(d)])
            add(pair, epsilons(rng, pair, [-2, 2, 8]))
    # Two eigenvalues.
    for _ in range(3):
        pair = Pair(rng, [eigenvalue(rng), eigenvalue(rng)], [fraction(rng, -2, 2) for _ in range(2)])
        add(pair, epsilons(rng, pair, [-1, 2, 5]))
    for d in (3, 4):
        pair = Pair(rng, [eigenvalue(rng)] + [eigenvalue(rng)] * (d - 1),
                    [fraction(rng, 0.5, 2)] + [0.0] * (d - 1))
        add(pair, epsilons(rng, pair, [-1, 3]))
        pair = Pair(rng, [1.0] * (d - 1) + [eigenvalue(rng)], [fraction(rng, -1, 1) for _ in range(d)])
        add(pair, epsilons(rng, pair, [-1, 3]))
    # All different.
    for d in (3, 4):
        for _ in range(2):
            pair = Pair(rng, [eigenvalue(rng) for _ in range(d)], [fraction(rng, -1.5, 1.5) for _ in range(d)])
            add(pair, epsilons(rng, pair, [-1, 1, 5]))


def check_contour_against_closed_form():
    """The one method that resembles the library's is held against the closed form before it is used."""
    for lam, c, eps in (([mpf("0.5"), mpf(2)], [mpf(1), mpf("0.5")], mpf(2)),
                        ([mpf("3.5")], [mpf("0.75")], mpf("0.5"))):
        exact = stick(lam, c, eps)
        if abs(stick_contour(lam, c, eps) - exact) > exact * mpf(10) ** -25:
            raise ArithmeticError("the contour integral differs from the closed form")


def main(path, seed=20230):
    check_contour_against_closed_form()
    out = common.GoldenFile(
        "Pairs of Gaussian distributions", f"tools/oracles/run (gaussian_oracle.py, seed {seed})", {},
        ["p is the first distribution and q the second: kl_pq = KL(p||q), delta_pq = sup_A p(A) - e^eps q(A)",
         "rtol is 1e-9 to 1e-10, wider where the rounding of a double input alone moves the answer"])
    rng = random.Random(seed)
    divergence_cases(out, rng)
    stick_cases(out, rng)
    out.write(path)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
