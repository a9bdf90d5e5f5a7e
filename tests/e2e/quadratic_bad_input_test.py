"""Everything that can be wrong with the input of `sfumato quadratic`: one clear line each."""
import math
import os
import struct
import unittest

from support import BAD_INPUT, STORAGE, USAGE, ProgramTest

FLOW = "flow.times = [1]\n"
CHAIN = "chain = {learning_rate = 0.1, steps = [1]}\n"
D = "d = {A = [1, 2], minimiser = [0, 1], Sigma = 1}\n"
SHIFTED = "d_prime = {minimiser = [0, 2]}\n"


def npy(values, shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
            + struct.pack(f"<{len(values)}d", *values))


class ProblemFile(ProgramTest):
    def refuse(self, content, *needles):
        """The file is refused with one line that names it and contains the needles."""
        path = self.write("problem.toml", content)
        self.assert_refused(BAD_INPUT, [path, *needles], "quadratic", path)

    def test_unknown_keys_with_place_and_suggestion(self):
        self.refuse("titel = 'x'\n" + FLOW + D + SHIFTED, ":1:1", '"titel"', "title")
        self.refuse("[flow]\ntimes = [1]\ntime = 2\n" + D + SHIFTED, ":3:1", '"flow.time"', "times")
        self.refuse(FLOW + "[risk]\nepsilon = 1\n" + "[d]\n[d_prime]\n", ":3:1", "epsilons")
        self.refuse(FLOW + "[d]\nA = 1\nminimizer = 0\nSigma = 1\n[d_prime]\nminimiser = 1\n",
                    ":4:1", '"d.minimizer"', "minimiser")
        self.refuse(FLOW + D + "[d_prime]\nsigma = 1\n", ":4:1", '"d_prime.sigma"', "Sigma")
        self.refuse("[release]\nSigma = 1\n" + "[d]\n[d_prime]\n", ":2:1", '"release.Sigma"')

    def test_missing_parts(self):
        self.refuse(D + SHIFTED, "none of [flow], [chain] and [release]")
        self.refuse(FLOW + "release.S = 1\n" + D + SHIFTED, ":2:", "both given")
        self.refuse(FLOW + CHAIN + D + SHIFTED, ":2:", "[flow] and [chain] are both given")
        self.refuse(FLOW + CHAIN + "release.S = 1\n" + D + SHIFTED, "all given")
        self.refuse("flow = {}\n" + D + SHIFTED, ":1:", "times")
        self.refuse(FLOW + SHIFTED, "`d` is missing")
        self.refuse(FLOW + D, "`d_prime` is missing")
        self.refuse(FLOW + "d = {A = 1, minimiser = 0}\nd_prime = {}\n", "Sigma")
        self.refuse(FLOW + "d = {minimiser = 0, Sigma = 1}\nd_prime = {}\n", ":2:", "curvature")
        self.refuse(FLOW + "d = {A = 1, Sigma = 1}\nd_prime = {}\n", "minimiser or pull")

    def test_contradictions(self):
        self.refuse(FLOW + "d = {A = 1, B = [[1]], minimiser = 0, Sigma = 1}\nd_prime = {}\n",
                    "`d.A` and `d.B`")
        self.refuse(FLOW + "d = {A = 1, pull = 1, minimiser = 0, Sigma = 1}\nd_prime = {}\n",
                    "`d.minimiser` and `d.pull`")
        self.refuse(FLOW + "d = {A = 1, y = 1, Sigma = 1}\nd_prime = {}\n", "`d.y` needs B")
        self.refuse(FLOW + "d = {B = [[1]], y = [1], Sigma = 1}\nd_prime = {A = 2}\n",
                    ":3:", "`d.y` needs B")
        self.refuse("release.S = 1\n" + D + SHIFTED, "`d.Sigma` belongs to a flow")
        self.refuse("risk = {delta = 0.1, deltas = [0.1]}\n" + FLOW + D + SHIFTED, ":1:", "`risk.delta` and `risk.deltas`")

    def test_wrong_types(self):
        self.refuse(FLOW + "d = 3\n" + SHIFTED, ":2:5", "an integer")
        self.refuse("flow.times = 'soon'\n" + D + SHIFTED, ":1:14", "a string")
        self.refuse("flow.times = []\n" + D + SHIFTED, "empty")
        self.refuse("title = 3\n" + FLOW + D + SHIFTED, ":1:9", "an integer")
        self.refuse(FLOW + "d = {A = [1, true], minimiser = [0, 0], Sigma = 1}\n" + SHIFTED,
                    "a boolean")

    def test_not_toml(self):
        self.refuse("flow = [\n", "not TOML")
        self.refuse("\x00", "problem.toml")
        self.refuse(FLOW + FLOW + D + SHIFTED, ":2:", "not TOML")

    def test_wrong_shapes(self):
        self.refuse(FLOW + "d = {A = [[1, 2]], minimiser = [0, 0], Sigma = 1}\n" + SHIFTED,
                    ":2:10", "1 x 2")
        self.refuse(FLOW + "d = {A = [[1, 2], [3]], minimiser = [0, 0], Sigma = 1}\n" + SHIFTED,
                    "row 2", "1 entries")
        self.refuse(FLOW + "d = {A = [1, 2], minimiser = [0, 1, 2], Sigma = 1}\n" + SHIFTED,
                    "`d.minimiser` has 3 entries", "2 parameters")
        self.refuse(FLOW + "d = {A = [1, 2], minimiser = [[0, 1]], Sigma = 1}\n" + SHIFTED,
                    "`d.minimiser` is a matrix of 1 x 2")
        self.refuse(FLOW + "d = {A = [1, 2], minimiser = [0, 1], Sigma = [1, 2, 3]}\n" + SHIFTED,
                    "`d.Sigma` has 3 entries")
        self.refuse(FLOW + "d = {A = [1, 2], minimiser = [0, 1], Sigma = [[1]]}\n" + SHIFTED,
                    "`d.Sigma` is 1 x 1")
        self.refuse(FLOW + D + "d_prime = {start_mean = [0]}\n", "`d_prime.start_mean` has 1 ent")
        self.refuse(FLOW + D + "d_prime = {A = [1], minimiser = [0]}\n", "[d_prime] has 1 param")
        self.refuse(FLOW + "d = {B = [[1], [2]], y = [1], Sigma = 1}\nd_prime = {}\n",
                    "`d.y`", "B has 2 rows")
        self.refuse("release.S = [1, 2, 3]\n" + "d = {A = [1, 2], minimiser = [0, 1]}\n" + SHIFTED,
                    "`release.S` has 3 entries")

    def test_rows_that_cannot_be_removed(self):
        least_squares = FLOW + "d = {B = [[1], [2]], y = [1, 2], Sigma = 1}\n"
        self.refuse(least_squares + "d_prime = {without_row = 3}\n", ":3:", "= 3", "rows 1 to 2")
        self.refuse(least_squares + "d_prime = {without_row = 0}\n", "= 0")
        self.refuse(least_squares + "d_prime = {without_row = 1.5}\n", "1.5")
        self.refuse(least_squares + "d_prime = {without_row = 1, y = [1]}\n", "both define")
        self.refuse(FLOW + D + "d_prime = {without_row = 1}\n", "[d] does not give")
        self.refuse(FLOW + "d = {A = 1, minimiser = 0, Sigma = 1, without_row = 1}\nd_prime = {}\n",
                    '"d.without_row" is unknown')

    def test_covariances(self):
        def sigma(value):
            return FLOW + f"[d]\nA = [1, 2]\nminimiser = [0, 1]\nSigma = {value}\n[d_prime]\n"
        self.refuse(sigma("[[1, 0.5], [0.4, 1]]"), ":5:9", "not symmetric", "0.5", "0.4")
        self.refuse(sigma("[[1, 2], [2, 1]]"), ":5:9", "smallest eigenvalue is -1")
        self.refuse(sigma("[1, -0.5]"), ":5:9", "-0.5")
        self.refuse(sigma("-2"), ":5:9", "-2")
        self.refuse(sigma("inf"), ":5:9", "infinite")
        self.refuse(sigma("[1, nan]"), ":5:13", "nan")
        self.refuse(FLOW + "d = {A = [[1, 2], [0, 1]], minimiser = [0, 0], Sigma = 1}\n" + SHIFTED,
                    ":2:10", "A", "not symmetric")
        self.refuse("release.S = [[1, 2], [2, 1]]\nd = {A = 1, minimiser = [0, 1]}\n" + SHIFTED,
                    ":1:13", "smallest eigenvalue is -1")
        self.refuse(FLOW + D + "d_prime = {start_covariance = [[1, 2], [2, 1]]}\n",
                    ":3:", "smallest eigenvalue is -1")

    def test_not_finite(self):
        self.refuse(FLOW + "d = {A = [1, nan], minimiser = [0, 0], Sigma = 1}\n" + SHIFTED, "nan")
        self.refuse(FLOW + "d = {A = [1, inf], minimiser = [0, 0], Sigma = 1}\n" + SHIFTED,
                    "infinite")
        self.refuse(FLOW + "d = {A = 1, minimiser = -inf, Sigma = 1}\n" + SHIFTED, "infinite")
        self.refuse("flow.times = [1, nan]\n" + D + SHIFTED, ":1:", "nan")

    def test_numbers_out_of_range(self):
        self.refuse("flow.times = [1, -0.5]\n" + D + SHIFTED, ":1:14", "-0.5", "time")
        self.refuse("flow.times = -inf\n" + D + SHIFTED, "-inf")
        for key, value in (("epsilons", "[-0.25]"), ("epsilons", "[inf]"), ("delta", "1"),
                           ("delta", "-0.01"), ("deltas", "[0.1, 1.5]"), ("renyi_orders", "[0]"),
                           ("renyi_orders", "[2, -3]"), ("false_positive_rates", "[1.01]")):
            with self.subTest(key=key, value=value):
                self.refuse(FLOW + f"risk.{key} = {value}\n" + D + SHIFTED, ":2:",
                            value.strip("[]").split(", ")[-1], f"`risk.{key}`")

    def test_chains(self):
        def chain(content):
            return f"[chain]\n{content}\n[d]\nA = 1\nminimiser = 0\nS = 1\n[d_prime]\n"
        for rate in ("0", "-0.1", "inf", "nan"):
            with self.subTest(rate=rate):
                self.refuse(chain(f"steps = 1\nlearning_rate = {rate}"), ":3:17", rate,
                            "learning_rate")
        self.refuse(chain("learning_rate = 'small'\nsteps = 1"), ":2:17", "a string")
        self.refuse(chain("steps = 1"), "learning_rate")
        self.refuse(chain("learning_rate = 0.1"), "steps")
        for steps in ("2.5", "-1", "-inf", "nan"):
            with self.subTest(steps=steps):
                self.refuse(chain(f"learning_rate = 0.1\nsteps = [1, {steps}]"), ":3:", steps,
                            "steps")
        self.refuse(chain("learning_rate = 0.1\nsteps = []"), ":3:9", "empty")
        self.refuse(chain("learning_rate = 0.1\ntimes = [1]"), ":3:9", "`steps`, not `times`")
        self.refuse(chain("rate = 0.1\nsteps = 1"), ":2:1", '"chain.rate"')
        self.refuse(chain("learning_rate = 0.1\nsteps = 1\nS = 1"), ":4:1", '"chain.S"')

    def test_noise_of_chains(self):
        self.refuse(CHAIN + "d = {A = 1, minimiser = 0, S = 1, Sigma = 1}\nd_prime = {}\n", ":2:",
                    "`d.Sigma` and `d.S`")
        self.refuse(CHAIN + "d = {A = 1, minimiser = 0, Sigma = 1}\nd_prime = {S = 1}\n", ":3:",
                    "`d_prime.S`", "`d.Sigma`", "both")
        self.refuse(CHAIN + "d = {A = 1, minimiser = 0, S = 1}\nd_prime = {Sigma = 1}\n", ":3:",
                    "`d.S`", "`d_prime.Sigma`", "both")
        self.refuse(CHAIN + "d = {A = 1, minimiser = 0}\nd_prime = {}\n", "Sigma or S")
        self.refuse(CHAIN + "d = {A = 1, minimiser = 0, S = -1}\nd_prime = {}\n", ":2:", "-1")
        self.refuse(FLOW + "d = {A = 1, minimiser = 0, S = 1}\nd_prime = {}\n", ":2:", "`d.S`",
                    "describes a flow")
        self.refuse("release.S = 1\nd = {A = 1, minimiser = 0, S = 1}\nd_prime = {}\n", ":2:",
                    "`d.S`", "describes a release")

    def test_release_without_a_minimiser(self):
        self.refuse("release.S = 1\nd = {A = [1, 0], pull = [1, 1]}\nd_prime = {pull = [1, 0]}\n",
                    "no minimiser", "eigenvalue")
        self.refuse("release.S = 1\nd = {A = -1, pull = 1}\nd_prime = {pull = 2}\n",
                    "eigenvalue -1")


