"""What private training guarantees: epsilon, delta, noise for a target."""

from __future__ import annotations

import os
from typing import Any

from . import _core
from ._answer import AccountAnswer
from ._ask import ask, claim_text
from ._core import Claimed
from ._values import Files, require_new

_SAMPLER = "poisson"


class Accountant:
    """Adds up what training reveals about a record, for every pair of neighbouring data sets.

    >>> accountant = Accountant()
    >>> for _ in range(3):
    ...     accountant.step(noise_multiplier=1.1, sample_rate=0.01)
    >>> accountant.get_epsilon(delta=1e-5)
    Claimed(<= 0.1957, claim='upper_bound', method='contour integral of the dominating pair')

    `adjacency` is "add_remove" (a record more or less), "zero_out" or "replace_one"; `group_size` how many records are
    protected together. The numbers are proven: an upper bound is never below the truth.
    """

    def __init__(self, adjacency: str = "add_remove", group_size: int = 1) -> None:
        self._native = _core.Accountant(adjacency, group_size)
        self._void: str | None = None
        self.step = self._native.step  # its signature is step(noise_multiplier, sample_rate=1, steps=1, sampler="poisson")

    @classmethod
    def _from_text(cls, text):
        accountant = cls.__new__(cls)
        accountant._native = _core.Accountant.load(text)
        accountant._void = None
        accountant.step = accountant._native.step
        return accountant

    def require(self, *conditions: str) -> None:
        """Adds what a guarantee rests on besides. It stays with the account, in its numbers, states and files."""
        known = self._native.conditions()
        for condition in dict.fromkeys(" ".join(c.split()) for c in conditions):
            if condition not in known:
                self._native.require(condition)

    def void(self, reason: str) -> None:
        """There is no guarantee of these releases, for this reason: numbers are refused from now on."""
        self._void = self._void or reason

    def require_as(self, other: Accountant) -> None:
        """Takes over what another account of these releases rests on."""
        self.require(*other.conditions)
        if other._void is not None:
            self.void(other._void)

    @property
    def why_no_guarantee(self) -> str | None:
        """Why numbers are refused; None if they are not."""
        return self._void

    @property
    def _proven(self):
        """The native account, to be asked for numbers."""
        if self._void is not None:
            raise ValueError(f"there is no guarantee: {self._void}")
        return self._native

    def compose(self, **release: Any) -> None:
        """Adds a release by the keys of `sfumato account` (docs/account.md), which `sfumato.keys("account")` lists.

        >>> accountant = Accountant()
        >>> accountant.compose(mechanism="laplace", noise_multiplier=2, steps=10, sampler="full")
        >>> accountant.get_epsilon(0)
        Claimed(<= 5.001, claim='upper_bound', method='contour integral of the dominating pair')
        """
        with Files() as files:
            keys = [([name], files.toml(value, name), name, [name]) for name, value in release.items() if value is not None]
            self._native.compose(keys)

    def epsilon(self, delta: float) -> _core.Enclosure:
        """Between which numbers epsilon is at that delta: .lower and .upper."""
        return self._proven.epsilon(delta)

    def delta(self, epsilon: float) -> _core.Enclosure:
        return self._proven.delta(epsilon)

    def get_epsilon(self, delta: float) -> Claimed:
        """The least epsilon that is proven at that delta."""
        return self._proven.epsilon(delta).upper

    def get_delta(self, epsilon: float) -> Claimed:
        return self._proven.delta(epsilon).upper

    def advantage(self) -> Claimed:
        """How much better than a guess the best attack on membership is, at most: TPR - FPR."""
        return self._proven.advantage()

    def tpr(self, fpr: float) -> Claimed:
        """The best attack's true-positive rate at that false-positive rate, at most."""
        return self._proven.tpr(fpr)

    def attack_accuracy(self, prior: float = 0.5) -> Claimed:
        """The best attack's share of right answers if a share `prior` of those asked about are members, at most."""
        return self._proven.attack_accuracy(prior)

    def trade_off(self, fprs):
        """Upper bounds on the true-positive rate at each of these false-positive rates, for curves."""
        return self._proven.trade_off([float(fpr) for fpr in fprs])

    def renyi_epsilon(self, delta: float) -> Claimed:
        """What accountants by Renyi divergence print: an upper bound, too, but a larger one."""
        return self._proven.renyi_epsilon(delta)

    def statement(self, delta: float) -> str:
        """A privacy statement for a model card, as Markdown."""
        return self._proven.statement(delta)

    @property
    def conditions(self):
        """What training must do for the guarantee to be true of it."""
        return self._native.conditions()

    @property
    def adjacency(self):
        return self._native.adjacency()

    @property
    def group_size(self):
        return self._native.group_size()

    @property
    def history(self):
        """The releases in words."""
        return self._native.history()

    def __len__(self):
        return len(self._native.history())

    def state_dict(self):
        """All there is to know, to go on from: the releases and nothing derived, so that no bit of a result changes."""
        return {"sfumato_accountant": 1, "toml": self._native.save(), "void": self._void}

    def load_state_dict(self, state):
        """Takes what state_dict() returned, or the state of an Opacus accountant ({"history": [(noise, rate, steps)]}, which does not say how
        batches were drawn: it is taken for Poisson sampling). Refused where it lacks releases that this accountant has: none is forgotten."""
        if "toml" in state:
            native = _core.Accountant.load(state["toml"])
        elif "history" in state:
            native = _core.Accountant("add_remove", 1)
            for noise, rate, steps in state["history"]:
                native.step(noise, rate, steps)
        else:
            raise ValueError("state_dict: has neither releases nor a history. Give what state_dict() returned.")
        mine = getattr(self, "_native", None)
        if mine is not None and not native.includes(mine):
            raise ValueError("state_dict: lacks releases that this accountant has, and an accountant does not forget. Load it into a new Accountant.")
        self._native = native
        self.step = native.step
        self._void = getattr(self, "_void", None)
        if mine is not None:
            self.require(*mine.conditions())
        if state.get("void") is not None:
            self.void(state["void"])

    def save(self, path, force=False):
        """Writes the releases as a file that `sfumato account` reads. An existing file is replaced only with `force`, and an account even then
        only by one that has its releases: none is forgotten."""
        require_new(path, force)
        _core.write_account(os.fspath(path), self._proven.save(), force)

    @classmethod
    def load(cls, path):
        with open(path, encoding="utf-8") as file:
            return cls._from_text(file.read())

    def __getstate__(self):
        return self.state_dict()

    def __setstate__(self, state):
        self.load_state_dict(state)

    def __repr__(self):
        return f"Accountant({self.adjacency}, {'; '.join(self.history) or 'nothing released yet'})"


