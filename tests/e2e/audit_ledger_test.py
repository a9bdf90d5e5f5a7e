"""`sfumato audit` of ledgers: both sides of the truth, looks, statements."""
import hashlib
import json
import os
import random
import shutil
import unittest

from support import BAD_INPUT, USAGE, Document, ProgramTest, edit_ledger, run

TABLES = ("trial", "world", "score", "series")

QUADRATIC = """
[model]
kind = "quadratic"
curvature = [2, 1]
minimiser = [1, -1]
other_minimiser = [1.25, -1.1]

[train]
iterations = 20
learning_rate = 0.2
path_kl = true

[[noise]]
policy = "isotropic"
variance = 0.01

[audit]
replicas = 300
epsilons = [0.5]
"""


class AuditLedger(ProgramTest):
    made = {}  # ledgers by text of their study

    def ledger(self, text=QUADRATIC):
        """A copy of the study's ledger."""
        ledger = self.dir / "q.ledger"
        if text in self.made:
            ledger.write_bytes(self.made[text])
            return ledger
        study = self.dir / "q.toml"
        study.write_text(text)
        done = run("study", "run", study, "--ledger", ledger)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.made[text] = ledger.read_bytes()
        return ledger

    def audit(self, ledger, *options, code=0):
        done = run("audit", ledger, "--json", *options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return Document(done.stdout)

    def test_the_page_has_the_checksum_of_the_ledger_that_the_audit_wrote_to(self):
        ledger, page = self.ledger(), self.dir / "audit.html"
        before = hashlib.sha256(ledger.read_bytes()).hexdigest()
        done = run("audit", ledger, "--report", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        after = hashlib.sha256(ledger.read_bytes()).hexdigest()
        self.assertNotEqual(after, before)  # its look is recorded
        self.assertIn(f"<dt>SHA-256</dt><dd>{ledger}<br>{after} (after this run, which is recorded in it)</dd>", page.read_text())

    def level(self, found):
        """What all tests of an audit may err with together."""
        return sum(row["level"] for row in found.block("tests")["rows"])

    def cut(self, ledger):
        """As it was when 200 trials were finished and nobody had looked; returns the whole one."""
        whole = self.dir / "whole.ledger"
        shutil.copyfile(ledger, whole)

        def remove(database):
            database.execute("DELETE FROM look")
            for table in TABLES:
                database.execute(f"DELETE FROM {table} WHERE replica >= 200")
        edit_ledger(ledger, remove)
        return whole

    @staticmethod
    def fill(ledger, whole):
        """The trials that cut() took away."""
        def insert(database):
            database.execute("ATTACH ? AS whole", (str(whole),))
            for table in TABLES:
                database.execute(f"INSERT INTO {table} SELECT * FROM whole.{table} WHERE replica >= 200")
        edit_ledger(ledger, insert)

    def test_the_exact_distribution_is_above_what_is_shown(self):
        found = self.audit(self.ledger())
        for quantity in ("eps at delta = 1e-05", "delta at eps = 0.5", "mu"):
            proven = found.cell("sandwich", "proven", quantity=quantity)
            self.assertEqual(proven["claim"], "exact")
            shown = found.value("sandwich", "audited", quantity=quantity)
            self.assertLess(shown, float(proven["value"]))
            self.assertGreater(shown, 0.1)
        # Two normal distributions of one covariance: mu follows from the difference of the means.
        mu = found.value("sandwich", "proven", quantity="mu")
        by_hand = 0.0
        for curvature, gap in ((2, 0.25), (1, -0.1)):
            r = 1 - 0.2 * curvature
            variance = 0.01 * (1 - r ** 40) / (1 - r ** 2)
            by_hand += (gap * (1 - r ** 20)) ** 2 / variance
        self.assertAlmostEqual(mu, by_hand ** 0.5, 9)
        self.assertGreater(found.value("sandwich", "path_kl", quantity="delta at eps = 0.5"),
                           found.value("sandwich", "proven", quantity="delta at eps = 0.5"))
        statement = found.statements("assumption")[-1]
        for part in ("What is protected", "Sampling: every step uses all records", "Threat model", "300 replicas",
                     "does not mean private"):
            self.assertIn(part, statement)
        bars = found.block("losses_isotropic")
        self.assertEqual([sum(s["y"]) for s in bars["series"]], [300, 300])

    def test_models_that_show_more_than_is_proven_are_a_violation(self):
        # Models of another training than the ledger's study says: its noise is ten times theirs.
        theirs = self.dir / "theirs.ledger"
        self.ledger().rename(theirs)
        ledger = self.ledger(QUADRATIC.replace("variance = 0.01", "variance = 1.0"))

        def replace(database):
            database.execute("ATTACH ? AS theirs", (str(theirs),))
            for table in TABLES:
                database.execute(f"DELETE FROM {table}")
                database.execute(f"INSERT INTO {table} SELECT * FROM theirs.{table}")
        edit_ledger(ledger, replace)
        found = self.audit(ledger, code=1)
        verdicts = found.statements("verdict")
        self.assertTrue(any(v.startswith("VIOLATION of a proven bound (policy isotropic): the models show eps at delta") and
                            "is proven. One of them is wrong" in v for v in verdicts), verdicts)
        violations = [v for v in found.content["verdicts"] if v["claim"].startswith("proven: ")]
        self.assertEqual({(v["policy"], v["outcome"]) for v in violations}, {("isotropic", "violated")})
        # The path KLs are those of the models, so they are not exceeded.
        self.assertFalse([w for w in found.statements("warning") if "of the path KL" in w])

    def test_infinite_path_kls_are_counted(self):
        found = self.audit(self.ledger(text=QUADRATIC.replace("isotropic", "none").replace("variance = 0.01", "")),
                           "--score", "loss", "--policy", "none")
        self.assertTrue(any("infinite in 300 of 300 runs along D" in w for w in found.statements("warning")))

    def test_policies_share_the_confidence(self):
        study = QUADRATIC.replace("[audit]", '[[noise]]\npolicy = "isotropic"\nname = "more"\nvariance = 0.1\n[audit]')
        ledger = self.ledger(study)
        both, one = self.audit(ledger), self.audit(ledger, "--policy", "isotropic")
        self.assertAlmostEqual(self.level(one), 0.05, 12)
        quantity = "eps at delta = 1e-05"
        self.assertLess(both.value("sandwich", "audited", policy="isotropic", quantity=quantity),
                        one.value("sandwich", "audited", policy="isotropic", quantity=quantity))
        self.assertIn("divided by 2 audits", both.cell("sandwich", "audited", policy="more", quantity=quantity)["method"])

    def test_training_without_noise_is_not_passed_for_want_of_a_score(self):
        text = QUADRATIC.replace("isotropic", "none").replace("variance = 0.01", "")
        ledger = self.ledger(text)
        found = self.audit(ledger, "--claim", "eps=1,delta=1e-5", code=1)
        self.assertTrue(any("The score is loss" in s for s in found.statements()))
        done = run("audit", ledger, "--score", "likelihood_ratio")
        self.assertEqual(done.returncode, USAGE, done.stdout)
        self.assertIn("\"none\" have no score `likelihood_ratio`", done.stderr)

    def test_a_look_stays_a_look_whatever_the_user_counts(self):
        ledger = self.ledger()
        whole = self.cut(ledger)
        self.assertAlmostEqual(self.level(self.audit(ledger, "--look", "1")), 0.025, 12)
        self.fill(ledger, whole)
        for options in ((), ("--look", "1")):
            self.assertAlmostEqual(self.level(self.audit(ledger, *options)), 0.05 / 6, 12)

    def test_looks(self):
        ledger = self.ledger()
        first, again = self.audit(ledger), self.audit(ledger)
        self.assertEqual(first.content, again.content)
        self.assertAlmostEqual(self.level(first), 0.05, 12)
        self.assertFalse([w for w in first.statements("warning") if "seed" not in w])
        # A ledger that was looked at before it was finished.
        whole = self.cut(ledger)
        early = self.audit(ledger)
        self.assertTrue(any("200 of 300 trials are done. This is interim look 1" in w for w in early.statements()))
        self.assertAlmostEqual(self.level(early), 0.025, 12)
        self.fill(ledger, whole)
        for _ in range(2):
            late = self.audit(ledger)
            self.assertTrue(any("look 2" in s for s in late.statements()))
            self.assertAlmostEqual(self.level(late), 0.05 / 6, 12)
        self.assertAlmostEqual(self.level(self.audit(ledger, "--look", "3")), 0.05 / 12, 12)

    def test_a_look_that_cannot_be_recorded_needs_a_number(self):
        ledger = self.ledger()
        ledger.chmod(0o444)
        self.dir.chmod(0o555)
        self.addCleanup(self.dir.chmod, 0o755)

        def as_nobody():  # root may write everywhere
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)

        try:
            run("--version", preexec_fn=as_nobody)
        except PermissionError:
            self.skipTest("the program is not for everyone to run")
        done = run("audit", ledger, preexec_fn=as_nobody)
        self.assertEqual(done.returncode, BAD_INPUT, done.stderr)
        self.assertIn("set --look to 1", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertEqual(run("audit", ledger, "--look", "1", preexec_fn=as_nobody).returncode, 0)

    COINS = """
[data]
set = "{table}"
records = 50
[[model.layers]]
type = "linear"
outputs = 2
[train]
iterations = 300
batch_size = 10
learning_rate = 0.3
[[noise]]
policy = "none"
[audit]
{audit}
"""

    def coins(self, audit):
        chance = random.Random(5)
        table = self.write("t.csv", "".join(
            ",".join(f"{chance.gauss(0, 1):.4f}" for _ in range(80)) + f",{chance.randrange(2)}\n" for _ in range(60)))
        return self.ledger(self.COINS.format(table=table, audit=audit))

    def test_canaries_of_a_model_that_learns_by_heart_refute_a_claim(self):
        ledger = self.coins("canaries = 40")
        found = self.audit(ledger, "--claim", "eps=0.2,delta=1e-5", code=1)
        self.assertEqual(found.value("one_run", "canaries", policy="none"), 40)
        self.assertGreater(found.value("one_run", "correct", policy="none"),
                           0.75 * found.value("one_run", "guesses", policy="none"))
        self.assertIn("VIOLATION", found.statements("verdict")[-1])
        fewer = self.audit(ledger, "--guesses", "10")
        self.assertEqual(fewer.value("one_run", "guesses", policy="none"), 10)
        self.assertEqual(run("audit", ledger, "--score", "loss").returncode, USAGE)

    def test_shadow_models_run_every_attack(self):
        found = self.audit(self.coins("shadow_models = 40"))
        for attack in ("LOSS", "LiRA online", "LiRA offline", "RMIA"):
            self.assertGreater(found.value("membership", "value", attack=f"none, {attack}", quantity="AUC"), 0.8)
        self.assertGreaterEqual(found.value("shadows", "epsilon", policy="none"), 0.0)

    CONTROL = """[[noise]]
policy = "isotropic"
name = "control"
variance = {variance}
control = true
[audit]
claims = ["eps=0.5,delta=1e-5"]"""

    def test_a_control_says_whether_the_attack_works_and_decides_nothing(self):
        private = QUADRATIC.replace("variance = 0.01", "variance = 100.0")
        ledger = self.ledger(private.replace("[audit]", self.CONTROL.format(variance=0.001)).replace("replicas = 300", "replicas = 100"))
        found = self.audit(ledger)
        self.assertEqual([(v["policy"], v["outcome"], v.get("control", False)) for v in found.content["verdicts"]],
                         [("isotropic", "not_refuted", False), ("control", "none", True)])
        self.assertIn("for policy isotropic", found.content["abstract"]["answer"])
        self.assertIn("On the control control the attack works.", found.content["abstract"]["answer"])
        self.assertTrue(any(text.startswith("Control control: the attack works, eps >= ") for text in found.statements("info")), found.statements("info"))
        self.assertFalse(any("control" in text for text in found.statements("verdict")))
        self.assertGreater(found.cell("sandwich", "audited", policy="control (control)", quantity="eps at delta = 1e-05")["value"], 0.5)
        text = run("audit", ledger).stdout
        self.assertLess(text.index("NOT REFUTED"), text.index("Control control"))
        self.assertLess(text.index("isotropic  "), text.index("control (control)"))
        self.assertIn("Control control: the attack works", run("audit", ledger, "--policy", "control").stdout)
        done = run("report", ledger, "--out", self.dir / "control.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        again = self.dir / "again.html"  # the JSON of a page reads the same
        self.assertEqual(run("report", self.write("a.json", run("audit", ledger, "--json").stdout), "--out", again).returncode, 0)
        self.assertNotIn("Do not publish", again.read_text())
        top = [(self.dir / name).read_text().split('class="answer">')[1].split("</p>")[0] for name in ("control.html", "again.html")]
        for answer in top:  # what the page answers first is not about the control
            self.assertIn("On the control control the attack works.", answer)
            self.assertNotIn("can change the odds", answer)

    def test_a_control_on_which_the_attack_fails_makes_the_audit_weak(self):
        private = QUADRATIC.replace("variance = 0.01", "variance = 100.0")
        ledger = self.ledger(private.replace("[audit]", self.CONTROL.format(variance=200.0)).replace("replicas = 300", "replicas = 100"))
        found = self.audit(ledger)
        warning = next(text for text in found.statements("warning") if text.startswith("Control"))
        self.assertIn("the attack does NOT work", warning)
        self.assertIn("This audit is weak", warning)
        self.assertIn("the attack does not work either", found.content["abstract"]["answer"])
        self.assertIn("Make the attack stronger", found.content["abstract"]["advice"])

    def test_trials_outside_the_study_are_refused(self):
        """Whoever forged them computed digests to match."""
        theirs = self.dir / "theirs.ledger"
        self.ledger(QUADRATIC.replace("[audit]", '[[noise]]\npolicy = "none"\n[audit]')).rename(theirs)
        ledger = self.ledger()

        def replace(database):
            database.execute("ATTACH ? AS theirs", (str(theirs),))
            for table in TABLES:
                database.execute(f"DELETE FROM {table}")
                database.execute(f"INSERT INTO {table} SELECT * FROM theirs.{table}")
        edit_ledger(ledger, replace)
        for command in (["audit", ledger], ["study", "status", ledger], ["study", "export", ledger, "--out", self.dir / "t.csv"],
                        ["study", "verify", ledger, "--sample", "1"], ["report", ledger, "--out", self.dir / "t.html"]):
            self.assert_refused(BAD_INPUT, ["q.ledger", "a trial of policy 2", "ends at policy 1"], *command)

    def test_a_report_shows_the_same_audit(self):
        """Study's epsilons, delta, confidence and claims; the options of `audit`; every number the same."""
        text = QUADRATIC.replace("[audit]", """[[noise]]
policy = "isotropic"
name = "more"
variance = 100.0
[audit]
delta = 1e-3
confidence = 0.9
claims = ["eps=0.2,delta=0.01", "eps=9"]""")
        ledger = self.ledger(text)
        for options, code in (((), 1), (("--score", "loss", "--claim", "eps=0.5", "--eps", "0.1,2", "--delta", "1e-6",
                                         "--policy", "more", "--confidence", "0.99", "--strategy", "ranks"), 0)):
            audit = self.audit(ledger, *options, code=code)
            done = run("report", ledger, "--out", self.dir / "r.html", "--force", *options)
            self.assertEqual(done.returncode, code, done.stderr)
            twin = json.loads((self.dir / "r.json").read_text())
            self.assertEqual(twin["chapters"], [audit.content])
        found = self.audit(ledger, code=1)
        self.assertTrue(found.has("sandwich") and found.cell("sandwich", "audited", policy="more",
                                                             quantity="delta at eps = 0.5"))
        self.assertEqual(found.cell("sandwich", "audited", policy="more", quantity="eps at delta = 0.001")["confidence"], 0.9)
        self.assertEqual([(v["policy"], v["claim"], v["outcome"]) for v in found.content["verdicts"]],
                         [("isotropic", "eps=0.2,delta=0.01", "violated"), ("isotropic", "eps=9,delta=1e-05", "open"),
                          ("more", "eps=0.2,delta=0.01", "not_refuted"), ("more", "eps=9,delta=1e-05", "open")])
        for verdict, text in zip(found.content["verdicts"], found.statements("verdict")):
            self.assertIn(f"(policy {verdict['policy']})", text)
        page = (self.dir / "r.html").read_text()
        self.assertIn("(policy more)", page)

    def test_scores_of_other_models_are_refused(self):
        ledger = self.ledger()
        done = run("audit", ledger, "--score", "margin")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("quadratic have no score `margin`", done.stderr)


if __name__ == "__main__":
    unittest.main()
