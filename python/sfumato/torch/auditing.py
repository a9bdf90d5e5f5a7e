"""Does a training of your own keep a claimed (epsilon, delta)? Train it with and without a canary, and look."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import time

import numpy as np
import torch

from .._answer import AuditAnswer
from .._progress import bar_for, close
from ..questions import audit, plan_audit
from .scoring import scores


class TrainingAudit(AuditAnswer):
    """The audit of a training: an AuditAnswer with the scores it was made from."""

    in_scores: np.ndarray  #: of the models that were trained with the canary
    out_scores: np.ndarray
    canary: tuple  #: (input, target)
    seconds: float  #: that training took in this call


class _With:
    """A data set and one record more, at its end."""

    def __init__(self, dataset, record):
        self.dataset, self.record = dataset, record

    def __len__(self):
        return len(self.dataset) + 1

    def __getitem__(self, i):
        if i < 0:
            i += len(self)
        if not 0 <= i < len(self):
            raise IndexError(i)
        return self.record if i == len(self.dataset) else self.dataset[i]


def _is_tensors(dataset):
    return isinstance(dataset, (tuple, list)) and len(dataset) == 2 and all(torch.is_tensor(part) for part in dataset)


def _with(dataset, record):
    if _is_tensors(dataset):
        inputs, targets = dataset
        x = torch.as_tensor(record[0], dtype=inputs.dtype).reshape(1, *inputs.shape[1:])
        return torch.cat([inputs, x]), torch.cat([targets, torch.as_tensor(record[1], dtype=targets.dtype).reshape(1)])
    return _With(dataset, record)


def _mislabelled(dataset, seed):
    """A record of the data with the label of another class."""
    count = len(dataset[0]) if _is_tensors(dataset) else len(dataset)
    at = int(np.random.default_rng(seed).integers(count))
    if _is_tensors(dataset):
        labels = torch.unique(dataset[1]).tolist()
        x, y = dataset[0][at], int(dataset[1][at])
    else:
        x, y = dataset[at]
        y = int(y)
        labels = sorted({int(dataset[i][1]) for i in range(min(count, 10_000))})
    others = [label for label in labels if label != y]
    if not others:
        raise ValueError("canary: all records have one label. Give a canary of your own: a record, or a function of the data.")
    return x, others[int(np.random.default_rng(seed + 1).integers(len(others)))]


def _takes_seed(train_fn):
    parameters = [p for p in inspect.signature(train_fn).parameters.values()
                  if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(parameters) >= 2


def _train_and_score(job):
    """One model. At module level: other processes call it."""
    train_fn, dataset, record, member, seed, score, threads = job
    if threads:
        torch.set_num_threads(threads)
    torch.manual_seed(seed)
    data = _with(dataset, record) if member else dataset
    model = train_fn(data, seed) if _takes_seed(train_fn) else train_fn(data)
    if callable(score):
        with torch.no_grad():
            return float(score(model, record))
    x = torch.as_tensor(record[0]).unsqueeze(0)
    return float(scores(model, (x, torch.as_tensor([record[1]])), score)[0])


class _Scores:
    """Scores as they come, in a file of JSON lines if one is named: what is there is not trained again."""

    def __init__(self, path, identity):
        self.path = path
        self.found = {}
        if path is None:
            return
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
            if not lines or json.loads(lines[0]) != identity:
                raise ValueError(f"{path}: holds another audit. Name another file, or remove it.")
            for line in lines[1:]:
                try:
                    entry = json.loads(line)
                except ValueError:
                    break  # the last line of an interrupted run
                self.found[bool(entry["member"]), int(entry["run"])] = float(entry["score"])
            self._rewrite(identity)
        else:
            self._rewrite(identity)

    def _rewrite(self, identity):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            file.write(json.dumps(identity) + "\n")
            for (member, run), score in sorted(self.found.items()):
                file.write(json.dumps({"member": member, "run": run, "score": score}) + "\n")
        os.replace(self.path + ".new", self.path)

    def add(self, member, run, score):
        if not np.isfinite(score):
            raise ValueError(f"score: the model of run {run} has the score {score}. Scores are finite numbers.")
        self.found[member, run] = score
        if self.path is not None:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps({"member": member, "run": run, "score": score}) + "\n")


def _fingerprint(record):
    digest = hashlib.sha256(np.ascontiguousarray(torch.as_tensor(record[0]).detach().cpu().numpy()).tobytes())
    return digest.hexdigest()[:16] + f":{record[1]}"


def audit_training(train_fn, dataset, claim=(3, 1e-5), *, canary="mislabelled", runs="auto", score="loss", ledger=None,
                   seed=0, workers=1, confidence=0.95, plan_only=False, progress=None):
    """Trains with and without one record, many times, and says what the models show about a claimed (epsilon, delta).

    train_fn    your training: train_fn(dataset) or train_fn(dataset, seed) returns a model. It must be random only through the seed,
                and must not know whether the canary is there
    dataset     (inputs, targets) as tensors, or a Dataset of pairs; D' is it, D has the canary besides
    canary      "mislabelled": a record with a wrong label; a record (input, target); or a function of the data that returns one
    runs        models of each world; "auto": what it takes to refute the claim by a good attack, and a quarter more
    score       "loss", "margin", "gradient_norm" of the canary, or a function of (model, canary); larger for members
    ledger      a file that keeps every score: run again to go on after an interruption
    workers     processes that train at once; with more than one, train_fn must be importable

    plan_only=True returns the plan (how many runs, what they can show) before anything is trained. The verdict 'not_refuted' does not mean that
    the claim is true.
    """
    needed = plan_audit(claim, confidence=confidence).get("runs_needed", thresholds="combined")
    if runs == "auto":
        if needed is None:
            raise ValueError("runs: more than 10^7 models would be needed to refute this claim.")
        runs = int(np.ceil(1.25 * needed))
    plan = plan_audit(claim, runs=int(runs), confidence=confidence)
    if plan_only:
        return plan
    record = canary(dataset) if callable(canary) else _mislabelled(dataset, seed) if isinstance(canary, str) and canary == "mislabelled" else canary
    if isinstance(record, str):
        raise ValueError(f"canary: {record!r} is unknown. Use 'mislabelled', a record (input, target) or a function of the data.")
    identity = {"sfumato_audit_training": 1, "seed": seed, "canary": _fingerprint(record),
                "score": score if isinstance(score, str) else getattr(score, "__qualname__", "function")}
    kept = _Scores(None if ledger is None else os.fspath(ledger), identity)
    seeds = np.random.SeedSequence(seed).generate_state(int(runs), np.uint32)
    left = [(member, run) for run in range(int(runs)) for member in (True, False) if (member, run) not in kept.found]
    begun = time.monotonic()
    bar = bar_for(progress)
    try:
        for done, ((member, run), value) in enumerate(_all(left, train_fn, dataset, record, seeds, score, workers)):
            kept.add(member, run, value)
            if bar is not None:
                bar("training", done + 1, len(left))
    finally:
        close(bar)
    inside = np.array([kept.found[True, run] for run in range(int(runs))])
    outside = np.array([kept.found[False, run] for run in range(int(runs))])
    made = audit(inside, outside, claim=claim, confidence=confidence, adjacency="remove")
    answer = TrainingAudit(made._found, made._names)
    answer.in_scores, answer.out_scores, answer.canary = inside, outside, record
    answer.seconds = time.monotonic() - begun
    return answer


def _all(left, train_fn, dataset, record, seeds, score, workers):
    """((member, run), score) of each, as they are done."""
    def job(member, run, threads):
        # Both worlds of a run share their seed; the runs of a world are independent.
        return train_fn, dataset, record, member, int(seeds[run]), score, threads

    if workers <= 1:
        for member, run in left:
            yield (member, run), _train_and_score(job(member, run, 0))
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(_train_and_score, job(member, run, 1)): (member, run) for member, run in left}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
