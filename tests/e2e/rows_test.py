"""`sfumato rows` as a user runs it: numbers against NumPy formulas, options, refusals."""
import csv
import json
import math
import os
import tempfile
import unittest
from pathlib import Path

import numpy as np

from support import ROOT, run

DIABETES = str(ROOT / "examples/rows/diabetes.csv")
PUBLIC = str(ROOT / "examples/rows/public.csv")
OTHER = str(ROOT / "examples/rows/other.csv")
BASE = ["rows", DIABETES, "--target", "progression", "--standardise", PUBLIC]


def table():
    rows = np.loadtxt(DIABETES, delimiter=",", skiprows=1)
    constants = np.loadtxt(PUBLIC, delimiter=",", skiprows=1)
    scaled = (rows - constants[0]) / constants[1]
    return np.column_stack([scaled[:, :-1], np.ones(len(rows))]), scaled[:, -1]


def gaussian_kl(m, v, m2, v2):
    inverse = np.linalg.inv(v2)
    gap = m2 - m
    return 0.5 * (np.linalg.slogdet(v2)[1] - np.linalg.slogdet(v)[1] - len(m)
                  + np.trace(inverse @ v) + gap @ inverse @ gap)


def risks(arguments):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "risks.csv")
        result = run(*arguments, "--out", out)
        if result.returncode != 0:
            raise AssertionError(result.stderr)
        with open(out, newline="", encoding="utf-8") as stream:
            return list(csv.DictReader(stream))


class Numbers(unittest.TestCase):
    def check(self, arguments, law, tolerance=1e-7):
        """Every row's KL both ways against laws rebuilt from the table without it."""
        x, y = table()
        m, v = law(x, y)
        listed = risks(arguments)
        self.assertEqual(len(listed), len(y))
        for row in range(0, len(y), 20):
            keep = np.arange(len(y)) != row
            m2, v2 = law(x[keep], y[keep])
            for key, expected in (("kl_forward", gaussian_kl(m, v, m2, v2)),
                                  ("kl_reverse", gaussian_kl(m2, v2, m, v))):
                got = float(listed[row][key])
                self.assertLess(abs(got - expected), tolerance * expected + 1e-10, (row, key))

    def test_stationary_sum(self):
        def law(x, y):
            a = x.T @ x + np.eye(x.shape[1])
            return np.linalg.solve(a, x.T @ y), 0.5 * 2.0 * np.linalg.inv(a)
        self.check(BASE + ["--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--noise", "2"],
                   law)

    def test_stationary_mean_divides_by_its_own_size(self):
        def law(x, y):
            a = x.T @ x / len(y) + 0.1 * np.eye(x.shape[1])
            return np.linalg.solve(a, x.T @ y / len(y)), 0.5 * 0.01 * np.linalg.inv(a)
        self.check(BASE + ["--adjacency", "remove", "--loss", "mean", "--ridge", "0.1",
                           "--noise", "0.01"], law)

    def test_finite_time(self):
        time = 0.02
        def law(x, y):
            a = x.T @ x + np.eye(x.shape[1])
            values, q = np.linalg.eigh(a)
            decay = np.exp(-values * time)
            star = np.linalg.solve(a, x.T @ y)
            return star - q @ (decay * (q.T @ star)), q @ np.diag((1 - decay**2) / (2 * values)) @ q.T
        self.check(BASE + ["--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--noise", "1",
                           "--time", str(time)], law)

    def test_release_is_a_gaussian_mechanism(self):
        x, y = table()
        a = x.T @ x + np.eye(x.shape[1])
        m = np.linalg.solve(a, x.T @ y)
        listed = risks(BASE + ["--adjacency", "remove", "--loss", "sum", "--ridge", "1",
                               "--noise", "1e-4", "--release"])
        for row in range(0, len(y), 20):
            keep = np.arange(len(y)) != row
            m2 = np.linalg.solve(a - np.outer(x[row], x[row]), x[keep].T @ y[keep])
            mu = np.linalg.norm(m2 - m) / 1e-2
            self.assertAlmostEqual(float(listed[row]["kl_forward"]) / (mu * mu / 2), 1.0, places=6)
            self.assertAlmostEqual(float(listed[row]["advantage"]), math.erf(mu / math.sqrt(8)), 9)
            self.assertEqual(listed[row]["claim"], "exact")

    def test_replace(self):
        x, y = table()
        constants = np.loadtxt(PUBLIC, delimiter=",", skiprows=1)
        other = (np.loadtxt(OTHER, delimiter=",", skiprows=1) - constants[0]) / constants[1]
        def law(x, y):
            a = x.T @ x + np.eye(x.shape[1])
            return np.linalg.solve(a, x.T @ y), 0.5 * np.linalg.inv(a)
        m, v = law(x, y)
        listed = risks(BASE + ["--adjacency", "replace", "--with", OTHER, "--loss", "sum",
                               "--ridge", "1", "--noise", "1"])
        for row in range(0, len(y), 20):
            x2, y2 = x.copy(), y.copy()
            x2[row], y2[row] = np.append(other[:-1], 1.0), other[-1]
            m2, v2 = law(x2, y2)
            expected = gaussian_kl(m, v, m2, v2)
            self.assertLess(abs(float(listed[row]["kl_forward"]) - expected), 1e-7 * expected + 1e-10)

    def test_threads_do_not_change_a_digit(self):
        arguments = BASE + ["--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--noise", "1"]
        self.assertEqual(risks(arguments + ["--threads", "1"]), risks(arguments + ["--threads", "4"]))


