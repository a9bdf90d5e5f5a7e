#!/usr/bin/python3
"""Test accuracy at equal certified privacy: `sfumato train --private` with each metric, over seeds.

  bench/macro/equal_privacy.py STUDY.toml [--epsilon 1,3,8] [--seeds 10] [--set KEY=VALUE ...]

Prints a line for each epsilon: mean, standard deviation and a 95 % interval of the mean (normal). Settings are those of the study; nothing
is tuned here. Seeds make runs repeatable: these are experiments, not releases.
"""
import argparse
import json
import os
import statistics
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ.get("SFUMATO", os.path.join(HERE, "../../build/bin/sfumato"))


def accuracy(study, epsilon, seed, options):
    command = [PROGRAM, "train", study, "--private", "--target-epsilon", str(epsilon), "--seed", str(seed), "--json"] + options
    out = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    found = {result["quantity"]: result["value"] for result in out["results"]}
    return found["test_accuracy"], found["noise_multiplier"], found["seconds"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("study")
    parser.add_argument("--epsilon", default="1,3,8")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--option", action="append", default=[], help="of sfumato train, as in --option=--metric-share=0.2")
    options = parser.parse_args()
    extra = [word for setting in options.set for word in ("--set", setting)] + options.option
    for epsilon in options.epsilon.split(","):
        runs = [accuracy(options.study, epsilon, seed, extra) for seed in range(options.seeds)]
        values = [100 * run[0] for run in runs]
        spread = statistics.stdev(values) if len(values) > 1 else 0.0
        print(f"eps {epsilon:>4}: test accuracy {statistics.mean(values):.2f} +- {spread:.2f} "
              f"(mean +- {1.96 * spread / len(values) ** 0.5:.2f}), {len(values)} seeds, multiplier {runs[0][1]:.4g}, "
              f"{statistics.mean(run[2] for run in runs):.1f} s", flush=True)


if __name__ == "__main__":
    main()
