"""What every command prints with --json: it follows the schema, and flat numbers are those of the tables."""
import csv
import json
import sys
import tomllib
import unittest

import jsonschema
import pandas
from support import ROOT, Document, ProgramTest, run

SCHEMA = json.loads((ROOT / "docs/document.schema.json").read_text())
QUESTIONS = {
    "rows": ["rows", "examples/rows/diabetes.csv", "--target", "progression", "--adjacency", "remove",
             "--loss", "sum", "--ridge", "1", "--noise", "1", "--standardise", "examples/rows/public.csv"],
    "rows logistic": ["rows", "examples/rows/breast_cancer.csv", "--model", "logistic", "--target", "malignant",
                      "--adjacency", "remove", "--loss", "mean", "--ridge", "1", "--noise", "1",
                      "--standardise", "self", "--check", "0"],
    "quadratic": ["quadratic", "examples/quadratic/shift.toml"],
    "chain": ["quadratic", "examples/quadratic/chain.toml"],
    "bound": ["bound", "examples/bound/shift.toml"],
    "design": ["design", "examples/design/differences.csv", "--differences-are", "public", "--form", "full",
               "--trace", "2"],
    "audit": ["audit", "--members", "examples/audit/in.csv", "--nonmembers", "examples/audit/out.csv",
              "--unit", "models", "--claim", "eps=1.0,delta=1e-5"],
    "verify": ["verify", "tests/golden/oracle_gaussian.json"],
    "data": ["data", "list"],
    "plan": ["study", "plan", "studies/ridge_exact.toml", "--seconds", "0.05"],
}


class Json(ProgramTest):
    def test_every_answer_follows_the_schema(self):
        validator = jsonschema.Draft202012Validator(SCHEMA)
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        for name, arguments in QUESTIONS.items():
            with self.subTest(name):
                result = run(*arguments, "--json")
                self.assertIn(result.returncode, (0, 1, 2), result.stderr)
                problems = [f"{list(e.path)}: {e.message[:200]}"
                            for e in validator.iter_errors(json.loads(result.stdout))]
                self.assertEqual(problems, [])

    def test_the_page_of_private_training_is_what_its_runs_say(self):
        """docs/results/equal_privacy.*: made again from the runs, the document follows the schema, and `report` makes a page of it."""
        sys.path.insert(0, str(ROOT / "tools"))
        import equal_privacy_page
        (self.dir / "docs/results").mkdir(parents=True)
        plan = tomllib.loads((ROOT / "studies/equal_privacy/plan.toml").read_text())
        with open(ROOT / "docs/results/equal_privacy.csv", newline="") as file:
            equal_privacy_page.write(plan, csv.DictReader(file), self.dir)
        for name in ("equal_privacy.md", "equal_privacy.svg", "equal_privacy.json"):
            self.assertEqual((self.dir / "docs/results" / name).read_text(), (ROOT / "docs/results" / name).read_text(),
                             f"{name} is not that of the runs: tools/equal_privacy.py write")
        document = json.loads((ROOT / "docs/results/equal_privacy.json").read_text())
        self.assertEqual([e.message for e in jsonschema.Draft202012Validator(SCHEMA).iter_errors(document)], [])
        outcomes = [cell for block in document["blocks"] if block.get("key") == "comparison" for cell in block["rows"]]
        self.assertEqual(sum(row["outcome"] == "win" for row in outcomes), int(document["abstract"]["answer"].split("wins ")[1].split(",")[0]))
        page = self.dir / "page.html"
        done = run("report", ROOT / "docs/results/equal_privacy.json", "--out", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(document["abstract"]["answer"].split(";")[0], page.read_text())

    def test_the_schema_refuses_what_is_none(self):
        document = json.loads(run(*QUESTIONS["quadratic"], "--json").stdout)
        validator = jsonschema.Draft202012Validator(SCHEMA)
        self.assertTrue(validator.is_valid(document))
        for spoil in (lambda d: d.pop("results"), lambda d: d.update(more=1),
                      lambda d: d["verdicts"].append({"policy": "a"}),
                      lambda d: d["blocks"].append({"type": "table"}),
                      lambda d: d["results"].append({"quantity": "x", "value": 1, "claim": "sure"})):
            changed = json.loads(json.dumps(document))
            spoil(changed)
            self.assertFalse(validator.is_valid(changed))

    def test_results_are_flat_numbers_with_their_claims(self):
        for name in ("rows", "quadratic", "bound", "design", "audit"):
            with self.subTest(name):
                results = Document(run(*QUESTIONS[name], "--json").stdout).content["results"]
                self.assertTrue(results)
                for result in results:
                    self.assertNotIsInstance(result["value"], (dict, list))
                    for key, value in result.items():
                        if key != "assumptions":
                            self.assertNotIsInstance(value, (dict, list), key)

    def test_pandas_reads_the_results_as_a_table(self):
        results = json.loads(run(*QUESTIONS["rows"], "--json").stdout)["results"]
        table = pandas.DataFrame(results)
        advantages = table[table.quantity == "advantage"]
        self.assertGreater(len(advantages), 3)
        self.assertTrue((advantages.claim == "exact").all())
        self.assertEqual(advantages.value.max(), advantages.value.iloc[0])

    def test_brief_and_full_are_the_same_numbers(self):
        for name in ("rows", "quadratic", "audit"):
            with self.subTest(name):
                plain = run(*QUESTIONS[name], "--json").stdout
                self.assertEqual(plain, run(*QUESTIONS[name], "--json", "--full").stdout)


if __name__ == "__main__":
    unittest.main()