class Output(unittest.TestCase):
    ARGUMENTS = BASE + ["--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--noise", "1"]

    def test_json_has_the_same_rows_with_claims(self):
        document = json.loads(run(*self.ARGUMENTS, "--json", "--top", "5").stdout)
        tables = {b["key"]: b for b in document["blocks"] if b["type"] == "table"}
        rows = tables["riskiest_rows"]["rows"]
        self.assertEqual(len(rows), 5)
        advantages = [r["advantage"]["value"] for r in rows]
        self.assertEqual(advantages, sorted(advantages, reverse=True))
        self.assertEqual(rows[0]["advantage"]["claim"], "exact")
        self.assertEqual(rows[0]["line"], rows[0]["row"] + 1)

    def test_text_says_what_it_is_not(self):
        text = run(*self.ARGUMENTS).stdout
        for words in ("not a differential-privacy guarantee", "sensitive", "Time is continuous",
                      "does not grow with the number of rows"):
            self.assertIn(words, " ".join(text.split()))

    def test_self_standardisation_is_outside_the_claim(self):
        text = run("rows", DIABETES, "--target", "progression", "--standardise", "self",
                   "--adjacency", "remove", "--loss", "sum", "--noise", "1").stdout
        self.assertIn("outside the claim", " ".join(text.split()))


