"""What an Opacus PrivacyEngine did, as releases that can be checked."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from .._core import Claimed
from ..accounting import Accountant


class Comparison(NamedTuple):
    """The same training by two accountants."""

    proven: Claimed  #: ours, an upper bound
    lower: Claimed  #: what such a training reveals on some data
    opacus: float
    opacus_is_safe: bool  #: whether their number is not below what is revealed


def accountant_from_opacus(engine, loader=None, *, sampler=None):
    """An Accountant with the noise, sample rate and steps that the engine's accountant has recorded.

    The engine does not record how batches were drawn, on which epsilon depends. Give the `loader` that make_private returned, which tells,
    or say it: sampler="poisson" (poisson_sampling=True), an assumption of the answer then. Shuffled batches are refused.
    """
    history = list(getattr(engine, "accountant", engine).history)
    if loader is None and sampler is None:
        raise ValueError("loader: is missing. Give the loader that make_private returned, or sampler='poisson' if its batches were Poisson samples.")
    if loader is not None:
        drawn = _poisson_rate(loader)
        if drawn is None:
            raise ValueError("loader: does not draw Poisson batches (poisson_sampling=False?), so that this account would be too small. "
                             "Use sfumato.account(sampler='shuffle', adjacency='zero_out', epochs=...).")
        if any(rate < drawn * (1 - 1e-12) for _, rate, _ in history):
            raise ValueError(f"loader: draws records at the rate {drawn:g}, above one that the engine has recorded.")
    elif sampler != "poisson":
        raise ValueError(f"sampler: {sampler!r} is not accounted for here. Use sfumato.account(sampler=..., adjacency='zero_out', epochs=...).")
    accountant = Accountant()
    accountant.load_state_dict({"history": history})
    return accountant


def _poisson_rate(loader):
    """The rate at which a loader samples each record independently; None if it does not."""
    try:
        samplers = import_module("opacus.utils.uniform_sampler")
    except ImportError:
        return None
    sampler = getattr(loader, "batch_sampler", None)
    known = (samplers.UniformWithReplacementSampler, samplers.DistributedUniformWithReplacementSampler)
    return float(sampler.sample_rate) if isinstance(sampler, known) else None


def compare_with_opacus(engine, delta, loader=None, *, sampler=None):
    """Both accountants of one training, whose batches `loader` or `sampler` describe (accountant_from_opacus)."""
    accountant = accountant_from_opacus(engine, loader, sampler=sampler)
    ours = accountant.epsilon(delta)
    theirs = float(getattr(engine, "accountant", engine).get_epsilon(delta=delta))
    return Comparison(ours.upper, ours.lower, theirs, theirs >= ours.lower.value)
