#!/usr/bin/env python3
"""Boosted trees beside LightGBM, XGBoost (hist) and scikit-learn's HistGradientBoosting: 100 trees of 31 leaves with 255 bins, 1,000,000 x 20 and 100,000 x 100 rows, 1 and 2 threads. Binning is part of training. Usage: trees.py BUILD-FOLDER [ROUNDS]"""
import json
import os
import pathlib
import subprocess
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parent / "rivals"))
import trees_peers

SIZES, PEERS = ((1_000_000, 20), (100_000, 100)), ("lightgbm", "xgboost", "hist")

MEMORY = """
import re, sys
import lightgbm, numpy
sys.path.insert(0, sys.argv[1])
import trees_peers
folder, rows, cols, threads = sys.argv[2], *map(int, sys.argv[3:])
x = numpy.fromfile(folder + "/x.bin").reshape(rows, cols)
y = numpy.fromfile(folder + "/y.bin").astype(numpy.int32)
memory = lambda name: 1024 * int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1])
open("/proc/self/clear_refs", "w").write("5")
before = memory("VmRSS")
trees_peers.model("lightgbm", threads).fit(x, y)
print(memory("VmHWM") - before)
"""


def output(command, threads):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def write(folder, rows, cols):
    folder.mkdir(parents=True, exist_ok=True)
    x, y, _ = trees_peers.table(rows, cols)
    numpy.ascontiguousarray(x).tofile(folder / "x.bin")
    y.astype(float).tofile(folder / "y.bin")


def measured(build, folder, rows, cols, threads, rounds):
    """The least of all rounds, in which ecotone and the peers take turns."""
    best = {}
    for _ in range(rounds):
        for name in ("ecotone", *PEERS):
            if name == "ecotone":
                found = output([build / "bench" / "bench_trees", folder, rows, cols, threads, 1], threads)
            else:
                found = output([sys.executable, trees_peers.__file__, "--one", f"{name},{threads},{rows},{cols}", "--repeats", 1], threads)
            best[name] = {key: min(value, best.get(name, found)[key]) for key, value in found.items()}
    return best


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    print("| rows | threads | | training | processor | ratio | prediction | ratio | log loss | memory beyond the rows |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for rows, cols in SIZES:
        folder = build / "bench" / "trees" / f"{rows}x{cols}"
        write(folder, rows, cols)
        for threads in (1, 2):
            best = measured(build, folder, rows, cols, threads, rounds)
            best["lightgbm"]["memory"] = output([sys.executable, "-c", MEMORY, pathlib.Path(trees_peers.__file__).parent, folder, rows, cols, threads], threads)
            ours = best["ecotone"]
            for name, found in best.items():
                memory = f"{found['memory'] / 1e6:.0f} MB" if "memory" in found else ""
                print(f"| {rows:,} x {cols} | {threads} | {name} | {found['fit_s']:.2f} s | {found['fit_cpu_s']:.2f} s | {found['fit_s'] / ours['fit_s']:.2f} | {found['predict_s']:.3f} s | {found['predict_s'] / ours['predict_s']:.1f} | {found['log_loss']:.5f} | {memory} |", flush=True)


if __name__ == "__main__":
    main()
