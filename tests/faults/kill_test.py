"""Processes that are killed: what was committed stays, and the same command goes on to the same rows."""
import random
import signal
import subprocess
import time
import unittest

from fault_support import ROOT, SFUMATO, FaultTest, Outcome, needs_shims, number, remove_ledger, spread, trials_of


class Kill(FaultTest):
    def setUp(self):
        super().setUp()
        self.rows = self.whole_rows()
        self.ledger = self.dir / "killed.ledger"

    def killed_at(self, at, fault):
        outcome = self.run_with(self.study_run(self.ledger), "io", at, fault=fault)
        self.assertEqual(outcome.code, -signal.SIGKILL, outcome.story)
        return outcome

    @needs_shims
    def test_during_creation(self):
        """At one call after the other of those that make a ledger, also in the middle of a write."""
        calls = self.run_with(self.study_run(self.ledger), "io").calls
        points = number(8, 20)
        # The first third of this small run reads the study and makes the ledger.
        for turn, at in enumerate(spread(calls // 3, points, seed="creation")):
            remove_ledger(self.ledger)
            outcome = self.killed_at(at, ["kill", "torn"][turn % 2])
            self.demand_resumed(self.ledger, self.rows, outcome)

    @needs_shims
    def test_again_and_again(self):
        """One ledger, killed at call after call until it is finished: it never shrinks."""
        held, kills = 0, 0
        chance = random.Random(11)
        while kills < number(8, 20):
            outcome = self.run_with(self.study_run(self.ledger), "io", chance.randrange(40, 140), fault="torn", may_miss=True)
            if outcome.code == 0:
                break
            kills += 1
            self.assertEqual(outcome.code, -signal.SIGKILL, outcome.story)
            reading, rows = self.export(self.ledger)
            if rows is None:  # not made yet
                self.demand(held == 0 and self.demand_refusal(reading), f"unreadable after\n{outcome.story}\n", reading)
                continue
            self.demand(len(trials_of(rows)) >= held, "lost trials", outcome)
            self.demand(trials_of(rows) <= trials_of(self.rows), "other rows", outcome)
            held = len(trials_of(rows))
        self.demand_resumed(self.ledger, self.rows, outcome)

    def test_at_random_moments(self):
        """By the clock, two threads at work: wherever it hits, the rest gives the same rows."""
        args = [str(a) for a in self.study_run(self.ledger, threads=2)]
        begin = time.monotonic()
        self.well(*args)
        whole = time.monotonic() - begin
        chance = random.Random(7)
        for _ in range(number(4, 20)):
            remove_ledger(self.ledger)
            with subprocess.Popen([SFUMATO, *args], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                time.sleep(chance.uniform(0.0, whole))
                process.kill()
                out, err = process.communicate()
            done = subprocess.CompletedProcess(args, process.returncode, out, err)
            self.demand_resumed(self.ledger, self.rows, Outcome(args, {}, done))


if __name__ == "__main__":
    unittest.main()
