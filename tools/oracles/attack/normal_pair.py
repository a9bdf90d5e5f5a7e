"""What two normal distributions reveal, from the definitions, to many digits.

A pair (P, Q) is brought to P = N(0, I), Q = N(c, diag(lam)) by linear algebra in MPFR. The log ratio L = log p/q is then a sum of
one quadratic per coordinate, its moment generating function a product, and every probability of {L > eps} is an inversion integral
of that product, taken along a path through its saddle in Arb. Values are flint.arb: exponents have no limit, so that a
delta of exp(-1e9) is a number like any other.
"""

import copy
from functools import lru_cache

import gmpy2
from flint import acb, arb, ctx, fmpz
from gmpy2 import mpfr

CONTOUR_DIGITS = 65  # working precision of the integrals
SETTLED = arb(
    "1e-13"
)  # relative change between two steps; the rule converges so fast that the finer one is then good to 1e-24


class NoReference(Exception):
    """The reference itself could not be computed to its digits."""


def to_arb(value):
    """The exact value of an MPFR number or a double."""
    if not isinstance(value, type(mpfr(0))):
        value = mpfr(value)
    if not gmpy2.is_finite(value):
        return arb("inf") if value > 0 else arb("-inf")
    mantissa, exponent = value.as_mantissa_exp()
    return arb(fmpz(int(mantissa))) * arb(2) ** int(exponent)


# ------------------------------------------------------------------------------------- matrices in MPFR


