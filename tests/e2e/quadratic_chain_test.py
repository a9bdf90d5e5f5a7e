"""`sfumato quadratic` for chains, against the recursion carried out step by step here."""
import math
import random
import unittest

from support import ROOT, ProgramTest

EXAMPLES = ROOT / "examples/quadratic"
SEED = 20240


def matmul(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def matvec(a, x):
    return [sum(p * q for p, q in zip(row, x)) for row in a]


def add(a, b):
    return [[x + y for x, y in zip(r, s)] for r, s in zip(a, b)]


def trace(a):
    return sum(a[i][i] for i in range(len(a)))


def inverse_2d(m):
    det = m[0][0] * m[1][1] - m[0][1] * m[1][0]
    return [[m[1][1] / det, -m[0][1] / det], [-m[1][0] / det, m[0][0] / det]], det


def kl(p, q):
    """KL of two normal distributions (mean, covariance) in the plane."""
    inverse, det_q = inverse_2d(q[1])
    gap = [x - y for x, y in zip(p[0], q[0])]
    square = sum(g * h for g, h in zip(gap, matvec(inverse, gap)))
    return (math.log(det_q / inverse_2d(p[1])[1]) - 2 + trace(matmul(inverse, p[1])) + square) / 2


class Chain:
    """x <- x - eta (A x - pull) + N(0, S) in the plane, from N(mean, covariance)."""

    def __init__(self, a, minimiser, eta, s, mean=(0, 0), covariance=((0, 0), (0, 0))):
        self.a, self.minimiser, self.eta, self.s = a, minimiser, eta, s
        self.start = (list(mean), [list(row) for row in covariance])
        self.pull = matvec(a, minimiser)
        self.map = [[(i == j) - eta * a[i][j] for j in (0, 1)] for i in (0, 1)]

    def distributions(self, steps):
        """The distributions after 0, 1, ..., steps steps."""
        mean, v = self.start
        yield mean, v
        for _ in range(steps):
            mean = [x + self.eta * p for x, p in zip(matvec(self.map, mean), self.pull)]
            v = add(matmul(matmul(self.map, v), self.map), self.s)
            yield mean, v

    def at(self, steps):
        *_, last = self.distributions(steps)
        return last

    def accuracy(self, steps):
        """E|x - x*|^2 and E f(x) - f(x*)."""
        mean, v = self.at(steps)
        gap = [x - y for x, y in zip(mean, self.minimiser)]
        second = add(v, [[g * h for h in gap] for g in gap])
        return trace(second), trace(matmul(self.a, second)) / 2


def path_kl(p, q, steps):
    """The sum over the steps of E_p KL(step of p || step of q), both from the same point."""
    inverse, det_q = inverse_2d(q.s)
    scale = (math.log(det_q / inverse_2d(p.s)[1]) - 2 + trace(matmul(inverse, p.s))) / 2
    m = [[p.map[i][j] - q.map[i][j] for j in (0, 1)] for i in (0, 1)]
    total = 0.0
    for (mean, v), _ in zip(p.distributions(steps), range(steps)):
        gap = [x + p.eta * b - q.eta * c for x, b, c in zip(matvec(m, mean), p.pull, q.pull)]
        second = add(matmul(matmul(m, v), list(zip(*m))), [[g * h for h in gap] for g in gap])
        total += scale + trace(matmul(inverse, second)) / 2
    return total


def side(chain, noise="S"):
    return (f"A = {chain.a}\nminimiser = {list(chain.minimiser)}\n{noise} = {chain.s}\n"
            f"start_mean = {chain.start[0]}\nstart_covariance = {chain.start[1]}\n")


def file_of(p, q, steps):
    return (f"[chain]\nlearning_rate = {p.eta}\nsteps = {steps}\n"
            f"[d]\n{side(p)}[d_prime]\n{side(q)}")


class Recursion(ProgramTest):
    # The curvature does not commute with the noise; the second chain overshoots (eta l > 1).
    P = Chain([[2, 0.5], [0.5, 1]], [1, -0.5], 0.3, [[0.2, 0.05], [0.05, 0.1]], [0.4, 0.1],
              [[0.3, 0.1], [0.1, 0.2]])
    Q = Chain([[5, -0.4], [-0.4, 0.8]], [0.9, -0.2], 0.3, [[0.25, 0.02], [0.02, 0.15]], [0.3, 0.2],
              [[0.25, 0.05], [0.05, 0.3]])
    STEPS = (0, 1, 2, 7, 50)

    def check(self, p, q):
        document = self.document("quadratic", self.write("chain.toml",
                                                         file_of(p, q, list(self.STEPS))))
        for steps in self.STEPS:
            for way, direction, first, second in (("forward", "D||D'", p, q),
                                                  ("reverse", "D'||D", q, p)):
                exact = kl(first.at(steps), second.at(steps))
                self.assert_close(document.value("risk", f"kl_{way}", steps=steps), exact)
                row = {"steps": steps, "direction": direction}
                self.assert_close(document.value("chain_bounds", "kl", **row), exact)
                start = kl(first.start, second.start)
                self.assert_close(document.value("chain_bounds", "path", **row),
                                  start + path_kl(first, second, steps))
                self.assertEqual(document.cell("chain_bounds", "path", **row)["claim"],
                                 "upper_bound")
            for name, chain in (("d", p), ("d_prime", q)):
                error, excess = chain.accuracy(steps)
                self.assert_close(document.value("accuracy", f"error_{name}", steps=steps), error)
                self.assert_close(document.value("accuracy", f"excess_loss_{name}", steps=steps),
                                  excess)
        return document

    def test_everything_differs(self):
        document = self.check(self.P, self.Q)
        for steps in self.STEPS:  # different noise: by the matched process, between the truth and the path
            for direction in ("D||D'", "D'||D"):
                row = {"steps": steps, "direction": direction}
                cell = document.cell("chain_bounds", "contractive", **row)
                self.assertEqual(cell["claim"], "upper_bound")
                exact, path = (document.value("chain_bounds", key, **row) for key in ("kl", "path"))
                self.assertLessEqual(exact, cell["value"] * (1 + 1e-12))
                self.assertLessEqual(cell["value"], path * (1 + 1e-9))
                if steps == 50:
                    self.assertLess(cell["value"], 0.5 * path)
        cell = document.cell("chain_bounds", "mu", steps=7, direction="D||D'")
        self.assertIn("A and A' differ", cell["reason"])

    def test_same_noise(self):
        q = Chain(self.Q.a, self.Q.minimiser, self.Q.eta, self.P.s, *self.Q.start)
        document = self.check(self.P, q)
        for steps in self.STEPS:
            for direction in ("D||D'", "D'||D"):
                exact, contractive, path = (
                    document.value("chain_bounds", key, steps=steps, direction=direction)
                    for key in ("kl", "contractive", "path"))
                self.assertLessEqual(exact, contractive * (1 + 1e-12))
                self.assertLessEqual(contractive, path * (1 + 1e-12))

    def test_long_run(self):
        document = self.document("quadratic", self.write("chain.toml",
                                                         file_of(self.P, self.Q, "[inf]")))
        p, q = self.P.at(400), self.Q.at(400)
        self.assert_close(document.value("risk", "kl_forward"), kl(p, q))
        self.assert_close(document.value("risk", "kl_reverse"), kl(q, p))
        error, excess = self.Q.accuracy(400)
        self.assert_close(document.value("accuracy", "error_d_prime"), error)
        self.assert_close(document.value("accuracy", "excess_loss_d_prime"), excess)
        self.assertIn("grows without bound", document.cell(
            "chain_bounds", "path", steps="inf", direction="D||D'")["reason"])


class Flow(ProgramTest):
    BODY = """
        risk = {epsilons = [0.5], renyi_orders = [2]}
        d = {A = [[2, 0.5], [0.5, 1]], minimiser = [1, -0.5], Sigma = [[0.6, 0.1], [0.1, 0.3]]}
        d_prime = {A = [[2.5, 0.5], [0.5, 1]], minimiser = [1.2, -0.5]}
        """
    COLUMNS = (("risk", "kl_forward"), ("risk", "kl_reverse"), ("risk", "advantage"),
               ("delta", "delta_forward"), ("epsilon", "epsilon_reverse"),
               ("renyi", "renyi_forward"), ("accuracy", "error_d"),
               ("accuracy", "excess_loss_d_prime"), ("noise_floor", "kl_forward"))

    def test_small_steps_follow_the_flow(self):
        # The same file, read as a flow and as chains: the difference is proportional to the step.
        for time, eta, counts in ((0.5, 1e-4, (5000, 10000)), ("inf", 1e-4, ("inf", "inf"))):
            flow = self.document("quadratic", self.write("flow.toml",
                                                         f"flow.times = [{time}]\n" + self.BODY))
            chains = [self.document("quadratic", self.write(
                "chain.toml", f"chain = {{learning_rate = {rate}, steps = [{steps}]}}\n"
                + self.BODY)) for rate, steps in zip((eta, eta / 2), counts)]
            for table, column in self.COLUMNS:
                with self.subTest(time=time, column=column):
                    limit = flow.value(table, column)
                    coarse, fine = (c.value(table, column) - limit for c in chains)
                    self.assertLess(abs(coarse), 1e-3 * abs(limit))
                    self.assertGreater(abs(coarse), 0)
                    self.assert_close(coarse / fine, 2, relative=0.01)

    def test_example_has_the_problem_of_the_flow(self):
        chain = self.document("quadratic", EXAMPLES / "chain.toml")
        flow = self.document("quadratic", EXAMPLES / "shift.toml")
        for quantity in ("minimiser x*", "largest eigenvalue of A"):
            self.assertEqual(chain.cell("problem", "d_prime", quantity=quantity),
                             flow.cell("problem", "d_prime", quantity=quantity))
        self.assert_close(chain.value("problem", "d", quantity="trace of S"), 0.05 * 4.25)
        # Stationary, one coordinate: gap^2 / V with V = eta s / (1 - (1 - eta l)^2).
        mu2 = sum(0.1**2 * (1 - (1 - 0.05 * l)**2) / (0.05 * s) for l, s in ((10, 4), (1, 0.25)))
        self.assert_close(chain.value("risk", "mu", steps="inf"), math.sqrt(mu2))
        self.assertIn("full batch", " ".join(chain.statements("assumption")))


class Bounds(ProgramTest):
    def test_no_bound_is_below_the_truth(self):
        rng = random.Random(SEED)
        for trial in range(25):
            def definite(low, high):
                angle, x, y = rng.uniform(0, 3), rng.uniform(low, high), rng.uniform(low, high)
                c, s = math.cos(angle), math.sin(angle)
                return [[x * c * c + y * s * s, (x - y) * s * c],
                        [(x - y) * s * c, x * s * s + y * c * c]]
            point = lambda: [rng.gauss(0, 1), rng.gauss(0, 1)]
            eta = rng.uniform(0.05, 0.5)
            a, noise, start = definite(0.1, 4), definite(0.05, 1), point()
            p = Chain(a, point(), eta, noise, start)
            equal = trial % 3 > 0  # otherwise by the matched process
            q = Chain(a if trial % 2 else definite(0.1, 4), point(), eta, noise if equal else definite(0.05, 1), start)
            document = self.document("quadratic", self.write(
                "chain.toml", file_of(p, q, "[1, 3, 30, 1000, inf]")))
            for row in document.block("chain_bounds")["rows"]:
                exact, contractive, path, mu = (row[key]["value"] for key in (
                    "kl", "contractive", "path", "mu"))
                endless = row["steps"] == "inf"
                with self.subTest(seed=SEED, trial=trial, steps=row["steps"]):
                    self.assertEqual(path is None, endless)
                    self.assertEqual(contractive is None, endless and (row["lipschitz"] >= 1 or not equal))
                    self.assertEqual(mu is None, trial % 2 == 0 or not equal or contractive is None)
                    for bound in (contractive, path, None if mu is None else mu * mu / 2):
                        if bound is not None:
                            self.assertGreaterEqual(bound * (1 + 1e-9), exact)
                    if not endless:
                        self.assertLessEqual(contractive, path * (1 + 1e-9))

    def test_sharp_where_all_directions_are_alike(self):
        file = self.write("sharp.toml", """
            chain = {learning_rate = 0.2, steps = [1, 5, 100, inf]}
            d = {A = 1.5, minimiser = [1, 2], S = 0.3}
            d_prime = {minimiser = [1.5, 1]}
            """)
        document = self.document("quadratic", file)
        for steps in (1, 5, 100, "inf"):
            mu = document.value("risk", "mu", steps=steps)
            for direction in ("D||D'", "D'||D"):
                row = {"steps": steps, "direction": direction}
                self.assert_close(document.value("chain_bounds", "mu", **row), mu)
                self.assert_close(document.value("chain_bounds", "contractive", **row), mu * mu / 2)
                self.assert_close(document.value("chain_bounds", "lipschitz", **row), 0.7)

    def test_bounds_that_do_not_apply_say_why(self):
        def reasons(d, d_prime):
            document = self.document("quadratic", self.write("none.toml", (
                "chain = {learning_rate = 0.1, steps = [3]}\n"
                f"d = {{A = [1, 2], minimiser = [0, 1], {d}}}\nd_prime = {{{d_prime}}}\n")))
            row = document.block("chain_bounds")["rows"][0]
            return [row[key].get("reason", "") if isinstance(row[key], dict) else ""
                    for key in ("contractive", "lipschitz", "path", "mu")]
        for reason in reasons("S = [1, 0]", "minimiser = [0.1, 1]"):
            self.assertIn("singular", reason)
        contractive, lipschitz, path, mu = reasons("S = 1", "S = 2")
        self.assertIn("differ", mu)
        self.assertEqual((contractive, lipschitz, path), ("", "", ""))
        contractive, lipschitz, path, mu = reasons("S = 1", "start_mean = [1, 1]")
        self.assertIn("starts", contractive)
        self.assertIn("starts", path)
        self.assertEqual((lipschitz, mu), ("", "the starts differ"))


class Edges(ProgramTest):
    def test_noise_per_step_or_per_time(self):
        text = ("chain = {{learning_rate = 0.25, steps = [3, inf]}}\n"
                "d = {{A = [1, 2], minimiser = [0, 1], {}}}\nd_prime = {{minimiser = [0, 2]}}\n")
        step = self.document("quadratic", self.write("s.toml", text.format("S = [0.5, 0.25]")))
        time = self.document("quadratic", self.write("t.toml", text.format("Sigma = [2, 1]")))
        for key in ("problem", "risk", "delta", "epsilon", "renyi", "accuracy", "chain_bounds"):
            self.assertEqual(step.block(key), time.block(key))

    def test_diverging_chain(self):
        file = self.write("diverging.toml", """
            chain = {learning_rate = 0.5, steps = [4, 100000, inf]}
            d = {A = [1, 6], minimiser = [0, 1], S = 1}
            d_prime = {minimiser = [0, 2]}
            """)
        document = self.document("quadratic", file)
        # 1 - eta l = -2 in the second coordinate: mean x* (1 - 16), variance 1 + 4 + 16 + 64.
        self.assert_close(document.value("risk", "kl_forward", steps=4), 15**2 / 85 / 2)
        self.assert_close(document.value("accuracy", "excess_loss_d", steps=4),
                          (1 + 0.25 + 0.25**2 + 0.25**3) / 2 + 6 * (16**2 + 85) / 2)
        # Both distributions leave the range of doubles, and their difference stays: (1 - 2^k)^2 / (4^k - 1) 3 / 2.
        self.assert_close(document.value("risk", "kl_forward", steps=1e5), 1.5)
        self.assertEqual(document.value("accuracy", "error_d", steps=1e5), math.inf)
        for table, row in (("risk", {}), ("chain_bounds", {"direction": "D'||D"})):
            column = "kl_reverse" if table == "risk" else "kl"
            self.assertIn("eigenvalue 3 lies outside",
                          document.cell(table, column, steps="inf", **row)["reason"])
        self.assert_close(
            document.value("chain_bounds", "lipschitz", steps=4, direction="D||D'"), 2)
        warnings = " ".join(document.statements("warning"))
        self.assertIn("the chain of D diverges", warnings)
        self.assertIn("below 2/6", warnings)

    def test_distributions_beyond_double_precision_leave_the_other_rows(self):
        # Variance ratios of 1e100, and a direction that drowns in another one by rounding.
        for d, steps in (("A = 3e3, minimiser = 1, S = 1", 15),
                         ("A = [[30, 1], [1, 2]], minimiser = [1, 1], S = 1", 40)):
            one = "A = 1" if "[" not in d else "A = [[29, 1], [1, 2]]"
            document = self.document("quadratic", self.write("far.toml", (
                f"chain = {{learning_rate = 1, steps = [1, {steps}]}}\nd = {{{d}}}\n"
                f"d_prime = {{{one}}}\n")))
            self.assertGreater(document.value("risk", "kl_forward", steps=1), 0)
            for table in ("risk", "noise_floor"):
                self.assertIn("for double precision",
                              document.cell(table, "kl_forward", steps=steps)["reason"])
        document = self.document("quadratic", self.write(
            "flow.toml", "flow.times = [0.1, 2]\nd = {A = -100, pull = 0, Sigma = 1}\n"
                         "d_prime = {A = 0}\n"))
        self.assertIn("for double precision", document.cell("risk", "advantage", time=2)["reason"])

    def test_negative_eigenvalue(self):
        file = self.write("saddle.toml", """
            chain = {learning_rate = 0.5, steps = [2, inf]}
            d = {A = -1, pull = 0, S = 1}
            d_prime = {pull = 1}
            """)
        document = self.document("quadratic", file)
        # Steps stretch by 1.5 and move D' by 0.5: mean 1.25, variance 3.25.
        self.assert_close(document.value("risk", "kl_forward", steps=2), 1.25**2 / 3.25 / 2)
        self.assertIn("-0.5", document.cell("risk", "kl_forward", steps="inf")["reason"])
        self.assertIn("no minimum", document.cell("accuracy", "error_d", steps=2)["reason"])
        self.assertIn("No learning rate helps", " ".join(document.statements("warning")))

    def test_flat_direction(self):
        file = self.write("flat.toml", """
            chain = {learning_rate = 0.5, steps = [3, inf]}
            d = {A = [[1, 1], [1, 1]], pull = [1, 1], S = 0.5}
            d_prime = {pull = [1.5, 1.5]}
            """)
        document = self.document("quadratic", file)
        # Along (1, -1) a random walk; along (1, 1) eigenvalue 2 and one step to the minimiser.
        self.assert_close(document.value("accuracy", "error_d", steps=3), 3 * 0.5 + 0.5)
        self.assert_close(document.value("accuracy", "excess_loss_d", steps=3), 0.5)
        self.assertEqual(document.value("accuracy", "error_d", steps="inf"), math.inf)
        self.assert_close(document.value("accuracy", "excess_loss_d", steps="inf"), 0.5)
        self.assertIn("is zero and there is noise",
                      document.cell("risk", "kl_forward", steps="inf")["reason"])

    def test_floor_is_the_limit_of_large_noise(self):
        def with_noise(factor):
            return self.document("quadratic", self.write("scaled.toml", f"""
                chain = {{learning_rate = 0.3, steps = [0, 3, inf]}}
                d = {{A = 2, minimiser = 0.5, S = {0.8 * factor}, start_covariance = 0.3}}
                d_prime = {{A = 1.25, minimiser = 0.2}}
                """))
        small, large = with_noise(1), with_noise(1e8)
        for steps in (3, "inf"):
            for column in ("kl_forward", "kl_reverse", "advantage"):
                floor = small.value("noise_floor", column, steps=steps)
                self.assertGreater(floor, 1e-3)
                self.assert_close(large.value("risk", column, steps=steps), floor, relative=1e-6)
        self.assertIn("no noise", small.cell("noise_floor", "kl_forward", steps=0)["reason"])

    def test_steps_of_the_command_line_and_figures(self):
        document = self.document("quadratic", "--steps", "3,40,inf,3", EXAMPLES / "chain.toml")
        self.assertEqual([r["steps"] for r in document.block("risk")["rows"]], [3, 40, "inf"])
        for series in document.block("kl_over_steps")["series"]:
            self.assertEqual((series["x"][0], series["x"][-1]), (3, 40))
            self.assertEqual(series["x"], sorted({round(x) for x in series["x"]}))
            self.assertEqual(series["y"][-1], document.value("risk", "kl_forward", steps=40))
        self.assertTrue(document.has("delta_over_steps"))
        self.assertFalse(document.has("kl_over_time"))
        for steps, last in (("inf", 200), ("1", 1), ("0,1000000000000", 1e12)):
            document = self.document("quadratic", "--steps", steps, EXAMPLES / "chain.toml")
            grid = document.block("kl_over_steps")["series"][0]["x"]
            self.assertEqual((grid[0] >= 1, grid[-1]), (True, last))


if __name__ == "__main__":
    unittest.main()
