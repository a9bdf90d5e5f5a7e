"""What is there stays there: no command, option or file name makes a run replace an input, an account, a model with a guarantee, a budget, or what nobody named."""
import os
import random
import shutil
import subprocess
import unittest

from support import BAD_INPUT, ROOT, SFUMATO, STORAGE, USAGE, ProgramTest, run

STUDY = """
[data]
set = "t.csv"
records = 100
classes = 2
[[model.layers]]
type = "linear"
outputs = 2
[train]
sampler = "poisson"
batch_size = 20
epochs = 1
learning_rate = 0.5
clip = 0.5
"""
PLAIN = """
[data]
set = "t.csv"
records = 100
classes = 2
[[model.layers]]
type = "linear"
outputs = 2
[train]
batch_size = 20
iterations = 3
[[noise]]
policy = "isotropic"
variance = 0.01
"""
RUN = ["--noise-multiplier", 2, "--sample-rate", 0.01, "--steps", 500, "--sampler", "poisson", "--adjacency", "add_remove",
       "--target-delta", "1e-6"]


class Overwriting(ProgramTest):
    def setUp(self):
        super().setUp()
        chance = random.Random(7)
        rows = [[chance.gauss(0, 1) for _ in range(6)] for _ in range(110)]
        self.table = self.write("t.csv", "".join(",".join(f"{v:.3f}" for v in row) + f",{int(row[0] > 0)}\n" for row in rows))
        self.study = self.write("p.toml", STUDY)
        shutil.copy(ROOT / "examples/fit/wages.csv", self.dir / "wages.csv")
        shutil.copy(ROOT / "examples/fit/wages_bounds.csv", self.dir / "bounds.csv")

    def sfumato(self, *args):
        return run(*args, cwd=self.dir)

    def well(self, *args):
        done = self.sfumato(*args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def fit(self, *args, epsilon=1):
        return ("fit", "wages.csv", "--target", "wage", "--model", "ridge", "--bounds", "bounds.csv", "--target-epsilon", epsilon,
                "--target-delta", "1e-6", "--mechanism", "isotropic", "--steps", 4, *args)

    def train(self, *args, epsilon=2):
        return ("train", "p.toml", "--private", "--target-epsilon", epsilon, "--target-delta", "1e-6", *args)

    def everything(self):
        return {path: path.read_bytes() for path in sorted(self.dir.rglob("*")) if path.is_file()}

    def refused(self, code, words, *args):
        """One line, that code, and every file is as it was."""
        before = self.everything()
        self.assert_refused(code, words, *args, cwd=self.dir)
        self.assertEqual(self.everything(), before)

    def test_a_private_run_replaces_no_file_that_nobody_named(self):
        out = self.dir / "g"
        out.mkdir()
        for name in ("PRIVACY.md", "accounting.toml", "model.npz"):
            with self.subTest(name):
                (out / name).write_text("mine")
                self.refused(STORAGE, [name, "--force"], *self.train("--out", "g"))
                (out / name).unlink()
        (out / "PRIVACY.md").write_text("The privacy policy of this company.")
        self.refused(STORAGE, ["PRIVACY.md", "no statement about the model"], *self.train("--out", "g", "--force"))
        (out / "PRIVACY.md").unlink()
        for name, target in (("PRIVACY.md", "t.csv"), ("model.npz", "t.csv"), ("accounting.toml", "p.toml"), ("model.npz", "p.toml")):
            with self.subTest(f"{name} -> {target}"):
                os.symlink(f"../{target}", out / name)
                self.refused(USAGE, ["is an input"], *self.train("--out", "g", "--force"))
                (out / name).unlink()
        self.well(*self.train("--out", "g"))
        self.refused(STORAGE, ["--force"], *self.train("--out", "g"))
        self.well(*self.train("--out", "g", "--after", "g", "--force", epsilon=4))

    def test_a_plain_run_does_not_replace_its_own_study(self):
        (self.dir / "q").mkdir()
        (self.dir / "q/study.toml").write_text(PLAIN.replace("t.csv", "../t.csv"))
        self.refused(USAGE, ["q/study.toml is an input"], "train", "q/study.toml", "--out", "q", "--force")
        self.write("plain.toml", PLAIN)
        os.symlink("../t.csv", self.dir / "q/log.json")
        self.refused(USAGE, ["is an input"], "train", "plain.toml", "--out", "q", "--force")

    def test_the_twin_of_a_page_replaces_nothing_but_a_document(self):
        self.well(*self.fit("--out", "model.json"))
        (self.dir / "x.json").write_text(self.well("account", *RUN, "--json").stdout)
        self.refused(USAGE, ["model.json is a model with a guarantee"], "report", "x.json", "--out", "model.html", "--force")
        self.write("other.json", '{"mine": 1}')
        self.refused(USAGE, ["other.json, which is no document"], "report", "x.json", "--out", "other.html", "--force")
        self.write("q.toml", 'inputs = ["x.json"]\nout = "q.html"\n')
        os.symlink("q.toml", self.dir / "q.json")
        self.well("report", "q.toml", "--force")
        self.assertIn("inputs", (self.dir / "q.toml").read_text())
        self.assertTrue((self.dir / "q.html").exists())
        self.refused(USAGE, ["is an input"], "report", "q.toml", "--out", "q.toml", "--force")
        self.well("report", "x.json", "--out", "page.html")
        self.well("report", "x.json", "--out", "page.html", "--force")

    def test_an_interrupted_table_replaces_nothing(self):
        chance = random.Random(3)
        self.write("many.csv", "y," + ",".join(f"x{i}" for i in range(20)) + "\n" + "".join(
            ",".join(f"{chance.gauss(0, 1):.4f}" for _ in range(21)) + "\n" for _ in range(40)))
        rows = ("rows", "many.csv", "--target", "y", "--adjacency", "remove", "--loss", "sum", "--ridge", 10, "--noise", 0.1)
        self.write("risks.partial.csv", "mine")
        self.refused(STORAGE, ["risks.partial.csv", "--force"], *rows, "--out", "risks.csv")
        shutil.copy(self.dir / "many.csv", self.dir / "table.partial.csv")
        self.refused(USAGE, ["table.partial.csv is an input"], "rows", "table.partial.csv", *rows[2:], "--out", "table.csv", "--force")

    def test_force_replaces_no_account_and_no_model(self):
        self.well(*self.fit("--out", "m.json"))
        self.well(*self.fit("--out", "m.csv"))
        self.well("account", *RUN, "--save", "a.toml")
        self.well(*self.fit("--budget", "b.budget", "--limit", "eps=3,delta=1e-6"))
        rows = ("rows", ROOT / "examples/rows/diabetes.csv", "--target", "progression", "--adjacency", "remove", "--loss", "sum",
                "--ridge", 100, "--noise", 0.001)
        for path in ("m.json", "m.csv", "m.accounting.toml", "a.toml", "b.budget"):
            for command in ((*rows, "--out", path), ("account", *RUN, "--statement", path), self.fit("--statement", path)):
                with self.subTest(path=path, command=command[0]):
                    self.refused(USAGE, [path, "what was spent would be forgotten"], *command, "--force")
            if path not in ("a.toml",):
                self.refused(USAGE, [path], "account", *RUN, "--save", path, "--force")
        # The same releases, or more, may take the place of an account; fewer may not.
        self.well("account", *RUN, "--save", "a.toml", "--force")
        fewer = ["--steps" if word == "--steps" else 400 if word == 500 else word for word in RUN]
        self.refused(USAGE, ["a.toml is an account"], "account", *fewer, "--save", "a.toml", "--force")
        more = [600 if word == 500 else word for word in RUN]
        self.well("account", *more, "--save", "a.toml", "--force")

    def test_files_that_nobody_named_are_kept_apart(self):
        for budget, out in (("y.accounting.toml", "y.csv"), ("y.csv", "y.csv")):
            self.refused(USAGE, [budget], *self.fit("--budget", budget, "--limit", "eps=3,delta=1e-6", "--out", out))
        self.refused(USAGE, ["x.accounting.toml"], *self.fit("--out", "x.csv", "--statement", "x.accounting.toml"))
        (self.dir / "d").mkdir()
        for name in ("PRIVACY.md", "accounting.toml", "model.npz"):
            self.refused(USAGE, [name], *self.train("--budget", f"d/{name}", "--limit", "eps=3,delta=1e-6", "--out", "d"))

    def test_no_command_leaves_the_account_of_another_beside_its_model(self):
        self.well(*self.train("--out", "d"))
        for more in (("--seed", 1), (), ("--after", "d")):
            self.refused(BAD_INPUT, ["beside another model"], *self.fit("--out", "d/model.npz", "--force", *more, epsilon=9))
        (self.dir / "g").mkdir()
        self.well(*self.fit("--out", "g/model.npz"))
        for more in ((), ("--seed", 1)):
            self.refused(BAD_INPUT, ["g/model.accounting.toml", "beside another model"], *self.train("--out", "g", "--force", *more))
        # A statement stands for a guarantee where the account was taken away.
        self.well(*self.fit("--out", "h.csv", "--statement", "h.md"))
        (self.dir / "h.accounting.toml").unlink()
        self.refused(BAD_INPUT, ["h.md", "statement of h.csv"], *self.fit("--out", "h.csv", "--seed", 1, "--force"))
        self.refused(BAD_INPUT, ["h.md", "--statement"], *self.fit("--out", "h.csv", "--force"))
        self.well(*self.fit("--out", "h.csv", "--statement", "h.md", "--force"))
        # One account of two models loses neither.
        self.well(*self.fit("--out", "k.csv", "--budget", "k.budget", "--limit", "eps=4,delta=1e-6"))
        self.refused(BAD_INPUT, ["k.csv too"], *self.fit("--out", "k.npz", "--budget", "k.budget", "--force"))

    def test_two_runs_at_once_do_not_share_a_new_file(self):
        differences = "--differences-are", "public", "--form", "full", "--trace", 2
        for args in (self.fit("--out", "new.json"),
                     ["design", ROOT / "examples/design/differences.csv", *differences, "--out", "noise.npz"],
                     ["train", ROOT / "examples/train/quick.toml", "--set", "train.iterations=2", "--out", "run"]):
            with self.subTest(args[0]):
                command = [SFUMATO, *map(str, args)]
                running = [subprocess.Popen(command, cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                           for _ in range(4)]
                codes = []
                for process in running:
                    text = process.communicate()[1]
                    codes.append(process.returncode)
                    self.assertTrue(process.returncode == 0 or "the file exists" in text or "was written by another run" in text, text)
                self.assertEqual(sorted(codes), [0, STORAGE, STORAGE, STORAGE])

    def test_budgets_are_never_made_anew(self):
        limit = ("--limit", "eps=3,delta=1e-6")
        self.refused(USAGE, ["needs a limit"], *self.fit("--budget", "b.budget"))
        self.assertFalse((self.dir / "b.budget").exists())
        done = self.well(*self.fit("--budget", "b.budget", *limit))
        self.assertRegex(done.stdout, r"A\s+new\s+file\s+was\s+made")
        self.assertNotRegex(self.well(*self.fit("--budget", "b.budget")).stdout, r"A\s+new\s+file")
        (self.dir / "b.budget").write_bytes(b"")
        for more in (limit, ()):
            self.refused(BAD_INPUT, ["b.budget", "is empty"], *self.fit("--budget", "b.budget", *more))
        self.refused(BAD_INPUT, ["is empty"], "budget", "show", "b.budget")
        self.assertEqual([p.name for p in self.dir.iterdir() if "budget." in p.name], [])

    def test_what_is_damaged_is_called_by_its_name(self):
        self.write("no.budget", "x" * 5000)
        for words in (("budget", "show", "no.budget"), self.fit("--budget", "no.budget", "--limit", "eps=3,delta=1e-6")):
            done = self.sfumato(*words)
            self.assertEqual(done.returncode, BAD_INPUT, done.stderr)
            self.assertNotIn("ledger", done.stderr)
            self.assertNotIn("start a new one", done.stderr)

    def test_a_limit_has_the_rule_of_a_delta(self):
        budget = ("--budget", "b.budget", "--limit")
        self.refused(USAGE, ["--limit: delta = 0.5 is above 1 /", "--allow-large-delta"], *self.fit(*budget, "eps=1,delta=0.5"))
        self.refused(USAGE, ["--limit: delta = 0.5 is above 1 /"], *self.train(*budget, "eps=3,delta=0.5"))
        account = ["account", "--noise-multiplier", 4, "--batch-size", 10, "--records", 1000, "--steps", 50, "--sampler", "poisson", "--adjacency",
                   "add_remove", "--target-delta", "1e-6"]
        self.refused(USAGE, ["--limit: delta = 0.01 is above 1 / 1000"], *account, *budget, "eps=1,delta=0.01")
        self.refused(USAGE, ["--claim: delta = 0.5 is above 1 / 1000"], *account, "--claim", "eps=1,delta=0.5")
        self.assertIn("is near 1 / 1000", " ".join(self.well(*account, *budget, "eps=1,delta=0.0005").stdout.split()))
        self.well(*account, "--claim", "eps=5,delta=0.5", "--allow-large-delta")
        self.well(*account, "--budget", "c.budget", "--limit", "eps=1,delta=0.01", "--allow-large-delta")
        # A budget that was made so is not used unasked.
        self.refused(BAD_INPUT, ["c.budget", "is above 1 / 1000"], *account, "--budget", "c.budget")

    def test_messages_name_options_and_keys_as_they_were_given(self):
        file = self.write("f.toml", 'adjacency = "zero_out"\n[[release]]\nnoise_multiplier = 2\nsampler = "full"\nsteps = 1\n')
        self.write("p.html", "mine")
        self.refused(STORAGE, ["p.html", "(--force)"], "account", file, "--target-delta", "1e-6", "--report", "p.html")
        done = self.sfumato("account", "/dev/null")
        self.assertNotIn("the key --", done.stderr)


if __name__ == "__main__":
    unittest.main()
