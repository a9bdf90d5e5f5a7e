"""The scripts of docs/notebooks, each under two minutes."""

import ast
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import sfumato
import trainings
from support import SOURCE, data, unittest


class Notebooks(unittest.TestCase):
    def test_each(self):
        scripts = sorted((SOURCE / "docs" / "notebooks").glob("*.py"))
        self.assertEqual(len(scripts), 7)
        for script in scripts:
            begun = time.monotonic()
            done = subprocess.run([sys.executable, "-B", script], cwd=SOURCE, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, f"{script.name}: {done.stderr}")
            self.assertLess(time.monotonic() - begun, 120, script.name)


class Example(unittest.TestCase):
    def test_goes_on_after_it_was_killed(self):
        with tempfile.TemporaryDirectory() as folder:
            run = [sys.executable, "-B", SOURCE / "examples" / "torch" / "fashion_mnist.py", "--records", "600", "--epochs", "3", "--folder", folder]
            with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as killed:
                self.assertIn("epoch 1: epsilon", killed.stdout.readline())
                time.sleep(1.0)  # into the next epoch, of which the checkpoint knows nothing
                killed.kill()
            done = subprocess.run(run, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, "goes on after [12] epochs")
            spent = sfumato.Accountant.load(pathlib.Path(folder) / "account.toml").get_epsilon(1e-5).value
            self.assertIn(f"epsilon <= {spent:.4g}", done.stdout.replace("3.000", "3"))
            self.assertLessEqual(spent, 3.0)


class Readme(unittest.TestCase):
    def test_its_example_in_python(self):
        """Pasted whole, with a training of one's own and records to train on; what its comments say is what comes out."""
        text = (SOURCE / "README.md").read_text()
        (block,) = [block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "audit_training" in block]
        here = os.getcwd()
        os.chdir(SOURCE)
        self.addCleanup(os.chdir, here)
        names = dict(zip(("inputs", "targets"), data(40)), train=trainings.overfitted)
        values = []
        for statement in ast.parse(block).body:
            code = ast.get_source_segment(block, statement)
            if isinstance(statement, ast.Expr):
                values.append((eval(code, names), block.splitlines()[statement.lineno - 1].partition("#")[2]))
            else:
                exec(code, names)
        (table, _), (epsilon, said), (verdict, also_said) = values
        self.assertEqual((table["advantage"].idxmax(), round(table["advantage"].max(), 4)), (123, 0.1698))
        self.assertIn(str(epsilon), said)
        self.assertIn(repr(verdict), also_said)


class Types(unittest.TestCase):
    USE = """
import sfumato
x: float = sfumato.epsilon(1.0, delta=1e-5).value
sfumato.rows({}, "x", noise=1.0, top=3).risks["row"]
y: str = sfumato.audit([1.0], [2.0], claim=(1, 1e-5)).verdict
z: float = sfumato.quadratic("p.toml").kl.forward.at(time=1.0).value
sfumato.account(noise_multiplier=1.0).epsilon.upper.value + sfumato.rows({}, "x", noise=1.0).worst_advantage[0].value
w: str = sfumato.bound("-x", "-x", times=[1.0]).advantage.claim
"""

    def test_stubs(self):
        with tempfile.TemporaryDirectory() as folder:
            mypy = [sys.executable, "-m", "mypy", "--config-file=", "--cache-dir", folder]
            whole = subprocess.run([*mypy, "-p", "sfumato"], capture_output=True, text=True, cwd=folder)
            self.assertEqual(whole.returncode, 0, whole.stdout)
            for script in sorted((SOURCE / "docs" / "notebooks").glob("*.py")):
                checked = subprocess.run([*mypy, "--ignore-missing-imports", script], capture_output=True, text=True, cwd=folder)
                self.assertEqual(checked.returncode, 0, checked.stdout)
            use = pathlib.Path(folder) / "use.py"
            use.write_text(self.USE)
            self.assertEqual(subprocess.run([*mypy, use], capture_output=True, text=True, cwd=folder).returncode, 0)
            use.write_text(self.USE.replace("top=3", 'top="many"'))
            wrong = subprocess.run([*mypy, use], capture_output=True, text=True, cwd=folder)
            self.assertIn('Argument "top"', wrong.stdout)
            use.write_text(self.USE.replace(".kl.forward", ".kl.sideways"))
            wrong = subprocess.run([*mypy, use], capture_output=True, text=True, cwd=folder)
            self.assertIn('"sideways"', wrong.stdout)


if __name__ == "__main__":
    unittest.main()
