"""What the tests share. They need NumPy and the standard library alone."""

import json
import os
import pathlib
import subprocess
import unittest

import sfumato  # noqa: F401

SOURCE = pathlib.Path(os.environ.get("SFUMATO_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("SFUMATO", str(SOURCE / "build" / "bin" / "sfumato"))


def command_line(*arguments):
    """The JSON that the program prints."""
    done = subprocess.run([PROGRAM, *map(str, arguments), "--json"], capture_output=True, text=True, cwd=SOURCE)
    if done.returncode not in (0, 1, 2):
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def numbers(document):
    """Results and tables of a document: everything but words."""
    return document["results"], [block["rows"] for block in document["blocks"] if block["type"] == "table"]


class TestCase(unittest.TestCase):
    def assertRefused(self, error, pattern, work):
        with self.assertRaisesRegex(error, pattern) as refused:
            work()
        self.assertNotIn("\n", str(refused.exception))
        self.assertNotIn("sfumato-", str(refused.exception))  # no name of a temporary file
