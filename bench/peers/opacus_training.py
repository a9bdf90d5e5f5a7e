"""Opacus beside `sfumato train --private`: the same network, clip, noise multiplier, Poisson sampler and steps; one thread.

  opacus_training.py [--batch 256] [--steps 200] [--clip 0.5] [--noise 1.0] [--rate 0.5] [--seeds 0,1,2] [--records 60000]

Needs an environment with PyTorch and Opacus (from PyPI; no part of the build or of the tests). Prints one JSON object for
each seed: processor time per step in microseconds (the best tenth), and test accuracy.
"""
import argparse
import gzip
import json
import os
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402
import torch  # noqa: E402
from opacus import GradSampleModule  # noqa: E402
from opacus.optimizers import DPOptimizer  # noqa: E402


def images(name):
    for root in (os.environ.get("SFUMATO_DATA", "") + "/fashion-mnist", "/usr/share/datasets/fashion-mnist",
                 os.path.expanduser("~/.cache/sfumato/fashion-mnist")):
        path = f"{root}/{name}-images-idx3-ubyte.gz"
        if not os.path.exists(path):
            continue
        with gzip.open(path) as file:
            x = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
        with gzip.open(f"{root}/{name}-labels-idx1-ubyte.gz") as file:
            y = np.frombuffer(file.read(), np.uint8, offset=8)
        return torch.tensor((x / 255.0 - 0.2860) / 0.3530, dtype=torch.float32), torch.tensor(y.astype(np.int64))
    raise SystemExit("Fashion-MNIST is not there: sfumato data get fashion-mnist")


def train(options, seed, train_set, test_set):
    torch.manual_seed(seed)
    x, y = (part[:options.records] for part in train_set)
    model = GradSampleModule(torch.nn.Sequential(torch.nn.Linear(784, 100), torch.nn.ReLU(), torch.nn.Linear(100, 10)))
    optimizer = DPOptimizer(torch.optim.SGD(model.parameters(), lr=options.rate), noise_multiplier=options.noise,
                            max_grad_norm=options.clip, expected_batch_size=options.batch)
    rate = options.batch / len(x)
    times = []
    for _ in range(options.steps):
        chosen = torch.nonzero(torch.rand(len(x)) < rate).flatten()
        rows, labels = x[chosen], y[chosen]
        start = time.process_time()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(rows), labels).backward()
        optimizer.step()
        times.append(time.process_time() - start)
    test_x, test_y = test_set
    with torch.no_grad():
        accuracy = (model(test_x).argmax(1) == test_y).float().mean().item()
    return {"us_per_step": 1e6 * sorted(times)[len(times) // 10], "median_us": 1e6 * sorted(times)[len(times) // 2], "test_accuracy": accuracy}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--clip", type=float, default=0.5)
    parser.add_argument("--noise", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=0.5)
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--records", type=int, default=60000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    data = images("train"), images("t10k")
    for seed in options.seeds.split(","):
        print(json.dumps({"seed": int(seed), **train(options, int(seed), *data)}), flush=True)


if __name__ == "__main__":
    main()
