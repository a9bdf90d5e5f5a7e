"""The batch file for Slurm: its syntax everywhere, and a real run where Slurm is installed.

A cluster of one node is started for the test, in a directory and on ports of its own: it needs slurmctld, slurmd,
slurm-client and munge of Debian, and root, as which the daemons run.
"""
import os
import re
import shutil
import socket
import subprocess
import time
import unittest
from pathlib import Path

from mpi_test import ENVIRONMENT, FASHION, STUDY
from support import ROOT, SFUMATO, ProgramTest, run

BATCH = ROOT / "studies/slurm/study.sbatch"
KNOWN = {"job-name", "ntasks", "cpus-per-task", "time", "output", "open-mode", "requeue"}
MISSING = [name for name in ("slurmctld", "slurmd", "srun", "sbatch", "munged", "mpirun")
           if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")]

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={dir}/munge.socket
CredType=cred/munge
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class Syntax(unittest.TestCase):
    def test_bash_reads_it(self):
        done = subprocess.run(["bash", "-n", BATCH], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_options_are_slurms(self):
        text = BATCH.read_text()
        options = re.findall(r"^#SBATCH --([a-z-]+)", text, re.MULTILINE)
        self.assertEqual(set(options), KNOWN)
        self.assertEqual(len(options), len(text.split("#SBATCH ")) - 1)
        # sbatch reads options up to the first command.
        self.assertLess(text.rindex("#SBATCH"), text.index("set -euo"))

    def test_without_arguments(self):
        done = subprocess.run([BATCH], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 64)
        self.assertIn("give a study file and a ledger", done.stderr)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()


@unittest.skipUnless(not MISSING, f"not installed: {' '.join(MISSING)}")
@unittest.skipUnless(os.geteuid() == 0, "the daemons of Slurm run as root")
@unittest.skipUnless(FASHION.exists(), "Fashion-MNIST is not installed")
class Cluster(ProgramTest):
    def setUp(self):
        super().setUp()
        self.daemons = []
        self.addCleanup(self.stop)
        for name in ("state", "spool"):
            (self.dir / name).mkdir()
        host = socket.gethostname().split(".")[0]
        configuration = self.write("slurm.conf", CONFIGURATION.format(
            host=host, dir=self.dir, ports=free_ports(2), cores=os.cpu_count()))
        key = self.write("munge.key", os.urandom(128))
        key.chmod(0o400)
        self.environment = dict(ENVIRONMENT, SLURM_CONF=str(configuration), SFUMATO=SFUMATO)
        self.start("munged", "--foreground", "--force", f"--socket={self.dir}/munge.socket", f"--key-file={key}",
                   f"--log-file={self.dir}/munge.log", f"--pid-file={self.dir}/munge.pid",
                   f"--seed-file={self.dir}/munge.seed")
        self.wait_for(lambda: (self.dir / "munge.socket").exists(), "munged")
        self.start("slurmctld", "-D", "-f", str(configuration))
        self.start("slurmd", "-D", "-f", str(configuration), "-N", host)
        self.wait_for(lambda: "idle" in self.slurm("sinfo", "-h", "-o", "%T").stdout, "the node")

    def start(self, name, *args):
        path = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
        log = open(self.dir / f"{name}.log", "w", encoding="utf-8")
        self.addCleanup(log.close)
        self.daemons.append(subprocess.Popen([path, *args], stdout=log, stderr=log, env=self.environment))

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def slurm(self, *args, seconds=20):
        return subprocess.run(args, cwd=self.dir, env=self.environment, capture_output=True, text=True,
                              timeout=seconds, check=False)

    def wait_for(self, condition, what, seconds=60.0):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(0.2)
        logs = "\n".join(f"{log.name}: {log.read_text()[-500:]}" for log in self.dir.glob("*.log"))
        self.fail(f"{what} did not come up\n{logs}")

    def test_a_batch_job_gives_the_rows_of_threads(self):
        study = self.write("s.toml", STUDY)
        alone = self.dir / "alone.ledger"
        self.assertEqual(run("study", "run", study, "--ledger", alone, "--threads", "1").returncode, 0)
        done = self.slurm("sbatch", "--wait", "--ntasks=2", "--output=job.out", str(BATCH), str(study), "batch.ledger",
                          seconds=200)
        output = (self.dir / "job.out").read_text()
        self.assertEqual(done.returncode, 0, done.stderr + output)
        self.assertIn("40 trials in batch.ledger (40 new)", output)
        self.assertIn("ranks    2", output)
        rows = []
        for ledger in (alone, self.dir / "batch.ledger"):
            out = self.dir / "rows.csv"
            self.assertEqual(run("study", "export", ledger, "--out", out, "--force").returncode, 0)
            rows.append(out.read_text())
        self.assertEqual(*rows)
        # Tasks of srun that do not know each other are refused, each with one line.
        lost = self.slurm("srun", "--mpi=none", "--ntasks=2", SFUMATO, "study", "run", str(study), seconds=60)
        self.assertNotEqual(lost.returncode, 0)
        self.assertEqual(lost.stderr.count("they do not know each other. Use mpirun, or srun --mpi=pmix"), 2, lost.stderr)


if __name__ == "__main__":
    unittest.main()
