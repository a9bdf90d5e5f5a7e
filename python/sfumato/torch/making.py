"""make_private: a model, an optimiser and a loader made private, for a loop that stays as it is."""

from __future__ import annotations

from inspect import signature

import torch

from ..accounting import Accountant, require_small_delta
from ..accounting import noise_multiplier as noise_for
from .loading import PrivateLoader, of_loader
from .private import PrivateOptimizer
from .shaping import Shape, Shaping, mu_of, shaped_multiplier
from .states import trained
from .training import AccountFile, PrivateTraining, refuse_processes

_NOISES = ("isotropic", "per_layer", "shaped")
_SAMPLERS = ("poisson", "allocate")


def make_private(model, optimizer, loader, *, max_grad_norm, noise_multiplier=None, target_epsilon=None, target_delta=None, epochs=None,
                 noise="isotropic", layer_clips=None, shape=None, forward=None, sampler="poisson", loss_reduction="mean", max_physical_batch_size=None,
                 adjacency=None, accountant=None, account=None, seed=None):
    """The same three, private: (model, optimizer, loader) for a loop that stays as it is.

        model, optimizer, loader = make_private(model, optimizer, loader, target_epsilon=3, target_delta=1e-5, epochs=20, max_grad_norm=1.0)
        for epoch in range(20):
            for inputs, targets in loader:
                optimizer.zero_grad()
                criterion(model(inputs), targets).backward()
                optimizer.step()
        print(optimizer.guarantee())

    The gradient of each record is clipped to `max_grad_norm`, noise is added to their sum, and what that costs goes to `optimizer.accountant`. Either
    the noise is given (`noise_multiplier`), or what all `epochs` may cost (`target_epsilon` at `target_delta`). The loader draws Poisson batches
    that have as many records on average as its own had; empty ones are steps too. With sampler="allocate" each record is in one batch of
    an epoch, which it draws by itself, and an epoch is charged when it begins. With `max_physical_batch_size` batches come in parts, each
    with a step() of its own, of which the last moves the parameters (`optimizer.stepped`).

    `noise`   "isotropic"; "per_layer" (each layer by itself, to `layer_clips`, else max_grad_norm / sqrt(layers)); "shaped" (what layers read is
              whitened, by a `Shape`; `forward(model, batch)` runs the model on what the loader yields, where that is not model(batch[0])); or
              public variances: a vector, a dict in state_dict layout or a design
    `account` a file that the account is written to before each release, so that it is never behind, and that a later run goes on from

    `loss_reduction` says whether the loss is the "mean" or the "sum" over the records. Rules are known for Linear, Conv1d to Conv3d, Embedding, LayerNorm
    and GroupNorm; other modules with parameters go record by record, which is slower. Noise and batches come from a secure generator;
    with `seed` they can be repeated, for tests, and there is no guarantee.
    """
    _refuse(model, optimizer, noise, layer_clips, shape, forward, sampler, loss_reduction, max_physical_batch_size)
    if (noise_multiplier is None) == (target_epsilon is None):
        raise ValueError("noise_multiplier: give it, or target_epsilon with target_delta and epochs, and not both.")
    records, size = of_loader(loader)
    if target_delta is not None:
        require_small_delta(target_delta, records)
    file = None if account is None else AccountFile(account)
    if file is not None and (accountant is not None or seed is not None):
        raise ValueError("account: goes with neither accountant nor seed.")
    group_size = 1
    if accountant is not None:
        adjacency, group_size = adjacency or accountant.adjacency, accountant.group_size
    elif file is not None and file.found is not None:
        adjacency, accountant = adjacency or file.found.adjacency, file.found
    adjacency = adjacency or "zero_out"
    rate = min(1.0, size / records)
    steps = -(-records // size)
    allocate = steps if sampler == "allocate" and steps > 1 else 0
    mu, shaping = None, None
    if isinstance(noise, str) and noise == "shaped":
        shape = shape or Shape()
        mu = shape.mu
        if shape.released and mu is None:
            if target_epsilon is None or target_delta is None:
                raise ValueError("shape: a share is of target_epsilon. With noise_multiplier, give Shape(mu=...).")
            mu = mu_of(target_epsilon, target_delta) * shape.share**0.5
        shaping = Shaping(shape, model, loader, forward, mu, adjacency)
    most = None
    if target_epsilon is not None:
        if target_delta is None or epochs is None or not (epochs >= 1 and epochs == int(epochs)):
            raise ValueError("target_epsilon: goes with target_delta and a number of epochs.")
        if accountant is not None and len(accountant) and file is None:
            raise ValueError("accountant: has releases already, beside which a target is not found here. Give noise_multiplier.")
        most = int(epochs) if allocate else steps * int(epochs)
        noise_multiplier = _multiplier(target_epsilon, target_delta, rate, steps * int(epochs), allocate, int(epochs), adjacency, group_size,
                                       None if shaping is None else shaping.multiplier)
    known = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
    missing = [name for name, parameter in trained(model) if id(parameter) not in known]
    if missing:
        raise ValueError(f"optimizer: does not have the trained parameter {missing[0]}. Give it all, or freeze that one (requires_grad_(False)).")
    private = PrivateTraining(optimizer, model, target_delta=target_delta, loss_reduction=loss_reduction, most=most,
                              metric="isotropic" if shaping is not None else noise, layer_clips=layer_clips, shaping=shaping, allocate=allocate, file=file,
                              noise_multiplier=noise_multiplier, max_grad_norm=max_grad_norm, sample_rate=rate, records=records, adjacency=adjacency,
                              accountant=accountant, seed=seed)
    if shaping is not None:
        shaping.noise = private._noise
    physical = None if max_physical_batch_size is None else int(max_physical_batch_size)
    return model, private, PrivateLoader(loader, private, steps, physical, bool(allocate))


def _refuse(model, optimizer, noise, layer_clips, shape, forward, sampler, loss_reduction, physical):
    """What cannot be made private, or is not said in a way that means something."""
    if "always_call" not in signature(torch.nn.Module.register_forward_hook).parameters:
        raise ImportError(f"make_private needs PyTorch 2.1 or newer, this is {torch.__version__}")
    if not isinstance(model, torch.nn.Module):
        raise TypeError("model: is no torch.nn.Module.")
    refuse_processes(model)
    if hasattr(model, "_orig_mod"):
        raise ValueError("model: is compiled, and what its layers read cannot be kept. Give the model before torch.compile.")
    if isinstance(optimizer, PrivateOptimizer) or not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError("optimizer: is no optimiser of torch.optim without privacy.")
    if isinstance(optimizer, torch.optim.LBFGS):
        raise ValueError("optimizer: LBFGS reads the records several times in one step, through a closure, which has no guarantee. Use another.")
    if isinstance(noise, str) and noise not in _NOISES:
        raise ValueError(f"noise: {noise!r} is not known here. Use 'isotropic', 'per_layer', 'shaped' or public variances.")
    if layer_clips is not None and not (isinstance(noise, str) and noise == "per_layer"):
        raise ValueError("layer_clips: goes with noise='per_layer'.")
    for name, value in (("shape", shape), ("forward", forward)):
        if value is not None and not (isinstance(noise, str) and noise == "shaped"):
            raise ValueError(f"{name}: goes with noise='shaped'.")
    if sampler not in _SAMPLERS:
        raise ValueError(f"sampler: {sampler!r} is neither 'poisson' nor 'allocate'.")
    if loss_reduction not in ("mean", "sum"):
        raise ValueError(f"loss_reduction: {loss_reduction!r} is neither 'mean' nor 'sum'.")
    if physical is not None and not (physical >= 1 and physical == int(physical)):
        raise ValueError(f"max_physical_batch_size: {physical} is not a number of records.")


def _multiplier(epsilon, delta, rate, steps, allocate, epochs, adjacency, group_size, release):
    """The noise multiplier of a target, what the metric releases included."""
    if release is not None:
        def account(sigma):
            total = Accountant(adjacency, group_size)
            total.step(release)
            if sigma is not None and allocate:
                total.compose(noise_multiplier=sigma, sampler="allocate", batches_per_epoch=allocate, epochs=epochs)
            elif sigma is not None:
                total.step(sigma, rate, steps)
            return total.get_epsilon(delta).value

        return shaped_multiplier(epsilon, account)
    drawn = dict(sampler="allocate", batches_per_epoch=allocate, epochs=epochs) if allocate else dict(sample_rate=rate, steps=steps)
    return noise_for(target_epsilon=epsilon, target_delta=delta, adjacency=adjacency, **drawn, **({} if group_size == 1 else {"group_size": group_size}))
