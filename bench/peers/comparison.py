#!/usr/bin/env python3
"""The same questions put to Sfumato and to its peers, one after the other on one machine: what docs/comparison.md shows.

  comparison.py [--program build/bin/sfumato] [--json results.json]     asks whatever this Python can import, and the program
  comparison.py --table results.json...                                 Markdown of what several Pythons found

Peers come from PyPI and have conflicting requirements; make an environment for each group and run this in every one:
`dp-accounting prv-accountant riskcal opendp`, `opacus`, `tensorflow-privacy`. Times are of one call after the import, best of three.
"""
import argparse
import decimal
import importlib.metadata
import json
import os
import subprocess
import sys
import time

NOISE, RATE, STEPS, DELTA, TARGET, FPR = 1.1, 0.00427, 14062, 1e-5, 3.0, 0.01
RECORDS, BATCH, EPOCHS = 60_000, 256, 60  # 256 / 60,000 = 0.00427, 60 epochs are 14,062 steps
RUN = ["--sampler", "poisson", "--adjacency", "add_remove", "--target_delta", str(DELTA)]


def sfumato(program):
    def ask(*options):
        out = subprocess.run([program, "account", *options, "--json"], capture_output=True, text=True, check=True).stdout
        return {entry["quantity"]: entry for entry in json.loads(out)["results"]}

    settings = ["--noise_multiplier", str(NOISE), "--sample_rate", str(RATE), "--steps", str(STEPS), *RUN]
    calibrate = ["--target_epsilon", str(TARGET), "--sample_rate", str(RATE), "--steps", str(STEPS), *RUN]

    def text(entry):
        sign = {"upper_bound": "<= ", "lower_bound": ">= ", "exact": "= ", "estimate": "~ "}
        rounding = {"upper_bound": decimal.ROUND_CEILING, "lower_bound": decimal.ROUND_FLOOR}.get(entry["claim"], decimal.ROUND_HALF_EVEN)
        return sign[entry["claim"]] + f"{decimal.Context(prec=6, rounding=rounding).create_decimal(entry['value']).normalize():f}"

    return {
        "epsilon": lambda: text(ask(*settings)["epsilon_upper"]),
        "noise": lambda: f"{ask(*calibrate)['noise_multiplier']['value']:.6g}",
        "advantage": lambda: text(ask(*settings)["advantage"]),
        "tpr": lambda: text(ask(*settings)[f"tpr_at_{FPR:g}"]),
    }


def dp_accounting():
    import dp_accounting as dp
    from dp_accounting import pld, rdp

    def event(noise):
        return dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(RATE, dp.GaussianDpEvent(noise)), STEPS)

    def calibrated():
        return dp.calibrate_dp_mechanism(pld.PLDAccountant, event, TARGET, DELTA, dp.LowerEndpointAndGuess(0.1, 1.0), tol=1e-4)

    return {
        "epsilon": lambda: f"{pld.PLDAccountant().compose(event(NOISE)).get_epsilon(DELTA):.6g} (PLD), "
                           f"{rdp.RdpAccountant().compose(event(NOISE)).get_epsilon(DELTA):.6g} (RDP)",
        "noise": lambda: f"{calibrated():.6g}",
    }


def prv_accountant():
    from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

    def interval():
        mechanism = PoissonSubsampledGaussianMechanism(noise_multiplier=NOISE, sampling_probability=RATE)
        accountant = PRVAccountant(prvs=[mechanism], max_self_compositions=[STEPS], eps_error=0.01, delta_error=1e-9)
        low, _, high = accountant.compute_epsilon(delta=DELTA, num_self_compositions=[STEPS])
        return f"{low:.6g} to {high:.6g}"

    return {"epsilon": interval}


def riskcal():
    from riskcal import calibration

    run = dict(noise_multiplier=NOISE, sample_rate=RATE, num_steps=STEPS)
    return {
        "advantage": lambda: f"{calibration.get_advantage_for_dpsgd(**run):.6g}",
        "tpr": lambda: f"{1 - calibration.get_beta_for_dpsgd(alpha=FPR, **run):.6g}",
    }


