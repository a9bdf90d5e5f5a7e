"""The scripts of docs/notebooks, each under two minutes."""

import pathlib
import subprocess
import sys
import tempfile
import time

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
