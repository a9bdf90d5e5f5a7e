"""What the program does at its limits: files that change under it, memory, signals, numbers and plans that
nobody can mean. It ends soon, in order, with one line."""
import os
import resource
import signal
import struct
import subprocess
import time
import unittest

from support import BAD_INPUT, ROOT, SFUMATO, USAGE, ProgramTest, catches_interrupts, run, works_for

DIABETES = ROOT / "examples/rows/diabetes.csv"
ROWS = ["--target", "progression", "--adjacency", "remove", "--loss", "sum", "--ridge", "1",
        "--noise", "1000"]


def npy(rows, columns):
    """An NPY file of ones."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    header += " " * (117 - len(header)) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + \
        struct.pack("<d", 1.0) * (rows * columns)


class Files(ProgramTest):
    def test_a_file_that_is_cut_while_it_is_read(self):
        content = npy(40, 100_000)  # 32 MB
        path = self.write("s.npy", content)
        design = [SFUMATO, "design", path, "--differences-are", "public", "--trace", "1", "--form",
                  "diagonal", "--json"]
        whole = subprocess.run(design, capture_output=True, check=True).stdout
        for pause in (0.0, 0.005, 0.01, 0.02, 0.05):
            path.write_bytes(content)
            process = subprocess.Popen(design, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(pause)
            os.truncate(path, 1_000_000)
            stdout, stderr = process.communicate(timeout=120)
            # Read before it was cut, or refused; never the end by a signal or another answer.
            if process.returncode == 0:
                self.assertEqual(stdout, whole)
            else:
                self.assertEqual(process.returncode, BAD_INPUT, stderr)

    def test_endless_devices_have_a_limit(self):
        self.assert_refused(BAD_INPUT, ["/dev/zero", "limit of 268435456 bytes"], "report", "/dev/zero",
                            "--out", self.dir / "r.html")

    def test_other_separators(self):
        semicolons = self.write("s.csv", DIABETES.read_text().replace(",", ";"))
        self.assert_refused(BAD_INPUT, ["s.csv:1", "--separator to \";\""], "rows", semicolons, *ROWS)
        tabs = self.write("t.csv", DIABETES.read_text().replace(",", "\t"))
        self.assert_refused(BAD_INPUT, ["--separator to \"tab\""], "rows", tabs, *ROWS)
        expected = run("rows", DIABETES, *ROWS).stdout.splitlines()[2:]
        for separator in ("\t", "\\t", "tab"):
            result = run("rows", tabs, *ROWS, "--separator", separator)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stdout.splitlines()[2:], expected)


class WideTables(ProgramTest):
    """Few rows and many columns: memory in proportion to the table, or one line before it is taken."""

    def wide(self, rows, columns):
        lines = [",".join(f"x{j}" for j in range(columns)) + ",y"]
        lines += [",".join(str((7 * i + 3 * j * j) % 11 - 5) for j in range(columns)) + f",{i}" for i in range(rows)]
        return self.write("wide.csv", "\n".join(lines) + "\n")

    @staticmethod
    def few_gigabytes():
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    def test_rows_in_the_span_of_the_rows(self):
        table = self.wide(3, 50_000)  # 20 GB in a matrix over pairs of columns
        result = run("rows", table, "--target", "y", "--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--noise", "1",
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20)))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("of 3 rows", result.stdout)

    def test_what_does_not_fit_is_refused_before_it_is_taken(self):
        table = self.wide(3, 20_000)
        rows = ["rows", table, "--target", "y", "--adjacency", "remove", "--loss", "sum", "--noise", "1"]
        words = ["needs about", "GB of memory", "available"]
        limit = {"preexec_fn": self.few_gigabytes}
        self.assert_refused(BAD_INPUT, [*words, "3 rows", "20001 columns"], *rows, **limit)
        labels = table.read_text().rsplit(",2\n", 1)[0] + ",1\n"
        table.write_text(labels)
        self.assert_refused(BAD_INPUT, words, *rows, "--model", "logistic", "--ridge", "1", **limit)
        bounds = self.write("bounds.csv", "column,kind,low,high,levels,source\n" + "".join(
            f"x{j},numeric,-5,5,,made\n" for j in range(20_000)) + "y,target,0,1,,made\n(records),,,3,,made\n(adjacency),,,,add_remove,\n")
        self.assert_refused(BAD_INPUT, [*words, "isotropic"], "fit", table, "--model", "ridge", "--bounds", bounds, "--target-epsilon",
                            "1", "--target-delta", "1e-9", "--mechanism", "whitened", "--accept-useless", "--force", **limit)
        differences = self.write("d.csv", "\n".join(line.rsplit(",", 1)[0] for line in table.read_text().splitlines()[1:]) + "\n")
        self.assert_refused(BAD_INPUT, [*words, "diagonal"], "design", differences, "--differences-are", "public", "--form", "full",
                            "--trace", "1", **limit)
        scores = self.dir / "s.npy"
        scores.write_bytes(npy(1, 1))
        os.truncate(scores, 1 << 31)
        self.assert_refused(BAD_INPUT, words, "audit", "--members", scores, "--nonmembers", scores, "--unit", "models", **limit)


class Models(ProgramTest):
    def test_bounds_of_very_many_parameters(self):
        columns = 300
        header = ",".join(f"c{i}" for i in range(columns)) + ",y\n"
        self.write("t.csv", header + "".join(",".join(["1"] * columns) + f",{k}\n" for k in range(7)))
        problem = """
