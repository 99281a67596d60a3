#!/usr/bin/env python3
"""dasvm on two moons against a loop over scikit-learn's SVC (rivals/dasvm_sklearn.py, unmodified), on the same rows, in turn. Usage: dasvm.py BUILD-FOLDER"""
import json
import math
import pathlib
import subprocess
import sys
import time

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "rivals"))
import dasvm_sklearn as rival

REPEATS = 3
CASES = [(300, 30.0), (1000, 20.0), (3000, 20.0), (3000, 30.0)]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    folder = build / "bench" / "dasvm"
    folder.mkdir(parents=True, exist_ok=True)
    print("| rows per domain, angle | threads | ecotone | scikit-learn loop | ratio | rounds (loop) | target error, % (loop) |\n| --- | --- | --- | --- | --- | --- | --- |")
    for rows, angle in CASES:
        draw = numpy.random.default_rng(0)
        (xs, ys), (xt, yt) = rival.moons(rows, draw), rival.moons(rows, draw, angle)
        numpy.ascontiguousarray(numpy.r_[xs, xt]).tofile(folder / "x.bin")
        numpy.ascontiguousarray(numpy.r_[ys, yt]).tofile(folder / "y.bin")
        for threads in ("1", "2"):
            ours, theirs = math.inf, math.inf
            for _ in range(REPEATS):
                # sigma of gamma = 4: 1 / (2 sigma^2) = gamma
                command = [build / "bench" / "bench_dasvm", folder, str(rows), str(rows), repr(math.sqrt(1 / 8)), "10", "10", "200", threads, "1"]
                found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                ours = min(ours, found["seconds"])
                begin = time.perf_counter()
                machine, rounds = rival.dasvm(xs, ys, xt)
                theirs = min(theirs, time.perf_counter() - begin)
            error = float((machine.predict(xt) != yt).mean())
            print(f"| {rows:,}, {angle:g} | {threads} | {ours:.3f} s | {theirs:.2f} s | {theirs / ours:.1f} | {found['rounds']} ({rounds}) | {100 * found['error']:.2f} ({100 * error:.2f}) |", flush=True)


if __name__ == "__main__":
    main()
