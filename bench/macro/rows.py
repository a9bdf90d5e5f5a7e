#!/usr/bin/python3
"""`sfumato rows` against a straightforward NumPy loop, interleaved in one run.

The NumPy peer does for each row what one would write first: subtract the row from the sums, solve for the
minimiser, invert for the covariance, KL both ways by the textbook formula, and total variation, delta(1) both
ways by the closed form for the one direction in which the distributions differ (scipy.stats.norm on the interval where
the log ratio exceeds eps), eps(1e-5) both ways by 60 bisections of it. Times are medians; the first rows of
both are compared before anything is timed.

For `--model logistic` the peer refits the table without the row by Newton's method from the minimiser with it, and
evaluates the same bounds (Spec §7.4 in the long run, both ways, and mu of §6.4): ours may exceed it by the certified
error of the minimisers, and must not be below it.
"""
import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy.special import ndtr

SFUMATO = os.environ.get("SFUMATO", "build/bin/sfumato")
NOISE, RIDGE, FEATURES = 1.0, 1.0, 20


def make_table(path, rows, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, FEATURES)) * rng.uniform(0.5, 2.0, FEATURES)
    y = x @ rng.standard_normal(FEATURES) + rng.standard_normal(rows)
    names = [f"x{i}" for i in range(FEATURES)] + ["y"]
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", header=",".join(names), comments="",
               fmt="%.6g")


def delta(c, lam, eps):
    """Hockey-stick of N(0,1) against N(c,lam), lam != 1, by the roots of the quadratic log ratio."""
    a, b = (1 / lam - 1) / 2, -c / lam
    k = 0.5 * np.log(lam) + c * c / (2 * lam) - eps
    disc = b * b - 4 * a * k
    if disc <= 0:
        return 0.0 if a < 0 else -np.expm1(eps)
    r = np.sort([(-b - np.sqrt(disc)) / (2 * a), (-b + np.sqrt(disc)) / (2 * a)])
    p = ndtr(r[1]) - ndtr(r[0])
    q = ndtr((r[1] - c) / np.sqrt(lam)) - ndtr((r[0] - c) / np.sqrt(lam))
    return p - np.exp(eps) * q if a < 0 else (1 - p) - np.exp(eps) * (1 - q)


def epsilon(c, lam, target):
    low, high = 0.0, 50.0
    if delta(c, lam, 0.0) <= target:
        return 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if delta(c, lam, middle) > target else (low, middle)
    return high


def numpy_loop(x, y, count):
    """KL both ways, TV, delta(1) both ways, eps(1e-5) both ways for the first `count` rows."""
    p = x.shape[1]
    gram, moment = x.T @ x, x.T @ y
    a = gram + RIDGE * np.eye(p)
    m, v = np.linalg.solve(a, moment), 0.5 * NOISE * np.linalg.inv(a)
    v_inverse = np.linalg.inv(v)
    result = []
    for i in range(count):
        a2 = a - np.outer(x[i], x[i])
        m2 = np.linalg.solve(a2, moment - y[i] * x[i])
        v2 = 0.5 * NOISE * np.linalg.inv(a2)
        v2_inverse = np.linalg.inv(v2)
        gap = m2 - m
        log_ratio = np.linalg.slogdet(v2)[1] - np.linalg.slogdet(v)[1]
        forward = 0.5 * (log_ratio - p + np.trace(v2_inverse @ v) + gap @ v2_inverse @ gap)
        reverse = 0.5 * (-log_ratio - p + np.trace(v_inverse @ v2) + gap @ v_inverse @ gap)
        lam, c = np.exp(log_ratio), np.sqrt(gap @ v_inverse @ gap)
        back = (c / np.sqrt(lam), 1 / lam)
        result.append((forward, reverse, delta(c, lam, 0.0), delta(c, lam, 1.0), delta(*back, 1.0),
                       epsilon(c, lam, 1e-5), epsilon(*back, 1e-5)))
    return np.array(result)


