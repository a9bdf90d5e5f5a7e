#!/usr/bin/python3
"""The training engine against PyTorch, measured in turn in one run: processor time of one step of one model.

  bench/macro/engine.py [--settings S1,S2] [--rounds 3] [--seconds 4] [--json]

Each round measures, one after the other, the engine (two threads), two copies of the loop a researcher writes and two
copies of the best vectorised PyTorch (bench/peers/torch_training.py), all single-threaded processes: the fair use of two
cores. The best of the rounds counts, of two copies the slower.
"""
import argparse
import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ENGINE = os.environ.get("SFUMATO", os.path.join(HERE, "../../build/bin/sfumato"))
PEER = ["/usr/bin/python3", os.path.join(HERE, "../peers/torch_training.py")]


def engine(setting, seconds, threads):
    out = subprocess.run([ENGINE, "bench", "engine", "--setting", setting, "--threads", str(threads), "--seconds",
                          str(seconds), "--json"], capture_output=True, text=True, check=True).stdout
    return json.loads(out)[0]


def peer(setting, mode, seconds, copies=2):
    runs = [subprocess.Popen(PEER + [setting, mode, "--seconds", str(seconds)], stdout=subprocess.PIPE, text=True)
            for _ in range(copies)]
    answers = [json.loads(run.communicate()[0]) for run in runs]
    return answers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--settings", default="S1,S2,S3,T1_500,T1_1000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for setting in options.settings.split(","):
        row = {"setting": setting}
        for _ in range(options.rounds):
            two = engine(setting, options.seconds, 2)
            one = engine(setting, options.seconds, 1)
            found = {"us": two["us_per_model_iteration"], "one_us": one["us_per_model_iteration"],
                     "wall_one": one["wall_us_per_model_iteration"], "wall_two": two["wall_us_per_model_iteration"],
                     "loop": max(a["us_per_model_iteration"] for a in peer(setting, "loop", options.seconds)),
                     "stacked": max(a["us_per_model_iteration"] for a in peer(setting, "stacked", options.seconds))}
            for key, value in found.items():
                row[key] = min(row.get(key, value), value)
            row["roofline"] = max(row.get("roofline", 0.0), two["roofline_fraction"], one["roofline_fraction"])
        row["peak_gflops"], row["normals"] = one["peak_gflops"], one["normals_per_second"]
        rows.append(row)
    torch_normals = max(a["normals_per_second"] for a in peer("S1", "normals", 2.0, 1))
    if options.json:
        print(json.dumps({"rows": rows, "torch_normals": torch_normals}, indent=2))
        return
    print(f"{'setting':8} {'ours us':>8} {'roofline':>9} {'loop us':>9} {'x':>6} {'stacked us':>11} {'x':>6} {'2 threads':>10}")
    for r in rows:
        print(f"{r['setting']:8} {r['us']:8.1f} {100 * r['roofline']:8.0f}% {r['loop']:9.0f} {r['loop'] / r['us']:6.1f} "
              f"{r['stacked']:11.0f} {r['stacked'] / r['us']:6.1f} {r['wall_one'] / r['wall_two']:9.2f}x")
    ours = max(r["normals"] for r in rows)
    print(f"normals: {ours / 1e6:.0f} M/s, torch.normal_ {torch_normals / 1e6:.0f} M/s, {ours / torch_normals:.1f}x; "
          f"peak {rows[0]['peak_gflops']:.0f} GFLOP/s a core")


if __name__ == "__main__":
    main()
