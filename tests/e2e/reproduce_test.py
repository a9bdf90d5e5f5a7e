"""`sfumato reproduce` as its users run it: files, their content, a second run, bad input. The parts that train models are in
reproduce_trained_test.py."""
import csv
import json
import tempfile
import unittest
from pathlib import Path

from support import BAD_INPUT, ProgramTest, STORAGE, USAGE, run

DIFFERENCES = ("minimiser_shift", "gradient_shift", "sharp_shift", "flat_shift", "curvature",
               "sharp_row", "generic_row")
PLANES = {f"figure3_cond{c}_{d}.csv" for c in (10, 100) for d in DIFFERENCES}
FIGURE3 = PLANES | {"figure3.json", "figure3_gain.csv", "figure3_design.csv", "figure3_line.csv"}
FIGURE1 = {"figure1.json", "figure1_points.csv", "figure1_S10_10.csv", "figure1_S10_1.csv"}
FILES = FIGURE1 | FIGURE3 | {"figure2.json", "figure2_optimal.csv", "report.json", "report.html"}

# Spec §13.3; for pure shifts (sum l dm^2)(sum 1/l)/(sum|dm|)^2 with l = (cond, 1).
SHIFTS = {"minimiser_shift": (0.1, 0.1), "sharp_shift": (0.1, 0.0), "flat_shift": (0.0, 0.1)}
PRINTED = {("sharp_row", 10): 6.09, ("sharp_row", 100): 10.4,
           ("generic_row", 10): 1.25, ("generic_row", 100): 1.61}


FIGURES = ("--only", "figure1,figure2,figure3")


def shift_gain(cond, shift):
    rates = (cond, 1)
    return (sum(l * s * s for l, s in zip(rates, shift)) * sum(1 / l for l in rates)
            / sum(map(abs, shift)) ** 2)


def rows_of(path):
    with open(path, newline="") as stream:
        return list(csv.DictReader(stream))


