"""Trainings that other processes import."""

import multiprocessing

import torch

import sfumato.torch as st
from support import loss, mlp

EPSILON, DELTA, STEPS, RATE = 1.0, 1e-5, 20, 0.25
NOISE = 4.76  # see test_the_noise_of_the_private_training


def overfitted(dataset, seed):
    """Unnoised: it learns every record by heart."""
    model = mlp(0, hidden=24)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.01 * torch.randn_like(parameter))
    for _ in range(60):
        optimizer.zero_grad()
        loss(model(dataset[0]), dataset[1]).backward()
        optimizer.step()
    return model


def private(dataset, seed):
    model = mlp(0, hidden=8)
    optimizer = st.PrivateOptimizer(torch.optim.SGD(model.parameters(), lr=0.3), model, loss, noise_multiplier=NOISE,
                                    max_grad_norm=1.0, sample_rate=RATE, records=len(dataset[0]), seed=seed)
    for batch in optimizer.batches(dataset, STEPS):
        optimizer.step(*batch)
    return model


def fails_in_another_process(dataset, seed):
    if multiprocessing.parent_process() is not None:
        raise ArithmeticError("of the caller")
    return private(dataset, seed)
