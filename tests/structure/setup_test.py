"""tools/setup on machines that it is not run on: something is missing, no apt-get, no root, no network."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SETUP = pathlib.Path(__file__).resolve().parents[2] / "tools" / "setup"


class Setup(unittest.TestCase):
    """Each test runs with a PATH of its own: links to the machine's commands, less some, plus fakes."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for name in ("bash", "env", "awk", "sort", "head", "tail", "ls", "mktemp", "rm", "id", "make", "gcc",
                     "g++", "cmake", "ninja", "git", "jq", "clang++", "dirname", "cmp", "cp", "mkdir"):
            path = shutil.which(name)
            if path:
                (self.bin / name).symlink_to(path)
        self.fake("id", "echo 0")
        for name in ("node", "npm", "chromium", "mpirun"):
            self.fake(name, "exit 1")  # there, and not to be run
        # A copy with packages of its own: the repository's are none of the tests' business.
        self.setup = self.folder / "tools" / "setup"
        self.setup.parent.mkdir()
        shutil.copy(SETUP, self.setup)
        self.packages = self.folder / "web" / "node_modules"
        self.packages.mkdir(parents=True)
        self.lock("one")
        self.installed("one")

    def lock(self, text):
        (self.folder / "web" / "package-lock.json").write_text(text)

    def installed(self, text, what="test"):
        (self.packages / f".installed-for-{what}").write_text(text)

    def recording_npm(self, exit_code=0):
        self.fake("npm", f'echo "$*" >> {self.folder}/npm_calls; mkdir -p node_modules; '
                         f'echo "npm says no"; exit {exit_code}')

    def npm_calls(self):
        path = self.folder / "npm_calls"
        return [[w for w in line.split() if w in ("ci", "--omit=dev", "--ignore-scripts")]
                for line in (path.read_text().splitlines() if path.exists() else [])]

    def fake(self, name, script):
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!{shutil.which('bash')}\n{script}\n")
        path.chmod(0o755)

    def without(self, *names):
        for name in names:
            (self.bin / name).unlink()

    def recording_apt_get(self, exit_code=0):
        self.fake("apt-get", f'echo "$*" >> {self.folder}/calls; echo "E: no such luck"; exit {exit_code}')

    def calls(self):
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def run_setup(self, what="build"):
        return subprocess.run([self.bin / "bash", self.setup, what], capture_output=True, text=True, check=False,
                              env={"PATH": str(self.bin), "TMPDIR": str(self.folder), "HOME": os.devnull})

    def test_silent_and_without_apt_get_when_nothing_is_missing(self):
        self.recording_apt_get(exit_code=1)
        for what in ("build", "test"):
            result = self.run_setup(what)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertEqual(self.calls(), [])

    def test_installs_what_is_missing_and_only_that(self):
        self.without("ninja")
        self.recording_apt_get()
        result = self.run_setup()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "tools/setup: installing ninja-build\n")
        self.assertEqual(len(self.calls()), 2)
        self.assertTrue(self.calls()[0].startswith("update"))
        self.assertTrue(self.calls()[1].startswith("install"))
        self.assertEqual([w for w in self.calls()[1].split() if not w.startswith("-")],
                         ["install", "ninja-build"])

    def test_an_old_cmake_counts_as_missing(self):
        self.fake("cmake", 'echo "cmake version 3.18.4"')
        self.recording_apt_get()
        self.assertEqual(self.run_setup().stdout, "tools/setup: installing cmake\n")

    def test_without_a_compiler_the_libraries_cannot_be_trusted_to_exist(self):
        self.without("g++")
        self.recording_apt_get()
        self.assertIn("libfmt-dev", self.run_setup().stdout.split())

    def test_another_system_is_told_what_to_install(self):
        self.without("ninja", "make")
        result = self.run_setup()
        self.assertEqual(result.returncode, 1)
        self.assertIn("no apt-get", result.stderr)
        self.assertEqual(result.stderr.splitlines()[1:], ["  make", "  ninja-build"])

    def test_neither_root_nor_sudo(self):
        self.without("ninja")
        self.fake("id", "echo 1000")
        self.recording_apt_get()
        result = self.run_setup()
        self.assertEqual(result.returncode, 1)
        self.assertIn("apt-get install ninja-build", result.stderr)
        self.assertEqual(self.calls(), [])

    def test_uses_sudo(self):
        self.without("ninja")
        self.fake("id", "echo 1000")
        self.fake("sudo", f'echo "sudo $*" >> {self.folder}/calls; exec "$@"')
        self.recording_apt_get()
        self.assertEqual(self.run_setup().returncode, 0)
        self.assertTrue(self.calls()[0].startswith("sudo apt-get update"))

    def test_failure_of_apt_get_is_shown(self):
        self.without("ninja")
        self.recording_apt_get(exit_code=100)
        result = self.run_setup()
        self.assertEqual(result.returncode, 1)
        self.assertIn("E: no such luck", result.stderr)
        self.assertIn("apt-get install ninja-build", result.stderr)
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith("tmp.")], [])

    def test_web_packages_are_installed_by_the_lock_file(self):
        self.lock("two")
        self.recording_npm()
        result = self.run_setup("build")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("package-lock.json", result.stdout)
        self.assertEqual(self.npm_calls(), [["ci", "--ignore-scripts", "--omit=dev"]])
        self.assertEqual(self.run_setup("build").stdout, "")  # nothing is left to do
        self.run_setup("test")  # which needs more
        self.assertEqual(self.npm_calls(), [["ci", "--ignore-scripts", "--omit=dev"], ["ci", "--ignore-scripts"]])
        self.assertEqual(self.run_setup("test").stdout, "")

    def test_a_build_goes_on_without_web_packages_and_tests_do_not(self):
        self.lock("two")
        self.recording_npm(exit_code=1)
        result = self.run_setup("build")
        self.assertEqual(result.returncode, 0)
        self.assertIn("no figures", result.stderr)
        self.assertIn("npm says no", result.stderr)
        self.assertEqual(self.run_setup("test").returncode, 1)

    def test_a_browser_that_cannot_be_installed_is_no_failure(self):
        self.without("chromium")
        self.recording_apt_get(exit_code=100)
        result = self.run_setup("test")
        self.assertEqual(result.returncode, 0)
        self.assertIn("chromium cannot be installed", result.stderr)
        self.assertEqual(self.run_setup("build").stdout, "")

    def test_unknown_set(self):
        result = self.run_setup("everything")
        self.assertEqual(result.returncode, 64)
        self.assertIn("'everything'", result.stderr)


if __name__ == "__main__":
    unittest.main()
