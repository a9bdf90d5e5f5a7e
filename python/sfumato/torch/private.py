"""Private training: gradients clipped record by record, noise in a metric, Poisson batches, the accountant."""

from __future__ import annotations

import os
from typing import NamedTuple

import torch

from .._core import Claimed
from ..accounting import Accountant, require_small_delta
from .gradients import flat, per_sample_gradients, refuse_mixing
from .metrics import Noise, metric_of
from .states import trained

_CONDITIONS = (
    "the number of records is public, and each of them is one record of the data",
    "the gradient that is computed for a record depends on that record, its place in the batch and the size of the batch alone: no layer, "
    "loss, hook, transform or dataset lets records see each other",
    "noise is Gaussian in double precision (ChaCha20, keys of the operating system): the finite set of its values, rounding in its last "
    "digits and the time it takes are not covered",
    "the weights and the state of the optimiser at the start were made without the private data, or what that revealed is in the accountant",
    "all else that was made from these records and is seen by others (losses, accuracies, other optimisers, when to stop, discarded runs) "
    "is accounted for",
)
_GIVEN = ("each batch given to step() is the batch that batches() drew, record by record: the values of some were not those that it drew, as after "
          "a scaling outside of batches(transform=)")
_LEFT_OUT = ("the batches that were drawn and not stepped on were left out for reasons that have nothing to do with their records or their size "
             "(memory, for example, has): some were")
_SEEDED = "the noise came from a seed, so that whoever knows it can take the noise off again: leave out seed="
_NEIGHBOURS = {"zero_out": "one record replaced by an empty one", "replace_one": "one record replaced by another"}


class Guarantee(NamedTuple):
    """(epsilon, delta)-differential privacy of a training, and what it rests on."""

    epsilon: Claimed
    delta: float
    conditions: list
    adjacency: str
    releases: list

    def __str__(self):
        return (f"epsilon {self.epsilon} at delta = {self.delta:g} for neighbours by {self.adjacency} ({_NEIGHBOURS[self.adjacency]})\n"
                f"{'; '.join(self.releases) or 'nothing released yet'}\n"
                f"if {len(self.conditions)} conditions hold: .conditions lists them")


def _bits(tensor):
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8)


class _Drawn:
    """A batch that waits for its step, in a copy that nothing else can change."""

    def __init__(self, parts):
        self.parts = tuple(part.detach().clone() for part in parts)
        self.process = os.getpid()

    def __len__(self):
        return len(self.parts[0])

    def is_given(self, parts):
        """Whether these have its values, bit by bit, on whatever device."""
        return all(torch.is_tensor(given) and given.dtype == part.dtype and given.shape == part.shape
                   and torch.equal(_bits(given.to(part.device)), _bits(part)) for part, given in zip(self.parts, parts))