[flow]
times = [inf]
[d]
model = "softmax"
classes = 7
data = "t.csv"
target = "y"
loss = "sum"
ridge = 1
Sigma = 1
[d_prime]
without_row = 1
"""
        self.assert_refused(BAD_INPUT, ["2107 parameters (301 columns x 7 classes)", "at most 2000"], "bound",
                            self.write("p.toml", problem))


class Interruptions(ProgramTest):
    def test_a_lost_connection_stops_in_order(self):
        study = self.write("s.toml", """
[data]
set = "t.csv"
[model]
layers = [{type = "linear", outputs = 2}]
[train]
iterations = 100000000
batch_size = 2
[[noise]]
policy = "isotropic"
variance = 0.01
""")
        self.write("t.csv", "a,class\n0.5,0\n-1,1\n0.25,0\n2,1\n")
        process = subprocess.Popen([SFUMATO, "train", study], cwd=self.dir, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(catches_interrupts(process))
        time.sleep(0.5)
        process.send_signal(signal.SIGHUP)
        stdout, stderr = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("--resume", stdout)
        self.assertTrue((self.dir / "s.checkpoint.npz").exists())

    def test_an_interrupted_run_writes_beside_its_file(self):
        header, *rows = DIABETES.read_text().splitlines()
        table = self.write("t.csv", "\n".join([header, *(rows * 400)]) + "\n")
        out = self.dir / "risks.csv"
        process = subprocess.Popen([SFUMATO, "rows", table, *ROWS, "--out", out, "--threads", "1"],
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(catches_interrupts(process))
        works_for(process, 1.0)  # the table is read: before that there is nothing to write
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("risks.partial.csv", stdout)
        self.assertFalse(out.exists())  # what a whole run wrote there would stay
        self.assertIn("not_computed", (self.dir / "risks.partial.csv").read_text())


class Memory(ProgramTest):
    def test_too_little_memory_is_one_line(self):
        header = ",".join(f"c{i}" for i in range(300))
        table = self.write("t.csv", header + "\n" + (",".join(["1.5"] * 300) + "\n") * 3000)
        seen = set()
        for megabytes in range(20, 140, 6):
            limit = megabytes << 20
            result = subprocess.run(
                [SFUMATO, "rows", table, "--target", "c0", "--adjacency", "remove", "--loss", "sum",
                 "--ridge", "1", "--noise", "1", "--threads", "1"], capture_output=True, text=True,
                check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            if result.returncode == 127 or (result.returncode == 1 and "sfumato:" not in result.stderr):
                continue  # not even the libraries could be loaded
            seen.add(result.returncode)
            if result.returncode == BAD_INPUT:
                self.assertRegex(result.stderr, r"^sfumato: (out of memory\. Use a smaller problem or a machine with more"
                                 r"|\S+ (a table|a file) .*needs about .* available, .*)\.\n$", megabytes)
        self.assertLessEqual(seen, {0, BAD_INPUT})
        self.assertIn(BAD_INPUT, seen)


class Plans(ProgramTest):
    def study(self, outputs=2):
        self.write("t.csv", "a,class\n0.5,0\n-1,1\n0.25,0\n2,1\n")
        return self.write("s.toml", f"""
