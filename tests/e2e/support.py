"""What the end-to-end suites share: running the program and reading what it prints."""
import hashlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SFUMATO = os.environ.get("SFUMATO", str(ROOT / "build/bin/sfumato"))
os.environ["SOURCE_DATE_EPOCH"] = "1700000000"  # reports say when they were written

USAGE, BAD_INPUT, STORAGE = 64, 65, 74
PROGRESS = re.compile(r"^[\w. -]+: (\d+/\d+ \(\d+%\)|done in ).*\n?", re.MULTILINE)

FASHION = Path("/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz")
# Two noises, two pairs: 24 trials of a network that take moments.
FASHION_STUDY = """
[data]
set = "fashion-mnist"
records = 200
test_records = 100

[model]
preset = "mlp-10"

[train]
iterations = 60
batch_size = 20
path_kl = true

[[noise]]
policy = "isotropic_per_layer"
variance = 0.01

[[noise]]
policy = "anisotropic"
variance = 0.01

[audit]
pairs = 2
replicas = 6
"""


def run(*args, **options):
    """Runs sfumato in the repository root; strings in, a CompletedProcess out."""
    options.setdefault("cwd", ROOT)
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([SFUMATO, *map(str, args)], stderr=subprocess.PIPE, text=True,
                          timeout=300, check=False, **options)


def edit_ledger(ledger, edit):
    """Changes a ledger through edit(database) as a forger would, with the digest of its content to match."""
    def digest(item):
        return int(hashlib.sha256(item.encode()).hexdigest(), 16)
    database = sqlite3.connect(ledger)
    edit(database)
    content = sum(int(row[0], 16) for row in database.execute("SELECT digest FROM trial"))
    content += sum(digest(f"look {number} {trials}") for number, trials in database.execute("SELECT * FROM look"))
    content += sum(digest(f"meta {len(key.encode())} {key}{value}")
                   for key, value in database.execute("SELECT key, value FROM meta WHERE key != 'content'"))
    database.execute("UPDATE meta SET value = ? WHERE key = 'content'", (f"{content % 2**256:064x}",))
    database.commit()
    database.close()


def trials_done(status):
    """Of what `study status` printed."""
    return int(re.search(r"(\d+) of \d+ trials done", status)[1])


def without_progress(text):
    """The lines that long work writes every ten seconds, which a slow machine or build may need, left out."""
    return PROGRESS.sub("", text)


def catches_interrupts(process, seconds=60):
    """Waits until the program would end in order on Ctrl-C: until it has a handler for it."""
    status = Path(f"/proc/{process.pid}/status")
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        caught = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt"))
        if int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1:
            return True
        time.sleep(0.02)
    return False


def processor_seconds(process):
    """What a running process has used of its processors so far, which other work on the machine does not change."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def works_for(process, seconds):
    """Waits until a process has used so many seconds of its processors, or has ended."""
    while process.poll() is None and processor_seconds(process) < seconds:
        time.sleep(0.01)


class Document:
    """The JSON form of a document."""

    def __init__(self, text):
        self.content = json.loads(text)

    def block(self, key):
        return next(b for b in self.content["blocks"] if b.get("key") == key)

    def has(self, key):
        return any(b.get("key") == key for b in self.content["blocks"])

    def statements(self, kind=None):
        return [b["text"] for b in self.content["blocks"]
                if b["type"] == "statement" and kind in (None, b["kind"])]

    def cell(self, table, column, **where):
        """The one cell of `column` in the row where the other columns have these values."""
        rows = [r for r in self.block(table)["rows"]
                if all(r[k] == v for k, v in where.items())]
        assert len(rows) == 1, f"{len(rows)} rows of {table} with {where}"
        return rows[0][column]

    def value(self, table, column, **where):
        """The number in that cell, whatever claim it carries; inf for "inf"."""
        cell = self.cell(table, column, **where)
        return float(cell["value"] if isinstance(cell, dict) else cell)


class ProgramTest(unittest.TestCase):
    """A test case with a directory of its own, `self.dir`."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.dir = Path(temporary.name)

    def write(self, name, content):
        path = self.dir / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content)
        return path

    def document(self, *args):
        """Runs a command with --json and expects it to go well."""
        result = run(*args, "--json")
        self.assertEqual((result.returncode, without_progress(result.stderr)), (0, ""))
        return Document(result.stdout)

    def assert_close(self, got, expected, relative=1e-9, absolute=0.0):
        if got == expected:  # infinities
            return
        self.assertLessEqual(abs(got - expected), absolute + relative * abs(expected),
                             f"got {got!r}, expected {expected!r}")

    def assert_refused(self, code, needles, *args, **options):
        """Ends with `code` and exactly one line on stderr, which contains every needle."""
        result = run(*args, **options)
        context = f"sfumato {' '.join(map(str, args))}\nstderr: {result.stderr!r}"
        self.assertEqual(result.returncode, code, context)
        self.assertTrue(result.stderr.endswith("\n"), context)
        self.assertEqual(result.stderr.count("\n"), 1, context)
        self.assertTrue(result.stderr.startswith("sfumato: "), context)
        for trace in ("terminate called", "Assertion", "std::", r"\bbug\b"):  # names of temporary folders may have the letters
            self.assertNotRegex(result.stderr, trace, context)
        for needle in needles:
            self.assertIn(str(needle), result.stderr, context)
