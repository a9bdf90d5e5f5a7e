"""What is published: no model without its account, no statement beside another model, no input overwritten, no budget overspent."""
import json
import os
import shutil
import sqlite3
import subprocess
import unittest
from pathlib import Path

from support import BAD_INPUT, ROOT, SFUMATO, STORAGE, USAGE, ProgramTest, run

TABLE, BOUNDS = ROOT / "examples/fit/wages.csv", ROOT / "examples/fit/wages_bounds.csv"


def digest(path):
    return subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True).stdout.split()[0]


class Publication(ProgramTest):
    def setUp(self):
        super().setUp()
        self.dir = Path(self.write("here", "")).parent
        self.table, self.bounds = self.dir / "wages.csv", self.dir / "bounds.csv"
        shutil.copy(TABLE, self.table)
        shutil.copy(BOUNDS, self.bounds)

    def fit(self, *args, epsilon=1, **options):
        return run("fit", self.table, "--target", "wage", "--model", "ridge", "--bounds", self.bounds,
                   "--target-epsilon", epsilon, "--target-delta", "1e-6", *args, cwd=self.dir, **options)

    def well(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def refused(self, done, code, *words):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_inputs_and_other_outputs_are_never_overwritten(self):
        os.symlink("wages.csv", self.dir / "link.csv")
        os.link(self.bounds, self.dir / "hard.csv")
        before = {path: path.read_bytes() for path in self.dir.iterdir()}
        for options in (["--out", "wages.csv"], ["--out", "bounds.csv"], ["--out", "link.csv"], ["--out", "hard.csv"],
                        ["--statement", "wages.csv"], ["--template", "wages.csv"],
                        ["--out", "same.json", "--statement", "same.json"],
                        ["--out", "a.json", "--statement", "./sub/../a.json"]):
            with self.subTest(options):
                self.refused(self.fit(*options, "--force"), USAGE)
                self.assertEqual({path: path.read_bytes() for path in self.dir.iterdir()}, before)
        account = self.write("f.toml", 'adjacency = "zero_out"\n[[release]]\nnoise_multiplier = 2\nsampler = "full"\nsteps = 1\n')
        for option in ("--statement", "--save"):
            self.refused(run("account", account, "--target-delta", "1e-5", option, account, "--force"), USAGE, "is an input")
        self.refused(run("account", account, "--target-delta", "1e-5", "--save", self.dir / "x", "--statement", self.dir / "x"), USAGE)

    def test_a_statement_names_its_model(self):
        for suffix in ("json", "csv", "npz"):
            model, statement = self.dir / f"m.{suffix}", self.dir / f"{suffix}.md"
            self.well(self.fit("--out", model, "--statement", statement, "--force"))
            self.assertIn(digest(model), statement.read_text())
            for old in self.dir.glob("m.*"):
                old.unlink()

    def test_every_model_has_its_account(self):
        for suffix in ("json", "csv", "npz"):
            with self.subTest(suffix):
                model = self.dir / f"of_{suffix}.{suffix}"
                self.well(self.fit("--out", model))
                done = self.well(self.fit("--after", model, "--out", self.dir / f"n{suffix}.json", epsilon=1.5))
                self.assertIn("1.5", done.stdout)
                self.assertIn(self.fit("--after", model).returncode, (USAGE, BAD_INPUT))  # nothing is left
                if suffix != "json":
                    model.write_bytes(model.read_bytes() + b"\n")
                    self.refused(self.fit("--after", model, epsilon=1.5), BAD_INPUT, "is not the account of")

    def test_a_model_that_was_changed_is_no_account(self):
        model = self.dir / "m.json"
        self.well(self.fit("--out", model))
        good = json.loads(model.read_text())
        edits = {"releases": lambda m: m["guarantee"].update(releases=""),
                 "fewer": lambda m: m["guarantee"].update(releases=m["guarantee"]["releases"].rsplit("[[release]]", 1)[0]),
                 "epsilon": lambda m: m["guarantee"].update(epsilon=0.01),
                 "certified": lambda m: m["guarantee"].update(certified=False),
                 "format": lambda m: m.update(format="sfumato.fit/9"),
                 "coefficient": lambda m: m["coef_"].__setitem__(0, 7.0),
                 "none": lambda m: m.pop("guarantee")}
        for name, edit in edits.items():
            with self.subTest(name):
                changed = json.loads(json.dumps(good))
                edit(changed)
                (self.dir / "c.json").write_text(json.dumps(changed, indent=2))
                self.refused(self.fit("--after", self.dir / "c.json", epsilon=3), BAD_INPUT)
        (self.dir / "c.json").write_text(json.dumps(good))  # as Python writes it
        self.well(self.fit("--after", self.dir / "c.json", epsilon=3))

    def test_a_run_without_a_guarantee_leaves_no_statement_beside_its_model(self):
        model, statement = self.dir / "m.json", self.dir / "m.md"
        self.well(self.fit("--out", model, "--statement", statement))
        kept = model.read_bytes(), statement.read_bytes()
        self.refused(self.fit("--seed", 4, "--out", model, "--statement", statement, "--force"), USAGE, "no guarantee")
        self.refused(self.fit("--seed", 4, "--out", model, "--force"), BAD_INPUT, "beside another model")
        self.refused(self.fit("--out", model, "--force"), BAD_INPUT, "would be lost")
        self.assertEqual(kept, (model.read_bytes(), statement.read_bytes()))
        self.refused(self.fit("--out", model, "--after", model, "--force", epsilon=2), BAD_INPUT, "m.md", "statement of m.json")
        self.assertEqual(kept, (model.read_bytes(), statement.read_bytes()))
        self.well(self.fit("--out", model, "--after", model, "--statement", statement, "--force", epsilon=2))
        self.assertIn(digest(model), statement.read_text())
        self.well(self.fit("--seed", 4, "--out", self.dir / "tried.json"))
        self.well(self.fit("--out", self.dir / "tried.json", "--force"))

    def test_an_account_that_was_cut_is_never_smaller(self):
        account = self.dir / "a.toml"
        self.well(run("account", "--noise-multiplier", 2, "--sample-rate", 0.01, "--steps", 500, "--sampler", "poisson",
                      "--adjacency", "zero_out", "--target-delta", "1e-5", "--save", account))
        text = account.read_text()
        for size in range(0, len(text) - 1, 7):
            cut = self.write("cut.toml", text[:size])
            done = run("account", cut, "--adjacency", "zero_out", "--target-delta", "1e-5")
            self.assertNotEqual(done.returncode, 0, (size, done.stdout))
        self.well(run("account", account, "--target-delta", "1e-5"))
        more = self.write("more.toml", text.replace("500", "5"))
        self.refused(run("account", more, "--target-delta", "1e-5"), BAD_INPUT, "changed or cut")

    def test_modes_are_tightened(self):
        out = self.dir / "risks.csv"
        out.write_text("old")
        for mode in (0o644, 0o666, 0o600):
            out.chmod(mode)
            self.well(run("rows", ROOT / "examples/rows/diabetes.csv", "--target", "progression", "--adjacency", "remove", "--loss",
                          "sum", "--ridge", 100, "--noise", 0.001, "--out", out, "--force"))
            self.assertEqual(out.stat().st_mode & 0o777, 0o600)

    def test_files_of_killed_writers_are_removed(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        left = self.dir / f"m.json.tmp-{gone.pid}-0"
        left.write_text("half a model")
        self.well(self.fit("--out", self.dir / "m.json"))
        self.assertFalse(left.exists())
        killed = [self.dir / f"n.budget.tmp-{gone.pid}-aB3xYz", self.dir / f"n.budget.tmp-{gone.pid}-aB3xYz-journal"]
        for left in killed:
            left.write_text("half a budget")
        self.well(self.fit("--budget", self.dir / "n.budget", "--limit", "eps=2,delta=1e-6"))
        self.assertEqual([left for left in killed if left.exists()], [])

    def test_files_by_names_of_sqlite_are_not_deleted(self):
        for budget in (self.dir / "j.budget", self.dir / "k.budget"):
            for suffix in ("-journal", "-wal", "-shm"):
                table = Path(f"{budget}{suffix}")
                table.write_bytes((ROOT / "examples/fit/wages.csv").read_bytes())
                self.refused(self.fit("--budget", budget, "--limit", "eps=2,delta=1e-6"), STORAGE, f"{table.name} is none of SQLite's")
                self.assertEqual(table.read_bytes(), (ROOT / "examples/fit/wages.csv").read_bytes())
                table.unlink()
                if budget.name == "j.budget" and not budget.exists():
                    self.well(self.fit("--budget", budget, "--limit", "eps=2,delta=1e-6"))
        self.assertFalse((self.dir / "k.budget").exists())

    def test_conditions_of_an_account_stay(self):
        releases = 'adjacency = "add_remove"\ntarget_delta = 1e-5\nrests_on = ["a full moon"]\n[[release]]\nnoise_multiplier = 2.0\nsteps = 3\n'
        with_condition = self.write("with.toml", releases)
        without = self.write("without.toml", releases.replace('rests_on = ["a full moon"]\n', ""))
        saved = self.dir / "saved.toml"
        self.well(run("account", with_condition, "--save", saved))
        self.refused(run("account", without, "--save", saved, "--force"), USAGE, "what was spent would be forgotten")
        self.well(run("account", with_condition, "--save", saved, "--force"))

    def test_budget(self):
        budget = self.dir / "b.budget"
        self.refused(self.fit("--budget", budget), USAGE, "needs a limit")
        self.refused(self.fit("--limit", "eps=2,delta=1e-6"), USAGE, "limits a budget")
        self.refused(self.fit("--budget", budget, "--limit", "eps=2"), USAGE, "is not a limit")
        self.refused(self.fit("--budget", budget, "--limit", "eps=2,delta=1e-6", "--seed", 1), USAGE, "without a guarantee")
        first = self.well(self.fit("--budget", budget, "--limit", "eps=2,delta=1e-6", "--out", self.dir / "m.json"))
        self.assertIn("of 2 at delta", first.stdout)
        self.refused(self.fit("--budget", budget, "--limit", "eps=3,delta=1e-6"), USAGE, "is not the limit")
        # Composed, not added: three of epsilon 1 come to less than 2.
        self.well(self.fit("--budget", budget, "--out", self.dir / "m.json", "--force"))
        self.well(self.fit("--budget", budget))
        for _ in range(9):
            done = self.fit("--budget", budget)
            if done.returncode != 0:
                break
        self.refused(done, BAD_INPUT, "does not allow this run")
        shown = json.loads(self.well(run("budget", "show", budget, "--json")).stdout)
        numbers = {result["quantity"]: result["value"] for result in shown["results"]}
        self.assertGreaterEqual(numbers["runs"], 3)
        self.assertLessEqual(numbers["epsilon_spent"], 2)
        self.assertGreater(numbers["epsilon_spent"], 1.5)
        # A release that was made all the same is recorded, and then nothing is left.
        account = ["account", "--noise-multiplier", 1, "--steps", 1, "--sampler", "full", "--adjacency", "add_remove",
                   "--target-delta", "1e-6", "--budget", budget]
        self.refused(run(*account), BAD_INPUT, "does not allow")
        self.well(run(*account, "--made"))
        overspent = run("budget", "show", budget)
        self.assertEqual(overspent.returncode, 1)
        self.assertIn("OVERSPENT", overspent.stdout)
        self.refused(self.fit("--budget", budget, epsilon=0.5), BAD_INPUT)

    def test_budget_that_was_edited_or_is_none(self):
        budget = self.dir / "b.budget"
        self.well(self.fit("--budget", budget, "--limit", "eps=2,delta=1e-6"))
        self.assertEqual(budget.stat().st_mode & 0o777, 0o600)
        for statement in ("DELETE FROM entry", "UPDATE terms SET epsilon = 200", "UPDATE entry SET account = ''",
                          "DELETE FROM terms", "CREATE TABLE more(x)"):
            with self.subTest(statement):
                copy = self.dir / "copy.budget"
                shutil.copy(budget, copy)
                database = sqlite3.connect(copy)
                database.execute(statement)
                database.commit()
                database.close()
                self.refused(self.fit("--budget", copy), BAD_INPUT)
                self.refused(run("budget", "show", copy), BAD_INPUT)
        other = self.write("none.budget", "text")
        self.refused(run("budget", "show", other), BAD_INPUT)
        self.refused(self.fit("--budget", other, "--limit", "eps=2,delta=1e-6"), BAD_INPUT)
        self.refused(run("budget", "show", self.dir / "missing.budget"), BAD_INPUT, "no such budget")
        self.refused(self.fit("--budget", self.table, "--limit", "eps=2,delta=1e-6", "--out", self.dir / "x.json"), BAD_INPUT)
        self.assertEqual(digest(self.table), digest(TABLE))
        self.refused(self.fit("--budget", budget, "--out", self.dir / "x.json", "--statement", budget, "--force"), USAGE)

    def test_eight_processes_do_not_overspend(self):
        """Each asks for epsilon 1 of 2: as many as fit alone, one after another, fit at once; killed ones count."""
        budget = self.dir / "b.budget"
        command = [SFUMATO, "fit", self.table, "--target", "wage", "--model", "ridge", "--bounds", self.bounds, "--target-epsilon", "1",
                   "--target-delta", "1e-6", "--budget", budget, "--limit", "eps=2,delta=1e-6"]
        running = [subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                   for _ in range(8)]
        running[3].kill()
        codes = [(process.communicate()[1], process.returncode) for process in running]
        done = sum(code == 0 for _, code in codes)
        for text, code in codes:
            self.assertIn(code, (0, BAD_INPUT, -9), text)
        shown = json.loads(run("budget", "show", budget, "--json").stdout)
        numbers = {result["quantity"]: result["value"] for result in shown["results"]}
        self.assertLessEqual(numbers["epsilon_spent"], 2)
        self.assertIn(numbers["runs"] - done, (0, 1))
        self.assertGreaterEqual(done, 2)

    def test_runs_of_one_name_do_not_mix(self):
        """Of runs that write the same files at once one is published whole, and the others say that it was there."""
        for suffix, command in (("csv", ["--force"]), ("json", ["--force"])):
            model, statement = self.dir / f"m.{suffix}", self.dir / f"{suffix}.md"
            argv = ["fit", self.table, "--target", "wage", "--model", "ridge", "--bounds", self.bounds, "--target-epsilon", "1",
                    "--target-delta", "1e-6", "--out", model, "--statement", statement, *command]
            for _ in range(4):
                running = [subprocess.Popen(list(map(str, [SFUMATO, *argv])), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                           for _ in range(4)]
                texts = [process.communicate()[1] for process in running]
                codes = [process.returncode for process in running]
                self.assertIn(0, codes)
                for code, text in zip(codes, texts):
                    self.assertIn(code, (0, STORAGE, BAD_INPUT), text)
                self.assertIn(digest(model), statement.read_text())
                if suffix == "csv":
                    self.assertIn(digest(model), (self.dir / "m.accounting.toml").read_text())
                    self.well(self.fit("--after", model, epsilon=3))
                for path in (model, statement, self.dir / "m.accounting.toml"):
                    path.unlink(missing_ok=True)

    def test_accounts_that_grow_at_once_lose_nothing(self):
        base = self.write("base.toml", 'adjacency = "add_remove"\ntarget_delta = 1e-5\n[[release]]\nnoise_multiplier = 2.0\nsteps = 3\n')
        saved = self.dir / "saved.toml"
        self.well(run("account", base, "--save", saved))
        argv = [[SFUMATO, "account", base, "--noise-multiplier", noise, "--steps", 1, "--sampler", "full", "--save", saved, "--force"]
                for noise in (3, 4, 5, 6)]
        running = [subprocess.Popen(list(map(str, one)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for one in argv]
        texts = [process.communicate()[1] for process in running]
        # The first adds its release; to every other one the account is not what it continues.
        self.assertEqual([process.returncode for process in running].count(0), 1, texts)
        self.assertEqual(saved.read_text().count("[[release]]"), 2)

    def test_a_journal_of_a_budget_that_is_gone(self):
        """SQLite would roll the next file of that name back to what the journal holds."""
        budget = self.dir / "b.budget"
        self.well(self.fit("--budget", budget, "--limit", "eps=3,delta=1e-6", epsilon=0.2))
        database = sqlite3.connect(budget)
        database.execute("PRAGMA journal_mode = PERSIST")
        database.execute("BEGIN IMMEDIATE")
        database.execute("UPDATE terms SET epsilon = 4")
        database.execute("PRAGMA cache_spill = 1")
        journal = Path(f"{budget}-journal")
        self.assertTrue(journal.exists())
        kept = journal.read_bytes()
        database.rollback()
        database.close()
        budget.unlink()
        journal.write_bytes(kept)
        self.refused(self.fit("--budget", budget, "--limit", "eps=3,delta=1e-6", epsilon=2.9), STORAGE, "is left of one")
        self.assertFalse(budget.exists())
        journal.unlink()
        self.well(self.fit("--budget", budget, "--limit", "eps=3,delta=1e-6", epsilon=2.9))

    def test_a_budget_has_one_name(self):
        budget, other = self.dir / "b.budget", self.dir / "c.budget"
        self.well(self.fit("--budget", budget, "--limit", "eps=3,delta=1e-6"))
        os.link(budget, other)
        for name in (budget, other):
            self.refused(self.fit("--budget", name), STORAGE, "hard links")
        self.well(run("budget", "show", other))
        other.unlink()
        self.well(self.fit("--budget", budget))


if __name__ == "__main__":
    unittest.main()
