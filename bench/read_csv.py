#!/usr/bin/env python3
"""Reading a 1,000,000 x 21 numeric CSV: ours against pyarrow and pandas on 2 threads, best of 5, interleaved.

Usage: read_csv.py BUILD-FOLDER, with a Python that has the peers (build/venv, made by tools/setup)."""
import os
import pathlib
import random
import subprocess
import sys

ROWS, FEATURES, THREADS, ROUNDS = 1_000_000, 20, 2, 5

# Times its argument in a process of its own, as ours is; the best of two, so that importing and warming up do not count.
PEER = """
import sys, time
path, peer, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
if peer == "pyarrow":
    import pyarrow, pyarrow.csv
    pyarrow.set_cpu_count(threads)
    read = lambda: pyarrow.csv.read_csv(path)
else:
    import pandas
    read = lambda: pandas.read_csv(path)
best = 1e9
for _ in range(2):
    start = time.perf_counter()
    table = read()
    best = min(best, time.perf_counter() - start)
    del table
print(best)
"""


def make_csv(build):
    """The data, made once: 20 normal features with all their digits and a 0/1 label y."""
    path = pathlib.Path(build).resolve() / "bench" / "read_csv_1000000x21.csv"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    part = path.with_suffix(".part")
    with open(part, "w") as out:
        out.write(",".join([f"x{j + 1}" for j in range(FEATURES)] + ["y"]) + "\n")
        for _ in range(ROWS):
            row = [draw.gauss(0, 1) for _ in range(FEATURES)]
            label = 1 if row[0] - row[1] + draw.gauss(0, 1) > 0 else 0
            out.write(",".join(map(repr, row)) + f",{label}\n")
    part.rename(path)
    return path


def ours(build, data):
    program = pathlib.Path(build).resolve() / "bench" / "bench_read_csv"
    lines = subprocess.run([program, data, str(THREADS), "2"], check=True, capture_output=True, text=True).stdout.splitlines()
    return min(float(line.split()[0]) for line in lines)


def peer(name, data):
    environment = dict(os.environ, OMP_NUM_THREADS=str(THREADS))
    return float(subprocess.run([sys.executable, "-c", PEER, data, name, str(THREADS)], check=True, capture_output=True, text=True, env=environment).stdout)


def main():
    build = sys.argv[1]
    data = make_csv(build)
    times = {"ecotone": [], "pyarrow": [], "pandas": []}
    for _ in range(ROUNDS):
        times["ecotone"].append(ours(build, data))
        times["pyarrow"].append(peer("pyarrow", data))
        times["pandas"].append(peer("pandas", data))
    best = {name: min(values) for name, values in times.items()}
    size = data.stat().st_size / 1e6
    print(f"{ROWS:,} x {FEATURES + 1} CSV, {size:.0f} MB, {THREADS} threads, best of {ROUNDS}")
    for name, seconds in best.items():
        print(f"{name:8} {seconds:7.3f} s  {size / seconds:6.0f} MB/s  ecotone is {seconds / best['ecotone']:.2f} x as fast")


if __name__ == "__main__":
    main()
