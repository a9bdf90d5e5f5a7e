"""What an Opacus PrivacyEngine did, as releases that can be checked."""

from __future__ import annotations

from typing import NamedTuple

from .._core import Claimed
from ..accounting import Accountant


class Comparison(NamedTuple):
    """The same training by two accountants."""

    proven: Claimed  #: ours, an upper bound
    lower: Claimed  #: what such a training reveals on some data
    opacus: float
    opacus_is_safe: bool  #: whether their number is not below what is revealed


def accountant_from_opacus(engine):
    """An Accountant with the noise, sample rate and steps that the engine's accountant has recorded (Poisson sampling, its default)."""
    accountant = Accountant()
    accountant.load_state_dict({"history": list(getattr(engine, "accountant", engine).history)})
    return accountant


def compare_with_opacus(engine, delta):
    """Both accountants of one training."""
    accountant = accountant_from_opacus(engine)
    ours = accountant.epsilon(delta)
    theirs = float(getattr(engine, "accountant", engine).get_epsilon(delta=delta))
    return Comparison(ours.upper, ours.lower, theirs, theirs >= ours.lower.value)
