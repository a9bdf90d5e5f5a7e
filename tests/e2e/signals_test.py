"""SIGTERM and Ctrl-C in the middle of the longest loop of every command: it ends within about a second of processor time,
with exit code 130 (143 or 130 by the signal itself before the work begins and while the answer is printed), and leaves no torn file."""
import os
import random
import signal
import subprocess
import time
import unittest

from support import FASHION, ROOT, SFUMATO, ProgramTest, catches_interrupts, processor_seconds, run, without_progress

INTERRUPTED = 130
SECONDS = 1.5  # of one processor, from the signal to the end; some of it on machines that are slower or instrumented
EXAMPLES = ROOT / "examples"
needs_fashion = unittest.skipUnless(FASHION.exists(), "Fashion-MNIST is not installed")


class Signals(ProgramTest):
    def used(self, process):
        try:
            return processor_seconds(process)
        except (FileNotFoundError, ProcessLookupError, IndexError):
            return None

    def stops(self, *args, after=0.4, signals=(signal.SIGTERM, signal.SIGINT), cwd=ROOT, outputs=(), handled=True, printing=False):
        """Signals the command when it has worked for so many seconds; what it writes is whole or not there."""
        for number in signals:
            with self.subTest(command=" ".join(map(str, args))[:70], signal=number.name):
                environment = os.environ | {"OMP_NUM_THREADS": "1"}
                process = subprocess.Popen([SFUMATO, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                           cwd=cwd, env=environment)
                self.addCleanup(process.communicate)
                self.addCleanup(process.kill)
                if handled:
                    self.assertTrue(catches_interrupts(process), "no handler: " + process.stderr.read().decode()
                                    if process.poll() is not None else "")
                else:
                    time.sleep(0.5)
                while process.poll() is None and (self.used(process) or 0.0) < after:
                    time.sleep(0.005)
                self.assertIsNone(process.poll(), "too quick to be stopped")
                before = processor_seconds(process)
                process.send_signal(number)
                out, err = process.communicate(timeout=120)
                # Children that were waited for: the difference between two of them is this one's.
                total = self.children() - self.seen
                self.seen += total
                codes = [INTERRUPTED] if handled and not printing else [INTERRUPTED, -number]
                self.assertIn(process.returncode, codes, err.decode()[-400:] + out.decode()[-200:])
                self.assertLess(total - before, SECONDS)
                self.assertLessEqual(len(without_progress(err.decode()).splitlines()), 2, err.decode())
                for path in outputs:
                    self.assertFalse(path.exists(), path)
                self.assertEqual([p.name for p in self.dir.rglob("*") if ".tmp-" in p.name], [])

    def setUp(self):
        super().setUp()
        self.seen = self.children()

    @staticmethod
    def children():
        times = os.times()
        return times.children_user + times.children_system

    def different_releases(self, count):
        return self.write("releases.toml", "\n".join(
            f'[[release]]\nsampler = "poisson"\nsample_rate = {0.01 * (1 + 0.1 * i / count)!r}\n'
            f'noise_multiplier = {1 + 0.2 * (i * 7919 % count) / count!r}\nsteps = 1\n' for i in range(count)))

    def table(self, rows, columns, classes=False):
        chance = random.Random(1)
        lines = [",".join(f"x{j}" for j in range(columns)) + ",y"]
        for _ in range(rows):
            x = [chance.gauss(0, 1) for _ in range(columns)]
            y = int(sum(x[:3]) + chance.gauss(0, 1) > 0) if classes else round(sum(x[:3]) + chance.gauss(0, 1), 3)
            lines.append(",".join(f"{v:.3f}" for v in x) + f",{y}")
        return self.write("table.csv", "\n".join(lines) + "\n")

    def test_account(self):
        account = ["account", self.different_releases(1000), "--adjacency", "add_remove", "--target-delta", "1e-5",
                   "--save", self.dir / "a.toml"]
        self.stops(*account, outputs=[self.dir / "a.toml"])

    def test_account_by_the_second_method(self):
        account = ["account", self.different_releases(300), "--adjacency", "add_remove", "--target-delta", "1e-5"]
        for after in (0.2, 1.5, 4.0):
            self.stops(*account, "--method", "pld", after=after, signals=(signal.SIGTERM,))
        self.stops(*account, "--check", after=6.0, signals=(signal.SIGTERM,))

    def test_account_of_a_nasty_setting(self):
        self.stops("account", "--noise-multiplier", "0.35", "--batch-size", "200", "--records", "1000", "--steps",
                   "3000", "--sampler", "fixed_size", "--adjacency", "replace_one", "--target-delta", "1e-9", "--check", "--full",
                   after=0.1)

    def test_rows(self):
        table = self.table(40_000, 20, classes=True)
        out = self.dir / "risks.csv"
        for number in (signal.SIGTERM, signal.SIGINT):
            self.stops("rows", table, "--target", "y", "--model", "logistic", "--adjacency", "remove", "--loss", "sum", "--ridge",
                       "1", "--noise", "1", "--threads", "1", "--out", out, after=1.0, signals=(number,), outputs=[out])
            (self.dir / "risks.partial.csv").unlink(missing_ok=True)  # a second run would not replace it

    def test_fit(self):
        table = self.table(20_000, 10)
        model, statement = self.dir / "m.json", self.dir / "m.md"
        bounds = self.write("bounds.csv", "column,kind,low,high,levels,source\n" + "".join(
            f"x{j},numeric,-3,3,,made\n" for j in range(10)) + "y,target,-6,6,,made\n(records),,,20000,,made\n(adjacency),,,,add_remove,\n")
        self.stops("fit", table, "--model", "ridge", "--adjacency", "add_remove", "--bounds", bounds,
                   "--target-epsilon", "1", "--target-delta", "1e-6", "--mechanism", "isotropic", "--steps", "5000", "--force",
                   "--out", model, "--statement", statement, outputs=[model, statement])

    def test_design(self):
        chance = random.Random(2)
        differences = self.write("d.csv", "\n".join(",".join(f"{chance.gauss(0, 1):.4f}" for _ in range(120))
                                                    for _ in range(1200)) + "\n")
        out = self.dir / "noise.npz"  # the best so far, whole, with the warning that it has not converged
        self.stops("design", differences, "--differences-are", "public", "--form", "full", "--trace", "2", "--tolerance", "1e-9",
                   "--threads", "1", "--out", out, "--force", after=1.0)

    def test_bound_on_a_grid(self):
        self.stops("bound", EXAMPLES / "bound/double_well.toml", "--times", "1000", "--cells", "20000", "--no-monte-carlo")

    def test_quadratic(self):
        times = ",".join(f"{1 + i / 10:.1f}" for i in range(12000))
        self.stops("quadratic", EXAMPLES / "quadratic/shift.toml", "--times", times, "--json", after=0.2, printing=True)

    @needs_fashion
    def test_train(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            self.stops("train", EXAMPLES / "train/quick.toml", "--set", "train.iterations=100000000", "--out", self.dir / number.name,
                       signals=[number], after=1.0)

    @needs_fashion
    def test_private_training(self):
        private = ["train", EXAMPLES / "train/private.toml", "--private", "--target-epsilon", "3", "--set", "train.epochs=200",
                   "--out", self.dir / "run"]
        files = [self.dir / "run" / name for name in ("model.npz", "accounting.toml", "PRIVACY.md")]
        self.stops(*private, after=2.0, outputs=files)
        self.stops(*private, "--set", "noise=[{policy='private',metric='input'}]", "--metric-layers", "all", after=1.5,
                   outputs=files)

    def test_study(self):
        self.stops("study", "run", ROOT / "studies/ridge_exact.toml", "--set", "audit.replicas=100000", "--ledger",
                   self.dir / "s.ledger", "--threads", "1")
        status = run("study", "status", self.dir / "s.ledger")
        self.assertEqual(status.returncode, 0, status.stderr)

    def test_audit(self):
        chance = random.Random(3)
        for name, shift in (("in", 0.1), ("out", 0.0)):
            self.write(f"{name}.csv", "\n".join(f"{chance.gauss(shift, 1):.6f}" for _ in range(1_000_000)) + "\n")
        for after in (0.05, 0.3):
            self.stops("audit", "--members", self.dir / "in.csv", "--nonmembers", self.dir / "out.csv", "--unit", "models",
                       after=after)

    def test_reproduce(self):
        self.stops("reproduce", "--out", self.dir / "r", "--threads", "1", after=1.0)

    def test_verify(self):
        self.stops("verify", ROOT / "tests/golden/golden_accounting.json", after=0.05)

    def test_data_check(self):
        if FASHION.exists():
            self.stops("data", "check", "fashion-mnist", after=0.05)

    def test_pipes_that_nobody_writes_to(self):
        """As tables, bounds, problems and scores: the first signal ends them."""
        pipe, table = self.dir / "pipe.csv", EXAMPLES / "fit/wages.csv"
        os.mkfifo(pipe)
        rows = ["rows", pipe, "--target", "y", "--adjacency", "remove", "--loss", "sum", "--noise", "1"]
        fit = ["--model", "ridge", "--records", "6000", "--adjacency", "add_remove", "--target-epsilon", "1", "--target-delta", "1e-6"]
        self.stops(*rows, after=0.0)
        self.stops("fit", pipe, "--bounds", EXAMPLES / "fit/wages_bounds.csv", *fit, after=0.0)
        self.stops("fit", table, "--bounds", pipe, *fit, after=0.0)
        self.stops("audit", "--members", pipe, "--nonmembers", EXAMPLES / "audit/out.csv", "--unit", "models", after=0.0)
        toml = self.dir / "pipe.toml"
        os.mkfifo(toml)
        self.stops("account", toml, "--adjacency", "add_remove", "--target-delta", "1e-5", after=0.0, handled=False)

    def test_pipes_that_somebody_writes_to_late(self):
        """They are waited for, and read to the end."""
        diabetes = EXAMPLES / "rows/diabetes.csv"
        options = ["--target", "progression", "--adjacency", "remove", "--loss", "sum", "--ridge", "1", "--noise", "1"]
        expected = run("rows", diabetes, *options).stdout.splitlines()[2:]
        pipe = self.dir / "pipe.csv"
        os.mkfifo(pipe)
        process = subprocess.Popen([SFUMATO, "rows", pipe, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertTrue(catches_interrupts(process))
        time.sleep(0.3)
        content = diabetes.read_bytes()
        with pipe.open("wb", buffering=0) as writer:
            for first in range(0, len(content), 9000):
                writer.write(content[first:first + 9000])
                time.sleep(0.05)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out.splitlines()[2:]), (0, expected), err)


if __name__ == "__main__":
    unittest.main()
