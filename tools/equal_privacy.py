#!/usr/bin/python3
"""Test accuracy at equal certified privacy, over tasks, metrics and seeds; writes docs/results/equal_privacy.md, its figure, and equal_privacy.json
for `sfumato report`.

  tools/equal_privacy.py run [--tasks a,b] [--methods main|others|x,y] [--epsilons 1,3,8] [--seeds 10] [--until HH:MM]
  tools/equal_privacy.py opacus --python .venv-torch/bin/python [--seeds 10]
  tools/equal_privacy.py moments      # rows of the table under "Why", which plan.toml has
  tools/equal_privacy.py write

What is run and with which settings is in studies/equal_privacy/plan.toml. Every run is kept in docs/results/equal_privacy.csv as soon as it has
ended, under its protocol, task, method, setting, epsilon and seed: a run that is there is not made again. Seeds make runs repeatable: they are
experiments, not releases. SFUMATO names the program (default build/bin/sfumato), SFUMATO_DATA the folder with CIFAR-10 and tables/adult.csv.gz.
"""
import argparse
import csv
import datetime
import json
import os
import resource
import subprocess
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import equal_privacy_page  # noqa: E402
import equal_privacy_public as public  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
SFUMATO = os.environ.get("SFUMATO", str(ROOT / "build/bin/sfumato"))
STUDIES = ROOT / "studies/equal_privacy"
RUNS = ROOT / "docs/results/equal_privacy.csv"
WORK = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "sfumato" / "equal_privacy"
KEY = ["protocol", "task", "method", "setting", "epsilon", "seed", "part"]
COLUMNS = KEY + ["accuracy", "noise_multiplier", "seconds"]


