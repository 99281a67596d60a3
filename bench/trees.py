#!/usr/bin/env python3
"""Boosted trees beside LightGBM, XGBoost (hist) and scikit-learn's HistGradientBoosting: 100 trees of 31 leaves with 255 bins, 1,000,000 x 20 and 100,000 x 100 rows, 1 and 2 threads. Binning is part of training; the log loss in the first table is of the training rows, as the rivals' script has it, that of other rows follows. Then a table with columns of categories, and forests. Usage: trees.py BUILD-FOLDER [ROUNDS]"""
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


HELD_OUT = """
import sys
import numpy
sys.path.insert(0, sys.argv[1])
import trees_peers
name, rows, cols = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
x, y, _ = trees_peers.table(rows, cols)
held, truth, _ = trees_peers.table(200_000, cols, seed=1)
if name == "ecotone":
    import ecotone
    model = ecotone.Trees(rounds=100, leaves=31, lam=0.0, min_rows=20, threads=2)
else:
    model = trees_peers.model(name, 2)
p = numpy.clip(model.fit(x, y).predict_proba(held)[:, 1].astype(float), 1e-15, 1 - 1e-15)
loss = -numpy.where(truth == 1, numpy.log(p), numpy.log1p(-p))
print(f'{{"loss": {loss.mean()}, "error": {loss.std() / len(loss) ** 0.5}}}')
"""

TEXT = """
import json, sys, time
import numpy, pandas
name, threads = sys.argv[1], int(sys.argv[2])
random = numpy.random.default_rng(0)
rows = 200_000
codes = random.integers(0, 250, (rows, 3))
effect = random.normal(size=(3, 250))
x = pandas.DataFrame(random.normal(size=(rows, 7))).rename(columns=lambda j: f"n{j}")
for j in range(3):
    x[f"t{j}"] = pandas.Categorical.from_codes(codes[:, j], [f"level {k}" for k in range(250)])
score = x["n0"] + sum(effect[j][codes[:, j]] for j in range(3))
y = (score + random.logistic(size=rows) > 0).astype(int).to_numpy()
if name == "ecotone":
    import ecotone
    model = ecotone.Trees(rounds=100, leaves=31, threads=threads)
elif name == "ecotone forest":
    import ecotone
    model = ecotone.Forest(trees=100, threads=threads)
elif name == "lightgbm":
    import lightgbm
    model = lightgbm.LGBMClassifier(n_estimators=100, num_leaves=31, n_jobs=threads, verbose=-1)
else:
    from sklearn.ensemble import RandomForestClassifier
    model = RandomForestClassifier(100, n_jobs=threads)
if "orest" in name:
    x = x[[f"n{j}" for j in range(7)]]
    x, y = x[:50_000], y[:50_000]
begin = time.perf_counter()
model.fit(x, y)
middle = time.perf_counter()
p = model.predict_proba(x)
print(json.dumps({"fit_s": middle - begin, "predict_s": time.perf_counter() - middle}))
"""


def output(command, threads):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": "1",
                   "PYTHONPATH": str(pathlib.Path(sys.argv[1]).resolve() / "python")}
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
    held_out()
    other_tables(rounds)


def held_out():
    """Whether any learner is faster because it learns less."""
    print("\n| rows | | log loss of 200,000 other rows |\n| --- | --- | --- |")
    for rows, cols in SIZES:
        for name in ("ecotone", *PEERS):
            found = output([sys.executable, "-c", HELD_OUT, pathlib.Path(trees_peers.__file__).parent, name, rows, cols], 2)
            print(f"| {rows:,} x {cols} | {name} | {found['loss']:.5f} ± {found['error']:.5f} |", flush=True)


def other_tables(rounds):
    """200,000 rows of 7 numbers and 3 columns of 250 categories; forests on 50,000 rows of the numbers."""
    print("\n| table | threads | | training | prediction |\n| --- | --- | --- | --- | --- |")
    for what, names in (("categories, 100 trees of 31 leaves", ("ecotone", "lightgbm")), ("forest of 100 trees", ("ecotone forest", "scikit-learn forest"))):
        best = {}
        for _ in range(rounds):
            for name in names:
                found = output([sys.executable, "-c", TEXT, name, 2], 2)
                best[name] = {key: min(value, best.get(name, found)[key]) for key, value in found.items()}
        for name, found in best.items():
            print(f"| {what} | 2 | {name} | {found['fit_s']:.2f} s | {found['predict_s']:.3f} s |", flush=True)


if __name__ == "__main__":
    main()
