"""compare.py NEW.json COMMITTED.json: same cases, same inputs, same values up to the last digits of a double.

The head (library versions, Python) may differ; that the numbers do not depend on it is the point.
"""

import json
import sys

import common


def main(new_path, old_path):
    with open(new_path, encoding="utf-8") as new_file, open(old_path, encoding="utf-8") as old_file:
        new, committed = json.load(new_file)["cases"], json.load(old_file)
    old = committed["cases"]
    tolerance = committed["meta"].get("regenerates_to", 1e-14)  # solvers on doubles say how far they agree
    problems = []
    if len(new) != len(old):
        problems.append(f"{len(new)} cases instead of {len(old)}")
    for mine, theirs in zip(new, old):
        if any(mine[key] != theirs[key] for key in ("id", "section", "function", "inputs", "rtol", "atol")):
            problems.append(f"{mine['id']}: the question changed")
            continue
        for name, value in theirs["outputs"].items():
            if not common.close(float(mine["outputs"].get(name, "nan")), float(value), tolerance):
                problems.append(f"{mine['id']}: {name} = {mine['outputs'].get(name)}, committed {value}")
    for problem in problems[:20]:
        print(problem)
    print(f"compare: {old_path}: {len(old)} cases, {len(problems)} differences")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