def product(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def times(a, v):
    return [sum(x * y for x, y in zip(row, v)) for row in a]


def transposed(a):
    return [list(row) for row in zip(*a)]


def eigen(a):
    """Eigenvalues and vectors (columns) of a symmetric matrix: rotations until nothing is left to rotate."""
    d = len(a)
    a = [row[:] for row in a]
    q = [[mpfr(i == j) for j in range(d)] for i in range(d)]
    if d == 1:
        return [a[0][0]], q
    tiny = mpfr(2) ** (-2 * gmpy2.get_context().precision + 20)
    for _ in range(400):
        size = sum(a[i][i] ** 2 for i in range(d))
        off = 2 * sum(a[i][j] ** 2 for i in range(d) for j in range(i))
        # Graded matrices: small eigenvalues deserve their own digits, so entries are held against their diagonal too.
        done = all(
            a[i][j] == 0 or a[i][j] ** 2 <= tiny * abs(a[i][i] * a[j][j]) for i in range(d) for j in range(i)
        )
        if off == 0 or done or off <= tiny * tiny * size:
            return [a[i][i] for i in range(d)], q
        for i in range(d):
            for j in range(i):
                if a[i][j] == 0:
                    continue
                ratio = (a[j][j] - a[i][i]) / (2 * a[i][j])
                t = 1 / (abs(ratio) + gmpy2.sqrt(ratio * ratio + 1))
                if ratio < 0:
                    t = -t
                c = 1 / gmpy2.sqrt(t * t + 1)
                s = t * c
                for k in range(d):
                    x, y = a[k][i], a[k][j]
                    a[k][i], a[k][j] = c * x - s * y, s * x + c * y
                for k in range(d):
                    x, y = a[i][k], a[j][k]
                    a[i][k], a[j][k] = c * x - s * y, s * x + c * y
                a[i][j] = a[j][i] = mpfr(0)
                for k in range(d):
                    x, y = q[k][i], q[k][j]
                    q[k][i], q[k][j] = c * x - s * y, s * x + c * y
    raise NoReference("rotations do not settle")


def cholesky(a):
    d = len(a)
    r = [[mpfr(0)] * d for _ in range(d)]
    for i in range(d):
        for j in range(i + 1):
            rest = a[i][j] - sum(r[i][k] * r[j][k] for k in range(j))
            if i == j:
                if rest <= 0:
                    raise NoReference("a covariance is not positive definite to the working precision")
                r[i][i] = gmpy2.sqrt(rest)
            else:
                r[i][j] = rest / r[j][j]
    return r


def solve_lower(r, v):
    x = []
    for i, row in enumerate(r):
        x.append((v[i] - sum(row[k] * x[k] for k in range(i))) / row[i])
    return x


# ------------------------------------------------------------------------------------------- the pair


class Pair:
    """P = N(0, I) against Q = N(c, diag(lam)), or two distributions that have no event in common (`singular`)."""

    def __init__(self, lam, c, singular=False):
        self._largest = None  # delta(0), once it is known
        self.singular = singular
        self.lam, self.c = lam, c
        if singular:
            return
        ctx.dps = CONTOUR_DIGITS
        close = mpfr(10) ** -100
        # L = sum of A z^2 + B z, plus C, under z ~ N(0, 1); B^2 gathers in `line` where A = 0.
        self.parts, self.line, self.offset = [], arb(0), arb(0)
        for l, x in zip(lam, c):
            a, b = (1 - l) / (2 * l), -x / l
            self.offset += to_arb(x * x / (2 * l) + gmpy2.log(l) / 2)
            if abs(l - 1) < close:
                self.line += to_arb(b * b)
            else:
                self.parts.append((to_arb(a).mid(), to_arb(b * b).mid()))
        self.line, self.offset = self.line.mid(), self.offset.mid()
        if self.line != 0 and self.line < arb("1e-190"):  # the rounding of a shift that is 0
            self.line = arb(0)

    @classmethod
    def of_distributions(cls, mean_p, cov_p, mean_q, cov_q):
        r = cholesky(cov_p)
        half = [solve_lower(r, row) for row in cov_q]  # rows: r^-1 (column of cov_q)
        whole = [solve_lower(r, row) for row in transposed(half)]
        d = len(r)
        whole = [[(whole[i][j] + whole[j][i]) / 2 for j in range(d)] for i in range(d)]
        lam, u = eigen(whole)
        if min(lam) <= 0:
            raise NoReference("a ratio of variances is not positive to the working precision")
        shift = solve_lower(r, [y - x for x, y in zip(mean_p, mean_q)])
        return cls(lam, times(transposed(u), shift))

    @lru_cache(maxsize=None)
    def swapped(self):
        if self.singular:
            return self
        return Pair([1 / l for l in self.lam], [-x / gmpy2.sqrt(l) for l, x in zip(self.lam, self.c)])

    # --- closed forms

    def kl(self):
        """E_P log p/q."""
        if self.singular:
            return arb("inf")
        total = mpfr(0)
        for l, x in zip(self.lam, self.c):
            r = 1 / l
            total += (r - 1 + gmpy2.log(l) + x * x * r) / 2
        return to_arb(total) if total > mpfr(10) ** -150 else arb(0)  # the rounding of 0

    def log_moment(self, s):
        """log E_P e^{s L} for complex s; needs 1 - 2 s A > 0 at real s."""
        total = s * self.offset + s * s * self.line / 2
        for a, bb in self.parts:
            w = 1 - 2 * s * a
            total += s * s * bb / (2 * w) - w.log() / 2
        return total

    def renyi(self, order):
        """log E_P (p/q)^(order - 1) / (order - 1)."""
        if self.singular:
            return arb("inf")
        s = arb(order) - 1
        if s == 0:
            return self.kl()
        if any(1 - 2 * s * a <= 0 for a, _ in self.parts):
            return arb("inf")
        value = self.log_moment(s) / s
        return value if abs(value) > arb("1e-150") else arb(0)

    def extreme(self):
        """The value of L where its gradient is 0, or None if L has a linear direction."""
        if self.line != 0:
            return None
        return self.offset - sum((bb / (4 * a) for a, bb in self.parts), arb(0))

    def highest(self):
        """sup L, or None if L is not bounded above."""
        return self.extreme() if all(a < 0 for a, _ in self.parts) and self.line == 0 else None

    def lowest(self):
        return self.extreme() if all(a > 0 for a, _ in self.parts) and self.line == 0 else None

    # --- integrals

    def delta(self, eps):
        """sup_A P(A) - e^eps Q(A) = E_P (1 - e^{eps - L})_+."""
        if self.singular:
            return arb(1)
        ctx.dps = CONTOUR_DIGITS
        eps = arb(eps).mid()
        if not self.parts and self.line == 0:
            return max_arb(arb(0), 1 - eps.exp())
        if not self.parts:
            return self._delta_of_shift(eps)
        top, bottom = self.highest(), self.lowest()
        if top is not None and eps >= top:
            return arb(0)
        if bottom is not None and eps <= bottom:
            return 1 - eps.exp()
        value = self._inversion(eps, ((arb(0), arb(1)), (arb(-1), -eps.exp())))
        # An integral that has not converged, although it settled: delta falls from its value at 0.
        if self._largest is None and eps > 0:
            self._largest = self.delta(0)
        highest = self._largest if eps > 0 else arb(1)
        if not (value >= 0 and value <= highest * (1 + arb("1e-9"))):
            raise NoReference("the inversion gives no probability")
        return value if value < 1 else arb(1)

    def tail_p(self, eps):
        """P(L > eps)."""
        return self._tail(arb(eps), arb(0), arb(1))

    def tail_q(self, eps):
        """Q(L > eps)."""
        eps = arb(eps)
        return self._tail(eps, arb(-1), eps.exp()) * (-eps).exp()

    def _tail(self, eps, pole, residue):
        ctx.dps = CONTOUR_DIGITS
        top, bottom = self.highest(), self.lowest()
        if top is not None and eps >= top:
            return arb(0)
        if bottom is not None and eps <= bottom:
            return residue
        return self._inversion(eps, ((pole, residue),))

    def _delta_of_shift(self, eps):
        mu = self.line.sqrt().mid()

        def upper(x):
            if x < 100:
                return (x / arb(2).sqrt()).erfc() / 2
            half = x * x / 2
            return (-half).exp() * half.hypgeom_u(arb(1) / 2, arb(1) / 2) / (2 * arb.pi().sqrt())

        # erfc has its own relative digits, but the difference cancels; more digits until enough are left.
        old = ctx.dps
        for digits in (90, 180, 360, 720, 1440):
            ctx.dps = digits
            value = upper(eps / mu - mu / 2) - eps.exp() * upper(eps / mu + mu / 2)
            if value.rel_accuracy_bits() > 200:
                ctx.dps = old
                return value
        ctx.dps = old
        raise NoReference("the difference of two tails cancels")

    def _inversion(self, eps, poles):
        """(1/2 pi i) int e^{-s eps} E e^{sL} / prod(s - pole) ds to the right of every pole; a residue of each pole that the path is moved across
        is added. The path goes through the saddle between two poles, and bends to where the integrand falls."""
        # Of distributions that are near each other, coordinates that change the value by less than 1e-10 of it only spoil the path.
        scale = max_of([abs(a) for a, _ in self.parts] + [bb.sqrt() for _, bb in self.parts])
        kept = [(a, bb) for a, bb in self.parts if abs(a) > scale * arb("1e-10") or bb > scale * scale * arb("1e-20")]
        flat = self.line < scale * scale * arb("1e-20")
        if scale < arb("1e-3") and (len(kept) < len(self.parts) or (flat and self.line > 0)):
            pruned = copy.copy(self)
            pruned.parts = kept
            pruned.line = arb(0) if flat else self.line
            return pruned._inversion(eps, poles)
        lowest = max_of([1 / (2 * a) for a, _ in self.parts if a < 0])
        highest = min_of([1 / (2 * a) for a, _ in self.parts if a > 0])

        def slope(s, with_poles):
            """Derivative of log |integrand| on the real line."""
            total = self.offset - eps + s * self.line
            for a, bb in self.parts:
                w = 1 - 2 * s * a
                total += a / w + bb * s * (1 - s * a) / (w * w)
            if with_poles:
                total -= sum((1 / (s - p) for p, _ in poles), arb(0))
            return total

        # The strip in which the integrand without its poles has its saddle.
        ordered = sorted((p for p, _ in poles), key=float)
        left, right = lowest, highest
        for p in ordered:
            if slope(p, False) > 0:  # the saddle is to the left of p
                right = p
                break
            left = p
        crossed = sum((r for p, r in poles if right is not None and p >= right), arb(0))

        def width_at(s):
            curvature = self.line + sum((1 / (s - p) ** 2 for p, _ in poles), arb(0))
            for a, bb in self.parts:
                w = 1 - 2 * s * a
                curvature += 2 * a * a / (w * w) + bb / (w * w * w)
            return (1 / curvature.sqrt()).mid()

        start = bisect(lambda s: slope(s, True), left, right, width_at)
        width = width_at(start)
        height = (self.log_moment(start) - start * eps).mid()  # taken out, so that e^ stays near 1

        pieces = [(2 * a, bb / 2) for a, bb in self.parts]
        away, half_line = self.offset - eps, self.line / 2

        def integrand(w, bend):
            sh, ch = w.sinh_cosh()
            s = acb(start + width * bend * (ch - 1), width * sh)
            square, below = s * s, acb(1)
            exponent = s * away + square * half_line - height
            for a2, b2 in pieces:
                v = 1 - s * a2
                exponent += square * b2 / v
                below *= v.sqrt()
            for p, _ in poles:
                below *= s - p
            return (exponent.exp() * acb(width * bend * sh, width * ch) / below).imag.mid()

        growth = self.extreme()
        sign = 1 if growth is None or growth < eps else -1
        value = None
        for bend in (sign * 0.4, sign * 0.2, 0.0, sign * 0.08, -sign * 0.2, -sign * 0.4):
            value = settled(lambda w: integrand(w, arb(bend)))
            if value is not None:
                break
        if value is None:
            raise NoReference("no path settles")
        return crossed + value / arb.pi() * height.exp()


def settled(f):
    """int_0^inf f by the trapezoidal rule, halved until it settles; None if it does not decay or cancels too much."""
    step = arb(1) / 2
    first = f(arb(0)) / 2
    total, largest, quiet, w, end = first, abs(first), 0, step, None
    while w < 90:
        term = f(w)
        size = abs(term)
        if not size.is_finite():
            return None
        if size > largest:
            largest = size
            if largest > 1e25 * abs(first) and largest > 1e25:
                return None
        total += term
        quiet = quiet + 1 if size < largest * arb("1e-32") else 0
        w += step
        if quiet == 3:
            end = w
            break
    if end is None:
        return None
    last = total * step
    for _ in range(8):
        w = step / 2
        while w < end:
            total += f(w)
            w += step
        step /= 2
        value = (total * step).mid()
        if abs(value - last) <= abs(value) * SETTLED and abs(value) > largest * arb("1e-20"):
            return value
        last = value
    return None


def max_arb(a, b):
    return a if a >= b else b


def max_of(values):
    result = None
    for v in values:
        result = v if result is None or v > result else result
    return result


def min_of(values):
    result = None
    for v in values:
        result = v if result is None or v < result else result
    return result


def bisect(slope, left, right, width_at):
    """Where an increasing function changes sign between two ends, either of which may be None (infinite), to a part of the width there. The
    scale near the ends is logarithmic."""

    def at(u):
        e = arb(u).exp()
        if left is not None and right is not None:
            return ((left + right * e) / (1 + e)).mid() if u < 0 else ((left / e + right) / (1 / e + 1)).mid()
        if left is not None:
            return (left + e).mid()
        if right is not None:
            return (right - 1 / e).mid()
        return arb(u).sinh().mid()

    # e^-120 is as near to a finite end as the precision can tell; e^1500 is far enough out.
    low, high = arb(-120 if left is not None else -1500), arb(120 if right is not None else 1500)
    for step in range(240):
        middle = ((low + high) / 2).mid()
        s = at(middle)
        if step > 16 and at(high) - at(low) < width_at(s) / 16:
            break
        if slope(s) > 0:
            high = middle
        else:
            low = middle
    return s


# ------------------------------------------------------------------------------------- derived quantities


def epsilon(pair, delta):
    """Smallest eps >= 0 with delta(eps) <= delta, to 14 digits."""
    if pair.singular:
        return arb("inf") if delta < 1 else arb(0)
    delta = arb(delta)
    if delta == 0:
        top = pair.highest()
        if not pair.parts and pair.line == 0:
            return arb(0)
        return arb("inf") if top is None else max_arb(top, arb(0))
    if pair.delta(0) <= delta:
        return arb(0)
    target = delta.log()

    def excess(eps):
        value = pair.delta(eps)
        return arb("-1e9") if value <= 0 else (value.log() - target).mid()

    low, high = arb(0), (pair.kl() + 1).mid()
    while excess(high) > 0:
        low, high = high, 2 * high
    return root(excess, low, high, "1e-14")


def root(f, low, high, near="1e-25"):
    """Zero of a decreasing function: the secant inside a bracket, and a bisection whenever three steps have not halved it."""
    f_low, f_high = f(low), f(high)
    widths = [high - low]
    while len(widths) < 400 and high - low > abs(high) * arb(near):
        if len(widths) > 3 and widths[-1] > widths[-4] / 2:
            x, widths = ((low + high) / 2).mid(), [high - low]
        else:
            x = ((low * f_high - high * f_low) / (f_high - f_low)).mid()
            # A step so near to an end that the bracket would not close: beyond the zero by as much again.
            margin = abs(x) * arb(near) / 2
            x = low + margin if x < low + margin else high - margin if x > high - margin else x
            x = x.mid()
        value = f(x)
        if value > 0:
            low, f_low = x, value
        else:
            high, f_high = x, value
        widths.append(high - low)
    return ((low + high) / 2).mid()


def true_positive_rate(pair, rate):
    """The best true-positive rate at a false-positive rate; at most the largest density ratio times it."""
    value, top = _tpr_by_inversion(pair, rate), pair.highest() if not pair.singular else None
    if top is not None and value > top.exp() * arb(rate) * (1 + arb("1e-12")):
        raise NoReference("a rate above what the densities allow")
    return value


def _tpr_by_inversion(pair, rate):
    """Largest P(A) over events with Q(A) <= rate: the event is {L > eps} with Q(L > eps) = rate."""
    rate = arb(rate)
    if pair.singular or rate >= 1:
        return arb(1)
    if rate <= 0:
        return arb(0)
    if not pair.parts and pair.line == 0:
        return rate
    if not pair.parts:
        return _tpr_of_shift(pair, rate)

    def excess(eps):
        value = pair.tail_q(eps)
        return arb("-1e9") if value <= 0 else (value.log() - rate.log()).mid()

    middle = (-pair.swapped().kl()).mid()
    width = arb(1)
    low = high = middle
    while excess(high) > 0:
        low, high, width = high, high + width, 2 * width
    width = arb(1)
    while excess(low) <= 0:
        low, high, width = low - width, low, 2 * width
    eps = root(excess, low, high, "1e-9")
    # Neyman-Pearson by its dual: delta(eps) + e^eps rate is stationary in eps, so the error of eps enters squared.
    value = pair.delta(eps) + eps.exp() * rate
    if not abs(pair.tail_p(eps) - value) <= abs(value) * arb("1e-6"):  # P(L > eps), by another integral
        raise NoReference("two ways to a rate disagree")
    return value if value < 1 else arb(1)


def _tpr_of_shift(pair, rate):
    mu = pair.line.sqrt()

    def excess(x):  # log P(N > x) - log rate
        return ((x / arb(2).sqrt()).erfc() / 2).log() - rate.log()

    low, high = arb(-50), arb(50)
    while excess(high) > 0:
        high *= 2
    x = root(excess, low, high)
    return ((x - mu) / arb(2).sqrt()).erfc() / 2
