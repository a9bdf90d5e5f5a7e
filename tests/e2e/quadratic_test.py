"""`sfumato quadratic` against formulas written down here, for cases that have simple ones."""
import math
import statistics
import unittest

from support import ROOT, ProgramTest, run

EXAMPLES = ROOT / "examples/quadratic"
PHI = statistics.NormalDist()


# The formulas of docs/spec.md, sections 2, 3.1 and 5, for diagonal problems.

def normal_cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def gdp_delta(mu, eps):
    return normal_cdf(mu / 2 - eps / mu) - math.exp(eps) * normal_cdf(-mu / 2 - eps / mu)


def gdp_epsilon(mu, delta):
    low, high = 0.0, 1000.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if gdp_delta(mu, middle) > delta else (low, middle)
    return high


def flow(rate, target, noise, mean, variance, time):
    """Mean and variance of dX = -rate (X - target) dt + sqrt(noise) dW, rate > 0."""
    decay = math.exp(-rate * time)
    return (target + decay * (mean - target),
            decay**2 * variance + noise * (1 - decay**2) / (2 * rate))


def kl_diagonal(p, q):
    return sum((v / w - 1 - math.log(v / w) + (m - n)**2 / w) / 2 for (m, v), (n, w) in zip(p, q))


def delta_1d(p, q, eps):
    """sup P(A) - e^eps Q(A) of two normal distributions of different variance: A lies between or beyond the
    two points where log(p/q) = eps."""
    (m, v), (n, w) = p, q
    # log(p/q) = a x^2 + b x + c
    a = (1 / w - 1 / v) / 2
    b = m / v - n / w
    c = (n * n / w - m * m / v + math.log(w / v)) / 2
    root = b * b - 4 * a * (c - eps)
    if root <= 0:
        return 0.0 if a < 0 else 1 - math.exp(eps)
    first, second = sorted((-b + s * math.sqrt(root)) / (2 * a) for s in (-1, 1))

    def between(mean, variance):
        return (normal_cdf((second - mean) / math.sqrt(variance))
                - normal_cdf((first - mean) / math.sqrt(variance)))

    inside = between(m, v) - math.exp(eps) * between(n, w)
    return inside if a < 0 else 1 - math.exp(eps) - inside


def kl_2d(v, w, shift):
    """KL(N(0, v) || N(shift, w)) for 2 x 2 covariances."""
    det_v, det_w = (m[0][0] * m[1][1] - m[0][1] * m[1][0] for m in (v, w))
    inverse = [[w[1][1] / det_w, -w[0][1] / det_w], [-w[1][0] / det_w, w[0][0] / det_w]]
    trace = sum(inverse[i][j] * v[j][i] for i in (0, 1) for j in (0, 1))
    square = sum(shift[i] * inverse[i][j] * shift[j] for i in (0, 1) for j in (0, 1))
    return (math.log(det_w / det_v) - 2 + trace + square) / 2


def least_squares(rows):
    """A, its inverse and the minimiser of 1/2 sum (b x - y)^2 over rows (b1, b2, y)."""
    a = [[sum(r[i] * r[j] for r in rows) for j in (0, 1)] for i in (0, 1)]
    det = a[0][0] * a[1][1] - a[0][1]**2
    inverse = [[a[1][1] / det, -a[0][1] / det], [-a[0][1] / det, a[0][0] / det]]
    pull = [sum(r[i] * r[2] for r in rows) for i in (0, 1)]
    return a, inverse, [sum(inverse[i][j] * pull[j] for j in (0, 1)) for i in (0, 1)]


