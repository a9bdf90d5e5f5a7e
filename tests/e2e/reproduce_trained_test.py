"""`sfumato reproduce`, the parts that train models: small runs, a killed one, Ctrl-C, a missing data set."""
import csv
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

from support import BAD_INPUT, ProgramTest, ROOT, SFUMATO, run


def rows_of(path):
    with open(path, newline="") as stream:
        return list(csv.DictReader(stream))


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
        # The paper, its text taken literally, and the closest interpretation.
        rows = rows_of(self.dir / "out/table2_s1_paper.csv")
        self.assertEqual([(row["policy"], row["number"], float(row["paper"])) for row in rows],
                         [("isotropic_per_layer", "delta", 0.0015), ("isotropic_per_layer", "worst loss", 0.35),
                          ("anisotropic", "delta", 0.0012), ("anisotropic", "worst loss", 0.14)])
        self.assertEqual(float(rows[3]["literal"]), entry["ours"]["anisotropic"]["worst_loss"])
        for row, number in zip(rows, ("delta_at_0.1", "worst_loss") * 2):
            closest = entry["ours"]["closest"][row["policy"]][number]
            self.assertEqual(float(row["closest"]), closest)
            self.assertNotEqual(closest, entry["ours"][row["policy"]][number])  # other models
            lower, upper = entry["interval"]["closest"][row["policy"]][number]
            self.assertTrue(lower <= closest <= upper)
        self.assertEqual(entry["size"]["closest"]["iterations"], 60)
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
        self.assertEqual(self.trials(), {"table2.s1.quick.ledger": 8, "table2.s1.closest.quick.ledger": 8})

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
            self.assertGreaterEqual(table1["ours"]["closest"][f"batch_{batch}"]["delta_at_0.1"], 0)
        self.assertEqual(set(rows_of(self.dir / "out/table1_paper.csv")[0]),
                         {"epsilon", "batch", "paper_delta", "delta", "interval", "closest", "closest_interval"})
        kls = [p["kl"] for p in table1["ours"]["ridge"]]
        self.assertEqual(kls[-2:], ["inf", "inf"])
        self.assertEqual(kls[:-2], sorted(kls[:-2]))
        frontier = self.entry("frontier")
        self.assertEqual(set(frontier["ours"]["network"]),
                         {"isotropic", "isotropic_per_layer", "anisotropic", "floored", "designed"})
        for policy, points in frontier["ours"]["network"].items():
            for point, sure in zip(points, frontier["interval"]["network"][policy]):
                for name in ("auc", "advantage"):
                    self.assertLessEqual(sure[name][0], point[name])
                    self.assertLessEqual(point[name], sure[name][1])
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