class Refusals(unittest.TestCase):
    def refused(self, code, words, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def with_table(self, text, words, *arguments, code=65):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            path.write_text(text, encoding="utf-8")
            self.refused(code, words, "rows", str(path), "--target", "y", "--adjacency", "remove",
                         "--loss", "sum", "--noise", "1", *arguments)

    def test_usage(self):
        full = BASE + ["--adjacency", "remove", "--loss", "sum", "--noise", "1"]
        self.refused(64, ["--adjacency"], *BASE, "--loss", "sum", "--noise", "1")
        self.refused(64, ["--loss"], *BASE, "--adjacency", "remove", "--noise", "1")
        self.refused(64, ["--loss"], *BASE, "--adjacency", "remove", "--noise", "1", "--loss", "max")
        self.refused(64, ["--noise"], *BASE, "--adjacency", "remove", "--loss", "sum")
        self.refused(64, ["--with"], *BASE, "--adjacency", "replace", "--loss", "sum", "--noise", "1")
        self.refused(64, ["--with"], *full, "--with", OTHER)
        self.refused(64, ["--ridge-scale", "Did you mean"], *full, "--ridge-scal", "fixed")
        self.refused(64, ["remove"], *BASE, "--adjacency", "remov", "--loss", "sum", "--noise", "1")
        self.refused(64, ["--separator"], *full, "--separator", ";;")

    def test_values(self):
        full = BASE + ["--adjacency", "remove", "--loss", "sum"]
        self.refused(64, ["noise", "-1"], *full, "--noise", "-1")
        self.refused(64, ["noise", "0"], *full, "--noise", "0")
        self.refused(64, ["time", "-2"], *full, "--noise", "1", "--time", "-2")
        self.refused(64, ["epsilon", "-0.5"], *full, "--noise", "1", "--epsilons", "-0.5")
        self.refused(64, ["delta", "1.5"], *full, "--noise", "1", "--delta", "1.5")
        self.refused(64, ["delta", "1"], *full, "--noise", "1", "--delta", "1")
        self.refused(64, ["ridge", "-1"], *full, "--noise", "1", "--ridge", "-1")
        self.refused(64, ["ridge"], *BASE, "--adjacency", "remove", "--loss", "mean", "--noise", "1",
                     "--ridge", "1", "--ridge-scale", "rows")
        self.refused(65, ["nofile.npz"], *full, "--noise", "nofile.npz")

    def test_tables(self):
        self.refused(65, ["none.csv"], "rows", "none.csv", "--target", "y", "--adjacency", "remove",
                     "--loss", "sum", "--noise", "1")
        self.with_table("x,y\n1,2\n3\n", ["t.csv:3"])
        self.with_table("x,y\n1,2\n3,abc\n", ["t.csv:3", "abc"])
        self.with_table("x,y\n1,2\n3,\n", ["t.csv:3", "missing"])
        self.with_table("x,y\n1,2\n3,inf\n", ["t.csv:3", "inf"])
        self.with_table("x,z\n1,2\n3,4\n", ["t.csv", "\"y\""])
        self.with_table("x,y\n1,2\n3,4\n5,6\n", ["t.csv", "colour"], "--features", "colour")
        self.with_table("x,y\n1,2\n3,4\n5,6\n", ["y"], "--features", "x,y")
        # Two equal columns: no minimiser without ridge.
        self.with_table("a,b,y\n1,1,2\n2,2,3\n3,3,5\n", ["eigenvalue", "ridge"], "--no-intercept")

    def test_unset_variables_and_repeats(self):
        full = BASE + ["--adjacency", "remove", "--loss", "sum", "--noise", "1"]
        self.refused(64, ["--time", "empty"], *full, "--time", "")
        self.refused(64, ["--ridge=", "empty"], *full, "--ridge=")
        self.refused(64, ["--top"], *full, "--top", "-1")
        self.refused(64, ["--threads"], *full, "--threads", "100000")
        self.refused(64, ["--ridge"], *full, "--ridge", "x\ny")
        self.assertEqual(run(*full, "--epsilons", "1,1,0.5").returncode, 0)
        self.refused(65, ["twice"], *full, "--features", "bmi,bmi")

    def test_an_input_is_never_overwritten(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            path.write_text("x,y\n1,2\n3,4\n5,7\n", encoding="utf-8")
            self.refused(64, ["--out", "input"], "rows", str(path), "--target", "y", "--adjacency",
                         "remove", "--loss", "sum", "--noise", "1", "--out", folder + "/../" +
                         os.path.basename(folder) + "/t.csv")
            self.assertIn("5,7", path.read_text(encoding="utf-8"))

    def test_constants_for_a_column_that_is_not_there(self):
        with tempfile.TemporaryDirectory() as folder:
            constants = Path(folder) / "c.csv"
            constants.write_text("bim\n26\n4\n", encoding="utf-8")
            self.refused(65, ["c.csv", "bim", "bmi"], "rows", DIABETES, "--target", "progression",
                         "--adjacency", "remove", "--loss", "sum", "--noise", "1",
                         "--standardise", str(constants))

    def test_columns_that_are_not_used_may_hold_anything(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            path.write_text("x,name,y\n1,Ada,2\n3,,4\n5,Bo,7\n", encoding="utf-8")
            result = run("rows", str(path), "--target", "y", "--features", "x", "--adjacency",
                         "remove", "--loss", "sum", "--noise", "1", "--drop-missing")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("riskiest of 3 rows", result.stdout)

    def test_numbers_that_overflow(self):
        self.with_table("x,y\n1e200,1\n2e200,2\n3e200,1\n", ["overflow", "escale"])

    def test_missing_values_can_be_dropped(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            path.write_text("x;y\n1,5;2\n2;NA\n3;4\n4;4,5\n9;8\n", encoding="utf-8")
            result = run("rows", str(path), "--target", "y", "--adjacency", "remove", "--loss", "sum",
                         "--noise", "1", "--drop-missing", "--separator", ";", "--decimal", ",")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("1 row", result.stdout)

    def test_output_that_cannot_be_written(self):
        full = BASE + ["--adjacency", "remove", "--loss", "sum", "--noise", "1"]
        self.refused(74, [DIABETES], *full, "--out", DIABETES + "/x.csv")
        result = run(*full, "--out", "/dev/full")
        self.assertEqual(result.returncode, 74, result.stderr)

    def test_a_row_that_determines_a_parameter(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            path.write_text("a,b,y\n1,0,2\n2,0,3\n3,0,5\n0,1,4\n", encoding="utf-8")
            result = run("rows", str(path), "--target", "y", "--adjacency", "remove", "--loss", "sum",
                         "--noise", "1", "--no-intercept")
            self.assertEqual(result.returncode, 0, result.stderr)
            text = " ".join(result.stdout.split())
            self.assertIn("1 row alone determines", text)
            self.assertIn("The 4 riskiest of 4 rows", text)


if __name__ == "__main__":
    unittest.main()