class PrivateOptimizer:
    """Any optimiser on private gradients: each record's gradient is clipped, noise is added to their sum.

        optimizer = PrivateOptimizer(torch.optim.SGD(model.parameters(), lr=0.5), model, loss,
                                     noise_multiplier=1.1, max_grad_norm=1.0, sample_rate=0.01, records=60000)
        for inputs, targets in optimizer.batches(dataset, steps=1000):
            optimizer.step(inputs, targets)
        optimizer.guarantee(delta=1e-5)

    Every batch of batches() is for one step, the empty ones too: a step without a batch that was drawn for it is refused, and so is a draw while
    a batch waits. The sum is divided by the expected batch size, sample_rate * records. `adjacency` is "zero_out" (a record replaced by an empty
    one) or "replace_one"; the number of records is public. `metric` is what records are clipped in, as in
    `sfumato train --private` (docs/train.md); epsilon is the same for all but "input":

    "isotropic"   the Euclidean norm; noise of deviation noise_multiplier * max_grad_norm
    "per_layer"   each layer (the parameters of one module) by itself, to `layer_clips`, else max_grad_norm / sqrt(layers); the noise is split
                  so that its sum is least
    variances     a vector, a dict in state_dict layout or a design, made without the private data, scaled to mean 1: the norm is sqrt(sum g_i^2 / v_i),
                  the noise has variance (noise_multiplier * max_grad_norm)^2 v_i ("whitened"). With {"diagonal": v, "factor": F}, the same norm, and noise
                  of covariance proportional to diag(v) + F F^T ("low_rank")
    "released"    variances from the noisy gradients of earlier steps; isotropic for the first twentieth of `steps`, at least 20
    "input"       the inputs of the first layer whitened by their second moments, which are released before the first step from `inputs` (those of
                  all records) at the price `metric_mu`, a mu of Gaussian privacy, and accounted for. Longer inputs than `input_bound`
                  (default: the root of their number) are scaled down in the moments; `input_layer` names the layer, if it is not found

    Records whose gradient is not finite contribute nothing. Noise and batches come from a secure generator, which torch.manual_seed does not
    reach. With `seed` they can be repeated, for tests: then there is no guarantee, guarantee() returns None and `why_no_guarantee` says why.
    """

    def __init__(self, optimizer, model, loss, *, noise_multiplier, max_grad_norm, sample_rate, records,
                 metric="isotropic", layer_clips=None, steps=None, inputs=None, metric_mu=None, input_bound=None, input_layer=None,
                 adjacency=None, accountant=None, seed=None):
        if not 0 < noise_multiplier < float("inf"):
            raise ValueError(f"noise_multiplier: {noise_multiplier} is not a finite positive number. Without noise there is no guarantee.")
        if not 1e-100 <= max_grad_norm <= 1e100:
            raise ValueError(f"max_grad_norm: {max_grad_norm} is not a number from 1e-100 to 1e100.")
        if not 0 < sample_rate <= 1:
            raise ValueError(f"sample_rate: {sample_rate} is not in (0, 1].")
        if not (records >= 1 and records == int(records)):
            raise ValueError(f"records: {records} is not a number of records.")
        refuse_mixing(model)
        self.optimizer = optimizer
        self.model = model
        self.loss = loss
        self._noise_multiplier = float(noise_multiplier)
        self._max_grad_norm = float(max_grad_norm)
        self._sample_rate = float(sample_rate)
        self._records = int(records)
        self._noise = Noise(None if seed is None else int(seed))
        self._accountant = _accountant(adjacency, accountant)
        self._neighbours = self._accountant.adjacency, self._accountant.group_size
        self._steps = 0
        self._waiting = []  # the batch that was drawn and not stepped on: one at most
        self._seeded = seed is not None
        self._run = os.urandom(16).hex()  # whose steps these are: accounts with as many steps may be of two runs
        self._trained = [parameter for _, parameter in trained(model)]
        self._refuse_others()
        inputs = None if inputs is None else torch.as_tensor(inputs)
        if inputs is not None and len(inputs) != self.records:
            raise ValueError(f"inputs: {len(inputs)} records, the accountant was told {self.records}.")
        self._metric = metric_of(metric, model, self.noise_multiplier, self.max_grad_norm, layer_clips=layer_clips, inputs=inputs,
                                 metric_mu=metric_mu, input_bound=input_bound, input_layer=input_layer, steps=steps)

    # What the accountant is told does not change along the way.
    noise_multiplier = property(lambda self: self._noise_multiplier)
    max_grad_norm = property(lambda self: self._max_grad_norm)
    sample_rate = property(lambda self: self._sample_rate)
    records = property(lambda self: self._records)
    accountant = property(lambda self: self._accountant)
    steps = property(lambda self: self._steps)

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    @property
    def expected_batch_size(self):
        return self.sample_rate * self.records

    def batches(self, dataset, steps, *, device=None, transform=None):
        """Poisson batches: each record independently with probability sample_rate, anew in every step; some may be empty.

        `dataset` is (inputs, targets) as tensors, or a Dataset of such pairs. `transform` is applied to the input of each chosen record by
        itself (augmentation, scaling), `device` is where the batch goes then. Every batch must be given to step(), once.
        """
        tensors = isinstance(dataset, (tuple, list))
        if tensors and not (len(dataset) == 2 and all(torch.is_tensor(part) for part in dataset)):
            raise ValueError("dataset: is not (inputs, targets) as tensors. Give these, or a Dataset of such pairs.")
        for count in [len(part) for part in dataset] if tensors else [len(dataset)]:
            if count != self.records:
                raise ValueError(f"dataset: has {count} records, the accountant was told {self.records}.")
        for _ in range(steps):
            if self._waiting:
                raise RuntimeError("batches: the batch before was not given to step(). Every batch is for one step, also an empty one.")
            try:
                batch = self._batch(dataset, self._noise.batch(self.records, self.sample_rate), tensors, device, transform)
                drawn = _Drawn(batch)
            except BaseException:  # which batches fail may depend on who is in them
                self.accountant.require(_LEFT_OUT)
                raise
            self._waiting.append(drawn)
            try:
                yield batch
            except GeneratorExit:  # the loop was left: its last batch is no longer for a step
                if any(waiting is drawn for waiting in self._waiting):
                    self._waiting.clear()
                    self.accountant.require(_LEFT_OUT)
                raise

    @staticmethod
    def _batch(dataset, chosen, tensors, device, transform):
        if tensors:
            x, y = (part[chosen.to(part.device)] for part in dataset)
        else:
            pairs = [dataset[int(i)] for i in chosen] or [dataset[0]]
            x, y = torch.stack([torch.as_tensor(pair[0]) for pair in pairs]), torch.stack([torch.as_tensor(pair[1]) for pair in pairs])
            x, y = x[: len(chosen)], y[: len(chosen)]
        if transform is not None:
            if len(x):
                x = torch.stack([torch.as_tensor(transform(row)) for row in x])
            else:
                like = torch.as_tensor(transform(dataset[0][0]))
                x = like.new_zeros((0, *like.shape))
        return (x, y) if device is None else (x.to(device), y.to(device))

    def step(self, inputs, targets):
        """One private step on the batch that batches() drew last."""
        try:
            drawn = self._waiting.pop()
        except IndexError:
            raise RuntimeError("step: no batch was drawn for this step. Take one batch of batches() for each step, and step on it once.") from None
        if drawn.process != os.getpid():
            raise RuntimeError("step: another process has drawn this batch, and may step on it too. Draw batches in the process that steps.")
        try:
            private = self._private_gradient(drawn, inputs, targets)
            # Before the parameters move, so that what cannot be accounted for is not released. What the account rests on is kept with it:
            # another optimiser may go on with it.
            self._require_conditions()
            self.accountant.step(self._metric.noise_multiplier, self.sample_rate)
        except BaseException:
            self.accountant.require(_LEFT_OUT)
            raise
        if not drawn.is_given((inputs, targets)):
            self.accountant.require(_GIVEN)
        self._move(private)

    def _move(self, private):
        """A step of the optimiser on what was released."""
        at = 0
        for group in self.optimizer.param_groups:
            for parameter in group["params"]:
                parameter.grad = None  # frozen ones may have an old one
        for parameter in self._trained:
            part = private[at : at + parameter.numel()].reshape(parameter.shape)
            parameter.grad = part.to(dtype=parameter.dtype).to(parameter.device)
            at += parameter.numel()
        self.optimizer.step()
        self._metric.released(private, self.expected_batch_size)
        self._steps += 1

    def _private_gradient(self, drawn, inputs, targets):
        if not len(inputs) == len(targets) == len(drawn):
            raise ValueError("step: the batch has another number of records than were drawn. Give all that batches() drew, and no others.")
        self._require_neighbours()
        self._refuse_others()
        self._metric.prepare(self.accountant, self._noise)
        total = self._clipped_sum(inputs, targets)
        total = total + self._metric.noise(len(total), self._noise).to(total.device)
        return self._metric.gradient(total) / self.expected_batch_size

    def _require_conditions(self):
        self.accountant.require(*_CONDITIONS, *self._metric.conditions)
        if self._seeded:
            self.accountant.void(_SEEDED)

    def _require_neighbours(self):
        now = self.accountant.adjacency, self.accountant.group_size
        if now != self._neighbours:
            raise ValueError(f"accountant: is for {now[0]} and groups of {now[1]} now, and was for {self._neighbours[0]} and groups of "
                             f"{self._neighbours[1]} when this optimiser was made. Load other states into an Accountant of their own.")

    def _refuse_others(self):
        """Parameters that the optimiser would move by gradients that are none of ours."""
        now = [parameter for _, parameter in trained(self.model)]
        if len(now) != len(self._trained) or any(a is not b for a, b in zip(now, self._trained)):
            raise ValueError("model: other parameters are trained than when this optimiser was made. Make a new one with accountant=.")
        known = {id(parameter) for parameter in self.model.parameters()}
        for group in self.optimizer.param_groups:
            if any(id(parameter) not in known for parameter in group["params"]):
                raise ValueError("optimizer: has a parameter that is not the model's. Its gradients would be neither clipped nor noised.")

    def _clipped_sum(self, inputs, targets):
        return self._metric.clipped(flat(per_sample_gradients(self.model, self.loss, inputs, targets)), self.records)

    def zero_grad(self, *arguments, **keywords):
        self.optimizer.zero_grad(*arguments, **keywords)

    @property
    def why_no_guarantee(self):
        """Why guarantee() is None; None if it is not."""
        return _SEEDED if self._seeded else self.accountant.why_no_guarantee

    def guarantee(self, delta, allow_large_delta=False):
        """What the steps so far guarantee, for every data set and record; None if `seed` was given. A delta above 1 / records is refused unless it is allowed."""
        if self.why_no_guarantee is not None:
            return None
        require_small_delta(delta, self.records, allow_large_delta)
        self._require_neighbours()
        self._require_conditions()
        epsilon = self.accountant.get_epsilon(delta)
        return Guarantee(epsilon, float(delta), self.accountant.conditions, self.accountant.adjacency, self.accountant.history)

    def state_dict(self):
        return {"optimizer": self.optimizer.state_dict(), "accountant": self.accountant.state_dict(), "steps": self.steps, "run": self._run,
                "waiting": bool(self._waiting), "seeded": self._seeded, "metric": self._metric.state()}

    def load_state_dict(self, state):
        """Goes on from a state, with its account. Of two accounts of which one includes the other the larger is kept: what was released stays so."""
        if "run" not in state or "seeded" not in state:
            raise ValueError("state_dict: is no state of this version of PrivateOptimizer.")
        if state["run"] != self._run and self.accountant.history:
            # Equal releases may be the same ones or as many others.
            raise ValueError("state_dict: is of another run, and this account has releases already, which that run may have or not. "
                             "Load it into a new PrivateOptimizer without accountant=: the state brings its account along.")
        theirs = Accountant(self.accountant.adjacency, self.accountant.group_size)
        theirs.load_state_dict(state["accountant"])
        if theirs.adjacency != self.accountant.adjacency or theirs.group_size != self.accountant.group_size:
            raise ValueError(f"state_dict: its account is for {theirs.adjacency}, this one for {self.accountant.adjacency}.")
        if theirs._native.includes(self.accountant._native):
            self.accountant.load_state_dict(state["accountant"])
        elif self.accountant._native.includes(theirs._native):
            self.accountant.require_as(theirs)
        else:
            raise ValueError("state_dict: its account and this one each have releases that the other lacks. Load it into a new PrivateOptimizer.")
        self.optimizer.load_state_dict(state["optimizer"])
        if self._waiting or state["waiting"]:
            self.accountant.require(_LEFT_OUT)
        self._waiting.clear()
        self._steps, self._run = state["steps"], state["run"]
        self._seeded = self._seeded or state["seeded"]
        if state.get("metric") is not None:
            self._metric.restore(state["metric"])

    def __getstate__(self):
        # A batch is for one step of one optimiser.
        return {**self.__dict__, "_waiting": [], "_lost": bool(self._waiting)}

    def __setstate__(self, state):
        lost = state.pop("_lost")
        self.__dict__.update(state)
        if lost:
            self.accountant.require(_LEFT_OUT)


def _accountant(adjacency, accountant):
    adjacency = adjacency or ("zero_out" if accountant is None else accountant.adjacency)
    if adjacency not in _NEIGHBOURS:
        raise ValueError(f"adjacency: {adjacency!r} is not possible, since sums are divided by a number of records and batches depend on their places. "
                         "Use 'zero_out', which has the same epsilon, or 'replace_one'.")
    if accountant is not None and accountant.adjacency != adjacency:
        raise ValueError(f"accountant: is for {accountant.adjacency}, adjacency={adjacency!r} was asked for.")
    return Accountant(adjacency) if accountant is None else accountant
