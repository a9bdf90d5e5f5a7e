#!/usr/bin/python3
"""The engine over layer sizes, batch sizes and image sizes: does its share of the roofline fall anywhere?

  bench/macro/engine_sweep.py [--seconds 1] [--rounds 2] [--json]

One linear hidden layer of 16 to 1,024 units on Fashion-MNIST with batches of 10 to 1,000; LeNet's layers on CIFAR-10 (where it is
found) with batches of 10 to 1,000; and tables of 20 to 3,072 features that are nowhere zero. Both of the paper's noise policies,
D and D'. Each row says how much of the dense roofline is reached; half of S1's and S2's goals is 0.39.
"""
import argparse
import json
import os
import random
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ENGINE = os.environ.get("SFUMATO", os.path.join(HERE, "../../build/bin/sfumato"))
NOISE = "".join(f'[[noise]]\npolicy = "{p}"\nvariance = 0.01\n' for p in ("isotropic_per_layer", "anisotropic"))


def mlp(data, hidden, batch, image=True):
    flatten = '[[model.layers]]\ntype = "flatten"\n' if image else ""
    layers = flatten + f'[[model.layers]]\ntype = "linear"\nname = "first"\noutputs = {hidden}\n[[model.layers]]\ntype = "relu"\nname = "act"\n' \
             '[[model.layers]]\ntype = "linear"\nname = "last"\noutputs = 10\n'
    return f"{data}[model]\n{layers}[train]\niterations = 1000\nbatch_size = {batch}\nlearning_rate = 0.1\n{NOISE}"


def lenet(batch):
    return '[data]\nset = "cifar10"\nrecords = 1000\n[model]\npreset = "lenet"\n' \
           f"[train]\niterations = 1000\nbatch_size = {batch}\nlearning_rate = 0.1\n{NOISE}"


def table(folder, features):
    path = os.path.join(folder, f"table{features}.csv")
    rng = random.Random(features)
    with open(path, "w", encoding="ascii") as out:
        out.write(",".join([f"x{i}" for i in range(features)] + ["label"]) + "\n")
        for row in range(1000):
            out.write(",".join([f"{rng.gauss(0, 1):.4f}" for _ in range(features)] + [str(row % 10)]) + "\n")
    return f'[data]\nset = "{path}"\nlabel = "label"\nrecords = 1000\nstandardise = "none"\n'


def measure(folder, text, seconds, rounds):
    path = os.path.join(folder, "sweep.toml")
    with open(path, "w", encoding="ascii") as out:
        out.write(text)
    best = None
    for _ in range(rounds):
        run = subprocess.run([ENGINE, "bench", "engine", "--study", path, "--seconds", str(seconds), "--json"],
                             capture_output=True, text=True)
        if run.returncode != 0:
            return run.stderr.strip().splitlines()[-1]
        found = json.loads(run.stdout)[0]
        if best is None or found["roofline_fraction"] > best["roofline_fraction"]:
            best = found
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fashion = '[data]\nset = "fashion-mnist"\nrecords = 1000\n'
        cases = [(f"784-{hidden}-10", batch, mlp(fashion, hidden, batch))
                 for hidden in (16, 64, 256, 1024) for batch in (10, 100, 1000)]
        cases += [("LeNet", batch, lenet(batch)) for batch in (10, 100, 1000)]
        cases += [(f"{features}-100-10, dense", 100, mlp(table(folder, features), 100, 100, image=False))
                  for features in (20, 196, 3072)]
        rows = []
        for name, batch, text in cases:
            found = measure(folder, text, options.seconds, options.rounds)
            if isinstance(found, str):
                print(f"{name}, batch {batch}: left out: {found}")
                continue
            rows.append({"network": name, "batch": batch, "us": found["us_per_model_iteration"],
                         "roofline": found["roofline_fraction"]})
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{'network':20} {'batch':>6} {'us':>10} {'of roofline':>12}")
    for row in rows:
        print(f"{row['network']:20} {row['batch']:6} {row['us']:10.1f} {row['roofline']:12.2f}")


if __name__ == "__main__":
    main()
