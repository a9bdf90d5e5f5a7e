"""Files hold private records' numbers: who may read them, who may replace them, what messages tell of them."""
import json
import stat
import subprocess
import unittest

from support import FASHION, ROOT, SFUMATO, STORAGE, Document, ProgramTest, catches_interrupts, run, works_for

QUICK = ROOT / "examples/train/quick.toml"
SMALL = ("--set", "train.iterations=5", "--set", "audit.replicas=2", "--set", "data.records=50",
         "--set", "data.test_records=20", "--set", "train.batch_size=10")
ROWS = ("rows", ROOT / "examples/rows/diabetes.csv", "--target", "progression", "--adjacency", "remove", "--loss",
        "sum", "--ridge", "1", "--noise", "1000", "--top", "1")
DESIGN = ("design", ROOT / "examples/design/differences.csv", "--differences-are", "public", "--trace", "2")


class PrivateFiles(ProgramTest):
    def ok(self, *args, **options):
        result = run(*args, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def modes(self):
        """Of everything below the test's directory, in octal."""
        return {str(p.relative_to(self.dir)): oct(stat.S_IMODE(p.stat().st_mode)) for p in self.dir.rglob("*")}

    def make(self, *flags):
        """One file of every kind that a command writes."""
        self.ok(*ROWS, "--out", self.dir / "risks.csv", *flags)
        self.ok(*DESIGN, "--out", self.dir / "noise.npz", *flags)
        self.ok("train", QUICK, *SMALL, "--out", self.dir / "new" / "run", *flags)
        ledger = self.dir / "s.ledger"
        self.ok("study", "run", QUICK, *SMALL, "--ledger", ledger, *[f for f in flags if f != "--force"])
        self.ok("study", "export", ledger, "--out", self.dir / "trials.npz", *flags)
        self.ok("report", ledger, "--out", self.dir / "audit.html", *flags)


@unittest.skipUnless(FASHION.exists(), "Fashion-MNIST is not installed")
class Permissions(PrivateFiles):
    def test_only_the_user_can_read_what_is_written(self):
        self.make()
        modes = self.modes()
        for name in ("risks.csv", "noise.npz", "s.ledger", "trials.npz", "audit.html", "audit.json",
                     "new/run/log.json", "new/run/document.json", "new/run/study.toml"):
            self.assertEqual(modes[name], "0o600", name)
        for name, mode in modes.items():
            self.assertEqual(mode, "0o700" if (self.dir / name).is_dir() else "0o600", name)

    def test_a_group_may_read_on_request(self):
        self.make("--group-readable")
        for name, mode in self.modes().items():
            if name.startswith("s.ledger"):
                continue  # SQLite's own, which follow the ledger
            self.assertEqual(mode, "0o750" if (self.dir / name).is_dir() else "0o640", name)

    def test_a_checkpoint_is_private(self):
        process = subprocess.Popen([SFUMATO, "train", QUICK, "--set", "train.iterations=100000000", "--out",
                                    self.dir / "run"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
        self.addCleanup(process.communicate)
        self.assertTrue(catches_interrupts(process))
        works_for(process, 2.0)  # it has read the records
        process.terminate()
        process.wait(timeout=60)
        self.assertEqual(self.modes(), {"run": "0o700", "run/checkpoint.npz": "0o600"})

    def test_a_stricter_mask_of_the_user_is_kept(self):
        self.ok(*DESIGN, "--out", self.dir / "noise.npz", umask=0o277)
        self.assertEqual(self.modes(), {"noise.npz": "0o400"})


class Replacing(PrivateFiles):
    def kept(self, path, *command):
        before = path.read_bytes()
        self.assert_refused(STORAGE, [path, "--force"], *command)
        self.assertEqual(path.read_bytes(), before)
        self.ok(*command, "--force")

    def test_files_are_replaced_by_force_only(self):
        risks, noise, page = self.dir / "risks.csv", self.dir / "noise.npz", self.dir / "r.html"
        self.ok(*ROWS, "--out", risks)
        self.kept(risks, *ROWS, "--out", risks)
        self.ok(*DESIGN, "--out", noise)
        self.kept(noise, *DESIGN, "--out", noise)
        source = self.write("risk.json", self.ok("quadratic", "examples/quadratic/shift.toml", "--json"))
        twin = self.write("r.json", source.read_text())
        self.kept(twin, "report", source, "--out", page)
        self.kept(page, "report", source, "--out", page)

    def test_devices_may_be_written_to(self):
        self.ok(*ROWS, "--out", "/dev/null")
        self.ok(*ROWS, "--out", "/dev/null")

    @unittest.skipUnless(FASHION.exists(), "Fashion-MNIST is not installed")
    def test_runs_and_exports_are_replaced_by_force_only(self):
        out = self.dir / "run"
        train = ("train", QUICK, *SMALL, "--out", out)
        self.ok(*train)
        self.kept(out / "study.toml", *train)
        for name in ("study.toml", "log.json", "document.json"):
            (out / name).unlink()
        weights = out / "isotropic_per_layer.d.npz"
        self.kept(weights, *train)
        ledger, table = self.dir / "s.ledger", self.dir / "t.csv"
        self.ok("study", "run", QUICK, *SMALL, "--ledger", ledger)
        self.ok("study", "run", QUICK, *SMALL, "--ledger", ledger)  # goes on, as ever
        self.ok("study", "export", ledger, "--out", table)
        self.kept(table, "study", "export", ledger, "--out", table)


@unittest.skipUnless(FASHION.exists(), "Fashion-MNIST is not installed")
class Seeds(PrivateFiles):
    WORDS = ("seed 5", "subtract", "not for release")

    def said(self, text):
        words = " ".join(text.split())
        for word in self.WORDS:
            self.assertIn(word, words)

    def test_everything_made_of_seeded_noise_says_so(self):
        import numpy
        small, ledger, out = (*SMALL, "--set", "train.seed=5"), self.dir / "s.ledger", self.dir / "run"
        self.said(self.ok("train", QUICK, *small, "--out", out))
        self.said(json.loads((out / "log.json").read_text())["notice"])
        self.said(" ".join(Document((out / "document.json").read_text()).statements("warning")))
        self.said(self.ok("study", "run", QUICK, *small, "--ledger", ledger))
        self.said(self.ok("study", "export", ledger, "--out", self.dir / "t.npz"))
        self.said(numpy.load(self.dir / "t.npz")["notice"].tobytes().decode())
        self.said(self.ok("audit", ledger))
        self.ok("report", ledger, "--out", self.dir / "a.html")
        self.said((self.dir / "a.html").read_text())


class Messages(PrivateFiles):
    """A message that ends in a log names the place of a private value, not the value."""
    SECRETS = ("secretvalue123", "-8765.4321", "1e8765")

    def refused(self, *command):
        result = run(*command)
        self.assertEqual(result.returncode, 65, result.stderr)
        for secret in (*self.SECRETS, "8765"):
            self.assertNotIn(secret, result.stderr)
        return result.stderr

    def test_cells_are_not_repeated(self):
        for secret in self.SECRETS:
            for row in (f"1,{secret},0", f"1,2,{secret}", f'1,"{secret}" x,0'):
                table = self.write("t.csv", f"a,b,y\n1,3,0\n2,1,1\n{row}\n3,2,1\n2,5,0\n")
                options = ("--target", "y", "--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--noise", "1")
                logistic = run("rows", table, *options, "--model", "logistic")
                if logistic.returncode != 0:
                    self.assertIn("t.csv:4", self.refused("rows", table, *options, "--model", "logistic"))
                if secret != "-8765.4321" or '"' in row:
                    self.assertIn("t.csv:4", self.refused("rows", table, *options))
                    self.assertIn("t.csv:4", self.refused("design", table, "--differences-are", "private", "--trace", "1"))

    def test_labels_are_not_repeated(self):
        table = self.write("t.csv", "a,y\n1,0\n2,1\n1,-8765.4321\n")
        study = self.write("s.toml", f"[data]\nset = '{table}'\nlabel = 'y'\n[model]\npreset = 'mlp-10'\n"
                                     "[[noise]]\npolicy = 'none'\n")
        self.refused("train", study)


if __name__ == "__main__":
    unittest.main()
