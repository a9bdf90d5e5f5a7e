"""`sfumato audit`: bounds, verdicts and their exit codes, LiRA's layout, refusals."""
import math
import random
import struct
import unittest
from statistics import NormalDist

from support import Document, ProgramTest, run


def npy(rows, kind="<f8"):
    """A matrix as the bytes of an NPY file."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    flat = [value for row in rows for value in row]
    data = bytes(flat) if kind == "|b1" else struct.pack(f"<{len(flat)}d", *flat)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


class AuditTest(ProgramTest):
    def scores(self, name, values):
        return self.write(name, "".join(f"{value}\n" for value in values))

    def gaussian(self, mean, count=200, seed=1):
        rng = random.Random(seed)
        return [rng.gauss(mean, 1) for _ in range(count)]

    def files(self, with_record, without):
        return ["audit", "--members", self.scores("in.csv", with_record),
                "--nonmembers", self.scores("out.csv", without)]

    def judged(self, code, *args):
        """The document of a command that ends with a verdict."""
        result = run(*args, "--json")
        self.assertEqual((result.returncode, result.stderr), (code, ""))
        return Document(result.stdout)

    def layout(self, models=64, records=40, shift=4.0, seed=3):
        rng = random.Random(seed)
        member = [[int(rng.random() < 0.5) for _ in range(records)] for _ in range(models)]
        hardness = [rng.gauss(0, 2) for _ in range(records)]
        logits = [[hardness[r] + shift * row[r] + rng.gauss(0, 1) for r in range(records)] for row in member]
        return ["audit", "--logits", self.write("l.npy", npy(logits)),
                "--membership", self.write("m.npy", npy(member, "|b1"))]


class Bounds(AuditTest):
    def test_fixed_threshold_is_the_golden_case(self):
        """Spec §11.3: 95 of 100 against 3 of 100."""
        command = self.files([1] * 95 + [0] * 5, [1] * 3 + [0] * 97)
        document = self.document(*command, "--unit", "models", "--strategy", "fixed", "--threshold", 0.5)
        self.assert_close(document.value("bounds", "value", quantity="eps at delta = 1e-05"), 2.3432994876298303,
                          1e-8)
        self.assert_close(document.value("bounds", "value", quantity="mu"), 2.5826621086946107, 1e-8)
        cell = document.cell("bounds", "value", quantity="eps at delta = 1e-05")
        self.assertEqual((cell["claim"], cell["confidence"]), ("lower_bound", 0.95))
        self.assertEqual(document.value("tests", "true_positives"), 95)

    def test_caps(self):
        """DESIGN: 0.81, 2.57, 3.28 for 10, 50, 100 models per data set."""
        for count, cap in ((10, 0.81), (50, 2.57), (100, 3.28)):
            document = self.document(*self.files([1] * count, [0] * count), "--unit", "models",
                                     "--strategy", "fixed", "--threshold", 0.5)
            value = document.value("bounds", "value", quantity="eps at delta = 1e-05")
            self.assert_close(value, cap, absolute=0.005)
            self.assertEqual(value, document.value("bounds", "maximum", quantity="eps at delta = 1e-05"))

    def test_small_scores_may_mean_members(self):
        with_record, without = self.gaussian(3), self.gaussian(0, seed=2)
        high = self.document(*self.files(with_record, without), "--unit", "models")
        low = self.document(*self.files([-x for x in with_record], [-x for x in without]), "--unit", "models",
                            "--larger-means", "nonmember")
        quantity = "eps at delta = 1e-05"
        self.assertEqual(high.value("bounds", "value", quantity=quantity),
                         low.value("bounds", "value", quantity=quantity))
        wrong = self.document(*self.files([-x for x in with_record], [-x for x in without]), "--unit", "models")
        self.assertTrue(any("--larger-means" in text for text in wrong.statements("warning")))

    def test_columns_are_corrected_for_and_pools_are_not(self):
        rows = [f"{a},{b}\n" for a, b in zip(self.gaussian(3), self.gaussian(3, seed=5))]
        others = [f"{a},{b}\n" for a, b in zip(self.gaussian(0, seed=6), self.gaussian(0, seed=7))]
        command = ["audit", "--members", self.write("in.csv", "".join(rows)), "--nonmembers",
                   self.write("out.csv", "".join(others)), "--unit", "models", "--strategy", "ranks"]
        self.assertEqual(len(self.document(*command).block("tests")["rows"]), 16)
        self.assert_close(self.document(*command).block("tests")["rows"][0]["level"], 0.05 / 16)
        pooled = self.document(*command, "--pool").block("tests")["rows"]
        self.assertEqual((len(pooled), pooled[0]["positives"]), (8, 400))
        look = self.document(*command, "--look", 2).block("tests")["rows"]
        self.assert_close(look[0]["level"], 0.05 / 6 / 16)

    def test_records_describe_only(self):
        document = self.document(*self.files(self.gaussian(1), self.gaussian(0, seed=2)), "--unit", "records")
        self.assertFalse(document.has("bounds"))
        self.assertTrue(any("do not bound epsilon" in text for text in document.statements("warning")))
        auc = document.value("membership", "value", quantity="AUC")
        self.assertTrue(document.value("membership", "lower", quantity="AUC") < auc < 1)

    def test_one_run(self):
        """Spec §11.4: 75 of 100 guesses right would show 0.7022; files cannot break ties in favour of an attack."""
        command = self.files([1] * 38 + [0] * 12, [0] * 37 + [1] * 13) + ["--unit", "records", "--randomised"]
        document = self.document(*command, "--delta", 0, "--guesses", 100)
        # 51 canaries score 1, 50 are guessed to be members: the one too many is a member.
        self.assertEqual(document.value("one_run", "value", quantity="correct"), 74)
        self.assertTrue(any("have equal scores" in text for text in document.statements()))
        separated = self.files(range(100, 150), range(50)) + ["--unit", "records", "--randomised"]
        best = self.document(*separated, "--delta", 0, "--guesses", 60)
        self.assertEqual(best.value("one_run", "value", quantity="correct"), 60)
        # P[B >= 60] = q^60 = 0.05
        self.assert_close(best.value("one_run", "value", quantity="eps at delta = 0"), 2.9711, 1e-3)
        self.assertFalse(best.has("guesses"))
        settled = self.document(*separated, "--delta", 0)
        self.assertEqual([row["guesses"] for row in settled.block("guesses")["rows"]], [100, 80, 40, 20])
        # q^100 = 0.05 / 4
        self.assert_close(settled.value("one_run", "value", quantity="eps at delta = 0"), 3.1048, 1e-3)

    def test_one_run_by_the_trade_off_curve(self):
        """Spec §11.5, written down again in its other form: A_i alone."""
        def refuted(inverse, m, r, v, alpha):
            mass, above = [0.0] * (r + 2), 0.0  # A_i, and the sum of those beyond i
            mass[v] = alpha
            for i in range(v - 1, -1, -1):
                beyond = above  # the sum over j > i + 1
                above += mass[i + 1]
                forced = above + m * inverse(((i + 1) * mass[i + 1] + beyond) / m)
                mass[i] = max(mass[i + 1], forced / (r - i))
                if mass[i] > 1:
                    return True
            return False

        def largest(test):
            low, high = 0.0, 64.0
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (middle, high) if test(middle) else (low, middle)
            return low

        normal, delta = NormalDist(), 1e-3
        phi = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))
        gaussian = lambda mu: lambda y: phi(normal.inv_cdf(y) - mu) if y > 0 else 0.0
        approximate = lambda eps: lambda y: max(0.0, (y - delta) / math.exp(eps), 1 - delta - math.exp(eps) * (1 - y))
        rng = random.Random(8)
        coins = [rng.random() < 0.5 for _ in range(3000)]
        scores = [rng.gauss(3 * coin, 1) for coin in coins]
        command = self.files([s for s, c in zip(scores, coins) if c], [s for s, c in zip(scores, coins) if not c])
        found = self.document(*command, "--unit", "records", "--randomised", "--guesses", 1200, "--delta", delta)
        v = int(found.value("one_run", "value", quantity="correct"))
        mu = largest(lambda x: refuted(gaussian(x), 3000, 1200, v, 0.05))
        self.assert_close(found.value("one_run", "value", quantity="mu"), mu, 1e-6)
        eps = largest(lambda x: refuted(approximate(x), 3000, 1200, v, 0.05))
        self.assert_close(found.value("one_run", "value", quantity="eps at delta = 0.001"), eps, 1e-6)

    def test_one_run_splits_the_level_over_looks(self):
        command = self.files(self.gaussian(2), self.gaussian(0, seed=2))
        shown = [self.document(*command, "--unit", "records", "--randomised", *look)
                 .cell("one_run", "value", quantity="eps at delta = 1e-05") for look in ((), ("--look", 2))]
        self.assertGreater(shown[0]["value"], shown[1]["value"])
        self.assert_close(shown[1]["confidence"], 1 - 0.05 / 6)

    def test_lira_layout(self):
        document = self.document(*self.layout(), "--unit", "models", "--strategy", "fixed", "--threshold", 0)
        self.assertGreater(document.value("bounds", "value", quantity="eps at delta = 1e-05"), 0.5)
        auc = {attack: document.value("membership", "value", attack=attack, quantity="AUC")
               for attack in ("LOSS", "LiRA online", "LiRA offline", "RMIA")}
        self.assertGreater(auc["LiRA online"], 0.99)
        self.assertGreater(auc["LiRA offline"], 0.9)
        self.assertGreater(auc["LiRA online"], auc["LOSS"])
        one = self.document(*self.layout(), "--unit", "records", "--randomised", "--model", 2)
        self.assertGreater(one.value("one_run", "value", quantity="correct"),
                           0.9 * one.value("one_run", "value", quantity="guesses"))

    def test_an_attack_without_shadow_models_says_so(self):
        logits = self.write("l.npy", npy([[1.0, 2.0, 0.0], [0.5, 1.0, 2.0], [1.0, 0.0, 1.0]]))
        member = self.write("m.npy", npy([[1, 0, 0], [1, 0, 0], [0, 1, 0]], "|b1"))
        document = self.document("audit", "--logits", logits, "--membership", member, "--unit", "records")
        cell = document.cell("membership", "value", attack="LiRA online", quantity="AUC")
        self.assertIn("shadow", cell["reason"])

    def test_same_seed_same_answer(self):
        command = [*self.files(self.gaussian(1), self.gaussian(0, seed=2)), "--unit", "models", "--json"]
        self.assertEqual(run(*command).stdout, run(*command).stdout)
        self.assertNotEqual(run(*command).stdout, run(*command, "--seed", 1).stdout)


class Claims(AuditTest):
    def verdict(self, code, claim, with_record, without, *args):
        document = self.judged(code, *self.files(with_record, without), "--unit", "models", "--claim", claim, *args)
        (verdict,) = document.statements("verdict")
        return verdict

    def test_violation(self):
        text = self.verdict(1, "eps=1.0,delta=1e-5", self.gaussian(4), self.gaussian(0, seed=2))
        self.assertTrue(text.startswith("VIOLATION"))

    def test_not_enough_runs(self):
        for eps, how in ((4, ()), (1, ("--strategy", "ranks")), (0.5, ("--strategy", "ranks")),
                         (0.2, ("--choosing", "0.7")), (2, ("--strategy", "fixed", "--threshold", "0.5"))):
            claim = f"eps={eps},delta=1e-5"
            text = self.verdict(2, claim, [1] * 6, [0] * 6, *how)
            self.assertTrue(text.startswith("NOT ENOUGH RUNS"))
            needed = int(text.split("At least ")[1].split()[0])
            # With that many a perfect attack does refute it, with one less not.
            self.verdict(1, claim, [1] * needed, [0] * needed, *how)
            self.verdict(2, claim, [1] * (needed - 1), [0] * (needed - 1), *how)

    def test_not_refuted(self):
        text = self.verdict(0, "delta=1e-5,eps=1", self.gaussian(0.1), self.gaussian(0, seed=2))
        self.assertTrue(text.startswith("NOT REFUTED"))
        self.assertIn("does not prove", text)

    def test_ties_in_files_refute_nothing(self):
        """Scores without information, all equal but one: members come first in the list, whatever its length."""
        for members, others, seed in ((876, 784, 0), (30, 22, 0), (26, 26, 3), (850, 810, 1)):
            command = self.files([0.5] * members, [0.5] * (others - 1) + [0.6])
            for extra in ((), ("--guesses", members + others)):
                result = run(*command, "--unit", "records", "--randomised", "--delta", 0, "--seed", seed,
                             "--claim", "eps=0.02,delta=0", *extra)
                self.assertEqual(result.returncode, 0, result.stdout)

    def test_reversed_scores_leave_the_claim_open(self):
        with_record, without = self.gaussian(-2), self.gaussian(0, seed=2)
        self.assertTrue(self.verdict(2, "eps=1,delta=1e-5", with_record, without).startswith("OPEN"))
        self.verdict(1, "eps=1,delta=1e-5", with_record, without, "--larger-means", "nonmember")
        command = self.files(with_record, without) + ["--unit", "records", "--randomised"]
        document = self.judged(2, *command, "--claim", "eps=1,delta=1e-5")
        self.assertTrue(document.statements("verdict")[0].startswith("OPEN"))

    def test_a_confidence_is_never_rounded_up(self):
        command = self.files(self.gaussian(9), self.gaussian(0, seed=2)) + ["--unit", "models"]
        text = run(*command, "--confidence", 0.9999999, "--claim", "eps=0.1,delta=1e-5", "--full").stdout
        self.assertIn("confidence 99.99999 %", text.replace("\n", " ").replace("         ", ""))
        self.assertIn("confidence 0.9999999", text)
        self.assertIn("99.99999 % from", text)
        self.assertNotIn("100 %", text)

    def test_pasted_scores_are_a_warning(self):
        few = self.gaussian(0, count=10), self.gaussian(0, count=10, seed=2)
        document = self.document(*self.files(few[0] * 20, few[1] * 20), "--unit", "models")
        self.assertTrue(any("equal another to the last digit" in text for text in document.statements("warning")))
        rounded = [round(x, 3) for x in self.gaussian(0, count=40)]
        document = self.document(*self.files(rounded * 5, self.gaussian(0, seed=2)), "--unit", "models")
        self.assertIn("of the 200 scores with the record, 160 equal another", " ".join(document.statements("warning")))
        document = self.document(*self.files([0.731] * 30, self.gaussian(0, seed=2)), "--unit", "models")
        self.assertIn("of the 30 scores with the record, 29 equal another", " ".join(document.statements("warning")))
        saturated = self.document(*self.files([1] * 30, self.gaussian(0, seed=2)), "--unit", "models")
        self.assertFalse(saturated.statements("warning"))
        tiny = self.document(*self.files([1.2345678e-310, 1.2345678e-310, 1, 2], [0, 1, 2, 3]), "--unit", "models")
        self.assertFalse(tiny.statements("warning"))  # one value
        for with_record, without in (([1] * 95 + [0] * 5, [1] * 3 + [0] * 97),
                                     ([round(x, 2) for x in self.gaussian(0)], self.gaussian(0, seed=2)),
                                     ([min(x, 0.123456789) for x in self.gaussian(0)], self.gaussian(0, seed=2))):
            document = self.document(*self.files(with_record, without), "--unit", "models")
            self.assertFalse(document.statements("warning"))

    def test_one_run_claims_about_a_model_that_was_trained_on_all(self):
        rng = random.Random(4)
        member = [[1] * 30] + [[int(rng.random() < 0.5) for _ in range(30)] for _ in range(39)]
        logits = [[rng.gauss(2 * m, 1) for m in row] for row in member]
        self.judged(0, "audit", "--logits", self.write("l.npy", npy(logits)), "--membership",
                    self.write("m.npy", npy(member, "|b1")), "--unit", "records", "--randomised", "--claim",
                    "eps=1,delta=1e-5")

    def test_one_run_claims(self):
        command = self.files(range(100, 150), range(50)) + ["--unit", "records", "--randomised"]
        self.judged(1, *command, "--claim", "eps=1,delta=1e-6")
        self.judged(2, *command, "--claim", "eps=9,delta=1e-6")


class Answers(AuditTest):
    """What people and programs see first."""

    def test_the_verdict_comes_first_and_fits_a_screen(self):
        done = run(*self.files(self.gaussian(4), self.gaussian(0, seed=2)), "--unit", "models", "--claim", "eps=1")
        self.assertEqual(done.returncode, 1)
        lines = done.stdout.splitlines()
        self.assertTrue(lines[3].startswith("Verdict: VIOLATION of eps = 1, delta = 1e-05: these models show eps >= "))
        self.assertIn("maximum auditable epsilon", " ".join(lines[3:6]))
        self.assertLessEqual(len(lines), 25)
        self.assertLessEqual(max(map(len, lines[2:])), 80)
        self.assertNotIn("Algorithm 1", run(*self.files([3, 4], [1, 2]), "--unit", "models", "--full").stdout)

    def test_claims_for_programs(self):
        command = [*self.files(self.gaussian(4), self.gaussian(0, seed=2)), "--unit", "model"]
        found = self.judged(1, *command, "--claim", "eps=1")
        (verdict,) = found.content["verdicts"]
        bound = found.cell("bounds", "value", quantity="eps at delta = 1e-05")["value"]
        maximum = found.value("bounds", "maximum", quantity="eps at delta = 1e-05")
        self.assertEqual(verdict, {"policy": "", "claim": "eps=1,delta=1e-05", "outcome": "violated",
                                   "epsilon_lower": bound, "maximum": maximum, "confidence": 0.95})
        (lower,) = [r for r in found.content["results"] if r["quantity"] == "epsilon_lower"]
        self.assertEqual((lower["delta"], lower["value"], lower["claim"]), (1e-5, bound, "lower_bound"))
        self.assertEqual(self.judged(2, *command, "--claim", "eps=9").content["verdicts"][0]["outcome"], "open")
        weak = [*self.files(self.gaussian(0.1), self.gaussian(0, seed=2)), "--unit", "models"]
        self.assertEqual(self.judged(0, *weak, "--claim", "eps=1").content["verdicts"][0]["outcome"], "not_refuted")

    def test_keys_may_come_from_a_file(self):
        self.files(self.gaussian(4), self.gaussian(0, seed=2))
        toml = self.write("q.toml", 'members = "in.csv"\nnonmembers = "out.csv"\nunit = "models"\nepsilons = [0.5]\n')
        found = self.judged(1, "audit", toml, "--claim", "eps=1")
        self.assertGreater(found.value("bounds", "value", quantity="delta at eps = 0.5"), 0.5)
        self.assert_refused(65, ["q.toml:4:1", "epsilns"], "audit",
                            self.write("q.toml", toml.read_text().replace("epsilons", "epsilns")))

    def test_what_pandas_writes(self):
        scores = self.gaussian(3), self.gaussian(0, seed=2)
        plain = self.document(*self.files(*scores), "--unit", "models")
        for header in (",score", ",0"):  # a series with a name, and without
            files = [self.write(name, header + "\n" + "".join(f"{i},{x}\n" for i, x in enumerate(world)))
                     for name, world in zip(("i.csv", "o.csv"), scores)]
            indexed = self.document("audit", "--members", files[0], "--nonmembers", files[1], "--unit", "models")
            self.assertEqual(plain.block("bounds"), indexed.block("bounds"))
        # Numbers without a header whose first is missing are no index.
        odd = self.write("odd.csv", ",0\n5,1\n6,2\n")
        self.assert_refused(65, ["odd.csv:1:1", "is missing"], "audit", "--members", odd, "--nonmembers", odd,
                            "--unit", "models")
        help_text = run("audit", "--help-all").stdout
        for content in (",1\n2,3\n", "1\n\n2\n", "a;b\n1;2\n", "1;5\n2,5\n"):
            bad = self.write("bad.csv", content)
            advice = run("audit", "--members", bad, "--nonmembers", bad, "--unit", "models").stderr
            for option in [word.strip("(),.`") for word in advice.split() if word.strip("(`").startswith("--")]:
                self.assertIn(option, help_text)


    def test_plans(self):
        def results(found, quantity):
            return [r for r in found.content["results"] if r["quantity"] == quantity]

        plan = self.judged(0, "audit", "--plan", "eps=3,delta=1e-5")
        needed = {r["thresholds"]: r["value"] for r in results(plan, "runs_needed")}
        self.assertEqual(set(needed), {"combined", "held-out", "ranks", "fixed"})
        for runs, code in ((needed["combined"] - 1, 2), (needed["combined"], 0)):
            result = run("audit", "--plan", "eps=3,delta=1e-5", "--runs", runs)
            self.assertEqual((result.returncode, result.stderr), (code, ""))
            self.assertEqual("NOT ENOUGH RUNS" in result.stdout, code == 2)
        # The maximum that a plan names is that of an audit of as many models.
        planned = self.judged(0, "audit", "--plan", "eps=1,delta=1e-5", "--runs", 200)
        done = self.judged(0, *self.files(self.gaussian(4), self.gaussian(0, seed=2)), "--unit", "models")
        (maximum,) = results(done, "epsilon_maximum")
        self.assertEqual(results(planned, "maximum_auditable_epsilon")[0]["value"], maximum["value"])

class Refusals(AuditTest):
    def refused(self, code, needles, *args):
        self.assert_refused(code, needles, *args)

    def test_files(self):
        good = self.scores("good.csv", [1, 2, 3])
        for name, content, needles in (
                ("nan.csv", "1\nnan\n", ["nan.csv", "2"]), ("empty.csv", "", ["empty.csv"]),
                ("text.csv", "1\nhigh\n3\n", ["text.csv:2", "text, not a finite number"]), ("wide.csv", "1,2\n3,4\n", ["columns"]),
                ("inf.csv", "1\ninf\n", ["inf.csv"]),
                ("first.csv", "-inf\n1\n", ["first.csv:1", "infinite, not a finite number"]), ("header.csv", "score\n", ["header.csv"])):
            bad = self.write(name, content)
            self.refused(65, needles, "audit", "--members", bad, "--nonmembers", good, "--unit", "models")
        same = self.scores("same.csv", [5, 5])
        self.refused(65, ["equal 5"], "audit", "--members", same, "--nonmembers", same, "--unit", "models")
        scores = self.gaussian(0, count=50)
        members = self.scores("members.csv", scores)
        (self.dir / "link.csv").symlink_to(members)
        other = self.write("other.csv", "score\n" + "".join(f"{x:.17e}\n" for x in scores))
        mixed = self.scores("mixed.csv", sorted(scores))
        for twin in (members, self.dir / "link.csv", other, mixed):
            for unit in (("models",), ("records", "--randomised"), ("records",)):
                self.refused(65, ["members.csv", "are those of"], "audit", "--members", members, "--nonmembers", twin,
                             "--unit", *unit)
        two = self.write("two.csv", "".join(f"{x},{x}\n" for x in scores))
        half = self.write("half.csv", "".join(f"{y},{x}\n" for x, y in zip(scores, self.gaussian(1, count=50))))
        self.refused(65, ["of column 2"], "audit", "--members", two, "--nonmembers", half, "--unit", "models")
        self.refused(65, ["none.csv"], "audit", "--members", self.dir / "none.csv", "--nonmembers", good,
                     "--unit", "models")
        one = self.scores("one.csv", [1])
        self.refused(65, ["a single model"], "audit", "--members", one, "--nonmembers", good, "--unit", "models")

    def test_layout(self):
        logits = self.write("l.npy", npy([[1.0, 2.0], [2.0, 1.0]]))
        mask = self.write("m.npy", npy([[1, 0], [0, 1]], "|b1"))
        layout = lambda l, m: ["audit", "--logits", l, "--membership", m, "--unit", "records"]
        self.refused(65, ["w.npy", "2 x 3"], *layout(logits, self.write("w.npy", npy([[1.0] * 3] * 2))))
        self.refused(65, ["h.npy", "0.5"], *layout(logits, self.write("h.npy", npy([[1.0, 0.5], [0, 1]]))))
        self.refused(65, ["same everywhere"], *layout(logits, self.write("o.npy", npy([[1.0] * 2] * 2))))
        self.refused(65, ["n.npy"], *layout(self.write("n.npy", npy([[1.0, float("nan")], [0, 1]])), mask))
        self.refused(65, ["equal 1"], *layout(self.write("c.npy", npy([[1.0] * 2] * 2)), mask))

    def test_plans(self):
        self.refused(64, ["--plan"], "audit", "--plan", "3")
        self.refused(64, ["--runs", "--plan"], *self.files([1, 2, 3], [0, 1, 2]), "--unit", "models", "--runs", "5")
        self.refused(64, ["--unit", "plan"], "audit", "--plan", "eps=3", "--unit", "models")
        self.refused(64, ["--runs"], "audit", "--plan", "eps=3", "--runs", "0")
        self.refused(64, ["one of the four"], *self.files([1, 2, 3], [0, 1, 2]), "--plan", "eps=3")

    def test_usage(self):
        pair = self.files([1, 2, 3], [0, 1, 2])
        self.refused(64, ["--unit"], *pair)
        self.refused(64, ["--members"], "audit", "--unit", "models")
        self.refused(64, ["--nonmembers"], *pair[:3], "--unit", "models")
        self.refused(64, ["--claim"], *pair, "--unit", "models", "--claim", "delta=1e-5")
        self.refused(64, ["--claim"], *pair, "--unit", "models", "--claim", "eps=-1,delta=0")
        self.refused(64, ["randomised"], *pair, "--unit", "records", "--claim", "eps=1,delta=0")
        self.refused(64, ["--unit records"], *pair, "--unit", "models", "--randomised")
        self.refused(64, ["--threshold"], *pair, "--unit", "models", "--strategy", "fixed")
        self.refused(64, ["--threshold"], *pair, "--unit", "models", "--threshold", 1)
        self.refused(64, ["--confidence"], *pair, "--unit", "models", "--confidence", 1)
        self.refused(64, ["--look"], *pair, "--unit", "models", "--look", 0)
        self.refused(64, ["--pool"], *pair, "--unit", "records", "--randomised", "--pool")
        self.refused(64, ["--delta"], *pair, "--unit", "models", "--delta", 2)
        self.refused(65, ["7 guesses"], *pair, "--unit", "records", "--randomised", "--guesses", 7)


if __name__ == "__main__":
    unittest.main()