class Examples(ProgramTest):
    def test_all_run_and_print_both_forms(self):
        files = sorted(EXAMPLES.glob("*.toml"))
        self.assertGreaterEqual(len(files), 6)
        for file in files:
            with self.subTest(file.name):
                for detail in ([], ["--full"]):
                    text = run("quadratic", file, *detail)
                    self.assertEqual((text.returncode, text.stderr), (0, ""))
                    lines = text.stdout.splitlines()
                    self.assertLessEqual(max(map(len, lines)), 80)
                    if not detail:
                        self.assertLessEqual(len(lines), 30)
                    self.assertTrue(text.stdout.endswith("\nRisks of this one pair, not a "
                                                         "differential-privacy guarantee.\n"))
                    for symbol in ("nan", "NaN"):
                        self.assertNotIn(symbol, text.stdout)
                document = self.document("quadratic", file)
                for key in ("problem", "risk", "delta", "epsilon", "renyi", "accuracy", "tradeoff"):
                    self.assertTrue(document.has(key), key)

    def test_shift(self):
        document = self.document("quadratic", EXAMPLES / "shift.toml")
        for time in (0.1, 1.0, 100.0, math.inf):
            label = "inf" if math.isinf(time) else time
            p, q = ([flow(a, x, s, 0, 0, time) for a, s in ((10, 4), (1, 0.25))] for x in (1, 1.1))
            mu = math.sqrt(sum((m - n)**2 / v for (m, v), (n, _) in zip(p, q)))
            for way in ("forward", "reverse"):
                self.assert_close(document.value("risk", f"kl_{way}", time=label), mu * mu / 2)
                for eps in (0.5, 1):
                    self.assert_close(
                        document.value("delta", f"delta_{way}", time=label, epsilon=eps),
                        gdp_delta(mu, eps))
                self.assert_close(
                    document.value("epsilon", f"epsilon_{way}", time=label, delta=1e-5),
                    gdp_epsilon(mu, 1e-5))
                for order in (2, 8):
                    self.assert_close(
                        document.value("renyi", f"renyi_{way}", time=label, order=order),
                        order * mu * mu / 2)
            self.assert_close(document.value("risk", "mu", time=label), mu)
            self.assert_close(document.value("risk", "advantage", time=label),
                              math.erf(mu / math.sqrt(8)))
            for fpr in (0.01, 0.001):
                self.assert_close(document.value("risk", f"tpr_at_{fpr}", time=label),
                                  normal_cdf(PHI.inv_cdf(fpr) + mu), relative=1e-8)
            for name, distribution, x in (("d", p, 1), ("d_prime", q, 1.1)):
                squares = [(m - x)**2 + v for m, v in distribution]
                self.assert_close(document.value("accuracy", f"error_{name}", time=label),
                                  sum(squares))
                self.assert_close(document.value("accuracy", f"excess_loss_{name}", time=label),
                                  (10 * squares[0] + squares[1]) / 2)
        self.assertEqual(document.value("problem", "d", quantity="condition number of A"), 10)
        # Stationary excess loss is tr(Sigma) / 4.
        self.assert_close(document.value("accuracy", "excess_loss_d", time="inf"), 4.25 / 4)
        self.assertIn("differ in the minimiser (|x* - x*'| = 0.1414)",
                      " ".join(document.statements("info")))
        self.assertIn("The start is not given: it is the point 0.", document.statements("info"))
        self.assertFalse(document.has("noise_floor"))
        self.assertEqual(document.statements("warning"), [])

    def test_row_removed(self):
        document = self.document("quadratic", EXAMPLES / "row_removed.toml")
        rows = [(1, 0.2, 0.1), (1, -0.4, -0.3), (1, 0.9, 0.8), (1, -1.1, -0.9), (1, 2.5, 3.0)]
        _, inverse, x = least_squares(rows)
        _, inverse_prime, x_prime = least_squares(rows[:-1])
        v, w = ([[0.25 * e for e in row] for row in m] for m in (inverse, inverse_prime))
        shift = [b - a for a, b in zip(x, x_prime)]
        self.assert_close(document.value("risk", "kl_forward", time="inf"), kl_2d(v, w, shift))
        self.assert_close(document.value("risk", "kl_reverse", time="inf"), kl_2d(w, v, shift))
        self.assert_close(document.value("noise_floor", "kl_forward", time="inf"),
                          kl_2d(v, w, [0, 0]))
        self.assert_close(document.value("noise_floor", "kl_reverse", time="inf"),
                          kl_2d(w, v, [0, 0]))
        self.assert_close(document.value("accuracy", "excess_loss_d", time="inf"), 0.25)
        self.assert_close(document.value("accuracy", "error_d_prime", time="inf"),
                          w[0][0] + w[1][1])
        self.assertIn("noise floor", " ".join(document.statements("warning")))
        self.assertIn("D' is D without row 5", " ".join(document.statements("info")))

    def test_noise_of_the_same_error(self):
        isotropic = self.document("quadratic", EXAMPLES / "noise_isotropic.toml")
        anisotropic = self.document("quadratic", EXAMPLES / "noise_anisotropic.toml")
        for document in (isotropic, anisotropic):
            self.assert_close(document.value("accuracy", "error_d", time="inf"), 0.55)
        kl = [d.value("risk", "kl_forward", time="inf") for d in (isotropic, anisotropic)]
        self.assert_close(kl[0], 0.11)
        self.assert_close(kl[0] / kl[1], 3.025)  # docs/spec.md, section 13, F3

    def test_singular(self):
        document = self.document("quadratic", EXAMPLES / "singular.toml")
        reason = document.cell("risk", "kl_forward", time="inf")
        self.assertIsNone(reason["value"])
        self.assertIn("no stationary distribution: eigenvalue 0", reason["reason"])
        self.assertIn("no minimum", document.cell("accuracy", "error_d_prime", time=1)["reason"])
        # Of D alone: along the flat direction 3 + N(0, 0.3 + 0.5 t), and x* is (1, 0).
        decay = math.exp(-2.0)
        self.assert_close(document.value("accuracy", "error_d", time=1),
                          decay**2 * (1 + 0.2) + 0.5 * (1 - decay**2) / 4 + 9 + 0.3 + 0.5)
        self.assertEqual(document.value("accuracy", "error_d", time="inf"), math.inf)
        # Equal covariances; the means differ by 0.2 (1 - e^-2t) and 0.1 t.
        gap = [0.2 * (1 - decay), 0.1]
        v = [[decay**2 * 0.2 + 0.5 * (1 - decay**2) / 4, decay * 0.1], [decay * 0.1, 0.8]]
        self.assert_close(document.value("risk", "kl_forward", time=1), kl_2d(v, v, gap))

    def test_release(self):
        document = self.document("quadratic", EXAMPLES / "release.toml")
        rows = [(1, 0, 0.0), (1, 1, 1.1), (1, 2, 1.9), (1, 3, 3.2)]
        a, _, x = least_squares(rows)
        _, _, x_prime = least_squares(rows[:-1])
        s = [[0.09, 0.03], [0.03, 0.05]]
        mu = math.sqrt(2 * kl_2d(s, s, [p - q for p, q in zip(x, x_prime)]))
        self.assert_close(document.value("risk", "mu"), mu)
        self.assert_close(document.value("risk", "kl_reverse"), mu * mu / 2)
        self.assert_close(document.value("risk", "advantage"), math.erf(mu / math.sqrt(8)))
        for eps in (0, 0.5, 1, 2):
            self.assert_close(document.value("delta", "delta_forward", epsilon=eps),
                              gdp_delta(mu, eps))
        self.assert_close(document.value("accuracy", "error_d"), 0.14)
        self.assert_close(document.value("accuracy", "excess_loss_d"),
                          (a[0][0] * 0.09 + 2 * a[0][1] * 0.03 + a[1][1] * 0.05) / 2)
        self.assertFalse(document.has("kl_over_time"))
        self.assertFalse(document.has("noise_floor"))
        self.assertNotIn("start", " ".join(document.statements()))

    def test_files(self):
        document = self.document("quadratic", EXAMPLES / "files.toml")
        inline = self.write("inline.toml", """
            flow.times = [1, inf]
            [d]
            A = [[2, 0.5, 0], [0.5, 1, 0.2], [0, 0.2, 4]]
            minimiser = [1, -0.5, 0.3]
            Sigma = [[0.59, -0.06, 0.18], [-0.06, 0.44, -0.12], [0.18, -0.12, 1.16]]
            [d_prime]
            minimiser = [1, -0.4, 0.3]
            """)
        same = self.document("quadratic", inline)
        for time in (1, "inf"):
            self.assert_close(document.value("risk", "kl_forward", time=time),
                              same.value("risk", "kl_forward", time=time))
            self.assert_close(document.value("accuracy", "error_d", time=time),
                              same.value("accuracy", "error_d", time=time))


