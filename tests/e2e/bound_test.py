"""`sfumato bound`: the numbers of docs/spec.md and docs/errata.md, claims on the right side, and what it
says to bad input."""
import itertools
import json
import math
import os
import random
import signal
import subprocess
import time
import unittest

from support import ROOT, SFUMATO, Document, ProgramTest, catches_interrupts, processor_seconds, run, without_progress

EXAMPLES = ROOT / "examples/bound"
FAST = "[estimate]\nmonte_carlo = false\nfokker_planck = false\n"


class BoundTest(ProgramTest):
    def document(self, path, *args):
        result = run("bound", path, "--json", *args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return Document(result.stdout)

    def of(self, text, *args):
        return self.document(self.write("problem.toml", text), *args)

    def number(self, document, method, column="kl_forward", table="bounds_1"):
        cell = document.cell(table, column, method=method)
        value = cell["value"] if isinstance(cell, dict) else cell
        return float(value)

    def refused(self, text, *parts, code=65):
        path = self.write("problem.toml", text)
        result = run("bound", path)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        lines = result.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        for part in parts:
            self.assertIn(part, lines[0])


class ReferenceValues(BoundTest):
    def test_double_well(self):
        """Spec §12.3: KL(1), KL(10) and the path bounds."""
        document = self.document(EXAMPLES / "double_well.toml")
        for table, kl, path in (("bounds_1", 0.0308086, 0.0450775), ("bounds_2", 0.1577417, 0.4159188)):
            self.assertAlmostEqual(self.number(document, "Fokker-Planck", table=table), kl, delta=2e-6)
            self.assertAlmostEqual(self.number(document, "path KL, on the grid", table=table), path,
                                   delta=3e-5)
            # 5 standard errors of 20000 paths
            self.assertAlmostEqual(self.number(document, "path KL, simulated", table=table) / path, 1,
                                   delta=0.02)

    def test_unequal_noise(self):
        """Errata 1: the printed bound is 0, the corrected one holds."""
        document = self.document(EXAMPLES / "unequal_noise.toml")
        for k, (kl, bound) in enumerate(
                ((0.00856897, 0.0115264), (0.0365141, 0.0534931), (0.0472674, 0.614583)), 1):
            table = f"bounds_{k}"
            self.assertAlmostEqual(self.number(document, "exact (Gaussian)", table=table), kl,
                                   delta=1e-7)
            self.assertAlmostEqual(self.number(document, "Fokker-Planck", table=table), kl, delta=1e-6)
            self.assertAlmostEqual(
                self.number(document, "Theorem 2.2, corrected", table=table), bound,
                delta=1e-6 * (1 + bound))

    def test_the_formulas_of_the_paper_on_demand(self):
        """Errata 1: the printed bound is 0. A table of its own, never among the bounds."""
        problem = EXAMPLES / "unequal_noise.toml"
        plain = self.document(problem, "--no-monte-carlo")
        document = self.document(problem, "--no-monte-carlo", "--as-printed")
        self.assertNotIn("as printed", json.dumps(plain.content))
        rows = [row for row in document.block("as_printed")["rows"]
                if row["formula"] == "Theorem 2.2 as printed"]
        self.assertEqual(len(rows), 3)
        for row in rows:
            self.assertLess(row["kl_forward"], 1e-15)
            self.assertIn("INVALID", row["note"])

    def test_multiplicative(self):
        """Errata 1, noise that depends on the state."""
        document = self.document(EXAMPLES / "multiplicative.toml")
        for table, kl, bound in (("bounds_1", 0.0177176, 0.0327330), ("bounds_2", 0.0196382, 0.160898)):
            self.assertAlmostEqual(self.number(document, "Fokker-Planck", table=table), kl, delta=1e-6)
            self.assertAlmostEqual(
                self.number(document, "Theorem 2.2, corrected, on the grid", table=table), bound,
                delta=2e-5)

    def test_the_sharp_case(self):
        """Spec §6.3: equality for equal curvature and a common point start."""
        document = self.document(EXAMPLES / "shift.toml")
        for k, time in enumerate((0.1, 1, 10), 1):
            exact = math.tanh(time / 2)
            for method in ("exact (Gaussian)", "contractive", "uniform sensitivity",
                           "convexity constants"):
                self.assertAlmostEqual(self.number(document, method, table=f"bounds_{k}") / exact, 1,
                                       delta=1e-9)
        proven = document.value("delta", "delta_forward", time=1, epsilon=1, evidence="proven bounds")
        truth = document.value("delta", "delta_forward", time=1, epsilon=1, evidence="exact")
        self.assertGreaterEqual(proven, truth * (1 - 1e-12))
        self.assertLess(proven, truth * (1 + 1e-6))

    def test_the_estimate_of_spec_12_1(self):
        document = self.of("[flow]\ntimes = [1]\n[estimate]\nstep = 0.05\npaths = 40000\n"
                           "[d]\nA = 1\nminimiser = [0]\nSigma = 1\nstart_mean = [0.5]\n"
                           "[d_prime]\nA = 1.5\nminimiser = [0.3]\n")
        self.assertAlmostEqual(self.number(document, "path KL"), 0.0791260509, delta=1e-9)
        self.assertAlmostEqual(self.number(document, "path KL, simulated"), 0.0791439, delta=0.002)

    def test_two_dimensions(self):
        document = self.of(
            "[flow]\ntimes = [1]\n[estimate]\nmonte_carlo = false\ncells = 112\n"
            'domain = [[-3, 3], [-3, 3]]\n[d]\npotential = "x^4/4 - x^2/2 + (y - x/2)^2"\n'
            "Sigma = 0.5\nstart_mean = [0.3, 0]\nstart_covariance = 0.2\n"
            '[d_prime]\npotential = "x^4/4 - x^2/2 + (y - x/2)^2 - 0.2 x - 0.1 y"\n')
        self.assertAlmostEqual(self.number(document, "Fokker-Planck"), 0.0333938, delta=3e-5)


class Claims(BoundTest):
    def test_no_bound_is_below_the_exact_value(self):
        """Random linear pairs of one to three coordinates."""
        rng = random.Random(11)
        for case in range(25):
            d = rng.randint(1, 3)
            def numbers(low, high):
                return [round(rng.uniform(low, high), 3) for _ in range(d)]
            same = rng.random() < 0.5
            text = (f"[flow]\ntimes = [{rng.uniform(0.05, 5):.3f}]\n{FAST}[d]\nA = {numbers(0.2, 3)}\n"
                    f"minimiser = {numbers(-1, 1)}\nSigma = {numbers(0.2, 2)}\n"
                    f"start_covariance = {numbers(0.1, 1)}\n[d_prime]\nA = {numbers(0.2, 3)}\n"
                    f"minimiser = {numbers(-1, 1)}\n" + ("" if same else f"Sigma = {numbers(0.2, 2)}\n"))
            document = self.of(text)
            rows = document.block("bounds_1")["rows"]
            for column in ("kl_forward", "kl_reverse"):
                exact = next(r[column]["value"] for r in rows if r["method"].startswith("exact"))
                bounds = [r for r in rows if isinstance(r[column], dict)
                          and r[column].get("claim") == "upper_bound"]
                self.assertTrue(bounds)
                for row in bounds:
                    self.assertGreaterEqual(float(row[column]["value"]), exact * (1 - 1e-9),
                                            (case, row["method"], text))
            for evidence in ("exact", "proven bounds"):
                self.assertEqual(
                    len([r for r in document.block("risk")["rows"] if r["evidence"] == evidence]), 1)

    def test_logistic_bounds_hold_on_a_grid(self):
        rng = random.Random(3)
        rows = "\n".join(f"{rng.gauss(0, 1):.3f},{rng.gauss(0, 1):.3f},{rng.randint(0, 1)}"
                         for _ in range(12))
        self.write("t.csv", "a,b,y\n" + rows + "\n")
        document = self.of(
            '[flow]\ntimes = [0.5, 2]\n[estimate]\nmonte_carlo = false\ncells = 96\n[d]\n'
            'model = "logistic"\ndata = "t.csv"\ntarget = "y"\nintercept = false\nloss = "sum"\n'
            "ridge = 1\nSigma = 1\nstart_covariance = 0.3\n[d_prime]\nwithout_row = 2\n")
        for table, column in itertools.product(("bounds_1", "bounds_2"), ("kl_forward", "kl_reverse")):
            grid = self.number(document, "Fokker-Planck", column, table)
            self.assertGreater(grid, 1e-4)
            for method in ("uniform sensitivity", "convexity constants"):
                self.assertGreater(self.number(document, method, column, table), grid)

    def test_stated_constants_are_named_as_such(self):
        document = self.of(
            f"[flow]\ntimes = [1]\n{FAST}[assume]\nsensitivity = 0.15\n[d]\n"
            'drift = "-x + 0.1 sin(x)"\nSigma = 1\n[d_prime]\ndrift = "-x + 0.3 sin(x)"\n')
        mu2 = 0.15**2 * 2 * math.tanh(0.45) / 0.9
        self.assertAlmostEqual(self.number(document, "uniform sensitivity"), mu2 / 2, delta=1e-9)
        cell = document.cell("bounds_1", "kl_forward", method="uniform sensitivity")
        self.assertIn("as the file states", json.dumps(cell))
        self.assertTrue(any("not checked" in s for s in document.statements("assumption")))

    def test_constants_of_formulas_are_derived(self):
        """0.2 sin(x) is at most 0.2, and the drifts contract at 0.9 and 0.7: nothing has to be stated."""
        text = (f"[flow]\ntimes = [1]\n{FAST}[d]\n" 'drift = "-x + 0.1 sin(x)"\nSigma = 1\n[d_prime]\n'
                'drift = "-x + 0.3 sin(x)"\n')
        document = self.of(text)
        mu2 = 0.2**2 * 2 * math.tanh(0.45) / 0.9
        self.assertAlmostEqual(self.number(document, "uniform sensitivity"), mu2 / 2, delta=1e-8)
        self.assertTrue(any("[-0.2, 0.2]" in s for s in document.statements("info")))
        for stated in ("sensitivity = 0.5", "contraction = 0.9"):  # says no more than what is proven
            again = self.of(text.replace("[d]", f"[assume]\n{stated}\n[d]", 1))
            self.assertEqual(self.number(again, "uniform sensitivity"), self.number(document, "uniform sensitivity"))
            self.assertEqual(again.statements("assumption")[0][:12], "the attacker")
        self.refused(text.replace("[d]", "[assume]\ncontraction = 1\n[d]", 1), "contraction", "the rate is 0.9")

    FIVE = ("[flow]\ntimes = [1, 5]\n[d]\n"
            'drift = ["-x1 + 0.3*sin(x2)", "-2*x2 + 0.1*cos(x3)", "-x3", "-x4 + 0.2*tanh(x1)", "-x5"]\nSigma = 0.5\n'
            "start_covariance = 0.2\n[d_prime]\n"
            'drift = ["-x1 + 0.3*sin(x2) + 0.05", "-2*x2 + 0.1*cos(x3)", "-x3", "-x4 + 0.2*tanh(x1)", "-x5"]\n'
            "Sigma = 0.55\n")

    def test_five_dimensions_with_different_noise(self):
        """Gaussian fits to simulated points have 0.0107 and 0.0155, the other way 0.0114 and 0.0166."""
        document = self.of(self.FIVE)
        for table, forward, reverse in (("bounds_1", (0.0107, 0.0198), (0.0114, 0.0217)),
                                        ("bounds_2", (0.0155, 0.0508), (0.0166, 0.0559))):
            for column, (truth, largest) in (("kl_forward", forward), ("kl_reverse", reverse)):
                proven = self.number(document, "matched process, constants", column, table)
                simulated = self.number(document, "matched process, simulated", column, table)
                self.assertTrue(truth < proven < largest, (column, proven))
                self.assertTrue(truth < simulated < 1.02 * proven, (column, simulated))

    def test_stationary_double_wells(self):
        document = self.of(f"[flow]\ntimes = [inf]\n{FAST}[d]\n" 'drift = ["x1 - x1^3", "-x2"]\nSigma = 0.5\n'
                           '[d_prime]\ndrift = ["x1 - x1^3 + 0.2", "-x2"]\nSigma = 0.6\n')
        cell = document.cell("bounds_1", "kl_forward", method="stationary densities, exact")
        self.assertEqual(cell["claim"], "exact")
        self.assertTrue(0.1 < float(cell["value"]) < 1.0)

    def test_the_result_depends_on_the_seed_alone(self):
        first = run("bound", EXAMPLES / "double_well.toml", "--times", "1", "--json").stdout
        again = run("bound", EXAMPLES / "double_well.toml", "--times", "1", "--json").stdout
        other = run("bound", EXAMPLES / "double_well.toml", "--times", "1", "--json", "--seed",
                    "2").stdout
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)


