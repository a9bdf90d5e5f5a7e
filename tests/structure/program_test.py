"""The program as a file: which libraries it loads, and that the flags of cmake/SfumatoFlags.cmake took effect.

SFUMATO names the program (the build tree's by default), SFUMATO_HARDENING=ON says that it was built with those flags.
"""

import os
import pathlib
import platform
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SFUMATO = os.environ.get("SFUMATO", str(ROOT / "build/bin/sfumato"))
HARDENED = os.environ.get("SFUMATO_HARDENING", "OFF") == "ON"
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
            # Where all symbols are looked up first, it fails before it runs: it lacks some.
            self.assertEqual(result.returncode, 127 if HARDENED else 42)


@unittest.skipUnless(HARDENED, "built without hardening")
class Hardening(unittest.TestCase):
    def test_relocations_are_read_only_before_main(self):
        self.assertRegex(readelf("--dynamic"), r"BIND_NOW|Flags:.*NOW")
        self.assertIn("GNU_RELRO", readelf("--segments"))

    def test_position_independent_and_no_executable_stack(self):
        self.assertRegex(readelf("--file-header"), r"Type:\s+DYN")
        self.assertRegex(readelf("--segments"), r"GNU_STACK.* RW ")

    def test_checks_of_compiler_and_libraries_are_compiled_in(self):
        symbols = {line.split()[7].split("@")[0] for line in readelf("--dyn-syms").splitlines()
                   if len(line.split()) > 7}
        self.assertTrue("__stack_chk_fail" in symbols, "no stack protector")
        self.assertTrue({s for s in symbols if s.startswith("__") and s.endswith("_chk")}, "no _FORTIFY_SOURCE")
        self.assertTrue({s for s in symbols if "__glibcxx_assert_fail" in s}, "no _GLIBCXX_ASSERTIONS")

    @unittest.skipUnless(platform.machine() == "x86_64", "CET is of x86")
    def test_functions_begin_with_a_landing_pad(self):
        # Not the note that declares it: that is there only if every object has it, the C library's too.
        if platform.machine() == "x86_64":
            self.assertGreater(pathlib.Path(SFUMATO).read_bytes().count(b"\xf3\x0f\x1e\xfa"), 1000)


if __name__ == "__main__":
    unittest.main()