class OneParameter(ProgramTest):
    """Numbers for everything: rate, noise and start differ between D and D'."""

    def problem(self, extra=""):
        return self.write("one.toml", f"""
            [flow]
            times = [0, 0.3, 2, inf]
            [risk]
            epsilons = [0, 0.25, 1]
            {extra}
            [d]
            A = 2
            minimiser = 0.5
            Sigma = 0.8
            start_mean = 0.1
            start_covariance = 0.3
            [d_prime]
            A = 1.25
            minimiser = 0.2
            Sigma = 1.1
            start_mean = -0.2
            start_covariance = 0.4
            """)

    def test_everything_differs(self):
        document = self.document("quadratic", self.problem())
        for time in (0, 0.3, 2, math.inf):
            label = "inf" if math.isinf(time) else time
            p = flow(2, 0.5, 0.8, 0.1, 0.3, time)
            q = flow(1.25, 0.2, 1.1, -0.2, 0.4, time)
            self.assert_close(document.value("risk", "kl_forward", time=label),
                              kl_diagonal([p], [q]))
            self.assert_close(document.value("risk", "kl_reverse", time=label),
                              kl_diagonal([q], [p]))
            for eps in (0, 0.25, 1):
                self.assert_close(
                    document.value("delta", "delta_forward", time=label, epsilon=eps),
                    delta_1d(p, q, eps), relative=1e-8, absolute=1e-14)
                self.assert_close(
                    document.value("delta", "delta_reverse", time=label, epsilon=eps),
                    delta_1d(q, p, eps), relative=1e-8, absolute=1e-14)
            self.assert_close(document.value("risk", "advantage", time=label), delta_1d(p, q, 0))
            epsilon = document.value("epsilon", "epsilon_forward", time=label, delta=1e-5)
            self.assert_close(max(delta_1d(p, q, epsilon), 0), 1e-5 if epsilon > 0 else 0,
                              relative=1e-6, absolute=1e-5 if epsilon == 0 else 0)
        text = " ".join(document.statements("info"))
        for part in ("the curvature", "the minimiser", "the noise", "the mean of the start",
                     "the covariance of the start"):
            self.assertIn(part, text)

    def test_floor_is_the_limit_of_large_noise(self):
        def with_noise(factor):
            return self.write("scaled.toml", f"""
                flow.times = [0.3, inf]
                d = {{A = 2, minimiser = 0.5, Sigma = {0.8 * factor}, start_covariance = 0.3}}
                d_prime = {{A = 1.25, minimiser = 0.2}}
                """)
        small = self.document("quadratic", with_noise(1))
        large = self.document("quadratic", with_noise(1e8))
        for time in (0.3, "inf"):
            for column in ("kl_forward", "kl_reverse", "advantage"):
                floor = small.value("noise_floor", column, time=time)
                self.assertGreater(floor, 1e-3)
                self.assert_close(large.value("risk", column, time=time), floor, relative=1e-6)

    def test_command_line_overrides_the_file(self):
        document = self.document("quadratic", "--times", "0.7,5", self.problem("delta = 1e-3"),
                                 "--epsilons=2", "--delta", "1e-4,1e-6")
        self.assertEqual([r["time"] for r in document.block("risk")["rows"]], [0.7, 5])
        self.assertEqual({r["epsilon"] for r in document.block("delta")["rows"]}, {2})
        self.assertEqual([r["delta"] for r in document.block("epsilon")["rows"]],
                         [1e-4, 1e-6] * 2)

    def test_every_key_can_be_set(self):
        file = self.problem()
        changed = self.document("quadratic", file, "--set", "d.Sigma=1.6", "--set", "risk.deltas=[1e-3]",
                                "--times", "inf")
        same = self.document("quadratic", self.write("same.toml", """
            flow.times = [inf]
            risk = {epsilons = [0, 0.25, 1], delta = 1e-3}
            [d]
            A = 2
            minimiser = 0.5
            Sigma = 1.6
            start_mean = 0.1
            start_covariance = 0.3
            [d_prime]
            A = 1.25
            minimiser = 0.2
            Sigma = 1.1
            start_mean = -0.2
            start_covariance = 0.4
            """))
        for table in ("risk", "delta", "epsilon"):
            self.assertEqual(changed.block(table)["rows"], same.block(table)["rows"])
        without_file = self.document(
            "quadratic", "--times", "inf", "--epsilons", "0,0.25,1", "--delta", "1e-3",
            *(word for key in ("d.A=2", "d.minimiser=0.5", "d.Sigma=1.6", "d.start_mean=0.1",
                               "d.start_covariance=0.3", "d_prime.A=1.25", "d_prime.minimiser=0.2",
                               "d_prime.Sigma=1.1", "d_prime.start_mean=-0.2",
                               "d_prime.start_covariance=0.4") for word in ("--set", key)))
        self.assertEqual(without_file.block("risk")["rows"], same.block("risk")["rows"])

    def test_figures_follow_the_tables(self):
        document = self.document("quadratic", self.problem())
        series = {s["key"]: s for s in document.block("kl_over_time")["series"]}
        self.assertEqual((series["forward"]["x"][0], series["forward"]["x"][-1]), (0.3, 2))
        self.assertEqual(series["forward"]["y"][-1], document.value("risk", "kl_forward", time=2))
        curve = document.block("tradeoff")["series"][0]
        self.assertEqual(curve["y"][-1], 1)
        self.assertTrue(all(a <= b for a, b in zip(curve["y"], curve["y"][1:])))
        self.assertTrue(all(y >= x for x, y in zip(curve["x"], curve["y"])))


