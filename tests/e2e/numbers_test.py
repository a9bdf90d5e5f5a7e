"""Numbers at the ends of the doubles and of the integers in the places of the examples: every command ends soon,
with an answer or with one line that is not "this is a bug". SFUMATO_NUMBERS=20000 tries as many cases (300)."""
import os
import random
import re
import resource
import signal
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support import ROOT, SFUMATO, ProgramTest

CASES = int(os.environ.get("SFUMATO_NUMBERS", "120"))
SEED = int(os.environ.get("SFUMATO_NUMBERS_SEED", "20240611"))
KEPT = os.environ.get("SFUMATO_NUMBERS_KEEP")  # a directory for the cases that go wrong
SECONDS = 8  # of processor time of a case

ODD = ["0", "-0.0", "1", "-1", "5e-324", "1e-320", "1e-300", "1e-155", "1e-12", "1e12", "1e100", "1e155",
       "1e200", "1e300", "1.7976931348623157e308", "-1e300", "nan", "inf", "-inf", "3",
       "2147483648", "9223372036854775807", "-9223372036854775808", "0.5"]
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")

QUICK_TRAINING = """
[data]
set = "t.csv"
records = 4
[model]
layers = [{type = "linear", outputs = 3}, {type = "relu"}, {type = "linear", outputs = 2}]
[train]
iterations = 3
batch_size = 2
learning_rate = 0.1
log_every = 1
path_kl = true
[[noise]]
policy = "floored"
variance = 0.01
floor = 0.001
[[noise]]
policy = "isotropic"
variance = 0.01
[audit]
pairs = 1
replicas = 2
epsilons = [0.1]
delta = 1e-5
confidence = 0.95
"""
TABLE = "a,b,class\n0.5,1,0\n-1,2,1\n0.25,-3,0\n2,0.5,1\n1,1,1\n"

def spread(text, rng):
    """`text` with one, two or three of its numbers replaced; comments stay."""
    places = [m for m in NUMBER.finditer(text)
              if "#" not in text[text.rfind("\n", 0, m.start()) + 1:m.start()]]
    chosen = rng.sample(places, min(len(places), rng.choice([1, 1, 1, 2, 3])))
    for match in sorted(chosen, key=lambda m: -m.start()):
        text = text[:match.start()] + rng.choice(ODD) + text[match.end():]
    return text


def sources():
    """(name, text of the file, command with FILE in the place of its name)"""
    for path in sorted((ROOT / "examples/quadratic").glob("*.toml")):
        text = path.read_text().replace("files/", f"{ROOT}/examples/quadratic/files/")
        yield path.name, text, ["quadratic", "FILE"]
        yield path.name, text, ["design", "--problem", "FILE", "--differences-are", "public",
                                            "--rounds", "3"]
    for path in sorted((ROOT / "examples/bound").glob("*.toml")):
        # Simulation of many records, and scores of particles where the grid gives up, may take long.
        slow = "" if path.stem in ("double_well", "shift") else "monte_carlo = false\n"
        text = path.read_text() + "\n[estimate]\npaths = 200\ncells = 32\n" + slow
        yield path.name, text.replace("../rows/", f"{ROOT}/examples/rows/"), ["bound", "FILE"]
    ridge = (ROOT / "studies/ridge_exact.toml").read_text().replace("../examples", f"{ROOT}/examples")
    ridge = ridge.replace("replicas = 500", "replicas = 2")
    logistic = (ROOT / "studies/logistic_bound.toml").read_text()
    logistic = re.sub(r"replicas = \d+", "replicas = 2", logistic.replace("../examples",
                                                                         f"{ROOT}/examples"))
    for name, text in [("ridge", ridge), ("logistic", logistic), ("network", QUICK_TRAINING)]:
        yield name + ".toml", text, ["study", "run", "FILE", "--ledger", "l", "--threads", "1"]
        yield name + ".toml", text, ["study", "plan", "FILE", "--seconds", "0.05", "--threads", "1"]
    yield "network.toml", QUICK_TRAINING, ["train", "FILE", "--out", "o"]
    rows = "\n".join((ROOT / "examples/rows/diabetes.csv").read_text().splitlines()[:9]) + "\n"
    fixed = ["rows", "FILE", "--target", "progression", "--features", "bmi,bp", "--adjacency", "remove",
             "--loss", "sum", "--ridge", "1", "--noise", "10"]
    yield "t.csv", rows, fixed
    yield "t.csv", rows, [*fixed, "--time", "2"]
    yield "t.csv", rows, [*fixed, "--learning-rate", "1e-5", "--steps", "100"]
    yield "t.csv", TABLE, ["rows", "FILE", "--target", "class", "--model", "logistic", "--adjacency",
                           "remove", "--loss", "sum", "--ridge", "1", "--noise", "10"]
    design = ["design", "FILE", "--differences-are", "public", "--trace", "1"]
    differences = (ROOT / "examples/design/differences.csv").read_text()
    yield "s.csv", differences, design
    yield "s.csv", differences, [*design, "--form", "full"]
    scores = ["audit", "FILE", f"{ROOT}/examples/audit/out.csv"]
    lines = (ROOT / "examples/audit/in.csv").read_text().splitlines()[:40]
    yield "in.csv", "\n".join(lines) + "\n", scores


class NumbersTest(ProgramTest):
    def judge(self, name, text, command, number):
        directory = self.dir / str(number)
        directory.mkdir()
        (directory / name).write_text(text)
        (directory / "t.csv").write_text(text if name == "t.csv" else TABLE)
        words = [name if word == "FILE" else word for word in command]
        result = subprocess.run([SFUMATO, *words], cwd=directory, capture_output=True, text=True,
                                check=False, preexec_fn=lambda: resource.setrlimit(
                                    resource.RLIMIT_CPU, (SECONDS, SECONDS + 5)))
        if result.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            if KEPT:
                Path(KEPT, str(number)).write_text(f"no end\n{words}\n{text}")
            return f"no end in {SECONDS} s", words, text
        lines = [line for line in result.stderr.splitlines() if line.startswith("sfumato:")]
        wrong = None
        if result.returncode not in (0, 1, 2, 64, 65):
            wrong = f"exit code {result.returncode}"
        elif re.search(r"\bbug\b", result.stderr):
            wrong = "a bug is admitted"
        elif result.returncode >= 64 and len(lines) != 1:
            wrong = "not one line"
        elif re.search(r"[=~] -?nan\b", result.stdout):
            wrong = "NaN is printed"
        if wrong and KEPT:
            Path(KEPT, str(number)).write_text(f"{wrong}\n{words}\n{result.stderr}\n{text}")
        return (f"{wrong}: {result.stderr[-300:]}", words, text) if wrong else None

    def test_no_number_ends_in_a_bug(self):
        rng = random.Random(SEED)
        kinds = list(sources())
        cases = []
        for number in range(CASES):
            name, text, command = kinds[number % len(kinds)]
            cases.append((name, spread(text, rng), command, number))
        with ThreadPoolExecutor(2) as pool:
            found = [f for f in pool.map(lambda case: self.judge(*case), cases) if f]
        self.assertEqual([(what, words) for what, words, _ in found], [],
                         "".join(text for _, _, text in found[:1]))


if __name__ == "__main__":
    unittest.main()
