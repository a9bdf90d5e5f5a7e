#!/usr/bin/python3
"""Our losses, gradients, Hessian products and mixed derivatives beside PyTorch's, in double precision.

  tests/oracle/torch_gradients_test.py PROBE [SEED]      PROBE is build/tests/oracle_nn_probe

Random networks of every kind of layer, some with whole numbers everywhere, so that maxima tie and ReLU
meets exact zeros; and the networks of the paper. Exits with 77 if PyTorch is not installed.
"""

import json
import random
import subprocess
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("skipped: PyTorch is not installed. On Debian: apt-get install python3-torch")
    sys.exit(77)

CASES = 120
TOLERANCE = 1e-12  # of the largest entry: sums of up to 1e4 terms in another order differ by 1e-14


def random_layers(rng):
    """Input shape (channels, height, width) and layers."""
    layers = []
    if rng.random() < 0.3:
        shape = (rng.randint(1, 9), 1, 1)
    else:
        shape = (rng.randint(1, 3), rng.randint(3, 8), rng.randint(3, 8))
        height, width = shape[1:]
        for _ in range(rng.randint(0, 2)):
            if rng.random() < 0.8:
                padding, stride = rng.randint(0, 2), rng.randint(1, 3)
                kernel = rng.randint(1, min(4, min(height, width) + 2 * padding))
                layers.append({"kind": "conv2d", "channels": rng.randint(1, 4), "kernel": kernel,
                               "stride": stride, "padding": padding})
                height = (height + 2 * padding - kernel) // stride + 1
                width = (width + 2 * padding - kernel) // stride + 1
            if rng.random() < 0.7:
                layers.append({"kind": rng.choice(["relu", "tanh", "sigmoid"])})
            if rng.random() < 0.7:
                size = rng.randint(1, min(3, height, width))
                layers.append({"kind": rng.choice(["max_pool", "average_pool"]), "size": size})
                height, width = height // size, width // size
        layers.append({"kind": "flatten"})
    for _ in range(rng.randint(0, 2)):
        layers += [{"kind": "linear", "outputs": rng.randint(1, 8)}, {"kind": rng.choice(["relu", "tanh", "sigmoid"])}]
    return shape, layers + [{"kind": "linear", "outputs": rng.randint(2, 5)}]


def mlp(hidden):
    return (1, 28, 28), [{"kind": "flatten"}, {"kind": "linear", "outputs": hidden}, {"kind": "relu"},
                         {"kind": "linear", "outputs": 10}]


def lenet():
    def conv(channels):
        return [{"kind": "conv2d", "channels": channels, "kernel": 5, "stride": 1, "padding": 0},
                {"kind": "relu"}, {"kind": "max_pool", "size": 2}]
    layers = conv(6) + conv(16) + [{"kind": "flatten"}]
    for outputs in (120, 84):
        layers += [{"kind": "linear", "outputs": outputs}, {"kind": "relu"}]
    return (3, 32, 32), layers + [{"kind": "linear", "outputs": 10}]


class Network:
    """The same network in PyTorch: from a flat vector of parameters and a point of record space, both
    in our order (docs of src/lab/nn/network.hpp)."""

    def __init__(self, shape, layers):
        self.shape, self.layers = shape, layers
        self.convolution = F.conv2d
        self.parameters = 0
        channels, height, width = shape
        for layer in layers:
            kind = layer["kind"]
            if kind == "linear":
                self.parameters += (channels + 1) * layer["outputs"]
                channels = layer["outputs"]
            elif kind == "conv2d":
                kernel, stride, padding = (layer[k] for k in ("kernel", "stride", "padding"))
                self.parameters += (kernel * kernel * channels + 1) * layer["channels"]
                channels = layer["channels"]
                height = (height + 2 * padding - kernel) // stride + 1
                width = (width + 2 * padding - kernel) // stride + 1
            elif kind in ("max_pool", "average_pool"):
                height, width = height // layer["size"], width // layer["size"]
            elif kind == "flatten":
                channels, height, width = channels * height * width, 1, 1
        self.classes = channels
        self.values = shape[0] * shape[1] * shape[2]

    def logits(self, theta, values):
        channels, height, width = self.shape
        x = values.reshape(height, width, channels).permute(2, 0, 1).unsqueeze(0)
        if (height, width) == (1, 1):
            x = x.flatten(1)
        used = 0

        def take(*sizes):
            nonlocal used
            count = 1
            for size in sizes:
                count *= size
            used += count
            return theta[used - count:used].reshape(*sizes)

        for layer in self.layers:
            kind = layer["kind"]
            if kind == "linear":
                weight = take(x.shape[1], layer["outputs"])
                x = F.linear(x, weight.t(), take(layer["outputs"]))
            elif kind == "conv2d":
                kernel = layer["kernel"]
                weight = take(kernel, kernel, x.shape[1], layer["channels"])
                x = self.convolution(x, weight.permute(3, 2, 0, 1).contiguous(), take(layer["channels"]),
                                     stride=layer["stride"], padding=layer["padding"])
            elif kind == "max_pool":
                x = F.max_pool2d(x, layer["size"])
            elif kind == "average_pool":
                x = F.avg_pool2d(x, layer["size"])
            elif kind == "relu":
                x = F.relu(x)
            elif kind == "tanh":
                x = torch.tanh(x)
            elif kind == "sigmoid":
                x = torch.sigmoid(x)
            else:
                x = x.permute(0, 2, 3, 1).flatten(1)
        assert used == len(theta)
        return x

    def loss(self, theta, point):
        logits = self.logits(theta, point[:self.values])
        return F.cross_entropy(logits, point[self.values:].unsqueeze(0))


