#!/usr/bin/python3
"""Fokker-Planck pairs against SciPy's sparse expm_multiply on the same generator, interleaved in one run.

Ours is the whole pair: three grids and step sizes, both distributions, the entropies and bounds of every step, extrapolated.
The peer assembles the same finite-volume generator on the finest grid only and applies its exponential to both starts:
one KL at the last time, no time integrals; where it takes minutes it runs once. Its result keeps the grid's
second-order error, so the two are compared after extrapolating the peer over two grids, before anything is timed.
Times are medians.
"""
import json
import math
import os
import statistics
import subprocess
import sys
import time

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import expm_multiply

BINARY = os.environ.get("FOKKER_PLANCK_PAIR", "build/bench/macro_fokker_planck_pair")


def jump_matrix(h, variance, width):
    """Generator along one line from h and Sigma at its faces: columns sum to zero."""
    w = 2 * h * width / variance
    small = np.abs(w) < 1e-5
    safe = np.where(small, 1.0, w)
    b = np.where(small, 1 - w / 2 + w * w / 12, safe / np.expm1(safe))
    scale = variance / (2 * width * width)
    up, down = scale * (b + w), scale * b
    diagonal = np.zeros(len(h) + 1)
    diagonal[:-1] -= up
    diagonal[1:] -= down
    return sparse.diags([up, diagonal, down], [-1, 0, 1], format="csr")


def line_generator(cells, shift, slope):
    width = 8 / cells
    faces = -4 + width * np.arange(1, cells)
    return jump_matrix(faces - faces**3 + shift + slope * faces, np.full(cells - 1, 0.64), width)


def plane_generator(cells, tilt_x, tilt_y):
    width = 6 / cells
    centres = -3 + width * (np.arange(cells) + 0.5)
    faces = -3 + width * np.arange(1, cells)
    noise = np.full(cells - 1, 0.5)
    along_x = [jump_matrix(faces - faces**3 + (y - faces / 2) + tilt_x, noise, width) for y in centres]
    along_y = [jump_matrix(-2 * (faces - x / 2) + tilt_y, noise, width) for x in centres]
    # Cell (i, j) is entry i * cells + j.
    swap = np.arange(cells * cells).reshape(cells, cells).T.ravel()
    x_part = sparse.block_diag(along_x, format="csr")[swap][:, swap]
    return (x_part + sparse.block_diag(along_y, format="csr")).tocsr()


def normal(x, mean):
    return np.exp(-(x - mean) ** 2 / 0.4) / math.sqrt(0.4 * math.pi)


def peer(kind, cells, end):
    if kind == "1d":
        volume = 8 / cells
        start = normal(-4 + volume * (np.arange(cells) + 0.5), 0.3)
        p, q = line_generator(cells, 0, 0), line_generator(cells, 0.2, 0.1)
    else:
        width = 6 / cells
        centres = -3 + width * (np.arange(cells) + 0.5)
        volume = width * width
        start = np.outer(normal(centres, 0.3), normal(centres, 0.0)).ravel()
        p, q = plane_generator(cells, 0, 0), plane_generator(cells, 0.2, 0.1)
    start = start / (start.sum() * volume)
    p, q = expm_multiply(p * end, start), expm_multiply(q * end, start)
    keep = (p > 1e-250) & (q > 1e-250)
    return float(np.sum(p[keep] * np.log(p[keep] / q[keep])) * volume)


def timed_peer(kind, cells, end):
    begin = time.perf_counter()
    peer(kind, cells, end)
    return time.perf_counter() - begin


def ours(kind, cells, end, threads=2):
    out = subprocess.run([BINARY, kind, str(cells), str(end), str(threads)], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out)


def check():
    for kind, cells, end, tolerance in (("1d", 400, 1, 3e-6), ("2d", 80, 1, 3e-3)):
        theirs = (4 * peer(kind, cells, end) - peer(kind, cells // 2, end)) / 3
        found = ours(kind, cells, end)["kl"]
        if abs(found / theirs - 1) > tolerance:
            sys.exit(f"the two disagree on {kind}: {found} and {theirs}")


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    check()
    cases = (("1d", 500, 10), ("1d", 1000, 10), ("1d", 2000, 10), ("1d", 4000, 10),
             ("2d", 100, 1), ("2d", 200, 1), ("2d", 400, 1))
    once = {("1d", 2000, 10)}  # minutes each
    peers = {("1d", 500, 10), ("1d", 1000, 10), ("2d", 100, 1), ("2d", 200, 1)} | once
    times = {case: [] for case in cases}
    theirs = {case: [] for case in peers}
    numbers = {}
    for _ in range(repeats):
        for case in cases:
            numbers[case] = ours(*case)
            times[case].append(numbers[case]["seconds"])
            if case in peers and not (case in once and theirs[case]):
                theirs[case].append(timed_peer(*case))
    print(f"Fokker-Planck double wells, whole pair with bounds (median of {repeats}); expm_multiply: one KL, one grid")
    print(f"{'':28}{'seconds':>9}{'KL':>14}{'+-':>9}{'exponent':>10}{'expm_multiply':>15}{'ratio':>8}")
    before = None
    for case in cases:
        kind, cells, end = case
        seconds = statistics.median(times[case])
        size = cells if kind == "1d" else cells * cells
        exponent = ""
        if before and before[0] == kind:
            exponent = f"{math.log(seconds / before[2]) / math.log(size / before[1]):.2f}"
        before = (kind, size, seconds)
        peer_text = ratio = ""
        if case in peers:
            peer_seconds = statistics.median(theirs[case])
            peer_text, ratio = f"{peer_seconds:.2f}", f"{peer_seconds / seconds:.0f}x"
        label = f"{kind}, {cells} cells/axis, t = {end}"
        print(f"{label:28}{seconds:9.3f}{numbers[case]['kl']:14.9f}{numbers[case]['kl_error']:9.0e}{exponent:>10}"
              f"{peer_text:>15}{ratio:>8}")


if __name__ == "__main__":
    main()
