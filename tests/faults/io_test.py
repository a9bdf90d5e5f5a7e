"""Calls that open, read, write, flush, name or map files and fail: nothing that was stored is lost or torn."""
import unittest

from commands import commands
from fault_support import FaultTest, needs_shims, number, remove_ledger, shared, spread

# An error of the disk, a full one, half of the bytes; the first two also for good.
FAULTS = [("EIO", False), ("ENOSPC", False), ("short", False), ("EIO", True), ("ENOSPC", True)]


@needs_shims
class InputOutput(FaultTest):
    def setUp(self):
        super().setUp()
        self.rows = self.whole_rows()

    def test_a_study_goes_on(self):
        ledger = self.dir / "faulty.ledger"
        calls = self.run_with(self.study_run(ledger), "io").calls
        hits, points = 0, number(30, 120)
        for (fault, forever), share in shared(points, FAULTS).items():
            for at in spread(calls, share, seed=f"{fault} {forever}"):
                remove_ledger(ledger)
                # How many trials a commit takes, and so how many calls there are, is a matter of time.
                outcome = self.run_with(self.study_run(ledger), "io", at, forever, fault, may_miss=True)
                hits += outcome.faults > 0
                if outcome.code != 0:
                    self.demand_refusal(outcome)
                self.demand_resumed(ledger, self.rows, outcome)
        self.assertGreater(hits, points // 2)

    def test_readers_and_calculators(self):
        """What is printed and written is the whole answer, or there is none."""
        all_of_them = commands(self.dir)
        for command, points in shared(number(36, 80), all_of_them).items():
            command.prepare(self.dir / "whole.ledger")
            reference = self.run_with(command.args, "io")
            command.remember(reference)
            for turn, at in enumerate(spread(reference.calls, points, seed=command.name)):
                fault, forever = FAULTS[turn % len(FAULTS)]
                command.prepare(self.dir / "whole.ledger")
                outcome = self.run_with(command.args, "io", at, forever, fault)
                if command.answered(outcome):
                    continue
                self.demand_refusal(outcome)
                self.demand(not command.left_torn(), f"{command.left_torn()} torn", outcome)
                if command.ledger is not None:  # readers leave it as good as it was
                    after, rows = self.export(command.ledger)
                    self.demand(rows == self.rows, f"other rows after\n{outcome.story}\n", after)


if __name__ == "__main__":
    unittest.main()
