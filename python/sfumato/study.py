"""Studies that train models, and the ledgers that keep them."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _core
from ._answer import Answer, AuditAnswer
from ._ask import ask, watched
from ._values import Files


class Study:
    """What to train: a study file (docs/study.md), with settings over it.

    >>> study = Study.from_toml("studies/table2_s1.toml").set(**{"train.iterations": 200, "audit.pairs": 1})
    >>> study
    Study('studies/table2_s1.toml', train.iterations=200, audit.pairs=1)
    """

    def __init__(self, path, settings=()):
        self.path = os.fspath(path)
        self.settings = list(settings)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Study:
        """The study of a file."""
        if not os.path.exists(path):
            raise FileNotFoundError(f"{path}: there is no such study file")
        return cls(path)

    def set(self, **settings: Any) -> Study:
        """The study with these keys instead, as --set of the command line: {"train.iterations": 200}."""
        with Files() as files:
            more = [f"{key}={files.toml(value, key, 'numbers')}" for key, value in settings.items()]
        return Study(self.path, self.settings + more)

    def run(self, ledger=None, *, threads=0, progress=None) -> Ledger:
        """Trains what the ledger does not hold yet, and returns it. Run it again to go on after an interruption."""
        ledger = "" if ledger is None else os.fspath(ledger)
        found = watched(lambda bar: _core.study_run(self.path, self.settings, ledger, threads, bar), Files(), progress)
        return Ledger(found.kept_text, Answer(found))

    def plan(self, *, eps=None, delta=None, confidence=None, threads=0, seconds=2.0, progress=None):
        """What the planned runs can show, and how long they take here."""
        return Answer(watched(
            lambda bar: _core.study_plan(self.path, self.settings, eps, delta, confidence, threads, seconds, bar), Files(), progress))

    def train(self, out="", *, resume=False, force=False, progress=None):
        """Trains one group of the models, D and D' under every noise policy; with `out`, leaves their parameters there."""
        return Answer(watched(
            lambda bar: _core.study_train(self.path, self.settings, os.fspath(out), resume, force, bar), Files(), progress))

    @staticmethod
    def keys():
        """The keys of study files with their defaults, as a document."""
        return json.loads(_core.study_keys())

    def __repr__(self):
        return f"Study({', '.join([repr(self.path), *self.settings])})"


class Ledger:
    """The file with every trained model of a study."""

    def __init__(self, path, run=None):
        self.path = os.fspath(path)
        self.last_run = run  #: the Answer of the run that made or continued it, if any

    def audit(self, *, claim=None, progress=None, **keys: Any) -> AuditAnswer:
        """What its models show about epsilon; keys of `sfumato audit` (docs/audit.md)."""
        return ask("audit", dict(ledger=self.path, claim=claim, **keys), progress=progress, kind=AuditAnswer)

    def status(self, *, progress=None) -> Answer:
        """How far it is."""
        return Answer(watched(lambda bar: _core.study_status(self.path, bar), Files(), progress))

    def export(self, out, *, timings=False, force=False, progress=None):
        """Writes its trials as CSV, or as NPZ with the losses of every record."""
        found = watched(lambda bar: _core.study_export(self.path, os.fspath(out), timings, force, bar), Files(), progress)
        return Answer(found)

    def report(self, out, **keys):
        """The page of its audit."""
        from .questions import report

        return report([self.path], out, **keys)

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return f"Ledger({self.path!r})"
