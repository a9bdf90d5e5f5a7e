"""The -wal of a ledger whose run was killed, damaged: what is lost there is trained again."""
import random
import signal
import unittest

from damages import DAMAGES, PAGE
from fault_support import FaultTest, needs_shims, number, remove_ledger, trials_of


@needs_shims
class WriteAheadLog(FaultTest):
    def test_bytes(self):
        rows = self.whole_rows()
        killed = self.dir / "killed.ledger"
        calls = self.run_with(self.study_run(killed), "io").calls
        wal = killed.with_name(killed.name + "-wal")
        for percent in (75, 65, 55, 45):  # of a run whose number of calls is a matter of time; its end empties the log
            remove_ledger(killed)
            outcome = self.run_with(self.study_run(killed), "io", calls * percent // 100, fault="kill", may_miss=True)
            if outcome.code == -signal.SIGKILL and wal.stat().st_size > 6 * PAGE:
                break
        self.assertEqual(outcome.code, -signal.SIGKILL, outcome.story)
        base, log = killed.read_bytes(), wal.read_bytes()
        self.assertGreater(len(log), 4 * PAGE)
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
