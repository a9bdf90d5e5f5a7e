"""What a person sees first: a short answer that fits the terminal, with the verdict at its head, and how to see more."""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import unittest

from support import FASHION, ROOT, SFUMATO, ProgramTest, run

LINES = 27  # "about 25", with the line of a long title or path
ROWS = ["rows", "examples/rows/diabetes.csv", "--target", "progression", "--adjacency", "remove", "--loss", "sum",
        "--ridge", "100", "--noise", "0.001", "--standardise", "examples/rows/public.csv"]
AUDIT = ["audit", "--members", "examples/audit/in.csv", "--nonmembers", "examples/audit/out.csv", "--unit", "models",
         "--claim", "eps=1.0,delta=1e-5"]
ANSWERS = [ROWS, AUDIT, ["quadratic", "examples/quadratic/shift.toml"], ["quadratic", "examples/quadratic/chain.toml"],
           ["quadratic", "examples/quadratic/release.toml"], ["bound", "examples/bound/unequal_noise.toml"],
           ["bound", "examples/bound/shift.toml"],
           ["design", "examples/design/differences.csv", "--differences-are", "public", "--form", "full", "--trace", "2"],
           ["data", "list"], ["verify", "tests/golden/golden.json", "--sections", "3"]]
COLOUR = re.compile("\x1b\\[[0-9;]*[mK]")


