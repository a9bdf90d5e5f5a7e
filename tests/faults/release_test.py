"""Private releases, `fit` and `train --private`, with `--after` and `--budget`, when memory, disks and processes fail: no model without its
account, no statement beside another model, a budget that holds whatever was released, no torn file."""
import hashlib
import json
import random
import shutil
import signal
import unittest

from fault_support import BAD_INPUT, ROOT, STORAGE, FaultTest, needs_shims, number, shared, spread

TABLE, BOUNDS = ROOT / "examples/fit/wages.csv", ROOT / "examples/fit/wages_bounds.csv"
STUDY = """
[data]
set = "{table}"
records = 100
classes = 2
test = "{table}"
[[model.layers]]
type = "linear"
outputs = 2
[train]
sampler = "poisson"
batch_size = 20
epochs = 1
learning_rate = 0.5
clip = 0.5
"""
WITHDRAWN = "No statement:"
NAMES = "rename,fsync,fdatasync,unlink"


def digest(content):
    return hashlib.sha256(content).hexdigest()


class Case:
    """A command that releases something into a directory, where an older release may stand."""

    def __init__(self, test, name, args, model, account, statement, budget=None):
        self.test, self.name, self.args = test, name, [str(a) for a in args]
        self.place = test.dir / "place"
        self.model, self.account, self.statement = (self.place / n for n in (model, account, statement))
        self.budget = self.place / budget if budget else None
        self.older = None

    def make_older(self, *args):
        """What stands in the directory before, kept beside it."""
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir()
        if args:
            self.test.well(*args)
        self.older = self.test.dir / f"older of {self.name}"
        shutil.rmtree(self.older, ignore_errors=True)
        shutil.copytree(self.place, self.older)

    def prepare(self):
        shutil.rmtree(self.place)
        shutil.copytree(self.older, self.place)

    def before(self, path):
        old = self.older / path.relative_to(self.place)
        return old.read_bytes() if old.exists() else None

    @staticmethod
    def now(path):
        return path.read_bytes() if path.exists() else None

    def runs_booked(self):
        """Of a budget that can be read; None where there is none yet."""
        if not self.budget.exists():
            return None
        outcome = self.test.run_with(["budget", "show", self.budget, "--json"])
        if outcome.code != 0:
            return outcome
        return {r["quantity"]: r["value"] for r in json.loads(outcome.out)["results"]}

    def judge(self, outcome, spent_before):
        """What must hold however the program ended."""
        test, model, statement = self.test, self.now(self.model), self.now(self.statement)
        is_new = model is not None and model != self.before(self.model)
        if is_new:
            account = ["account", self.account, "--target-delta", "1e-6"]
            if self.account == self.model:  # the account stands in the model: whoever goes on from it finds it
                account = ["fit", TABLE, "--target", "wage", "--model", "ridge", "--bounds", BOUNDS, "--target-epsilon", "60",
                           "--target-delta", "1e-6", "--after", self.model, "--force"]
            read = test.run_with(account)
            test.demand(read.code == 0, f"a model without its account after\n{outcome.story}\n", read)
            if self.account != self.model:
                test.demand(digest(model) in self.account.read_text(), "an account of another model", outcome)
        if statement is not None and not statement.decode().startswith(WITHDRAWN):
            test.demand(model is not None and digest(model) in statement.decode(), "a statement beside another model", outcome)
        if self.budget is not None:
            booked = self.runs_booked()
            if is_new or outcome.code == 0:
                test.demand(isinstance(booked, dict) and booked["runs"] == spent_before["runs"] + 1
                            and booked["epsilon_spent"] > spent_before["epsilon_spent"], "released and not booked", outcome)
            elif isinstance(booked, dict):
                test.demand(booked["runs"] in (spent_before["runs"], spent_before["runs"] + 1)
                            and booked["epsilon_spent"] >= spent_before["epsilon_spent"], "a booking is lost", outcome)
            else:
                test.demand(booked is None and spent_before["runs"] == 0, "the budget cannot be read", outcome)
        if outcome.code == 0:
            test.demand(is_new and statement is not None and digest(model) in statement.decode(), "said to be done", outcome)
        elif outcome.code != -signal.SIGKILL:
            left = [p.name for p in self.place.rglob("*.tmp-*")]
            test.demand(not left or outcome.faults > 1, f"{left} left", outcome)


