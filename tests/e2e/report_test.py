"""`sfumato report`: what it reads, writes and refuses. What the pages look like in a browser is in report_page_test.py."""
import hashlib
import json
import unittest

from support import BAD_INPUT, USAGE, ProgramTest, run


class Command(ProgramTest):
    def quadratic(self):
        return run("quadratic", "examples/quadratic/shift.toml", "--json").stdout

    def report(self, name, text, *more):
        source = self.write(f"{name}_input.json", text)
        page = self.dir / f"{name}.html"
        result = run("report", source, "--out", page, *more)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return page

    def test_page_and_json_hold_the_document(self):
        text = self.quadratic()
        page = self.report("risk", text)
        twin = json.loads((self.dir / "risk.json").read_text())
        self.assertEqual(twin["chapters"], [json.loads(text)])
        html = page.read_text()
        embedded = html.split('id="report-data">')[1].split("</script>")[0]
        self.assertEqual(json.loads(embedded), twin)
        for words in ("A record that shifts the minimiser", "Assumptions and limits", "Provenance", "Glossary",
                      "57.2\u00a0% of the time", "2023-11-14 22:13 UTC"):
            self.assertIn(words, html)

    def test_a_report_can_be_made_again_from_its_json(self):
        page = self.report("risk", self.quadratic())
        first = page.read_bytes()
        result = run("report", self.dir / "risk.json", "--out", page, "--force")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(page.read_bytes(), first)

    def test_the_model_that_a_document_names_is_the_one_beside_it(self):
        def fit(name):
            done = run("fit", "examples/fit/wages.csv", "--model", "ridge", "--bounds", "examples/fit/wages_bounds.csv", "--target-epsilon", "8",
                       "--target-delta", "1e-6", "--out", self.dir / name, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            return self.write(f"{name}.document.json", done.stdout)

        def note(page):
            return json.loads(page.with_suffix(".json").read_text())["chapters"][0]["provenance"]["model when this page was made"]

        document, page = fit("m.npz"), self.dir / "p.html"
        digest = hashlib.sha256((self.dir / "m.npz").read_bytes()).hexdigest()
        self.assertEqual(json.loads(document.read_text())["provenance"]["SHA-256 of the model"], digest)
        self.assertEqual(run("report", document, "--out", page).returncode, 0)
        self.assertEqual(note(page), "the same")
        fit("other.npz")
        kept = (self.dir / "m.npz").read_bytes()
        (self.dir / "m.npz").write_bytes((self.dir / "other.npz").read_bytes())
        for source in (document, page.with_suffix(".json")):  # the JSON of the page too
            self.assert_refused(BAD_INPUT, [source.name, f"SHA-256 {digest[:12]}...", "m.npz", "it is another one"],
                                "report", source, "--out", self.dir / "q.html")
        self.assertFalse((self.dir / "q.html").exists())
        (self.dir / "m.npz").unlink()
        self.assertEqual(run("report", document, "--out", page, "--force").returncode, 0)
        self.assertIn("not found", note(page))
        (self.dir / "m.npz").write_bytes(kept)

    def test_natural_names(self):
        """x.json becomes x.html: what was read is never replaced, and the page holds the JSON."""
        text = self.quadratic()
        source = self.write("x.json", text)
        page = self.dir / "x.html"
        done = run("report", source, "--out", page)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(source.read_text(), text)
        embedded = page.read_text().split('id="report-data">')[1].split("</script>")[0]
        self.assertEqual(json.loads(embedded)["chapters"], [json.loads(text)])
        self.assertNotIn("x.json", done.stdout)

    def test_a_file_is_told_by_its_first_bytes(self):
        """A file larger than any report, with holes: it is not read as a whole to find out."""
        large = self.write("large.bin", "nothing of ours")
        with large.open("r+b") as file:
            file.truncate(300 << 20)
        self.assert_refused(BAD_INPUT, ["large.bin", "neither JSON nor a ledger"], "report", large, "--out", self.dir / "l.html")

    def test_several_inputs_are_chapters(self):
        source = self.write("a.json", self.quadratic())
        audit = run("audit", "--members", "examples/audit/in.csv", "--nonmembers", "examples/audit/out.csv",
                    "--unit", "models", "--claim", "eps=1.0,delta=1e-5", "--json")
        other = self.write("b.json", audit.stdout)
        page = self.dir / "both.html"
        result = run("report", source, other, "--out", page, "--title", "Upper & lower")
        self.assertEqual(result.returncode, 0, result.stderr)
        twin = json.loads((self.dir / "both.json").read_text())
        self.assertEqual([c["command"] for c in twin["chapters"]], ["quadratic", "audit"])
        html = page.read_text()
        self.assertIn("<title>Upper &amp; lower</title>", html)
        self.assertIn('class="verdict bad"', html)

    def test_a_directory_of_reproduce(self):
        run("reproduce", "--only", "figure2", "--out", self.dir / "paper")
        page = self.dir / "paper.html"
        result = run("report", self.dir / "paper", "--out", page)
        self.assertEqual(result.returncode, 0, result.stderr)
        twin = json.loads((self.dir / "paper.json").read_text())
        self.assertIn("paper", twin["figure2"])
        self.assertTrue(any(b.get("key", "").startswith("figure2") for c in twin["chapters"] for b in c["blocks"]))

    def test_a_ledger_is_audited(self):
        ledger = self.dir / "quick.ledger"
        made = run("study", "run", "examples/train/quick.toml", "--ledger", ledger, "--set", "train.iterations=20",
                   "--set", "audit.replicas=6")
        self.assertEqual(made.returncode, 0, made.stderr)
        read = hashlib.sha256(ledger.read_bytes()).hexdigest()  # before the audit writes its look into it
        result = run("report", ledger, "--out", self.dir / "audit.html", "--claim", "eps=1,delta=1e-5")
        self.assertEqual(result.returncode, 2, result.stderr)  # six models per data set decide nothing
        twin = json.loads((self.dir / "audit.json").read_text())
        self.assertEqual(twin["chapters"][0]["command"], "audit")
        blocks = {b.get("key"): b for b in twin["chapters"][0]["blocks"]}
        self.assertIn("membership", blocks)
        # Each verdict says whose it is, at the top, before any result.
        html = (self.dir / "audit.html").read_text()
        top = html[:html.index("<h2>")]
        verdicts = [part.split("</p>")[0] for part in top.split('<p class="verdict')[1:]]
        self.assertEqual(len(verdicts), len(twin["chapters"][0]["verdicts"]))
        for said, checked in zip(verdicts, twin["chapters"][0]["verdicts"]):
            self.assertIn(f"(policy {checked['policy']})", said)
        # One figure of delta over epsilon for all policies; few models are shown one by one.
        self.assertEqual(len([key for key in blocks if key and key.startswith("deltas")]), 1)
        strips = next(b for key, b in blocks.items() if key and key.startswith("losses_"))
        self.assertEqual(strips["axes"]["y"]["categories"], ["D", "D'"])
        # How it was made.
        self.assertIn("sfumato report", twin["made"]["command line"])
        self.assertIn(read, twin["made"].values())
        self.assertIn("How to cite", html)

    def test_refusals(self):
        good = self.write("good.json", self.quadratic())
        cases = [
            ((self.dir / "none.json",), BAD_INPUT, "none.json"),
            ((self.write("text.json", "hello"),), BAD_INPUT, "neither JSON nor a ledger"),
            ((self.write("other.json", '{"a": 1}'),), BAD_INPUT, "not a document"),
            ((self.write("late.json", '{"schema_version": 99, "blocks": []}'),), BAD_INPUT, "schema_version"),
            ((self.write("odd.json", good.read_text().replace('"line"', '"spiral"')),), BAD_INPUT, "spiral"),
            ((self.write("short.json", '"blocks"'.join(
                part if i == 0 else part.replace('"claim": "exact",', "", 1)
                for i, part in enumerate(good.read_text().split('"blocks"')))),), BAD_INPUT, "claim"),
            ((self.dir,), BAD_INPUT, "reproduce"),
        ]
        for inputs, code, words in cases:
            with self.subTest(words):
                result = run("report", *inputs, "--out", self.dir / "out.html")
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1)
                self.assertIn(words, result.stderr)
                self.assertFalse((self.dir / "out.html").exists())
        replaced = run("report", good, "--out", good.with_suffix(".JSON"))
        self.assertEqual(replaced.returncode, USAGE)
        page = self.write("page.html", good.read_text())
        replaced = run("report", page, "--out", page, "--force")
        self.assertEqual(replaced.returncode, USAGE)
        self.assertIn("page.html is an input and would be overwritten", replaced.stderr)
        self.assertEqual(page.read_text(), good.read_text())
        self.assertEqual(run("report", good, "--out", self.dir / "x.json").returncode, USAGE)
        self.assertEqual(run("report", good).returncode, USAGE)


if __name__ == "__main__":
    unittest.main()
