"""`sfumato reproduce` as its users run it: files, their content, a second run, a killed one, bad input."""
import csv
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

from support import BAD_INPUT, ProgramTest, ROOT, SFUMATO, STORAGE, USAGE, run

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
    def reproduce(self, *args):
        result = run("reproduce", "--out", self.dir / "out", *args)
        self.assertEqual(result.returncode, 0, result.stderr)
        for line in result.stderr.splitlines():  # on a busy machine
            self.assertRegex(line, r"^\w+: done in ")
        return result.stdout

    def contents(self):
        return {p.name: p.read_bytes() for p in (self.dir / "out").iterdir()}

    def test_writes_the_files_it_lists_and_the_same_bytes_again(self):
        text = self.reproduce("--scale", "quick", *FIGURES)
        first = self.contents()
        self.assertEqual(set(first), FILES)
        for name in FILES:
            self.assertIn(name, text)
        self.assertIn("What the paper says, and what we find", text)
        self.assertRegex(text.splitlines()[-1], r"^3 of 16 parts at quick scale, 26 files in ")
        self.assertEqual(self.reproduce("--only", "figure3,figure1", "--only", "figure2"), text)
        self.assertEqual(self.contents(), first)

    def test_json_has_the_paper_and_ours_side_by_side(self):
        self.reproduce(*FIGURES)
        summary = json.loads((self.dir / "out/report.json").read_text())
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
        self.assertRegex(text.splitlines()[-1], r"^1 of 16 parts at quick scale, 4 files in ")

    def test_brief_prints_the_summary_and_writes_the_same_files(self):
        whole = self.reproduce(*FIGURES)
        files = self.contents()
        brief = self.reproduce("--brief", *FIGURES)
        self.assertEqual(self.contents(), files)
        self.assertLess(len(brief.splitlines()), 50)
        self.assertTrue(whole.endswith(brief[brief.index("What the paper says"):]))

    def test_noise_plane_of_figure1(self):
        """Spec §13.1, and the golden cases figure_point."""
        self.reproduce("--only", "figure1")
        for s in ((10, 10), (10, 1)):
            rows = rows_of(self.dir / f"out/figure1_S{s[0]}_{s[1]}.csv")
            self.assertEqual(len(rows), 46 * 46)
            for row in rows:
                x, y = float(row["x"]), float(row["y"])
                self.assert_close(float(row["privacy_cost"]), (s[0] / x) ** 2 + (s[1] / y) ** 2)
                self.assert_close(float(row["trace"]), x * x + y * y)
        points = {(r["sensitivities"], r["x"], r["y"]): r
                  for r in rows_of(self.dir / "out/figure1_points.csv")}
        for key, cost, trace in ((("(10, 10)", "4", "3"), 17.36111111111111, 25),
                                    (("(10, 10)", "4", "4"), 12.5, 32),
                                    (("(10, 1)", "4", "1"), 7.25, 17),
                                    (("(10, 1)", "4", "3"), 6.361111111111111, 25)):
            self.assert_close(float(points[key]["privacy_cost"]), cost)
            self.assert_close(float(points[key]["trace"]), trace)

    def test_best_noise_of_figure2(self):
        """Spec §13.2."""
        self.reproduce("--only", "figure2")
        rows = rows_of(self.dir / "out/figure2_optimal.csv")
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
        self.reproduce("--only", "figure3")
        rows = rows_of(self.dir / "out/figure3_design.csv")
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
        self.reproduce(*FIGURES)
        for cond in (10, 100):
            rows = rows_of(self.dir / f"out/figure3_cond{cond}_minimiser_shift.csv")
            self.assertEqual(len(rows), 50 * 50)
            for row in rows[::97]:
                x, y = float(row["x"]), float(row["y"])
                self.assert_close(float(row["error"]), x * x / (2 * cond) + y * y / 2)
                kl = 0.01 * cond / x**2 + 0.01 / y**2
                self.assert_close(float(row["kl_forward"]), kl)
                self.assert_close(float(row["kl_reverse"]), kl)

    def test_gain_and_line_agree_with_the_planes(self):
        self.reproduce(*FIGURES)
        gains = rows_of(self.dir / "out/figure3_gain.csv")
        self.assertEqual(len(gains), 14)
        lines = rows_of(self.dir / "out/figure3_line.csv")
        self.assertEqual(len(lines), 14 * 50)
        for row in lines:
            rounding = 1 + 1e-12  # where isotropic noise is best, both are the same up to it
            self.assertLessEqual(float(row["kl_best_forward"]), float(row["kl_forward"]) * rounding)
        plane = {(r["x"], r["y"]): r
                 for r in rows_of(self.dir / "out/figure3_cond100_generic_row.csv")}
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
        self.assertIn("1 of 16 parts at quick scale", whole)
        self.assert_refused(BAD_INPUT, ["again.toml:2", "figure33"], "reproduce",
                            self.write("again.toml", 'out = "a"\nonly = ["figure33"]\n'))
        self.assert_refused(BAD_INPUT, ["again.toml:1", "outt"], "reproduce", self.write("again.toml", 'outt = "a"\n'))

    def test_an_unwritable_directory_is_a_storage_error(self):
        file = self.write("file", "")
        for path in (file, file / "below", "/dev/full", "/proc/sfumato"):
            self.assert_refused(STORAGE, [path], "reproduce", "--out", path)

    def test_a_file_that_cannot_be_written_is_a_storage_error(self):
        (self.dir / "out/figure3_gain.csv").mkdir(parents=True)
        self.assert_refused(STORAGE, ["figure3_gain.csv"], "reproduce", "--out", self.dir / "out",
                            *FIGURES)
        self.assertFalse((self.dir / "out/report.json").exists())

    def test_a_full_standard_output_is_a_storage_error(self):
        with open("/dev/full", "w") as full:
            self.assert_refused(STORAGE, ["standard output"], "reproduce", "--out",
                                self.dir / "out", *FIGURES, stdout=full)