class ArrayFiles(ProgramTest):
    def refuse(self, key, name, content, *needles):
        """A file named in place of `key` is refused with its own name."""
        if content is not None:
            self.write(name, content)
        values = {"A": "[1, 2]", "minimiser": "[0, 1]", "Sigma": "1", key: f'"{name}"'}
        lines = "".join(f"{k} = {v}\n" for k, v in values.items())
        path = self.write("problem.toml", FLOW + "[d]\n" + lines + "[d_prime]\n")
        self.assert_refused(BAD_INPUT, [name, *needles], "quadratic", path)

    def test_missing(self):
        self.refuse("A", "absent.csv", None)
        self.refuse("Sigma", "absent.npz", None)

    def test_truncated_npy(self):
        whole = npy([1, 0, 0, 2], "(2, 2)")
        for length in (0, 5, 9, 40, len(whole) - 1):
            with self.subTest(length=length):
                self.refuse("A", "cut.npy", whole[:length])
        self.refuse("A", "long.npy", whole + b"\0")
        self.refuse("Sigma", "cut.npy", whole[:-8])

    def test_ragged_csv(self):
        self.refuse("A", "ragged.csv", "1,2\n3\n", ":2")
        self.refuse("A", "text.csv", "1,2\n3,four\n", ":2", "text, not a finite number")
        self.refuse("A", "empty.csv", "")

    def test_not_finite(self):
        self.refuse("A", "nan.npy", npy([1, float("nan"), 0, 1], "(2, 2)"), "nan")
        self.refuse("minimiser", "inf.npy", npy([1, float("inf")], "(2,)"), "inf")

    def test_covariances(self):
        self.refuse("Sigma", "sigma.csv", "1,2\n2,1\n", "smallest eigenvalue is -1")
        self.refuse("Sigma", "sigma.npy", npy([1, 0.5, 0.4, 1], "(2, 2)"), "not symmetric")
        self.refuse("Sigma", "sigma.npz", b"PK\x05\x06")
        self.refuse("Sigma", "sigma.csv", "1,0,0\n0,1,0\n0,0,1\n", "dimension 3")

    def test_unknown_kind(self):
        self.refuse("A", "matrix.txt", "1 2\n", ".txt")
        self.refuse("Sigma", "matrix.txt", "1 2\n", ".npz")