def require_small_delta(delta, records, allowed=False):
    """Refuses a delta above 1 / records: publishing each record as it is with that probability would meet it."""
    if records is None or allowed or not delta * records > 1 + 1e-12:
        return
    raise ValueError(f"delta: {delta:g} is above 1 / {records} records: publishing records as they are, {delta * records:.2g} of them on average, "
                     "would meet it. Ask for a delta far below 1 / records, or give allow_large_delta=True.")


def epsilon(noise_multiplier: float | None = None, *, delta: float | None = None, sample_rate: float = 1.0, steps: int = 1,
            sampler: str = _SAMPLER, adjacency: str = "add_remove", group_size: int = 1, target_delta: float | None = None,
            **release: Any) -> Claimed:
    """The proven epsilon of a training at `delta` (also called `target_delta`).

    >>> round(epsilon(noise_multiplier=1.1, sample_rate=0.00427, steps=14062, delta=1e-5).value, 9)
    2.383681219

    Poisson sampling and a record more or less are taken for granted unless `sampler` and `adjacency` say otherwise: they are what the
    number speaks of. More keys of a release: batch_size and records, epochs, clips and noise_stds, mechanism
    (`sfumato.keys("account")`).
    """
    delta = target_delta if delta is None else delta
    if delta is None:
        raise ValueError("delta: is missing. An epsilon holds at a delta, far below 1 / records: delta=1e-5.")
    allowed = release.pop("allow_large_delta", False)
    require_small_delta(delta, release.get("records", release.get("num_samples")), allowed)
    accountant = Accountant(adjacency, group_size)
    if not release and sampler == _SAMPLER and noise_multiplier is not None and not isinstance(noise_multiplier, (list, tuple)):
        accountant.step(noise_multiplier, sample_rate, steps)
        return accountant.get_epsilon(delta)
    given = dict(noise_multiplier=noise_multiplier, sampler=sampler, **release)
    if not {"batch_size", "records", "expected_batch_size", "num_samples"} & set(release):
        given["sample_rate"] = sample_rate if sampler == _SAMPLER else None
    if "epochs" not in release:
        given["steps"] = steps
    accountant.compose(**given)
    return accountant.get_epsilon(delta)


def noise_multiplier(*, target_epsilon=None, delta=None, target_delta=None, sample_rate=None, steps=None,
                     sampler=_SAMPLER, adjacency="add_remove", progress=None, **keys: Any) -> float:
    """The least noise multiplier that meets a target, rounded to the safe side: the guarantee holds with it.

    >>> sigma = noise_multiplier(target_epsilon=3, delta=1e-5, sample_rate=0.01, steps=1000)
    >>> round(sigma, 4), round(epsilon(sigma, sample_rate=0.01, steps=1000, delta=1e-5).value, 9)
    (0.8136, 3.0)

    Targets: target_epsilon; or target_advantage, target_tpr with at_fpr, target_mu. Each with the delta that epsilon is said at.
    """
    if sampler == _SAMPLER and sample_rate == 1.0:
        sampler = "full"
    answer = account(target_epsilon=target_epsilon, target_delta=target_delta if delta is None else delta,
                     sample_rate=None if sampler == "full" else sample_rate, steps=steps, sampler=sampler, adjacency=adjacency,
                     progress=progress, **keys)
    if answer.noise_multiplier is None:
        raise ValueError("noise_multiplier: the noise is given already. Leave it out, it is what is sought.")
    return answer.noise_multiplier


def account(file="", *, progress=None, **keys):
    """Everything that `sfumato account` says of a run, of a file of releases, or of a target; keys as there.

    >>> answer = account(noise_multiplier=1.1, sample_rate=0.01, steps=1000, sampler="poisson",
    ...                  adjacency="add_remove", target_delta=1e-5, claim=(2, 1e-5))
    >>> answer.verdict
    'holds'
    """
    return ask("account", keys, file=file, progress=progress, kind=AccountAnswer)


__all__ = ["Accountant", "Claimed", "account", "claim_text", "epsilon", "noise_multiplier"]
