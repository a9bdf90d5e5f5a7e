#!/usr/bin/python3
"""Writes docs/results/ from a finished reproduction: JSON and Markdown tables, no number by hand.

  tools/results.py DIR [OUT]          DIR as `sfumato reproduce --out DIR` left it; OUT defaults to docs/results
  tools/results.py --add DIR [OUT]    parts that DIR does not hold stay as OUT/report.json has them

OUT/report.json   the entries of DIR/report.json: paper, ours, interval, scale, size of every part
OUT/tables.md     the same as tables, part by part
"""

import json
import pathlib
import sys

HEAD = """# Results of the reproduction

Made by `tools/results.py` from `sfumato reproduce --scale {scale}`; numbers are never edited by hand. The discussion is in
[README.md](README.md), every digit in [report.json](report.json).
"""
BEYOND = ("readings", "frontier", "works")
VERDICTS = {"holds": "holds", "does not hold": "**does not hold**", "depends": "depends"}


def parts(entries, prefix=""):
    """(key, entry) of every part; keys nest at their dots."""
    for key, value in entries.items():
        if not isinstance(value, dict):
            continue
        if "paper" in value and "ours" in value:
            yield prefix + key, value
        else:
            yield from parts(value, f"{prefix}{key}.")


def number(value):
    if value is None:
        return "-"
    if isinstance(value, bool) or isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}"


def interval(pair):
    return f"{number(pair[0])} .. {number(pair[1])}" if pair else "-"