class Overflow(ProgramTest):
    """Numbers that leave the range of doubles on the way are said to be too large, never NaN."""

    LINE = "d = {A = 1, minimiser = 0, Sigma = 1}\nd_prime = {minimiser = 1}\n"

    def runs(self, text, *args):
        return self.document("quadratic", self.write("problem.toml", text), *args)

    def test_a_chain_whose_square_overflows(self):
        document = self.runs("chain = {learning_rate = 1e308, steps = [1, 2]}\n" + self.LINE)
        self.assertEqual(document.value("accuracy", "error_d", steps=2), math.inf)

    def test_a_curvature_whose_inverse_overflows(self):
        self.runs(FLOW + self.LINE.replace("A = 1", "A = 1e-320"), "--times", "inf")

    def test_distances_whose_squares_overflow(self):
        document = self.runs(FLOW + self.LINE.replace("minimiser = 1", "minimiser = 1e300"))
        self.assertTrue(any("1.000e300" in text for text in document.statements()), document.statements())

    def test_a_device_without_end(self):
        self.assert_refused(BAD_INPUT, ["/dev/zero", "larger"], "quadratic", "/dev/zero")


class CommandLine(ProgramTest):
    def setUp(self):
        super().setUp()
        self.path = self.write("problem.toml", FLOW + D + SHIFTED)

    def refuse(self, code, needles, *args, **options):
        self.assert_refused(code, needles, "quadratic", *args, **options)

    def test_usage(self):
        self.refuse(USAGE, ["file"])
        self.refuse(USAGE, ["--tims", "--times"], self.path, "--tims", "1")
        self.refuse(USAGE, ["extra"], self.path, "extra")
        self.refuse(USAGE, ["--times", "-1"], self.path, "--times=-1")
        self.refuse(USAGE, ["--times", "nan"], self.path, "--times", "1,nan")
        self.refuse(USAGE, ["--times", "soon"], self.path, "--times", "soon")
        self.refuse(USAGE, ["--epsilons", "-0.5"], self.path, "--epsilons=-0.5")
        self.refuse(USAGE, ["--delta", "1.5"], self.path, "--delta", "1.5")
        self.refuse(USAGE, ["--delta", "-0.1"], self.path, "--delta=-0.1")

    def test_steps(self):
        chain = self.write("chain.toml", CHAIN + D + SHIFTED)
        for steps in ("2.5", "-1", "nan"):
            self.refuse(USAGE, ["--steps", steps], chain, f"--steps={steps}")
        self.refuse(BAD_INPUT, [self.path, "times, not steps"], self.path, "--steps", "1")
        self.refuse(BAD_INPUT, [chain, "steps, not times"], chain, "--times", "1")

    def test_times_of_a_release(self):
        release = self.write("release.toml", "release.S = 1\nd = {A = 1, minimiser = 0}\n"
                                             "d_prime = {minimiser = 1}\n")
        self.refuse(BAD_INPUT, [release, "no times"], release, "--times", "1")
        self.refuse(BAD_INPUT, [release, "no steps"], release, "--steps", "1")

    def test_files_that_cannot_be_read(self):
        self.refuse(BAD_INPUT, ["absent.toml"], self.dir / "absent.toml")
        self.refuse(BAD_INPUT, [self.dir], self.dir)
        if os.getuid() != 0:  # root reads everything
            self.path.chmod(0)
            self.refuse(BAD_INPUT, [self.path], self.path)

    def test_output_that_cannot_be_written(self):
        for extra in ([], ["--json"]):
            with open("/dev/full", "w") as full:
                self.refuse(STORAGE, ["standard output", "No space left"], self.path, *extra,
                            stdout=full)


if __name__ == "__main__":
    unittest.main()
