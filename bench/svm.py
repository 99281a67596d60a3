#!/usr/bin/env python3
"""RBF support vector machines for two classes against LIBSVM at equal tolerance: 20,000 x 20, MNIST (2 against the rest, 10,000 x 784) and a Gram matrix of 10,000 rows. LIBSVM has one thread. Usage: svm.py BUILD-FOLDER"""
import gzip
import json
import os
import pathlib
import subprocess
import sys

import numpy

ROUNDS = "3"


def write(folder, x, y):
    folder.mkdir(parents=True, exist_ok=True)
    numpy.ascontiguousarray(x, dtype=numpy.float64).tofile(folder / "x.bin")
    numpy.ascontiguousarray(y, dtype=numpy.float64).tofile(folder / "y.bin")


def dense(folder):
    draw = numpy.random.default_rng(0)
    x = draw.normal(size=(20_000, 20))
    score = numpy.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.5 * x[:, 3] + 0.5 * draw.normal(size=len(x))
    write(folder, x, numpy.where(score > 0, 1, -1))


def mnist(folder, data):
    with gzip.open(data / "train10k-images-idx3-ubyte.gz") as file:
        x = numpy.frombuffer(file.read(), numpy.uint8, offset=16).reshape(-1, 784) / 255
    with gzip.open(data / "train10k-labels-idx1-ubyte.gz") as file:
        y = numpy.frombuffer(file.read(), numpy.uint8, offset=8)
    write(folder, x, numpy.where(y == 2, 1, -1))


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    work = build / "bench" / "svm"
    dense(work / "dense")
    cases = [("20,000 x 20, C = 1", "dense", 20_000, 20, "3.16", "1", "features"),
             ("20,000 x 20, C = 10", "dense", 20_000, 20, "3.16", "10", "features"),
             ("Gram matrix of 10,000 rows, C = 1", "dense", 10_000, 20, "3.16", "1", "gram")]
    data = pathlib.Path(os.environ.get("ECOTONE_DATA", "")) / "mnist"
    if os.environ.get("ECOTONE_DATA") and data.exists():
        mnist(work / "mnist", data)
        cases.append(("MNIST 10,000 x 784, C = 1", "mnist", 10_000, 784, "5", "1", "features"))
    else:
        print("MNIST is left out: ECOTONE_DATA is not set or has no mnist")
    print("| problem | threads | ecotone | LIBSVM | ratio | support vectors (LIBSVM) |\n| --- | --- | --- | --- | --- | --- |")
    for name, folder, rows, cols, sigma, cost, kind in cases:
        for threads in ("1", "2"):
            command = [build / "bench" / "bench_svm", work / folder, str(rows), str(cols), sigma, cost, threads, kind, ROUNDS]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            ratio = found["libsvm"] / found["ecotone"]
            print(f"| {name} | {threads} | {found['ecotone']:.2f} s | {found['libsvm']:.2f} s | {ratio:.1f} | {found['support']} ({found['libsvm_support']}) |", flush=True)


if __name__ == "__main__":
    main()
