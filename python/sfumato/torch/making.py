"""make_private: a model, an optimiser and a loader made private, for a loop that stays as it is."""

from __future__ import annotations

import os
import weakref
from collections import deque
from inspect import signature
from typing import NamedTuple

import torch
from torch.utils.data import DataLoader, IterableDataset, RandomSampler, SequentialSampler

from ..accounting import noise_multiplier as noise_for
from ..accounting import require_small_delta
from .clipping import ClippedSums, _mapped
from .private import _LEFT_OUT, PrivateOptimizer
from .states import trained

_OURS = (
    "each batch that the model was given is the one that the loader drew for that step, record by record, on whatever device and after whatever "
    "transformation of each by itself (the number of records is checked)",
    "the loss of a batch is the sum or, where that was said, the mean of the losses of its records by themselves (not a mean over the tokens that count, "
    "or weighted by class), no scale of it depends on the records, and the collate function lets none see another (texts are padded to a fixed length)",
)
_NOISES = ("isotropic", "per_layer")
_hooked: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


class _Part(NamedTuple):
    """What the loader drew for one call of step(): a batch, or a part of it."""

    draw: object
    records: int
    last: bool
    process: int


class _Draws:
    """Poisson batches as lists of places, in parts of at most `physical` records."""

    def __init__(self, noise, records, rate, steps, physical):
        self.noise, self.records, self.rate, self.steps, self.physical = noise, records, rate, steps, physical
        self.parts = deque()

    def __len__(self):
        return self.steps

    def __iter__(self):
        self.parts = deque()
        return self._drawn(self.parts)

    def _drawn(self, parts):
        for _ in range(self.steps):
            chosen = self.noise.batch(self.records, self.rate).tolist()
            size = self.physical or max(1, len(chosen))
            draw = object()
            for at in range(0, max(1, len(chosen)), size):
                part = chosen[at : at + size]
                parts.append(_Part(draw, len(part), at + size >= len(chosen), os.getpid()))
                yield part


class _Collate:
    """The user's collate function, and what a batch without records is."""

    def __init__(self, collate, empty):
        self.collate, self.empty = collate, empty

    def __call__(self, rows):
        return self.collate(rows) if len(rows) else _mapped(self.empty, torch.clone)


class PrivateLoader:
    """The user's loader with Poisson batches: each record independently with the same probability, anew in every step; some may be empty.

    Its length is the number of steps of an epoch. Every batch, or part of one, is for one call of step().
    """

    def __init__(self, loader, optimizer, steps, physical):
        self.dataset = loader.dataset
        self.batch_size = loader.batch_size  # on average
        self._optimizer = optimizer
        self._records = optimizer.records
        self._draws = _Draws(optimizer._noise, self._records, optimizer.sample_rate, steps, physical)
        empty = _mapped(loader.collate_fn([self.dataset[0]]), lambda tensor: tensor[:0] if tensor.ndim else tensor)
        workers = {}
        if loader.num_workers > 0:
            workers = dict(prefetch_factor=loader.prefetch_factor, persistent_workers=loader.persistent_workers,
                           multiprocessing_context=loader.multiprocessing_context)
        self._loader = DataLoader(self.dataset, batch_sampler=self._draws, collate_fn=_Collate(loader.collate_fn, empty), num_workers=loader.num_workers,
                                  pin_memory=loader.pin_memory, timeout=loader.timeout, worker_init_fn=loader.worker_init_fn, generator=loader.generator,
                                  **workers)

    def __len__(self):
        return self._draws.steps

    def __iter__(self):
        if len(self.dataset) != self._records:
            raise ValueError(f"loader: its dataset has {len(self.dataset)} records, the accountant was told {self._records}.")
        optimizer = self._optimizer
        optimizer._may_draw()
        drawn = iter(self._loader)
        parts = self._draws.parts
        part = None
        try:
            while True:
                optimizer._may_draw(part)
                try:
                    batch = next(drawn)
                except StopIteration:
                    return
                except BaseException:  # which batches fail may depend on who is in them
                    optimizer._leave_out()
                    raise
                part = parts.popleft()
                if optimizer._drew(part):
                    yield batch
        except GeneratorExit:  # the loop was left: what was drawn last is no longer for a step
            if part is not None and optimizer._is_open(part):
                optimizer._leave_out()
            raise


