"""Private training: gradients clipped record by record, noise in a metric, Poisson batches, the accountant."""

from __future__ import annotations

from typing import NamedTuple

import torch

from .._core import Claimed
from ..accounting import Accountant
from .gradients import flat, per_sample_gradients, refuse_mixing
from .metrics import metric_of
from .states import trained

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

    The sum is divided by the expected batch size, sample_rate * records. `metric` is what records are clipped in, as in
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

    Records whose gradient is not finite contribute nothing and are counted in `not_finite`.
    """

    def __init__(self, optimizer, model, loss, *, noise_multiplier, max_grad_norm, sample_rate, records,
                 metric="isotropic", layer_clips=None, steps=None, inputs=None, metric_mu=None, input_bound=None, input_layer=None,
                 adjacency="add_remove", accountant=None, generator=None):
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
        inputs = None if inputs is None else torch.as_tensor(inputs)
        if inputs is not None and len(inputs) != self.records:
            raise ValueError(f"inputs: {len(inputs)} records, the accountant was told {self.records}.")
        self._metric = metric_of(metric, model, self.noise_multiplier, self.max_grad_norm, layer_clips=layer_clips, inputs=inputs,
                                 metric_mu=metric_mu, input_bound=input_bound, input_layer=input_layer, steps=steps)

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
        self._metric.prepare(self.accountant, self.generator)
        total = self._clipped_sum(inputs, targets)
        total = total + self._metric.noise(total, self.generator)
        private = self._metric.gradient(total) / self.expected_batch_size
        at = 0
        for _, parameter in trained(self.model):
            parameter.grad = private[at : at + parameter.numel()].reshape(parameter.shape).to(parameter.dtype)
            at += parameter.numel()
        if id(inputs) not in self._drawn:
            self._foreign = True
        # Before the parameters move, so that what cannot be accounted for is not released.
        self.accountant.step(self._metric.noise_multiplier, self.sample_rate)
        self.optimizer.step()
        self._metric.released(private, self.expected_batch_size)
        self.steps += 1
        return len(inputs)

    def _clipped_sum(self, inputs, targets):
        gradients = flat(per_sample_gradients(self.model, self.loss, inputs, targets))
        gradients = gradients.to(torch.promote_types(gradients.dtype, torch.float32))  # sums of half precision lose records
        finite = torch.isfinite(gradients).all(dim=1)
        self.not_finite += int((~finite).sum())
        gradients = torch.where(finite.reshape(-1, 1), gradients, torch.zeros_like(gradients))
        return self._metric.clipped(gradients)

    def zero_grad(self, *arguments, **keywords):
        self.optimizer.zero_grad(*arguments, **keywords)

    def guarantee(self, delta):
        """What the steps so far guarantee, for every data set and record."""
        conditions = list(self.accountant.conditions) + [_FLOAT_NOISE]
        conditions += self._metric.conditions
        if self.generator is not None:
            conditions.append("the seed of the generator is as secret as the data")
        if self._foreign:
            conditions.append(_OWN_BATCHES)
        return Guarantee(self.accountant.get_epsilon(delta), float(delta), conditions)

    def state_dict(self):
        return {"optimizer": self.optimizer.state_dict(), "accountant": self.accountant.state_dict(), "steps": self.steps,
                "not_finite": self.not_finite, "foreign": self._foreign, "metric": self._metric.state()}

    def load_state_dict(self, state):
        self.optimizer.load_state_dict(state["optimizer"])
        self.accountant.load_state_dict(state["accountant"])
        self.steps, self.not_finite, self._foreign = state["steps"], state["not_finite"], state["foreign"]
        if state.get("metric") is not None:
            self._metric.restore(state["metric"])

