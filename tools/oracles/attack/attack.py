"""An attack on the numbers: random problems of extreme shapes against references of 60 and more digits.

  attack.py SEED NUMBERS [--audits N] [--only rows,logistic,quadratic,bound,audit] [--keep FOLDER]

Ends with 1 if any number is on the wrong side of its claim, has wrong digits, or a confidence does not hold. The same
seed asks the same questions; --keep saves those that failed, with the call and what was wrong.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter

import attack_logistic
import attack_quadratic
import attack_rows
import audit_truth
import check_reference
from claims import Tally

BAD = (
    "wrong side",
    "digits wrong",
    "answered where there is no distribution",
    "crash or unknown code",
    "does not hold",
    "another symbol than in JSON",
    "text not understood",
    "column not known",
)


def questions(rng, folder, only):
    """Endless problems: (command, question, function that compares it)."""
    kinds = [
        k
        for k in ("rows", "rows", "rows", "rows", "quadratic", "quadratic", "bound", "logistic")
        if k in only
    ]
    while kinds:
        kind = rng.choice(kinds)
        if kind == "rows":
            yield attack_rows.Question(rng, folder), attack_rows.compare
        elif kind == "logistic":
            yield attack_logistic.Question(rng, folder), attack_logistic.compare
        else:
            make = attack_quadratic.TableProblem if rng.random() < 0.35 else attack_quadratic.Problem
            yield make(rng, folder, kind), attack_quadratic.compare


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("numbers", type=int)
    parser.add_argument("--program", default="build/bin/sfumato")
    parser.add_argument("--audits", type=int, default=0)
    parser.add_argument("--keep", default="")
    parser.add_argument("--only", default="rows,logistic,quadratic,bound,audit")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop asking after so long")
    parser.add_argument("--skip-check", action="store_true", help="of the references themselves")
    options = parser.parse_args()
    only = options.only.split(",")
    if not options.skip_check:
        check_reference.check()
    tally, numbers, count, began = Tally(), 0, 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        rng = random.Random(options.seed)
        for question, compare in questions(rng, folder, only):
            if numbers >= options.numbers or time.monotonic() - began > options.seconds:
                break
            label = f"seed {options.seed} case {count}"
            before = len(tally.failures)
            try:
                numbers += compare(question, os.path.abspath(options.program), tally, label)
            except Exception as problem:  # the attack itself is at fault: say where, go on
                tally.add(
                    question.arguments[0], "", "attack broke", f"{label}: {type(problem).__name__}: {problem}"
                )
            if len(tally.failures) > before:
                if options.keep:
                    kept = os.path.join(options.keep, f"{options.seed}_{count}")
                    shutil.copytree(folder, kept, dirs_exist_ok=True)
                    with open(os.path.join(kept, "command.txt"), "w", encoding="utf-8") as file:
                        file.write(" ".join(question.arguments).replace(folder, ".") + "\n")
                        file.writelines(f"{f[2]}: {f[3]}\n" for f in tally.failures[before:])
                for failure in tally.failures[before : before + 4]:
                    print(*failure, flush=True)
            count += 1
        report = []
        if "audit" in only and options.audits:
            report = audit_truth.attack(
                options.seed, options.audits, os.path.abspath(options.program), folder, tally
            )
    print(
        f"\n{count} problems, {numbers} numbers compared (each in JSON and, where a table prints it, as text), {time.monotonic() - began:.0f} s"
    )
    for (command, claim, outcome), times in sorted(tally.counts.items()):
        print(f"{times:8d}  {command:10s} {claim:12s} {outcome}")
    if report:
        print("Audits:")
        print("\n".join(report))
    print("Refusals and warnings:")
    for (command, code, mode, kind), times in Counter(tally.refusals).most_common(60):
        print(f"{times:6d}  {command} {code} {mode}: {kind}")
    for name, (error, detail) in sorted(tally.largest.items()):
        print(f"largest relative error of {name}: {error:.2e}, {detail}")
    for (command, claim, outcome), details in sorted(tally.examples.items()):
        print(f"{command} {claim} {outcome}: " + "; ".join(details[:3]))
    for (command, mode, key), ratios in sorted(tally.slack.items()):
        ratios.sort()
        print(
            f"bound over truth, {command} {mode} {key}: median {ratios[len(ratios) // 2]:.4g} of {len(ratios)}, least {ratios[0]:.6g}"
        )
    bad = sum(times for (_, _, outcome), times in tally.counts.items() if outcome in BAD)
    print("nothing is on the wrong side" if not bad else f"{bad} failures")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
