"""Tries out, without data, whether a model lets the records of a batch see each other or keeps a state of what it reads.

Records of noise go through the model several times, with the same random numbers. By gradients: what one record writes depends on no other. By values:
with one record changed (far above the others, far below, at random) every other keeps what it writes, bit by bit, in every layer. And a pass
on what was read before writes what was written before.
"""

from __future__ import annotations

import random

import numpy as np
import torch

from .layers import tensors

_SIZES = (5, 7)  # other dimensions do not have both
_LOOKED = 2  # the record whose gradients are looked at
_CHANGES = ("high", 2), ("same", None), ("high", 0), ("low", 2), ("low", 0), ("random", 2), ("same", None)


def mapped(values, function):
    """Nested lists, tuples and dicts with a function of each tensor."""
    if torch.is_tensor(values):
        return function(values)
    if isinstance(values, dict):
        return type(values)({key: mapped(value, function) for key, value in values.items()})
    if isinstance(values, tuple) and hasattr(values, "_fields"):
        return type(values)(*(mapped(value, function) for value in values))
    return type(values)(mapped(value, function) for value in values) if isinstance(values, (list, tuple)) else values


class _Generators:
    """The state of every generator that a model may use, to be set again and again, and put back at the end."""

    def __init__(self, devices):
        self.devices = devices
        self.state = self.now()

    def now(self):
        return random.getstate(), np.random.get_state(), torch.get_rng_state(), [torch.cuda.get_rng_state(d) for d in self.devices]

    def set(self):
        python, numpy, cpu, cuda = self.state
        random.setstate(python)
        np.random.set_state(numpy)
        torch.set_rng_state(cpu)
        for device, state in zip(self.devices, cuda):
            torch.cuda.set_rng_state(state, device)


class _Records:
    """Noise in the place of the records of a batch: numbers from 0 to 1, integers in the range that the batch has."""

    def __init__(self, args, kwargs, count, size):
        self.args, self.kwargs, self.count, self.size = args, kwargs, count, size

    def _is_of_records(self, tensor):
        return tensor.ndim > 0 and len(tensor) == self.count

    def made(self):
        def noise(tensor):
            if not self._is_of_records(tensor):
                return tensor
            shape = (self.size, *tensor.shape[1:])
            if tensor.is_floating_point() or tensor.is_complex():
                return torch.rand(shape, dtype=tensor.dtype, device=tensor.device)
            low, high = (int(tensor.min()), int(tensor.max())) if tensor.numel() else (0, 0)
            return torch.randint(low, high + 1, shape, device=tensor.device).to(tensor.dtype)

        return mapped((self.args, self.kwargs), noise)

    def changed(self, made, how, which):
        """The same with another record."""
        def change(tensor):
            if not (tensor.ndim > 0 and len(tensor) == self.size):
                return tensor
            tensor, row = tensor.clone(), tensor[which]
            if how == "random":
                new = torch.rand_like(row) if row.is_floating_point() else row.flip(0) if row.ndim else row
            elif row.is_floating_point():
                new = torch.full_like(row, 100.0 if how == "high" else -100.0)
            else:
                new = torch.full_like(row, int(tensor.max() if how == "high" else tensor.min())) if row.numel() else row
            tensor[which] = new
            return tensor

        return mapped(made, change)


def _same(rows, others, which):
    """Whether records wrote the same; all of them, or all but the one that was changed."""
    if rows.shape != others.shape:
        return False
    if which is not None:
        rows, others = (torch.cat([part[:which], part[which + 1 :]]) for part in (rows, others))
    if rows.device.type == "cpu" or not rows.is_floating_point():
        return torch.equal(torch.nan_to_num(rows, nan=7.0), torch.nan_to_num(others, nan=7.0))
    return torch.allclose(rows, others, rtol=1e-4, atol=1e-6, equal_nan=True)  # sums of other devices need not repeat


def _records_of(output, size):
    written = tensors([output])
    if not written or any(t.ndim == 0 or len(t) != size for t in written if t.requires_grad) or not any(t.requires_grad for t in written):
        raise ValueError("model: what it returns does not have the records in its first dimension.")
    return [t for t in written if t.ndim and len(t) == size]


def probe(model, args, kwargs, count, run):
    """Refuses a model whose records see each other, or that keeps a state. `run(size, args, kwargs)` is a pass: its output, and [(name, call)]."""
    buffers = {name: (buffer, buffer._version, buffer.clone()) for name, buffer in model.named_buffers()}
    devices = sorted({tensor.device.index for tensor in tensors([args, kwargs]) if tensor.device.type == "cuda"})
    generators = _Generators(devices)
    first = generators.state
    try:
        for size in _SIZES:
            records = _Records(args, kwargs, count, size)
            made = records.made()
            generators.state = generators.now()
            _by_gradients(made, size, generators, run)
            _by_values(records, made, size, generators, run)
    finally:
        generators.state = first
        generators.set()
    changed = []
    with torch.no_grad():
        for name, (buffer, version, before) in buffers.items():
            if dict(model.named_buffers()).get(name) is not buffer or buffer._version != version:
                changed.append(name)
                buffer.copy_(before)
    if changed:
        raise ValueError(f"{changed[0]}: is a state of the model that changes while it trains, which would reveal what it reads. "
                         "Use a layer without (track_running_stats=False, GroupNorm).")


def _by_gradients(made, size, generators, run):
    read = []

    def watched(tensor):
        if not (tensor.ndim and len(tensor) == size and tensor.is_floating_point()):
            return tensor
        read.append(tensor.clone().requires_grad_())
        return read[-1] * 1.0

    generators.set()
    output, calls = run(size, *mapped(made, watched))
    written = [t for t in _records_of(output, size) if t.requires_grad]
    outputs = [*read, *(call.output for _, call in calls)]
    gradients = torch.autograd.grad(sum(t[_LOOKED].sum() for t in written), outputs, allow_unused=True)
    for name, gradient in zip([*("model" for _ in read), *(name for name, _ in calls)], gradients):
        if gradient is not None and (gradient[:_LOOKED].any() or gradient[_LOOKED + 1 :].any()):
            raise ValueError(f"{name}: records see each other between what this reads and what the model returns, so that there is no gradient of "
                             "one record. Let no operation go over the first dimension.")


def _by_values(records, made, size, generators, run):
    def seen(given):
        generators.set()
        output, calls = run(size, *mapped(given, torch.clone))
        found = [("model", t.detach().clone()) for t in _records_of(output, size)]
        for name, call in calls:
            found += [(name, t.detach().clone()) for t in [*tensors([call.args]), call.output] if t.ndim and len(t) == size]
        return found

    base = seen(made)
    for how, which in _CHANGES:
        now = seen(made if which is None else records.changed(made, how, which))
        for (name, before), (_, after) in zip(base, now):
            if not _same(before, after, which):
                if which is None:
                    raise ValueError(f"{name}: does not do the same again with the same records and the same random numbers: the model keeps a state of what "
                                     "it reads, or of how often. Let a pass depend on its batch alone.")
                raise ValueError(f"{name}: records see each other: what it does with one changes with another (a median, a sort, a largest value over "
                                 "the batch). Let no operation go over the first dimension.")
        if len(base) != len(now):
            raise ValueError("model: calls its layers more or less often when one record is another. Let a pass not depend on what it reads.")
