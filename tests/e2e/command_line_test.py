"""The command line itself: unknown words, and messages that call keys by the options of the command and advise no others."""
import re
import unittest

from support import BAD_INPUT, ROOT, STORAGE, USAGE, ProgramTest, run

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
# Options that texts of the library may name, and the commands that show them. The rest of the library speaks of keys.
SHOWN_BY = {
    "sfumato/report": ["rows", "fit"],  # what shows more, where a command has it
    "sfumato/fit": ["fit"], "sfumato/audit": ["audit"], "sfumato/design": ["design"], "sfumato/quadratic": ["quadratic"],
    "sfumato/rows": ["rows"], "sfumato/bound": ["bound"], "sfumato/account": ["account"], "sfumato/problem": ["quadratic", "bound"],
    "lab/audit": ["audit", "report"], "lab/report": ["report"], "lab/train": ["train"], "lab/images": ["data list"],
    "lab/study": ["study run", "study plan", "study status", "study verify"], "golden": ["verify"], "bench": ["bench engine"],
}
ANYWHERE = {"--set", "--json", "--mpi"}  # --set names the place of an override, --mpi is srun's


def options_of(command):
    return set(OPTION.findall(run(*command.split(), "--help-all").stdout))


def literals_of(path):
    """(line, text) of every string of a C++ source, adjacent ones joined; comments and command lines left out."""
    source = re.sub(r"//.*|^\s*#include.*", lambda m: " " * len(m.group()), path.read_text(), flags=re.MULTILINE)
    for found in re.finditer(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', source):
        text = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', found.group()))
        yield source.count("\n", 0, found.start()) + 1, re.sub(r"sfumato [a-z]+[^`]*", "", text)


class CommandLine(ProgramTest):
    def test_unknown_commands_are_wrong_usage_wherever_help_stands(self):
        for line in (["acount"], ["acount", "--help"], ["--help", "acount"], ["study", "rum"], ["study", "rum", "--help"],
                     ["study", "--help", "rum"], ["data", "chek", "--help"]):
            self.assert_refused(USAGE, ["unknown command"], *line)
        self.assert_refused(USAGE, ["Did you mean rows?"], "row", "--help")

    def test_everything_that_is_missing_is_listed_at_once(self):
        self.assert_refused(USAGE, ["TABLE", "--target", "--adjacency", "--loss", "--noise"], "rows")
        self.assert_refused(USAGE, ["INPUTS", "--out"], "report")
        self.assert_refused(USAGE, ["LEDGER", "--out"], "study", "export")
        self.assert_refused(USAGE, ["LEDGER", "COPY"], "study", "copy")
        for command in ("study run", "study plan", "train"):
            self.assert_refused(USAGE, ["STUDY"], *command.split())
        self.assert_refused(USAGE, ["SET"], "data", "get")

    def test_names_come_before_values(self):
        self.assert_refused(USAGE, ['unknown option "--thread"'], "study", "run", "x.toml", "--threads", "many", "--thread", "1")
        self.assert_refused(USAGE, ['unknown option "--sead"'], "study", "verify", "x.ledger", "--sample", "-1", "--sead", "1")
        self.assert_refused(USAGE, ["--threads", "not a number"], "study", "run", "x.toml", "--threads", "many")

    def test_messages_name_the_options_of_the_command(self):
        rows = ["rows", "examples/rows/diabetes.csv", "--target", "progression", "--adjacency", "remove", "--loss", "sum", "--noise", "1"]
        self.assert_refused(USAGE, ["--steps: ", "--learning-rate"], *rows, "--steps", "3")
        self.assert_refused(USAGE, ["--release"], *rows, "--release", "--time", "3")
        self.assert_refused(USAGE, ["--randomised"], "audit", "--members", "a.csv", "--nonmembers", "b.csv", "--unit", "models",
                            "--guesses", "3")
        self.assert_refused(USAGE, ["--members"], "audit")
        self.assert_refused(STORAGE, ["--force"], "study", "export", "none.ledger", "--out", self.write("there.csv", ""))
        # What is wrong with the value of an option, without the key that it stands for.
        self.assert_refused(USAGE, ["sfumato: --delta: 2 is not a delta"], "quadratic", "examples/quadratic/shift.toml", "--delta", "2")

    def test_a_file_is_answered_in_its_keys(self):
        question = self.write("q.toml", 'table = "t.csv"\ntarget = "y"\nadjacency = "remove"\nloss = "sum"\nnoise = 1\nsteps = 3\n')
        result = run("rows", question)
        self.assertEqual(result.returncode, 65, result.stderr)
        self.assertIn("q.toml:6:", result.stderr)
        self.assertIn("`learning_rate`", result.stderr)

    def test_a_key_of_a_table_is_called_by_its_path(self):
        problem = self.write("p.toml", "[flow]\ntimes = [1]\n[risk]\ndelta = 2\n[d]\nA = 1\nminimiser = 0\nSigma = 1\n[d_prime]\n")
        self.assert_refused(BAD_INPUT, ["p.toml:4:9: `risk.delta`: 2 is not"], "quadratic", problem)

    def test_a_question_about_a_ledger_as_a_file(self):
        self.assert_refused(BAD_INPUT, ["v.toml:1:1", "unknown", "`sample`"], "study", "verify", self.write("v.toml", "sampel = 3\n"))

    def test_a_report_as_a_file(self):
        self.write("risk.json", run("quadratic", "examples/quadratic/shift.toml", "--json").stdout)
        question = self.write("page.toml", 'inputs = ["risk.json"]\nout = "page.html"\ntitle = "A page"\n')
        made = run("report", question, cwd="/")
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.assertIn("<title>A page", (self.dir / "page.html").read_text())
        # What the command line says comes before the file.
        made = run("report", question, "--title", "Another", "--force")
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.assertIn("<title>Another", (self.dir / "page.html").read_text())
        self.assert_refused(BAD_INPUT, ["page.toml:4:1", "unknown"], "report", self.write(
            "page.toml", 'inputs = ["risk.json"]\nout = "page.html"\ntitle = "A page"\ncolour = 1\n'))

    def test_no_advice_that_the_command_cannot_follow(self):
        base = ["--target", "y", "--adjacency", "remove", "--loss", "sum", "--noise", "1"]
        missing = self.write("missing.csv", "a,y\n1,2\n,3\n4,5\n")
        semicolons = self.write("semicolons.csv", "a;y\n1;2\n2;3\n")
        commas = self.write("commas.csv", 'a;y\n"1,5";2\n2;3\n')
        self.assert_refused(BAD_INPUT, ["--impute"], "rows", missing, *base)
        self.assert_refused(BAD_INPUT, ['set --separator to ";"'], "rows", semicolons, *base)
        self.assert_refused(BAD_INPUT, ['set --decimal to ","'], "rows", commas, *base, "--separator", ";")
        # The same files where nothing can be chosen.
        for path in (missing, semicolons, commas):
            problem = ["bound", "--times", "1", "--set", "d.model=ridge", "--set", f"d.data='{path}'", "--set", "d.target='y'",
                       "--set", "d.loss='sum'", "--set", "d.Sigma=1", "--set", "d_prime.without_row=1"]
            result = run(*problem)
            self.assertEqual(result.returncode, BAD_INPUT, result.stderr)
            self.assertIn(path.name, result.stderr)
            for word in ("drop", "separator", "--decimal", "`decimal`"):
                self.assertNotIn(word, result.stderr)


class Sources(unittest.TestCase):
    def test_texts_name_only_options_that_their_commands_have(self):
        have = {command: options_of(command) for command in {c for all in SHOWN_BY.values() for c in all}}
        seen = 0
        for path in sorted([*(ROOT / "src").rglob("*.cpp"), *(ROOT / "apps").rglob("*.cpp")]):
            place = path.relative_to(ROOT).as_posix().split("/", 1)[1]
            if place.startswith(("reproduce/", "cli/")):  # the front of one command, and of all
                continue
            commands = [c for prefix, those in SHOWN_BY.items() if place.startswith(prefix + "/") for c in those]
            for line, text in literals_of(path):
                for option in set(OPTION.findall(text)) - ANYWHERE:
                    seen += 1
                    self.assertTrue(any(option in have[c] for c in commands), f"{place}:{line}: {text!r}: nobody there has {option}")
        self.assertGreater(seen, 10)


if __name__ == "__main__":
    unittest.main()
