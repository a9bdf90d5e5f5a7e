"""The normal distribution of what is released, written down from its definition: matrices in MPFR, exact doubles in."""

import contextlib

import gmpy2
from gmpy2 import mpfr
from normal_pair import NoReference, Pair, eigen, product, times, transposed


class NoDistribution(Exception):
    """There is no such distribution: nothing to compare with."""


@contextlib.contextmanager
def digits(count):
    with gmpy2.context(gmpy2.get_context(), precision=int(count * 3.33) + 10):
        yield


def matrix(rows):
    return [[mpfr(x) for x in row] for row in rows]


def scalar(value, d):
    return [[mpfr(value) if i == j else mpfr(0) for j in range(d)] for i in range(d)]


def diagonal(values):
    return [[mpfr(x) if i == j else mpfr(0) for j in range(len(values))] for i, x in enumerate(values)]


class Curvature:
    """A symmetric matrix in its own basis. Eigenvalues that are 0 but for rounding are 0."""

    def __init__(self, a):
        self.values, self.q = eigen(a)
        scale = max((abs(v) for v in self.values), default=mpfr(0))
        noise = scale * mpfr(2) ** int(-0.6 * gmpy2.get_context().precision)
        self.values = [mpfr(0) if abs(v) <= noise else v for v in self.values]

    def to_basis(self, m):
        return product(product(transposed(self.q), m), self.q)

    def from_basis(self, m):
        full = product(product(self.q, m), transposed(self.q))
        d = len(full)
        return [[(full[i][j] + full[j][i]) / 2 for j in range(d)] for i in range(d)]

    def solve(self, pull):
        """The point where A x = pull; of all the shortest if A is singular and pull is in its range."""
        z = times(transposed(self.q), pull)
        size = max((abs(x) for x in z), default=mpfr(0))
        out = []
        for l, x in zip(self.values, z):
            if l == 0:
                if abs(x) > size * mpfr(2) ** int(-0.5 * gmpy2.get_context().precision):
                    raise NoDistribution("no minimiser")
                out.append(mpfr(0))
            else:
                out.append(x / l)
        return times(self.q, out)


def decay_integral(l, t):
    """int_0^t e^{-l s} ds."""
    if l == 0:
        if gmpy2.is_infinite(t):
            raise NoDistribution("a flat direction is never at rest")
        return t
    if gmpy2.is_infinite(t):
        if l < 0:
            raise NoDistribution("a direction runs away")
        return 1 / l
    return -gmpy2.expm1(-l * t) / l


def flow(a, pull, sigma, t, start_mean=None, start_covariance=None):
    """dX = -(A X - pull) dt + Sigma^{1/2} dW from a normal start (default the point 0)."""
    a, t, d = Curvature(a), mpfr(t), len(pull)
    z, s = times(transposed(a.q), pull), a.to_basis(sigma)
    mean, cov = [], [[mpfr(0)] * d for _ in range(d)]
    m0 = times(transposed(a.q), start_mean) if start_mean else [mpfr(0)] * d
    v0 = a.to_basis(start_covariance) if start_covariance else [[mpfr(0)] * d for _ in range(d)]
    quiet = max(abs(x) for row in s for x in row) * mpfr(2) ** int(-0.6 * gmpy2.get_context().precision)

    def left(l):
        if gmpy2.is_infinite(t):
            return mpfr(0) if l > 0 else mpfr(1)
        return gmpy2.exp(-l * t)

    size = max((abs(x) for x in z), default=mpfr(0)) * mpfr(2) ** int(-0.5 * gmpy2.get_context().precision)
    for i, l in enumerate(a.values):
        pulled = mpfr(0) if abs(z[i]) <= size else z[i] * decay_integral(l, t)
        mean.append(left(l) * m0[i] + pulled)
        for j, k in enumerate(a.values):
            grown = mpfr(0) if abs(s[i][j]) <= quiet else s[i][j] * decay_integral(l + k, t)
            cov[i][j] = left(l) * left(k) * v0[i][j] + grown
    return times(a.q, mean), a.from_basis(cov)