class PrivateTraining(PrivateOptimizer, torch.optim.Optimizer):
    """The optimiser that make_private returns: the user's, on clipped sums with noise. Schedulers take it for the optimiser it is.

    `stepped` says whether the last step() moved the parameters: a part of a batch that is not its last does not.
    """

    def __init__(self, optimizer, model, *, target_delta, loss_reduction, most_steps, metric, layer_clips, **keys):
        super().__init__(optimizer, model, None, metric=metric, layer_clips=layer_clips, **keys)
        self.target_delta = target_delta
        self.stepped = False
        self._mean = loss_reduction == "mean"
        self._most_steps = most_steps  # of a target
        self._failed = None  # the draw that lost a part
        self._totals = None  # by parameter, between the parts of a batch
        if model in _hooked:
            _hooked[model].remove()
        self._sums = _hooked[model] = ClippedSums(model, self.records)
        sizes = [sum(p.numel() for p in module.parameters(recurse=False) if p.requires_grad) for module in self._sums._layers]
        clips = getattr(self._metric, "clips", None)
        if clips is not None and getattr(self._metric, "sizes", None) != sizes:
            raise ValueError("noise: 'per_layer' needs the parameters of each layer beside each other in the model.")
        self._clips = self.max_grad_norm if clips is None else dict(zip(self._sums._layers, clips))

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    @param_groups.setter
    def param_groups(self, groups):  # what they have is looked at in each step
        self.optimizer.param_groups = groups

    state = property(lambda self: self.optimizer.state)
    defaults = property(lambda self: self.optimizer.defaults)

    def __repr__(self):
        return f"Private {self.optimizer!r}"

    def add_param_group(self, param_group):
        raise ValueError("optimizer: parameters cannot be added to a private optimiser, whose records are clipped in those that it has. "
                         "Add them before make_private, or make the model private again, with accountant=.")

    def register_step_pre_hook(self, hook):
        return self.optimizer.register_step_pre_hook(hook)

    def register_step_post_hook(self, hook):
        return self.optimizer.register_step_post_hook(hook)

    def batches(self, *arguments, **keys):
        raise RuntimeError("batches: take those of the loader that make_private returned.")

    # What the loader tells.

    def _may_draw(self, part=None):
        if self._waiting:
            raise RuntimeError("loader: the batch before was not given to step(). Every batch is for one step, also an empty one.")
        if self._totals is not None and (part is None or not self._is_open(part)):
            self._leave_out()

    def _drew(self, part):
        """Whether this part is for a step: not if its batch has lost another."""
        if part.draw is self._failed:
            return False
        if self._most_steps is not None and self.steps >= self._most_steps:
            raise RuntimeError(f"loader: the noise was found for {self._most_steps} steps, which were made. More would cost more than target_epsilon: "
                               "ask for more epochs, or give noise_multiplier.")
        self._sums.clear()
        self._waiting.append(part)
        return True

    def _is_open(self, part):
        return any(waiting is part for waiting in self._waiting) or (self._totals is not None and self._draw is part.draw)

    def _leave_out(self):
        self._waiting.clear()
        self._totals = None
        self._sums.clear()
        self.accountant.require(_LEFT_OUT)

    # A step.

    def step(self, closure=None):
        """A private step on the batch that the loader drew last; of a batch in parts, the last part makes it."""
        if closure is not None:
            raise ValueError("closure: would see the records several times in one step, which has no guarantee. Call backward(), then step().")
        if not self._waiting:
            raise RuntimeError("step: no batch was drawn for this step. Take one batch of the loader that make_private returned for each step.")
        part = self._waiting.pop()
        try:
            self._add(part)
            if part.last:
                total = torch.cat([self._totals[parameter] for parameter in self._trained])
                total = total + self._metric.noise(len(total), self._noise).to(total.device)
                private = self._metric.gradient(total) / self.expected_batch_size
                # Before the parameters move, so that what cannot be accounted for is not released.
                self._require_conditions()
                self.accountant.step(self._metric.noise_multiplier, self.sample_rate)
        except BaseException:
            self._failed = part.draw
            self._leave_out()
            raise
        self._sums.clear()
        self.stepped = part.last
        if part.last:
            self._totals = None
            self._move(private)

    def _add(self, part):
        if part.process != os.getpid():
            raise RuntimeError("step: another process has drawn this batch, and may step on it too. Draw batches in the process that steps.")
        self._require_neighbours()
        self._refuse_others()
        if self._sums.seen != part.records:
            raise RuntimeError(f"step: the model read {self._sums.seen} records in training mode since the loader drew {part.records}. Give it the batches "
                               "of the loader that make_private returned, once each, after model.train(); evaluate with model.eval() or torch.no_grad().")
        self._sums.refuse()
        if self._totals is None:
            self._draw = part.draw
            self._totals = {p: torch.zeros(p.numel(), dtype=torch.float64, device=p.device if p.device.type != "mps" else "cpu") for p in self._trained}
        self._sums.add(self._totals, self._clips, float(part.records) if self._mean else 1.0)

    def _require_conditions(self):
        super()._require_conditions()
        self.accountant.require(*_OURS)

    # What it guarantees.

    def guarantee(self, delta=None, allow_large_delta=False):
        """What the steps so far guarantee at `delta`, else at the target_delta; None if `seed` was given."""
        delta = self.target_delta if delta is None else delta
        if delta is None:
            raise ValueError("delta: is missing. An epsilon holds at a delta, far below 1 / records: delta=1e-5.")
        return super().guarantee(delta, allow_large_delta)

    def epsilon(self, delta=None):
        """The proven epsilon of the steps so far."""
        guarantee = self.guarantee(delta)
        if guarantee is None:
            raise ValueError(f"there is no guarantee: {self.why_no_guarantee}")
        return guarantee.epsilon

    def load_state_dict(self, state):
        if self._totals is not None:
            self._leave_out()
        super().load_state_dict(state)
        self._sums.clear()

    def state_dict(self):
        return {**super().state_dict(), "waiting": bool(self._waiting) or self._totals is not None}

    def __getstate__(self):
        raise TypeError("optimizer: hooks of its model cannot be copied. Save state_dict(), which has the account.")


