"""Does a training of your own keep a claimed (epsilon, delta)? Train it with and without a canary, and look."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import os
import signal
import sys
import time

import numpy as np
import torch

from .. import _core
from .._answer import AuditAnswer
from .._progress import Bar, bar_for, close
from ..questions import audit, plan_audit
from .scoring import scores


class TrainingPlan(AuditAnswer):
    """What an audit of a training takes: an AuditAnswer of what its runs can show, and how long they train here."""

    runs: int  #: models of each data set
    expected: int | None  #: models of each data set that refute it by an attack with a TPR of 50 % at an FPR of 1 %; None: no number up to 10^7
    needed: int | None  #: models of each data set that refute the claim by a perfect attack, at least; None: more than 10^7
    seconds_per_model: float | None  #: as measured on a model of each data set; None where all are trained already
    seconds: float  #: that the models that are left take with so many workers, about

    def text(self, full=False, width=100):
        if self.needed is None or self.runs < self.needed:
            claim = "too few to refute the claim by any attack"
        elif self.expected is None or self.runs < self.expected:
            claim = "enough for a perfect attack, too few for a TPR of 50 % at an FPR of 1 %"
        else:
            claim = "enough for a TPR of 50 % at an FPR of 1 %"
        most = self.get("maximum_auditable_epsilon", thresholds="combined").value
        claim += f"; a perfect attack could certify at most {most:.4g}"
        left = ("all are trained" if self.seconds_per_model is None
                else f"{_duration(self.seconds_per_model)} each, about {_duration(self.seconds)} from here on")
        return f"{super().text(full, width).rstrip()}\n\nTraining: 2 x {self.runs} models ({claim}); {left}.\n"


class TrainingAudit(AuditAnswer):
    """The audit of a training: an AuditAnswer with the scores it was made from."""

    in_scores: np.ndarray  #: of the models that were trained with the canary
    out_scores: np.ndarray
    canary: tuple  #: (input, target)
    plan: TrainingPlan  #: what it was before most of it was trained
    seconds: float  #: that training took in this call


def _duration(seconds):
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


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


class _Work:
    """What every model of an audit has in common. Other processes get it once."""

    def __init__(self, train_fn, dataset, record, seeds, score):
        self.train_fn, self.dataset, self.record, self.seeds, self.score = train_fn, dataset, record, seeds, score

    def __call__(self, member, run):
        """The score of one model. Both data sets of a run share their seed; the runs of one are independent."""
        seed = int(self.seeds[run])
        torch.manual_seed(seed)
        data = _with(self.dataset, self.record) if member else self.dataset
        model = self.train_fn(data, seed) if _takes_seed(self.train_fn) else self.train_fn(data)
        if callable(self.score):
            with torch.no_grad():
                return float(self.score(model, self.record))
        device = next(model.parameters()).device
        x, y = torch.as_tensor(self.record[0]).unsqueeze(0), torch.as_tensor([self.record[1]])
        return float(scores(model, (x.to(device), y.to(device)), self.score)[0])


_work = None  # of this process, where it is one of several


def _begin(work):
    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it
    torch.set_num_threads(1)


def _train_and_score(member, run):
    return _work(member, run)


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
        lines = [identity] + [{"member": member, "run": run, "score": score} for (member, run), score in sorted(self.found.items())]
        _core.write(self.path, "".join(json.dumps(line) + "\n" for line in lines), [], True)

    def add(self, member, run, score):
        if not np.isfinite(score):
            raise ValueError(f"score: the model of run {run} has the score {score}. Scores are finite numbers.")
        self.found[member, run] = score
        if self.path is not None:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps({"member": member, "run": run, "score": score}) + "\n")


def _digest(*parts):
    digest = hashlib.sha256()
    for part in parts:
        array = np.ascontiguousarray(torch.as_tensor(part).detach().cpu().numpy())
        digest.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
    return digest.hexdigest()[:16]


def _fingerprint(dataset):
    """Of tensors, or of some records of a Dataset."""
    if _is_tensors(dataset):
        return _digest(*dataset)
    at = np.unique(np.linspace(0, len(dataset) - 1, 64).astype(int))
    return f"{len(dataset)}:" + _digest(*(part for i in at for part in dataset[int(i)]))


def _content(value, depth=0):
    """Of a function its code with the functions and constants that it closes over; of what may change while it runs the type alone."""
    if inspect.ismethod(value):
        return _content(value.__func__, depth)
    if isinstance(value, functools.partial):
        return _content((value.func, value.args, tuple(sorted(value.keywords.items()))), depth + 1)
    if inspect.isfunction(value) and depth < 8:
        cells = tuple(cell.cell_contents for cell in value.__closure__ or ())
        return _content((value.__code__, value.__defaults__, cells), depth + 1)
    if inspect.iscode(value):
        return value.co_code + _content((value.co_consts, value.co_names), depth)
    if isinstance(value, tuple):
        return b"(" + b",".join(_content(part, depth) for part in value) + b")"
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value).encode()
    return type(value).__qualname__.encode()


def _named(function):
    """A function's name and the digest of its code: scores of one training are not those of another of the same name."""
    return f"{_name(function)}:{hashlib.sha256(_content(function)).hexdigest()[:16]}"