def chain(a, pull, eta, noise, k, start_mean=None, start_covariance=None):
    """x <- x - eta (A x - pull) + N(0, noise), k times, from a normal start (default the point 0)."""
    a, eta, d = Curvature(a), mpfr(eta), len(pull)
    forever = k == float("inf")
    z, s = times(transposed(a.q), pull), a.to_basis(noise)
    m0 = times(transposed(a.q), start_mean) if start_mean else [mpfr(0)] * d
    v0 = a.to_basis(start_covariance) if start_covariance else [[mpfr(0)] * d for _ in range(d)]
    r = [1 - eta * l for l in a.values]
    quiet = max(abs(x) for row in s for x in row) * mpfr(2) ** int(-0.6 * gmpy2.get_context().precision)
    size = max((abs(x) for x in z), default=mpfr(0)) * mpfr(2) ** int(-0.5 * gmpy2.get_context().precision)

    def power(x):
        if forever:
            if abs(x) >= 1:
                raise NoDistribution("the chain runs away or stays")
            return mpfr(0)
        return x ** int(k)

    def total(gap, x):
        """1 + x + ... + x^(k-1), where gap = 1 - x without cancellation."""
        if gap == 0:
            if forever:
                raise NoDistribution("a direction is never at rest")
            return mpfr(int(k))
        return (1 - power(x)) / gap

    mean, cov = [], [[mpfr(0)] * d for _ in range(d)]
    for i in range(d):
        moved = mpfr(0) if abs(z[i]) <= size else eta * z[i] * total(eta * a.values[i], r[i])
        rest = mpfr(0) if m0[i] == 0 else power(r[i]) * m0[i]
        mean.append(rest + moved)
        for j in range(d):
            gap = eta * (a.values[i] + a.values[j]) - eta * eta * a.values[i] * a.values[j]
            grown = mpfr(0) if abs(s[i][j]) <= quiet else s[i][j] * total(gap, r[i] * r[j])
            cov[i][j] = grown + (mpfr(0) if v0[i][j] == 0 else power(r[i] * r[j]) * v0[i][j])
    return times(a.q, mean), a.from_basis(cov)


def compare(mean_p, cov_p, mean_q, cov_q):
    """The pair of two distributions, either of which may live on a plane."""
    precision = gmpy2.get_context().precision

    def support(cov):
        d = len(cov)
        scale = [gmpy2.sqrt(abs(cov[i][i])) for i in range(d)]
        top = max(scale)
        if top == 0:
            return [], []
        scale = [x if x > 0 else top for x in scale]
        values, q = eigen([[cov[i][j] / (scale[i] * scale[j]) for j in range(d)] for i in range(d)])
        edge = max(abs(v) for v in values) * mpfr(2) ** int(-0.5 * precision)
        if any(
            mpfr(2) ** int(-0.72 * precision) < abs(v) / max(values) < mpfr(2) ** int(-0.4 * precision)
            for v in values
        ):
            raise NoReference("a variance so small that it may be 0")
        full = [[scale[i] * q[i][k] for i in range(d)] for k, v in enumerate(values) if abs(v) > edge]
        return values, full

    _, basis_p = support(cov_p)
    _, basis_q = support(cov_q)
    d = len(mean_p)
    if len(basis_p) == d and len(basis_q) == d:
        return Pair.of_distributions(mean_p, cov_p, mean_q, cov_q)
    if len(basis_p) != len(basis_q):
        return Pair(None, None, singular=True)
    shift = [y - x for x, y in zip(mean_p, mean_q)]
    if not basis_p:
        return Pair([], []) if all(x == 0 for x in shift) else Pair(None, None, singular=True)
    # Orthonormal basis of the plane of P (lengths scaled to 1 first), then both inside it.
    plane = []
    for v in basis_p:
        v = v[:]
        for _ in range(2):
            for u in plane:
                inner = sum(x * y for x, y in zip(u, v))
                v = [x - inner * y for x, y in zip(v, u)]
        length = gmpy2.sqrt(sum(x * x for x in v))
        plane.append([x / length for x in v])

    def outside(v):
        rest = v[:]
        for u in plane:
            inner = sum(x * y for x, y in zip(u, rest))
            rest = [x - inner * y for x, y in zip(rest, u)]
        size = gmpy2.sqrt(sum(x * x for x in v))
        return size > 0 and gmpy2.sqrt(sum(x * x for x in rest)) > size * mpfr(2) ** int(-0.3 * precision)

    if any(outside(v) for v in basis_q) or outside(shift):
        return Pair(None, None, singular=True)

    def inside(cov):
        return product(product(plane, cov), transposed(plane))

    return Pair.of_distributions(times(plane, mean_p), inside(cov_p), times(plane, mean_q), inside(cov_q))
