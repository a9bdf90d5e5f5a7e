"""What `sfumato rows` prints: in brief, as JSON, as a page; ids, and questions in a file."""
import csv
import json
import tempfile
import unittest
from pathlib import Path

from rows_support import DIABETES, PUBLIC, BASE, table
from support import run


class Output(unittest.TestCase):
    ARGUMENTS = BASE + ["--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--noise", "1",
                        "--training", "flow"]

    def test_json_has_the_same_rows_with_claims(self):
        document = json.loads(run(*self.ARGUMENTS, "--json", "--top", "5").stdout)
        tables = {b["key"]: b for b in document["blocks"] if b["type"] == "table"}
        rows = tables["riskiest_rows"]["rows"]
        self.assertEqual(len(rows), 5)
        advantages = [r["advantage"]["value"] for r in rows]
        self.assertEqual(advantages, sorted(advantages, reverse=True))
        self.assertEqual(rows[0]["advantage"]["claim"], "exact")
        self.assertEqual(rows[0]["line"], rows[0]["row"] + 1)

    def test_text_says_what_it_is_not(self):
        text = run(*self.ARGUMENTS, "--full").stdout
        for words in ("not a differential-privacy guarantee", "sensitive", "Time is continuous",
                      "independent of the number of rows"):
            self.assertIn(words, " ".join(text.split()))

    def test_self_standardisation_is_outside_the_claim(self):
        text = run("rows", DIABETES, "--target", "progression", "--standardise", "self",
                   "--adjacency", "remove", "--loss", "sum", "--noise", "1").stdout
        self.assertIn("do not cover that dependence", " ".join(text.split()))


    def test_brief_by_default(self):
        result = run(*self.ARGUMENTS)
        lines = result.stdout.splitlines()
        self.assertLessEqual(len(lines), 27, result.stdout)
        self.assertLessEqual(max(map(len, lines)), 80, result.stdout)
        for words in ("Row 383 is the most exposed of 442 rows", "median", "--full", "--report FILE.html",
                      "Not a differential-privacy guarantee"):
            self.assertIn(words, " ".join(result.stdout.split()))
        self.assertNotIn("D||D'", result.stdout)

    def test_results_for_programs(self):
        document = json.loads(run(*self.ARGUMENTS, "--json").stdout)
        found = {(r["quantity"], r.get("row"), r.get("quantile")): r["value"] for r in document["results"]}
        row = {b["key"]: b for b in document["blocks"] if b["type"] == "table"}["riskiest_rows"]["rows"][0]
        self.assertEqual(found["advantage", 383, None], row["advantage"]["value"])
        self.assertEqual(found["epsilon", 383, None], row["epsilon_reverse"]["value"])
        self.assertLess(found["advantage", None, 0.5], 0.05)

    def test_page(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "r.html"
            result = run(*self.ARGUMENTS, "--report", str(page))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("row 383", page.read_text(encoding="utf-8"))
            self.assertEqual(run(*self.ARGUMENTS, "--report", str(page)).returncode, 74)
            self.assertEqual(run(*self.ARGUMENTS, "--report", str(page), "--force").returncode, 0)

    def test_rows_have_names(self):
        with tempfile.TemporaryDirectory() as folder:
            path, out = Path(folder) / "t.csv", Path(folder) / "o.csv"
            path.write_text('x,name,y\n1,Ada,2\n3,"B, C",4\n5,,7\n2,Dee,2\n', encoding="utf-8")
            base = ["rows", str(path), "--target", "y", "--adjacency", "remove", "--loss", "sum",
                    "--ridge", "1", "--noise", "1", "--id", "name"]
            result = run(*base, "--out", str(out))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("Dee", result.stdout)
            with open(out, newline="", encoding="utf-8") as stream:
                self.assertEqual([r["id"] for r in csv.DictReader(stream)], ["Ada", "B, C", "", "Dee"])
            document = json.loads(run(*base, "--json").stdout)
            tables = {b["key"]: b for b in document["blocks"] if b["type"] == "table"}
            self.assertIn("Ada", [r["id"] for r in tables["riskiest_rows"]["rows"]])

    def test_a_file_of_keys(self):
        with tempfile.TemporaryDirectory() as folder:
            question = Path(folder) / "q.toml"
            question.write_text(f"table = '{DIABETES}'\ntarget = 'progression'\nstandardise = '{PUBLIC}'\n"
                                "adjacency = 'remove'\nloss = 'sum'\nridge = 2\nnoise = 1\ntraining = 'flow'\n", encoding="utf-8")
            from_file = json.loads(run("rows", str(question), "--ridge", "1", "--json").stdout)
            self.assertEqual(from_file, json.loads(run(*self.ARGUMENTS, "--json").stdout))
            for text, code, words in (("nois = 1\n", 65, ["q.toml:1", "nois"]),
                                      ("ridge = -1\n" + question.read_text().replace("ridge = 2\n", ""), 65,
                                       ["q.toml:1:9", "-1"]),
                                      ("table = 't.csv'\nnoise = 1\n", 65, ["`target`", "`adjacency`", "`loss`"])):
                question.write_text(text, encoding="utf-8")
                result = run("rows", str(question))
                self.assertEqual(result.returncode, code, result.stderr)
                for word in words:
                    self.assertIn(word, result.stderr)


if __name__ == "__main__":
    unittest.main()
