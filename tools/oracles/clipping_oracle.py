"""Reference values for gradients that are clipped record by record (Spec §23), by PyTorch.

  clipping_oracle.py OUT.json [SEED]        the committed file has the default seed

Each record's gradient is autograd's own, in double precision, one backward pass for each record: nothing of the way in which the
library comes by norms without gradients. Needs PyTorch of any version (Debian: python3-torch).
"""

import sys

import common
import numpy as np
import torch
from torch import nn

RTOL = 2e-5  # the engine computes in single precision


class Chain(nn.Module):
    def __init__(self, shape, layers):
        super().__init__()
        self.steps, self.layouts = nn.ModuleList(), []
        channels, height, width = shape
        flat = None  # the image that a vector was
        for kind, *sizes in layers:
            if kind == "linear":
                inputs = channels * height * width
                self.steps.append(nn.Linear(inputs, sizes[0]).double())
                self.layouts.append(("linear", flat))
                channels, height, width, flat = sizes[0], 1, 1, None
            elif kind == "conv2d":
                out, kernel, stride, padding = sizes
                self.steps.append(nn.Conv2d(channels, out, kernel, stride, padding).double())
                self.layouts.append(("conv2d", None))
                channels = out
                height, width = ((n + 2 * padding - kernel) // stride + 1 for n in (height, width))
            elif kind in ("max_pool", "avg_pool"):
                self.steps.append((nn.MaxPool2d if kind == "max_pool" else nn.AvgPool2d)(sizes[0]))
                height, width = height // sizes[0], width // sizes[0]
            elif kind == "flatten":
                self.steps.append(nn.Flatten())
                flat = (channels, height, width)
            else:
                self.steps.append(nn.ReLU() if kind == "relu" else nn.Tanh())

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return x

    def blocks(self, values):
        """Tensors in PyTorch's order as vectors, one for each layer, in the library's order: inputs before outputs, channels fastest."""
        found = []
        for (kind, flat), weight, bias in zip(self.layouts, values[::2], values[1::2]):
            if kind == "conv2d":
                weight = weight.permute(2, 3, 1, 0)
            elif flat is not None:
                weight = weight.reshape(weight.shape[0], *flat).permute(2, 3, 1, 0)
            else:
                weight = weight.T
            found.append(torch.cat([weight.reshape(-1), bias]).detach().numpy())
        return found


NETWORKS = [
    ((5, 1, 1), [["flatten"], ["linear", 3]]),
    ((7, 1, 1), [["flatten"], ["linear", 6], ["relu"], ["linear", 4], ["tanh"], ["linear", 3]]),
    ((2, 6, 5), [["conv2d", 3, 3, 1, 1], ["relu"], ["max_pool", 2], ["flatten"], ["linear", 3]]),
    ((1, 8, 8), [["conv2d", 2, 3, 2, 1], ["tanh"], ["conv2d", 3, 2, 1, 0], ["flatten"], ["linear", 4], ["relu"],
                 ["linear", 2]]),
    ((2, 8, 8), [["avg_pool", 2], ["conv2d", 4, 2, 1, 0], ["relu"], ["flatten"], ["linear", 3]]),
]


def case(number, rng, shape, layers, by_block, metric):
    torch.manual_seed(int(rng.integers(1 << 30)))
    model = Chain(shape, layers)
    records = np.round(rng.standard_normal((4, *shape)) * np.exp(rng.standard_normal((4, 1, 1, 1))), 3)
    classes = layers[-1][1]
    labels = rng.integers(classes, size=4)
    parameters = [p for p in model.parameters()]
    with torch.no_grad():
        for p in parameters:  # floats that a reader can retype, the same in single precision
            p.copy_(torch.round(p * 1024) / 1024)
    gradients = []
    for x, y in zip(records, labels):
        loss = nn.functional.cross_entropy(model(torch.tensor(x[None])), torch.tensor([y]))
        gradients.append(model.blocks(torch.autograd.grad(loss, parameters)))
    sizes = [len(b) for b in gradients[0]]
    inverse = np.round(np.exp(rng.standard_normal(sum(sizes))), 3) if metric else np.ones(sum(sizes))
    weights = np.split(inverse, np.cumsum(sizes)[:-1])
    norms = np.array([[np.sqrt(np.sum(g * g * w)) for g, w in zip(gradient, weights)] for gradient in gradients])
    if by_block:
        clips = np.round(np.median(norms, axis=0), 4)
        factors = np.minimum(1.0, clips / norms)
    else:
        clips = np.round([np.median(np.linalg.norm(norms, axis=1))], 4)
        factors = np.minimum(1.0, clips[0] / np.linalg.norm(norms, axis=1))[:, None].repeat(len(sizes), axis=1)
    total = np.concatenate([sum(f[b] * g[b] for f, g in zip(factors, gradients)) for b in range(len(sizes))])
    inputs = {"input": list(shape), "layers": layers,
              "parameters": np.concatenate(model.blocks(parameters)).tolist(),
              "records": [r.transpose(1, 2, 0).reshape(-1).tolist() for r in records],
              "labels": labels.tolist(), "clips": clips.tolist(), "inverse_variances": inverse.tolist() if metric else []}
    return {"id": f"clipped_gradient-{number:02}", "section": "23", "function": "clipped_gradient", "inputs": inputs,
            "outputs": {"sum": total.tolist(), "norms": np.linalg.norm(norms, axis=1).tolist()},
            "rtol": RTOL if not metric else 1e-3, "atol": 1e-5 if not metric else 5e-4}


def main(path, seed="20261117"):
    rng = np.random.default_rng(int(seed))
    file = common.GoldenFile("Gradients clipped record by record", f"clipping_oracle.py OUT.json {seed}",
                             {"torch": torch.__version__},
                             ["one backward pass for each record, in double precision; tolerances are those of single precision"])
    for shape, layers in NETWORKS:
        for by_block in (False, True):
            for metric in (False, True):
                file.cases.append(case(len(file.cases) + 1, rng, shape, layers, by_block, metric))
    file.write(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
