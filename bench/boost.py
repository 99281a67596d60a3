#!/usr/bin/env python3
"""Boosting: the moons protocol (4 angles x 10 repetitions x 1,500 rounds on 300 + 300 rows), AdaBoost of 200 stumps on 20,000 x 20 against scikit-learn, and 1,000,000 + 1,000,000 rows x 20. Usage: boost.py BUILD-FOLDER"""
import json
import pathlib
import subprocess
import sys
import time

import numpy
from sklearn.ensemble import AdaBoostClassifier

ROWS, COLS, STUMPS, ROUNDS = 20_000, 20, 200, "3"


def run(build, *arguments):
    command = [build / "bench" / "bench_boost", *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def moons(build):
    print("| moons protocol, 60,000 rounds | threads | seconds | microseconds a round | error at 20 / 30 / 40 / 50 degrees |\n| --- | --- | --- | --- | --- |")
    for threads in (1, 2):
        found = run(build, "moons", threads)
        errors = " / ".join(f"{e:.1f}%" for e in found["error_percent"])
        each = 1e6 * found["seconds"] * threads / found["rounds"]
        print(f"| literal | {threads} | {found['seconds']:.2f} | {each:.1f} | {errors} |", flush=True)


def ada(build):
    work = build / "bench" / "boost"
    work.mkdir(parents=True, exist_ok=True)
    draw = numpy.random.default_rng(0)
    x = draw.normal(size=(ROWS, COLS))
    y = numpy.where(numpy.sin(2 * x[:, 0]) + x[:, 1] + 0.5 * x[:, 2] + 0.5 * draw.normal(size=ROWS) > 0, 1.0, -1.0)
    numpy.ascontiguousarray(x).tofile(work / "x.bin")
    y.tofile(work / "y.bin")
    begin = time.perf_counter()
    model = AdaBoostClassifier(n_estimators=STUMPS).fit(x, y)
    theirs = time.perf_counter() - begin
    error = 1 - model.score(x, y)
    print(f"| AdaBoost, {STUMPS} stumps, {ROWS:,} x {COLS} | threads | ecotone | scikit-learn | ratio | training error (scikit-learn) |\n| --- | --- | --- | --- | --- | --- |")
    for threads in (1, 2):
        found = run(build, "ada", work, ROWS, COLS, STUMPS, threads, ROUNDS)
        for kind in ("exact", "binned"):
            ours = found[kind]
            print(f"| {kind} | {threads} | {ours['seconds']:.3f} s | {theirs:.2f} s | {theirs / ours['seconds']:.0f} | {100 * ours['error']:.2f} % ({100 * error:.2f} %) |", flush=True)


def large(build):
    print("| 1,000,000 + 1,000,000 rows x 20, binned | threads | preparing | a round | memory a row |\n| --- | --- | --- | --- | --- |")
    for threads in (1, 2):
        found = run(build, "large", 1_000_000, 20, 200, threads)
        print(f"| daboost | {threads} | {found['preparing_seconds']:.2f} s | {found['round_milliseconds']:.2f} ms | {found['bytes_per_row']:.0f} bytes |", flush=True)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    for part in (moons, ada, large):
        part(build)
        print()


if __name__ == "__main__":
    main()
