"""Private steps in PyTorch: one model, one thread, the same network, batch, clip and noise as `sfumato train --private`.

  torch_private_steps.py NETWORK MODE [--batch B] [--steps K]

NETWORK  mlp (784-100-10 on Fashion-MNIST shapes) or lenet (3 x 32 x 32)
MODE     opacus  GradSampleModule and DPOptimizer
         func    gradients of single records by torch.func.vmap(grad), clipped and summed by hand: the best vectorised form

Needs an environment with PyTorch 2 and Opacus from PyPI. Data are random, which changes no time. Prints one JSON object with processor time per
step in microseconds (median).
"""
import argparse
import json
import os
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

CLIP, NOISE, RATE = 1.0, 1.0, 0.1


def network(name):
    nn = torch.nn
    if name == "mlp":
        return nn.Sequential(nn.Linear(784, 100), nn.ReLU(), nn.Linear(100, 10))
    return nn.Sequential(
        nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def opacus_step(model, x, y):
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer
    model = GradSampleModule(model)
    optimizer = DPOptimizer(torch.optim.SGD(model.parameters(), lr=RATE), noise_multiplier=NOISE, max_grad_norm=CLIP,
                            expected_batch_size=len(x))

    def step():
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return step


def func_step(model, x, y):
    from torch.func import functional_call, grad, vmap
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss(weights, row, label):
        return F.cross_entropy(functional_call(model, weights, (row[None],)), label[None])
    by_record = vmap(grad(loss), in_dims=(None, 0, 0))

    def step():
        gradients = by_record(parameters, x, y)
        square = sum(g.flatten(1).square().sum(1) for g in gradients.values())
        factors = (CLIP / (square.sqrt() + 1e-6)).clamp(max=1.0)
        for name, g in gradients.items():
            total = torch.tensordot(factors, g, 1)
            total += NOISE * CLIP * torch.randn_like(total)
            parameters[name] = parameters[name] - RATE / len(x) * total
    return step


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("network", choices=["mlp", "lenet"])
    parser.add_argument("mode", choices=["opacus", "func"])
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=40)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    shape = (784,) if options.network == "mlp" else (3, 32, 32)
    x, y = torch.randn(options.batch, *shape), torch.randint(10, (options.batch,))
    step = (opacus_step if options.mode == "opacus" else func_step)(network(options.network), x, y)
    for _ in range(5):
        step()
    times = []
    for _ in range(options.steps):
        start = time.process_time()
        step()
        times.append(time.process_time() - start)
    print(json.dumps({"us_per_step": 1e6 * sorted(times)[len(times) // 2], "torch": torch.__version__}))


if __name__ == "__main__":
    main()