class Edges(ProgramTest):
    def test_same_problem(self):
        file = self.write("same.toml", """
            flow.times = [0, 1]
            d = {A = [1, 2], minimiser = [0, 1], Sigma = 1}
            d_prime = {}
            """)
        document = self.document("quadratic", file)
        for time in (0, 1):
            self.assertEqual(document.value("risk", "kl_forward", time=time), 0)
            self.assertEqual(document.value("risk", "advantage", time=time), 0)
            self.assertEqual(document.value("epsilon", "epsilon_forward", time=time, delta=1e-5), 0)
        self.assertIn("the same problem", document.statements("warning")[0])

    def test_different_points_are_told_apart_with_certainty(self):
        file = self.write("points.toml", """
            flow.times = [0]
            d = {A = 1, minimiser = 0, Sigma = 1}
            d_prime = {start_mean = 1}
            """)
        document = self.document("quadratic", file)
        self.assertEqual(document.value("risk", "kl_forward"), math.inf)
        self.assertEqual(document.value("risk", "advantage"), 1)
        self.assertEqual(document.value("delta", "delta_reverse"), 1)
        self.assertEqual(document.value("epsilon", "epsilon_forward"), math.inf)
        self.assertIn("mutually singular", document.statements("warning")[0])

    def test_distribution_that_overflows_leaves_the_other_times(self):
        file = self.write("runaway.toml", """
            flow.times = [1, 1e6, inf]
            d = {A = -1, pull = 0.5, Sigma = 1}
            d_prime = {pull = 0.6}
            """)
        document = self.document("quadratic", file)
        gap = 0.1 * math.expm1(1)
        variance = math.expm1(2) / 2
        self.assert_close(document.value("risk", "kl_forward", time=1), gap**2 / variance / 2)
        # Both distributions leave the range of doubles, and their difference stays.
        self.assert_close(document.value("risk", "kl_forward", time=1e6), 0.01)
        self.assertIn("eigenvalue -1", document.cell("risk", "kl_forward", time="inf")["reason"])

    def test_shared_location_with_a_new_curvature(self):
        # The minimiser is shared if [d] says the minimiser, and the pull if [d] says the pull.
        for key, expected in (("minimiser", 3), ("pull", 0.75)):
            file = self.write("shared.toml", f"""
                flow.times = [inf]
                d = {{A = 1, {key} = 3, Sigma = 1}}
                d_prime = {{A = 4}}
                """)
            document = self.document("quadratic", file)
            self.assertEqual(document.cell("problem", "d_prime", quantity="minimiser x*"),
                             f"({expected})")

    def test_factor_with_a_minimiser_and_a_number_as_curvature(self):
        factor = self.write("factor.toml", """
            flow.times = [1]
            d = {B = [[1, 1], [0, 1]], minimiser = [1, 2], Sigma = 1}
            d_prime = {minimiser = [1, 3]}
            """)
        matrix = self.write("matrix.toml", """
            flow.times = [1]
            d = {A = [[1, 1], [1, 2]], minimiser = [1, 2], Sigma = 1}
            d_prime = {minimiser = [1, 3]}
            """)
        self.assertEqual(self.document("quadratic", factor).block("risk"),
                         self.document("quadratic", matrix).block("risk"))
        number = self.write("number.toml", """
            flow.times = [inf]
            d = {A = 2, minimiser = [1, 2], Sigma = [0.5, 0.5]}
            d_prime = {minimiser = [1, 3]}
            """)
        self.assert_close(self.document("quadratic", number).value("risk", "kl_forward"), 4)



class Conditioning(ProgramTest):
    def test_an_ill_conditioned_dense_curvature_keeps_its_digits(self):
        # Along the eigenvector of eigenvalue 2 - 1e-12 the minimisers are 0.1 apart: KL = 0.01 l tanh(l / 2).
        for size in ("1e6", "1e12", "1e18", "1e30"):
            document = self.document("quadratic", self.write("a.toml", (
                f"[flow]\ntimes=[1]\n[d]\nA=[[{size},1],[1,2]]\nminimiser=[1,1]\nSigma=1\n"
                "[d_prime]\nminimiser=[1,1.1]\n")))
            low = 2 - 1 / float(size)
            self.assertAlmostEqual(document.value("risk", "kl_forward", time=1) /
                                   (0.01 * low * math.tanh(low / 2)), 1.0, 5)


if __name__ == "__main__":
    unittest.main()
