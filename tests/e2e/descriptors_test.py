"""Started with standard input, output or error closed, the program loses nothing."""
import itertools
import os
import sqlite3
import subprocess
import unittest

from support import ROOT, SFUMATO, ProgramTest, run

STUDY = ["studies/ridge_exact.toml", "--set", "audit.replicas=5"]


def closing(*descriptors):
    def close():
        for descriptor in descriptors:
            os.close(descriptor)
    return close


def run_closed(descriptors, *args):
    """Runs sfumato without these descriptors; nothing is captured."""
    return subprocess.run([SFUMATO, *map(str, args)], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, preexec_fn=closing(*descriptors), timeout=300, check=False).returncode


class Descriptors(ProgramTest):
    def export(self, ledger):
        out = self.dir / "out.csv"
        done = run("study", "export", ledger, "--out", out, "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        return out.read_text()

    def test_a_ledger_survives(self):
        whole = self.dir / "whole.ledger"
        self.assertEqual(run("study", "run", *STUDY, "--ledger", whole).returncode, 0)
        rows = self.export(whole)
        for count in (1, 2, 3):
            for closed in itertools.combinations(range(3), count):
                with self.subTest(closed=closed):
                    ledger = self.dir / f"closed{''.join(map(str, closed))}.ledger"
                    for _ in range(2):  # once to make it, once to go on with it
                        self.assertEqual(run_closed(closed, "study", "run", *STUDY, "--ledger", ledger), 0)
                        with sqlite3.connect(ledger) as database:
                            self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
                        database.close()
                    self.assertEqual(run_closed(closed, "audit", ledger), run("audit", whole).returncode)
                    self.assertEqual(self.export(ledger), rows)

    def test_files_are_written_whole(self):
        table = self.write("t.csv", "x,y\n1,2\n2,3\n3,5\n4,4\n5,7\n")
        arguments = ["rows", table, "--target", "y", "--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--noise", "1"]
        expected, out = self.dir / "expected.csv", self.dir / "closed.csv"
        self.assertEqual(run(*arguments, "--out", expected).returncode, 0)
        for closed in ((1,), (2,), (0, 1, 2)):
            self.assertEqual(run_closed(closed, *arguments, "--out", out), 0)
            self.assertEqual(out.read_bytes(), expected.read_bytes())
            out.unlink()

    def test_errors_keep_their_code(self):
        self.assertEqual(run_closed((0, 1, 2), "study", "status", self.dir / "missing.ledger"), 65)
        self.assertEqual(run_closed((0, 1, 2), "nonsense"), 64)


if __name__ == "__main__":
    unittest.main()
