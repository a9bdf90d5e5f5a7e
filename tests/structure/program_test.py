"""The program as a file: which libraries it loads.

SFUMATO names the program (the build tree's by default).
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SFUMATO = os.environ.get("SFUMATO", str(ROOT / "build/bin/sfumato"))
INTRUDER = '#include <unistd.h>\n__attribute__((constructor)) static void run(void) { _exit(42); }\n'


def readelf(*options):
    return subprocess.run(["readelf", "--wide", *options, SFUMATO], capture_output=True, text=True, check=True).stdout


class Libraries(unittest.TestCase):
    def test_no_search_path_of_its_own(self):
        self.assertNotRegex(readelf("--dynamic"), r"R(UN)?PATH")

    def test_a_library_in_the_current_directory_is_not_loaded(self):
        self.assertIn("[libhwy.so.1]", readelf("--dynamic"))
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "intruder.c").write_text(INTRUDER)
            subprocess.run(["gcc", "-shared", "-fPIC", "-o", "libhwy.so.1", "intruder.c"], cwd=folder, check=True)
            environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
            result = subprocess.run([SFUMATO, "--version"], cwd=folder, env=environment, capture_output=True,
                                    text=True, check=False)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            # The intruder is one: found where the program does look, it runs.
            result = subprocess.run([SFUMATO, "--version"], cwd=folder, env={**environment, "LD_LIBRARY_PATH": folder},
                                    capture_output=True, check=False)
            self.assertEqual(result.returncode, 42)


if __name__ == "__main__":
    unittest.main()