def table(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def at(tree, *path):
    for key in path:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def statements(entry):
    said = at(entry, "paper", "statements") or {}
    found = at(entry, "ours", "statements") or {}
    if not found:
        return ""
    rows = [(said.get(key, f.get("statement")), VERDICTS[f["verdict"]], f["extent"], f["evidence"])
            for key, f in found.items()]
    return table(("the paper says" if said else "statement", "verdict", "true for", "evidence"), rows)


def compared(entry):
    """Numbers that both have under the same names, by noise or batch."""
    rows = []
    for group, printed in entry["paper"].items():
        ours = at(entry, "ours", group)
        if not isinstance(printed, dict) or not isinstance(ours, dict) or group == "statements":
            continue
        rows += [(group, key, number(value), number(ours.get(key)),
                  interval(at(entry, "interval", group, key)), number(at(entry, "ours", "closest", group, key)),
                  interval(at(entry, "interval", "closest", group, key)))
                 for key, value in printed.items() if key in ours]
    columns = ("run", "number", "paper", "ours", "interval", "closest interpretation", "interval")
    if "closest" not in entry["ours"]:  # reports of before, and parts that have one interpretation
        columns, rows = columns[:5], [row[:5] for row in rows]
    return table(columns, rows) if rows else ""


def pooled(attack, name, before=None):
    """A bound from all pairs together, also of reports that name it otherwise."""
    return attack.get(f"pooled_{name}", attack.get(before or name))


def attacked(entry):
    rows = []
    for group, ours in entry["ours"].items():
        attack = at(ours, "attack")
        if not attack:
            continue
        sure = at(entry, "interval", group, "attack") or {}
        rows.append((group, number(ours["models_per_world"]),
                     number(attack["differing_loss_D"]), number(attack["differing_loss_D'"]),
                     number(attack["advantage"]), interval(sure.get("advantage")),
                     number(attack["auc"]), number(attack["auc_within_pairs"]),
                     number(pooled(attack, "epsilon_lower_bound")), number(pooled(attack, "epsilon_maximum", "epsilon_cap")),
                     number(pooled(attack, "delta_lower_bound")), number(ours["diverged"])))
    if not rows:
        return ""
    return ("The same models attacked by a threshold on the differing record's loss:\n\n"
            + table(("run", "models per world", "loss, D", "loss, D'", "advantage", "95 %", "AUC",
                     "AUC in pair", "eps at 1e-5, pooled >=", "maximum", "delta, pooled >=", "diverged"), rows))


def readings(entry):
    """Of reports until 0.1.0, whose search over interpretations ("readings") is kept in docs/results/report.json."""
    tried = at(entry, "ours", "tried")
    if not tried:
        return ""
    ours, printed = entry["ours"], entry["paper"]
    columns = [("literal", ours["literal"])] if "literal" in ours else []
    columns += [("closest, fresh models" if i == 0 else f"rival {i}, fresh models", one)
                for i, one in enumerate(ours["confirmed"])]
    text = "".join(f"{'Closest' if i == 0 else f'Rival {i}'}: {one['reading']}.\n"
                   for i, one in enumerate(ours["confirmed"])) + "\n"
    cells = lambda one, name: [number(at(one, "numbers", name, "centre")), interval(at(one, "numbers", name, "interval"))]
    text += table(["number", "paper", *(cell for name, _ in columns for cell in (name, "95 %"))],
                  [[name, number(value), *(cell for _, one in columns for cell in cells(one, name))]
                   for name, value in printed.items() if name != "statements"])
    text += "\n" + table(("reading", "distance", "95 %", "by chance", "p", "trials"),
                         [(name, number(one.get("distance")), interval(one.get("interval")), number(one.get("by_chance")),
                           number(one.get("p_value")), number(one.get("trials"))) for name, one in columns])
    text += "\nWhich conclusions follow:\n\n" + table(
        ("reading", "conclusion", "follows", "evidence"),
        [(name, c["statement"], {True: "yes", False: "**no**", None: "open"}[c["follows"]], c["evidence"])
         for name, one in columns for c in one.get("conclusions", {}).values()])
    equal = ours.get("equal_steps")
    if equal:
        text += "\nBatches of 500 less batches of 1,000 at equal numbers of steps, mean over pairs:\n\n" + table(
            ("training", "eps", "difference", "std. error"),
            [(e["training"], number(e["epsilon"]), number(e["difference"]), number(e["standard_error"])) for e in equal])
    return (text + f"\nAll {len(tried)} readings on the models they were chosen on:\n\n"
            + table(("reading", "distance", "p"), [(t["reading"], number(t["distance"]), number(t["p_value"])) for t in tried]))


def works(entry):
    private = at(entry, "ours", "private")
    if not private:
        return ""
    return table(("noise", "certified eps", "test accuracy by seed"),
                 [(method, number(p["epsilon"]), ", ".join(number(a) for a in p["accuracies"]))
                  for method, points in private.items() for p in points])


def path_kls(entry):
    found = at(entry, "ours", "path_kl")
    if not found:
        return ""
    rows = [(policy, along, number(o["models"]), number(o["infinite"]), number(o["mean_nats"]),
             number(o["mean_infinite_steps"]),
             ", ".join(f"{layer} ({n})" for layer, n in o["first_because_of"].items()) or "-")
            for policy, worlds in found.items() for along, o in worlds.items()]
    return ("Path KL of the same models:\n\n"
            + table(("noise", "path", "models", "infinite", "mean nats", "infinite steps",
                     "first because of (models)"), rows))


def flatness(entry):
    groups = [g for g, ours in entry["ours"].items() if at(ours, "flatness")]
    if not groups:
        return ""
    names = entry["ours"][groups[0]]["flatness"]
    columns = ["measure"] + [c for g in groups for c in (g, "95 %")]
    rows = [[name] + [c for g in groups
                      for c in (number(at(entry, "ours", g, "flatness", name)),
                                interval(at(entry, "interval", g, "flatness", name)))]
            for name in names]
    return "Flatness of the same models (descriptive):\n\n" + table(columns, rows)


def ridge_batches(entry):
    found = at(entry, "ours", "ridge")
    if not isinstance(found, list):
        return ""
    return ("KL of minibatch SGD on a ridge problem, exact:\n\n"
            + table(("batch", "drift part", "covariance part", "KL"),
                    [[number(p[k]) for k in ("batch", "drift", "covariance", "kl")] for p in found]))


def frontier(entry):
    network, ridge = at(entry, "ours", "network"), at(entry, "ours", "ridge")
    if not network or not isinstance(ridge, dict):
        return ""
    rows = [(policy, number(p["variance"]), number(p["loss"]), interval(sure["loss"]),
             number(p["test_accuracy"]), number(p["auc"]), interval(sure["auc"]),
             number(p["advantage"]), interval(sure["advantage"]))
            for policy, points in network.items()
            for p, sure in zip(points, entry["interval"]["network"][policy])]
    policies = list(ridge)
    every = range(0, len(ridge[policies[0]]), 3)
    exact = [[number(ridge[policies[0]][i]["excess_loss"])]
             + [number(ridge[policy][i]["advantage"]) for policy in policies] for i in every]
    return ("Networks:\n\n"
            + table(("noise", "sigma^2", "loss", "95 %", "test accuracy", "AUC", "95 %",
                     "advantage", "95 %"), rows)
            + "\nRidge problem, exact advantage at equal excess loss:\n\n"
            + table(["excess loss", *policies], exact))


def theorem(entry):
    rows = [(formula, c["case"], c["erratum"] or "-", number(c["truth"]), number(c["printed"]),
             number(c["corrected"]), "yes" if c["printed_holds"] else "**no**")
            for formula, cases in entry["ours"].items() if isinstance(cases, list)
            for c in cases if isinstance(c, dict) and "printed_holds" in c]
    if not rows:
        return ""
    return table(("formula", "case", "erratum", "truth", "printed", "corrected", "holds"), rows)


def sizes(entry):
    def flat(tree, prefix=""):
        for key, value in tree.items():
            if isinstance(value, dict):
                yield from flat(value, f"{prefix}{key}.")
            else:
                yield f"{prefix}{key} {value}"
    return ", ".join(flat(entry["size"])) if entry["size"] else "no models"


def merged(old, new):
    """The parts of both, by dotted key; those of `new` where both have one."""
    together = dict(old)
    for key, value in new.items():
        nested = isinstance(value, dict) and "paper" not in value and isinstance(old.get(key), dict)
        together[key] = merged(old[key], value) if nested else value
    return together


def beyond(entries):
    """Earlier reports had our own statements under the paper's."""
    for key, entry in parts(entries):
        if key.split(".")[0] not in BEYOND:
            continue
        for name, words in entry["paper"].pop("statements", {}).items():
            entry["ours"]["statements"][name].setdefault("statement", words)
    return entries


def main(source, out, add):
    whole = json.loads((source / "report.json").read_text())
    entries = {k: v for k, v in whole.items()
               if k not in ("schema_version", "title", "chapters")}
    if add:
        entries = beyond(merged(json.loads((out / "report.json").read_text()), entries))
        for one_run in ("written", "made"):  # which several have no one of
            entries.pop(one_run, None)
    found = list(parts(entries))
    if not found:
        sys.exit(f"{source}/report.json holds no part of the paper")
    text = HEAD.format(scale=found[0][1]["scale"])
    for key, entry in found:
        reduced = ", reduced" if entry["reduced"] else ""
        text += f"\n## {key}\n\nScale: {entry['scale']}{reduced} ({sizes(entry)}).\n"
        for section in (compared, readings, attacked, path_kls, flatness, ridge_batches, frontier, works,
                        theorem, statements):
            block = section(entry)
            if block:
                text += "\n" + block
    out.mkdir(parents=True, exist_ok=True)
    (out / "report.json").write_text(json.dumps(entries, indent=1) + "\n")
    (out / "tables.md").write_text(text)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    add = "--add" in arguments
    arguments = [argument for argument in arguments if argument != "--add"]
    if not 1 <= len(arguments) <= 2:
        sys.exit(__doc__)
    root = pathlib.Path(__file__).resolve().parents[1]
    main(pathlib.Path(arguments[0]), pathlib.Path(arguments[1]) if len(arguments) == 2 else root / "docs/results", add)