def on_terminal(arguments, columns, **environment):
    """What the program prints on a terminal of that width; colours included."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    settings = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    process = subprocess.Popen([SFUMATO, *map(str, arguments)], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=slave,
                               stderr=subprocess.DEVNULL, env=dict(settings, TERM="xterm", **environment))
    os.close(slave)
    output = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        output += chunk
    os.close(master)
    process.wait()
    return output.decode().replace("\r\n", "\n")


class Answers(ProgramTest):
    def test_short_and_as_wide_as_the_terminal(self):
        for arguments in ANSWERS:
            with self.subTest(arguments[:2]):
                lines = COLOUR.sub("", on_terminal(arguments, 80)).splitlines()
                self.assertLessEqual(len(lines), LINES, "\n".join(lines))
                self.assertGreater(len(lines), 3)
                wide = [line for line in lines if len(line) > 80]
                self.assertFalse(wide)
                self.assertFalse([line for line in lines if line.startswith("Figure") or "points" in line])

    def test_a_wide_terminal_is_used(self):
        narrow, wide = (max(map(len, on_terminal(ROWS + ["--full"], columns).splitlines())) for columns in (80, 140))
        self.assertLessEqual(narrow, 80)
        self.assertGreater(wide, 100)

    def test_the_verdict_comes_first(self):
        lines = run(*AUDIT).stdout.splitlines()
        self.assertTrue(lines[3].startswith("Verdict: VIOLATION"), lines[:5])
        # Where nothing is claimed, the answer does.
        self.assertIn("is the most exposed of 442 rows", run(*ROWS).stdout.splitlines()[3])
        self.assertIn("the best attacker tells D from D'", run("quadratic", "examples/quadratic/shift.toml").stdout.splitlines()[3])

    def test_one_direction_unless_both_are_wanted(self):
        for arguments in (ROWS, ["quadratic", "examples/quadratic/shift.toml"], ["bound", "examples/bound/shift.toml"]):
            brief, full = run(*arguments).stdout, run(*arguments, "--full").stdout
            self.assertNotIn("D'||D", brief)
            self.assertIn("D'||D", full)

    def test_colour_for_who_wants_it(self):
        self.assertIn("\x1b[1;31mVIOLATION", on_terminal(AUDIT, 80))
        self.assertNotIn("\x1b", on_terminal(AUDIT, 80, NO_COLOR="1"))
        self.assertNotIn("\x1b", run(*AUDIT).stdout)

    def test_the_answer_says_how_to_see_more(self):
        for arguments in ANSWERS:
            if arguments[0] == "verify":  # shows all there is
                continue
            self.assertIn("--full", run(*arguments).stdout, arguments[:2])

    def test_a_page_from_every_answer(self):
        for i, arguments in enumerate(ANSWERS):
            page = self.dir / f"{i}.html"
            result = run(*arguments, "--report", page)
            self.assertIn(result.returncode, (0, 1), result.stderr)
            self.assertIn("<!doctype html>", page.read_text())
        self.assert_refused(64, ["--report", "does not end in .html"], *ROWS, "--report", self.dir / "page.pdf")

    def test_a_page_from_json_of_the_same_name(self):
        written = self.write("x.json", run("quadratic", "examples/quadratic/shift.toml", "--json").stdout)
        result = run("report", written, "--out", self.dir / "x.html")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue((self.dir / "x.html").exists())

    @unittest.skipUnless(FASHION.exists(), "Fashion-MNIST is not installed")
    def test_studies(self):
        ledger = self.dir / "claim.ledger"
        study = ["study", "run", "examples/study/claim.toml", "--ledger", ledger, "--set", "audit.replicas=20"]
        page = self.dir / "page.html"
        for arguments in (study, ["study", "status", ledger], ["audit", ledger], ["study", "verify", ledger, "--sample", "1"],
                          ["study", "plan", "examples/study/claim.toml", "--seconds", "0.1"],
                          ["train", "examples/train/quick.toml", "--set", "train.iterations=20"],
                          ["study", "export", ledger, "--out", self.dir / "trials.csv"]):
            result = run(*arguments, "--report", page, "--force")
            self.assertIn(result.returncode, (0, 1, 2), result.stderr)
            self.assertLessEqual(len(result.stdout.splitlines()), LINES, result.stdout)
            self.assertIn("<!doctype html>", page.read_text())


class Help(unittest.TestCase):
    def test_lines_fit(self):
        commands = [[], ["rows"], ["quadratic"], ["bound"], ["design"], ["train"], ["study"], ["study", "run"], ["study", "plan"],
                    ["study", "status"], ["study", "export"], ["study", "copy"], ["study", "verify"], ["audit"], ["report"], ["account"],
                    ["data"], ["data", "list"], ["data", "check"], ["data", "get"], ["verify"], ["bench"], ["bench", "engine"]]
        for command in commands:
            for option in ("--help", "--help-all"):
                text = run(*command, option).stdout
                # Examples are whole lines to paste.
                wide = [line for line in text.splitlines() if len(line) > 84 and "sfumato" not in line and "\\" not in line]
                self.assertFalse(wide, command)
            self.assertLessEqual(len(run(*command, "--help").stdout.splitlines()), 40, command)

    def test_the_rest_is_one_option_away(self):
        for command in ("account", "audit", "bound", "design", "fit", "quadratic", "report", "rows", "train"):
            brief, whole = (run(command, option).stdout for option in ("--help", "--help-all"))
            self.assertIn(f"more options: sfumato {command} --help-all\n", brief)
            self.assertIn("\nMore options:\n", whole)
            self.assertIn("--force", whole)
            self.assertIn(f"  sfumato {command} ", brief)
            for line in brief.splitlines():
                if line.startswith("  --"):
                    self.assertIn(line, whole)

    def test_ways_to_ask(self):
        for words in ([], ["help"], ["--help"]):
            result = run(*words)
            self.assertEqual((result.returncode, result.stderr), (0, ""), words)
            self.assertIn("  account ", result.stdout)
        self.assertEqual(run("help", "rows").stdout, run("rows", "--help").stdout)
        self.assertEqual(run("help", "study", "run").stdout, run("study", "run", "--help").stdout)
        self.assertEqual(run("-V").stdout, run("--version").stdout)
        unknown = run("help", "row")
        self.assertEqual(unknown.returncode, 64)
        self.assertIn("Did you mean rows?", unknown.stderr)

    def test_what_is_required_stands_apart(self):
        text = run("rows", "--help").stdout
        self.assertLess(text.index("\nRequired:"), text.index("--target"))
        self.assertLess(text.index("\nOutput:"), text.index("--json"))
        self.assertIn("--adjacency remove|replace", text)


class Glossary(unittest.TestCase):
    """Every word at the head of a column is in the glossary, or plain."""

    # Words that need no explanation, and units, file formats and names of other tools.
    PLAIN = set("""row line file set part check path source licence found files records value values quantity method note time t steps
        method default key type meaning size of total bytes content kb id s us per core threads all name number run runs count
        how it get with without from to on in and or the at best best-known first kind form error errors direction share budget
        coordinate coordinates group variance mean entry largest smallest trace round rounds noise policy seconds done failed diverged
        loss losses accuracy test training record differing layer parameter parameters step each iterations models groups sample
        compared ledger difference weights distance standard deviation simulated proven exact estimated show these maximum can most
        needed planned thresholds d's correct guesses canaries level given lower bound upper rate rates eigenvalue norm
        features fit nats x k n m i infinite steps of-roofline roofline gflop case section expected got tolerance settings
        setting batch words isotropic start scores rows order output evidence measure whole""".split())
    SHORT = {"eps": "epsilon"}  # how a head of a column spells a term

    def test_heads_of_columns(self):
        source = (ROOT / "src/sfumato/report/glossary.cpp").read_text()
        texts = re.findall(r'Entry\{\s*\{"([^"]*)"', source) + re.findall(r'"([a-z_]+)"', source)  # terms, and the keys of what they explain
        known = {word for text in texts for word in re.findall(r"[a-z][a-z'-]*", text.lower())}
        known |= {short for short, term in self.SHORT.items() if term in known}
        unknown = {}
        for arguments in ANSWERS:
            document = json.loads(run(*arguments, "--json").stdout)
            for block in document["blocks"]:
                for column in block.get("columns", []) if block["type"] == "table" else []:
                    for word in re.findall(r"[a-z]{2,}", column["title"].lower()):
                        if word not in known and word not in self.PLAIN:
                            unknown.setdefault(word, f"{arguments[0]}: {column['title']}")
        self.assertFalse(unknown)


if __name__ == "__main__":
    unittest.main()
