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
CANCER = str(ROOT / "examples/rows/breast_cancer.csv")
CANCER_PUBLIC = str(ROOT / "examples/rows/breast_cancer_public.csv")
LOGISTIC = ["rows", CANCER, "--target", "malignant", "--model", "logistic", "--standardise", CANCER_PUBLIC,
            "--features", "radius_mean,texture_mean,smoothness_mean"]


def table():
    rows = np.loadtxt(DIABETES, delimiter=",", skiprows=1)
    constants = np.loadtxt(PUBLIC, delimiter=",", skiprows=1)
    scaled = (rows - constants[0]) / constants[1]
    return np.column_stack([scaled[:, :-1], np.ones(len(rows))]), scaled[:, -1]


def labelled_table():
    with open(CANCER, newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    with open(CANCER_PUBLIC, newline="", encoding="utf-8") as stream:
        centre, scale = csv.DictReader(stream)
    names = ["radius_mean", "texture_mean", "smoothness_mean"]
    x = [[(float(r[n]) - float(centre[n])) / float(scale[n]) for n in names] + [1.0] for r in rows]
    return np.array(x), np.array([float(r["malignant"]) for r in rows])


def logistic_minimiser(x, y, ridge):
    w = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ w))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + ridge * np.eye(len(w))
        w = w - np.linalg.solve(hessian, x.T @ (p - y) + ridge * w)
    return w


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

    def test_the_mean_divides_by_the_rows_of_the_table(self):
        n = len(table()[1])

        def law(x, y):
            a = x.T @ x / n + 0.1 * np.eye(x.shape[1])
            return np.linalg.solve(a, x.T @ y / n), 0.5 * 0.01 * np.linalg.inv(a)
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

    def test_chain_step_by_step(self):
        eta, noise = 1e-3, 2.0
        def law(x, y, steps):
            a = x.T @ x + np.eye(x.shape[1])
            step = np.eye(len(a)) - eta * a
            m, v = np.zeros(len(a)), np.zeros_like(a)
            for _ in range(steps):
                m, v = step @ m + eta * (x.T @ y), step @ v @ step + eta * noise * np.eye(len(a))
            return m, v
        base = BASE + ["--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--noise", str(noise),
                       "--learning-rate", str(eta), "--steps"]
        self.check(base + ["30"], lambda x, y: law(x, y, 30))
        # The slowest direction contracts by 0.999 or less per step: 20,000 steps are the long run.
        x, y = table()
        keep = np.arange(len(y)) != 40
        a, b = law(x, y, 20000), law(x[keep], y[keep], 20000)
        listed = risks(base + ["inf"])
        self.assertAlmostEqual(float(listed[40]["kl_forward"]) / gaussian_kl(*a, *b), 1.0, 6)
        self.assertEqual(listed[40]["claim"], "exact")

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


