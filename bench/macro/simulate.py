#!/usr/bin/python3
"""Euler-Maruyama path-bound estimation (Spec §12.1) against NumPy, interleaved in one run.

1e5 paths x 1,000 steps of the double well and of a pair of 10-D Ornstein-Uhlenbeck processes, on the same cores.
Two NumPy peers, both vectorised over paths: `plain`, the formulas as one writes them, on all paths at once, and
`tuned`, in blocks that fit the cache and with preallocated arrays (and, for the double well, with the difference
of the drifts simplified by hand). NumPy uses one core for this; `2 tuned` are two processes with half of the paths
each. Answers are compared before anything is timed. NumPy does a part of the steps, its time is scaled up.
Medians, wall-clock and, for a machine that others use too, processor time: there the ratio is NumPy's over half of
ours, what two idle cores would give.

The roofline is the time of the normals at 600 million per second and core (and at the rate measured here), plus
the time of the floating-point operations at the unfused vector rate measured here. Operations of one step of one
path, d coordinates: double well 6 (drift) + 6 (other drift) + 4 (difference, square, weight, sum) + 4 (step);
OU 2 d^2 for each drift, then 4 d + 4 d.
"""
import multiprocessing
import os
import subprocess
import sys
import time

import numpy as np

NATIVE = os.environ.get("SFUMATO_SIMULATE", "build/bench/macro_simulate")
PATHS, STEPS, BLOCK = 100_000, 1_000, {1: 10_000, 10: 2_000}
CORES = 2


def native(what, paths=PATHS, steps=STEPS, threads=CORES):
    command = [NATIVE, what, str(paths), str(steps), str(threads)]
    return [float(x) for x in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()]


def plain_double_well(paths, steps, taken, seed):
    """Sum and sum of squares of I over the paths, after `taken` of the `steps` steps to time 1."""
    rng = np.random.default_rng(seed)
    h, variance = 1.0 / steps, 0.64

    def drift(x):
        return x - x * x * x

    def other_drift(x):
        return x - x * x * x + 0.2 + 0.1 * x

    x = 0.3 + np.sqrt(0.2) * rng.standard_normal(paths)
    integral = np.zeros(paths)
    for _ in range(taken):
        b = drift(x)
        integral += 0.5 * h * (b - other_drift(x)) ** 2 / variance
        x = x + h * b + np.sqrt(h * variance) * rng.standard_normal(paths)
    return integral.sum(), (integral ** 2).sum()


def ou_pair():
    i = np.arange(10)
    a = 1.5 * np.eye(10) + 0.3 * np.cos(i[:, None] + i[None, :])
    return a, np.sin(i), a + 0.1 * np.eye(10), 1.1 * np.sin(i)


def plain_ou(paths, steps, taken, seed):
    rng = np.random.default_rng(seed)
    a, pull, a2, pull2 = ou_pair()
    h = 1.0 / steps
    x = np.sqrt(0.2) * rng.standard_normal((paths, 10))
    integral = np.zeros(paths)
    for _ in range(taken):
        b = pull - x @ a.T
        integral += 0.5 * h * ((b - (pull2 - x @ a2.T)) ** 2).sum(axis=1)
        x = x + h * b + np.sqrt(h) * rng.standard_normal(x.shape)
    return integral.sum(), (integral ** 2).sum()


def tuned_double_well(paths, steps, taken, seed):
    rng = np.random.default_rng(seed)
    h, total, squares = 1.0 / steps, 0.0, 0.0
    for first in range(0, paths, BLOCK[1]):
        n = min(BLOCK[1], paths - first)
        x = 0.3 + np.sqrt(0.2) * rng.standard_normal(n)
        integral, z, b, c = np.zeros(n), np.empty(n), np.empty(n), np.empty(n)
        for _ in range(taken):
            np.multiply(x, x, out=b)
            np.subtract(1.0, b, out=b)
            np.multiply(x, b, out=b)             # x - x^3
            np.multiply(x, 0.1, out=c)
            np.add(c, 0.2, out=c)                # b' - b: better than what one would write first
            np.multiply(c, c, out=c)
            np.multiply(c, 0.5 * h / 0.64, out=c)
            np.add(integral, c, out=integral)
            rng.standard_normal(out=z)
            np.multiply(z, 0.8 * np.sqrt(h), out=z)
            np.multiply(b, h, out=b)
            np.add(x, b, out=x)
            np.add(x, z, out=x)
        total, squares = total + integral.sum(), squares + (integral ** 2).sum()
    return total, squares


