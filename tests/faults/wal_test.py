"""The -wal of a ledger whose run was killed, damaged: what is lost there is trained again."""
import random
import signal
import unittest

from damages import DAMAGES, PAGE
from fault_support import FaultTest, needs_shims, number, remove_ledger, trials_of


def log_of(ledger):
    return ledger.with_name(ledger.name + "-wal")


@needs_shims
class WriteAheadLog(FaultTest):
    def killed_with_log(self, killed):
        """The bytes of a ledger and of its log, whose run was killed with trials in the log.

        How many calls a run makes is a matter of time, and its end empties or removes the log: several places are tried.
        """
        calls = self.run_with(self.study_run(killed), "io").calls
        for percent in (75, 65, 55, 45, 85, 35):
            remove_ledger(killed)
            outcome = self.run_with(self.study_run(killed), "io", calls * percent // 100, fault="kill", may_miss=True)
            wal = log_of(killed)
            if outcome.code == -signal.SIGKILL and wal.exists() and wal.stat().st_size > 6 * PAGE:
                return killed.read_bytes(), wal.read_bytes()
        self.fail(f"no kill left a log of more than {6 * PAGE} bytes\n{outcome.story}")

    def test_bytes(self):
        rows = self.whole_rows()
        killed = self.dir / "killed.ledger"
        base, log = self.killed_with_log(killed)
        wal = log_of(killed)
        for case in range(number(10, 100)):
            chance = random.Random(f"wal {case}")
            content = bytearray(log)
            damage = DAMAGES[case % len(DAMAGES)]
            damage(content, chance)
            remove_ledger(killed)
            killed.write_bytes(base)
            wal.write_bytes(content)
            reading, got = self.export(killed)
            reading.story = f"case {case}, {damage.__name__} of the -wal\n{reading.story}"
            if got is None:
                self.demand_refusal(reading)
            else:
                self.demand(trials_of(got) <= trials_of(rows), "rows that were never trained", reading)
            self.demand_resumed(killed, rows, reading, or_refused=True)


if __name__ == "__main__":
    unittest.main()
