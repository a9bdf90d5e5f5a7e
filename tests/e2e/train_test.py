"""`sfumato train`: real data, files that PyTorch loads, interruption and resumption, refusals."""
import json
import re
import shutil
import signal
import subprocess
import time
import unittest

from support import FASHION, ROOT, SFUMATO, ProgramTest, catches_interrupts, run

STUDY = """
[data]
set = "fashion-mnist"
records = 200
test_records = 300
[model]
preset = "mlp-10"
[train]
iterations = 60
batch_size = 20
learning_rate = 0.1
path_kl = true
log_every = 20
[[noise]]
policy = "isotropic"
variance = 1e-4
[[noise]]
policy = "anisotropic"
variance = 1e-4
"""
# The same records, standardised the same way, from the files themselves.
PYTORCH = """
import gzip, json, sys
import numpy as np
import torch
torch.set_num_threads(1)

def idx(name, offset):
    path = "/usr/share/datasets/fashion-mnist/" + name + "-ubyte.gz"
    return np.frombuffer(gzip.open(path).read(), np.uint8, offset=offset)

directory, stem, kind = sys.argv[1:]
images = idx("t10k-images-idx3", 16).reshape(-1, 1, 28, 28)[:300]
labels = torch.tensor(idx("t10k-labels-idx1", 8)[:300].astype(np.int64))
inputs = torch.tensor((images / 255.0 - 0.2860) / 0.3530, dtype=torch.float32)

class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = torch.nn.Linear(784, 10), torch.nn.Linear(10, 10)
    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x.flatten(1))))

class Conv(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(1, 3, 5, stride=2, padding=1)
        self.conv2 = torch.nn.Conv2d(3, 4, 3)
        self.head = torch.nn.Linear(4 * 5 * 5, 10)
    def forward(self, x):
        x = torch.tanh(self.conv1(x))
        x = torch.nn.functional.avg_pool2d(torch.relu(self.conv2(x)), 2)
        return self.head(x.flatten(1))

model = Mlp() if kind == "mlp" else Conv()
arrays = np.load(f"{directory}/{stem}.npz")
model.load_state_dict({name: torch.tensor(arrays[name]) for name in arrays.files})
with torch.no_grad():
    logits = model(inputs)
    loss = torch.nn.functional.cross_entropy(logits, labels)
    print(json.dumps([loss.item(), (logits.argmax(1) == labels).float().mean().item()]))
"""
CONVOLUTION = ["model.layers=[{type='conv2d', channels=3, kernel=5, stride=2, padding=1}, {type='tanh'}, "
               "{type='conv2d', channels=4, kernel=3}, {type='relu'}, {type='avg_pool', size=2}, "
               "{type='flatten'}, {type='linear', outputs=10, name='head'}]"]


@unittest.skipUnless(FASHION.exists(), "dataset-fashion-mnist is not installed")
class TrainTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.study = self.write("s.toml", STUDY)

    def settings(self, *settings):
        return [word for setting in settings for word in ("--set", setting)]

    def train(self, *settings, out=None):
        extra = ["--out", out] if out else []
        return self.document("train", self.study, *self.settings(*settings), *extra)


