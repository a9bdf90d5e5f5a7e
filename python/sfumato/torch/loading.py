"""The loader of make_private: the user's, with batches whose probabilities are accounted for."""

from __future__ import annotations

import os
from collections import deque
from typing import NamedTuple

import torch
from torch.utils.data import DataLoader, IterableDataset, RandomSampler, SequentialSampler

from .probing import mapped


class Part(NamedTuple):
    """What the loader drew for one call of step(): a batch, or a part of it."""

    draw: object
    records: int
    last: bool
    process: int


class Draws:
    """Batches of an epoch as lists of places, in parts of at most `physical` records."""

    def __init__(self, noise, records, rate, steps, physical, allocate):
        self.noise, self.records, self.rate, self.steps, self.physical, self.allocate = noise, records, rate, steps, physical, allocate
        self.parts = deque()

    def __len__(self):
        return self.steps

    def __iter__(self):
        self.parts = deque()
        return self._drawn(self.parts)

    def batches(self):
        """Poisson: each record independently with the same probability, anew in every batch. Allocated: each independently in one batch of the epoch,
        all of them as likely: among those that are left, in the next batch with the probability 1 / batches left."""
        if not self.allocate:
            for _ in range(self.steps):
                yield self.noise.batch(self.records, self.rate).tolist()
            return
        left = torch.arange(self.records)
        for at in range(self.steps):
            chosen = torch.zeros(len(left), dtype=torch.bool)
            chosen[self.noise.batch(len(left), 1.0 / (self.steps - at))] = True
            yield left[chosen].tolist()
            left = left[~chosen]

    def _drawn(self, parts):
        for chosen in self.batches():
            size = self.physical or max(1, len(chosen))
            draw = object()
            for at in range(0, max(1, len(chosen)), size):
                part = chosen[at : at + size]
                parts.append(Part(draw, len(part), at + size >= len(chosen), os.getpid()))
                yield part


class _Collate:
    """The user's collate function, and what a batch without records is."""

    def __init__(self, collate, empty):
        self.collate, self.empty = collate, empty

    def __call__(self, rows):
        return self.collate(rows) if len(rows) else mapped(self.empty, torch.clone)


class PrivateLoader:
    """The user's loader with batches drawn for privacy: Poisson samples, or random allocation; some may be empty.

    Its length is the number of steps of an epoch. Every batch, or part of one, is for one call of step().
    """

    def __init__(self, loader, optimizer, steps, physical, allocate):
        self.dataset = loader.dataset
        self.batch_size = loader.batch_size  # on average
        self._optimizer = optimizer
        self._records = optimizer.records
        self._draws = Draws(optimizer._noise, self._records, optimizer.sample_rate, steps, physical, allocate)
        empty = mapped(loader.collate_fn([self.dataset[0]]), lambda tensor: tensor[:0] if tensor.ndim else tensor)
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
        optimizer._begin()
        drawn = iter(self._loader)
        parts = self._draws.parts
        part = None
        try:
            while True:
                optimizer._may_draw(part)
                if part is not None and part.last and optimizer.left == 0 and not self._draws.allocate:
                    return  # the target is used up within an epoch: some steps were made that a checkpoint does not know
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


def of_loader(loader):
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
