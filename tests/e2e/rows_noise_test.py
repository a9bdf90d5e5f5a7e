#!/usr/bin/env python3
"""`sfumato rows`: what noise costs, several noises, the noise for a goal, a gate; held against NumPy."""
import csv
import json
import tempfile
import unittest
from pathlib import Path

import numpy as np

from rows_support import BASE, CANCER, CANCER_PUBLIC, table
from support import run

RELEASE = BASE + ["--adjacency", "remove", "--loss", "sum", "--ridge", "100"]
FLOW = BASE + ["--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--training", "flow"]


def ask(*arguments, code=0):
    result = run(*arguments, "--json")
    if result.returncode != code:
        raise AssertionError(f"{result.returncode}: {result.stderr}")
    return json.loads(result.stdout)


def results(document):
    return {(r["quantity"], r.get("row"), r.get("quantile"), r.get("noise")): r for r in document["results"]}


def number(document, quantity, noise=None):
    return results(document)[quantity, None, None, noise]["value"]


class Noise(unittest.TestCase):
    def test_the_cost_is_the_mean_over_draws(self):
        x, y = table()
        for arguments, variance, distribution in (
                (RELEASE, 0.003, lambda h, v: v * np.eye(len(h))),
                (FLOW, 2.0, lambda h, v: v / 2 * np.linalg.inv(h))):
            ridge = 100 if arguments is RELEASE else 1
            hessian = x.T @ x + ridge * np.eye(x.shape[1])
            mean = np.linalg.solve(hessian, x.T @ y)
            draws = np.random.default_rng(5).multivariate_normal(mean, distribution(hessian, variance), 20000)
            r2 = 1 - np.sum((draws @ x.T - y) ** 2, axis=1) / np.sum((y - y.mean()) ** 2)
            document = ask(*arguments, "--noise", str(variance))
            # Five standard errors: a false alarm in 1.7 million, and the seed is fixed.
            self.assertLess(abs(number(document, "r_squared") - r2.mean()), 5 * r2.std() / np.sqrt(len(r2)))
            self.assertEqual(results(document)["r_squared", None, None, None]["claim"], "exact")
            scale = np.loadtxt(BASE[-1], delimiter=",", skiprows=1)[1][-1]
            self.assertAlmostEqual(number(document, "rmse") / (scale * np.sqrt(np.mean((draws @ x.T - y) ** 2))), 1.0, 2)

    def test_several_noises(self):
        document = ask(*FLOW, "--noise", "100,1,10")
        rows = {b["key"]: b for b in document["blocks"] if b["type"] == "table"}["sweep"]["rows"]
        self.assertEqual([r["noise"] for r in rows], ["1", "10", "100", "unlimited"])
        worst = [r["epsilon"]["value"] for r in rows]
        self.assertEqual(worst, sorted(worst, reverse=True))
        self.assertAlmostEqual(number(document, "floor_epsilon"), 0.9645, places=4)
        one = ask(*FLOW, "--noise", "10")
        self.assertEqual(number(document, "r_squared", 10), number(one, "r_squared"))
        self.assertEqual(number(document, "worst_advantage", 10), max(
            r["value"] for r in one["results"] if r["quantity"] == "advantage"))
        text = run(*FLOW, "--noise", "1,100").stdout
        self.assertIn("from noise 100 on, expected R^2 below 0", " ".join(text.split()))
        self.assertEqual(run(*FLOW, "--noise", "1,2", "--out", "o.csv").returncode, 64)

    def test_the_noise_for_a_goal(self):
        document = ask(*RELEASE, "--for", "advantage=0.1")
        noise = number(document, "noise")
        self.assertEqual(document["verdicts"][0]["outcome"], "holds")
        self.assertEqual(run(*RELEASE, "--noise", repr(noise), "--max-advantage", "0.1").returncode, 0)
        self.assertEqual(run(*RELEASE, "--noise", repr(0.999 * noise), "--max-advantage", "0.1").returncode, 1)
        result = run(*FLOW, "--for", "eps=0.9")
        self.assertEqual(result.returncode, 1)
        self.assertIn("eps(1e-5) <= 0.9: not reachable: floor eps 0.9645", " ".join(result.stdout.split()))

    def test_a_gate_lists_the_rows_above(self):
        document = ask(*RELEASE, "--noise", "0.001", "--max-advantage", "0.15", code=1)
        self.assertEqual(document["verdicts"][0]["outcome"], "violated")
        rows = {b["key"]: b for b in document["blocks"] if b["type"] == "table"}["riskiest_rows"]["rows"]
        listed = [r for r in rows if isinstance(r["row"], int)]
        above = [r for r in listed if r["advantage"]["value"] > 0.15]
        text = " ".join(run(*RELEASE, "--noise", "0.001", "--max-advantage", "0.15").stdout.split())
        self.assertIn(f"FAIL: {len(above)} of 442 rows are above an advantage of 0.15", text)
        logistic = ["rows", CANCER, "--target", "malignant", "--model", "logistic", "--standardise", CANCER_PUBLIC,
                    "--features", "radius_mean", "--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--noise", "1"]
        self.assertEqual(run(*logistic, "--max-advantage", "0").returncode, 2)

    def test_tiny_numbers_are_the_same_everywhere(self):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "o.csv"
            text = run(*RELEASE, "--noise", "1e6", "--out", str(out)).stdout
            self.assertIn("<= 1.000e-300", text)
            with open(out, newline="", encoding="utf-8") as stream:
                first = next(csv.DictReader(stream))
        self.assertEqual((first["delta_forward_at_1"], first["claim"]), ("1e-300", "exact"))
        self.assertIn("delta_forward_at_1", first["upper_bounds"].split())
        found = [r for r in ask(*RELEASE, "--noise", "1e6")["results"] if r["quantity"] == "delta_at_1"]
        self.assertEqual({(r["value"], r["claim"]) for r in found}, {(1e-300, "upper_bound")})


if __name__ == "__main__":
    unittest.main()
