"""`mpirun -n N sfumato study run`: the same rows as threads give, and nothing lost when a rank dies."""
import os
import random
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from support import BAD_INPUT, FASHION, FASHION_STUDY, ROOT, SFUMATO, ProgramTest, run, trials_done

STUDY = FASHION_STUDY.replace("replicas = 6", "replicas = 10")
# Tests run as root in containers, and ask for more ranks than there are cores. In a build with a sanitizer, what Open MPI's
# plugins do is not ours to count: memory that they keep when they are unloaded, and locks of their own. Errors still are.
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", ASAN_OPTIONS="detect_leaks=0",
                   TSAN_OPTIONS=f"suppressions={ROOT / 'tests/e2e/open_mpi.supp'}")


def mpirun(ranks, *args):
    return subprocess.run(["mpirun", "-n", str(ranks), SFUMATO, *map(str, args)], cwd=ROOT, env=ENVIRONMENT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300, check=False)


def ours(stderr):
    """What the program wrote, without mpirun's own lines."""
    return [line for line in stderr.splitlines() if line.startswith("sfumato: ")]


def processes_of(launcher):
    """The ranks that mpirun started: {rank: pid}."""
    ranks = {}
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent != launcher:
                continue
            for variable in (entry / "environ").read_bytes().split(b"\0"):
                if variable.startswith(b"OMPI_COMM_WORLD_RANK="):
                    ranks[int(variable.split(b"=")[1])] = int(entry.name)
        except (OSError, ValueError, IndexError):
            continue  # no process, or one that has just ended
    return ranks


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