def make_private(model, optimizer, loader, *, max_grad_norm, noise_multiplier=None, target_epsilon=None, target_delta=None, epochs=None,
                 noise="isotropic", layer_clips=None, loss_reduction="mean", max_physical_batch_size=None, adjacency=None, accountant=None, seed=None):
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
    that have as many records on average as its own had; empty ones are steps too. With `max_physical_batch_size` they come in parts, each
    with a step() of its own, of which the last moves the parameters (`optimizer.stepped`).

    `noise` is "isotropic" or "per_layer" (each layer by itself, to `layer_clips`, else max_grad_norm / sqrt(layers)); `loss_reduction` says whether
    the loss is the "mean" or the "sum" over the records. Layers: Linear, Conv1d to Conv3d, Embedding, LayerNorm and GroupNorm; others may have no trained
    parameters. Noise and batches come from a secure generator; with `seed` they can be repeated, for tests, and there is no guarantee.
    """
    if "always_call" not in signature(torch.nn.Module.register_forward_hook).parameters:
        raise ImportError(f"make_private needs PyTorch 2.1 or newer, this is {torch.__version__}")
    if not isinstance(model, torch.nn.Module):
        raise TypeError("model: is no torch.nn.Module.")
    if isinstance(model, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)) or (
            torch.distributed.is_available() and torch.distributed.is_initialized() and torch.distributed.get_world_size() > 1):
        raise ValueError("model: training on several processes or devices at once has no guarantee here: each would draw batches and noise of its own.")
    if hasattr(model, "_orig_mod"):
        raise ValueError("model: is compiled, and what its layers read cannot be kept. Give the model before torch.compile.")
    if isinstance(optimizer, PrivateOptimizer) or not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError("optimizer: is no optimiser of torch.optim without privacy.")
    if isinstance(optimizer, torch.optim.LBFGS):
        raise ValueError("optimizer: LBFGS reads the records several times in one step, through a closure, which has no guarantee. Use another.")
    if noise not in _NOISES:
        raise ValueError(f"noise: {noise!r} is not known here. Use 'isotropic' or 'per_layer'; PrivateOptimizer has more, at the speed of its gradients.")
    if layer_clips is not None and noise != "per_layer":
        raise ValueError("layer_clips: goes with noise='per_layer'.")
    if loss_reduction not in ("mean", "sum"):
        raise ValueError(f"loss_reduction: {loss_reduction!r} is neither 'mean' nor 'sum'.")
    if max_physical_batch_size is not None and not (max_physical_batch_size >= 1 and max_physical_batch_size == int(max_physical_batch_size)):
        raise ValueError(f"max_physical_batch_size: {max_physical_batch_size} is not a number of records.")
    if (noise_multiplier is None) == (target_epsilon is None):
        raise ValueError("noise_multiplier: give it, or target_epsilon with target_delta and epochs, and not both.")
    records, size = _of_loader(loader)
    if target_delta is not None:
        require_small_delta(target_delta, records)
    rate = min(1.0, size / records)
    steps = -(-records // size)
    most = None
    if target_epsilon is not None:
        if target_delta is None or epochs is None or not (epochs >= 1 and epochs == int(epochs)):
            raise ValueError("target_epsilon: goes with target_delta and a number of epochs.")
        if accountant is not None and len(accountant):
            raise ValueError("accountant: has releases already, beside which a target is not found here. Give noise_multiplier.")
        most = steps * int(epochs)
        noise_multiplier = noise_for(target_epsilon=target_epsilon, target_delta=target_delta, sample_rate=rate, steps=most,
                                     adjacency=adjacency or ("zero_out" if accountant is None else accountant.adjacency),
                                     **({} if accountant is None or accountant.group_size == 1 else {"group_size": accountant.group_size}))
    known = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
    missing = [name for name, parameter in trained(model) if id(parameter) not in known]
    if missing:
        raise ValueError(f"optimizer: does not have the trained parameter {missing[0]}. Give it all, or freeze that one (requires_grad_(False)).")
    private = PrivateTraining(optimizer, model, target_delta=target_delta, loss_reduction=loss_reduction, most_steps=most, metric=noise,
                              layer_clips=layer_clips, noise_multiplier=noise_multiplier, max_grad_norm=max_grad_norm, sample_rate=rate, records=records,
                              adjacency=adjacency, accountant=accountant, seed=seed)
    physical = None if max_physical_batch_size is None else int(max_physical_batch_size)
    return model, private, PrivateLoader(loader, private, steps, physical)


def _of_loader(loader):
    """The records of a loader, and how many a batch has."""
    if not isinstance(loader, DataLoader):
        raise TypeError("loader: is no torch.utils.data.DataLoader.")
    if isinstance(loader.dataset, IterableDataset):
        raise ValueError("loader: its dataset can only be read in order, so that batches cannot be drawn from it. Use one with places (__getitem__).")
    if loader.batch_size is None or type(loader.sampler) not in (RandomSampler, SequentialSampler) or getattr(loader.sampler, "replacement", False):
        raise ValueError("loader: has a sampler of its own, which Poisson batches would replace. Give one with batch_size, and shuffle or not.")
    records = len(loader.dataset)
    if records < 1:
        raise ValueError("loader: its dataset is empty.")
    return records, loader.batch_size
