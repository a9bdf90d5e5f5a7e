#!/usr/bin/python3
"""The Python package beside C++ and NumPy: what a call costs, and whether large questions take longer from Python.

Each question is asked in C++ (build/bench/macro_ask, in a process of its own, from files) and in Python (from arrays in memory, which the
package hands over, and from the same files), in turn; medians of the seconds, with the ratios. What both answer is compared first. A drift that is a
Python function is set beside NumPy calling the same function on as many points as often, and nothing else.

  bench/macro/python.py [--repetitions 9]        needs build/python (make wheel) and build/bench/macro_ask
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "build" / "python"))
import sfumato  # noqa: E402

ASK = ROOT / "build" / "bench" / "macro_ask"


def run(*words):
    return subprocess.run([ASK, *map(str, words)], capture_output=True, text=True, check=True, cwd=ROOT).stdout.split()


def timed(work):
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


def per_call(work, count, repetitions):
    """Microseconds of the processor."""
    best = []
    for _ in range(repetitions):
        begun = time.process_time()
        for _ in range(count):
            work()
        best.append((time.process_time() - begun) / count)
    return 1e6 * min(best)


def scalars(repetitions):
    print("one call, us of the processor                 Python        C++        overhead")
    accountant = sfumato.Accountant()
    claimed = sfumato.Claimed(1.0)
    empty = per_call(lambda: None, 10000, repetitions)
    for name, work in (("Accountant.step(1.0, 0.01)", lambda: accountant.step(1.0, 0.01)),
                       ("Claimed.value", lambda: claimed.value), ("float(Claimed)", lambda: float(claimed))):
        took = per_call(work, 10000, repetitions) - empty
        print(f"{name:42}  {took:10.2f}          -      {took:10.2f}")
    for noise, rate, steps, delta, count in ((2.0, 1.0, 1, 1e-5, 3000), (1.0, 1.0, 100, 1e-5, 3000), (1.0, 0.01, 1000, 1e-5, 300)):
        theirs, ours = [], []
        for _ in range(repetitions):
            words = run("epsilon", noise, rate, steps, delta, count)
            theirs.append(1e6 * float(words[1]))
            ours.append(per_call(lambda: sfumato.epsilon(noise, sample_rate=rate, steps=steps, delta=delta), count, 1) - empty)
        assert abs(float(words[2]) / sfumato.epsilon(noise, sample_rate=rate, steps=steps, delta=delta).value - 1) < 1e-12
        print(f"epsilon({noise}, sample_rate={rate}, steps={steps})".ljust(42)
              + f"  {min(ours):10.2f} {min(theirs):10.2f}      {min(ours) - min(theirs):10.2f}")


def questions(folder, repetitions):
    """(name, question, TOML, from arrays, from files, what both must agree in)"""
    rng = np.random.default_rng(1)
    scores = rng.normal(1, 1, 1_000_000), rng.normal(0, 1, 1_000_000)
    for name, values in zip(("in", "out"), scores):
        np.save(folder / f"{name}.npy", values)
    keys = dict(claim=(1, 1e-5), unit="models")
    yield ("audit of 2 x 10^6 scores", "audit",
           f'members = "{folder}/in.npy"\nnonmembers = "{folder}/out.npy"\nunit = "models"\nclaim = "eps=1.0,delta=1e-05"',
           lambda: sfumato.audit(*scores, **keys), lambda: sfumato.audit(folder / "in.npy", folder / "out.npy", **keys))

    def table(rows, columns):
        x = rng.standard_normal((rows, columns)).clip(-4, 4)
        y = x @ rng.standard_normal(columns) / columns**0.5 + rng.standard_normal(rows)
        names = [f"x{i}" for i in range(columns)] + ["y"]
        np.savetxt(folder / f"table{rows}.csv", np.column_stack([x, y]), delimiter=",", header=",".join(names), comments="", fmt="%.17g")
        return {name: column for name, column in zip(names, np.column_stack([x, y]).T)}, folder / f"table{rows}.csv"

    columns, path = table(20_000, 20)
    yield ("rows, 20,000 x 20", "rows", f'table = "{path}"\ntarget = "y"\nadjacency = "remove"\nloss = "sum"\nridge = 1\nnoise = 1.0',
           lambda: sfumato.rows(columns, "y", ridge=1, noise=1.0), lambda: sfumato.rows(path, "y", ridge=1, noise=1.0))
    differences = rng.standard_normal((300, 60)) * np.geomspace(1, 0.01, 60)
    np.save(folder / "differences.npy", differences)
    keys = dict(differences_are="public", form="full", trace=1.0)
    yield ("design, 300 x 60, full", "design",
           f'differences = "{folder}/differences.npy"\ndifferences_are = "public"\nform = "full"\ntrace = 1.0',
           lambda: sfumato.design(differences, **keys), lambda: sfumato.design(folder / "differences.npy", **keys))
    big, big_path = table(100_000, 50)
    bounds = folder / "bounds.csv"
    lines = ["column,kind,low,high,levels,source"] + [f"x{i},numeric,-4,4,,made" for i in range(50)]
    bounds.write_text("\n".join([*lines, "y,target,-10,10,,made", "(records),,,100000,,made", "(adjacency),,,,add_remove,made"]) + "\n")
    keys = dict(model="ridge", bounds=bounds, target_epsilon=1.0, target_delta=1e-6, seed=1)
    yield ("fit, 100,000 x 50", "fit",
           f'table = "{big_path}"\nmodel = "ridge"\ntarget = "y"\nbounds = "{bounds}"\ntarget_epsilon = 1.0\ntarget_delta = 1e-6\nseed = 1',
           lambda: sfumato.fit(big, "y", **keys), lambda: sfumato.fit(big_path, "y", **keys))


def large(repetitions):
    print("\nseconds (of the processor)        C++ from files    Python from arrays   ratio    Python from files   ratio")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for title, question, toml, from_arrays, from_files in questions(folder, repetitions):
            problem = folder / f"{question}.toml"
            problem.write_text(toml + "\n")
            assert from_arrays().to_dict()["results"] == from_files().to_dict()["results"], title
            theirs, arrays, files = [], [], []
            for _ in range(repetitions):
                words = run(question, problem, 1)
                theirs.append((float(words[0]), float(words[1])))
                arrays.append(timed(from_arrays))
                files.append(timed(from_files))
            medians = [[statistics.median(times[i] for times in side) for i in (0, 1)] for side in (theirs, arrays, files)]
            (wall, cpu), (wall_a, cpu_a), (wall_f, cpu_f) = medians
            print(f"{title:30}  {wall:7.3f} ({cpu:7.3f})   {wall_a:7.3f} ({cpu_a:7.3f})  {cpu_a / cpu:6.3f}   "
                  f"{wall_f:7.3f} ({cpu_f:7.3f})  {cpu_f / cpu:6.3f}")


def drifts(repetitions):
    print("\nprocessor seconds of a bound by simulation    drifts in Python    NumPy alone    ratio    as formulas")
    def drift(x):
        return x - x**3

    def drift2(x):
        return x - x**3 + 0.1 * np.cos(x)

    def counted(function, calls):
        def count(x):
            calls[x.shape] = calls.get(x.shape, 0) + 1
            return function(x)
        return count

    for paths in (5_000, 20_000):
        keys = dict(times=[1.0], paths=paths, step=0.01, seed=1, fokker_planck=False)
        calls, calls2 = {}, {}
        sfumato.bound(counted(drift, calls), counted(drift2, calls2), 0.5, **keys)
        points = {shape: np.asfortranarray(np.random.default_rng(0).normal(size=shape)) for shape in {**calls, **calls2}}

        def alone():
            for function, times in ((drift, calls), (drift2, calls2)):
                for shape, count in times.items():
                    for _ in range(count):
                        function(points[shape])

        ours, numpy, formulas = [], [], []
        for _ in range(repetitions):
            ours.append(timed(lambda: sfumato.bound(drift, drift2, 0.5, **keys))[1])
            numpy.append(timed(alone)[1])
            formulas.append(timed(lambda: sfumato.bound("x - x^3", "x - x^3 + 0.1 * cos(x)", 0.5, **keys))[1])
        a, b, c = (statistics.median(times) for times in (ours, numpy, formulas))
        print(f"{paths} paths, {sum(calls.values()) + sum(calls2.values())} calls of {max(calls)[0]} points".ljust(46) + f"{a:13.3f} {b:14.3f} {a / b:8.2f} {c:14.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repetitions", type=int, default=9)
    repetitions = parser.parse_args().repetitions
    scalars(repetitions)
    large(repetitions)
    drifts(repetitions)


if __name__ == "__main__":
    main()
