"""Ledgers whose bytes have changed: every reader refuses them or says what it said before."""
import random
import sqlite3
import unittest

from damages import DAMAGES, PAGE
from fault_support import FaultTest, number, remove_ledger

# What a person with sqlite3 can do. The program may not notice a rewritten ledger in general, but this it does.
STATEMENTS = [
    "DELETE FROM trial WHERE replica = 3",
    "DELETE FROM trial WHERE replica >= 3; DELETE FROM world WHERE replica >= 3; DELETE FROM score WHERE replica >= 3; "
    "DELETE FROM series WHERE replica >= 3",
    "DELETE FROM look",
    "UPDATE look SET trials = trials + 1",
    "UPDATE trial SET replica = 77 WHERE replica = 3; UPDATE world SET replica = 77 WHERE replica = 3; "
    "UPDATE score SET replica = 77 WHERE replica = 3; UPDATE series SET replica = 77 WHERE replica = 3",
    "UPDATE score SET value = value + 1e-9 WHERE replica = 2",
    "DELETE FROM meta WHERE key = 'digest'",
    "CREATE TRIGGER t AFTER INSERT ON look BEGIN DELETE FROM trial; END",
    "ALTER TABLE look RENAME TO looked; CREATE VIEW look AS SELECT number, trials FROM looked",
]


class Damage(FaultTest):
    def setUp(self):
        super().setUp()
        self.rows = self.whole_rows()
        self.ledger = self.dir / "damaged.ledger"
        self.table = self.dir / "trials.csv"
        whole = self.dir / "whole.ledger"
        self.well("audit", whole)  # which it remembers as a look
        with sqlite3.connect(whole) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        self.good = whole.read_bytes()
        self.assertGreater(len(self.good), 8 * PAGE)
        self.commands = {
            "status": ["study", "status", self.ledger],
            "export": ["study", "export", self.ledger, "--out", self.table],
            "audit": ["audit", self.ledger],
        }
        self.reference = {}
        for name in self.commands:
            self.reference[name] = self.answer(name, self.good)
            self.assertEqual(self.reference[name][0].code, 0, self.reference[name][0].story)

    def answer(self, name, content):
        """What a command says of a ledger of these bytes, and the table that it wrote."""
        remove_ledger(self.ledger)
        self.ledger.write_bytes(content)
        self.table.unlink(missing_ok=True)
        outcome = self.run_with(self.commands[name])
        return outcome, self.table.read_bytes() if self.table.exists() else None

    def demand_refused_or_identical(self, content, story):
        for name in self.commands:
            outcome, table = self.answer(name, content)
            expected, whole = self.reference[name]
            if (outcome.code, outcome.out, table) == (0, expected.out, whole):
                continue
            outcome.story = f"{story}\n{outcome.story}"
            self.demand(table is None, "wrote a table", outcome)
            self.demand_refusal(outcome)

    def test_bytes(self):
        seen = 0
        for case in range(number(70, 1000)):
            chance = random.Random(f"damage {case}")
            content = bytearray(self.good)
            damage = DAMAGES[case % len(DAMAGES)]
            damage(content, chance)
            if content == self.good:
                continue
            seen += 1
            self.demand_refused_or_identical(content, f"case {case}, {damage.__name__}")
        self.assertGreater(seen, number(70, 1000) // 2)

    def test_statements(self):
        for statement in STATEMENTS:
            changed = self.dir / "changed.ledger"
            remove_ledger(changed)
            changed.write_bytes(self.good)
            database = sqlite3.connect(changed)
            database.executescript(statement)
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            database.close()
            self.demand_refused_or_identical(changed.read_bytes(), statement)


if __name__ == "__main__":
    unittest.main()
