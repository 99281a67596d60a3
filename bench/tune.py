#!/usr/bin/env python3
"""What `tune` saves: a grid of 20 penalties with shared work beside the same 20 pipelines fitted one by one. Usage: tune.py BUILD-FOLDER [SIZE...]

Both score the same pipelines on the same folds of `clinics`, its rows multiplied by SIZE; single fits are `evaluate` with 20 pipelines. The time is that of the part `tune` or `evaluate` alone (--timing), the best
of five runs in turn. The largest difference of the scores is printed beside it."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

PENALTIES = [10 ** (-4 + 4 * i / 19) for i in range(20)]
COLUMNS = ["--label", "disease", "--domain", "hospital"]
RUNS = 5


def run(program, *args, part=None):
    done = subprocess.run([program, *map(str, args), "--json", "--timing"], capture_output=True, text=True, check=True)
    seconds = re.search(rf"{part}\s+([0-9.]+) s", done.stderr)
    return json.loads(done.stdout), float(seconds.group(1)) if seconds else None


def measure(program, data):
    grid = ",".join(f"{l2:.6g}" for l2 in PENALTIES)
    single = [f"impute | scale | logistic l2={l2:.6g}" for l2 in PENALTIES]
    best = {"tune": float("inf"), "evaluate": float("inf")}
    for _ in range(RUNS):
        tuned, seconds = run(
            program, "tune", data, f"impute | scale | logistic l2={{{grid}}}", *COLUMNS, "--metric", "log_loss", part="tune"
        )
        best["tune"] = min(best["tune"], seconds)
        evaluated, seconds = run(program, "evaluate", data, *single, *COLUMNS, part="evaluate")
        best["evaluate"] = min(best["evaluate"], seconds)
    gap = max(
        abs(p["mean"] - q["mean"]["log_loss"]) for p, q in zip(tuned["points"], evaluated["pipelines"], strict=True)
    )
    return best, gap


def main():
    program = pathlib.Path(sys.argv[1]) / "cli" / "ecotone"
    print(f"{'size':>8} {'single fits':>12} {'tune':>10} {'ratio':>6} {'largest difference':>19}")
    for size in sys.argv[2:] or ["1", "20"]:
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder) / "clinics.csv"
            make = [program, "generate", "clinics", "--set", f"size={size}", "-o", data]
            subprocess.run(make, check=True, capture_output=True)
            best, gap = measure(program, data)
            ratio = best["evaluate"] / best["tune"]
            print(f"{size:>8} {best['evaluate']:>10.3f} s {best['tune']:>8.3f} s {ratio:>6.1f} {gap:>19.1e}")


main()
