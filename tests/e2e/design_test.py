"""`sfumato design`: closed forms, files that other commands take, and refusals."""
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
        self.assert_close(self.value(document, "mean s^T Sigma^{-1} s"), 121 / 25)
        self.assert_close(self.value(document, "the same cost with isotropic noise"), 202 / 25)
        self.assert_close(document.value("noise", "variance", index=1), 250 / 11)
        box = self.write("s.csv", "10\n1\n")
        same = self.design("--sensitivities", box, "--trace", 25)
        self.assert_close(self.value(same, "mean s^T Sigma^{-1} s"), 121 / 25)

    def test_minimax(self):
        """Spec §9.3: two orthogonal differences, (3 + 4)^2 for the mean would be less; 25 is golden."""
        rows = self.write("d.csv", "3,0\n0,4\n")
        document = self.design(rows, "--trace", 1, "--form", "full")
        self.assert_close(self.value(document, "largest s^T Sigma^{-1} s"), 25, 1e-7)
        self.assertLessEqual(self.value(document, "lower bound for this form"), 25 * (1 + 1e-12))
        self.assertLess(self.value(document, "certified gap"), 1e-7)

    def test_budgets_agree(self):
        """tr Sigma = 2 is an excess loss of 1/2, and half the trace with A = I a distance of 1."""
        hessian = self.write("h.csv", "1\n1\n1\n1\n")
        values = [self.value(self.design(EXAMPLE, *budget), "largest s^T Sigma^{-1} s")
                  for budget in (["--trace", 2], ["--excess-loss", 0.5],
                                 ["--distance", 1, "--hessian", hessian],
                                 ["--budget", 2, "--weights", hessian])]
        for value in values[1:]:
            self.assert_close(value, values[0], 1e-7)

    def test_risk_inverts_the_budget(self):
        document = self.design(EXAMPLE, "--trace", 2, "--form", "full")
        cost = self.value(document, "largest s^T Sigma^{-1} s")
        inverse = self.design(EXAMPLE, "--risk", cost, "--form", "full")
        self.assert_close(self.value(inverse, "trace of Sigma"), 2, 1e-6)

    def test_more_freedom_never_costs_more(self):
        groups = self.write("groups.csv", "1\n1\n2\n2\n")
        costs = [self.value(self.design(EXAMPLE, "--trace", 2, "--form", form,
                                        *(["--groups", groups] if form == "grouped" else [])),
                            "largest s^T Sigma^{-1} s")
                 for form in ("isotropic", "grouped", "diagonal", "full")]
        for worse, better in zip(costs, costs[1:]):
            self.assertLessEqual(better, worse * (1 + 1e-8))

    def test_frontier_scales(self):
        rows = self.design(EXAMPLE, "--frontier", "0.1,10").block("frontier")["rows"]
        self.assertEqual(len(rows), 21)
        for row in rows:
            self.assert_close(row["error"] * row["cost"]["value"],
                              rows[0]["error"] * rows[0]["cost"]["value"], 1e-6)

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
                          "largest s^T Sigma^{-1} s")
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
        self.refused(64, ["nothing to hide"], "--trace", 1)
        self.refused(64, ["--frontier"], EXAMPLE, "--frontier", "2,1")
        self.refused(64, [".npz"], EXAMPLE, "--trace", 1, "--out", "x.csv")
        self.assert_refused(64, ["--differences-are"], "design", EXAMPLE, "--trace", 1)

    def test_files(self):
        self.refused(65, ["row 2"], self.write("zero.csv", "1,2\n0,0\n"), "--trace", 1)
        self.refused(65, ["nan.csv"], self.write("nan.csv", "1,2\nnan,0\n"), "--trace", 1)
        self.refused(65, ["none.csv"], self.dir / "none.csv", "--trace", 1)
        self.refused(65, ["line"], self.write("single.csv", "1,2\n"), "--trace", 1, "--form", "full")
        weights = self.write("w.csv", "1\n-1\n1\n1\n")
        self.refused(65, ["w.csv"], EXAMPLE, "--budget", 1, "--weights", weights)
        short = self.write("short.csv", "1\n1\n")
        self.refused(65, ["short.csv"], EXAMPLE, "--budget", 1, "--weights", short)
        self.refused(65, ["short.csv"], EXAMPLE, "--trace", 1, "--form", "grouped", "--groups", short)

    def test_places_and_sizes(self):
        small = self.write("small.csv", "1,0\n0,1\n")
        self.refused(65, ["small.csv", "overflows"], small, "--trace", "1e-308", "--form", "full")
        self.refused(65, ["huge.csv", "squares"], self.write("huge.csv", "1e300,1\n"), "--trace", 1)
        self.refused(65, ["none.csv"], "--sensitivities", self.write("none.csv", "0\n0\n"), "--trace", 1)
        singular = self.write("h.csv", "1,1\n1,1\n")
        self.refused(65, ["h.csv: "], small, "--distance", 1, "--hessian", singular)
        self.refused(65, ["h.csv: "], small, "--budget", 1, "--weights", singular)
        self.refused(65, ["small.csv", "floor"], small, "--trace", 1, "--floor", 5)
        self.refused(65, [str(self.dir)], self.dir, "--trace", 1)
        self.refused(64, ["--frontier", "empty item"], small, "--frontier", "1,,2")

    def test_an_output_that_cannot_be_written(self):
        self.refused(74, ["nowhere"], EXAMPLE, "--trace", 1, "--out",
                     self.dir / "nowhere" / "noise.npz")


if __name__ == "__main__":
    unittest.main()
