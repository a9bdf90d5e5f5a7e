#!/usr/bin/python3
"""PyTorch peers of the training engine, on the same data and settings; one thread.

  torch_training.py SETTING MODE [--seconds T]

SETTING  S1, S2, S3, T1_500, T1_1000
MODE     loop     one model at a time, autograd, noise by torch.randn_like: what a researcher writes
         stacked  the best vectorised form: many models as batched products, D and D' and both noise policies
                  in one stack sharing rows and normals; gradients by hand for the perceptrons, grouped
                  convolutions under autograd for LeNet
         normals  torch.normal_ into 16,384 floats
Prints one JSON object with the microseconds of processor time per model and step (the best block), or the normals
per second.
"""
import argparse
import gzip
import json
import lzma
import math
import os
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

RATE = 0.1
SETTINGS = {  # records, hidden units (0: LeNet), batch, sigma^2 (0: no noise)
    "S1": (1000, 10, 100, 0.01),
    "S2": (10000, 100, 100, 0.01),
    "S3": (1000, 0, 10, 0.001),
    "T1_500": (1000, 10, 500, 0.0),
    "T1_1000": (1000, 10, 1000, 0.0),
}


def fashion(records):
    for root in (os.environ.get("SFUMATO_DATA", "") + "/fashion-mnist", "/usr/share/datasets/fashion-mnist"):
        if os.path.exists(root + "/train-images-idx3-ubyte.gz"):
            break
    images = np.frombuffer(gzip.open(root + "/train-images-idx3-ubyte.gz").read(), np.uint8, offset=16)
    labels = np.frombuffer(gzip.open(root + "/train-labels-idx1-ubyte.gz").read(), np.uint8, offset=8)
    x = (images.reshape(-1, 784)[:records] / 255.0 - 0.2860) / 0.3530
    return torch.tensor(x, dtype=torch.float32), torch.tensor(labels[:records].astype(np.int64))


def cifar(records):
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")) + "/sfumato"
    for root in (os.environ.get("SFUMATO_DATA", ""), cache):
        path = root + "/cifar-10-batches-bin/data_batch_1.bin"
        if os.path.exists(path):
            raw = open(path, "rb").read()
            break
        if os.path.exists(path + ".xz"):
            raw = lzma.open(path + ".xz").read()
            break
    else:
        raise SystemExit("torch_training.py: CIFAR-10 was not found. Run: sfumato data get cifar10")
    table = np.frombuffer(raw, np.uint8).reshape(-1, 3073)[:records]
    mean = np.array([0.4914, 0.4822, 0.4465]).reshape(1, 3, 1, 1)
    deviation = np.array([0.2470, 0.2435, 0.2616]).reshape(1, 3, 1, 1)
    x = (table[:, 1:].reshape(-1, 3, 32, 32) / 255.0 - mean) / deviation
    return torch.tensor(x, dtype=torch.float32), torch.tensor(table[:, 0].astype(np.int64))