class Runs:
    """What has been run, by protocol (that of the plan), task, method, setting, epsilon, seed and part."""

    def __init__(self, path=RUNS):
        self.path = path
        self.rows = {}
        if path.exists():
            with open(path, newline="") as file:
                for row in csv.DictReader(file):
                    self.rows[self.key(row)] = row

    @staticmethod
    def key(row):
        return tuple(str(row[name]) for name in KEY)

    def add(self, row):
        new = not self.path.exists()
        with open(self.path, "a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow(row)
        self.rows[self.key(row)] = row


def text_of(setting):
    return json.dumps(setting, sort_keys=True)


def words_of(setting):
    """Keys with a dot are the study's, others options of the command."""
    words = []
    for key, value in setting.items():
        value = json.dumps(value)
        words += ["--set", f"{key}={value}"] if "." in key else ["--" + key.replace("_", "-"), value]
    return words


def run_once(runs, plan, task, method, setting, epsilon, seed, part):
    row = {"protocol": plan["protocol"], "task": task, "method": method, "setting": text_of(setting), "epsilon": f"{epsilon:g}", "seed": seed, "part": part}
    if Runs.key(row) in runs.rows:
        return runs.rows[Runs.key(row)]
    spec = plan["tasks"][task]
    study = public.prepare(task, spec, method, STUDIES, WORK)
    held_out = {"data.validation": spec["validation"]} if part == "validation" else {"data.test_records": spec["test_records"]}
    if part == "validation":
        held_out.update({key: value for key, value in spec.get("while_validating", {}).items()})
    metric = {"noise.0.metric": "input", "noise.0.metric_layers": "all"} if method == "input_all" else {"noise.0.metric": method}
    if method in ("whitened", "low_rank"):
        metric["noise.0.covariance"] = str(WORK / f"{task}_{method}.npz")
    command = [SFUMATO, "train", str(study), "--private", "--target-epsilon", f"{epsilon:g}", "--target-delta", "1e-5", "--seed", str(seed), "--json"]
    command += words_of(spec.get("options", {})) if method.startswith("input") else []
    command += words_of({**held_out, **metric, **setting})
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    found = {result["quantity"]: result["value"] for result in json.loads(done.stdout)["results"]}
    row.update(accuracy=f"{found.get('test_accuracy', 0.0):.6g}", noise_multiplier=f"{found['noise_multiplier']:.6g}", seconds=f"{after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.2f}")
    runs.add(row)
    print(f"{datetime.datetime.now():%H:%M:%S} {task} {method} eps {epsilon:g} seed {seed} {part}: {row['accuracy']} ({row['seconds']} s) {row['setting']}",
          flush=True)
    return row


def beyond(settings, best):
    """The setting one step further where the best has the least or largest of several learning rates and nothing else varies."""
    rate = "train.learning_rate"
    rates = sorted(setting[rate] for setting in settings)
    if any({**setting, rate: 0} != {**best, rate: 0} for setting in settings) or best[rate] not in (rates[0], rates[-1]):
        return None
    return {**best, rate: rates[0] * rates[0] / rates[1] if best[rate] == rates[0] else rates[-1] * rates[-1] / rates[-2]}


def tuned(runs, plan, task, method, epsilon, late):
    """The setting with the best accuracy on held-out training records at this epsilon, or nothing if the time is up. Where the best is at the end of
    the range, one more is tried, once."""
    best = None
    settings = list(plan["tasks"][task]["settings"][method])
    for setting in settings:
        if late():
            return None
        row = run_once(runs, plan, task, method, setting, epsilon, plan["tuning_seed"], "validation")
        if best is None or float(row["accuracy"]) > best[0]:
            best = (float(row["accuracy"]), setting)
        further = beyond(settings, best[1]) if setting is plan["tasks"][task]["settings"][method][-1] else None
        if further:
            settings.append(further)
    return best[1]


def wanted_methods(spec, wanted):
    main = ["isotropic", spec["shaped"]]
    if wanted == "main":
        return main
    if wanted == "others":
        return [method for method in spec["settings"] if method not in main]
    return [method for method in spec["settings"] if method in wanted.split(",")]


def until(now, hour):
    """The time that is meant: of yesterday, today and tomorrow the nearest, so that it may lie past midnight, or be over."""
    today = datetime.datetime.combine(now.date(), datetime.time.fromisoformat(hour))
    return min((today + datetime.timedelta(days=d) for d in (-1, 0, 1)), key=lambda end: abs(end - now))


def run(options, plan):
    runs = Runs()
    end = options.until and until(datetime.datetime.now(), options.until)
    late = lambda: bool(end) and datetime.datetime.now() >= end  # noqa: E731
    tasks = options.tasks.split(",") if options.tasks else list(plan["tasks"])
    for task in tasks:
        spec = plan["tasks"][task]
        missing = public.missing(task)
        if missing:
            print(f"{task}: {missing}", flush=True)
            continue
        methods = wanted_methods(spec, options.methods)
        for epsilon in [float(e) for e in options.epsilons.split(",")]:
            chosen = {method: tuned(runs, plan, task, method, epsilon, late) for method in methods}
            # Seed by seed, so that a run that is cut off has as many seeds for each method.
            for seed in range(plan["first_seed"], plan["first_seed"] + options.seeds):
                for method in methods:
                    if late():
                        return
                    run_once(runs, plan, task, method, chosen[method], epsilon, seed, "test")


def opacus(options, plan):
    """The same network, clip, noise, sampler and steps in both, seed by seed."""
    runs = Runs()
    spec = plan["opacus"]
    sampled = {key: spec[key] for key in ("batch", "steps", "clip", "noise", "rate")}
    named = lambda method, seed: {"protocol": 1, "task": "opacus", "method": method, "setting": text_of(sampled), "epsilon": "", "seed": seed, "part": "test"}  # noqa: E731
    left = [seed for seed in range(options.seeds) if Runs.key(named("opacus", seed)) not in runs.rows]
    if left:
        words = [word for key, value in sampled.items() for word in (f"--{key}", str(value))]
        command = [options.python, str(ROOT / "bench/peers/opacus_training.py"), *words, "--seeds", ",".join(map(str, left))]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                found = json.loads(line)
                row = named("opacus", found["seed"])
                row.update(accuracy=f"{found['test_accuracy']:.6g}", noise_multiplier=sampled["noise"],
                           seconds=f"{found['median_us'] * 1e-6 * sampled['steps']:.2f}")
                runs.add(row)
                print(row, flush=True)
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(command)} failed")
    for seed in range(options.seeds):
        row = named("sfumato", seed)
        if Runs.key(row) not in runs.rows:
            settings = {"train.batch_size": sampled["batch"], "train.iterations": sampled["steps"], "train.clip": sampled["clip"],
                        "train.noise_multiplier": sampled["noise"], "train.learning_rate": sampled["rate"], "train.seed": seed}
            out = subprocess.run([SFUMATO, "train", str(STUDIES / "opacus.toml"), "--private", "--seed", str(seed), "--json", *words_of(settings)],
                                 capture_output=True, text=True)
            if out.returncode != 0:
                raise SystemExit(out.stderr)
            found = {result["quantity"]: result["value"] for result in json.loads(out.stdout)["results"]}
            row.update(accuracy=f"{found['test_accuracy']:.6g}", noise_multiplier=sampled["noise"], seconds=f"{found['seconds']:.2f}")
            runs.add(row)
            print(row, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "opacus", "moments", "write"])
    parser.add_argument("--tasks", default="")
    parser.add_argument("--methods", default="main")
    parser.add_argument("--epsilons", default="3,1,8")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--until", default="", help="start no run after this time of the day")
    parser.add_argument("--python", default=str(ROOT / ".venv-torch/bin/python"))
    options = parser.parse_args()
    plan = tomllib.loads((STUDIES / "plan.toml").read_text())
    if options.what == "run":
        run(options, plan)
    elif options.what == "opacus":
        opacus(options, plan)
    elif options.what == "moments":
        print("\n".join(public.moments(WORK)))
    else:
        equal_privacy_page.write(plan, Runs().rows.values(), ROOT)


if __name__ == "__main__":
    main()