class Logistic(unittest.TestCase):
    SUM = LOGISTIC + ["--adjacency", "remove", "--loss", "sum", "--ridge", "5", "--noise", "20"]

    def test_mu_of_flow_and_chain(self):
        x, _ = labelled_table()
        sensitivity = np.linalg.norm(x, axis=1) / math.sqrt(20)
        eta = 1e-3
        c = 1 - eta * 5
        def steps(k):
            return eta * (1 + c) / (1 - c) * (1 - c**k) / (1 + c**k)
        for arguments, factor in (([], 2 / 5), (["--time", "0.3"], 2 / 5 * math.tanh(5 * 0.3 / 2)),
                                  (["--learning-rate", str(eta), "--steps", "50"], steps(50)),
                                  (["--learning-rate", str(eta), "--steps", "inf"], steps(1e9))):
            listed = risks(self.SUM + ["--check", "0"] + arguments)
            for row in range(0, len(x), 20):
                got = float(listed[row]["mu"])
                self.assertAlmostEqual(got / (sensitivity[row] * math.sqrt(factor)), 1.0, 9)
                self.assertEqual(listed[row]["claim"], "upper_bound")
                for key in ("kl_forward", "kl_reverse"):
                    self.assertLessEqual(float(listed[row][key]), got * got / 2 * (1 + 1e-12))
                self.assertLessEqual(float(listed[row]["advantage"]),
                                     math.erf(got / math.sqrt(8)) * (1 + 1e-9))

    def test_the_mean_is_the_sum_in_other_units(self):
        n = len(labelled_table()[1])
        base = LOGISTIC + ["--adjacency", "remove", "--check", "0"]
        mean = risks(base + ["--loss", "mean", "--ridge", "0.05", "--noise", "0.01", "--time", "3"])
        for scale in (["--ridge", repr(0.05 * n)], ["--ridge", "0.05", "--ridge-scale", "rows"]):
            total = risks(base + ["--loss", "sum", "--noise", repr(0.01 * n), "--time", repr(3 / n), *scale])
            for row in range(0, n, 25):
                for key in ("mu", "kl_forward", "kl_reverse"):
                    self.assertAlmostEqual(float(mean[row][key]) / float(total[row][key]), 1.0, 7, key)

    def test_release_is_a_gaussian_mechanism(self):
        x, y = labelled_table()
        w = logistic_minimiser(x, y, 5)
        listed = risks(self.SUM + ["--release"])
        for row in range(0, len(y), 40):
            keep = np.arange(len(y)) != row
            mu = np.linalg.norm(logistic_minimiser(x[keep], y[keep], 5) - w) / math.sqrt(20)
            self.assertGreaterEqual(float(listed[row]["mu"]), mu * (1 - 1e-9))
            self.assertLess(float(listed[row]["mu"]), mu * (1 + 2e-3))

    def test_threads_do_not_change_a_digit(self):
        def output(threads):
            return run(*self.SUM, "--check", "1", "--json", "--threads", threads).stdout
        self.assertEqual(output("1"), output("3"))

    def test_check_is_an_estimate_below_the_bound(self):
        for arguments in ([], ["--time", "0.05"], ["--learning-rate", "0.002", "--steps", "40"]):
            result = run(*self.SUM, "--json", "--check", "2", "--seed", "7", *arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            document = json.loads(result.stdout)
            self.assertEqual(document["provenance"]["seed"], "7")
            rows = {b["key"]: b for b in document["blocks"] if b["type"] == "table"}["checks"]["rows"]
            self.assertEqual(len(rows), 4)
            for row in rows:
                self.assertEqual(row["estimate"]["claim"], "estimate")
                self.assertEqual(row["bound"]["claim"], "upper_bound")
                self.assertLess(row["estimate"]["value"], row["bound"]["value"])

    def test_check_can_be_left_out(self):
        document = json.loads(run(*self.SUM, "--json", "--check", "0").stdout)
        self.assertNotIn("checks", [b.get("key") for b in document["blocks"]])

    def test_text_says_what_the_bounds_are(self):
        text = " ".join(run(*self.SUM, "--check", "1", "--full").stdout.split())
        for words in ("upper bounds", "not a differential-privacy guarantee", "sensitive", "not clipped",
                      "Time is continuous", "<=", "is an estimate"):
            self.assertIn(words, text)

    def test_text_says_which_bounds_do_not_apply(self):
        with tempfile.TemporaryDirectory() as folder:
            noise = os.path.join(folder, "noise.csv")
            Path(noise).write_text("20\n21\n20\n19\n", encoding="utf-8")
            base = LOGISTIC + ["--adjacency", "remove", "--loss", "sum", "--check", "0", "--full"]
            text = " ".join(run(*base, "--ridge", "5", "--noise", noise, "--time", "1").stdout.split())
            self.assertIn("The noise is not isotropic", text)
        text = " ".join(run(*self.SUM, "--check", "0", "--learning-rate", "0.5", "--steps", "9", "--full")
                        .stdout.split())
        self.assertIn("constant 1 is used", text)
        self.assertIn("Lower --learning-rate below", text)

    def test_replace_and_mean(self):
        with tempfile.TemporaryDirectory() as folder:
            other = Path(folder) / "other.csv"
            other.write_text("radius_mean,texture_mean,smoothness_mean,malignant\n14,19,0.09,0\n",
                             encoding="utf-8")
            x, _ = labelled_table()
            with open(CANCER_PUBLIC, newline="", encoding="utf-8") as stream:
                centre, scale = csv.DictReader(stream)
            put = [(v - float(centre[n])) / float(scale[n])
                   for n, v in (("radius_mean", 14), ("texture_mean", 19), ("smoothness_mean", 0.09))]
            listed = risks(LOGISTIC + ["--adjacency", "replace", "--with", str(other), "--loss", "mean",
                                       "--ridge", "0.1", "--noise", "0.01", "--check", "0"])
            for row in range(0, len(x), 50):
                gap = (np.linalg.norm(x[row]) + np.linalg.norm(put + [1.0])) / len(x)
                mu = gap / 0.1 * math.sqrt(2 / 0.1)
                self.assertAlmostEqual(float(listed[row]["mu"]) / mu, 1.0, 9)


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
        text = run(*self.ARGUMENTS, "--full").stdout
        for words in ("not a differential-privacy guarantee", "sensitive", "Time is continuous",
                      "does not grow with the number of rows"):
            self.assertIn(words, " ".join(text.split()))

    def test_self_standardisation_is_outside_the_claim(self):
        text = run("rows", DIABETES, "--target", "progression", "--standardise", "self",
                   "--adjacency", "remove", "--loss", "sum", "--noise", "1").stdout
        self.assertIn("outside the claim", " ".join(text.split()))


    def test_brief_by_default(self):
        result = run(*self.ARGUMENTS)
        lines = result.stdout.splitlines()
        self.assertLessEqual(len(lines), 25, result.stdout)
        self.assertLessEqual(max(map(len, lines)), 80, result.stdout)
        for words in ("Row 383 is the most exposed of 442 rows", "median", "--full", "--report FILE.html",
                      "Not a differential-privacy guarantee"):
            self.assertIn(words, " ".join(result.stdout.split()))
        self.assertNotIn("D||D'", result.stdout)

    def test_results_for_programs(self):
        document = json.loads(run(*self.ARGUMENTS, "--json").stdout)
        found = {(r["quantity"], r.get("row"), r.get("quantile")): r["value"] for r in document["results"]}
        row = {b["key"]: b for b in document["blocks"] if b["type"] == "table"}["riskiest_rows"]["rows"][0]
        self.assertEqual(found["advantage", 383, None], row["advantage"]["value"])
        self.assertEqual(found["epsilon", 383, None], row["epsilon_reverse"]["value"])
        self.assertLess(found["advantage", None, 0.5], 0.05)

    def test_page(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "r.html"
            result = run(*self.ARGUMENTS, "--report", str(page))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("row 383", page.read_text(encoding="utf-8"))
            self.assertEqual(run(*self.ARGUMENTS, "--report", str(page)).returncode, 74)
            self.assertEqual(run(*self.ARGUMENTS, "--report", str(page), "--force").returncode, 0)

    def test_rows_have_names(self):
        with tempfile.TemporaryDirectory() as folder:
            path, out = Path(folder) / "t.csv", Path(folder) / "o.csv"
            path.write_text('x,name,y\n1,Ada,2\n3,"B, C",4\n5,,7\n2,Dee,2\n', encoding="utf-8")
            base = ["rows", str(path), "--target", "y", "--adjacency", "remove", "--loss", "sum",
                    "--ridge", "1", "--noise", "1", "--id", "name"]
            result = run(*base, "--out", str(out))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("Dee", result.stdout)
            with open(out, newline="", encoding="utf-8") as stream:
                self.assertEqual([r["id"] for r in csv.DictReader(stream)], ["Ada", "B, C", "", "Dee"])
            document = json.loads(run(*base, "--json").stdout)
            tables = {b["key"]: b for b in document["blocks"] if b["type"] == "table"}
            self.assertIn("Ada", [r["id"] for r in tables["riskiest_rows"]["rows"]])

    def test_a_file_of_keys(self):
        with tempfile.TemporaryDirectory() as folder:
            question = Path(folder) / "q.toml"
            question.write_text(f"table = '{DIABETES}'\ntarget = 'progression'\nstandardise = '{PUBLIC}'\n"
                                "adjacency = 'remove'\nloss = 'sum'\nridge = 2\nnoise = 1\n", encoding="utf-8")
            from_file = json.loads(run("rows", str(question), "--ridge", "1", "--json").stdout)
            self.assertEqual(from_file, json.loads(run(*self.ARGUMENTS, "--json").stdout))
            for text, code, words in (("nois = 1\n", 65, ["q.toml:1", "nois"]),
                                      ("ridge = -1\n" + question.read_text().replace("ridge = 2\n", ""), 65,
                                       ["q.toml:1:9", "-1"]),
                                      ("table = 't.csv'\nnoise = 1\n", 65, ["`target`", "`adjacency`", "`loss`"])):
                question.write_text(text, encoding="utf-8")
                result = run("rows", str(question))
                self.assertEqual(result.returncode, code, result.stderr)
                for word in words:
                    self.assertIn(word, result.stderr)


class Refusals(unittest.TestCase):
    def test_everything_that_is_missing_is_named(self):
        self.refused(64, ["TABLE", "--target", "--adjacency", "--loss", "--noise"], "rows")
        self.refused(64, ["missing: --adjacency", "--loss"], "rows", DIABETES, "--target", "bmi", "--noise", "1")

    def test_names_are_checked_before_values(self):
        # A column of text and a target that is not there: the target is what is wrong.
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            path.write_text("name,hour,y\nAda,1,2\nBo,3,4\n", encoding="utf-8")
            base = ["rows", str(path), "--adjacency", "remove", "--loss", "sum", "--noise", "1"]
            self.refused(65, ["\"hours\"", "`hour`"], *base, "--target", "hours")
            self.refused(65, ["t.csv:2:1", "\"name\"", "text"], *base, "--target", "hour")
            self.refused(65, ["no column \"nam\""], *base, "--target", "hour", "--id", "nam")
            self.refused(65, ["both id and feature"], *base, "--target", "hour", "--id", "name", "--features",
                         "name,y")

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
        self.refused(64, ["--adjacency", "`replacement`"], *BASE, "--adjacency", "replace", "--loss", "sum",
                     "--noise", "1")
        self.refused(64, ["--replacement", "replace"], *full, "--with", OTHER)
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

    def test_chain(self):
        full = BASE + ["--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--noise", "1"]
        self.refused(64, ["--learning-rate", "`steps`"], *full, "--learning-rate", "0.1")
        self.refused(64, ["--steps", "`learning_rate`"], *full, "--steps", "10")
        self.refused(64, ["--time"], *full, "--learning-rate", "0.1", "--steps", "10", "--time", "1")
        self.refused(64, ["--learning-rate", "`release`"], *full, "--learning-rate", "0.1", "--steps", "10", "--release")
        self.refused(64, ["--learning-rate", "0 "], *full, "--learning-rate", "0", "--steps", "10")
        self.refused(64, ["--steps", "1.5"], *full, "--learning-rate", "0.1", "--steps", "1.5")
        self.refused(64, ["--steps", "-1"], *full, "--learning-rate", "0.1", "--steps", "-1")
        # Too long for this table: no stationary law.
        self.refused(65, ["stationary", "[0, 2)"], *full, "--learning-rate", "0.1", "--steps", "inf")

    def test_logistic(self):
        full = LOGISTIC + ["--adjacency", "remove", "--loss", "sum", "--noise", "1"]
        self.refused(65, ["--ridge", "--time", "kappa = 0"], *full)
        self.refused(65, ["--ridge", "--steps"], *full, "--learning-rate", "1e-4", "--steps", "inf")
        self.refused(65, ["contract", "Lower --learning-rate"], *full, "--ridge", "1",
                     "--learning-rate", "0.5", "--steps", "inf")
        self.refused(64, ["--check", "exact"], *BASE, "--adjacency", "remove", "--loss", "sum",
                     "--noise", "1", "--check", "1")
        self.refused(64, ["--check", "minimiser"], *full, "--ridge", "1", "--check", "1", "--release")
        self.refused(64, ["--model"], *full[:5], "svm", *full[6:])
        with tempfile.TemporaryDirectory() as folder:
            noise = os.path.join(folder, "noise.csv")
            Path(noise).write_text("1\n1\n0\n1\n", encoding="utf-8")
            singular = [*full[:-1], noise]
            self.refused(65, ["singular", "every direction"], *singular, "--ridge", "1")
            Path(noise).write_text("1\n1\n2000\n1\n", encoding="utf-8")
            self.refused(65, ["metric", "isotropic"], *singular, "--ridge", "1")

    def test_labels(self):
        logistic = ["--model", "logistic", "--ridge", "1"]
        self.with_table("x,y\n1,0\n3,2\n", ["t.csv:3", "the label", "\"y\""], *logistic)
        self.with_table("x,y\n1,0\n3,0.5\n", ["t.csv:3", "the label"], *logistic)
        self.with_table("x,y\n1,1\n", ["only row"], *logistic)
        self.with_table("x,y\n-1,0\n-2,0\n1,1\n3,1\n", ["ridge"], "--model", "logistic", "--time", "1",
                        "--no-intercept")
        with tempfile.TemporaryDirectory() as folder:
            constants = Path(folder) / "c.csv"
            constants.write_text("x,y\n0,0.5\n1,2\n", encoding="utf-8")
            self.with_table("x,y\n1,0\n3,1\n", ["c.csv", "label"], *logistic, "--standardise",
                            str(constants))
            other = Path(folder) / "o.csv"
            other.write_text("x,y\n0,7\n", encoding="utf-8")
            path = Path(folder) / "t.csv"
            path.write_text("x,y\n1,0\n3,1\n", encoding="utf-8")
            self.refused(65, ["o.csv:2", "the label"], "rows", str(path), "--target", "y", "--adjacency",
                         "replace", "--with", str(other), "--loss", "sum", "--noise", "1", *logistic)
            # The table's own moments leave the label alone.
            result = run("rows", str(path), "--target", "y", "--adjacency", "remove", "--loss", "sum",
                         "--noise", "1", "--standardise", "self", "--check", "0", *logistic)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_tables(self):
        self.refused(65, ["none.csv"], "rows", "none.csv", "--target", "y", "--adjacency", "remove",
                     "--loss", "sum", "--noise", "1")
        self.with_table("x,y\n1,2\n3\n", ["t.csv:3"])
        self.with_table("x,y\n1,2\n3,abc\n", ["t.csv:3", "is text"])
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

    LOGISTIC = "a,y\n1,0\n2,1\n3,0\n-1,1\n0,1\n"

    def logistic(self, *arguments, text=LOGISTIC):
        """The output of a logistic run, as one line."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            path.write_text(text, encoding="utf-8")
            result = run("rows", str(path), "--target", "y", "--adjacency", "remove", "--loss", "sum",
                         "--model", "logistic", "--full", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return " ".join(result.stdout.split())

    def test_paths_that_leave_the_numbers_check_nothing(self):
        text = self.logistic("--noise", "1e300", "--ridge", "1", "--check", "1")
        self.assertIn("not checked by simulation: row", text)
        self.assertIn("leave the range of numbers", text)
        self.assertNotIn("~ inf", text)
        # The squares of these values overflow, their spread does not.
        self.assertIn("~ 1.000", self.logistic("--noise", "1e-300", "--ridge", "1", "--check", "1"))

    def test_a_release_without_ridge_names_the_reason(self):
        text = self.logistic("--noise", "1", "--release")
        self.assertIn("2 rows cannot be left out: without such a row no minimiser can be certified", text)
        self.assertIn("Add a ridge", text)
        weak = self.logistic("--noise", "1", "--ridge", "1e-300", "--time", "1")
        self.assertNotIn("start_distance", weak)

    def test_one_step_is_singular(self):
        text = self.logistic("--noise", "1", "--learning-rate", "0.1", "--steps", "1", "--ridge", "1")
        self.assertIn("paths of 1 step ", text)

    def test_places_of_values(self):
        separable = "a,y\n1,0\n2,0\n3,1\n4,1\n"
        self.with_table(separable, ["t.csv: no minimiser can be certified"], "--model", "logistic")
        self.with_table("a,y\n1,2\n", ["t.csv: the loss has no unique minimiser"])
        full = BASE + ["--adjacency", "remove", "--loss", "sum", "--noise", "1"]
        self.refused(64, ["--features", "empty item"], *full, "--features", "age,,bmi")
        self.refused(64, ["--epsilons", "empty item"], *full, "--epsilons", "1,,2")
        with tempfile.TemporaryDirectory() as folder:
            table, noise = Path(folder) / "t.csv", Path(folder) / "noise.csv"
            table.write_text(self.LOGISTIC, encoding="utf-8")
            noise.write_text("1,1\n1,1\n", encoding="utf-8")
            self.refused(65, ["noise.csv: the noise is singular"], "rows", str(table), "--target", "y",
                         "--adjacency", "remove", "--loss", "sum", "--noise", str(noise), "--model",
                         "logistic", "--ridge", "1")

    def test_a_row_that_determines_a_parameter(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            path.write_text("a,b,y\n1,0,2\n2,0,3\n3,0,5\n0,1,4\n", encoding="utf-8")
            result = run("rows", str(path), "--target", "y", "--adjacency", "remove", "--loss", "sum",
                         "--noise", "1", "--no-intercept")
            self.assertEqual(result.returncode, 0, result.stderr)
            text = " ".join(result.stdout.split())
            self.assertIn("1 row cannot be left out: without such a row some parameter is not determined",
                          text)
            self.assertIn("The 4 riskiest of 4 rows", text)


# Firms as a spreadsheet has them: revenue in dollars beside a score of 1 to 10.
FIRMS = """revenue,score,default
1467143887,4,1
721247325,2,1
545561134,9,1
1975826002,9,0
1320992578,9,0
0,10,0
0,1,0
0,3,1
191817782,5,1
843061132,6,1
1189920927,5,1
931975558,7,0
838424939,4,0
808222915,7,0
176279002,1,1
303211833,10,0
1131047493,6,0
1010034362,2,0
1920499565,9,1
558569075,4,1
1712898279,9,0
588575971,3,0
371656824,9,1
450989957,1,0
"""


class Digits(unittest.TestCase):
    """Numbers of tables that nobody standardised; the expected ones were computed with 60 digits."""

    def of(self, text, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            path.write_text(text, encoding="utf-8")
            return risks(["rows", str(path), "--adjacency", "remove", "--loss", "sum", *arguments])

    def test_dollars_beside_scores(self):
        row = self.of(FIRMS, "--target", "default", "--ridge", "1", "--noise", "1", "--time", "0.05")[5]
        for name, truth in (("advantage", 0.18593), ("kl_forward", 0.10838), ("kl_reverse", 0.14942),
                            ("epsilon_forward", 0.4524), ("epsilon_reverse", 5.6146)):
            self.assertAlmostEqual(float(row[name]) / truth, 1.0, delta=2e-4, msg=name)

    def test_a_ratio_of_variances_above_1e12_is_not_infinite(self):
        table = ("a,b,y\n-103.48668047224878,-154.29226795682655,0.11840338375468491\n"
                 "0.09014843366864311,0.18029688640515967,0.10424473064650246\n"
                 "1.9871350630932871,3.974270143019958,-1.6988238692920974\n"
                 "-1.5625145793140787,-3.1250291541305035,1.5807591914516526\n")
        row = self.of(table, "--target", "y", "--ridge", "7.18e-12", "--noise", "1", "--learning-rate",
                      "1.447e-5", "--steps", "inf", "--no-intercept")[0]
        for name in ("kl_forward", "kl_reverse"):
            self.assertTrue(math.isfinite(float(row[name])), name)
        self.assertGreater(float(row["kl_reverse"]), 1e12)

    def test_more_columns_than_rows(self):
        columns = 400
        generator = np.random.default_rng(7)
        x = generator.standard_normal((5, columns))
        y = generator.standard_normal(5)
        text = ",".join(f"f{i}" for i in range(columns)) + ",y\n" + "".join(
            ",".join(repr(float(v)) for v in [*x[i], y[i]]) + "\n" for i in range(5))
        listed = self.of(text, "--target", "y", "--ridge", "1", "--noise", "1", "--no-intercept")

        def law(x, y):
            a = x.T @ x + np.eye(columns)
            return np.linalg.solve(a, x.T @ y), 0.5 * np.linalg.inv(a)
        for row in range(5):
            keep = np.arange(5) != row
            kl = gaussian_kl(*law(x, y), *law(x[keep], y[keep]))
            self.assertAlmostEqual(float(listed[row]["kl_forward"]) / kl, 1.0, 6)


if __name__ == "__main__":
    unittest.main()