[data]
set = "t.csv"
[model]
layers = [{{type = "linear", outputs = {outputs}}}, {{type = "relu"}}, {{type = "linear", outputs = 2}}]
[train]
iterations = 3
batch_size = 2
[[noise]]
policy = "isotropic"
variance = 0.01
""")

    def test_more_trials_than_anybody_trains(self):
        for command in (["run", "--ledger", self.dir / "l"], ["plan"]):
            for setting in ("audit.replicas=9223372036854775807", "audit.pairs=2147483648"):
                self.assert_refused(BAD_INPUT, ["more than 100000000 models"], "study", command[0],
                                    self.study(), "--set", setting, *command[1:])
            self.assert_refused(BAD_INPUT, ["an integer from 1 to"], "study", command[0], self.study(),
                                "--set", "train.iterations=9000000000000000000", *command[1:])
        self.assertFalse((self.dir / "l").exists())

    def test_networks_and_threads_have_a_size(self):
        self.assert_refused(BAD_INPUT, ["parameters", "67108864"], "train", self.study(outputs=1 << 20),
                            "--set", "model.layers.2.outputs=1048576")
        self.assert_refused(USAGE, ["--threads", "4096"], "study", "run", self.study(), "--threads",
                            "100000")


class Numbers(ProgramTest):
    """Each of these ended in "this is a bug", or not at all."""

    def changed(self, path, old, new):
        text = (ROOT / path).read_text()
        self.assertIn(old, text)
        return self.write("p.toml", text.replace(old, new))

    def test_curvature_beyond_doubles(self):
        for value in ("1e155", "1e200", "-1e300"):
            problem = self.changed("examples/quadratic/release.toml", "[1, 3]", f"[{value}, 3]")
            self.assert_refused(BAD_INPUT, ["p.toml", "range of a double"], "quadratic", problem)

    def test_grids_that_cannot_be(self):
        for old, new, code, words in (("Sigma = 0.64", "Sigma = 1e-320", 2, "no method reaches t = 1, 10 here (matched process"),
                                      ("start_covariance = 0.2", "start_covariance = 1e100", 0, "best proven bound")):
            problem = self.changed("examples/bound/double_well.toml", old, new)
            problem.write_text(problem.read_text() + "\n[estimate]\nmonte_carlo = false\n")
            result = subprocess.run([SFUMATO, "bound", problem], capture_output=True, text=True,
                                    check=False, preexec_fn=lambda: resource.setrlimit(
                                        resource.RLIMIT_CPU, (10, 10)))
            self.assertEqual(result.returncode, code, result.stderr)  # 2: nothing can be said
            self.assertIn(words, result.stdout.replace("\n        ", ""))

    def test_a_difference_too_small_for_any_kl(self):
        problem = self.write("p.toml", "[flow]\ntimes = [1]\n[d]\nA = 1\nminimiser = [0]\nSigma = 1\n"
                             "[d_prime]\nminimiser = [1e-320]\n")
        result = run("design", "--problem", problem, "--differences-are", "public")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_targets_beyond_all_measure(self):
        lines = DIABETES.read_text().splitlines()[:9]
        lines[1] = lines[1].rsplit(",", 1)[0] + ",1e100"
        result = run("rows", self.write("t.csv", "\n".join(lines) + "\n"), *ROWS, "--features", "bmi,bp")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("eps is not a number", result.stdout)


if __name__ == "__main__":
    unittest.main()
