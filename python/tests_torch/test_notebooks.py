"""The scripts of docs/notebooks, each under two minutes."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import sfumato
from support import SOURCE, unittest


class Notebooks(unittest.TestCase):
    def test_each(self):
        scripts = sorted((SOURCE / "docs" / "notebooks").glob("*.py"))
        self.assertEqual(len(scripts), 6)
        for script in scripts:
            begun = time.monotonic()
            done = subprocess.run([sys.executable, "-B", script], cwd=SOURCE, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, f"{script.name}: {done.stderr}")
            self.assertLess(time.monotonic() - begun, 120, script.name)


class Readme(unittest.TestCase):
    def test_its_first_example_in_python(self):
        calls = re.findall(r"^sfumato\.\w+\([^\n#]*\)", (SOURCE / "README.md").read_text(), re.M)
        self.assertEqual(len(calls), 2)
        here = os.getcwd()
        os.chdir(SOURCE)
        self.addCleanup(os.chdir, here)
        table, epsilon = (eval(call, {"sfumato": sfumato}) for call in calls)
        self.assertEqual((table["advantage"].idxmax(), round(table["advantage"].max(), 4)), (123, 0.1698))
        self.assertEqual(str(epsilon), "<= 2.384")


class Types(unittest.TestCase):
    USE = """
import sfumato
x: float = sfumato.epsilon(1.0, delta=1e-5).value
sfumato.rows({}, "x", noise=1.0, top=3).risks["row"]
y: str = sfumato.audit([1.0], [2.0], claim=(1, 1e-5)).verdict
"""

    def test_stubs(self):
        with tempfile.TemporaryDirectory() as folder:
            mypy = [sys.executable, "-m", "mypy", "--config-file=", "--cache-dir", folder]
            whole = subprocess.run([*mypy, "-p", "sfumato"], capture_output=True, text=True, cwd=folder)
            self.assertEqual(whole.returncode, 0, whole.stdout)
            use = pathlib.Path(folder) / "use.py"
            use.write_text(self.USE)
            self.assertEqual(subprocess.run([*mypy, use], capture_output=True, text=True, cwd=folder).returncode, 0)
            use.write_text(self.USE.replace("top=3", 'top="many"'))
            wrong = subprocess.run([*mypy, use], capture_output=True, text=True, cwd=folder)
            self.assertIn('Argument "top"', wrong.stdout)


if __name__ == "__main__":
    unittest.main()
