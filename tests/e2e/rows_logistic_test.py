"""`sfumato rows --model logistic`: bounds against their formulas, and simulated beside them."""
import csv
import json
import math
import os
import tempfile
import unittest
from pathlib import Path

import numpy as np

from rows_support import CANCER_PUBLIC, LOGISTIC, table, labelled_table, logistic_minimiser, risks
from support import run


class Logistic(unittest.TestCase):
    SUM = LOGISTIC + ["--adjacency", "remove", "--loss", "sum", "--ridge", "5", "--noise", "20"]

    def test_mu_of_flow_and_chain(self):
        x, _ = labelled_table()
        sensitivity = np.linalg.norm(x, axis=1) / math.sqrt(20)
        eta = 1e-3
        c = 1 - eta * 5
        def steps(k):
            return eta * (1 + c) / (1 - c) * (1 - c**k) / (1 + c**k)
        for arguments, factor in ((["--training", "flow"], 2 / 5), (["--time", "0.3"], 2 / 5 * math.tanh(5 * 0.3 / 2)),
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
            return run(*self.SUM, "--training", "flow", "--check", "1", "--json", "--threads", threads).stdout
        self.assertEqual(output("1"), output("3"))

    def test_check_is_an_estimate_below_the_bound(self):
        for arguments in (["--training", "flow"], ["--time", "0.05"], ["--learning-rate", "0.002", "--steps", "40"]):
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
        document = json.loads(run(*self.SUM, "--training", "flow", "--json", "--check", "0").stdout)
        self.assertNotIn("checks", [b.get("key") for b in document["blocks"]])

    def test_text_says_what_the_bounds_are(self):
        text = " ".join(run(*self.SUM, "--training", "flow", "--check", "1", "--full").stdout.split())
        for words in ("upper bounds", "not a differential-privacy guarantee", "sensitive", "unclipped",
                      "Time is continuous", "<=", "estimates the same bound"):
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
        self.assertIn("Set `learning_rate` below", text)

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
                                       "--ridge", "0.1", "--noise", "0.01", "--check", "0", "--training", "flow"])
            for row in range(0, len(x), 50):
                gap = (np.linalg.norm(x[row]) + np.linalg.norm(put + [1.0])) / len(x)
                mu = gap / 0.1 * math.sqrt(2 / 0.1)
                self.assertAlmostEqual(float(listed[row]["mu"]) / mu, 1.0, 9)


if __name__ == "__main__":
    unittest.main()