@unittest.skipUnless(FASHION.exists(), "Fashion-MNIST is not installed")
@unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
class Mpi(ProgramTest):
    @classmethod
    def setUpClass(cls):
        refused = mpirun(2, "study", "run", "missing.toml")
        if "this build has no MPI" in refused.stderr:
            raise unittest.SkipTest("this build has no MPI")

    def setUp(self):
        super().setUp()
        self.study = self.write("s.toml", STUDY)

    def export(self, ledger):
        out = self.dir / "out.csv"
        done = run("study", "export", ledger, "--out", out, "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        return out.read_text()

    def count(self, ledger):
        """Finished trials; 0 if there is no ledger yet."""
        status = run("study", "status", ledger)
        return trials_done(status.stdout) if status.returncode == 0 else 0

    def rows(self, *settings, threads=1):
        ledger = self.dir / f"threads{threads}.ledger"
        done = run("study", "run", self.study, "--ledger", ledger, "--threads", threads, *settings)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.export(ledger)

    def test_ranks_give_the_rows_of_threads(self):
        one = self.rows()
        self.assertEqual(len(one.splitlines()), 1 + 2 * 2 * 10 * 2)
        self.assertEqual(self.rows(threads=4), one)
        # Threads of a rank may finish together: several times, for the moments that this takes.
        for number, (ranks, extra) in enumerate(((3, []), *[(2, ["--threads", "2"])] * 5)):
            ledger = self.dir / f"ranks{number}.ledger"
            done = mpirun(ranks, "study", "run", self.study, "--ledger", ledger, *extra)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.count("40 trials in"), 1)  # rank 0 alone prints
            self.assertEqual(done.stderr, "")
            self.assertEqual(self.export(ledger), one)
        again = mpirun(3, "study", "run", self.study, "--ledger", ledger)
        self.assertIn("(0 new)", again.stdout)

    def test_private_policies_give_the_same_rows_from_threads_and_ranks(self):
        records = random.Random(3)
        rows = [[records.gauss(0, 1) for _ in range(6)] for _ in range(40)]
        table = self.write("t.csv", "".join(",".join(f"{v:.4f}" for v in row) + f",{int(row[0] > 0)}\n" for row in rows))
        variances = self.write("v.csv", "".join(f"{0.5 + 0.1 * (i % 7)}\n" for i in range(29)))
        self.study = self.write("private.toml", f"""[data]
set = "{table}"
records = 30
[[model.layers]]
type = "linear"
outputs = 3
[[model.layers]]
type = "linear"
outputs = 2
[train]
sampler = "poisson"
batch_size = 4
iterations = 25
clip = 0.5
noise_multiplier = 1.0
[[noise]]
policy = "private"
[[noise]]
name = "per_layer"
policy = "private"
metric = "per_layer"
[[noise]]
name = "whitened"
policy = "private"
metric = "whitened"
covariance = "{variances}"
[[noise]]
name = "released"
policy = "private"
metric = "released"
[[noise]]
name = "input"
policy = "private"
metric = "input"
metric_mu = 0.5
[[noise]]
name = "input_all"
policy = "private"
metric = "input"
metric_mu = 0.5
metric_layers = "all"
[audit]
replicas = 7
""")
        one = self.rows()
        self.assertEqual(one.count("\n"), 1 + 6 * 7 * 2)  # a row for each policy, replica and world
        self.assertEqual(len({line.split(",", 1)[1] for line in one.splitlines()}), 1 + 6 * 7 * 2)  # which differ
        self.assertEqual(self.rows(threads=4), one)
        ledger = self.dir / "private_ranks.ledger"
        done = mpirun(3, "study", "run", self.study, "--ledger", ledger)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.export(ledger), one)

    def test_one_rank_is_threads(self):
        ledger = self.dir / "one.ledger"
        done = mpirun(1, "study", "run", self.study, "--ledger", ledger, "--threads", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("ranks", done.stdout)
        self.assertEqual(self.export(ledger), self.rows())

    def test_killed_ranks_lose_nothing_that_was_committed(self):
        settings = ["--set", "audit.replicas=20", "--set", "train.iterations=1500"]
        ledger = self.dir / "killed.ledger"
        chance = random.Random(11)
        held, kills = 0, 0
        for victim in (1, 0, 2, 1):
            job = subprocess.Popen(["mpirun", "-n", "3", SFUMATO, "study", "run", str(self.study), "--ledger", str(ledger),
                                    *settings], env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                self.assertTrue(wait_for(lambda: self.count(ledger) > held or job.poll() is not None))
                time.sleep(chance.uniform(0.0, 0.3))
                before = self.count(ledger)
                ranks = processes_of(job.pid)
                if job.poll() is not None or victim not in ranks:
                    break  # it was done
                os.kill(ranks[victim], signal.SIGKILL)
                self.assertNotEqual(job.wait(timeout=60), 0)
            finally:
                if job.poll() is None:
                    job.kill()
                    job.wait()
            for pid in ranks.values():  # the job is over, all of it
                self.assertTrue(wait_for(lambda: not Path(f"/proc/{pid}").exists(), 20.0))
            kills += 1
            held = self.count(ledger)
            self.assertGreaterEqual(held, before)
        self.assertGreaterEqual(kills, 2)
        done = mpirun(3, "study", "run", self.study, "--ledger", ledger, *settings)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.export(ledger), self.rows(*settings, threads=2))

    def test_stopped_says_how_to_go_on(self):
        ledger = self.dir / "stopped.ledger"
        job = subprocess.Popen(["mpirun", "-n", "3", SFUMATO, "study", "run", str(self.study), "--ledger", str(ledger),
                                "--set", "train.iterations=100000"], env=ENVIRONMENT, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
        self.assertTrue(wait_for(lambda: len(processes_of(job.pid)) == 3 and ledger.exists()))
        time.sleep(1.0)
        job.send_signal(signal.SIGINT)
        out = job.communicate(timeout=60)[0]
        self.assertNotEqual(job.returncode, 0)
        self.assertIn("To continue: mpirun -n 3 sfumato study run", out)

    def test_rank_zero_says_once_what_is_wrong(self):
        ledger = self.dir / "a.ledger"
        missing = mpirun(3, "study", "run", self.dir / "missing.toml", "--ledger", ledger)
        self.assertEqual(missing.returncode, BAD_INPUT)
        self.assertEqual(len(ours(missing.stderr)), 1, missing.stderr)
        self.assertIn("there is no such file", missing.stderr)
        # A rank that would compute something else, as another build or machine would. The study is so long that rank 0
        # does not end it before the other has come.
        long = ["--ledger", ledger, "--set", "train.iterations=100000"]
        other = subprocess.run(["mpirun", "-n", "1", SFUMATO, "study", "run", self.study, *long, ":",
                                "-n", "1", SFUMATO, "study", "run", self.study, *long, "--set", "train.seed=4"],
                               env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(other.returncode, BAD_INPUT)
        self.assertEqual(len(ours(other.stderr)), 1, other.stderr)
        self.assertIn("rank 1 would compute something else: it has `seed = 4`, rank 0 has `seed = 0`", other.stderr)
        # One that cannot read the study.
        lost = subprocess.run(["mpirun", "-n", "1", SFUMATO, "study", "run", self.study, *long, ":",
                               "-n", "1", SFUMATO, "study", "run", self.dir / "missing.toml"],
                              env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(lost.returncode, BAD_INPUT)
        self.assertEqual(len(ours(lost.stderr)), 1, lost.stderr)
        self.assertIn("rank 1 failed", lost.stderr)


if __name__ == "__main__":
    unittest.main()