def make_labels(path, rows, seed=3):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, FEATURES)) * rng.uniform(0.5, 2.0, FEATURES)
    p = 1 / (1 + np.exp(-x @ rng.standard_normal(FEATURES) / 3))
    names = [f"x{i}" for i in range(FEATURES)] + ["y"]
    np.savetxt(path, np.column_stack([x, rng.uniform(size=rows) < p]), delimiter=",",
               header=",".join(names), comments="", fmt="%.6g")


def newton(x, y, w, ridge, steps):
    for _ in range(steps):
        p = 1 / (1 + np.exp(-x @ w))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + ridge * np.eye(len(w))
        w = w - np.linalg.solve(hessian, x.T @ (p - y) + ridge * w)
    return w


def logistic_loop(x, y, count, ridge, noise):
    """KL both ways and mu for the first `count` rows."""
    w = newton(x, y, np.zeros(x.shape[1]), ridge, 12)
    spread = np.sqrt(x.shape[1] * noise / (2 * ridge))
    result = []
    for i in range(count):
        keep = np.arange(len(y)) != i
        w2 = newton(x[keep], y[keep], w, ridge, 2)
        norm = np.linalg.norm(x[i])
        pull = norm * abs(1 / (1 + np.exp(-x[i] @ w)) - y[i])
        lipschitz = 0.25 * norm * norm
        back = pull + lipschitz * np.linalg.norm(w - w2)
        mu = norm * np.sqrt(2 / (ridge * noise))
        result.append([min((lipschitz * spread + g) ** 2 / (ridge * noise), mu * mu / 2)
                       for g in (pull, back)] + [mu])
    return np.array(result)


def logistic(path, out, *extra):
    extra = extra or ("--training", "flow")
    command = [SFUMATO, "rows", path, "--target", "y", "--model", "logistic", "--adjacency", "remove",
               "--loss", "sum", "--ridge", "10", "--noise", "0.01", "--no-intercept", "--top", "1",
               "--check", "0", "--out", out, *extra]
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def bench_logistic(folder, repeats):
    out, table = os.path.join(folder, "out.csv"), os.path.join(folder, "labels.csv")
    rows, sample = 10_000, 10
    make_labels(table, rows)
    data = np.loadtxt(table, delimiter=",", skiprows=1)
    x, y = data[:, :-1], data[:, -1]
    logistic(table, out)
    with open(out, newline="", encoding="utf-8") as stream:
        listed = [row for _, row in zip(range(sample), csv.DictReader(stream))]
    ours = np.array([[float(row[key]) for key in ("kl_forward", "kl_reverse", "mu")] for row in listed])
    ratio = ours / logistic_loop(x, y, sample, 10.0, 0.01)
    if ratio.min() < 1 - 1e-9 or ratio.max() > 1.001:
        sys.exit(f"the two disagree: ratios {ratio.min()} to {ratio.max()}")
    cases = (("long run", ["--training", "flow"]), ("time 0.01", ["--time", "0.01"]),
             ("1,000 steps", ["--learning-rate", "1e-4", "--steps", "1000"]),
             ("1,000,000 steps", ["--learning-rate", "1e-4", "--steps", "1000000"]),
             ("release of the minimiser", ["--release"]))
    peer, times = [], {label: [] for label, _ in cases}
    for _ in range(repeats):
        start = time.perf_counter()
        logistic_loop(x, y, sample, 10.0, 0.01)
        peer.append((time.perf_counter() - start) / sample)
        for label, extra in cases:
            times[label].append(logistic(table, out, *extra))
    base = statistics.median(peer)
    print(f"rows --model logistic, {rows:,} rows, {FEATURES} features (median of {repeats})")
    print(f"{'NumPy loop (from ' + str(sample) + ' rows)':44}{'':9}{1e6 * base:9.1f}{'1':>15}")
    for label, values in times.items():
        each = statistics.median(values) / rows
        print(f"{label:44}{each * rows:9.2f}{1e6 * each:9.1f}{base / each:14.1f}x")