def audit_training(train_fn, dataset, claim=(3, 1e-5), *, canary="mislabelled", runs="auto", score="loss", ledger=None,
                   seed=0, workers=1, confidence=0.95, plan_only=False, progress=None):
    """Trains with and without one record, many times, and says what the models show about a claimed (epsilon, delta).

    train_fn    your training: train_fn(dataset) or train_fn(dataset, seed) returns a model. It must be random only through the seed,
                and must not know whether the canary is there
    dataset     (inputs, targets) as tensors, or a Dataset of pairs; D' is it, D has the canary besides
    canary      "mislabelled": a record with a wrong label; a record (input, target); or a function of the data that returns one
    runs        models with the canary, and as many without; "auto": so many that an attack with a TPR of 50 % at an FPR of 1 % is expected to
                refute the claim (1,245 for epsilon = 3; two audits of three at worst). How well this canary and score do is not known
                before: if worse, they need more, and a perfect attack a tenth. `plan_only` shows both numbers
    score       "loss", "margin", "gradient_norm" of the canary, or a function of (model, canary); larger for members
    ledger      a file that keeps every score: run again to go on after an interruption
    workers     processes that train at once; with more than one, train_fn must be importable

    plan_only=True trains a model of each data set, which the ledger keeps, and returns the plan: how many runs the claim takes, what they can
    show, and how long they train here. The verdict 'not_refuted' does not mean that the claim is true.
    """
    needed = plan_audit(claim, confidence=confidence).get("runs_needed", thresholds="combined")
    expected = _runs_of_a_good_attack(plan_audit(claim, confidence=confidence))
    if runs == "auto":
        if expected is None:
            raise ValueError("runs: an attack with a TPR of 50 % at an FPR of 1 % refutes this claim with no number of models up to 10^7. Give runs=.")
        runs = expected
    runs = int(runs)
    made = plan_audit(claim, runs=runs, confidence=confidence)
    record = canary(dataset) if callable(canary) else _mislabelled(dataset, seed) if isinstance(canary, str) and canary == "mislabelled" else canary
    if isinstance(record, str):
        raise ValueError(f"canary: {record!r} is unknown. Use 'mislabelled', a record (input, target) or a function of the data.")
    identity = {"sfumato_audit_training": 3, "seed": seed, "canary": _digest(record[0]) + f":{record[1]}", "data": _fingerprint(dataset),
                "train_fn": _named(train_fn), "score": score if isinstance(score, str) else _named(score)}
    kept = _Scores(None if ledger is None else os.fspath(ledger), identity)
    work = _Work(train_fn, dataset, record, np.random.SeedSequence(seed).generate_state(runs, np.uint32), score)
    left = [(member, run) for run in range(runs) for member in (True, False) if (member, run) not in kept.found]
    begun = time.monotonic()
    bar = bar_for(progress)
    try:
        each = _timed(work, left[:2], kept, workers) if left else None
        left = left[2:]
        plan = TrainingPlan(made._found, made._names)
        plan.expected = expected
        plan.runs, plan.needed, plan.seconds_per_model, plan.seconds = runs, needed, each, (each or 0.0) * len(left) / max(1, workers)
        if plan_only:
            return plan
        if isinstance(bar, Bar) and left:
            print(f"audit_training: {plan.text().splitlines()[-1]}", file=sys.stderr)
        for done, ((member, run), value) in enumerate(_all(left, work, workers)):
            kept.add(member, run, value)
            if bar is not None:
                bar("training", done + 1, len(left))
    finally:
        close(bar)
    inside = np.array([kept.found[True, run] for run in range(runs)])
    outside = np.array([kept.found[False, run] for run in range(runs)])
    made = audit(inside, outside, claim=claim, confidence=confidence, adjacency="remove")
    answer = TrainingAudit(made._found, made._names)
    answer.in_scores, answer.out_scores, answer.canary, answer.plan = inside, outside, record, plan
    answer.seconds = time.monotonic() - begun
    return answer


def _runs_of_a_good_attack(plan):
    """Models of each data set for a TPR of 50 % at an FPR of 1 %, by the library's own table."""
    table = plan.tables["caps"]
    row = next(row for row in table.rows if row["thresholds"] == "combined")
    return None if row["half"] is None else int(row["half"])


def _name(function):
    return getattr(function, "__qualname__", type(function).__qualname__)


def _timed(work, models, kept, workers):
    """Trains these models, keeps their scores, and returns the seconds that one takes: the last, when everything is warm."""
    threads = torch.get_num_threads()
    seconds = 0.0
    try:
        if workers > 1:  # as the other processes will
            torch.set_num_threads(1)
        for member, run in models:
            begun = time.monotonic()
            value = work(member, run)
            seconds = time.monotonic() - begun
            kept.add(member, run, value)
    finally:
        torch.set_num_threads(threads)
    return seconds


def _all(left, work, workers):
    """((member, run), score) of each, as they are done."""
    if workers <= 1 or len(left) < 2:
        for member, run in left:
            yield (member, run), work(member, run)
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin, initargs=(work,)) as pool:
        futures = {pool.submit(_train_and_score, *model): model for model in left}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            # What is trained at the moment is given up: it may take hours.
            processes = list((getattr(pool, "_processes", None) or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()
            raise
