"""`sfumato fit`: a regression with a guarantee, its files, and what it refuses."""
import csv
import gzip
import hashlib
import json
import math
import random
import re
import tempfile
import unittest
from pathlib import Path

from support import BAD_INPUT, ROOT, USAGE, ProgramTest, run

WAGES = ROOT / "examples/fit/wages.csv"
BOUNDS = ROOT / "examples/fit/wages_bounds.csv"
TARGET = ["--target-epsilon", 1, "--target-delta", 1e-6]
FIT = [WAGES, "--model", "ridge", "--bounds", BOUNDS, *TARGET]


class FitTest(ProgramTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="sfumato-fit-")
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return Path(self.folder.name, name)

    def fit(self, *args, code=0):
        done = run("fit", *args, "--json")
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def refusal(self, *args, code=BAD_INPUT):
        done = run("fit", *args)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def model(self, *args):
        out = self.path(f"model{random.random()}.json")
        done = run("fit", *args, "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(out.read_text()), done.stdout

    def changed(self, name, text):
        self.path(name).write_text(text)
        return self.path(name)


class Guarantee(FitTest):
    def test_answer_comes_first(self):
        done = run("fit", *FIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("epsilon <= 1.000 at delta = 1e-6, for all tables of at most 6000", done.stdout.splitlines()[3])
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)
        self.assertIn("95 % from", done.stdout)  # intervals that include the noise

    def test_fit_is_right_and_scikit_learn_can_read_it(self):
        model, _ = self.model(*FIT[:-4], "--target-epsilon", 8, "--target-delta", 1e-6)
        self.assertEqual(model["feature_names_in_"],
                         ["age", "hours", "school=secondary", "school=bachelor", "school=master", "tenure", "remote=yes"])
        truth = [0.16, 0.09, 3.1, 8.4, 11.9, 0.35, 1.2]
        # The noise is fresh in every run. Standard errors here, noise and sampling, are .004, .006, .17, .18, .19, .009 and .11 (the printed intervals):
        # eight deviations and more.
        for got, expected, allowed in zip(model["coef_"], truth, [0.05, 0.1, 1.5, 1.5, 1.5, 0.15, 1.0]):
            self.assertAlmostEqual(got, expected, delta=allowed)
        self.assertLessEqual(model["guarantee"]["epsilon"], 8.0)
        self.assertTrue(model["guarantee"]["certified"])

    def test_two_fits_compose(self):
        first = self.path("first.json")
        self.assertEqual(run("fit", *FIT, "--out", first).returncode, 0)
        second, _ = self.model(*FIT[:-4], "--target-epsilon", 2, "--target-delta", 1e-6, "--after", first)
        self.assertLessEqual(second["guarantee"]["epsilon"], 2.0)
        self.assertGreater(second["guarantee"]["epsilon"], 1.99)
        self.assertGreater(second["guarantee"]["releases"].count("[[release]]"),
                           json.loads(first.read_text())["guarantee"]["releases"].count("[[release]]"))
        self.assertIn("exceed", self.refusal(*FIT[:-4], "--target-epsilon", 0.9, "--target-delta", 1e-6, "--after", first,
                                             code=USAGE))

    def test_statement_and_other_files(self):
        for suffix in ("csv", "npz"):
            done = run("fit", *FIT, "--out", self.path(f"{suffix}.{suffix}"), "--statement", self.path(suffix + ".md"))
            self.assertEqual(done.returncode, 0, done.stderr)
        with self.path("csv.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 8)
        statement = self.path("csv.md").read_text()
        self.assertIn("discrete Gaussian on an integer grid", statement)
        self.assertIn("6000 records", statement.replace(",", ""))

    def test_a_page_has_no_checksum_of_the_private_table(self):
        page = self.path("page.html")
        self.assertEqual(run("fit", *FIT, "--report", page).returncode, 0)
        digests = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in (WAGES, BOUNDS)}
        self.assertIn(digests[BOUNDS], page.read_text())
        self.assertNotIn(digests[WAGES], page.read_text())  # it would tell which of two tables it was
        self.assertIn("sfumato fit wages.csv", page.read_text())
        self.assertNotIn(str(WAGES), page.read_text())  # nor where it lies

    def test_audit_finds_nothing(self):
        found = self.fit(*FIT[:-4], "--target-epsilon", 8, "--target-delta", 1e-6, "--audit-runs", 600)
        lower = [row["value"] for row in found["results"] if row["quantity"] == "mu_lower"][0]
        mu = [row["value"] for row in found["results"] if row["quantity"] == "mu"][0]
        self.assertLessEqual(lower, mu)  # false alarm: 0.001, the audit's own, since the noise is fresh
        self.assertGreater(lower, 0.25 * mu)
        numbers = {row["quantity"]: row["value"] for row in found["results"]}
        self.assertGreater(numbers["maximum_auditable_mu"], numbers["noticed_mu"])
        self.assertGreater(numbers["noticed_mu"], mu)
        verdict = next(block for block in found["blocks"] if "fits with a canary" in block.get("text", ""))
        self.assertIn("would notice an implementation whose mu is about", verdict["text"])
        self.assertEqual(verdict.get("outcome", "none"), "none", verdict)  # nothing was found, which is not good news

    def test_an_audit_of_too_few_fits_says_so(self):
        found = self.fit(*FIT[:-4], "--target-epsilon", 8, "--target-delta", 1e-6, "--audit-runs", 8, code=2)
        numbers = {row["quantity"]: row["value"] for row in found["results"]}
        self.assertLess(numbers["maximum_auditable_mu"], numbers["mu"])
        verdict = next(block for block in found["blocks"] if "fits with a canary" in block.get("text", ""))
        self.assertTrue(verdict["text"].startswith("NOT ENOUGH RUNS"), verdict)
        self.assertEqual(verdict["outcome"], "open")

    def test_what_other_epsilons_would_give_is_public(self):
        found = self.fit(*FIT, "--full", "--holdout", 0)
        figure = next(block for block in found["blocks"] if block.get("key") == "by_epsilon")
        predicted, taken = figure["series"]
        self.assertEqual(taken["x"], [1])
        self.assertEqual(sorted(predicted["y"]), predicted["y"])
        self.assertEqual({predicted["claim"], taken["claim"]}, {"estimate"})
        again = self.fit(*FIT, "--full", "--holdout", 0)  # other noise, the same prediction
        self.assertEqual(figure, next(block for block in again["blocks"] if block.get("key") == "by_epsilon"))

    def test_held_out_rows_choose_and_every_candidate_is_paid_for(self):
        model, text = self.model(*FIT[:-4], "--target-epsilon", 3, "--target-delta", 1e-6, "--select", "whitened,statistics")
        self.assertIn("of 2 fits, privately", text)
        for release in ("whitened: 96 gradient sums", "statistics: second moments", "choice of the mechanism"):
            self.assertIn(release, text)
        self.assertLessEqual(model["guarantee"]["epsilon"], 3.0)
        self.assertGreater(model["guarantee"]["epsilon"], 2.99)
        self.assertGreaterEqual(model["guarantee"]["releases"].count("[[release]]"), 4)
        for wrong, words in (("whitened", "two mechanisms or more"), ("whitened,whitened", "twice"), ("whitened,white", "no mechanism")):
            self.assertIn(words, self.refusal(*FIT, "--select", wrong, code=USAGE))

    def test_risks_of_rows_stand_between_audit_and_guarantee_and_are_not_for_publication(self):
        found = self.fit(*FIT, "--mechanism", "statistics", "--row-risks", "--audit-runs", 60)
        self.assertTrue(any("NOT FOR PUBLICATION" in block.get("text", "") for block in found["blocks"]))
        values = {(row["quantity"], row.get("row")): row for row in found["results"]}
        worst, mu = values["row_mu", "worst"], values["mu", None]["value"]
        self.assertLessEqual(values["row_mu", "median"]["value"], worst["value"])
        self.assertLessEqual(worst["value"], mu)
        self.assertEqual(worst["claim"], "exact")  # noisy sums are normal, and their means are known
        self.assertIn("sandwich_figure", [block.get("key") for block in found["blocks"]])
        quiet = run("fit", *FIT)
        self.assertNotIn("row of this table", quiet.stdout)

    def test_intervals_of_a_logistic_regression_are_paid_for(self):
        classes = BOUNDS.read_text().replace("wage,target,0,80,,", "wage,numeric,0,80,,").replace("remote,category,,,", "remote,target,,,")
        logistic = [WAGES, "--model", "logistic", "--bounds", self.changed("logistic.csv", classes), "--target-epsilon", 20, "--target-delta", 1e-6]
        self.assertIn("logistic regression (--interval-share, usually 0.1)", " ".join(self.model(*logistic)[1].split()))
        model, text = self.model(*logistic, "--interval-share", 0.1)
        self.assertIn("curvature, for intervals", text)
        self.assertTrue("standard_errors" in model or "No intervals" in text)
        self.assertIn("leave it out", self.refusal(*FIT, "--interval-share", 0.1, code=USAGE))


class NoGuarantee(FitTest):
    """Where the right to an epsilon is missing none is printed, anywhere."""

    def check(self, *args):
        model, text = self.model(*args)
        self.assertIn("NO GUARANTEE", text)
        self.assertNotIn("epsilon <=", text)
        self.assertFalse(model["guarantee"]["certified"])
        self.assertNotIn("epsilon", model["guarantee"])
        found = self.fit(*args)
        self.assertNotIn("epsilon_upper", [row["quantity"] for row in found["results"]])
        self.assertEqual(found["abstract"]["answer"], "No: they carry no guarantee.")
        self.assertIn("without a seed" if "--seed" in args else "Declare public bounds", found["abstract"]["advice"])
        self.assertIn("no guarantee to state", self.refusal(*args, "--statement", self.path("s.md"), code=USAGE))

    def test_seed(self):
        self.check(*FIT, "--seed", 3)

    def test_bounds_of_the_table_itself(self):
        self.check(WAGES, "--target", "wage", "--model", "ridge", "--bounds", "self", *TARGET)


class Public(FitTest):
    def test_nothing_public_depends_on_the_table(self):
        """Rows permuted, scaled and poisoned: every declared or planned number stays the same."""
        lines = WAGES.read_text().splitlines()
        head, rows = lines[0], lines[1:]
        random.Random(1).shuffle(rows)
        other = self.changed("other.csv", "\n".join([head] + rows[:500] + ["99,1e9,none,,maybe,-1e300"] * 300) + "\n")
        tables = [self.fit(table, *FIT[1:], "--full") for table in (WAGES, other)]

        def known(document):
            return {key: [block for block in document["blocks"] if block.get("key") == key]
                    for key in ("public", "settings", "budget")}
        self.assertEqual(known(tables[0]), known(tables[1]))
        self.assertEqual(len(known(tables[0])["settings"]), 1)

    def test_seeded_fit_is_repeatable_in_any_order_of_rows(self):
        lines = WAGES.read_text().splitlines()
        turned = self.changed("turned.csv", "\n".join(lines[:1] + lines[:0:-1]) + "\n")
        args = ["--seed", 5, "--holdout", 0, *FIT[1:]]
        self.assertEqual(self.model(WAGES, *args)[0]["coef_"], self.model(turned, *args)[0]["coef_"])


def customers(share, seed=1, rows=8000):
    """Lines of a table with a skewed income, of which a share is missing by chance; spending rises by 0.0006 with it."""
    chance, lines = random.Random(seed), []
    for _ in range(rows):
        income, age, region = min(250000.0, math.exp(chance.gauss(math.log(30000), 0.5))), chance.uniform(18, 80), chance.choice(["East", "North", "South"])
        spend = 20 + 0.0006 * income + 0.2 * age + 3 * (region == "South") + chance.gauss(0, 6)
        shown = "" if chance.random() < share else f"{income:.0f}"
        lines.append(f"{shown},{age:.1f},{'' if chance.random() < share / 4 else region},{spend:.2f}")
    return lines


class MissingValues(FitTest):
    HEAD = "income,age,region,spend"
    BOUNDS = ("column,kind,low,high,levels,missing,source\nincome,numeric,0,250000,,{income},distribution\nage,numeric,18,100,,,distribution\n"
              "region,category,,,East|North|South,{region},distribution\nspend,target,0,200,,,distribution\n(records),,,8000,,,\n(adjacency),,,,add_remove,,\n")

    def ask(self, lines, *args, income="", region="", name="t.csv"):
        table = self.changed(name, "\n".join([self.HEAD, *lines]) + "\n")
        bounds = self.changed("b.csv", self.BOUNDS.format(income=income, region=region))
        return [table, "--model", "ridge", "--bounds", bounds, *TARGET, *args]

    def test_interval_of_a_skewed_income_holds_the_truth(self):
        """Seeded, hence repeatable. In the middle of its range a missing income is an outlier, which the default does not make of it."""
        def income(*args):
            found = self.fit(*self.ask(customers(0.08), "--seed", 3, *args))["results"]
            value, error = (next(row["value"] for row in found if row["quantity"] == what and row["feature"] == "income")
                            for what in ("coefficient", "coefficient_error"))
            return abs(value - 0.0006) / error
        self.assertLess(income(), 1.96)
        self.assertGreater(income("--missing", "middle"), 10.0)

    def test_a_dropped_record_is_as_if_it_were_not_there(self):
        lines = customers(0.2)
        complete = [line for line in lines if not line.startswith(",") and ",," not in line]
        self.assertLess(len(complete), 7000)
        exactly = ["--seed", 5, "--holdout", 0]
        models = [self.model(*self.ask(some, *exactly, name=f"{i}.csv"))[0] for i, some in enumerate((lines, complete))]
        self.assertEqual(models[0], models[1])
        # Coins for held-out rows are drawn by position: the other parts of the answer are the same.
        texts = [re.sub(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?", "#", run("fit", *self.ask(some, "--seed", 5, "--full", name=f"{i}.csv")).stdout).split()
                 for i, some in enumerate((lines, complete))]
        self.assertEqual(*texts)  # nothing is said of how many there were

    def test_values_are_filled_in(self):
        lines = customers(0.1)
        exactly = ["--seed", 5, "--holdout", 0, "--range-share", 0]
        for rule, value in (("middle", "125000"), ("value:30000", "30000")):
            filled = [value + line if line.startswith(",") else line for line in lines]
            by_column = self.model(*self.ask(lines, *exactly, income=rule))[0]
            by_hand = self.model(*self.ask(filled, *exactly, name="filled.csv"))[0]
            self.assertEqual(by_column["coef_"], by_hand["coef_"])
            self.assertEqual([column["missing"] for column in by_column["columns"]], [rule, "drop", "drop"])
        filled = [line.replace(",,", ",North,") for line in lines]
        self.assertEqual(self.model(*self.ask(lines, *exactly, region="value:North"))[0]["coef_"],
                         self.model(*self.ask(filled, *exactly, name="filled.csv"))[0]["coef_"])

    def test_indicator_is_a_further_feature(self):
        asked = [8 if word == 1 else word for word in self.ask(customers(0.2), "--missing", "indicator", "--seed", 5)]  # epsilon 8
        model, text = self.model(*asked)
        self.assertEqual(model["feature_names_in_"], ["income", "income=(missing)", "age", "age=(missing)", "region=North", "region=South", "region=(missing)"])
        self.assertIn("Missing values: indicator.", text)
        middle = 0.5 * (model["columns"][0]["low"] + model["columns"][0]["high"])
        mean = 30000 * math.exp(0.125)  # a missing income predicts what the mean income does
        self.assertAlmostEqual(model["coef_"][1] + model["coef_"][0] * middle, 0.0006 * mean, delta=2)

    def test_the_rule_is_said_everywhere(self):
        statement, page = self.path("s.md"), self.path("p.html")
        asked = self.ask(customers(0.1), "--missing", "value:60", income="middle", region="indicator")
        done = run("fit", *asked, "--statement", statement, "--report", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        rule = "middle in income; value:60 in age; indicator in region"
        for text in (done.stdout, statement.read_text(), page.read_text()):
            self.assertIn(rule, " ".join(text.split()))
        full = " ".join(run("fit", *asked, "--full").stdout.split())
        self.assertIn("missing values", full)
        default = run("fit", *self.ask(customers(0.1))).stdout
        self.assertIn("Missing values: drop. A record that is dropped contributes nothing", " ".join(default.split()))

    def test_with_bounds_of_the_table_itself_missing_is_no_level(self):
        table = self.changed("self.csv", "\n".join([self.HEAD, *customers(0.2)]) + "\n")
        model, _ = self.model(table, "--target", "spend", "--model", "ridge", "--bounds", "self", *TARGET)
        self.assertEqual(model["columns"][2]["levels"], ["East", "North", "South"])
        classes = [f"{line.split(',')[0]},{'' if i % 7 == 0 else 'ab'[i % 2]}" for i, line in enumerate(customers(0))]
        table = self.changed("classes.csv", "income,kind\n" + "\n".join(classes) + "\n")
        model, _ = self.model(table, "--target", "kind", "--model", "logistic", "--bounds", "self", *TARGET, "--accept-useless")
        self.assertEqual(model["classes_"], ["a", "b"])

    def test_refusals(self):
        lines = customers(0.1)[:50]
        for words, code, keys in (("outside its range 0 to 250000", BAD_INPUT, dict(income="value:-1")), ("a category has none", BAD_INPUT, dict(region="middle")),
                                  ("none of its levels", BAD_INPUT, dict(region="value:Mars")), ('"mean" is no rule for missing values', BAD_INPUT, dict(income="mean"))):
            self.assertIn(words, self.refusal(*self.ask(lines, **keys), code=code))
        self.assertIn('"mean" is no rule for missing values', self.refusal(*self.ask(lines, "--missing", "mean"), code=USAGE))
        self.assertIn("no finite number", self.refusal(*self.ask(lines, "--missing", "value:much"), code=USAGE))
        asked = self.ask(lines)
        asked[4] = self.changed("b.csv", self.BOUNDS.format(income="", region="").replace("0,200,,,distribution", "0,200,,drop,distribution"))
        self.assertIn("without a target contributes nothing", self.refusal(*asked))

    def test_no_two_features_have_one_name(self):
        """The indicator of missing values may be called as another column is."""
        table = self.changed("clash.csv", "x,x=(missing),y\n" + "1,2,3\n" * 50)
        bounds = self.changed("clash_bounds.csv", "column,kind,low,high,levels,source,missing\nx,numeric,0,2,,,indicator\n"
                              "x=(missing),numeric,0,3,,,\ny,target,0,4,,,\n(records),,,100,,,\n(adjacency),,,,add_remove,,\n")
        said = self.refusal(table, "--bounds", bounds, "--model", "ridge", *TARGET)
        self.assertIn('two features would be called "x=(missing)"', said)
        plain = self.changed("plain_bounds.csv", bounds.read_text().replace("x=(missing),numeric", "z,numeric"))
        said = self.refusal(table, "--bounds", self.changed("m.csv", plain.read_text().replace("0,2,,,indicator", ",,a|b,,middle")
                                                            .replace("x,numeric", "x,category")), "--model", "ridge", *TARGET)
        self.assertNotIn("--missing", said)


class Inputs(FitTest):
    def test_gzip_is_the_same_table(self):
        packed = self.path("t.csv.gz")
        packed.write_bytes(gzip.compress(WAGES.read_bytes()))
        args = [*FIT[1:], "--seed", 5]
        self.assertEqual(self.model(WAGES, *args)[0]["coef_"], self.model(packed, *args)[0]["coef_"])


class Refusals(FitTest):
    def test_missing_is_listed_at_once(self):
        text = self.refusal(WAGES, code=USAGE)
        for option in ("--model", "--bounds", "--template", "--target-epsilon", "--target-delta"):
            self.assertIn(option, text)

    def test_a_file_that_cannot_be_written_is_refused_before_anything_is_spent(self):
        done = run("fit", self.path("not there.csv"), *FIT[1:], "--out", self.path("m.txt"))
        self.assertIn("none of .json, .csv and .npz", done.stderr)  # the table was not opened

    def test_template_to_fill_in(self):
        out = self.path("b.csv")
        done = run("fit", WAGES, "--target", "wage", "--template", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("wage,target,,,,,", out.read_text())
        self.assertIn("column,kind,low,high,levels,missing,source", out.read_text())
        self.assertIn("not a finite number", self.refusal(WAGES, "--model", "ridge", "--bounds", out, *TARGET))

    def test_more_rows_than_declared(self):
        text = BOUNDS.read_text().replace("6000", "5999")
        self.assertIn("more than the 5999 records", self.refusal(*[self.changed("b.csv", text) if x == BOUNDS else x for x in FIT]))

    def test_text_where_a_number_belongs(self):
        table = self.changed("t.csv", "age,hours,school,tenure,remote,wage\nold,1,master,1,no,3\n")
        self.assertIn("t.csv:2:1: the cell in column \"age\" is not a number", self.refusal(table, *FIT[1:]))

    def test_bounds_that_contradict_themselves(self):
        for old, new, problem in [("15,70", "70,15", "range 70 to 15"), ("primary|secondary|bachelor|master", "one", "level"),
                                  ("(adjacency),,,,add_remove,", "", "neighbours"), ("wage,target", "wage,numeric", "target"),
                                  ("add_remove", "add_or_remove", "add_remove")]:
            bounds = self.changed("b.csv", BOUNDS.read_text().replace(old, new))
            self.assertIn(problem, self.refusal(*[bounds if x == BOUNDS else x for x in FIT]))

    def test_epsilon_too_small_to_be_of_use(self):
        text = self.refusal(*FIT[:-4], "--target-epsilon", 1e-4, "--target-delta", 1e-6, code=USAGE)
        self.assertIn("useless", text)
        self.assertIn("--accept-useless", text)
        # --force overwrites files, and nothing else.
        self.assertIn("useless", self.refusal(*FIT[:-4], "--target-epsilon", 1e-4, "--target-delta", 1e-6, "--force", code=USAGE))
        done = run("fit", *FIT[:-4], "--target-epsilon", 1e-4, "--target-delta", 1e-6, "--accept-useless")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_earlier_releases_leave_is_not_called_useless(self):
        model = self.path("first.json")
        self.assertEqual(run("fit", *FIT, "--out", model).returncode, 0)
        text = self.refusal(*FIT[:-4], "--target-epsilon", 1.0000001, "--target-delta", 1e-6, "--after", model, code=USAGE)
        self.assertIn("what was released before leaves too little", text)
        self.assertNotIn("useless:", text)
        for target in ("1e300", "2e9"):
            text = self.refusal(*FIT[:-4], "--target-epsilon", target, "--target-delta", 1e-6, code=USAGE)
            self.assertIn("protects nothing", text)
            self.assertNotIn("Other releases", text)

    def test_a_table_too_large_for_one_mechanism_is_not_refused_in_its_name(self):
        text = self.refusal(*FIT[:-2], "--target-delta", 1e-14, "--records", 10**12)
        self.assertNotIn("mechanism", text)
        self.assertNotIn("whitened", text)
        self.assertIn("1e+12 rows", text)
        self.assertIn("Use whitened", self.refusal(*FIT[:-2], "--target-delta", 1e-14, "--records", 10**12, "--mechanism", "minimiser", code=USAGE))

    def test_a_delta_above_one_over_the_records(self):
        for delta in (0.999, 0.5, 1.7e-4):
            text = self.refusal(*FIT[:-2], "--target-delta", delta, code=USAGE)
            self.assertIn("is above 1 / 6000 records", text)
        done = run("fit", *FIT[:-2], "--target-delta", 0.001, "--allow-large-delta")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("delta = 0.001 is above 1 / 6000 records", done.stdout)
        self.assertIn("delta = 2e-5 is near 1 / 6000 records", run("fit", *FIT[:-2], "--target-delta", 2e-5).stdout)
        self.assertNotIn("records: publishing", run("fit", *FIT[:-2], "--target-delta", 1.6e-5).stdout)

    def test_ranges_whose_squares_are_no_numbers(self):
        for high in ("1e308", "1e-320"):
            for old, new in (("wage,target,0,80", f"wage,target,0,{high}"), ("hours,numeric,0,60", f"hours,numeric,0,{high}")):
                bounds = self.changed("b.csv", BOUNDS.read_text().replace(old, new))
                self.assertIn("squares of doubles", self.refusal(*[bounds if x == BOUNDS else x for x in FIT]))
        for high in ("1e60", "1e-60"):
            for old, new in (("wage,target,0,80", f"wage,target,0,{high}"), ("hours,numeric,0,60", f"hours,numeric,0,{high}")):
                bounds = self.changed("b.csv", BOUNDS.read_text().replace(old, new))
                self.fit(*[bounds if x == BOUNDS else x for x in FIT], "--full", "--row-risks")

    def test_mechanisms_without_a_proof(self):
        self.assertIn("clipped ones do not contract", self.refusal(*FIT, "--mechanism", "last_iterate", "--noise-mode", "gaussian",
                                                                   code=USAGE))
        classes = BOUNDS.read_text().replace("wage,target,0,80,,", "wage,target,,,low|high,")
        bounds = self.changed("b.csv", classes)
        logistic = [WAGES, "--model", "logistic", "--bounds", bounds, *TARGET]
        self.assertIn("rounding breaks the contraction", self.refusal(*logistic, "--mechanism", "last_iterate", code=USAGE))


if __name__ == "__main__":
    unittest.main()
