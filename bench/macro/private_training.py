#!/usr/bin/python3
"""Private training beside PyTorch, and beside the plain engine; measured in turn in one run, processor time, one thread each.

  bench/macro/private_training.py [--rounds 3] [--peers PYTHON] [--whole]

1. What clipping costs: `sfumato bench engine` on S1, S2, S3 and their clipped forms, in turns.
2. A released model (`train --private --seed`, one model, noise from ChaCha20): 784-100-10 with batch 256 of Fashion-MNIST and LeNet with batch 256 of
   CIFAR-10, hardened too, against Opacus and torch.func (bench/peers/torch_private_steps.py), which PYTHON must have; without it they are left out. The time of
   a step is the difference between a long and a short run, so that loading and testing do not count.
3. --whole: 20 epochs of 784-100-10 on all 60,000 records of Fashion-MNIST, as a user would run them.
"""
import argparse
import json
import os
import resource
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ENGINE = os.environ.get("SFUMATO", os.path.join(HERE, "../../build/bin/sfumato"))
STEPS = os.path.join(HERE, "../peers/torch_private_steps.py")

STUDY = """[data]
set = "{set}"
records = {records}
test_records = 100
[model]
preset = "{preset}"
[train]
sampler = "poisson"
batch_size = 256
learning_rate = 0.1
clip = 1.0
noise_multiplier = 1.0
"""
NETWORKS = {"mlp": ("fashion-mnist", 60000, "mlp-100"), "lenet": ("cifar10", 10000, "lenet")}


def processor_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def engine_settings(names, seconds):
    out = subprocess.run([ENGINE, "bench", "engine", "--setting", ",".join(names), "--seconds", str(seconds), "--json"],
                         capture_output=True, text=True, check=True).stdout
    return {row["setting"]: row for row in json.loads(out)}


def clipping(rounds):
    print("What clipping costs: us per model and step, four models, best of the rounds; share of the multiply-add peak")
    for name in ("S1", "S2", "S3"):
        best = {}
        try:
            for _ in range(rounds):
                for key, row in engine_settings([name, name + "_private"], 1.5).items():
                    if key not in best or row["us_per_model_iteration"] < best[key]["us_per_model_iteration"]:
                        best[key] = row
        except subprocess.CalledProcessError as error:
            print(f"{name}: {error.stderr.strip()}")
            continue
        plain, private = (best[key]["us_per_model_iteration"] for key in (name, name + "_private"))
        print(f"{name}: plain {plain:.1f}, clipped {private:.1f}, ratio {private / plain:.2f}; roofline "
              f"{100 * best[name]['roofline_fraction']:.0f} % and {100 * best[name + '_private']['roofline_fraction']:.0f} %")


def engine_step(study, hardened, short, long):
    seconds = []
    for steps in (short, long):
        command = [ENGINE, "train", study, "--private", "--seed", "1", "--set", f"train.iterations={steps}", "--json"]
        seconds.append(processor_seconds(command + (["--hardened"] if hardened else [])))
    return 1e6 * (seconds[1] - seconds[0]) / (long - short)


def peers(rounds, python):
    print("One private model, batch 256, one thread: us of processor time per step, best of the rounds")
    with tempfile.TemporaryDirectory() as folder:
        for name, (data, records, preset) in NETWORKS.items():
            study = os.path.join(folder, name + ".toml")
            with open(study, "w") as file:
                file.write(STUDY.format(set=data, records=records, preset=preset))
            found = {}
            for _ in range(rounds):
                now = {"ours": engine_step(study, False, 100, 1600 if name == "mlp" else 400),
                       "hardened": engine_step(study, True, 2, 22)}
                for mode in ("opacus", "func") if python else ():
                    out = subprocess.run([python, STEPS, name, mode], capture_output=True, text=True, check=True).stdout
                    now[mode] = json.loads(out)["us_per_step"]
                found = {key: min(value, found.get(key, value)) for key, value in now.items()}
            print(f"{name}: " + ", ".join(f"{key} {value:.0f} ({value / found['ours']:.1f}x)" for key, value in found.items()))


def whole():
    with tempfile.TemporaryDirectory() as folder:
        study = os.path.join(folder, "whole.toml")
        with open(study, "w") as file:
            file.write(STUDY.format(set="fashion-mnist", records=60000, preset="mlp-100").replace(
                "noise_multiplier = 1.0\n", "epochs = 20\n").replace("test_records = 100\n", ""))
        start = time.time()
        used = processor_seconds([ENGINE, "train", study, "--private", "--target-epsilon", "3"])
        print(f"20 epochs of 60,000 records, 784-100-10, eps 3: {time.time() - start:.1f} s, {used:.1f} s of one core")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default="", help="Python with PyTorch 2 and Opacus")
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args()
    clipping(options.rounds)
    peers(options.rounds, options.peers)
    if options.whole:
        whole()


if __name__ == "__main__":
    main()
