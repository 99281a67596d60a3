#!/usr/bin/env python3
"""T-greedy and greedy selection beside the NumPy rival (bench/rivals/tgreedy_numpy.py), 2 threads each. Usage: selection.py BUILD-FOLDER

p = 2,000, 8 domains x 2,000 rows, 300 steps, on the rival's own data. Rounds of both alternate; the best of the rounds counts. Then p = 20,000
and sparse data with columns of the Gram matrices made when they are needed."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

THREADS = 2
ROUNDS = 3
STEPS = 300
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

import numpy as np  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parent / "rivals"))
import tgreedy_numpy as rival  # noqa: E402


def ours(program, what, **keys):
    words = [f"{key}={value}" for key, value in keys.items()]
    done = subprocess.run([program, str(what), f"threads={THREADS}", *words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def least(rounds, key):
    return min(r[key] for r in rounds)


def side_by_side(program, folder, data, rule):
    theirs = {route: [] for route in ("naive", "lazy", "gram")}
    mine = []
    for _ in range(ROUNDS):
        for route, times in theirs.items():
            path, setup, loop = rival.run(*data, STEPS, rule, route)
            times.append(setup + loop)
        mine.append(ours(program, folder, rule=rule, steps=STEPS, repeats=1))
        assert mine[-1]["first"] == path[:8], (mine[-1]["first"], path[:8])
    best = {route: min(times) for route, times in theirs.items()}
    m = {key: least(mine, key) for key in mine[0] if isinstance(mine[0][key], float)}
    print(f"| {rule}: rival naive / lazy / gram, s | {best['naive']:.2f} / {best['lazy']:.2f} / {best['gram']:.2f} | |")
    print(f"| {rule}: moments, share of the speed of dsyrk | {m['dsyrk'] / m['moments']:.0%} ({m['moments']:.2f} s) | 70% |")
    print(f"| {rule}: path over Grams, ms | {1e3 * m['path']:.1f} | < 30 |")
    whole = m["lazy"]
    print(f"| {rule}: end to end | {whole:.2f} s, {min(best.values()) / whole:.2f} x the best rival | 1.3 x |")
    lodo = min(m["lazy_lodo"], m["single_lodo"])
    print(
        f"| {rule}: leave-one-domain-out, 8 folds | {lodo:.2f} s, {8 * best['lazy'] / lodo:.1f} x (lazy {m['lazy_lodo']:.2f} s, "
        f"float Grams {m['single_lodo']:.2f} s, Grams there already {m['lodo_path']:.2f} s) | 8 x of 8 lazy runs |"
    )


def main():
    program = pathlib.Path(sys.argv[1]) / "bench" / "bench_select"
    x, y, domain = rival.make()
    print("| task | measured | goal |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        x.tofile(folder / "x.bin")
        y.tofile(folder / "y.bin")
        domain.astype(np.int32).tofile(folder / "domain.bin")
        shape = {"rows": x.shape[0], "cols": x.shape[1], "domains": int(domain.max()) + 1}
        (folder / "shape.json").write_text(json.dumps(shape))
        for rule in ("tgreedy", "greedy"):
            side_by_side(program, folder, (x, y, domain), rule)
    wide = ours(program, "wide", steps=50, repeats=1)
    print(f"| p = 20,000, 8 x 1,000 rows, 50 steps | {wide['lazy']:.1f} s, {wide['peak_gb']:.1f} GB | < 4 GB |")
    sparse = ours(program, "sparse", steps=50, repeats=1)
    print(f"| sparse 100,000 x 100,000, 1e-3, 50 steps | {sparse['lazy']:.1f} s, {sparse['peak_gb']:.1f} GB | < 20 s |")


if __name__ == "__main__":
    main()
