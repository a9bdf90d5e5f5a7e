"""`sfumato design`: closed forms, files that other commands take, and refusals."""
import struct
import unittest

from support import ROOT, ProgramTest, run

EXAMPLE = ROOT / "examples/design/differences.csv"


class DesignTest(ProgramTest):
    def value(self, document, quantity):
        return document.value("design", "value", quantity=quantity)

    def design(self, *args):
        return self.document("design", *args, "--differences-are", "public")


class Values(DesignTest):
    def test_closed_forms(self):
        """Spec §9.1: (sum sqrt g)^2 / zeta against sum g d / zeta."""
        moments = self.write("g.csv", "100\n1\n")
        document = self.design("--second-moments", moments, "--trace", 25)
        self.assert_close(self.value(document, "privacy cost, mean s^T Sigma^{-1} s"), 121 / 25)
        self.assert_close(self.value(document, "privacy cost with isotropic noise"), 202 / 25)
        self.assert_close(document.value("noise", "variance", index=1), 250 / 11)
        box = self.write("s.csv", "10\n1\n")
        same = self.design("--sensitivities", box, "--trace", 25)
        self.assert_close(self.value(same, "privacy cost, mean s^T Sigma^{-1} s"), 121 / 25)

    def test_minimax(self):
        """Spec §9.3: two orthogonal differences, (3 + 4)^2 for the mean would be less; 25 is golden."""
        rows = self.write("d.csv", "3,0\n0,4\n")
        document = self.design(rows, "--trace", 1, "--form", "full")
        self.assert_close(self.value(document, "privacy cost, largest s^T Sigma^{-1} s"), 25, 1e-7)
        self.assertLessEqual(self.value(document, "lower bound for this form"), 25 * (1 + 1e-12))
        self.assertLess(self.value(document, "certified gap"), 1e-7)

    def test_what_a_regularised_design_makes_least_is_named(self):
        """The bound is one of the regularised cost, which is larger than the cost beside it."""
        for form in ("diagonal", "full"):
            document = self.design(EXAMPLE, "--trace", 2, "--form", form, "--regularise", 0.1)
            whole = self.value(document, "that plus rho tr(W^{-1} Sigma^{-1})")
            self.assertLess(self.value(document, "privacy cost, largest s^T Sigma^{-1} s"), whole)
            bound = self.value(document, "lower bound on the sum for this form")
            self.assertLessEqual(bound, whole * (1 + 1e-12))
            self.assert_close(bound, whole, 1e-6)

    def test_budgets_agree(self):
        """tr Sigma = 2 is an excess loss of 1/2, and half the trace with A = I a distance of 1."""
        hessian = self.write("h.csv", "1\n1\n1\n1\n")
        values = [self.value(self.design(EXAMPLE, *budget), "privacy cost, largest s^T Sigma^{-1} s")
                  for budget in (["--trace", 2], ["--excess-loss", 0.5],
                                 ["--distance", 1, "--hessian", hessian],
                                 ["--budget", 2, "--weights", hessian])]
        for value in values[1:]:
            self.assert_close(value, values[0], 1e-7)

    def test_risk_inverts_the_budget(self):
        document = self.design(EXAMPLE, "--trace", 2, "--form", "full")
        cost = self.value(document, "privacy cost, largest s^T Sigma^{-1} s")
        inverse = self.design(EXAMPLE, "--risk", cost, "--form", "full")
        self.assert_close(self.value(inverse, "trace of Sigma"), 2, 1e-6)

    def test_more_freedom_never_costs_more(self):
        groups = self.write("groups.csv", "1\n1\n2\n2\n")
        costs = [self.value(self.design(EXAMPLE, "--trace", 2, "--form", form,
                                        *(["--groups", groups] if form == "grouped" else [])),
                            "privacy cost, largest s^T Sigma^{-1} s")
                 for form in ("isotropic", "grouped", "diagonal", "full")]
        for worse, better in zip(costs, costs[1:]):
            self.assertLessEqual(better, worse * (1 + 1e-8))

    def test_frontier_scales(self):
        """Both costs scale with the error alike: three rows say it, the figure has all points."""
        found = self.design(EXAMPLE, "--frontier", "0.1,10")
        self.assertEqual(len(found.block("frontier")["rows"]), 3)
        best = found.block("frontier_figure")["series"][0]
        self.assertEqual(len(best["x"]), 21)
        for error, cost in zip(best["x"], best["y"]):
            self.assert_close(error * cost, best["x"][0] * best["y"][0], 1e-6)

    def test_the_file_is_taken_by_quadratic(self):
        """The designed noise has the trace asked for, and the KL that follows from the cost."""
        out = self.dir / "noise.npz"
        shift = self.write("d.csv", "0.1,0.1\n0.2,-0.1\n")
        self.design(shift, "--trace", 2, "--form", "full", "--out", out)
        problem = self.write("p.toml", '[flow]\ntimes = [1]\n[d]\nA = 0\npull = [0, 0]\n'
                             'Sigma = "noise.npz"\n[d_prime]\npull = [0.1, 0.1]\n')
        document = self.document("quadratic", problem)
        self.assert_close(document.value("problem", "d", quantity="trace of Sigma"), 2, 1e-9)
        cost = self.value(self.design(shift, "--trace", 2, "--form", "full"),
                          "privacy cost, largest s^T Sigma^{-1} s")
        # A = 0: KL at time 1 is exactly half the cost of the difference, at most that of the worst.
        self.assertLessEqual(document.value("risk", "kl_forward", time=1), cost / 2 * (1 + 1e-9))

    def test_private_differences_are_marked(self):
        document = self.document("design", EXAMPLE, "--trace", 1, "--differences-are", "private")
        self.assertTrue(any("private" in text for text in document.statements("warning")))

    def test_silent_coordinates_are_named(self):
        rows = self.write("d.csv", "1,0\n2,0\n")
        document = self.design(rows, "--trace", 1)
        self.assertTrue(any("no noise" in text for text in document.statements("warning")))
        floored = self.design(rows, "--trace", 1, "--floor", 0.1)
        self.assert_close(floored.value("noise", "variance", index=2), 0.1)
        self.assertFalse(any("no noise" in text for text in floored.statements("warning")))