def unfolded_conv2d(x, weight, bias, stride, padding):
    """F.conv2d as a matrix product, which has all its derivatives."""
    kernel = weight.shape[2]
    height, width = ((size + 2 * padding - kernel) // stride + 1 for size in x.shape[2:])
    columns = F.unfold(x, kernel, stride=stride, padding=padding)
    return (weight.flatten(1) @ columns + bias[:, None]).reshape(1, len(bias), height, width)


def gradient(of, at, **options):
    result, = torch.autograd.grad(of, at, allow_unused=True, **options)
    return torch.zeros_like(at) if result is None else result


def expected(net, case):
    theta = torch.tensor(case["parameters"], dtype=torch.float64, requires_grad=True)
    direction = torch.tensor(case["direction"], dtype=torch.float64)
    points = []
    for values, label in zip(case["records"], case["labels"]):
        target = [1.0 if c == label else 0.0 for c in range(net.classes)]
        points.append(torch.tensor(values + target, dtype=torch.float64))
    first = net.loss(theta, points[0])
    mean = sum(net.loss(theta, point) for point in points) / len(points)
    mean_gradient = gradient(mean, theta, create_graph=True)
    out = {
        "logits": net.logits(theta, points[0][:net.values])[0],
        "loss": first.reshape(1),
        "gradient": gradient(first, theta),
        "mean_loss": mean.reshape(1),
        "mean_gradient": mean_gradient,
        "hessian_product": gradient(mean_gradient @ direction, theta, retain_graph=True),
    }
    point = torch.tensor(case["point"], dtype=torch.float64, requires_grad=True)
    point_gradient = gradient(net.loss(theta, point), theta, create_graph=True)
    # J^T w is linear in w, so its derivative along u, transposed, is J u.
    w = direction.clone().requires_grad_(True)
    back = gradient(point_gradient @ w, point, create_graph=True)
    out["point_gradient"] = point_gradient
    out["mixed_transposed_product"] = back
    out["mixed_product"] = gradient(back @ torch.tensor(case["point_direction"], dtype=torch.float64), w)
    return out


def make_case(rng, shape, layers, whole, records):
    net = Network(shape, layers)

    def numbers(count, scale):
        if whole:
            return [float(rng.randint(-1, 1)) for _ in range(count)]
        return [rng.gauss(0.0, scale) for _ in range(count)]

    shares = [rng.random() for _ in range(net.classes)]
    case = {
        "input": list(shape), "layers": layers,
        "parameters": numbers(net.parameters, 0.5 if net.parameters < 5000 else 0.05),
        "records": [numbers(net.values, 1.0) for _ in range(records)],
        "labels": [rng.randrange(net.classes) for _ in range(records)],
        "direction": [rng.gauss(0.0, 1.0) for _ in range(net.parameters)],
        "point": numbers(net.values, 1.0) + [share / sum(shares) for share in shares],
        "point_direction": [rng.gauss(0.0, 1.0) for _ in range(net.values + net.classes)],
    }
    return net, case


def main():
    probe = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    torch.set_num_threads(1)
    rng = random.Random(seed)
    made = []
    for k in range(CASES):
        shape, layers = random_layers(rng)
        made.append(make_case(rng, shape, layers, whole=k % 3 == 0, records=rng.randint(1, 3)))
    for shape, layers in (mlp(10), lenet()):
        made.append(make_case(rng, shape, layers, whole=False, records=2))

    kinds = {layer["kind"] for _, case in made for layer in case["layers"]}
    assert len(kinds) == 8, f"not all kinds of layers were drawn: {sorted(kinds)}"
    answer = subprocess.run([probe], input=json.dumps([case for _, case in made]), text=True,
                            stdout=subprocess.PIPE, check=True)
    failures, unfolded, worst = 0, 0, 0.0
    for index, ((net, case), got) in enumerate(zip(made, json.loads(answer.stdout))):
        try:
            want = expected(net, case)
        except RuntimeError as error:  # PyTorch 1.13, for some shapes, in second derivatives
            if "grad_weight must be contiguous" not in str(error):
                raise
            net.convolution = unfolded_conv2d
            unfolded += 1
            want = expected(net, case)
        assert want.keys() == got.keys()
        for name, value in want.items():
            ours = torch.tensor(got[name], dtype=torch.float64)
            value = value.detach()
            assert ours.shape == value.shape, f"case {index}: {name} has {len(ours)} entries, not {len(value)}"
            error = float((ours - value).abs().max() / (1.0 + value.abs().max()))
            worst = max(worst, error)
            if not error <= TOLERANCE:
                failures += 1
                print(f"seed {seed}, case {index}: {name} is off by {error:.2e}; {case['input']}, {case['layers']}")
    print(f"{len(made)} networks against PyTorch {torch.__version__}: largest difference {worst:.1e}, "
          f"{failures} failures ({unfolded} with conv2d as a matrix product)")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
