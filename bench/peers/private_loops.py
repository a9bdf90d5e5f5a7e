"""A private step beside its peers in PyTorch: processor time and peak memory, one thread, each in a process of its own, in turns.

  private_loops.py [--networks mlp256,mlp1024,cnn,lenet,encoder] [--modes plain,ghost,hooks,isotropic,shaped] [--steps K] [--rounds R]

plain      SGD without privacy
ghost      Opacus, grad_sample_mode="ghost"; hooks: its gradients of records
isotropic  sfumato.torch.make_private; shaped: with noise="shaped" (its metric from imagined records, which changes no time of a step)

A step is zero_grad, forward, backward and step, without the loader, which is the same for all. Data are random. Prints a table of ratios: medians
over steps, the least of the rounds. Needs .venv-torch (tools/setup torch).
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings

NETWORKS = {"mlp256": 256, "mlp1024": 1024, "cnn": 256, "lenet": 256, "encoder": 32}
MODES = ("plain", "ghost", "hooks", "isotropic", "shaped")


def encoder(torch):
    """Four layers of width 128 on texts of 64 words."""
    nn = torch.nn

    class Layer(nn.Module):
        def __init__(self, width=128, heads=4):
            super().__init__()
            self.heads = heads
            self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

        def forward(self, x):
            h = self.first(x)
            q, k, v = (part(h).unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (self.query, self.key, self.value))
            h = nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
            x = x + self.out(h)
            return x + self.down(torch.relu(self.up(self.second(x))))

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(1000, 128)
            self.layers = nn.Sequential(*(Layer() for _ in range(4)))
            self.head = nn.Linear(128, 10)

        def forward(self, x):
            return self.head(self.layers(self.words(x)).mean(dim=1))

    return Encoder()


def network(torch, name):
    nn = torch.nn
    if name.startswith("mlp"):
        return nn.Sequential(nn.Linear(784, 100), nn.ReLU(), nn.Linear(100, 10)), (784,)
    if name == "cnn":
        return nn.Sequential(nn.Conv2d(1, 16, 8, stride=2, padding=3), nn.Tanh(), nn.MaxPool2d(2, 1), nn.Conv2d(16, 32, 4, stride=2), nn.Tanh(),
                             nn.MaxPool2d(2, 1), nn.Flatten(), nn.Linear(512, 32), nn.Tanh(), nn.Linear(32, 10)), (1, 28, 28)
    if name == "lenet":
        return nn.Sequential(nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                             nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)), (3, 32, 32)
    return encoder(torch), None


def measured(name, mode, steps):
    """One process: microseconds of processor time of a step, and megabytes at most."""
    warnings.filterwarnings("ignore")
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(0)
    batch = NETWORKS[name]
    model, shape = network(torch, name)
    count = 10 * batch
    x = torch.randint(0, 1000, (count, 64)) if shape is None else torch.randn(count, *shape)
    data = torch.utils.data.TensorDataset(x, torch.randint(10, (count,)))
    loader = torch.utils.data.DataLoader(data, batch_size=batch, shuffle=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    criterion = torch.nn.CrossEntropyLoss()
    if mode in ("ghost", "hooks"):
        from opacus import PrivacyEngine
        made = PrivacyEngine(accountant="rdp").make_private(module=model, optimizer=optimizer, criterion=criterion, data_loader=loader, noise_multiplier=1.0,
                                                            max_grad_norm=1.0, grad_sample_mode=mode)
        model, optimizer, loader = (made[0], made[1], made[-1])
        criterion = made[2] if mode == "ghost" else criterion
    elif mode != "plain":
        from sfumato.torch import Shape, make_private
        keys = {"noise": "shaped", "shape": Shape(read="white") if shape else Shape(read="released", mu=0.1)} if mode == "shaped" else {}
        model, optimizer, loader = make_private(model, optimizer, loader, noise_multiplier=1.0, max_grad_norm=1.0, **keys)
    model.train()
    times = []
    while len(times) < steps + 5:
        for inputs, targets in loader:
            start = time.process_time()
            optimizer.zero_grad()
            criterion(model(inputs), targets).backward()
            optimizer.step()
            times.append(time.process_time() - start)
    times = sorted(times[5:])
    return {"us": 1e6 * times[len(times) // 2], "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--one", nargs=2, metavar=("NETWORK", "MODE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(*options.one, options.steps)))
        return
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    modes = options.modes.split(",")
    print(f"{'network':10}" + "".join(f"{mode + ' us':>14}{'MB':>7}" for mode in modes) + "   ratios of time")
    for name in options.networks.split(","):
        best = {}
        for _ in range(options.rounds):
            for mode in modes:
                run = subprocess.run([sys.executable, __file__, "--one", name, mode, "--steps", str(options.steps)], env=environment, capture_output=True,
                                     text=True)
                if run.returncode:
                    sys.exit(f"{name} {mode}: {run.stderr[-2000:]}")
                found = json.loads(run.stdout.splitlines()[-1])
                best[mode] = min(best.get(mode, found), found, key=lambda one: one["us"])
        def ratio(one, other):
            return f"{one}/{other} {best[one]['us'] / best[other]['us']:.2f}" if one in best and other in best else ""
        print(f"{name:10}" + "".join(f"{best[m]['us']:14.0f}{best[m]['mb']:7.0f}" for m in modes) + "   "
              + ", ".join(r for r in (ratio("isotropic", "ghost"), ratio("isotropic", "plain"), ratio("shaped", "isotropic")) if r), flush=True)


if __name__ == "__main__":
    main()