class Reproduce(ProgramTest):
    @classmethod
    def setUpClass(cls):
        """The three figures once, for all tests that read them: `cls.figures`, and what was printed."""
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.figures = Path(temporary.name) / "out"
        cls.printed = run("reproduce", "--out", cls.figures, "--scale", "quick", *FIGURES)

    def reproduce(self, *args):
        result = run("reproduce", "--out", self.dir / "out", *args)
        self.assertEqual(result.returncode, 0, result.stderr)
        for line in result.stderr.splitlines():  # on a busy machine
            self.assertRegex(line, r"^\w+: done in ")
        return result.stdout

    def contents(self, directory=None):
        return {p.name: p.read_bytes() for p in (directory or self.dir / "out").iterdir()}

    def test_writes_the_files_it_lists_and_the_same_bytes_again(self):
        self.assertEqual(self.printed.returncode, 0, self.printed.stderr)
        text = self.printed.stdout.replace(str(self.figures), str(self.dir / "out"))
        first = self.contents(self.figures)
        self.assertEqual(set(first), FILES)
        for name in FILES:
            self.assertIn(name, text)
        self.assertIn("What the paper says, and what we find", text)
        self.assertRegex(text.splitlines()[-1], r"^3 of 12 parts at quick scale, 26 files in ")
        again = self.reproduce("--only", "figure3,figure1", "--only", "figure2")
        self.assertEqual(again.split(), text.split())  # lines break where the directory's name ends
        self.assertEqual(self.contents(), first)

    def test_json_has_the_paper_and_ours_side_by_side(self):
        summary = json.loads((self.figures / "report.json").read_text())
        self.assertEqual(list(summary), ["schema_version", "title", "written", "made", "figure1", "figure2", "figure3",
                                         "chapters"])
        self.assertEqual(summary["made"]["command line"], "sfumato reproduce --scale quick --only figure1,figure2,figure3")
        self.assertEqual(len(summary["chapters"]), 4)
        entry = summary["figure3"]
        self.assertEqual(list(entry), ["paper", "ours", "interval", "scale", "reduced", "size"])
        self.assertEqual((entry["scale"], entry["reduced"]), ("quick", False))
        self.assertTrue(entry["interval"].startswith("exact"))
        self.assertEqual(entry["paper"]["condition_numbers"], [10, 100])
        statements = entry["ours"]["statements"]
        self.assertEqual(set(statements), set(entry["paper"]["statements"]))
        self.assertEqual({s["verdict"] for s in statements.values()}, {"depends"})
        for cond in (10, 100):
            ours = entry["ours"][f"condition_{cond}"]
            self.assertEqual(set(ours), set(DIFFERENCES))
            gain = {d: ours[d]["forward"]["gain"] for d in DIFFERENCES}
            for name, shift in SHIFTS.items():
                self.assert_close(gain[name], shift_gain(cond, shift))
            self.assertEqual(gain["gradient_shift"], 1)
            self.assertEqual(gain["curvature"], 1)
            for name in ("sharp_row", "generic_row"):
                self.assert_close(gain[name], PRINTED[name, cond], relative=0.005)

    def test_only_writes_the_parts_asked_for(self):
        text = self.reproduce("--only", "figure2")
        self.assertEqual(set(self.contents()),
                         {"figure2.json", "figure2_optimal.csv", "report.json", "report.html"})
        self.assertRegex(text.splitlines()[-1], r"^1 of 12 parts at quick scale, 4 files in ")

    def test_brief_prints_the_summary_and_writes_the_same_files(self):
        whole = self.reproduce("--only", "figure1,figure2")
        files = self.contents()
        brief = self.reproduce("--brief", "--only", "figure1,figure2")
        self.assertEqual(self.contents(), files)
        self.assertLess(len(brief.splitlines()), 50)
        self.assertTrue(whole.endswith(brief[brief.index("What the paper says"):]))

    def test_noise_plane_of_figure1(self):
        """Spec §13.1, and the golden cases figure_point."""
        for s in ((10, 10), (10, 1)):
            rows = rows_of(self.figures / f"figure1_S{s[0]}_{s[1]}.csv")
            self.assertEqual(len(rows), 46 * 46)
            for row in rows:
                x, y = float(row["x"]), float(row["y"])
                self.assert_close(float(row["privacy_cost"]), (s[0] / x) ** 2 + (s[1] / y) ** 2)
                self.assert_close(float(row["trace"]), x * x + y * y)
        points = {(r["sensitivities"], r["x"], r["y"]): r
                  for r in rows_of(self.figures / "figure1_points.csv")}
        for key, cost, trace in ((("(10, 10)", "4", "3"), 17.36111111111111, 25),
                                    (("(10, 10)", "4", "4"), 12.5, 32),
                                    (("(10, 1)", "4", "1"), 7.25, 17),
                                    (("(10, 1)", "4", "3"), 6.361111111111111, 25)):
            self.assert_close(float(points[key]["privacy_cost"]), cost)
            self.assert_close(float(points[key]["trace"]), trace)

    def test_best_noise_of_figure2(self):
        """Spec §13.2."""
        rows = rows_of(self.figures / "figure2_optimal.csv")
        self.assertEqual(len(rows), 16)
        for row in rows:
            zeta = float(row["zeta"])
            equal = row["sensitivities"] == "(10, 10)"
            self.assert_close(float(row["x"]), (zeta * (0.5 if equal else 10 / 11)) ** 0.5)
            self.assert_close(float(row["y"]), (zeta * (0.5 if equal else 1 / 11)) ** 0.5)
            self.assert_close(float(row["privacy_cost"]), (400 if equal else 121) / zeta)
            self.assert_close(float(row["privacy_cost_isotropic"]), (400 if equal else 202) / zeta)

    def test_designs_of_figure3_never_beat_the_best(self):
        """Spec §13.3: for equal Hessians Sigma in proportion to the gradients' differences is best."""
        rows = rows_of(self.figures / "figure3_design.csv")
        self.assertEqual(len(rows), 14)
        for row in rows:
            for key in ("gain_over_paper", "gain_over_design"):
                self.assertGreaterEqual(float(row[key]), 1 - 1e-9)
            if row["difference"].endswith("shift"):
                self.assert_close(float(row["gain_over_paper"]), 1)
        shift = {r["condition_number"]: r for r in rows if r["difference"] == "minimiser shift"}
        self.assert_close(float(shift["10"]["paper_x"]) ** 2, 5)  # golden: variances 5, 0.5
        self.assert_close(float(shift["10"]["paper_y"]) ** 2, 0.5)
        # v ~ l^{3/2} dm: KL = 0.01 (sum l^{-1/2}) (sum l^{1/2}) / (2 error).
        self.assert_close(float(shift["100"]["design_kl"]), 0.01 * (0.1 + 1) * (10 + 1))

    def test_planes_hold_the_stationary_values(self):
        for cond in (10, 100):
            rows = rows_of(self.figures / f"figure3_cond{cond}_minimiser_shift.csv")
            self.assertEqual(len(rows), 50 * 50)
            for row in rows[::97]:
                x, y = float(row["x"]), float(row["y"])
                self.assert_close(float(row["error"]), x * x / (2 * cond) + y * y / 2)
                kl = 0.01 * cond / x**2 + 0.01 / y**2
                self.assert_close(float(row["kl_forward"]), kl)
                self.assert_close(float(row["kl_reverse"]), kl)

    def test_gain_and_line_agree_with_the_planes(self):
        gains = rows_of(self.figures / "figure3_gain.csv")
        self.assertEqual(len(gains), 14)
        lines = rows_of(self.figures / "figure3_line.csv")
        self.assertEqual(len(lines), 14 * 50)
        for row in lines:
            rounding = 1 + 1e-12  # where isotropic noise is best, both are the same up to it
            self.assertLessEqual(float(row["kl_best_forward"]), float(row["kl_forward"]) * rounding)
        plane = {(r["x"], r["y"]): r
                 for r in rows_of(self.figures / "figure3_cond100_generic_row.csv")}
        for row in lines:
            if (row["difference"], row["condition_number"]) == ("generic_row", "100"):
                self.assertEqual(row["kl_forward"], plane[row["x"], row["x"]]["kl_forward"])

    def test_json_on_standard_output_is_the_document(self):
        document = self.document("reproduce", "--out", self.dir / "out", *FIGURES)
        self.assertEqual(document.content["provenance"]["scale"], "quick")
        self.assertEqual(len(document.block("summary")["rows"]), 11)
        self.assertTrue(document.has("figure3_tradeoff"))
        gain = document.cell("figure3_gain", "gain", difference="minimiser shift",
                             condition_number=10)
        self.assertEqual(gain["claim"], "exact")
        self.assert_close(gain["value"], 3.025)
        self.assertEqual(len(document.statements("verdict")), 11)

    def test_paper_scale_has_the_finer_grid(self):
        self.reproduce("--scale", "paper", "--only", "figure3")
        rows = rows_of(self.dir / "out/figure3_cond10_minimiser_shift.csv")
        self.assertEqual(len(rows), 99 * 99)

    def test_wrong_words_are_usage_errors(self):
        out = ("--out", self.dir / "out")
        self.assert_refused(USAGE, ["quikc", "quick"], "reproduce", "--scale", "quikc", *out)
        self.assert_refused(USAGE, ["figure33", "did you mean figure3?"],
                            "reproduce", "--only", "figure33", *out)
        self.assert_refused(USAGE, ["figre2", "did you mean figure2?"],
                            "reproduce", "--only", "figure1,figre2", *out)
        self.assert_refused(USAGE, ["--out"], "reproduce")
        self.assert_refused(USAGE, ["--out", "empty"], "reproduce", "--out", "")
        self.assertFalse((self.dir / "out").exists())

    def test_a_file_with_the_options_as_keys(self):
        whole = self.reproduce("--only", "figure2", "--brief")
        files = self.contents()
        asked = self.write("again.toml", 'out = "again"\nonly = ["figure2"]\nbrief = true\nsettings = ["train.seed=3"]\n')
        done = run("reproduce", asked, "--out", self.dir / "out")  # the command line goes first
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.contents().keys(), files.keys())
        self.assertIn("What the paper says", done.stdout)
        self.assertIn("1 of 12 parts at quick scale", whole)
        self.assert_refused(BAD_INPUT, ["again.toml:2", "figure33"], "reproduce",
                            self.write("again.toml", 'out = "a"\nonly = ["figure33"]\n'))
        self.assert_refused(BAD_INPUT, ["again.toml:1", "outt"], "reproduce", self.write("again.toml", 'outt = "a"\n'))

    def test_an_unwritable_directory_is_a_storage_error(self):
        file = self.write("file", "")
        for path in (file, file / "below", "/dev/full", "/proc/sfumato"):
            self.assert_refused(STORAGE, [path], "reproduce", "--out", path)

    def test_a_file_that_cannot_be_written_is_a_storage_error(self):
        (self.dir / "out/figure2_optimal.csv").mkdir(parents=True)
        self.assert_refused(STORAGE, ["figure2_optimal.csv"], "reproduce", "--out", self.dir / "out", "--only", "figure2")
        self.assertFalse((self.dir / "out/report.json").exists())

    def test_a_full_standard_output_is_a_storage_error(self):
        with open("/dev/full", "w") as full:
            self.assert_refused(STORAGE, ["standard output"], "reproduce", "--out",
                                self.dir / "out", "--only", "figure1,figure2", stdout=full)


if __name__ == "__main__":
    unittest.main()