class Results(TrainTest):
    def test_models_learn(self):
        document = self.train("train.iterations=400", "train.path_kl=false")
        models = document.block("models")["rows"]
        self.assertEqual([(m["policy"], m["world"]) for m in models],
                         [("isotropic", "D"), ("isotropic", "D'"),
                          ("anisotropic", "D"), ("anisotropic", "D'")])
        for model in models:
            self.assertEqual(model["status"], "ok")
            self.assertLess(model["loss"]["value"], 0.6)
            self.assertGreater(model["train_accuracy"]["value"], 0.8)
            self.assertGreater(model["test_accuracy"]["value"], 0.5)
        self.assertFalse(document.has("path_kl"))

    def test_what_is_said(self):
        document = self.train()
        text = " ".join(document.statements())
        for needle in ("zero-out adjacency", "public", "No epsilon", "Spec §8.5", "clipped"):
            self.assertIn(needle, text)
        for row in document.block("path_kl")["rows"]:
            self.assertEqual(row["path_kl"]["claim"], "estimate")
            self.assertGreater(float(row["path_kl"]["value"]), 0)
            self.assertEqual(row["differing_steps"], 6)  # once in each epoch of ten steps

    def test_no_noise_gives_an_infinite_path_kl(self):
        study = self.write("none.toml", STUDY.split("[[noise]]")[0] + '[[noise]]\npolicy = "none"\n')
        document = self.document("train", study)
        row = document.block("path_kl")["rows"][0]
        self.assertEqual(row["path_kl"]["value"], "inf")
        self.assertEqual(row["infinite_steps"], row["differing_steps"])
        self.assertTrue(any("infinite" in text for text in document.statements("warning")))

    def test_divergence_is_a_result(self):
        document = self.train("train.learning_rate=1e30", "train.path_kl=false")
        for model in document.block("models")["rows"]:
            self.assertTrue(model["status"].startswith("diverged at step"), model)

    def test_measures_of_the_final_models(self):
        document = self.document("train", self.study, "--set", "adjacency.kind=replace",
                                 "--measure", "hessian,flatness,covariance,noise")
        self.assertEqual(len(document.block("hessian")["rows"]), 4)
        for row in document.block("hessian")["rows"]:
            self.assertEqual(row["trace"]["claim"], "estimate")
            self.assertGreater(row["largest"]["value"], 0)
        for row in document.block("flatness")["rows"]:
            if row["respected"] == "yes":
                self.assertLessEqual(row["gradient_difference"]["value"], row["bound"]["value"])
        for row in document.block("covariance")["rows"]:
            self.assertLessEqual(row["largest"]["value"], row["trace"]["value"])
        isotropic, anisotropic = document.block("noise_by_pixel")["series"]
        self.assertEqual(len(isotropic["z"]), 28 * 28)
        for variance in isotropic["z"]:
            self.assertAlmostEqual(variance, 1e-4, 12)
        self.assertGreater(max(anisotropic["z"]), 2 * min(anisotropic["z"]))
        self.assertEqual(document.block("noise_by_layer")["axes"]["x"]["categories"],
                         ["fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"])

    def test_tables_without_a_test_part(self):
        rows = "\n".join(f"{i % 7},{i % 5},{i % 3}" for i in range(60))
        table = self.write("t.csv", "a,b,class\n" + rows + "\n")
        study = self.write("t.toml", '[data]\nset = "t.csv"\nrecords = 40\nlabel = "class"\n'
                           '[adjacency]\nkind = "replace"\n'
                           '[[model.layers]]\ntype = "linear"\noutputs = 3\n'
                           '[train]\niterations = 50\nbatch_size = 10\nlearning_rate = 0.01\n'
                           '[[noise]]\npolicy = "none"\n')
        document = self.document("train", study)
        self.assertNotIn("test_accuracy", document.block("models")["rows"][0])
        self.assertIn(str(table), " ".join(document.statements()))


class Files(TrainTest):
    def torch(self, out, stem, kind):
        script = self.write("check.py", PYTORCH)
        result = subprocess.run(["/usr/bin/python3", script, out, stem, kind], text=True,
                                stdout=subprocess.PIPE, check=True, timeout=300)
        return json.loads(result.stdout)

    def test_pytorch_gives_the_same_losses(self):
        for kind, settings in (("mlp", []), ("conv", CONVOLUTION)):
            if kind == "conv":
                self.study = self.write("c.toml", STUDY.replace('preset = "mlp-10"', ""))
            out = self.dir / kind
            document = self.train(*settings, out=out)
            for model in document.block("models")["rows"]:
                stem = model["policy"] + (".d" if model["world"] == "D" else ".d_prime")
                loss, accuracy = self.torch(out, stem, kind)
                self.assert_close(loss, model["test_loss"]["value"], 1e-5)
                self.assert_close(accuracy, model["test_accuracy"]["value"], 1e-6)

    def test_log(self):
        out = self.dir / "out"
        document = self.train("train.gradient_differences=true", out=out)
        log = json.loads((out / "log.json").read_text())
        self.assertEqual(log["steps"], 60)
        self.assertEqual(log["data"]["train"]["sha256"], document.content["provenance"]["data"])
        self.assertEqual(log["study"], (out / "study.toml").read_text())
        self.assertEqual(log["models"][0]["losses"]["step"], [0, 20, 40])
        self.assertEqual(log["models"][0]["training"]["mean_loss"],
                         document.value("models", "loss", policy="isotropic", world="D"))
        self.assertEqual(json.loads((out / "document.json").read_text()), document.content)
        self.assertFalse((out / "checkpoint.npz").exists())
        # The canonical study trains the same models.
        again = self.document("train", out / "study.toml")
        self.assertEqual(again.block("models"), document.block("models"))

    def test_designed_noise_comes_back(self):
        out, noise = self.dir / "out", self.dir / "noise.npz"
        self.train("train.gradient_differences=true", out=out)
        self.document("design", "--second-moments", out / "isotropic.d.second_moments.npy",
                      "--differences-are", "private", "--trace", 1, "--out", noise)
        document = self.train("noise.anisotropic.policy=fixed", "noise.0.name=base",
                              f"noise.1.covariance='{noise}'", "noise.1.variance=0.01",
                              "train.path_kl=false")
        self.assertEqual(document.block("noise")["rows"][1]["kind"], "fixed")
        self.assertEqual(document.block("models")["rows"][2]["status"], "ok")


