"""The command line itself: unknown words, help, and messages that call keys by the options of the command."""
import unittest

from support import USAGE, ProgramTest, run


class CommandLine(ProgramTest):
    def test_unknown_commands_are_wrong_usage_wherever_help_stands(self):
        for line in (["acount"], ["acount", "--help"], ["--help", "acount"], ["study", "rum"], ["study", "rum", "--help"],
                     ["study", "--help", "rum"], ["data", "chek", "--help"]):
            self.assert_refused(USAGE, ["unknown command"], *line)
        self.assert_refused(USAGE, ["Did you mean rows?"], "row", "--help")

    def test_everything_that_is_missing_is_listed_at_once(self):
        self.assert_refused(USAGE, ["TABLE", "--target", "--adjacency", "--loss", "--noise"], "rows")

    def test_messages_name_the_options_of_the_command(self):
        rows = ["rows", "examples/rows/diabetes.csv", "--target", "progression", "--adjacency", "remove", "--loss", "sum", "--noise", "1"]
        self.assert_refused(USAGE, ["--steps: ", "--learning-rate"], *rows, "--steps", "3")
        self.assert_refused(USAGE, ["--release"], *rows, "--release", "--time", "3")
        # What is wrong with the value of an option, without the key that it stands for.
        self.assert_refused(USAGE, ["sfumato: --delta: 2 is not a delta"], "quadratic", "examples/quadratic/shift.toml", "--delta", "2")

    def test_a_file_is_answered_in_its_keys(self):
        question = self.write("q.toml", 'table = "t.csv"\ntarget = "y"\nadjacency = "remove"\nloss = "sum"\nnoise = 1\nsteps = 3\n')
        result = run("rows", question)
        self.assertEqual(result.returncode, 65, result.stderr)
        self.assertIn("q.toml:6:", result.stderr)
        self.assertIn("`learning_rate`", result.stderr)


if __name__ == "__main__":
    unittest.main()