class Hostile(BoundTest):
    """What once went wrong."""
    LINEAR = f"[flow]\ntimes = [1]\n{FAST}[d]\nA = 1\nminimiser = [0]\nSigma = 1\n[d_prime]\n"

    def test_very_long_times_are_the_long_run(self):
        for time in ("1e25", "1e308"):
            document = self.of(self.LINEAR + "minimiser = [1]\n", "--times", time)
            for method in ("contractive", "convexity constants", "uniform sensitivity"):
                self.assertAlmostEqual(self.number(document, method), 1, delta=1e-6)
                self.assertGreaterEqual(self.number(document, method), 1 - 1e-12)

    def test_an_assumption_that_is_known_to_be_false(self):
        stated = self.LINEAR.replace("[d]", "[assume]\nsensitivity = 0.1\n[d]") + "minimiser = [1]\n"
        self.refused(stated, "sensitivity", "differ by 1")
        refuted = self.write("refuted.toml", "[flow]\ntimes = [1]\n[estimate]\nmonte_carlo = false\n[assume]\n"
                             'sensitivity = 0.01\n[d]\ndrift = "x - x^3"\nSigma = 1\n'
                             'start_covariance = 0.5\n[d_prime]\ndrift = "x - x^3 + 2 tanh(x)"\n')
        result = run("bound", refuted, "--json")
        self.assertEqual((result.returncode, without_progress(result.stderr)), (1, ""))
        document = Document(result.stdout)
        self.assertEqual(sum("assumption of the file is false" in s for s in document.statements("verdict")), 1)
        self.assertEqual([v["outcome"] for v in document.content["verdicts"]], ["violated"])
        self.assertIn("assumptions",
                      document.cell("bounds_1", "note", method="uniform sensitivity"))

    def test_noise_that_both_share_may_depend_on_the_state(self):
        document = self.of("[flow]\ntimes = [1]\n[estimate]\npaths = 500\n[d]\ndrift = \"-x\"\n"
                           'Sigma_formula = "1 + t"\n[d_prime]\ndrift = "-x + 0.3"\n')
        self.assertAlmostEqual(self.number(document, "path KL, simulated"), 0.045 * math.log(2),
                               delta=1e-5)
        self.assertFalse(any("different noise" in s for s in document.statements("warning")))

    def test_distributions_narrower_than_the_cells(self):
        document = self.of("[flow]\ntimes = [3]\n[estimate]\nmonte_carlo = false\n[d]\n"
                           'drift = "-x"\nSigma = 1e-6\nstart_covariance = 0.5\n'
                           '[d_prime]\ndrift = "-2 x"\n')
        cell = document.cell("bounds_1", "kl_forward", method="Fokker-Planck")
        self.assertIn("too coarse", json.dumps(cell))

    def test_keys_that_would_be_ignored(self):
        drift = '[flow]\ntimes = [1]\n[d]\ndrift = "-x"\nSigma = 1\n'
        self.refused(drift + "[d_prime]\nwithout_row = 1\n", "without_row", "drift")
        self.refused(drift + 'data = "t.csv"\n[d_prime]\ndrift = "-2 x"\n', "d.data")
        self.refused(drift + '[d_prime]\ndrift = "-2 x"\n[estimate]\nstep = 1e-9\n', "step")