class Iterated(DesignTest):
    """`--problem`: Spec §9.5."""
    QUADRATIC = ("[flow]\ntimes = [inf]\n[d]\nA = [100, 1]\nminimiser = [1, 1]\nSigma = 1\n"
                 "[d_prime]\nminimiser = [1.1, 1.1]\n")

    def rounds(self, document):
        return document.block("rounds")["rows"]

    def assert_improves(self, document):
        kept = [r["kl"]["value"] for r in self.rounds(document) if r["kept"] in ("isotropic", "yes")]
        self.assertEqual(kept, sorted(kept, reverse=True))
        self.assertEqual(self.value(document, "KL(D||D') with this noise"), kept[-1])

    def test_a_quadratic_is_solved_exactly(self):
        """Golden case stationary_quadratic_design-02: gain 25.5025 at equal distance."""
        problem = self.write("p.toml", self.QUADRATIC)
        document = self.design("--problem", problem, "--distance", 0.5, "--out", self.dir / "n.npz")
        self.assert_improves(document)
        self.assert_close(self.value(document, "KL(D||D') with this noise"), 0.04, 1e-6)
        self.assert_close(self.value(document, "KL(D||D') with isotropic noise"), 1.0201, 1e-9)
        self.assert_close(document.value("noise", "variance", index=1), 50, 1e-3)
        # The file is noise for `quadratic`, which finds the same KL.
        check = self.write("q.toml", self.QUADRATIC.replace("Sigma = 1", 'Sigma = "n.npz"'))
        self.assert_close(self.document("quadratic", check).value("risk", "kl_forward"), 0.04, 1e-6)

    def test_the_budget_is_that_of_the_file_unless_given(self):
        problem = self.write("p.toml", self.QUADRATIC)
        self.assert_close(self.value(self.design("--problem", problem), "trace of Sigma"), 2)
        self.assert_close(self.value(self.design("--problem", problem, "--trace", 3),
                                     "trace of Sigma"), 3)

    def test_the_models(self):
        rows = "\n".join(f"{i % 3 - 1},{(i * 7 % 5) / 2 - 1},{int(i % 3 + i % 5 > 3)}"
                         for i in range(12))
        self.write("t.csv", "a,b,y\n" + rows + "\n")
        for model, extra in (("ridge", ""), ("logistic", ""), ("softmax", "classes = 2\n")):
            problem = self.write("p.toml", f'[flow]\ntimes = [1]\n[estimate]\npaths = 50\n[d]\n'
                                 f'model = "{model}"\ndata = "t.csv"\ntarget = "y"\nloss = "sum"\n'
                                 f'ridge = 1\nSigma = 1\n{extra}[d_prime]\nwithout_row = 2\n')
            for form in ("diagonal", "full"):
                document = self.design("--problem", problem, "--form", form, "--rounds", 3)
                self.assert_improves(document)
                claim = self.rounds(document)[0]["kl"]["claim"]
                self.assertEqual(claim, "exact" if model == "ridge" else "estimate")

    def test_refusals(self):
        problem = self.write("p.toml", self.QUADRATIC)
        refused = lambda code, needles, *args: self.assert_refused(
            code, needles, "design", *args, "--differences-are", "public")
        refused(64, ["--cost", "problem"], "--problem", problem, "--risk", 1)
        refused(64, ["differences", "--problem"], EXAMPLE, "--problem", problem)
        refused(64, ["low-rank"], "--problem", problem, "--form", "low-rank", "--floor", 0.1)
        refused(64, ["--time"], "--problem", problem, "--time", 0)
        refused(64, ["--time"], "--problem", problem, "--time", "nan")
        refused(65, ["none.toml"], "--problem", self.dir / "none.toml")
        formula = self.write("f.toml", '[flow]\ntimes = [1]\n[d]\ndrift = ["-x"]\nSigma = 1\n'
                             '[d_prime]\ndrift = ["1-x"]\n')
        refused(65, ["f.toml", "noise"], "--problem", formula)
        still = self.write("s.toml", self.QUADRATIC.replace("[inf]", "[0]"))
        refused(65, ["s.toml", "time"], "--problem", still)


