"""What the tests with PyTorch share: `make test-torch`."""

import os
import pathlib
import unittest

import torch

SOURCE = pathlib.Path(os.environ.get("SFUMATO_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
torch.set_num_threads(1)


def mlp(seed=0, inputs=4, hidden=8, classes=3):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(inputs, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, classes))


def data(count=60, inputs=4, classes=3, seed=1):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(count, inputs, generator=generator)
    return x, (x @ torch.randn(inputs, classes, generator=generator)).argmax(dim=1)


loss = torch.nn.functional.cross_entropy


def take(optimizer, dataset, steps=1, **keys):
    """Steps of a PrivateOptimizer on batches of its own."""
    for batch in optimizer.batches(dataset, steps, **keys):
        optimizer.step(*batch)


__all__ = ["SOURCE", "data", "loss", "mlp", "take", "torch", "unittest"]
