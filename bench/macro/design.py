#!/usr/bin/python3
"""Minimax noise designs (Spec §9.3, §9.4) against the plain multiplicative update in NumPy, side by side.

The peer is Spec §9.3 (5) as one writes it: eigenvalues, square roots, one pass over the differences, weights times
costs. NumPy's matrix products use as many cores as its BLAS does. Both get the same differences from a file, and
the values must agree within the two gaps before a time is printed. The peer stops at the gap, or after its
iterations; its row then says which gap it had reached.
"""
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

NATIVE = os.environ.get("SFUMATO_DESIGN", "build/bench/macro_design")


def native(form, kind, count, dimension, tolerance):
    command = [NATIVE, form, kind, str(count), str(dimension), str(tolerance)]
    value, gap, iterations, seconds = subprocess.run(command, check=True, capture_output=True,
                                                     text=True).stdout.split()
    return float(value), float(gap), int(iterations), float(seconds)


def plain_full(s, tolerance, most):
    weights = np.full(len(s), 1 / len(s))
    for iteration in range(1, most + 1):
        values, vectors = np.linalg.eigh((s.T * weights) @ s)
        roots = np.sqrt(values)
        costs = ((s @ vectors) ** 2 / roots).sum(axis=1)
        trace = roots.sum()
        if costs.max() <= (1 + tolerance) * trace:
            break
        weights *= costs / trace
    return costs.max() * trace, costs.max() / trace - 1, iteration


def plain_diagonal(s, tolerance, most):
    squares = s ** 2
    weights = np.full(len(s), 1 / len(s))
    for iteration in range(1, most + 1):
        roots = np.sqrt(weights @ squares)
        inverse = np.divide(1, roots, out=np.zeros_like(roots), where=roots > 0)
        costs = squares @ inverse
        trace = roots.sum()
        if costs.max() <= (1 + tolerance) * trace:
            break
        weights *= costs / trace
    return costs.max() * trace, costs.max() / trace - 1, iteration


def differences(kind, count, dimension):
    rng = np.random.default_rng(7)
    s = rng.standard_normal((count, dimension))
    if kind == "scaled":  # coordinates and differences of very different sizes, nine of ten entries zero
        s *= np.exp(1.5 * rng.standard_normal(dimension)) * (rng.random(s.shape) < 0.1)
        s *= np.exp(0.5 * rng.standard_normal(count))[:, None]
    return s


def compare(form, kind, count, dimension, tolerance, most):
    s = differences(kind, count, dimension)
    with tempfile.NamedTemporaryFile(suffix=".raw") as file:
        s.tofile(file.name)
        runs = sorted((native(form, file.name, count, dimension, tolerance) for _ in range(3)), key=lambda r: r[3])
    value, gap, iterations, seconds = runs[1]
    start = time.perf_counter()
    peer, peer_gap, peer_iterations = (plain_full if form == "full" else plain_diagonal)(s, tolerance, most)
    peer_seconds = time.perf_counter() - start
    if not (value / (1 + gap) <= peer * (1 + 1e-9) and peer / (1 + peer_gap) <= value * (1 + 1e-9)):
        sys.exit(f"{form} {kind}: the two disagree: {value} (gap {gap}), NumPy {peer} (gap {peer_gap})")
    title = f"{form} {kind} d={dimension:,} K={count:,}"
    print(f"{title:34}{seconds:9.2f} s{iterations:7}{gap:10.1e}{peer_seconds:10.2f} s{peer_iterations:7}{peer_gap:10.1e}"
          f"{peer_seconds / seconds:7.1f}x")


def main():
    quick = len(sys.argv) > 1 and sys.argv[1] == "quick"
    seconds = sorted(native("average", "normal", 1, 1_000_000, 1)[3] for _ in range(5))[2]
    print(f"closed form, diagonal, d = 1,000,000, K = 1: {seconds:.3f} s")
    print(f"{'minimax':34}{'sfumato':>11}{'evals':>7}{'gap':>10}{'NumPy':>12}{'steps':>7}{'gap':>10}{'':>8}")
    most = 100 if quick else 1000
    compare("diagonal", "normal", 100, 100_000, 1e-4, most)
    compare("diagonal", "scaled", 100, 100_000, 1e-4, most)
    compare("full", "normal", 2_000, 200, 1e-6, most)
    compare("full", "scaled", 2_000, 200, 1e-6, most)
    value, gap, iterations, seconds = native("low_rank", "scaled", 100, 100_000, 1e-6)
    print(f"diagonal plus low rank d=100,000 K=100: {seconds:.2f} s, {iterations} evaluations, gap {gap:.1e}")


if __name__ == "__main__":
    main()
