"""Private training: gradients clipped record by record, noise in a metric, Poisson batches, the accountant."""

from __future__ import annotations

from typing import NamedTuple

import torch

from .. import _core
from .._core import Claimed
from ..accounting import Accountant
from .gradients import flat, per_sample_gradients, refuse_mixing
from .states import trained, vector_of

_FLOAT_NOISE = ("noise is float32 from PyTorch's generator: it is not cryptographic, and its last digits are not protected against")
_OWN_BATCHES = "the batches that were given to step() were drawn by Poisson sampling at that rate: they did not come from batches()"


class Guarantee(NamedTuple):
    """(epsilon, delta)-differential privacy of a training, and what it rests on."""

    epsilon: Claimed
    delta: float
    conditions: list

    def __str__(self):
        return f"epsilon {self.epsilon} at delta = {self.delta:g}, if: " + "; ".join(self.conditions)


class PrivateOptimizer:
    """Any optimiser on private gradients: each record's gradient is clipped, noise is added to their sum.

        optimizer = PrivateOptimizer(torch.optim.SGD(model.parameters(), lr=0.5), model, loss,
                                     noise_multiplier=1.1, max_grad_norm=1.0, sample_rate=0.01, records=60000)
        for inputs, targets in optimizer.batches(dataset, steps=1000):
            optimizer.step(inputs, targets)
        optimizer.guarantee(delta=1e-5)

    The sum is divided by the expected batch size, sample_rate * records. `metric` is what records are clipped in:

    "isotropic"   the Euclidean norm; noise of deviation noise_multiplier * max_grad_norm
    "per_layer"   each tensor is clipped to max_grad_norm / sqrt(tensors) by itself
    variances     a vector or dict in state_dict layout, made without the private data: the norm is sqrt(sum g_i^2 / v_i), the noise has
                  variance (noise_multiplier * max_grad_norm)^2 v_i

    Records whose gradient is not finite contribute nothing and are counted in `not_finite`.
    """

    def __init__(self, optimizer, model, loss, *, noise_multiplier, max_grad_norm, sample_rate, records,
                 metric="isotropic", adjacency="add_remove", accountant=None, generator=None):
        if not noise_multiplier > 0:
            raise ValueError(f"noise_multiplier: {noise_multiplier} is not a positive number. Without noise there is no guarantee.")
        if not max_grad_norm > 0:
            raise ValueError(f"max_grad_norm: {max_grad_norm} is not a positive number.")
        if not 0 < sample_rate <= 1:
            raise ValueError(f"sample_rate: {sample_rate} is not in (0, 1].")
        if not records >= 1:
            raise ValueError(f"records: {records} is not a number of records.")
        refuse_mixing(model)
        self.optimizer = optimizer
        self.model = model
        self.loss = loss
        self.noise_multiplier = float(noise_multiplier)
        self.max_grad_norm = float(max_grad_norm)
        self.sample_rate = float(sample_rate)
        self.records = int(records)
        self.generator = generator
        self.accountant = Accountant(adjacency) if accountant is None else accountant
        self.not_finite = 0
        self.steps = 0
        self._drawn = set()
        self._foreign = False
        sizes = [parameter.numel() for _, parameter in trained(model)]
        if isinstance(metric, str) and metric not in ("isotropic", "per_layer"):
            raise ValueError(f"metric: {metric!r} is unknown. Use 'isotropic', 'per_layer' or variances.")
        self._layers = sizes if metric == "per_layer" else None
        self._variances = None
        if not isinstance(metric, str):
            self._variances = vector_of(metric, model)
            if not (torch.isfinite(self._variances).all() and (self._variances > 0).all()):
                raise ValueError("metric: a variance is not a finite positive number.")
        self._multiplier = self.noise_multiplier
        if self._layers:  # one sampling decision for all tensors
            clips = [self.max_grad_norm / len(sizes) ** 0.5] * len(sizes)
            noise = [self.noise_multiplier * self.max_grad_norm] * len(sizes)
            self._multiplier = _core.multiplier_of_layers(clips, noise)

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    @property
    def expected_batch_size(self):
        return self.sample_rate * self.records

    def batches(self, dataset, steps):
        """Poisson batches: each record by a coin of its own, fresh in every step; some may be empty.

        `dataset` is (inputs, targets) as tensors, or a Dataset of such pairs.
        """
        count = len(dataset[0]) if isinstance(dataset, (tuple, list)) else len(dataset)
        if count != self.records:
            raise ValueError(f"dataset: has {count} records, the accountant was told {self.records}.")
        for _ in range(steps):
            chosen = torch.nonzero(torch.rand(count, generator=self.generator) < self.sample_rate).reshape(-1)
            if isinstance(dataset, (tuple, list)):
                batch = tuple(part[chosen] for part in dataset)
            elif len(chosen):
                pairs = [dataset[int(i)] for i in chosen]
                batch = (torch.stack([torch.as_tensor(pair[0]) for pair in pairs]), torch.as_tensor([pair[1] for pair in pairs]))
            else:
                first = torch.as_tensor(dataset[0][0])
                batch = (first.new_zeros((0, *first.shape)), torch.zeros(0, dtype=torch.long))
            self._drawn.add(id(batch[0]))
            yield batch
            self._drawn.discard(id(batch[0]))

    def step(self, inputs, targets):
        """One private step on a batch; returns the number of records in it, which is itself private."""
        total = self._clipped_sum(inputs, targets)
        deviation = self.noise_multiplier * self.max_grad_norm
        noise = torch.randn(total.shape, dtype=total.dtype, generator=self.generator).to(total.device)
        if self._variances is not None:
            noise = noise * self._variances.sqrt().to(noise)
        private = (total + deviation * noise) / self.expected_batch_size
        at = 0
        for _, parameter in trained(self.model):
            parameter.grad = private[at : at + parameter.numel()].reshape(parameter.shape).to(parameter.dtype)
            at += parameter.numel()
        if id(inputs) not in self._drawn:
            self._foreign = True
        # Before the parameters move, so that what cannot be accounted for is not released.
        self.accountant.step(self._multiplier, self.sample_rate)
        self.optimizer.step()
        self.steps += 1
        return len(inputs)

    def _clipped_sum(self, inputs, targets):
        gradients = flat(per_sample_gradients(self.model, self.loss, inputs, targets))
        finite = torch.isfinite(gradients).all(dim=1)
        self.not_finite += int((~finite).sum())
        gradients = torch.where(finite.reshape(-1, 1), gradients, torch.zeros_like(gradients))
        if self._layers:
            clip = self.max_grad_norm / len(self._layers) ** 0.5
            return torch.cat([_clip(part, part.norm(dim=1), clip) for part in gradients.split(self._layers, dim=1)])
        scaled = gradients if self._variances is None else gradients / self._variances.sqrt().to(gradients)
        return _clip(gradients, scaled.norm(dim=1), self.max_grad_norm)

    def zero_grad(self, *arguments, **keywords):
        self.optimizer.zero_grad(*arguments, **keywords)

    def guarantee(self, delta):
        """What the steps so far guarantee, for every data set and record."""
        conditions = list(self.accountant.conditions) + [_FLOAT_NOISE]
        if self._variances is not None:
            conditions.append("the variances of the metric were made without the private data")
        if self._foreign:
            conditions.append(_OWN_BATCHES)
        return Guarantee(self.accountant.get_epsilon(delta), float(delta), conditions)

    def state_dict(self):
        return {"optimizer": self.optimizer.state_dict(), "accountant": self.accountant.state_dict(), "steps": self.steps,
                "not_finite": self.not_finite, "foreign": self._foreign}

    def load_state_dict(self, state):
        self.optimizer.load_state_dict(state["optimizer"])
        self.accountant.load_state_dict(state["accountant"])
        self.steps, self.not_finite, self._foreign = state["steps"], state["not_finite"], state["foreign"]


def _clip(gradients, norms, clip):
    """The sum of the gradients, each made no longer than `clip`; rounded so that none is longer."""
    factors = (clip / norms.double().clamp(min=1e-300)).clamp(max=1.0) * (1.0 - 1e-6)
    return (gradients * factors.to(gradients.dtype).reshape(-1, 1)).sum(dim=0)
