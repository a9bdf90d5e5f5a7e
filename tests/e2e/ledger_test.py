"""Ledgers that were altered, copied, killed while they were made, or made to harm."""
import hashlib
import os
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import time
import unittest

from support import BAD_INPUT, ROOT, SFUMATO, STORAGE, USAGE, ProgramTest, edit_ledger, run, without_progress

STUDY = ["studies/ridge_exact.toml", "--set", "audit.replicas=12"]
TRIALS = 2 * 12


class LedgerCase(ProgramTest):
    def setUp(self):
        super().setUp()
        self.ledger = self.dir / "a.ledger"
        self.ran(*STUDY, "--ledger", self.ledger)

    def ran(self, *args):
        done = run("study", "run", *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def export(self, ledger):
        out = self.dir / "out.csv"
        done = run("study", "export", ledger, "--out", out, "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        return out.read_text()

    def sql(self, *statements, ledger=None):
        database = sqlite3.connect(ledger or self.ledger)
        for statement in statements:
            database.execute(statement)
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()

    def readers(self, ledger=None):
        ledger = ledger or self.ledger
        yield ["study", "status", ledger]
        yield ["study", "export", ledger, "--out", self.dir / "refused.csv"]
        yield ["study", "copy", ledger, self.dir / "refused.ledger"]
        yield ["study", "verify", ledger, "--sample", "1"]
        yield ["audit", ledger]
        yield ["report", ledger, "--out", self.dir / "refused.html"]
        yield ["study", "run", *STUDY, "--ledger", ledger]

    def assert_nobody_reads(self, words, ledger=None):
        for command in self.readers(ledger):
            self.assert_refused(BAD_INPUT, [words], *command)
        for name in ("refused.csv", "refused.ledger", "refused.html"):
            self.assertFalse((self.dir / name).exists(), name)

    def assert_one_file(self, ledger):
        beside = [path.name for path in ledger.parent.iterdir() if path.name.startswith(ledger.name + "-")]
        self.assertEqual(beside, [])


class Altered(LedgerCase):
    def test_trials_and_looks_cannot_be_taken_away(self):
        self.assertEqual(run("audit", self.ledger).returncode, 0)  # look 1
        good = self.ledger.read_bytes()
        keys = "policy = 0 AND pair = 0 AND replica >= 6"
        for statements in (
                [f"DELETE FROM {table} WHERE {keys}" for table in ("trial", "world", "score", "series")],
                ["DELETE FROM look"],
                ["UPDATE look SET trials = trials + 1"],
                ["INSERT INTO look VALUES(7, 7)"],
                ["UPDATE meta SET value = '64' WHERE key = 'workers'"],
                ["INSERT INTO meta VALUES('note', 'x')"],
                ["INSERT INTO trial SELECT policy, pair, replica + 100, status, message, seed, seconds, digest FROM trial "
                 "WHERE policy = 0"]):
            self.sql(*statements)
            self.assertNotEqual(self.ledger.read_bytes(), good)
            self.assert_refused(BAD_INPUT, ["added, removed or changed"], "study", "status", self.ledger)
            self.ledger.write_bytes(good)
        self.sql("DELETE FROM look")
        self.assert_nobody_reads("added, removed or changed")

    def test_rows_of_no_trial_and_moved_rows(self):
        good = self.ledger.read_bytes()
        for statement in ("INSERT INTO score VALUES(0, 0, 999, 0, 0, 'loss', 1.0)",
                          "INSERT INTO world SELECT policy, pair, replica, 5, diverged_at, training_loss, largest_loss, "
                          "training_accuracy, test_accuracy, odometer, infinite_steps FROM world WHERE world = 0",
                          "UPDATE score SET position = position + 1 WHERE replica = 3 AND policy = 0 AND position = "
                          "(SELECT max(position) FROM score)"):
            self.sql(statement)
            self.assert_refused(BAD_INPUT, ["is damaged: rows in it belong to no trial"], "study", "status", self.ledger)
            self.ledger.write_bytes(good)
        self.sql("UPDATE score SET value = value * 2 WHERE replica = 3")
        self.assert_refused(BAD_INPUT, ["is not what was written"], "audit", self.ledger)


class Hostile(LedgerCase):
    def test_another_schema_does_not_run(self):
        good = self.ledger.read_bytes()
        for statements in (
                # A view in the place of a table: reading it would never end.
                ["ALTER TABLE meta RENAME TO kept",
                 "CREATE VIEW meta AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                 "SELECT 'study' AS key, i AS value FROM n"],
                ["CREATE TRIGGER t AFTER INSERT ON look BEGIN DELETE FROM trial; END"],
                ["CREATE TABLE extra(x)"],
                ["CREATE INDEX i ON trial(status)"],
                ["ALTER TABLE score ADD COLUMN more TEXT"]):
            self.sql(*statements)
            self.assert_refused(BAD_INPUT, ["its tables are not what was written"], "study", "status", self.ledger)
            self.assert_refused(BAD_INPUT, ["its tables are not what was written"], "audit", self.ledger)
            self.ledger.write_bytes(good)

    def test_databases_of_others_are_not_adopted(self):
        for statements in (["PRAGMA application_id = 99"], ["PRAGMA user_version = 3"], ["CREATE VIEW v AS SELECT 1"],
                           ["CREATE TABLE t(x)", "DROP TABLE t"]):
            other = self.dir / "other.sqlite"
            other.unlink(missing_ok=True)
            self.sql(*statements, ledger=other)
            before = other.read_bytes()
            self.assert_refused(BAD_INPUT, ["is no ledger of sfumato"], "study", "run", *STUDY, "--ledger", other)
            self.assert_refused(BAD_INPUT, ["is no ledger of sfumato"], "study", "status", other)
            self.assertEqual(other.read_bytes(), before)

    def test_what_is_no_file(self):
        pipe = self.dir / "pipe"
        os.mkfifo(pipe)
        for path, words in ((pipe, "is no regular file"), (self.dir, "is a directory"), ("/dev/null", "is no regular file")):
            for command in (["study", "status", path], ["study", "run", *STUDY, "--ledger", path],
                            ["study", "copy", path, self.dir / "c.ledger"]):
                self.assert_refused(BAD_INPUT, [words], *command)

    def test_names_with_a_meaning_for_sqlite(self):
        study = [ROOT / STUDY[0], *STUDY[1:]]
        for name in (":memory:", "file:u.ledger", "file:x?mode=memory"):
            done = run("study", "run", *study, "--ledger", name, cwd=self.dir)
            self.assertEqual(done.returncode, 0, done.stderr)
            status = run("study", "status", name, cwd=self.dir)
            self.assertIn(f"{TRIALS} of {TRIALS} trials done", status.stdout)
            self.assertGreater((self.dir / name).stat().st_size, 4096)


class Copies(LedgerCase):
    def test_a_copied_file_is_whole_and_remembers(self):
        part = self.dir / "part.ledger"
        many = ["studies/ridge_exact.toml", "--set", "audit.replicas=40000", "--ledger", part]
        process = subprocess.Popen([SFUMATO, "study", "run", *many], cwd=ROOT, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        for _ in range(300):
            time.sleep(0.1)
            if "] 0 of" not in (run("study", "status", part).stdout or "] 0 of"):
                break
        taken = self.dir / "taken.ledger"
        copied = run("study", "copy", part, taken)  # while the run is on
        self.assertEqual(copied.returncode, 0, copied.stderr)
        self.assertIsNone(process.poll(), "the run ended before it was copied")
        process.send_signal(signal.SIGKILL)
        process.wait()
        trials = int(re.search(r"(\d+) trials and 0 looks", copied.stdout).group(1))
        self.assertGreater(trials, 0)
        self.assertIn(f"{trials} of 80000", run("study", "status", taken).stdout)
        # Whoever reads what a killed run left makes one file of it.
        self.assertEqual(run("study", "status", part).returncode, 0)
        self.assert_one_file(part)
        self.assertIn("look 1", run("audit", part).stdout.replace("\n", " "))
        self.assert_one_file(part)
        self.assertEqual(run("report", part, "--out", self.dir / "r.html").returncode, 0)
        self.assert_one_file(part)
        moved = self.dir / "moved.ledger"
        shutil.copyfile(part, moved)
        for ledger in (part, moved):
            with sqlite3.connect(ledger) as database:
                self.assertEqual(database.execute("SELECT count(*) FROM look").fetchall(), [(1,)])
            database.close()
        self.assertEqual(self.export(moved), self.export(part))

    def test_copy(self):
        self.assertEqual(run("audit", self.ledger).returncode, 0)
        copy = self.dir / "copy.ledger"
        done = run("study", "copy", self.ledger, copy)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{TRIALS} trials and 1 look copied to", done.stdout.replace("\n", " "))
        self.assert_one_file(copy)
        self.assertEqual(stat.S_IMODE(copy.stat().st_mode), 0o600)
        self.assertEqual(self.export(copy), self.export(self.ledger))
        self.assertIn("(0 new)", self.ran(*STUDY, "--ledger", copy).stdout)
        before = copy.read_bytes()
        self.assert_refused(BAD_INPUT, ["exists already"], "study", "copy", self.ledger, copy)
        self.assert_refused(BAD_INPUT, ["exists already"], "study", "copy", self.ledger, self.ledger)
        self.assertEqual(copy.read_bytes(), before)
        self.assert_refused(STORAGE, ["cannot be opened for writing"], "study", "copy", self.ledger, "/nowhere/c.ledger")

    def make_old(self):
        """What an earlier version wrote: no digest of the content, and records that count from 0."""
        database = sqlite3.connect(self.ledger)
        meta = dict(database.execute("SELECT key, value FROM meta"))
        database.close()
        study = meta["study"].replace("record = 383", "record = 382")
        self.assertNotEqual(study, meta["study"])
        identity = "".join(f"{text}\n" for text in (study, meta["version"], meta["instruction_set"])) + "".join(
            f"{key.removeprefix('checksum.')} {meta[key]}\n" for key in sorted(meta) if key.startswith("checksum."))
        digest = hashlib.sha256(identity.encode()).hexdigest()
        self.sql("DELETE FROM meta WHERE key = 'content'", "PRAGMA user_version = 2",
                 f"UPDATE meta SET value = '{study}' WHERE key = 'study'",
                 f"UPDATE meta SET value = '{digest}' WHERE key = 'digest'")

    def test_the_format_before_is_read_and_copied(self):
        rows = self.export(self.ledger)
        self.make_old()
        self.assertEqual(self.export(self.ledger), rows)
        self.assertEqual(run("audit", self.ledger).returncode, 0)
        self.assert_refused(BAD_INPUT, ["has ledger format 2", "sfumato study copy"], "study", "run", *STUDY, "--ledger",
                            self.ledger)
        new = self.dir / "new.ledger"
        self.assertEqual(run("study", "copy", self.ledger, new).returncode, 0)
        self.assertEqual(self.export(new), rows)
        self.assertIn("(0 new)", self.ran(*STUDY, "--ledger", new).stdout)
        self.sql("DELETE FROM look", ledger=new)  # the look at the old one came along
        self.assert_refused(BAD_INPUT, ["added, removed or changed"], "study", "status", new)

    @unittest.skipUnless(os.geteuid() == 0, "needs a user who may become another")
    def test_looks_at_what_cannot_be_written(self):
        self.dir.chmod(0o755)
        self.ledger.chmod(0o444)

        def nobody():
            os.setgid(65534)
            os.setuid(65534)
        out = self.dir / "open"
        out.mkdir()
        out.chmod(0o777)
        page = out / "r.html"
        self.assert_refused(BAD_INPUT, ["interim look 1 cannot be recorded", "set --look to 1", "sfumato study copy"],
                            "report", self.ledger, "--out", page, preexec_fn=nobody)
        done = run("report", self.ledger, "--out", page, "--look", "1", preexec_fn=nobody)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_refused(USAGE, ["--look"], "report", self.ledger, "--out", page, "--look", "0")
        self.ledger.chmod(0o600)
        self.assert_refused(BAD_INPUT, ["cannot be read (Permission denied)"], "study", "status", self.ledger,
                            preexec_fn=nobody)


class Creation(ProgramTest):
    def test_killed_while_it_is_made(self):
        """Whatever is left is empty or a ledger, and the next run goes on with it."""
        chance = 0.005
        kinds = set()
        for attempt in range(400):  # on a busy machine the moment before the ledger is whole is rarely hit
            if attempt >= 24 and "empty" in kinds:
                break
            ledger = self.dir / f"{attempt}.ledger"
            process = subprocess.Popen([SFUMATO, "study", "run", *STUDY, "--ledger", ledger], cwd=ROOT,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            end = time.monotonic() + 20
            while not ledger.exists() and process.poll() is None and time.monotonic() < end:
                time.sleep(0.0005)
            time.sleep(chance * (attempt % 6) / 5)
            process.send_signal(signal.SIGKILL)
            process.wait()
            status = run("study", "status", ledger)
            if status.returncode == 0:
                kinds.add("ledger")
            else:
                self.assertEqual(status.returncode, BAD_INPUT, status.stderr)
                self.assertIn("is empty: no run has got as far as writing to it", status.stderr)
                kinds.add("empty")
            if attempt % 4 == 0 and attempt < 24:
                done = run("study", "run", *STUDY, "--ledger", ledger)
                self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("empty", kinds)

    def test_mode(self):
        for umask in (0o000, 0o022, 0o277):
            ledger = self.dir / f"{umask}.ledger"
            done = run("study", "run", *STUDY, "--ledger", ledger, preexec_fn=lambda mask=umask: os.umask(mask) and None)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(stat.S_IMODE(ledger.stat().st_mode), 0o600)
        shared, copy = self.dir / "shared.ledger", self.dir / "copy.ledger"
        self.assertEqual(run("study", "run", *STUDY, "--ledger", shared, "--group-readable").returncode, 0)
        self.assertEqual(run("study", "copy", shared, copy, "--group-readable").returncode, 0)
        for ledger in (shared, copy):
            self.assertEqual(stat.S_IMODE(ledger.stat().st_mode), 0o640)


class Verify(LedgerCase):
    def test_trained_again(self):
        found = self.document("study", "verify", self.ledger, "--sample", "3", "--seed", "1")
        row = found.block("compared")["rows"][0]
        self.assertEqual((row["sample"], row["held"], row["mismatches"]), (3, TRIALS, 0))
        self.assertEqual(row["trials"], 2 * row["groups"])  # with the other policy of the group
        self.assertTrue(any(text.startswith("IDENTICAL") for text in found.statements("verdict")))
        self.assertTrue(any("63.2 %" in text for text in found.statements("info")))  # 1 - 0.05^(1/3)
        again = self.document("study", "verify", self.ledger, "--sample", "3", "--seed", "1", "--threads", "1")
        self.assertEqual(again.content, found.content)
        everything = self.document("study", "verify", self.ledger, "--sample", "1000")
        self.assertEqual(everything.value("compared", "trials", held=TRIALS), TRIALS)
        self.assertFalse(any("at random" in text for text in everything.statements("info")))
        self.assert_one_file(self.ledger)

    def forge(self):
        """Another seed's trial in the place of one, with all digests to match: no digest can show it."""
        other = self.dir / "other.ledger"
        self.ran(*STUDY, "--set", "train.seed=5", "--ledger", other)

        def replace(database):
            database.execute("ATTACH ? AS other", (str(other),))
            key = "policy = 1 AND pair = 0 AND replica = 4"
            for table in ("trial", "world", "score", "series"):
                database.execute(f"DELETE FROM {table} WHERE {key}")
                database.execute(f"INSERT INTO {table} SELECT * FROM other.{table} WHERE {key}")
        edit_ledger(self.ledger, replace)

    def test_a_forged_trial_is_found_by_training_it_again(self):
        self.forge()
        self.assertEqual(run("study", "status", self.ledger).returncode, 0)
        done = run("study", "verify", self.ledger, "--sample", "1000", "--json")
        self.assertEqual((done.returncode, without_progress(done.stderr)), (1, ""))
        self.assertIn("DIFFERENT: 24 of 24 trials were trained again, and 1 differ", done.stdout)
        self.assertIn("seed ", done.stdout)

    def test_what_cannot_be_compared_is_refused(self):
        data = self.dir / "t.csv"
        shutil.copyfile(ROOT / "examples/rows/diabetes.csv", data)
        study = self.write("s.toml", (ROOT / STUDY[0]).read_text().replace("../examples/rows/diabetes.csv", "t.csv"))
        ledger = self.dir / "own.ledger"
        self.ran(study, *STUDY[1:], "--ledger", ledger)
        text = data.read_text()
        data.write_text(text.replace("59", "58", 1))
        self.assert_refused(BAD_INPUT, ["was computed on other data"], "study", "verify", ledger)
        data.unlink()
        self.assert_refused(BAD_INPUT, ["t.csv"], "study", "verify", ledger)
        self.assert_refused(USAGE, ["--sample"], "study", "verify", self.ledger, "--sample", "0")


if __name__ == "__main__":
    unittest.main()