def opendp():
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")

    def gaussian():
        space = (dp.vector_domain(dp.atom_domain(T=float, nan=False), size=1), dp.l2_distance(T=float))
        one = space >> dp.m.then_gaussian(scale=NOISE)
        return f"{dp.c.make_zCDP_to_approxDP(one).map(1.0).epsilon(DELTA):.6g} for one step on all records; subsampled Gaussian steps are not offered"

    return {"epsilon": gaussian}


def opacus():
    from opacus.accountants import PRVAccountant, RDPAccountant
    from opacus.accountants.utils import get_noise_multiplier

    def epsilon(kind):
        accountant = kind()
        accountant.history = [(NOISE, RATE, STEPS)]
        return accountant.get_epsilon(DELTA)

    return {
        "epsilon": lambda: f"{epsilon(PRVAccountant):.6g} (PRV), {epsilon(RDPAccountant):.6g} (RDP)",
        "noise": lambda: f"{get_noise_multiplier(target_epsilon=TARGET, target_delta=DELTA, sample_rate=RATE, steps=STEPS, accountant='prv', epsilon_tolerance=1e-3):.6g}",
    }


def tensorflow_privacy():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    from tensorflow_privacy.privacy.analysis import compute_dp_sgd_privacy_lib as lib

    def statement():
        text = lib.compute_dp_sgd_privacy_statement(number_of_examples=RECORDS, batch_size=BATCH, num_epochs=EPOCHS, noise_multiplier=NOISE, delta=DELTA)
        found = [line.strip() for line in text.splitlines() if "Epsilon" in line]
        return "; ".join(" ".join(line.split()) for line in found)

    return {"epsilon": statement}


PEERS = {"dp-accounting": dp_accounting, "prv-accountant": prv_accountant, "riskcal": riskcal, "opendp": opendp, "opacus": opacus,
         "tensorflow-privacy": tensorflow_privacy}
QUESTIONS = {"epsilon": f"epsilon at delta = {DELTA:g}", "noise": f"least noise multiplier for epsilon {TARGET:g}", "advantage": "largest membership advantage",
             "tpr": f"largest TPR at FPR {FPR:g}"}


def best_of(times, call):
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        answer = call()
        seconds.append(time.perf_counter() - start)
        if seconds[-1] > 5:
            break
    return answer, min(seconds)


def ask(name, version, calls):
    for question, call in calls.items():
        answer, seconds = best_of(3, call)
        print(f"{name} {version}: {QUESTIONS[question]}: {answer} ({seconds:.3g} s)", file=sys.stderr)
        yield {"tool": name, "version": version, "question": question, "answer": answer, "seconds": seconds}


def table(results):
    for question, words in QUESTIONS.items():
        print(f"\n**{words[0].upper() + words[1:]}**\n\n| tool | answer | seconds |\n| --- | --- | --- |")
        for entry in results:
            if entry["question"] == question:
                print(f"| {entry['tool']} {entry['version']} | {entry['answer'].replace('|', '/')} | {entry['seconds']:.3g} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/bin/sfumato"))
    parser.add_argument("--json")
    parser.add_argument("--table", nargs="+")
    options = parser.parse_args()
    if options.table:
        results = []
        for path in options.table:
            with open(path) as file:
                results += json.load(file)
        unique = {(entry["question"], entry["tool"]): entry for entry in results}
        return table(unique.values())
    version = subprocess.run([options.program, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    results = list(ask("Sfumato", version, sfumato(options.program)))
    for name, questions in PEERS.items():
        try:
            version = importlib.metadata.version(name)
            calls = questions()
        except ImportError as error:  # PackageNotFoundError, too
            print(f"{name}: not here ({error})", file=sys.stderr)
            continue
        results += ask(name, version, calls)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)
    else:
        table(results)


if __name__ == "__main__":
    main()
