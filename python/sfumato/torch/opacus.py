"""What an Opacus PrivacyEngine did, as releases that can be checked."""

from __future__ import annotations

import math
from importlib import import_module
from typing import NamedTuple

import numpy as np

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
    or say it: sampler="poisson" (poisson_sampling=True), an assumption of the answer then. Shuffled batches are refused. Opacus compares
    uniform numbers of 24 bits with the sample rate: with a loader, the account has the rate that results, which is slightly larger.
    """
    history = list(getattr(engine, "accountant", engine).history)
    if loader is None and sampler is None:
        raise ValueError("loader: is missing. Give the loader that make_private returned, or sampler='poisson' if its batches were Poisson samples.")
    if loader is not None:
        drawn = _poisson_rate(loader)
        if any(rate < drawn * (1 - 1e-12) for _, rate, _ in history):
            raise ValueError(f"loader: draws records at the rate {drawn:g}, above one that the engine has recorded.")
        history = [(noise, max(rate, _rate_of_24_bits(drawn)), steps) for noise, rate, steps in history]
    elif sampler != "poisson":
        raise ValueError(f"sampler: {sampler!r} is not accounted for here. Use sfumato.account(sampler=..., adjacency='zero_out', epochs=...).")
    accountant = Accountant()
    accountant.load_state_dict({"history": history})
    return accountant


def _poisson_rate(loader):
    """The rate at which a loader samples each record independently; refused if it is not known to."""
    sampler = getattr(loader, "batch_sampler", None)
    try:
        samplers = import_module("opacus.utils.uniform_sampler")
        splitting = import_module("opacus.utils.batch_memory_manager").BatchSplittingSampler
    except ImportError:
        raise ValueError("loader: Opacus is not installed, so that it cannot be told how this loader draws. Say sampler='poisson' if it does so.") from None
    if type(sampler) is splitting:  # in pieces, for one step
        sampler = sampler.sampler
    if type(sampler) is samplers.UniformWithReplacementSampler:
        return float(sampler.sample_rate)
    if isinstance(sampler, samplers.DistributedUniformWithReplacementSampler):
        raise ValueError("loader: the distributed sampler of Opacus leaves empty batches out, which Poisson sampling does not. "
                         "Say sampler='poisson' if no batch can have been empty.")
    if isinstance(sampler, samplers.UniformWithReplacementSampler):
        raise ValueError(f"loader: its sampler {type(sampler).__name__} is not Opacus's own. Say sampler='poisson' if it draws as that does.")
    raise ValueError("loader: does not draw Poisson batches (poisson_sampling=False?), so that this account would be too small. "
                     "Use sfumato.account(sampler='shuffle', adjacency='zero_out', epochs=...).")


def _rate_of_24_bits(rate):
    """The probability of `torch.rand(...) < rate` in single precision: a multiple of 2^-24, not below the rate."""
    return min(1.0, max(rate, math.ceil(float(np.float32(rate)) * 2**24) / 2**24))


def compare_with_opacus(engine, delta, loader=None, *, sampler=None):
    """Both accountants of one training, whose batches `loader` or `sampler` describe (accountant_from_opacus)."""
    accountant = accountant_from_opacus(engine, loader, sampler=sampler)
    ours = accountant.epsilon(delta)
    theirs = float(getattr(engine, "accountant", engine).get_epsilon(delta=delta))
    return Comparison(ours.upper, ours.lower, theirs, theirs >= ours.lower.value)


def register_with_opacus(name="sfumato"):
    """PrivacyEngine(accountant="sfumato"): our proven upper bounds in Opacus, for Poisson batches and a record more or less."""
    registry = import_module("opacus.accountants.registry")
    base = import_module("opacus.accountants.accountant").IAccountant

    class SfumatoAccountant(base):
        def __init__(self):
            super().__init__()

        def step(self, *, noise_multiplier, sample_rate):
            if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
                self.history[-1] = (noise_multiplier, sample_rate, self.history[-1][2] + 1)
            else:
                self.history.append((noise_multiplier, sample_rate, 1))

        def get_epsilon(self, delta, **_):
            accountant = Accountant()
            # The rate that is drawn: Opacus compares numbers of 24 bits with it.
            accountant.load_state_dict({"history": [(noise, _rate_of_24_bits(rate), steps) for noise, rate, steps in self.history]})
            return accountant.get_epsilon(delta).value

        def __len__(self):
            return sum(steps for _, _, steps in self.history)

        @classmethod
        def mechanism(cls):
            return name

    registry.register_accountant(name, SfumatoAccountant, force=True)
    return SfumatoAccountant
