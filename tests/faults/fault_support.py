"""What the suites of faults share: the program under a fault, and what may become of it.

`make test` takes a few of the faults, drawn with a fixed seed; SFUMATO_FAULTS=full (`make faults`) takes them all.
"""
import os
import random
import re
import shlex
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from support import BAD_INPUT, ROOT, SFUMATO, STORAGE, ProgramTest, without_progress  # noqa: E402

FULL = os.environ.get("SFUMATO_FAULTS") == "full"
SHIMS = Path(os.environ.get("SFUMATO_SHIMS", ROOT / "build/tests"))
SANITIZED = os.environ.get("SFUMATO_SANITIZE", "")
needs_shims = unittest.skipIf(SANITIZED, f"the {SANITIZED} sanitizers replace the same functions as the shims")

STUDY = ROOT / "studies/ridge_exact.toml"
SMALL = ["--set", "audit.replicas=20", "--set", "train.iterations=20"]  # 40 trials
OPTIONS = {"cwd": ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 300, "check": False}


def number(few, all_of_them):
    """How many faults are tried."""
    return all_of_them if FULL else few


def spread(calls, points, seed):
    """One call, from 1, out of each of `points` equal parts of all of them: the same for the same seed."""
    chance = random.Random(seed)
    points = min(points, calls)
    return [1 + chance.randrange(i * calls // points, (i + 1) * calls // points) for i in range(points)]


def shared(total, names):
    """`total` points over all names, as evenly as they go."""
    return {name: total // len(names) + (i < total % len(names)) for i, name in enumerate(names)}


class Outcome:
    """How a process ended, in text, and with which fault."""

    def __init__(self, args, environment, done, calls=0, faults=0):
        self.code, self.out = done.returncode, done.stdout.decode(errors="replace")
        self.err = without_progress(done.stderr.decode(errors="replace"))
        self.calls, self.faults = calls, faults
        settings = [f"{name}={value}" for name, value in environment.items()]
        self.story = (f"{shlex.join([*settings, SFUMATO, *args])}\n  ended with {self.code}\n"
                      f"  stderr: {self.err[:300]!r}\n  stdout: {self.out[:100]!r}")

    def is_one_line(self):
        """An error as the project words it: where or what, and what to do; and no bug."""
        return (self.err.startswith("sfumato: ") and self.err.endswith("\n") and self.err.count("\n") == 1
                and len(self.err) > 30 and not re.search(r"\bbug\b", self.err))


class FaultTest(ProgramTest):
    """Collects what went wrong, so that one run shows all of it."""

    def setUp(self):
        super().setUp()
        self.wrong = []
        self.counts = self.dir / "counts"

    def tearDown(self):
        if self.wrong:
            self.fail(f"{len(self.wrong)} faults were not met; the first of them:\n" + "\n".join(self.wrong[:12]))
        super().tearDown()

    def demand(self, holds, problem, outcome):
        if not holds:
            self.wrong.append(f"{problem}: {outcome.story}")
        return holds

    def run_with(self, args, shim=None, at=0, forever=False, fault=None, may_miss=False, only=None, **options):
        """Runs the program, with the call number `at` going wrong, of those `only`; `may_miss`: if it gets so far."""
        args = [str(a) for a in args]
        environment = {}
        if shim is not None:
            self.counts.write_bytes(bytes(16))
            environment = {"LD_PRELOAD": SHIMS / f"libfail_{shim}.so", "FAULT_COUNTS": self.counts, "FAULT_AT": at}
            if forever:
                environment["FAULT_FOREVER"] = 1
            if fault is not None:
                environment["FAULT_WITH"] = fault
            if only is not None:
                environment["FAULT_ONLY"] = only
        variables = os.environ | {name: str(value) for name, value in environment.items()}
        done = subprocess.run([SFUMATO, *args], env=variables, **(OPTIONS | options))
        calls, faults = struct.unpack("<QQ", self.counts.read_bytes()) if shim else (0, 0)
        outcome = Outcome(args, environment, done, calls, faults)
        self.assertEqual(calls > 0, shim is not None, f"the shim counted {calls} calls: {outcome.story}")
        self.assertTrue(at == 0 or faults > 0 or may_miss, f"there was no fault: {outcome.story}")
        return outcome

    def well(self, *args, **options):
        """Runs the program without a fault; it must go well."""
        outcome = self.run_with(args, **options)
        self.assertEqual(outcome.code, 0, outcome.story)
        return outcome

    def demand_refusal(self, outcome, codes=(BAD_INPUT, STORAGE)):
        """Ended in order: one of these codes, and one line."""
        if outcome.err.startswith("libgcc_s.so.1 must be installed"):
            return True  # without any memory the C library itself gives up when a thread ends
        return (self.demand(outcome.code >= 0, "killed by a signal", outcome)
                and self.demand(outcome.code in codes, "not an exit code for this", outcome)
                and self.demand(outcome.is_one_line(), "not one line of an error", outcome))

    def export(self, ledger):
        """The rows of a ledger, or the refusal."""
        table = self.dir / "export.csv"
        table.unlink(missing_ok=True)
        outcome = self.run_with(["study", "export", ledger, "--out", table, "--force"])
        return outcome, table.read_text() if outcome.code == 0 else None

    @staticmethod
    def study_run(ledger, threads=1):
        return ["study", "run", STUDY, *SMALL, "--ledger", ledger, "--threads", threads]

    def whole_rows(self):
        """What the small study gives when nothing goes wrong."""
        ledger = self.dir / "whole.ledger"
        self.well(*self.study_run(ledger))
        outcome, rows = self.export(ledger)
        self.assertEqual(outcome.code, 0, outcome.story)
        return rows

    def demand_resumed(self, ledger, rows, after, or_refused=False):
        """The same command again, without a fault, goes on to the same rows."""
        again = self.run_with(self.study_run(ledger))
        if or_refused and again.code == BAD_INPUT and again.is_one_line():
            return
        if not self.demand(again.code == 0, f"cannot be gone on with after\n{after.story}\n", again):
            return
        outcome, got = self.export(ledger)
        self.demand(got == rows, f"other rows after\n{after.story}\n", outcome)


def remove_ledger(ledger):
    for ending in ("", "-wal", "-shm", "-journal"):
        Path(f"{ledger}{ending}").unlink(missing_ok=True)


def trials_of(rows):
    """The lines of an export without its header, whose columns depend on there being any."""
    return set(rows.splitlines()[1:])