class Refusals(BoundTest):
    SIDE = '[flow]\ntimes = [1]\n[d]\ndrift = "-x"\nSigma = 1\n'

    def test_point_start_and_different_noise(self):
        document = self.of(f"[flow]\ntimes = [1]\n{FAST}[d]\nA = 1\nminimiser = [0]\nSigma = 1\n"
                           "[d_prime]\nSigma = 1.5\n")
        cell = document.cell("bounds_1", "kl_forward", method="Theorem 2.2, corrected")
        self.assertIn("point", json.dumps(cell))
        self.assertGreater(self.number(document, "matched process"),
                           self.number(document, "exact (Gaussian)"))
        self.assertFalse(any("start_covariance" in s for s in document.statements("warning")))

    def test_a_drift_that_does_not_contract(self):
        document = self.of("[flow]\ntimes = [1]\n[estimate]\nfokker_planck = false\npaths = 100\n[d]\n"
                           'drift = "x - x^3"\nSigma = 1\n[d_prime]\ndrift = "x - x^3 + 0.1"\n')
        cell = document.cell("bounds_1", "kl_forward", method="contractive, simulated")
        self.assertIn("no positive contraction rate", json.dumps(cell))

    def test_singular_noise(self):
        document = self.of(f"[flow]\ntimes = [1]\n{FAST}[d]\nA = [1, 1]\nminimiser = [0, 0]\n"
                           "Sigma = [1, 0]\nstart_covariance = 1\n[d_prime]\nminimiser = [1, 0]\n")
        cell = document.cell("bounds_1", "kl_forward", method="uniform sensitivity")
        self.assertIn("every direction", json.dumps(cell))

    def test_a_grid_that_is_too_small(self):
        self.refused(self.SIDE + "start_covariance = 1\n[d_prime]\ndrift = \"-x + 0.1\"\n"
                     "[estimate]\ndomain = [[-2.5, 2.5]]\n", "mass")

    def test_paths_that_run_away(self):
        document = self.of("[flow]\ntimes = [9]\n[estimate]\nfokker_planck = false\nstep = 0.5\n"
                           'paths = 200\n[d]\ndrift = "-100 x^3"\nSigma = 1\nstart_mean = [5]\n'
                           '[d_prime]\ndrift = "-100 x^3 + 1"\n')
        row = next(r for r in document.block("bounds_1")["rows"] if r["method"] == "path KL, simulated")
        self.assertIn("diverged", row["note"])
        self.assertEqual(row["kl_forward"]["value"], "inf")

    def test_four_coordinates_and_different_noise(self):
        document = self.of('[flow]\ntimes = [0.5]\n[d]\ndrift = ["-x1", "-x2", "-x3", "-x4"]\nSigma = 1\n'
                           "start_covariance = 1\n[d_prime]\nSigma = 1.1\n"
                           'drift = ["-x1 + 0.1", "-x2", "-x3", "-x4"]\n')
        # Four independent linear coordinates: the sum of their exact values.
        variances = [(1 - math.exp(-1)) / 2 * s + math.exp(-1) for s in (1, 1.1)]
        mean = 0.1 * (1 - math.exp(-0.5))
        ratio = variances[0] / variances[1]
        kl = 2 * (ratio - 1 - math.log(ratio)) + mean**2 / (2 * variances[1])
        self.assertAlmostEqual(self.number(document, "matched process, constants"), kl, delta=1e-9)

    def test_nothing_can_be_said(self):
        path = self.write("nothing.toml", '[flow]\ntimes = [0.5]\n[d]\ndrift = ["-x1 + x2^2", "-x2", "-x3", "-x4"]\n'
                          "Sigma = 1\nstart_covariance = 1\n[d_prime]\nSigma = 1.1\n"
                          'drift = ["-x1 + x2^2 + 0.1", "-x2", "-x3", "-x4"]\n')
        result = run("bound", path, "--json")
        self.assertEqual(result.returncode, 2, result.stderr)
        document = Document(result.stdout)
        self.assertFalse(document.has("bounds_1"))
        self.assertIn("no method reaches", json.dumps(document.statements("warning")))

    def test_files(self):
        good = self.SIDE + '[d_prime]\ndrift = "-x + 0.1"\n'
        self.refused(good.replace("drift = \"-x\"", "drift = \"-x +\""), "problem.toml:4", "column")
        self.refused(good.replace("-x + 0.1", "-z"), "z")
        self.refused(good.replace("Sigma", "Sgma"), "Sgma", "Sigma")
        self.refused(good.replace("Sigma = 1", "Sigma = -1"), "problem.toml:5")
        self.refused(good.replace("times = [1]", "times = [-1]"), "problem.toml:2")
        self.refused(good.replace("[d_prime]", "[estimate]\npaths = 0\n[d_prime]"), "paths")
        self.refused(good.replace('drift = "-x + 0.1"', 'drift = ["-x", "-y"]'), "coordinates")
        self.refused(self.SIDE, "d_prime")
        self.refused('[flow]\ntimes = [1]\n[d]\nmodel = "logistc"\nSigma = 1\n[d_prime]\n', "logistic")
        self.refused('[flow]\ntimes = [1]\n[d]\nmodel = "logistic"\ndata = "none.csv"\ntarget = "y"\n'
                     'loss = "sum"\nSigma = 1\n[d_prime]\nwithout_row = 1\n', "none.csv")

    def test_every_error_names_the_place_of_the_value(self):
        good = self.SIDE + 'start_covariance = 1\n[d_prime]\ndrift = "-x + 0.1"\n'
        self.refused(good + "[estimate]\ndomain = [[3, -3]]\n", "problem.toml:10:", "interval")
        self.refused(good + "[estimate]\ndomain = [[-1, 1]]\n", "problem.toml:10:", "mass 0.68")
        self.refused(good + "[estimate]\ndomain = [[-1e6, 1e6]]\n", "problem.toml:10:", "wider start")
        self.refused(good.replace("Sigma = 1", 'Sigma_formula = "x"'), "problem.toml: the noise")
        mixture = ("[flow]\ntimes = [1]\n[d]\nSigma = 1\n[d.mixture]\nweights = [1, 1]\nmeans = [0, 1]\n"
                   "covariances = 1\nridge = 0\n[d_prime]\nSigma = 2\n")
        self.refused(mixture.replace("[1, 1]", "[1, -1]"), "problem.toml:6:", "-1 is not a finite weight")
        self.refused(mixture.replace("covariances = 1", "covariances = 0"), "problem.toml:8:", "variance")
        self.refused(mixture.replace("ridge = 0", "ridge = -1"), "problem.toml:9:", "ridge")

    def test_frozen_minibatch_noise(self):
        """Two constant noises, of SGD at the minimisers of D and D': ridge is exact, logistic regression bounded."""
        self.write("t.csv", "a,y\n1,0\n2,1\n3,0\n-1,1\n0,1\n")
        problem = ('[flow]\ntimes = [1, inf]\n[d]\nmodel = "ridge"\ndata = "t.csv"\ntarget = "y"\n'
                   'intercept = false\nloss = "sum"\nridge = 1\n'
                   'minibatch = { batch = 2, learning_rate = 0.1, frozen = true, replacement = true }\n'
                   f'[d_prime]\nwithout_row = 1\n{FAST}')
        document = self.of(problem)
        self.assertIn("stays so", json.dumps(document.content))

        def normal(rows):
            """Mean and variance of the stationary distribution in one dimension: Sigma / (2 A)."""
            curvature = 1 + sum(x * x for x, _ in rows)
            minimiser = sum(x * y for x, y in rows) / curvature
            gradients = [x * (x * minimiser - y) for x, y in rows]
            mean = sum(gradients) / len(rows)
            population = sum((g - mean) ** 2 for g in gradients) / len(rows)
            return minimiser, 0.1 * len(rows) ** 2 / 2 * population / (2 * curvature)

        rows = [(1, 0), (2, 1), (3, 0), (-1, 1), (0, 1)]
        (m, v), (n, w) = normal(rows), normal(rows[1:])
        kl = 0.5 * (v / w - 1 - math.log(v / w) + (m - n) ** 2 / w)
        self.assertAlmostEqual(self.number(document, "exact (Gaussian)", table="bounds_2"), kl, delta=1e-9 * kl)
        logistic = self.of(problem.replace('"ridge"', '"logistic"', 1))
        for table in ("bounds_1", "bounds_2"):
            self.assertGreater(self.number(logistic, "matched process, constants", table=table), 0)

    def test_paths_that_explode_are_a_reason(self):
        document = self.of('[flow]\ntimes = [10]\n[d]\ndrift = "-x^3"\nSigma = 0.5\nstart_mean = [10]\n'
                           'start_covariance = 0.1\n[d_prime]\ndrift = "-x^3+0.1"\nSigma = 0.6\n'
                           '[estimate]\nfokker_planck = false\n')
        self.assertRegex(json.dumps(document.content), "left the numbers|too long")

    def test_problems_on_tables_name_the_place_of_the_value(self):
        self.write("t.csv", "a,y\n1,0\n2,1\n3,0\n-1,1\n0,1\n")
        self.write("separable.csv", "a,y\n1,0\n2,0\n3,1\n4,1\n")
        self.write("classes.csv", "a,y\n1,0\n2,2\n3,1\n4,1\n")
        good = ('[flow]\ntimes = [1]\n[d]\nmodel = "logistic"\ndata = "t.csv"\ntarget = "y"\n'
                f'loss = "sum"\nridge = 1\nSigma = 1\n[d_prime]\nwithout_row = 1\n{FAST}')
        batches = good.replace("Sigma = 1", "minibatch = { batch = 2, learning_rate = 1, floor = 1 }")
        self.refused(batches.replace("learning_rate = 1", "learning_rate = -1"), "problem.toml:9:", "rate")
        self.refused(batches.replace("floor = 1", "floor = -1"), "problem.toml:9:", "floor")
        self.refused(good.replace("t.csv", "separable.csv").replace("ridge = 1", "ridge = 0"),
                     "problem.toml:8:", "no minimiser can be certified")
        self.refused(good.replace("ridge = 1", "ridge = -1"), "problem.toml:8:", "d.ridge")
        self.refused(good.replace("t.csv", "classes.csv"), "classes.csv:3:", "the label in column")
        self.refused(good.replace("t.csv", "t.csv\\u0000"), "problem.toml:5:", "byte 0")
        # A label is not rescaled with the other columns.
        document = self.of(good.replace("[d_prime]", 'standardise = "self"\n[d_prime]'))
        self.assertGreater(self.number(document, "uniform sensitivity"), 0)

    def test_tables_are_read_as_rows_reads_them(self):
        numbers = "a,b,y\n1,0,0\n2,1,1\n3,0,0\n-1,1,1\n0,1,1\n"
        self.write("numbers.csv", numbers)
        self.write("texts.csv", "a,b,y\n1,no,<=50K\n2,yes,>50K\n,no,<=50K\n3,no,<=50K\n-1,yes,>50K\n0,yes,>50K\n")
        good = ('[flow]\ntimes = [1]\n[d]\nmodel = "logistic"\ndata = "numbers.csv"\ntarget = "y"\n'
                f'loss = "sum"\nridge = 1\nSigma = 1\n[d_prime]\nwithout_row = 1\n{FAST}')
        texts = good.replace("numbers.csv", "texts.csv").replace("loss =", 'positive = ">50K"\nimpute = "drop"\nloss =')
        self.assertEqual(self.number(self.of(texts), "uniform sensitivity"), self.number(self.of(good), "uniform sensitivity"))
        self.refused(texts.replace('"drop"', '"dorp"'), "problem.toml:8:", "drop")
        self.refused(texts.replace('impute = "drop"\n', ""), "texts.csv:4:")
        self.refused(texts.replace('"logistic"', '"ridge"'), "problem.toml:7:", "predicts a number")

    def test_names_of_variables(self):
        text = ('[flow]\ntimes = [1]\n[d]\ndrift = ["-x", "-y"]\nvariables = ["x", "y"]\nSigma = 1\n'
                f"[d_prime]\n{FAST}")
        for names, words in (('["x", "x"]', "two variables"), ('["x", "sin"]', "function"),
                             ('["x", "1y"]', "cannot name"), ('["x", "t"]', "time"),
                             ('["x"]', "names 1 coordinate, `d.drift` has 2 formulas")):
            self.refused(text.replace('["x", "y"]', names), "problem.toml:5:", words)
        self.refused(self.SIDE.replace('"-x"', '"x\\u0000"') + '[d_prime]\ndrift = "-x"\n',
                     "problem.toml:4:", "byte 0")

    def test_distributions_that_do_not_differ(self):
        document = self.of('[flow]\ntimes = [1]\n[estimate]\nmonte_carlo = false\n[d]\n'
                           'drift = "x - x^3"\nSigma = 1\nstart_covariance = 0.5\n[d_prime]\n'
                           'drift = "x - x^3 + 0 x"\n')
        self.assertEqual(self.number(document, "Fokker-Planck"), 0)
        self.assertIn("no difference above 1e-15",
                      document.cell("bounds_1", "note", method="Fokker-Planck"))

    def test_times_that_are_too_long_to_simulate(self):
        text = self.SIDE + '[d_prime]\ndrift = "-x + 0.1"\n[estimate]\nfokker_planck = false\n'
        document = self.of(text, "--times", "1e9")
        self.assertIn("too long", json.dumps(document.cell("bounds_1", "kl_forward", method="path KL, simulated")))

    def test_stops_within_a_path(self):
        path = self.write("problem.toml", self.SIDE + '[d_prime]\ndrift = "-x + 0.1"\n[estimate]\n'
                          "fokker_planck = false\npaths = 1000\nstep = 1e-6\n")
        before = os.times()
        process = subprocess.Popen([SFUMATO, "bound", path, "--times", "10"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.assertTrue(catches_interrupts(process))
        time.sleep(0.5)
        used = processor_seconds(process)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130, output + errors)
        after = os.times()
        whole = after.children_user + after.children_system - before.children_user - before.children_system
        self.assertLess(whole - used, 1.0)  # a path takes several

    def test_command_line(self):
        for option in ("--times", "--epsilons", "--delta"):
            for value in ("1,,2", ",1", "1,"):
                self.assert_refused(64, [option, "empty item"], "bound", EXAMPLES / "shift.toml", option,
                                    value)
        for arguments in (["--times", "-1"], ["--times", "nan"], ["--paths", "1"], ["--epsilons", "-1"],
                          ["--seed", "x"]):
            result = run("bound", EXAMPLES / "shift.toml", *arguments)
            self.assertEqual(result.returncode, 64, (arguments, result.stderr))


if __name__ == "__main__":
    unittest.main()