class Interruption(TrainTest):
    def interrupted(self, *args, cwd=None, wait=0.5, may_end=False):
        process = subprocess.Popen([SFUMATO, "train", *map(str, args)], cwd=cwd or ROOT, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(catches_interrupts(process))
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=120)
        self.assertIn(process.returncode, (130, 0) if may_end else (130,), stderr)
        return stdout if process.returncode else "ended"

    def test_resumed_runs_have_the_same_bits(self):
        settings = self.settings("train.iterations=6000", "train.gradient_differences=true",
                                 "data.test_records=10")
        whole, cut = self.dir / "whole", self.dir / "cut"
        run("train", self.study, *settings, "--out", whole)
        wait, step = 0.5, 0
        for _ in range(12):  # the data are read first, which takes its time on a busy machine
            text = self.interrupted(self.study, *settings, "--out", cut, wait=wait, may_end=True)
            words = " ".join(text.split())
            found = re.search(r"stopped after (\d+) of 6000", words)
            step = int(found.group(1)) if found else 0
            if step > 0:
                break
            shutil.rmtree(cut, ignore_errors=True)
            wait *= 0.6 if text == "ended" else 2
        self.assertGreater(step, 0)
        self.assertIn("--resume", words)
        self.assertTrue((cut / "checkpoint.npz").exists())
        self.assert_refused(65, ["checkpoint.npz", "--resume"], "train", self.study, *settings,
                            "--out", cut)
        self.assert_refused(65, ["train.seed is 0 there and 7 here"], "train", self.study, *settings,
                            "--set", "train.seed=7", "--out", cut, "--resume")
        resumed = run("train", self.study, *settings, "--out", cut, "--resume", "--json")
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertEqual(json.loads((cut / "log.json").read_text())["resumed_at"], step)
        names = sorted(path.name for path in whole.iterdir())
        self.assertEqual(names, sorted(path.name for path in cut.iterdir()))
        for name in names:
            if name not in ("log.json", "document.json"):  # they hold times
                self.assertEqual((whole / name).read_bytes(), (cut / name).read_bytes(), name)
        logs = [json.loads((out / "log.json").read_text()) for out in (whole, cut)]
        self.assertEqual(logs[0]["models"], logs[1]["models"])

    def test_without_a_directory_the_state_is_beside_the_caller(self):
        settings = self.settings("train.iterations=200000", "data.test_records=10")
        text, wait = "", 0.5
        while not text and wait < 10:  # nothing is kept before the data are read
            text = self.interrupted(self.study, *settings, cwd=self.dir, wait=wait)
            wait *= 2
        self.assertIn("s.checkpoint.npz", text)
        self.assertTrue((self.dir / "s.checkpoint.npz").exists())


class Refusals(TrainTest):
    def refused(self, needles, *settings, code=65):
        self.assert_refused(code, needles, "train", self.study, *self.settings(*settings))

    def test_studies(self):
        self.refused(["--set model.preset=lenet", "conv1", "3 x 32 x 32", "1 x 28 x 28"],
                     "model.preset=lenet")
        self.refused(["--set train.batch_size=201", "201", "200"], "train.batch_size=201")
        self.refused(["--set noise.isotropic.variance=-1", "-1"], "noise.isotropic.variance=-1")
        self.refused(["--set train.iterations=0"], "train.iterations=0")
        self.refused(["--set train.iterations=\"many\"", "string"], "train.iterations=\"many\"")
        self.refused(["mnist", "fashion-mnist"], "data.set=fashion-mnst")
        self.refused(["anisotropic"], "noise.0.policy=anisotropc")
        self.refused(["60001", "60000"], "data.records=60001")
        self.refused(["two noise policies"], "noise.0.name=anisotropic")

    def test_files(self):
        self.assert_refused(65, ["none.toml"], "train", self.dir / "none.toml")
        self.assert_refused(65, ["x.toml:1", "not TOML"], "train", self.write("x.toml", "no toml"))
        self.assert_refused(64, ["study"], "train")
        file = self.write("file", "")
        self.assert_refused(74, ["file"], "train", self.study, "--out", file)
        self.assert_refused(65, ["no checkpoint"], "train", self.study, "--out", self.dir / "o",
                            "--resume")

    def test_missing_data(self):
        environment = {"SFUMATO_DATA": str(self.dir), "XDG_CACHE_HOME": str(self.dir),
                       "HOME": str(self.dir), "PATH": "/usr/bin"}
        self.assert_refused(65, [f"{self.dir}/cifar-10-batches-bin/data_batch_1.bin",
                                 "sfumato data get cifar10"],
                            "train", self.study, *self.settings("data.set=cifar10"),
                            env=environment)

    def test_covariance_of_another_dimension(self):
        noise = self.write("n.csv", "1\n2\n3\n")
        self.refused(["n.csv", "3", "7960"], "noise.isotropic.policy=fixed",
                     f"noise.0.covariance='{noise}'")


class Help(ProgramTest):
    def test_keys(self):
        document = self.document("train", "--keys")
        self.assertEqual(document.cell("train", "default", key="learning_rate, lr"), "0.1")
        self.assertEqual(document.cell("data", "default", key="set, table"), "required")

    def test_shipped_studies_are_read(self):
        studies = sorted([*ROOT.glob("studies/*.toml"), *ROOT.glob("examples/train/*.toml")])
        self.assertGreater(len(studies), 6)
        for study in studies:
            # Everything is checked before the last step is reached: a batch beyond any set.
            result = run("train", study, "--set", "train.batch_size=1000000")
            self.assertIn("--set train.batch_size=1000000", result.stderr, study)


if __name__ == "__main__":
    unittest.main()
