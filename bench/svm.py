#!/usr/bin/env python3
"""RBF support vector machines against LIBSVM at equal tolerance. Two classes: 20,000 x 20, MNIST (2 against the rest, 10,000 x 784) and a Gram matrix of 10,000 rows. Five classes: 5,000 x 100, the method `svm` beside LIBSVM's one versus one, as Debian has it and as scikit-learn has it, with dense products. LIBSVM has one thread.
Usage: svm.py BUILD-FOLDER [two|classes]"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import time

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


def five_classes(folder, kind):
    """Rows whose class has the largest of five noisy linear scores, or five round clusters at distance 3.5, 7 or 14 times their width; the median distance of rows."""
    draw = numpy.random.default_rng(1)
    x = draw.normal(size=(5_000, 100))
    if kind == "scores":
        y = (x @ draw.normal(size=(100, 5)) * 0.4 + draw.gumbel(size=(5_000, 5))).argmax(1)
    else:
        y = draw.integers(0, 5, 5_000)
        x += kind * draw.normal(size=(5, 100))[y]
    write(folder, x, y)
    some = x[:500]
    return numpy.median(numpy.sqrt(((some[:, None] - some[None]) ** 2).sum(2))[numpy.triu_indices(500, 1)])


def run(build, work, folder, rows, cols, sigma, cost, threads, kind):
    command = [build / "bench" / "bench_svm", work / folder, str(rows), str(cols), str(sigma), str(cost), threads, kind, ROUNDS]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def dense_libsvm(folder, sigma, cost):
    """Seconds of the best fit of scikit-learn's SVC."""
    from sklearn.svm import SVC

    x, y = numpy.fromfile(folder / "x.bin").reshape(5_000, 100), numpy.fromfile(folder / "y.bin")
    times = []
    for _ in range(int(ROUNDS)):
        start = time.perf_counter()
        SVC(C=cost, gamma=0.5 / sigma**2, cache_size=4000).fit(x, y)
        times.append(time.perf_counter() - start)
    return min(times)


def several(build, work):
    print("| 5,000 x 100, 5 classes | C | threads | ecotone | LIBSVM | ratio | scikit-learn's SVC | ratio | support vectors of LIBSVM |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, kind in (("noisy linear scores", "scores"), ("clusters that overlap", 0.25), ("clusters that touch", 0.5), ("clusters apart", 1.0)):
        sigma = five_classes(work / "classes", kind)
        for cost in (1, 100):
            for threads in ("1", "2"):
                found = run(build, work, "classes", 5_000, 100, sigma, cost, threads, "classes")
                ours, theirs, dense_one = found["ecotone"], found["libsvm"], dense_libsvm(work / "classes", sigma, cost)
                print(f"| {name} | {cost} | {threads} | {ours:.3f} s | {theirs:.3f} s | {theirs / ours:.1f} | {dense_one:.3f} s | {dense_one / ours:.1f} | {found['libsvm_support']} |", flush=True)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    work = build / "bench" / "svm"
    wanted = sys.argv[2:] or ["two", "classes"]
    if "classes" in wanted:
        several(build, work)
    if "two" not in wanted:
        return
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
            found = run(build, work, folder, rows, cols, sigma, cost, threads, kind)
            ratio = found["libsvm"] / found["ecotone"]
            print(f"| {name} | {threads} | {found['ecotone']:.2f} s | {found['libsvm']:.2f} s | {ratio:.1f} | {found['support']} ({found['libsvm_support']}) |", flush=True)


if __name__ == "__main__":
    main()
