"""Tables, options and outputs that `sfumato rows` refuses, and what it says."""
import os
import tempfile
import unittest
from pathlib import Path

from rows_support import BASE, DIABETES, LOGISTIC, OTHER
from support import run


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
        self.refused(64, ["--adjacency", "--replacement"], *BASE, "--adjacency", "replace", "--loss", "sum",
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
        self.refused(64, ["--learning-rate", "--steps"], *full, "--learning-rate", "0.1")
        self.refused(64, ["--steps", "--learning-rate"], *full, "--steps", "10")
        self.refused(64, ["--time"], *full, "--learning-rate", "0.1", "--steps", "10", "--time", "1")
        self.refused(64, ["--learning-rate", "--release"], *full, "--learning-rate", "0.1", "--steps", "10", "--release")
        self.refused(64, ["--learning-rate", "0 "], *full, "--learning-rate", "0", "--steps", "10")
        self.refused(64, ["--steps", "1.5"], *full, "--learning-rate", "0.1", "--steps", "1.5")
        self.refused(64, ["--steps", "-1"], *full, "--learning-rate", "0.1", "--steps", "-1")
        # Too long for this table: no stationary distribution.
        self.refused(65, ["stationary", "[0, 2)"], *full, "--learning-rate", "0.1", "--steps", "inf")

    def test_logistic(self):
        full = LOGISTIC + ["--adjacency", "remove", "--loss", "sum", "--noise", "1"]
        self.refused(65, ["--ridge", "--time", "kappa = 0"], *full, "--training", "flow")
        self.refused(65, ["--ridge", "--steps"], *full, "--learning-rate", "1e-4", "--steps", "inf")
        self.refused(65, ["contract", "--learning-rate below"], *full, "--ridge", "1",
                     "--learning-rate", "0.5", "--steps", "inf")
        self.refused(64, ["--check", "exact"], *BASE, "--adjacency", "remove", "--loss", "sum",
                     "--noise", "1", "--check", "1")
        self.refused(64, ["--check", "no paths"], *full, "--ridge", "1", "--check", "1", "--release")
        self.refused(64, ["--model"], *full[:5], "svm", *full[6:])
        with tempfile.TemporaryDirectory() as folder:
            noise = os.path.join(folder, "noise.csv")
            Path(noise).write_text("1\n1\n0\n1\n", encoding="utf-8")
            singular = [*full[:-1], noise]
            self.refused(65, ["singular", "every direction"], *singular, "--ridge", "1")
            Path(noise).write_text("1\n1\n2000\n1\n", encoding="utf-8")
            self.refused(65, ["metric", "isotropic"], *singular, "--ridge", "1", "--training", "flow")

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
        text = self.logistic("--noise", "1e300", "--ridge", "1", "--check", "1", "--training", "flow")
        self.assertIn("not checked by simulation: row", text)
        self.assertIn("leave the range of numbers", text)
        self.assertNotIn("~ inf", text)
        # The squares of these values overflow, their spread does not.
        self.assertIn("~ 1.000", self.logistic("--noise", "1e-300", "--ridge", "1", "--check", "1", "--training", "flow"))

    def test_a_release_without_ridge_names_the_reason(self):
        text = self.logistic("--noise", "1", "--release")
        self.assertIn("2 rows cannot be removed: without such a row no minimiser can be certified", text)
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
            self.assertIn("1 row cannot be removed: without such a row some parameter is not determined",
                          text)
            self.assertIn("The 4 riskiest of 4 rows", text)


if __name__ == "__main__":
    unittest.main()
