"""What pages say at their top and in their captions, command by command: an answer to what was asked, about what was asked."""
import json
import unittest

from support import BAD_INPUT, ProgramTest, run

SWEEP = ["account", "--noise_multiplier", "0.8,2", "--sample_rate", 0.01, "--steps", 100, "--sampler", "poisson", "--adjacency", "add_remove",
         "--target_delta", 1e-5]


class Words(ProgramTest):
    def page(self, *args, code=0):
        path = self.dir / "page.html"
        done = run(*args, "--report", path, "--force")
        self.assertEqual(done.returncode, code, done.stderr)
        html = path.read_text()
        return html, json.loads(html.split('id="report-data">')[1].split("</script>")[0])["chapters"][0]

    def test_compared_settings_are_all_listed(self):
        _, document = self.page(*SWEEP)
        released = next(block for block in document["blocks"] if block.get("key") == "releases")
        self.assertEqual([row["number"] for row in released["rows"]], [1, 2])
        for row, multiplier in zip(released["rows"], ("0.8", "2")):
            self.assertIn(f"noise multiplier {multiplier},", row["release"])

    def test_a_statement_is_about_one_run(self):
        for option in ("--statement", "--save"):
            path = self.dir / "statement.md"
            done = run(*SWEEP, option, path)
            self.assertEqual(done.returncode, BAD_INPUT, done.stderr)
            self.assertIn("2 noise multipliers were compared", done.stderr)
            self.assertFalse(path.exists())

    def test_records_of_one_model(self):
        html, document = self.page("audit", "--members", "examples/audit/canaries_in.csv", "--nonmembers", "examples/audit/canaries_out.csv",
                                   "--unit", "records", "--randomised", "--delta", 1e-6)
        self.assertIn("One trained model, attacked on single records: 197", document["abstract"]["released"])
        roc = next(block for block in document["blocks"] if block.get("key") == "roc")
        self.assertIn("coin toss", roc["caption"])
        self.assertIn("How much does this training reveal about one record?", html)

    def test_plans(self):
        html, _ = self.page("audit", "--plan", "eps=3,delta=1e-5", "--runs", 100, code=2)
        self.assertIn("<h1>Plan of an audit of ε = 3, δ = 10⁻⁵</h1>", html)
        _, document = self.page("study", "plan", "examples/study/claim.toml", "--seconds", 0.1)
        self.assertIn("Yes, if the attack is strong enough", document["abstract"]["answer"])
        _, document = self.page("study", "plan", "examples/study/claim.toml", "--seconds", 0.1, "--set", "audit.replicas=3")
        self.assertIn("No: not even an attack that never errs", document["abstract"]["answer"])

    def test_one_time_is_no_figure(self):
        problem = "examples/bound/shift.toml"
        _, document = self.page("bound", problem, "--times", 1, "--paths", 10)
        self.assertEqual([b["key"] for b in document["blocks"] if b["type"] == "figure"], [])
        _, document = self.page("bound", problem, "--times", "1,2", "--paths", 10)
        self.assertIn("kl_over_time", [b["key"] for b in document["blocks"] if b["type"] == "figure"])

    def test_tables_are_numbered_as_they_stand(self):
        html, _ = self.page("design", "--problem", "examples/quadratic/row_removed.toml", "--differences-are", "public", "--distance", 0.2,
                            "--form", "full")
        places = [html.index(f"Table {number}.</span>") for number in (1, 2, 3)]
        self.assertEqual(places, sorted(places))
        self.assertIn("hides gradient differences of one pair", html)

    def test_beyond_the_paper_counts_no_statement_of_it(self):
        done = run("reproduce", "--only", "frontier", "--out", self.dir / "beyond", "--brief", "--set", "audit.replicas=2", "--set", "train.iterations=5",
                   "--set", "data.records=200", "--set", "train.batch_size=50", "--set", "data.test_records=50")
        self.assertEqual(done.returncode, 0, done.stderr)
        html = (self.dir / "beyond/report.html").read_text()
        self.assertNotIn("Of 0 statements", html)


if __name__ == "__main__":
    unittest.main()