class Refusals(DesignTest):
    def refused(self, code, needles, *args):
        self.assert_refused(code, needles, "design", *args, "--differences-are", "public")

    def test_contradictions(self):
        self.refused(64, ["budget"], EXAMPLE)
        self.refused(64, ["budget"], EXAMPLE, "--trace", 1, "--risk", 2)
        self.refused(64, ["--trace"], EXAMPLE, "--trace", 0)
        self.refused(64, ["--trace"], EXAMPLE, "--trace", "nan")
        self.refused(64, ["hessian"], EXAMPLE, "--distance", 1)
        self.refused(64, ["groups"], EXAMPLE, "--trace", 1, "--form", "grouped")
        self.refused(64, ["minimax"], "--sensitivities", EXAMPLE, "--trace", 1, "--objective", "minimax")
        self.refused(64, ["--sensitivities", "--problem"], "--trace", 1)
        self.refused(64, ["--frontier"], EXAMPLE, "--frontier", "2,1")
        self.refused(64, ["--frontier"], EXAMPLE, "--frontier", "0,1")
        self.refused(64, ["--frontier"], EXAMPLE, "--frontier", "1")
        self.refused(64, ["--frontier"], EXAMPLE, "--frontier", "1,inf")
        self.refused(64, ["--trace"], EXAMPLE, "--trace", "inf")
        self.refused(64, ["--trace"], EXAMPLE, "--trace", -1)
        self.refused(64, ["--cost"], EXAMPLE, "--risk", 0)
        self.refused(64, ["--floor"], EXAMPLE, "--trace", 1, "--floor", "nan")
        self.refused(64, ["--tolerance"], EXAMPLE, "--trace", 1, "--tolerance", 0)
        self.refused(64, ["--time", "--problem"], EXAMPLE, "--trace", 1, "--time", 3)
        self.refused(64, ["--rounds", "--problem"], EXAMPLE, "--trace", 1, "--rounds", 3)
        self.refused(64, ["--groups"], EXAMPLE, "--trace", 1, "--groups", EXAMPLE)
        self.refused(64, [".npz"], EXAMPLE, "--trace", 1, "--out", "x.csv")
        self.assert_refused(64, ["--differences-are"], "design", EXAMPLE, "--trace", 1)

    def test_files(self):
        self.refused(65, ["row 2"], self.write("zero.csv", "1,2\n0,0\n"), "--trace", 1)
        self.refused(65, ["nan.csv"], self.write("nan.csv", "1,2\nnan,0\n"), "--trace", 1)
        self.refused(65, ["none.csv"], self.dir / "none.csv", "--trace", 1)
        self.refused(65, ["empty.csv"], self.write("empty.csv", ""), "--trace", 1)
        self.refused(65, ["head.csv", "no rows"], self.write("head.csv", "a,b\n"), "--trace", 1)
        self.refused(65, ["ragged.csv:2"], self.write("ragged.csv", "1,2\n1\n"), "--trace", 1)
        (self.dir / "dir.npy").mkdir()
        self.refused(65, ["dir.npy", "directory"], self.dir / "dir.npy", "--trace", 1)
        self.refused(65, ["squares"], self.write("huge.csv", "1e200,1\n1,1\n"), "--trace", 1)
        self.refused(65, ["range of doubles"], EXAMPLE, "--trace", 1e-320)
        self.refused(65, ["floor"], EXAMPLE, "--trace", 1, "--floor", 1)
        hessian = self.write("h0.csv", "1\n0\n1\n1\n")
        self.refused(65, ["positive definite"], EXAMPLE, "--distance", 1, "--hessian", hessian)
        self.refused(65, ["line"], self.write("single.csv", "1,2\n"), "--trace", 1, "--form", "full")
        weights = self.write("w.csv", "1\n-1\n1\n1\n")
        self.refused(65, ["w.csv"], EXAMPLE, "--budget", 1, "--weights", weights)
        short = self.write("short.csv", "1\n1\n")
        self.refused(65, ["short.csv"], EXAMPLE, "--budget", 1, "--weights", short)
        self.refused(65, ["short.csv"], EXAMPLE, "--trace", 1, "--form", "grouped", "--groups", short)

    def test_places_and_sizes(self):
        small = self.write("small.csv", "1,0\n0,1\n")
        self.refused(65, ["small.csv", "end of the range of doubles"], small, "--trace", "1e-308", "--form", "full")
        self.refused(65, ["huge.csv", "squares"], self.write("huge.csv", "1e300,1\n"), "--trace", 1)
        self.refused(65, ["none.csv"], "--sensitivities", self.write("none.csv", "0\n0\n"), "--trace", 1)
        singular = self.write("h.csv", "1,1\n1,1\n")
        self.refused(65, ["h.csv: "], small, "--distance", 1, "--hessian", singular)
        self.refused(65, ["h.csv: "], small, "--budget", 1, "--weights", singular)
        self.refused(65, ["small.csv", "floor"], small, "--trace", 1, "--floor", 5)
        self.refused(65, [str(self.dir)], self.dir, "--trace", 1)
        self.refused(64, ["--frontier", "empty item"], small, "--frontier", "1,,2")

    def test_npy_files(self):
        """A header that claims more than the file has, or more than any memory."""
        def npy(name, shape, numbers):
            header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
            header += " " * (117 - len(header)) + "\n"
            path = self.dir / name
            path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
                             + header.encode() + struct.pack(f"<{len(numbers)}d", *numbers))
            return path
        good = npy("good.npy", "(2, 2)", (3, 0, 0, 4))
        self.assert_close(self.value(self.design(good, "--trace", 1, "--form", "full"),
                                     "privacy cost, largest s^T Sigma^{-1} s"), 25, 1e-7)
        vector = npy("vector.npy", "(2,)", (3, 4))
        self.assert_close(self.value(self.design(vector, "--trace", 1),
                                     "privacy cost, largest s^T Sigma^{-1} s"), 49, 1e-9)
        self.refused(65, ["truncated"], npy("cut.npy", "(2, 2)", (1, 2, 3)), "--trace", 1)
        self.refused(65, ["larger than any memory"],
                     npy("absurd.npy", "(10000000000, 10000000000)", (1,)), "--trace", 1)
        self.refused(65, ["row 1, column 2"], npy("nan.npy", "(1, 2)", (1, float("nan"))),
                     "--trace", 1)

    def test_an_output_that_cannot_be_written(self):
        self.refused(74, ["nowhere"], EXAMPLE, "--trace", 1, "--out",
                     self.dir / "nowhere" / "noise.npz")


if __name__ == "__main__":
    unittest.main()