@needs_shims
class Releases(FaultTest):
    def setUp(self):
        super().setUp()
        chance = random.Random(7)
        rows = [[chance.gauss(0, 1) for _ in range(6)] for _ in range(110)]
        table = self.write("t.csv", "".join(",".join(f"{v:.3f}" for v in row) + f",{int(row[0] > 0)}\n" for row in rows))
        self.study = self.write("p.toml", STUDY.format(table=table))

    def fit(self, model, *args, epsilon=1):
        place = self.dir / "place"
        return ["fit", TABLE, "--target", "wage", "--model", "ridge", "--bounds", BOUNDS, "--target-epsilon", epsilon, "--target-delta",
                "1e-6", "--mechanism", "isotropic", "--steps", "4", "--out", place / model, "--statement", place / "m.md", *args]

    def train(self, *args, epsilon=2):
        return ["train", self.study, "--private", "--target-epsilon", epsilon, "--target-delta", "1e-6", "--out", self.dir / "place/run", *args]

    def cases(self):
        place = self.dir / "place"
        budget = ["--budget", place / "b.budget", "--limit", "eps=30,delta=1e-6"]
        fresh = Case(self, "fit, budget", self.fit("m.json", *budget), "m.json", "m.json", "m.md", "b.budget")
        fresh.make_older()
        again = Case(self, "fit, after", self.fit("m.csv", "--after", place / "m.csv", "--force", epsilon=2), "m.csv", "m.accounting.toml", "m.md")
        again.make_older(*self.fit("m.csv"))
        files = ("run/model.npz", "run/accounting.toml", "run/PRIVACY.md")
        trained = Case(self, "train, budget", self.train(*budget, "--force", epsilon=1), *files, "b.budget")
        trained.make_older(*self.train(*budget, epsilon=4))
        after = Case(self, "train, after", self.train("--after", place / "run", "--force", epsilon=5), *files)
        after.make_older(*self.train(epsilon=4))
        return [fresh, again, trained, after]

    def meet(self, case, shim, faults, points, only=None, codes=(BAD_INPUT, STORAGE), whole=False):
        """Faults one after the other at `points` calls, or at all of them."""
        case.prepare()
        spent = {"runs": 0, "epsilon_spent": 0.0}
        if case.budget is not None and case.budget.exists():
            spent = case.runs_booked()
        reference = self.run_with(case.args, shim, only=only)
        self.assertEqual(reference.code, 0, reference.story)
        case.judge(reference, spent)
        chosen = range(1, reference.calls + 1) if whole else spread(reference.calls, points, seed=case.name)
        for turn, at in enumerate(chosen):
            fault, forever = faults[turn % len(faults)]
            case.prepare()
            outcome = self.run_with(case.args, shim, at, forever, fault, may_miss=True, only=only)
            if fault in ("kill", "torn") and outcome.faults > 0:
                self.demand(outcome.code == -signal.SIGKILL, "not killed", outcome)
            elif outcome.code != 0:
                self.demand_refusal(outcome, codes)
            case.judge(outcome, spent)
        return reference.calls

    def test_killed_at_every_name_and_flush(self):
        """rename, fsync, fdatasync and unlink, one after the other, all of them."""
        for case in self.cases():
            self.assertGreater(self.meet(case, "io", [("kill", False)], 0, NAMES, whole=True), 3)

    def test_killed_in_the_middle_of_writes(self):
        for case, points in shared(number(16, 200), self.cases()).items():
            self.meet(case, "io", [("torn", False), ("kill", False)], points, "write,pwrite,pwrite64,close,ftruncate")

    def test_disks_that_fail(self):
        faults = [("EIO", False), ("ENOSPC", True), ("short", False), ("EIO", True), ("ENOSPC", False)]
        for case, points in shared(number(24, 200), self.cases()).items():
            self.meet(case, "io", faults, points)
        for case in self.cases():
            self.meet(case, "io", [("EIO", False)], number(4, 0), NAMES, whole=number(False, True))

    def test_memory_that_ends(self):
        for case, points in shared(number(16, 80), self.cases()).items():
            self.meet(case, "memory", [(None, False), (None, True)], points)


if __name__ == "__main__":
    unittest.main()