# A twentieth of the quick scale and less.
TINY = ("--set", "train.iterations=60", "--set", "audit.replicas=2", "--set", "audit.pairs=2",
        "--set", "data.test_records=100", "--threads", "2")


class Trained(ProgramTest):
    """The parts that train models, reduced further."""

    def reproduce(self, *args, out="out", **options):
        return run("reproduce", "--out", self.dir / out, "--brief", *args, **options)

    def entry(self, key, out="out"):
        entry = json.loads((self.dir / out / "report.json").read_text())
        for name in key.split("."):
            entry = entry[name]
        return entry

    def trials(self, out="out"):
        """Everything but how long a trial took."""
        rows = {}
        for path in sorted((self.dir / out / "ledgers").glob("*.ledger")):
            ledger = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            rows[path.name] = ledger.execute("select count(*) from trial").fetchone()[0]
            ledger.close()
        return rows

    def test_table_2(self):
        result = self.reproduce("--only", "table2.s1", *TINY)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("From reduced runs, smaller than the paper's: table2.s1.", result.stdout)
        entry = self.entry("table2.s1")
        self.assertEqual(entry["paper"]["anisotropic"], {"delta_at_0.1": 0.0012, "worst_loss": 0.14})
        # The paper, its text taken literally, and the closest reading.
        rows = rows_of(self.dir / "out/table2_s1_paper.csv")
        self.assertEqual([(row["policy"], row["number"], float(row["paper"])) for row in rows],
                         [("isotropic_per_layer", "delta", 0.0015), ("isotropic_per_layer", "worst loss", 0.35),
                          ("anisotropic", "delta", 0.0012), ("anisotropic", "worst loss", 0.14)])
        self.assertEqual(float(rows[3]["literal"]), entry["ours"]["anisotropic"]["worst_loss"])
        self.assertTrue(all(float(row["closest"]) > 0 for row in rows))
        for policy in ("isotropic_per_layer", "anisotropic"):
            ours, interval = entry["ours"][policy], entry["interval"][policy]
            lower, upper = interval["delta_at_0.1"]
            self.assertTrue(0 <= lower <= upper <= 1)
            self.assertEqual(ours["models_per_world"], 4)
            self.assertLessEqual(ours["attack"]["pooled_epsilon_lower_bound"],
                                 ours["attack"]["pooled_epsilon_maximum"])
        # One ledger has one epsilon, whoever shows it.
        audited = self.document("audit", self.dir / "out/ledgers/table2.s1.quick.ledger", "--score", "loss")
        for policy in ("isotropic_per_layer", "anisotropic"):
            self.assertEqual(entry["ours"][policy]["audit"], {
                "epsilon_lower": audited.value("sandwich", "audited", policy=policy, quantity="eps at delta = 1e-05"),
                "maximum": audited.value("sandwich", "maximum", policy=policy, quantity="eps at delta = 1e-05"),
                "delta_lower": audited.value("sandwich", "audited", policy=policy, quantity="delta at eps = 0.1")})
        self.assertEqual((entry["reduced"], entry["size"]["iterations"]), (True, 60))
        self.assertEqual(self.trials()["table2.s1.quick.ledger"], 8)

    def test_readings(self):
        args = ("--only", "readings.s1", *TINY, "--set", "audit.replicas=1")
        result = self.reproduce(*args)
        self.assertEqual(result.returncode, 0, result.stderr)
        # Ours, not the paper's words.
        self.assertNotIn("the paper says", result.stdout)
        self.assertIn("Beyond the paper: what we find", result.stdout)
        entry = self.entry("readings.s1")
        self.assertNotIn("statements", entry["paper"])
        self.assertIn("statement", entry["ours"]["statements"]["explained"])
        tried = entry["ours"]["tried"]
        self.assertEqual(len(tried), entry["ours"]["readings_tried"])
        self.assertEqual(len({reading["reading"] for reading in tried}), len(tried))
        distances = [reading["distance"] for reading in tried if reading["distance"] is not None]
        self.assertEqual(distances, sorted(distances))
        confirmed = entry["ours"]["confirmed"][0]
        self.assertEqual(confirmed["reading"], tried[0]["reading"])
        self.assertLessEqual(confirmed["interval"][0], confirmed["distance"])
        self.assertLessEqual(confirmed["distance"], confirmed["interval"][1])
        self.assertNotEqual(confirmed["distance"], tried[0]["distance"])  # fresh records and seeds
        self.assertNotEqual(entry["size"]["selection"]["seed"], entry["size"]["confirmation"]["seed"])
        ledgers = self.trials()
        self.assertTrue(all(name.startswith("readings.table2_s1.") for name in ledgers))
        self.assertTrue(any(".confirm." in name for name in ledgers))
        before = (self.dir / "out/readings.s1.json").read_bytes()
        self.assertEqual(self.reproduce(*args).stdout, result.stdout)
        self.assertEqual((self.dir / "out/readings.s1.json").read_bytes(), before)

    def test_what_works(self):
        args = ("--only", "works", "--set", "train.iterations=20", "--set", "train.average_last=5", "--set",
                "data.records=2000", "--set", "train.batch_size=500", "--set", "data.test_records=500")
        result = self.reproduce(*args)
        self.assertEqual(result.returncode, 0, result.stderr)
        ours = self.entry("works")["ours"]
        self.assertEqual(ours["statements"]["corrected_bounds"]["verdict"], "holds")
        for points in ours["private"].values():
            for point in points:
                self.assertLessEqual(point["epsilon"], point["target_epsilon"] * (1 + 1e-9))
        for point in ours["gain"]["proportional"]:  # isotropic noise is the best there is
            self.assert_close(point["gain"], 1)
        gains = [point["gain"] for point in ours["gain"]["equal"]]
        self.assertEqual(gains, sorted(gains))
        self.assertGreater(gains[-1], 2)

    def test_killed_and_resumed_is_as_if_never_killed(self):
        args = ("--only", "figure2,membership", *TINY, "--set", "audit.replicas=6",
                "--set", "audit.pairs=1", "--set", "train.iterations=120")
        self.assertEqual(self.reproduce(*args, out="whole").returncode, 0)
        ledger = self.dir / "cut/ledgers/membership.quick.ledger"
        for _ in range(10):  # on a busy machine the run may be over before it is looked at
            with subprocess.Popen([SFUMATO, "reproduce", "--out", str(self.dir / "cut"), *args],
                                  cwd=ROOT, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as process:
                deadline = time.monotonic() + 120
                while process.poll() is None and time.monotonic() < deadline:
                    if ledger.exists() and self.trials_in(ledger) >= 2:
                        break
                    time.sleep(0.005)
                process.send_signal(signal.SIGKILL)
            if not (self.dir / "cut/report.json").exists() and self.trials_in(ledger) < 32:
                break
            shutil.rmtree(self.dir / "cut")
        self.assertFalse((self.dir / "cut/report.json").exists())
        done = self.seconds_in(ledger)
        self.assertGreaterEqual(len(done), 2)
        self.assertLess(len(done), 12)
        result = self.reproduce(*args, out="cut")
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ("report.json", "membership.json", "membership_paper.csv", "figure2.json"):
            self.assertEqual((self.dir / "cut" / name).read_bytes(),
                             (self.dir / "whole" / name).read_bytes(), name)
        after = self.seconds_in(ledger)
        self.assertEqual(len(after), 12)
        # How long a trial took is measured, so equal times are those of the same training.
        self.assertEqual({key: after[key] for key in done}, done)

    @staticmethod
    def seconds_in(path):
        ledger = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)
        rows = ledger.execute("select policy, pair, replica, seconds from trial").fetchall()
        ledger.close()
        return {row[:3]: row[3] for row in rows}

    def test_table_1_and_the_frontier(self):
        args = ("--only", "table1,frontier", *TINY, "--set", "audit.pairs=1",
                "--set", "train.iterations=30")
        result = self.reproduce(*args)
        self.assertEqual(result.returncode, 0, result.stderr)
        table1 = self.entry("table1")
        for batch in (500, 1000):
            flatness = table1["ours"][f"batch_{batch}"]["flatness"]
            self.assertGreater(flatness["hessian_trace"], flatness["hessian_largest"] * 0.5)
            self.assertEqual(flatness["covariance_trace"] == 0, batch == 1000)
        kls = [p["kl"] for p in table1["ours"]["ridge"]]
        self.assertEqual(kls[-2:], ["inf", "inf"])
        self.assertEqual(kls[:-2], sorted(kls[:-2]))
        frontier = self.entry("frontier")
        self.assertEqual(set(frontier["ours"]["network"]),
                         {"isotropic", "isotropic_per_layer", "anisotropic", "floored", "designed"})
        for policy, points in frontier["ours"]["network"].items():
            for point, sure in zip(points, frontier["interval"]["network"][policy]):
                self.assertLessEqual(sure["advantage"][0], point["advantage"])
                self.assertLessEqual(point["advantage"], sure["advantage"][1])
        self.assertIn("designed_by_outcome", frontier["ours"]["ridge"])
        self.check_results({"table1": table1, "frontier": frontier})

    def check_results(self, entries):
        """tools/results.py: the same numbers as JSON and as tables."""
        made = subprocess.run([ROOT / "tools/results.py", self.dir / "out", self.dir / "results"],
                              capture_output=True, text=True, check=False)
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        made = json.loads((self.dir / "results/report.json").read_text())
        self.assertEqual(made.pop("written"), "2023-11-14 22:13 UTC")
        self.assertTrue(made.pop("made")["command line"].startswith("sfumato reproduce"))
        self.assertEqual(made, entries)
        tables = (self.dir / "results/tables.md").read_text()
        printed = entries["table1"]["paper"]["batch_500"]["delta_at_0.01"]
        ours = entries["table1"]["ours"]["batch_500"]["delta_at_0.01"]
        self.assertIn(f"| batch_500 | delta_at_0.01 | {printed:.4g} | {ours:.4g} |", tables)
        point = entries["frontier"]["ours"]["network"]["designed"][2]
        self.assertIn(f"| designed | {point['variance']:.4g} | {point['loss']:.4g} |", tables)

    @staticmethod
    def trials_in(path):
        try:
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5) as ledger:
                return ledger.execute("select count(*) from trial").fetchone()[0]
        except sqlite3.OperationalError:  # being made
            return 0

    def test_ctrl_c_says_how_to_go_on(self):
        args = ("--only", "table1", "--set", "train.iterations=2000", "--set", "audit.pairs=1",
                "--threads", "2")
        with subprocess.Popen([SFUMATO, "reproduce", "--out", str(self.dir / "out"), *args],
                              cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            deadline = time.monotonic() + 120
            while (not (self.dir / "out/ledgers/table1.b500.quick.ledger").exists()
                   and time.monotonic() < deadline):
                time.sleep(0.01)
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            text, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("Stopped in table1; trained models are kept. Go on: sfumato reproduce", text)
        self.assertIn("--only table1 --set 'train.iterations=2000' --set 'audit.pairs=1'", text)

    def test_a_missing_data_set_is_left_out_or_refused(self):
        empty = {**os.environ, "SFUMATO_DATA": str(self.dir), "XDG_CACHE_HOME": str(self.dir)}
        result = self.reproduce("--only", "table2.s3", env=empty)
        if (ROOT / "/usr/share/datasets/cifar10").exists():
            self.skipTest("the distribution has CIFAR-10")
        self.assertEqual(result.returncode, BAD_INPUT)
        self.assertIn("table2.s3 needs the data set cifar10, which is not on this machine. Get it: "
                      "sfumato data get", result.stderr)
        self.assertFalse((self.dir / "out").exists())


if __name__ == "__main__":
    unittest.main()
