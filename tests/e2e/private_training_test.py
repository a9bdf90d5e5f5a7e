"""`sfumato train --private` and audits of private training: exact noise, what was spent before, one run with canaries, refusals."""
import hashlib
import random
import unittest
from pathlib import Path

from support import BAD_INPUT, USAGE, ProgramTest, run

STUDY = """
[data]
set = "{table}"
records = 200
classes = 2
test = "{table}"
[[model.layers]]
type = "linear"
outputs = 8
[[model.layers]]
type = "tanh"
[[model.layers]]
type = "linear"
outputs = 2
[train]
sampler = "poisson"
batch_size = 40
epochs = 4
learning_rate = 0.5
clip = 0.5
"""


class PrivateTraining(ProgramTest):
    def setUp(self):
        super().setUp()
        chance = random.Random(7)
        rows = [[chance.gauss(0, 1) for _ in range(30)] for _ in range(210)]
        self.table = self.write("t.csv", "".join(
            ",".join(f"{v:.4f}" for v in row) + f",{int(row[0] + row[1] > 0)}\n" for row in rows))
        self.study = self.write("p.toml", STUDY.format(table=self.table))

    def private(self, *args):
        return self.document("train", self.study, "--private", *args)

    def test_hardened_noise_has_the_same_epsilon(self):
        plain = self.private("--target-epsilon", 3)
        exact = self.private("--target-epsilon", 3, "--hardened")
        self.assertEqual(exact.value("guarantee", "value", quantity="epsilon"),
                         plain.value("guarantee", "value", quantity="epsilon"))
        self.assertLessEqual(exact.value("guarantee", "value", quantity="epsilon"), 3.0)
        self.assertEqual(exact.cell("guarantee", "value", quantity="noise"), "exact, on a grid")
        self.assertIn("low bits, the order of sums", " ".join(plain.statements("assumption")))
        self.assertNotIn("low bits, the order of sums", " ".join(exact.statements("assumption")))

    def test_a_seed_leaves_no_epsilon(self):
        args = ["train", self.study, "--private", "--target-epsilon", 3]
        secret, seeded = self.document(*args), self.document(*args, "--seed", 1)
        self.assertIn("epsilon", [row["quantity"] for row in secret.content["results"]])
        self.assertNotIn("epsilon", [row["quantity"] for row in seeded.content["results"]])
        for more in ([], ["--full"], ["--json"]):
            text = run(*args, "--seed", 1, *more).stdout
            self.assertNotIn("epsilon <=", text)
            self.assertNotIn("upper_bound", text)
            self.assertIn("no guarantee", " ".join(text.split()))

    def test_delta_is_compared_with_the_records(self):
        self.assert_refused(USAGE, ["--target-delta", "0.5 is above 1 / 200 records", "--allow-large-delta"],
                            "train", self.study, "--private", "--target-epsilon", 3, "--target-delta", 0.5)
        self.private("--target-epsilon", 3, "--target-delta", 0.01, "--allow-large-delta")
        near = self.private("--target-epsilon", 3, "--target-delta", 0.001)
        self.assertIn("near 1 / 200 records", " ".join(near.statements("warning")))

    def test_numbers_beyond_single_precision_are_refused_as_stated(self):
        lines = Path(self.table).read_text().splitlines()
        huge = self.write("huge.csv", "\n".join(["1e39" + lines[0][lines[0].index(","):], *lines[1:]]) + "\n")
        study = self.write("huge.toml", STUDY.format(table=huge))
        self.assert_refused(BAD_INPUT, ["single precision"], "train", study, "--private", "--target-epsilon", 3)
        self.assertIn("numbers of at most 3.4e38", " ".join(self.private("--target-epsilon", 3).statements("assumption")))
        out = self.dir / "stated"
        self.private("--target-epsilon", 3, "--out", out)
        self.assertIn("3.4e38", (out / "PRIVACY.md").read_text())

    def test_nothing_that_shapes_the_model_is_read_off_the_table(self):
        """A level or a class of one record alone would show in the shape of the weights."""
        lines = Path(self.table).read_text().splitlines()
        named = ",".join([f"x{i}" for i in range(30)] + ["y"])
        wards = self.write("wards.csv", "\n".join([named] + [line.replace(line.split(",")[0], "ab"[i % 2], 1)
                                                            for i, line in enumerate(lines)]) + "\n")
        study = self.write("wards.toml", STUDY.format(table=wards))
        self.assert_refused(BAD_INPUT, ["wards.csv", '"x0" is text', "levels would be read off", "sfumato fit"],
                            "train", study, "--private", "--target-epsilon", 3)
        study = self.write("open.toml", STUDY.format(table=self.table).replace("classes = 2\n", ""))
        self.assert_refused(BAD_INPUT, ["number of classes would be read off", "data.classes"],
                            "train", study, "--private", "--target-epsilon", 3)

    def test_held_out_private_records_are_not_for_publication(self):
        study = self.write("held.toml", STUDY.format(table=self.table).replace(f'test = "{self.table}"', "validation = 10"))
        seen = self.document("train", study, "--private", "--target-epsilon", 3)
        self.assertIn("held out of the private table", " ".join(seen.statements("warning")))
        self.assertNotIn("seconds", [row["quantity"] for row in seen.content["results"]])
        plain = self.private("--target-epsilon", 3)
        self.assertNotIn("held out", " ".join(plain.statements("warning")))

    def test_what_was_released_before_is_spent(self):
        self.private("--target-epsilon", 2, "--out", self.dir / "first")
        account = self.dir / "first/accounting.toml"
        self.assert_refused(BAD_INPUT, ["accounting.toml", "budget is spent", "epsilon 2", "--target-epsilon"],
                            "train", self.study, "--private", "--target-epsilon", 1, "--after", account)
        # What is left of 2 is rounding: a model for it would be noise alone.
        self.assert_refused(BAD_INPUT, ["budget is spent"], "train", self.study, "--private", "--target-epsilon", 2, "--after", account)
        both = self.private("--target-epsilon", 3, "--after", account)
        alone = self.private("--target-epsilon", 3)
        self.assertLessEqual(both.value("guarantee", "value", quantity="epsilon"), 3.0)
        self.assertGreater(both.value("guarantee", "value", quantity="noise multiplier"),
                           1.1 * alone.value("guarantee", "value", quantity="noise multiplier"))

    def test_nothing_that_may_be_published_has_a_checksum_of_the_records(self):
        page, out = self.dir / "page.html", self.dir / "out"
        printed = run("train", self.study, "--private", "--target-epsilon", 3, "--out", out, "--report", page, "--json")
        self.assertEqual(printed.returncode, 0)
        digest = hashlib.sha256(Path(self.table).read_bytes()).hexdigest()  # it would tell which of two tables it was
        for text in [printed.stdout, page.read_text(), *(file.read_text(errors="replace") for file in out.iterdir())]:
            self.assertNotIn(digest, text)

    def test_one_run_of_a_study_with_gradient_canaries(self):
        ledger = self.dir / "one.ledger"
        settings = ["train.sampler=full", "train.batch_size=200", "train.epochs=9", "train.noise_multiplier=1.5",
                    "train.gradient_canary=true", "audit.canaries=190", "audit.replicas=1"]
        self.assertEqual(run("study", "run", self.study, "--ledger", ledger,
                             *[x for s in settings for x in ("--set", s)]).returncode, 0)
        found = self.document("audit", ledger, "--full")
        self.assert_close(found.value("one_run", "mu_proven", policy="private"), 2.0, 1e-6)
        shown = found.value("one_run", "mu", policy="private")
        self.assertLessEqual(shown, 2.0)
        self.assertGreater(shown, 0.5)
        self.assertGreater(found.value("one_run", "proven", policy="private"),
                           found.value("one_run", "epsilon_1", policy="private"))
        claim = found.value("one_run", "epsilon_1", policy="private") + 0.2  # neither refuted nor proven
        checked = self.document("audit", ledger, "--full", "--claim", f"eps={claim:.3f},delta=1e-5")
        self.assertIn("is more than the claim: claim no less than that", checked.content["abstract"]["advice"])

    def test_a_record_that_overflows_counts_nothing(self):
        """A huge record is infinite when standardised or whitened; 0 times its values is not 0, and would show in a model that is NaN."""
        lines = Path(self.table).read_text().splitlines()
        lines[17] = ",".join(["3e38"] * 30 + ["1"])
        table = self.write("huge.csv", "\n".join(lines) + "\n")
        study = self.write("huge.toml", STUDY.format(table=table).replace("records = 200", "records = 210"))
        scaled = ["--set", "data.standardise=constants", "--set", "data.divisor=0.001"]
        whitened = ["--set", "noise=[{policy='private',metric='input'}]"]
        for words in (scaled, whitened + scaled, whitened + scaled + ["--metric-layers", "all"], scaled + ["--hardened"], scaled + ["--set", "train.batch_size=210", "--set", "train.sampler=full"],
                      scaled + ["--set", "noise=[{policy='private',metric='released'}]"]):
            found = self.document("train", study, "--private", "--target-epsilon", 3, "--seed", 1, *words)
            said = " ".join(found.statements("warning"))
            with self.subTest(words=words, said=said):
                self.assertIn("gradients of records were not finite, or too large to clip, and counted nothing", said)
                self.assertNotIn("diverged", said)

    def test_the_page_answers_whether_the_model_may_be_published(self):
        page = self.dir / "page.html"
        for words, answer in (([], "Yes: it is differentially private"), (["--seed", 1], "No: its noise came from a seed")):
            self.private("--target-epsilon", 3, "--report", page, "--force", *words)
            text = page.read_text()
            self.assertIn("May this model be published?", text)
            self.assertIn(answer, text)
            self.assertNotIn("proves nothing about others", text)

    def test_the_target_is_kept_to_the_last_digit(self):
        for epsilon, sampler in [(3, "fixed_size"), (1e-9, "poisson"), (0.7, "shuffle")]:
            found = self.private("--target-epsilon", epsilon, "--set", f"train.sampler={sampler}", "--set", "adjacency.kind=replace")
            self.assertLessEqual(found.value("guarantee", "value", quantity="epsilon"), epsilon)

    def test_refusals_are_about_keys_and_options(self):
        """Where, which value, what to do; never a function of ours, nor an option that was not meant."""
        whitened = "noise=[{policy='private',metric='input',clip=1.0"
        cases = [  # exit code, the words it has to have, the words after --private
            (BAD_INPUT, ["p.toml", "with replacement"], ["--set", "train.sampler=with_replacement"]),
            (BAD_INPUT, ["p.toml", "short last batch"], ["--set", "train.sampler=shuffled_all"]),
            (BAD_INPUT, ["`full`", "`fixed_size`"], ["--set", "train.sampler=foo"]),
            (BAD_INPUT, ["`average_last` = 99"], ["--set", "train.average_last=99"]),
            (BAD_INPUT, ["p.toml", "1 x 1"], ["--set", "data.features=scattering"]),
            (BAD_INPUT, ["clip", "1e-42", "single precision"], ["--set", "train.clip=1e-42"]),
            (BAD_INPUT, ["input_bound", "1e+300"], ["--set", whitened + ",input_bound=1e300}]"]),
            (BAD_INPUT, ["input_bound", "1e-300"], ["--set", whitened + ",input_bound=1e-300}]"]),
            (BAD_INPUT, ["metric_floor", "1e-300"], ["--set", whitened + ",metric_floor=1e-300}]"]),
            (USAGE, ["--metric-share", "isotropic"], ["--metric-share", "0.2"]),
            (USAGE, ["--input-bound", "isotropic"], ["--input-bound", "2"]),
            (USAGE, ["--metric-floor", "isotropic"], ["--metric-floor", "2"]),
            (USAGE, ["--metric-layers", "isotropic"], ["--metric-layers", "all"]),
            (USAGE, ["--metric-layers", "last", "first"], ["--set", whitened + "}]", "--metric-layers", "last"]),
            (BAD_INPUT, ["metric_layers", "per_layer"], ["--set", "noise=[{policy='private',metric='per_layer',clip=1.0,metric_layers='all'}]"]),
            (USAGE, ["--target-delta", "nan is not a number"], ["--target-delta", "nan"]),
            (USAGE, ["--seed", '"x" is not a number. Give a number.'], ["--seed", "x"]),
        ]
        for code, needles, words in cases:
            done = run("train", self.study, "--private", "--target-epsilon", 3, *words)
            with self.subTest(words=words, said=done.stderr):
                self.assertEqual(done.returncode, code)
                for needle in needles:
                    self.assertIn(needle, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)
                self.assertNotRegex(done.stderr, r"sfumato: (\w+|operator\(\)): |--private|--full")
        noise = "noise=[{policy='private',metric='input',clip=1.0,noise_multiplier=1.0,metric_mu=%s}]"
        self.assert_refused(BAD_INPUT, ["`metric_mu` = 1e+300"], "train", self.study, "--private", "--set", noise % "1e300")
        self.assert_refused(USAGE, ["--metric-share", "--target-epsilon"], "train", self.study, "--private", "--set", noise % "1.0",
                            "--metric-share", 0.2)
        self.assert_refused(BAD_INPUT, ["`noise_multiplier` = 1e-300"], "train", self.study, "--private", "--set", "train.noise_multiplier=1e-300")

    def test_refusals(self):
        def refused(needles, *args, code=BAD_INPUT):
            self.assert_refused(code, needles, "train", self.study, "--private", *args)
        target = ["--target-epsilon", 3]
        refused(["how much noise", "--target-epsilon"])
        refused(["target-epsilon"], "--target-epsilon", -1, code=USAGE)
        refused(["out of reach", "epsilon is still"], "--target-epsilon", 1e-13, "--target-delta", 1e-13, code=USAGE)
        refused(["with replacement", "poisson"], *target, "--set", "train.sampler=with_replacement")
        refused(["fixed size", "adjacency.kind"], *target, "--set", "train.sampler=fixed_size")
        refused(["both"], *target, "--set", "train.noise_multiplier=1.0")
        refused(["metric_mu"], "--set", "noise=[{policy='private',metric='input',clip=1.0,noise_multiplier=1.0}]")
        refused(["needs `covariance`"], *target, "--set", "noise=[{policy='private',metric='whitened',clip=1.0}]")
        noise = self.write("n.csv", "1\n2\n3\n")
        refused(["3", "266"], *target, "--set", f"noise=[{{policy='private',metric='whitened',clip=1.0,covariance='{noise}'}}]")
        refused(["mixes the records"], *target, "--set", "model.layers.1.type=batch_norm")
        refused(["resume"], *target, "--resume", code=USAGE)
        bare = self.write("bare.toml", STUDY.format(table=self.table).replace("clip = 0.5\n", "[[noise]]\npolicy = 'private'\n"))
        self.assert_refused(BAD_INPUT, ["has no clip", "without one nothing bounds"], "train", bare, "--private", *target)
        self.assert_refused(BAD_INPUT, ['metric "input"'], "train", self.study, "--set",
                            "noise=[{policy='private',metric='input',clip=1.0,noise_multiplier=1.0,metric_mu=1.0}]")


if __name__ == "__main__":
    unittest.main()
