#!/usr/bin/env python3
"""`sfumato rows` on the tables that people have: categories, booleans, text labels, missing values, compressed files and
pipes; on real tables where they are (below $SFUMATO_DATA/tables)."""
import csv
import gzip
import itertools
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

from rows_support import risks
from support import SFUMATO, run

TABLE = """id,age,job,vip,income
p1,30,clerk,yes,high
p2,50,smith,no,low
p3,41,clerk,no,low
p4,38,baker,yes,high
p5,62,baker,no,low
p6,29,smith,yes,low
p7,55,clerk,no,high
"""
COMMON = ["--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--noise", "1", "--release"]
LABEL = ["--target", "income", "--model", "logistic", "--positive", "high", "--id", "id", *COMMON]


def real(name):
    root = os.environ.get("SFUMATO_DATA")
    path = Path(root) / "tables" / name if root else None
    if path is None or not path.exists():
        raise unittest.SkipTest(f"{name} is not below $SFUMATO_DATA/tables")
    return str(path)


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        self.table = self.dir / "t.csv"
        self.table.write_text(TABLE, encoding="utf-8")

    def ask(self, *arguments, code=0, **options):
        result = run("rows", *arguments, **options)
        self.assertEqual(result.returncode, code, result.stderr)
        return " ".join((result.stdout if code == 0 else result.stderr).split())

    def test_categories_booleans_and_labels(self):
        text = self.ask(str(self.table), *LABEL, "--full")
        self.assertIn("(age, job=clerk, job=smith, vip, (intercept))", text)
        self.assertIn("job (3 levels, reference baker)", text)
        self.assertIn("Booleans, true or yes being 1: vip", text)
        self.assertIn("p6", text)
        text = self.ask(str(self.table), *LABEL, "--full", "--reference", "job=clerk", "--exclude", "vip")
        self.assertIn("(age, job=baker, job=smith, (intercept))", text)

    def test_encoded_by_hand_is_the_same(self):
        by_hand = self.dir / "hand.csv"
        with open(by_hand, "w", encoding="utf-8") as out:
            out.write("age,clerk,smith,vip,income\n")
            for row in csv.DictReader(TABLE.splitlines()):
                out.write(f"{row['age']},{int(row['job'] == 'clerk')},{int(row['job'] == 'smith')},"
                          f"{int(row['vip'] == 'yes')},{int(row['income'] == 'high')}\n")
        ours = risks(["rows", str(self.table), *LABEL])
        theirs = risks(["rows", str(by_hand), "--target", "income", "--model", "logistic", *COMMON])
        for a, b in zip(ours, theirs):
            for key, value in b.items():
                if key != "line":
                    self.assertEqual(a[key], value, key)

    def test_plain_gzip_and_pipe_are_the_same(self):
        packed = self.dir / "t.csv.gz"
        packed.write_bytes(gzip.compress(TABLE.encode()))
        plain = self.ask(str(self.table), *LABEL, "--json")
        self.assertEqual(plain.replace("t.csv", "X"),
                         self.ask(str(packed), *LABEL, "--json").replace("t.csv.gz", "X"))
        for content in (TABLE.encode(), packed.read_bytes()):
            piped = subprocess.run([SFUMATO, "rows", "-", *LABEL, "--json"],
                                   input=content, capture_output=True, check=False)
            self.assertEqual(piped.returncode, 0, piped.stderr)
            text = " ".join(piped.stdout.decode().split())
            self.assertEqual(plain.replace(str(self.table), "X"), text.replace("standard input", "X"))

    def test_a_pipe_in_a_question_file(self):
        question = self.dir / "q.toml"
        question.write_text('table = "-"\ntarget = "age"\nadjacency = "remove"\nloss = "sum"\nnoise = 1\nridge = 1\n'
                            'release = true\nexclude = ["id", "income"]\n', encoding="utf-8")
        piped = subprocess.run([SFUMATO, "rows", str(question)], input=TABLE.encode(), capture_output=True,
                               check=False)
        self.assertEqual(piped.returncode, 0, piped.stderr)

    def test_messages_name_the_column_and_the_option(self):
        refuse = lambda *a: self.ask(str(self.table), *a, code=65)
        self.assertIn('field 1 ("id") is text, 7 different values in 7 rows. If it names the rows, give it as --id',
                      refuse("--target", "age", *COMMON))
        self.assertIn('the target "income" is text: "low", "high". Name the value that counts as 1 with --positive',
                      refuse("--target", "income", "--exclude", "id", "--model", "logistic", *COMMON))
        self.assertIn('column "income" has no value "rich". Its values: "low", "high"',
                      refuse(*[a if a != "high" else "rich" for a in LABEL]))
        self.assertIn('no column "incme". Did you mean `income`?', refuse("--target", "incme", *COMMON))
        self.assertIn('no level "cook"', refuse(*LABEL, "--reference", "job=cook"))
        self.assertIn("COLUMN=LEVEL", self.ask(str(self.table), *LABEL, "--reference", "job", code=64))
        self.assertIn("ridge predicts a number",
                      self.ask(str(self.table), "--target", "age", "--positive", "1", *COMMON, code=64))
        self.table.write_bytes(b"PAR1")
        self.assertIn("is a Parquet file, which is not read. Convert it: python3", refuse("--target", "age", *COMMON))

    def test_missing_values(self):
        self.table.write_text(TABLE.replace("41,clerk", ",?").replace("62", "NA"), encoding="utf-8")
        self.assertIn("set --impute to drop, median or mode", self.ask(str(self.table), *LABEL, code=65))
        text = self.ask(str(self.table), *LABEL, "--impute", "median")
        self.assertIn("Missing values were imputed: age (2 values, 38), job (1 value, baker).", text)
        dropped = self.ask(str(self.table), *LABEL, "--impute", "drop")
        self.assertIn("2 rows with missing values excluded", dropped)
        self.assertEqual(dropped, self.ask(str(self.table), *LABEL, "--drop-missing"))

    def test_units_are_warned_of(self):
        text = "a,b,y\n" + "".join(f"{i},{1000 * (i * i % 7)},{i % 3}\n" for i in range(12))
        self.table.write_text(text, encoding="utf-8")
        warning = "b varies 400 times as much as a"
        self.assertIn(warning, self.ask(str(self.table), "--target", "y", *COMMON))
        self.assertNotIn("times as much", self.ask(str(self.table), "--target", "y", *COMMON, "--standardise", "self"))


