"""Hockey-stick divergences of one-dimensional normal distributions whose scales differ by up to 60 decades.

  extreme_oracle.py OUT.json [SEED]        the committed file has the default seed

The log ratio is a parabola, so that the optimal set is an interval or its complement and the divergence
a difference of normal tails; 400 digits leave enough of them after the cancellation.
"""

import random
import sys

from mpmath import mp, mpf

import common


def below(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def stick(mean, variance, eps):
    """sup_A P(A) - e^eps Q(A) for P = N(0, 1), Q = N(mean, variance), variance != 1."""
    a = (1 / variance - 1) / 2
    b = -mean / variance
    c = mp.log(variance) / 2 + mean * mean / (2 * variance) - eps
    discriminant = b * b - 4 * a * c
    scale = mp.sqrt(variance)
    if discriminant <= 0:
        return 1 - mp.exp(eps) if a > 0 else mpf(0)
    ends = sorted((-b + side * mp.sqrt(discriminant)) / (2 * a) for side in (-1, 1))
    q = [(end - mean) / scale for end in ends]
    if a > 0:
        return below(ends[0]) + below(-ends[1]) - mp.exp(eps) * (below(q[0]) + below(-q[1]))
    return below(ends[1]) - below(ends[0]) - mp.exp(eps) * (below(q[1]) - below(q[0]))


def main(path, seed=9):
    mp.dps = 400
    out = common.GoldenFile(
        "Normal distributions of very different scale",
        f"tools/oracles/run (extreme_oracle.py, seed {seed})", {},
        ["p is the first distribution and q the second: delta_pq = sup_A p(A) - e^eps q(A)"])
    rng = random.Random(seed)
    while len(out.cases) < 150:
        exponent = rng.uniform(3, 60)
        variance = 10.0 ** (exponent if len(out.cases) % 2 else -exponent)
        mean = 10.0 ** rng.uniform(-3, 6)
        eps = rng.choice([0.0, 0.5, 1.0, 5.0])
        forward = stick(mpf(mean), mpf(variance), mpf(eps))
        reverse = stick(-mpf(mean) / mp.sqrt(mpf(variance)), 1 / mpf(variance), mpf(eps))
        if min(forward, reverse) < mpf(10) ** -290:
            continue  # below what a double holds
        inputs = {"mean_p": [0.0], "cov_p": [[1.0]], "mean_q": [mean], "cov_q": [[variance]],
                  "eps": eps}
        out.add("3", "gaussian_hockey_stick", inputs, {"delta_pq": forward, "delta_qp": reverse},
                1e-9)
    out.write(path)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
