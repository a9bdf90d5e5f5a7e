"""`sfumato study`: threads, interruptions, refusals."""
import csv
import os
import random
import re
import resource
import signal
import sqlite3
import subprocess
import time
import unittest

from support import (BAD_INPUT, FASHION, FASHION_STUDY, SFUMATO, STORAGE, USAGE, ProgramTest, catches_interrupts,
                     run, trials_done)

@unittest.skipUnless(FASHION.exists(), "Fashion-MNIST is not installed")
class Study(ProgramTest):
    def setUp(self):
        super().setUp()
        self.study = self.path("s.toml")
        self.study.write_text(FASHION_STUDY)

    def path(self, name):
        return self.dir / name

    def export(self, ledger):
        out = self.path("out.csv")
        done = run("study", "export", ledger, "--out", out, "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        return out.read_text()

    def whole(self):
        ledger = self.path("whole.ledger")
        done = run("study", "run", self.study, "--ledger", ledger, "--threads", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.export(ledger)

    def test_threads_give_the_same_rows(self):
        one = self.whole()
        self.assertEqual(len(one.splitlines()), 1 + 2 * 2 * 6 * 2)
        many = self.path("many.ledger")
        self.assertEqual(run("study", "run", self.study, "--ledger", many, "--threads", "4").returncode, 0)
        self.assertEqual(self.export(many), one)
        # A second run has nothing to do.
        again = run("study", "run", self.study, "--ledger", many)
        self.assertIn("(0 new)", again.stdout)

    def test_killed_at_random_moments_nothing_is_lost(self):
        many = ["--set", "audit.replicas=150", "--set", "train.iterations=300"]
        whole = self.path("whole.ledger")
        self.assertEqual(run("study", "run", self.study, "--ledger", whole, *many).returncode, 0)
        begin = time.monotonic()  # a run that has nothing to do: how long a start takes on this machine now
        self.assertEqual(run("study", "run", self.study, "--ledger", whole, *many).returncode, 0)
        start = time.monotonic() - begin
        ledger = self.path("killed.ledger")
        chance = random.Random(7)
        held, grown, kills = 0, 0, 0
        pause = 1.0
        while kills < 20:
            process = subprocess.Popen([SFUMATO, "study", "run", self.study, "--ledger", ledger, "--threads", "2", *many],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(pause * chance.uniform(0.3 * start, 3.5 * start))
            process.send_signal(signal.SIGKILL)
            process.wait()
            if process.returncode != -signal.SIGKILL:  # it was done
                if grown >= 3:
                    break
                for file in self.dir.glob("killed.ledger*"):
                    file.unlink()  # too early, since the machine became quicker: again from nothing
                held, pause = 0, pause / 2
                continue
            kills += 1
            status = run("study", "status", ledger)
            if status.returncode != 0:  # killed before the ledger was made
                self.assertEqual(held, 0, status.stderr)
                continue
            count = trials_done(status.stdout)
            self.assertGreaterEqual(count, held)  # nothing committed is lost
            grown += count > held
            if count == held:
                pause = min(2.0 * pause, 64.0)  # or slower
            held = count
        self.assertGreaterEqual(grown, 3)
        done = run("study", "run", self.study, "--ledger", ledger, *many)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.export(ledger), self.export(whole))

    def test_interrupted_says_how_to_go_on(self):
        ledger = self.path("stopped.ledger")
        long = ["--set", "train.iterations=100000"]
        process = subprocess.Popen([SFUMATO, "study", "run", self.study, "--ledger", ledger, *long],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.assertTrue(catches_interrupts(process))
        while not os.path.exists(ledger):  # it has read its data, which takes its time on a busy machine
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 130)
        self.assertIn("To continue: sfumato study run", out)

    def test_another_study_is_refused_with_the_difference(self):
        ledger = self.path("a.ledger")
        quick = ["--set", "audit.replicas=1", "--set", "audit.pairs=1"]
        self.assertEqual(run("study", "run", self.study, "--ledger", ledger, *quick).returncode, 0)
        other = run("study", "run", self.study, "--ledger", ledger, *quick, "--set", "train.seed=5")
        self.assertEqual(other.returncode, BAD_INPUT)
        self.assertIn("train.seed is 0 there and 5 here", other.stderr)

    def test_two_processes_on_one_ledger(self):
        ledger = self.path("shared.ledger")
        long = ["--set", "train.iterations=100000"]
        first = subprocess.Popen([SFUMATO, "study", "run", self.study, "--ledger", ledger, *long],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):  # until the first holds it
            if "A run is adding to the ledger" in run("study", "status", ledger).stdout:
                break
            time.sleep(0.1)
        second = run("study", "run", self.study, "--ledger", ledger, *long)
        first.kill()
        first.wait()
        self.assertEqual(second.returncode, BAD_INPUT)
        self.assertIn("is in use by another process", second.stderr)

    def test_files_that_are_no_ledger(self):
        text = self.path("text.ledger")
        text.write_text("not a ledger, but long enough to be looked at " * 50)
        for command in (["study", "status", text], ["study", "run", self.study, "--ledger", text]):
            done = run(*command)
            self.assertEqual(done.returncode, BAD_INPUT, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1)
        other = self.path("other.sqlite")
        with sqlite3.connect(other) as database:
            database.execute("CREATE TABLE t(x)")
        done = run("study", "status", other)
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("is no ledger of sfumato", done.stderr)
        done = run("study", "status", self.path("missing.ledger"))
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("there is no such ledger", done.stderr)
        done = run("study", "run", self.study, "--ledger", "/nowhere/x.ledger")
        self.assertEqual(done.returncode, STORAGE)

    def stopped_for_want_of_room(self, ledger, *args, **options):
        stopped = run("study", "run", self.study, "--ledger", ledger, *args, **options)
        self.assertEqual(stopped.returncode, STORAGE, stopped.stderr)
        self.assertEqual(len(stopped.stderr.splitlines()), 1, stopped.stderr)
        self.assertIn("cannot be written", stopped.stderr)
        self.assertIn("Make room on the disk and run the same command again", stopped.stderr)

    def test_a_file_size_limit_is_a_full_disk(self):
        many = ["--set", "audit.replicas=12"]
        whole = self.path("whole.ledger")
        self.assertEqual(run("study", "run", self.study, "--ledger", whole, *many).returncode, 0)
        ledger = self.path("full.ledger")
        held = []
        for limit in (4096, 60_000, 120_000):  # bytes: before the first trial, then among them
            def limited(size=limit):
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            self.stopped_for_want_of_room(ledger, *many, preexec_fn=limited)
            status = run("study", "status", ledger)
            held.append(trials_done(status.stdout) if status.returncode == 0 else 0)
        self.assertEqual(held, sorted(held))
        self.assertGreater(held[-1], 0)
        done = run("study", "run", self.study, "--ledger", ledger, *many)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.export(ledger), self.export(whole))

    def test_a_full_disk(self):
        many = ["--set", "audit.replicas=12"]
        place = self.path("small")
        place.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160k", "none", place], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("mounting is not allowed here; a file-size limit is tested instead")
        try:
            ledger = place / "full.ledger"
            self.stopped_for_want_of_room(ledger, *many)
            self.assertEqual(run("study", "status", ledger).returncode, 0)
            subprocess.run(["mount", "-o", "remount,size=20m", place], check=True)
            done = run("study", "run", self.study, "--ledger", ledger, *many)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = self.export(ledger)
        finally:
            subprocess.run(["umount", place], check=True)
        whole = self.path("whole.ledger")
        self.assertEqual(run("study", "run", self.study, "--ledger", whole, *many).returncode, 0)
        self.assertEqual(rows, self.export(whole))

    def test_a_damaged_ledger_is_refused(self):
        ledger = self.path("a.ledger")
        quick = ["--set", "audit.replicas=4"]
        self.assertEqual(run("study", "run", self.study, "--ledger", ledger, *quick).returncode, 0)
        good = ledger.read_bytes()
        chance = random.Random(3)
        damages = [good[:len(good) // 2], good[:100]]
        for page in range(1, 4):  # what SQLite keeps at the beginning of each page
            at = page * 4096
            damages.append(good[:at] + chance.randbytes(16) + good[at + 16:])
        places = [match.end() + 40 for match in re.finditer(b"record_losses", good)]
        for at in chance.sample(places, 5):  # a single bit in the losses, which no structure shows
            damages.append(good[:at] + bytes([good[at] ^ 1 << chance.randrange(8)]) + good[at + 1:])
        for number, damaged in enumerate(damages):
            ledger.write_bytes(damaged)
            for command in (["study", "status", ledger], ["study", "run", self.study, "--ledger", ledger, *quick]):
                done = run(*command)
                self.assertEqual(done.returncode, BAD_INPUT, f"{number}: {done.stdout} {done.stderr}")
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertRegex(done.stderr, "is damaged|is no file of sfumato's")
            self.assertEqual(ledger.read_bytes(), damaged)  # nobody made it worse

    @unittest.skipUnless(os.geteuid() == 0, "needs a user who may become another")
    def test_a_read_only_ledger_is_read_and_not_added_to(self):
        ledger = self.path("a.ledger")
        quick = ["--set", "audit.replicas=1", "--set", "audit.pairs=1"]
        self.assertEqual(run("study", "run", self.study, "--ledger", ledger, *quick).returncode, 0)
        self.dir.chmod(0o755)
        ledger.chmod(0o444)

        def nobody():
            os.setgid(65534)
            os.setuid(65534)
        read = run("study", "status", ledger, preexec_fn=nobody)
        self.assertEqual(read.returncode, 0, read.stderr)
        added = run("study", "run", self.study, "--ledger", ledger, *quick, preexec_fn=nobody)
        self.assertEqual(added.returncode, STORAGE)
        self.assertIn("cannot be opened for writing (Permission denied)", added.stderr)

    def test_audit_of_a_ledger(self):
        ledger = self.path("audited.ledger")
        self.assertEqual(run("study", "run", self.study, "--ledger", ledger).returncode, 0)
        done = run("audit", ledger, "--eps", "0.1", "--full")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("proven, estimated and audited", "path KL", "largest mean loss", "adjacency remove"):
            self.assertIn(words, done.stdout.replace("\n", " ").replace("  ", " "))
        # Six replicas of two pairs cannot refute eps = 1, whatever they show.
        claimed = run("audit", ledger, "--policy", "anisotropic", "--claim", "eps=1.0,delta=1e-5")
        self.assertEqual(claimed.returncode, 2, claimed.stderr)
        self.assertIn("NOT ENOUGH RUNS", claimed.stdout)
        for extra, words in ((["--policy", "anisotropc"], "Did you mean `anisotropic`?"),
                             (["--score", "margn"], "Did you mean `margin`?")):
            wrong = run("audit", ledger, *extra)
            self.assertEqual(wrong.returncode, USAGE)
            self.assertIn(words, wrong.stderr)
        both = run("audit", ledger, "--unit", "models")
        self.assertEqual(both.returncode, 64)

    def test_plan(self):
        plan = self.document("study", "plan", self.study, "--eps", "1", "--seconds", "0.2", "--ranks", "6")
        self.assertEqual(plan.cell("study", "models", policies=2), 2 * 2 * 6 * 2)
        self.assertTrue(any("NOT ENOUGH RUNS" in text for text in plan.statements("warning")))
        here = plan.value("time", "seconds", where=plan.block("time")["rows"][0]["where"])
        self.assertGreater(here, 0.0)
        # As many runs as it says are enough, one less is not, for the default and for thresholds fixed beforehand.
        for thresholds in ("combined", "fixed"):
            needed = plan.cell("maxima", "perfect", thresholds=thresholds)
            for runs, enough in ((needed, True), (needed - 1, False)):
                other = self.document("study", "plan", self.study, "--eps", "1", "--seconds", "0.2",
                                      "--set", f"audit.replicas={runs}", "--set", "train.iterations=2")
                self.assertEqual(other.value("maxima", "maximum", thresholds=thresholds) > 1.0, enough)
        # Spec §11.3: ten runs of one pair show 0.8 at most.
        ten = self.document("study", "plan", self.study, "--delta", "1e-5", "--seconds", "0.2",
                            "--set", "audit.replicas=10", "--set", "audit.pairs=1", "--set", "train.iterations=2",
                            "--set", "noise=[{policy='isotropic', variance=0.01}]")
        self.assert_close(ten.value("maxima", "maximum", thresholds="fixed"), 0.807, absolute=0.001)
        self.assertLess(ten.value("maxima", "maximum", thresholds="combined"), ten.value("maxima", "maximum", thresholds="fixed"))
        # The study's claims, and what they need.
        claims = self.document("study", "plan", self.study, "--seconds", "0.2", "--set", "train.iterations=2",
                               "--set", 'audit.claims=["eps=1,delta=1e-5", "eps=2,delta=0"]')
        self.assertTrue(claims.has("maxima_1") and claims.has("maxima_2"))
        self.assert_refused(USAGE, ["--eps"], "study", "plan", self.study, "--eps", "-1")
        self.assert_refused(USAGE, ["--ranks"], "study", "plan", self.study, "--ranks", "2", "--threads", "2")

    def test_status_tells_what_is_left(self):
        ledger = self.path("part.ledger")
        long = ["--set", "train.iterations=2000", "--set", "audit.replicas=400"]
        process = subprocess.Popen([SFUMATO, "study", "run", self.study, "--ledger", ledger, "--threads", "2", *long],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(300):  # until something is finished
            time.sleep(0.1)
            during = run("study", "status", ledger)
            if during.returncode == 0 and trials_done(during.stdout) > 0:
                break
        process.kill()
        process.wait()
        self.assertIn("A run is adding to the ledger; the rest takes about", during.stdout)
        self.assertIn("2 groups at once", during.stdout.replace("\n", " "))
        after = run("study", "status", ledger)
        self.assertIn("No run is adding to the ledger", after.stdout)

    def test_export_npz(self):
        """The same numbers as in the CSV file, and the losses of every record."""
        import numpy
        ledger = self.path("n.ledger")
        quick = ["--set", "audit.replicas=2"]
        self.assertEqual(run("study", "run", self.study, "--ledger", ledger, *quick).returncode, 0)
        rows = list(csv.reader(self.export(ledger).splitlines()))
        out = self.path("out.npz")
        self.assertEqual(run("study", "export", ledger, "--out", out).returncode, 0)
        arrays = numpy.load(out)
        policies = arrays["policies"].tobytes().decode().split()
        self.assertEqual(policies, ["isotropic_per_layer", "anisotropic"])
        self.assertEqual(arrays["record_losses"].shape, (len(rows) - 1, 200))
        for i, row in enumerate(rows[1:]):
            cells = dict(zip(rows[0], row))
            self.assertEqual(policies[int(arrays["policy"][i])], cells["policy"])
            self.assertEqual("D" if arrays["world"][i] == 0 else "D'", cells["world"])
            self.assertEqual(int(arrays["seed"][i, 0]) << 32 | int(arrays["seed"][i, 1]), int(cells["seed"]))
            for name in ("training_loss", "test_accuracy", "path_kl", "loss", "projection"):
                self.assertEqual(arrays[name][i], float(cells[name]), name)
            self.assertAlmostEqual(float(arrays["record_losses"][i].max()), float(cells["largest_loss"]), places=5)
        again = self.path("again.npz")
        run("study", "export", ledger, "--out", again)
        self.assertEqual(out.read_bytes(), again.read_bytes())
        self.assert_refused(USAGE, [".npz"], "study", "export", ledger, "--out", self.path("out.txt"))

    def test_lists_of_variances_and_claims_of_the_study(self):
        """Five variances for two policies: twenty models in a group, more than a bundle holds."""
        ledger = self.path("grid.ledger")
        quick = ["--set", "audit.pairs=1", "--set", "audit.replicas=2"]
        grid = ["--set", "noise.anisotropic.variance=[0.001, 0.003, 0.01, 0.03, 0.1]",
                "--set", "noise.isotropic_per_layer.variance=[0.001, 0.003, 0.01, 0.03, 0.1]",
                "--set", 'audit.claims=["eps=1,delta=1e-5", "eps=0.1,delta=0.01"]']
        done = run("study", "run", self.study, "--ledger", ledger, *quick, *grid)
        self.assertEqual(done.returncode, 0, done.stderr)
        many = self.export(ledger).splitlines()
        self.assertEqual(len(many), 1 + 10 * 2 * 2)
        # A model does not know which others are in its group.
        alone = self.path("alone.ledger")
        self.assertEqual(run("study", "run", self.study, "--ledger", alone, *quick).returncode, 0)
        few = [line.replace("anisotropic,", "anisotropic-0.01,").replace("isotropic_per_layer,", "isotropic_per_layer-0.01,")
               for line in self.export(alone).splitlines()]
        self.assertTrue(set(few) <= set(many))
        audited = run("audit", ledger, "--policy", "anisotropic-0.03")
        self.assertEqual(audited.returncode, 2, audited.stderr)
        self.assertEqual(audited.stdout.count("NOT ENOUGH RUNS"), 2)

    def test_independent_worlds_have_their_own_randomness(self):
        ledger = self.path("i.ledger")
        quick = ["--set", "audit.coupled=false", "--set", "train.path_kl=false", "--set", "audit.replicas=2"]
        done = run("study", "run", self.study, "--ledger", ledger, *quick)
        self.assertEqual(done.returncode, 0, done.stderr)
        refused = run("study", "run", self.study, "--ledger", self.path("r.ledger"), "--set", "audit.coupled=false")
        self.assertEqual(refused.returncode, BAD_INPUT)
        self.assertIn("path KL", refused.stderr)


if __name__ == "__main__":
    unittest.main()