class RealTables(unittest.TestCase):
    def test_adult(self):
        with gzip.open(real("adult.csv.gz"), "rt", encoding="utf-8") as stream:
            head = "".join(itertools.islice(stream, 2001))
        result = run("rows", "-", "--target", "income", "--positive", ">50K", "--model", "logistic", "--exclude",
                     "fnlwgt,education,native_country,occupation", "--impute", "mode", "--standardise", "self",
                     *COMMON, input=head)
        self.assertEqual(result.returncode, 0, result.stderr)
        text = " ".join(result.stdout.split())
        self.assertIn("of 2000 rows", text)
        self.assertIn("workclass (7 levels, reference Federal-gov), marital_status (7 levels, reference Divorced)", text)
        self.assertIn("workclass (123 values, Private)", text)

    def test_concrete_against_numpy(self):
        path = real("concrete.csv.gz")
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            rows = np.loadtxt(stream, delimiter=",", skiprows=1)
        x = np.column_stack([rows[:, :-1], np.ones(len(rows))])
        y = rows[:, -1]
        hessian = x.T @ x + np.eye(x.shape[1])
        w = np.linalg.solve(hessian, x.T @ y)
        found = risks(["rows", path, "--target", "strength", *COMMON])
        for i in (0, 224, 1029):
            other = np.linalg.solve(hessian - np.outer(x[i], x[i]), x.T @ y - y[i] * x[i])
            self.assertAlmostEqual(float(found[i]["kl_forward"]) / (0.5 * np.sum((w - other) ** 2)), 1.0, places=6)

    def test_bike_with_numbers_as_categories(self):
        result = run("rows", real("bike.csv.gz"), "--target", "cnt", "--exclude", "instant,casual,registered",
                     "--categorical", "season,weathersit", "--standardise", "self", *COMMON)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("season (4 levels, reference 1), weathersit (4 levels, reference 1)",
                      " ".join(result.stdout.split()))


if __name__ == "__main__":
    unittest.main()