def network(hidden):
    nn = torch.nn
    if hidden:
        return nn.Sequential(nn.Linear(784, hidden), nn.ReLU(), nn.Linear(hidden, 10))
    return nn.Sequential(
        nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


class Batches:
    """Rows of the steps: shuffled epochs, as the engine draws them."""

    def __init__(self, records, batch):
        self.records, self.batch, self.order, self.at = records, batch, None, 0

    def next(self):
        if self.batch == self.records:
            return slice(None)
        if self.order is None or self.at + self.batch > self.records:
            self.order, self.at = torch.randperm(self.records), 0
        self.at += self.batch
        return self.order[self.at - self.batch:self.at]


def loop(x, y, hidden, batch, variance):
    """One model; the two noise policies in turn, so that the time is their mean."""
    models = [network(hidden) for _ in range(2 if variance else 1)]
    batches = Batches(len(x), batch)
    turn = [0]

    def step():
        model = models[turn[0] % len(models)]
        per_layer = turn[0] % len(models) == 0
        turn[0] += 1
        rows = batches.next()
        model.zero_grad()
        F.cross_entropy(model(x[rows]), y[rows]).backward()
        with torch.no_grad():
            for layer in model:
                parts = list(layer.parameters())
                if not parts:
                    continue
                if variance and per_layer:
                    most = max(p.grad.abs().max() for p in parts)
                for p in parts:
                    if not variance:
                        p.sub_(p.grad, alpha=RATE)
                    else:
                        scale = most if per_layer else p.grad.abs()
                        p.add_(-RATE * p.grad + torch.sqrt(variance * scale) * torch.randn_like(p))
    return step, 1


def add_noise(value, gradient, models, layer_most, normals, variance):
    """value and gradient have models on axis 1 (groups on axis 0): the first half per layer, the rest by coordinate."""
    if variance:
        scale = gradient.abs()
        half = models // 2
        shape = [gradient.shape[0], half] + [1] * (gradient.dim() - 2)
        scale[:, :half] = layer_most[:, :half].reshape(shape)
        value.add_(scale.mul_(variance).sqrt_().mul_(normals))
    value.sub_(gradient, alpha=RATE)


def most_of(*gradients):
    return torch.stack([g.abs().flatten(2).amax(2) for g in gradients]).amax(0)


def stacked_perceptron(x, y, hidden, batch, variance, groups):
    models = 4 if variance else 2
    w1 = ((torch.rand(groups, 1, 784, hidden) * 2 - 1) / 28).repeat(1, models, 1, 1)
    b1 = ((torch.rand(groups, 1, 1, hidden) * 2 - 1) / 28).repeat(1, models, 1, 1)
    bound = 1 / math.sqrt(hidden)
    w2 = ((torch.rand(groups, 1, hidden, 10) * 2 - 1) * bound).repeat(1, models, 1, 1)
    b2 = ((torch.rand(groups, 1, 1, 10) * 2 - 1) * bound).repeat(1, models, 1, 1)
    side_by_side = lambda w: w.permute(0, 2, 1, 3).reshape(groups, w.shape[2], models * hidden)  # noqa: E731
    apart = lambda z: z.view(groups, -1, models, hidden).permute(0, 2, 1, 3)  # noqa: E731
    wide, wide_bias = side_by_side(w1).contiguous(), side_by_side(b1).contiguous()
    batches = [Batches(len(x), batch) for _ in range(groups)]
    full = batch == len(x)
    other = torch.arange(models) % 2 == 1  # D' leaves record 0 out

    def step():
        if full:
            rows = torch.arange(len(x)).expand(groups, -1)
            z = torch.addmm(wide_bias.reshape(-1), x, wide.permute(1, 0, 2).reshape(784, -1))
            z = z.view(batch, groups, -1).transpose(0, 1)
            xb = None
        else:
            rows = torch.stack([b.next() for b in batches])
            xb = x[rows]
            z = torch.baddbmm(wide_bias, xb, wide)
        h = apart(z.relu()).reshape(groups * models, -1, hidden)
        logits = torch.baddbmm(b2.view(groups * models, 1, 10), h, w2.view(groups * models, hidden, 10))
        d = logits.softmax(2).view(groups, models, -1, 10)
        d.scatter_add_(3, y[rows][:, None, :, None].expand(-1, models, -1, 1), torch.tensor(-1.0).expand_as(d[..., :1]))
        d.mul_(1.0 / batch)
        d.mul_(1 - (rows == 0)[:, None, :, None] * other[None, :, None, None].float())
        d = d.view(groups * models, -1, 10)
        g2 = torch.bmm(h.transpose(1, 2), d).view_as(w2)
        gb2 = d.sum(1).view_as(b2)
        dh = torch.bmm(d, w2.view(groups * models, hidden, 10).transpose(1, 2)).mul_(h > 0)
        dz = dh.view(groups, models, -1, hidden).permute(0, 2, 1, 3).reshape(groups, -1, models * hidden)
        if full:
            g1 = torch.mm(x.t(), dz.transpose(0, 1).reshape(batch, -1)).view(784, groups, -1).transpose(0, 1)
        else:
            g1 = torch.bmm(xb.transpose(1, 2), dz)
        gb1 = dz.sum(1, keepdim=True)
        if variance:
            a1, ab1 = g1.view(groups, 784, models, hidden), gb1.view(groups, 1, models, hidden)
            most = torch.maximum(a1.abs().amax((1, 3)), ab1.abs().amax((1, 3)))
            half = models // 2
            for value, g in ((wide, a1), (wide_bias, ab1)):
                scale = g.abs()
                scale[:, :, :half] = most[:, None, :half, None]
                z1 = torch.randn(groups, g.shape[1], 1, hidden)
                value.view_as(g).add_(scale.mul_(variance).sqrt_().mul_(z1))
            most = most_of(g2, gb2)
            add_noise(w2, g2, models, most, torch.randn(groups, 1, hidden, 10), variance)
            add_noise(b2, gb2, models, most, torch.randn(groups, 1, 1, 10), variance)
        else:
            w2.sub_(g2, alpha=RATE)
            b2.sub_(gb2, alpha=RATE)
        wide.sub_(g1, alpha=RATE)
        wide_bias.sub_(gb1, alpha=RATE)
    return step, groups * models


def stacked_lenet(x, y, batch, variance, groups):
    models, count = 4, 4 * groups
    uniform = lambda fan, *shape: ((torch.rand(groups, 1, *shape) * 2 - 1) / math.sqrt(fan)).repeat(  # noqa: E731
        1, models, *[1] * len(shape)).requires_grad_()
    layers = [(uniform(75, 6, 3, 5, 5), uniform(75, 6)), (uniform(150, 16, 6, 5, 5), uniform(150, 16)),
              (uniform(400, 400, 120), uniform(400, 1, 120)), (uniform(120, 120, 84), uniform(120, 1, 84)),
              (uniform(84, 84, 10), uniform(84, 1, 10))]
    batches = [Batches(len(x), batch) for _ in range(groups)]
    flat = [p for layer in layers for p in layer]
    other = (torch.arange(count) % 2 == 1)[:, None]

    def step():
        rows = torch.stack([b.next() for b in batches])
        (c1, k1), (c2, k2), *dense = layers
        h = x[rows].transpose(0, 1).reshape(batch, groups * 3, 32, 32)
        h = F.max_pool2d(F.relu(F.conv2d(h, c1.reshape(count * 6, 3, 5, 5), k1.reshape(-1), groups=groups)), 2)
        h = F.max_pool2d(F.relu(F.conv2d(h, c2.reshape(count * 16, 6, 5, 5), k2.reshape(-1), groups=count)), 2)
        h = h.view(batch, count, 400).transpose(0, 1)
        for i, (w, b) in enumerate(dense):
            h = torch.baddbmm(b.reshape(count, 1, -1), h, w.reshape(count, w.shape[2], -1))
            h = F.relu(h) if i < 2 else h
        weights = 1 - (rows == 0).repeat_interleave(models, 0) * other.float()
        loss = F.cross_entropy(h.reshape(-1, 10), y[rows].repeat_interleave(models, 0).reshape(-1), reduction="none")
        gradients = torch.autograd.grad((loss * weights.reshape(-1)).sum() / batch, flat)
        with torch.no_grad():
            for i in range(0, len(flat), 2):
                most = most_of(gradients[i], gradients[i + 1])
                for p, g in zip(flat[i:i + 2], gradients[i:i + 2]):
                    add_noise(p, g, models, most, torch.randn(groups, 1, *p.shape[2:]), variance)
    return step, count


def normals_per_second(seconds):
    room, best, end = torch.empty(16384), 0.0, time.time() + seconds
    while time.time() < end:
        start = time.thread_time()
        for _ in range(20):
            room.normal_()
        best = max(best, 20 * 16384 / (time.thread_time() - start))
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("setting", choices=list(SETTINGS))
    parser.add_argument("mode", choices=["loop", "stacked", "normals"])
    parser.add_argument("--seconds", type=float, default=4.0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    if options.mode == "normals":
        print(json.dumps({"normals_per_second": normals_per_second(options.seconds)}))
        return
    records, hidden, batch, variance = SETTINGS[options.setting]
    x, y = fashion(records) if hidden else cifar(records)
    candidates = [loop(x, y, hidden, batch, variance)]
    if options.mode == "stacked" and hidden:
        candidates = [stacked_perceptron(x, y, hidden, batch, variance, g) for g in (2, 6, 12)]
    elif options.mode == "stacked":
        candidates = [stacked_lenet(x, y, batch, variance, g) for g in (2, 6, 12)]
    best = math.inf
    for step, models in candidates:  # the size of the stack that is fastest here
        for _ in range(3):
            step()
        start = time.thread_time()
        step()
        block = max(2, int(options.seconds / len(candidates) / 6 / (time.thread_time() - start)))
        for _ in range(6):
            start = time.thread_time()
            for _ in range(block):
                step()
            best = min(best, (time.thread_time() - start) / block / models)
    print(json.dumps({"us_per_model_iteration": best * 1e6}))


if __name__ == "__main__":
    main()