def sfumato(path, out, *extra, noise=NOISE):
    extra = extra or ("--training", "flow")
    command = [SFUMATO, "rows", path, "--target", "y", "--adjacency", "remove", "--loss", "sum",
               "--ridge", str(RIDGE), "--noise", str(noise), "--no-intercept", "--top", "1",
               "--out", out, *extra]
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def read(path, count):
    keys = ["kl_forward", "kl_reverse", "advantage", "delta_forward_at_1", "delta_reverse_at_1",
            "epsilon_forward", "epsilon_reverse"]
    with open(path, newline="", encoding="utf-8") as stream:
        rows = [row for _, row in zip(range(count), csv.DictReader(stream))]
    return np.array([[float(row[key]) for key in keys] for row in rows])


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.csv")
        tables = {}
        for rows in (10_000, 30_000, 100_000):
            tables[rows] = os.path.join(folder, f"{rows}.csv")
            make_table(tables[rows], rows)
        noise = os.path.join(folder, "noise.npy")
        root = np.random.default_rng(2).standard_normal((FEATURES, FEATURES)) / 10
        np.save(noise, np.eye(FEATURES) + root @ root.T)

        sample = 300
        data = np.loadtxt(tables[10_000], delimiter=",", skiprows=1)
        x, y = data[:, :-1], data[:, -1]
        sfumato(tables[10_000], out)
        ours, theirs = read(out, sample), numpy_loop(x, y, sample)
        # The peer's formulas cancel (tr(V'^-1 V) - p, differences of tail probabilities): absolute
        # agreement is what can be asked of them.
        worst = np.max(np.abs(ours - theirs)[:, :5])
        if worst > 1e-8 or np.max(np.abs(ours - theirs)[:, 5:] / ours[:, 5:]) > 1e-3:
            sys.exit(f"the two disagree: {worst}")

        times = {key: [] for key in ("peer", 10_000, 30_000, 100_000, "time", "noise", "chain")}
        for _ in range(repeats):
            start = time.perf_counter()
            numpy_loop(x, y, sample)
            times["peer"].append((time.perf_counter() - start) / sample)
            for rows, path in tables.items():
                times[rows].append(sfumato(path, out))
            times["time"].append(sfumato(tables[10_000], out, "--time", "0.001"))
            times["noise"].append(sfumato(tables[10_000], out, noise=noise))
            times["chain"].append(
                sfumato(tables[10_000], out, "--learning-rate", "1e-5", "--steps", "1000"))
        median = {key: statistics.median(values) for key, values in times.items()}
        peer = median["peer"]
        print(f"rows, {FEATURES} features, all outputs, whole command with reading and writing (median of {repeats})")
        print(f"{'':44}{'seconds':>9}{'us/row':>9}{'vs NumPy loop':>15}")
        print(f"{'NumPy loop (one core, from ' + str(sample) + ' rows)':44}{'':9}{1e6 * peer:9.1f}{'1':>15}")
        for label, key, rows in (("stationary, isotropic, 10,000 rows", 10_000, 10_000),
                                 ("stationary, isotropic, 30,000 rows", 30_000, 30_000),
                                 ("stationary, isotropic, 100,000 rows", 100_000, 100_000),
                                 ("time 0.001, isotropic, 10,000 rows", "time", 10_000),
                                 ("stationary, dense noise, 10,000 rows", "noise", 10_000),
                                 ("1,000 steps, isotropic, 10,000 rows", "chain", 10_000)):
            each = median[key] / rows
            print(f"{label:44}{median[key]:9.2f}{1e6 * each:9.1f}{peer / each:14.1f}x")
        bench_logistic(folder, repeats)


if __name__ == "__main__":
    main()
