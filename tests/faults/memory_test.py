"""Allocations that fail: every command ends in order, with the same answer or none."""
import unittest

from commands import commands
from fault_support import BAD_INPUT, FaultTest, needs_shims, number, remove_ledger, shared, spread


@needs_shims
class Memory(FaultTest):
    def setUp(self):
        super().setUp()
        self.rows = self.whole_rows()

    def demand_no_memory(self, outcome):
        """Libraries hide what they lack (a TOML number is "not a value"), but no file is called damaged."""
        self.demand_refusal(outcome, [BAD_INPUT])
        self.demand("damaged" not in outcome.err, "blames a file", outcome)

    def meet(self, once, for_ever):
        """Readers and calculators: what is printed and written is the whole answer, or there is none."""
        all_of_them = commands(self.dir)
        for forever, points in ((False, shared(once, all_of_them)), (True, shared(for_ever, all_of_them))):
            for command in all_of_them:
                command.prepare(self.dir / "whole.ledger")
                reference = self.run_with(command.args, "memory")
                command.remember(reference)
                for at in spread(reference.calls, points[command], seed=f"{command.name} {forever}"):
                    command.prepare(self.dir / "whole.ledger")
                    outcome = self.run_with(command.args, "memory", at, forever)
                    if command.answered(outcome):
                        continue
                    self.demand_no_memory(outcome)
                    self.demand(not command.left_torn(), f"{command.left_torn()} torn", outcome)

    def test_readers_and_calculators(self):
        self.meet(number(54, 150), number(18, 45))

    def test_a_study_goes_on(self):
        ledger = self.dir / "faulty.ledger"
        calls = self.run_with(self.study_run(ledger), "memory").calls
        hits, points = 0, {False: number(16, 50), True: number(6, 15)}
        for forever, share in points.items():
            for at in spread(calls, share, seed=f"study {forever}"):
                remove_ledger(ledger)
                # How many trials a commit takes, and so how many calls there are, is a matter of time.
                outcome = self.run_with(self.study_run(ledger), "memory", at, forever, may_miss=True)
                hits += outcome.faults > 0
                if outcome.code != 0:
                    self.demand_no_memory(outcome)
                self.demand_resumed(ledger, self.rows, outcome)
        self.assertGreater(hits, sum(points.values()) // 2)


if __name__ == "__main__":
    unittest.main()
