#!/usr/bin/env python3
"""`ecotone predict` of 1,000,000 rows by `scale | logistic` against reading the same file: what predicting adds to reading. Usage: predict.py BUILD-FOLDER"""
import pathlib
import subprocess
import sys
import time

from read_csv import make_csv

THREADS, ROUNDS = "2", 5


def seconds(command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    program, reader = build / "cli" / "ecotone", build / "bench" / "bench_read_csv"
    data = make_csv(build)
    model = build / "bench" / "predict.eco"
    subprocess.run([program, "fit", data, "scale | logistic l2=0.001", "--label", "y", "--threads", THREADS, "--quiet", "-o", model], check=True)
    read, predict = [], []
    for _ in range(ROUNDS):
        read.append(seconds([reader, data, THREADS]))
        predict.append(seconds([program, "predict", model, data, "--threads", THREADS, "--quiet", "-o", build / "bench" / "predict.csv"]))
    print(f"read alone      {min(read):.3f} s")
    print(f"read + predict + write  {min(predict):.3f} s, {min(predict) / min(read):.2f} x reading")


if __name__ == "__main__":
    main()