def tuned_ou(paths, steps, taken, seed):
    rng = np.random.default_rng(seed)
    d = 10
    a, pull, a2, pull2 = ou_pair()
    h, total, squares = 1.0 / steps, 0.0, 0.0
    for first in range(0, paths, BLOCK[10]):
        n = min(BLOCK[10], paths - first)
        x = np.sqrt(0.2) * rng.standard_normal((n, d))
        integral = np.zeros(n)
        z, b, c = np.empty((n, d)), np.empty((n, d)), np.empty((n, d))
        for _ in range(taken):
            np.matmul(x, a, out=b)               # a is symmetric
            np.subtract(pull, b, out=b)
            np.matmul(x, a2, out=c)
            np.subtract(pull2, c, out=c)
            np.subtract(b, c, out=c)
            integral += 0.5 * h * np.einsum("ij,ij->i", c, c)
            rng.standard_normal(out=z)
            np.multiply(z, np.sqrt(h), out=z)
            np.multiply(b, h, out=b)
            np.add(x, b, out=x)
            np.add(x, z, out=x)
        total, squares = total + integral.sum(), squares + (integral ** 2).sum()
    return total, squares


PEERS = {("plain", "double_well"): plain_double_well, ("tuned", "double_well"): tuned_double_well,
         ("plain", "ou"): plain_ou, ("tuned", "ou"): tuned_ou}
DIMENSION = {"double_well": 1, "ou": 10}
OPERATIONS = {"double_well": 20, "ou": 2 * 200 + 4 * 10 + 4 * 10}


def timed(peer, *work):
    start, busy = time.perf_counter(), time.process_time()
    PEERS[peer](*work)
    return time.perf_counter() - start, time.process_time() - busy


def timed_peer(peer, taken, processes=1):
    """Wall-clock and processor seconds for all steps, from `taken` of them."""
    work = [(peer, PATHS // processes, STEPS, taken, seed) for seed in range(processes)]
    if processes == 1:
        wall, busy = timed(*work[0])
    else:
        with multiprocessing.Pool(processes) as pool:
            pool.starmap(timed, [(peer, 100, STEPS, 1, 0)] * processes)  # the workers are up
            start = time.perf_counter()
            busy = sum(times[1] for times in pool.starmap(timed, work, chunksize=1))
            wall = time.perf_counter() - start
    return wall * STEPS / taken, busy * STEPS / taken


def check(what):
    paths, steps = 20_000, 50
    ours, our_error, _, _ = native(what, 10 * paths, steps)
    for kind in ("plain", "tuned"):
        total, squares = PEERS[kind, what](paths, steps, steps, 7)
        mean = total / paths
        error = np.sqrt((squares / paths - mean ** 2) / paths)
        if abs(ours - mean) > 5 * np.hypot(error, our_error):
            sys.exit(f"{what}: the two disagree: {ours} +- {our_error}, {kind} NumPy {mean} +- {error}")


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    taken = {"double_well": 100, "ou": 20}
    normals, flops = native("normals")[0], native("flops")[0]
    print(f"path-bound estimation, {PATHS:,} paths x {STEPS:,} steps, {CORES} cores (median of {repeats})")
    print(f"one core here: {normals:.0f} million float normals/s, {flops:.1f} GFLOP/s unfused")
    for what in DIMENSION:
        check(what)
        times = {"plain": [], "tuned": [], "2 tuned": [], "sfumato": []}
        for _ in range(repeats):
            times["plain"].append(timed_peer(("plain", what), taken[what]))
            times["sfumato"].append(native(what)[2:])
            times["tuned"].append(timed_peer(("tuned", what), taken[what]))
            times["2 tuned"].append(timed_peer(("tuned", what), taken[what], CORES))
            times["sfumato"].append(native(what)[2:])
        median = {key: np.median(np.array(values), axis=0) for key, values in times.items()}
        work = PATHS * STEPS / CORES
        arithmetic = work * OPERATIONS[what] / (flops * 1e9)
        wall, busy = median["sfumato"][0], median["sfumato"][1] / CORES
        print(f"{what:16}{'seconds':>9}{'ratio':>8}{'processor':>12}{'ratio':>8}")
        for key, (seconds, processor) in median.items():
            cores = 1 if key in ("plain", "tuned") else CORES
            print(f"  {key:14}{seconds:9.3f}{seconds / wall:7.1f}x{processor:12.3f}{processor / cores / busy:7.1f}x")
        for label, rate in (("roofline", 600e6), ("own normals", normals * 1e6)):
            bound = work * DIMENSION[what] / rate + arithmetic
            print(f"  {label:14}{bound:9.3f}{bound / wall:7.2f}x{CORES * bound:12.3f}{bound / busy:7.2f}x")


if __name__ == "__main__":
    main()
