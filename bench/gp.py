#!/usr/bin/env python3
"""Width, amplitude and noise of a Gaussian process by marginal likelihood at n = 2,000, against scikit-learn's GaussianProcessRegressor with as many BLAS threads. ecotone follows three starts on 500 rows and the best of them on all; scikit-learn follows one start, or three, on all rows. Usage: gp.py BUILD-FOLDER"""
import json
import os
import pathlib
import subprocess
import sys

import numpy

ROWS, COLS = 2_000, 5
PROBLEMS = {"smooth, 5 columns": 0, "wiggly, 5 columns": 1, "mostly noise, 5 columns": 2}

RIVAL = """
import json, sys, time
import numpy
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
folder, rows, cols, sigma, restarts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
x = numpy.fromfile(folder + "/x.bin").reshape(rows, cols)
y = numpy.fromfile(folder + "/y.bin")
y = y - y.mean()
kernel = ConstantKernel(0.9 * y.var(), (1e-5, 1e5)) * RBF(sigma, (1e-3 * sigma, 1e3 * sigma)) + WhiteKernel(0.1 * y.var(), (1e-8, 1e2))
begin = time.perf_counter()
gp = GaussianProcessRegressor(kernel, alpha=0, n_restarts_optimizer=restarts, random_state=0).fit(x, y)
print(json.dumps({"seconds": time.perf_counter() - begin, "log_likelihood": float(gp.log_marginal_likelihood_value_)}))
"""


def write(folder, problem):
    draw = numpy.random.default_rng(problem)
    x = draw.normal(size=(ROWS, COLS))
    if problem == 0:
        y = numpy.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.3 * x[:, 3] + 0.2 * draw.normal(size=ROWS)
    elif problem == 1:
        y = numpy.sin(4 * x[:, 0]) * numpy.cos(3 * x[:, 1]) + 0.1 * draw.normal(size=ROWS)
    else:
        y = 0.3 * numpy.sin(x[:, 0]) + draw.normal(size=ROWS)
    folder.mkdir(parents=True, exist_ok=True)
    x.tofile(folder / "x.bin")
    y.tofile(folder / "y.bin")
    pairs = x[:300, None, :] - x[None, :300, :]
    return float(numpy.median(numpy.sqrt((pairs**2).sum(axis=2))[numpy.triu_indices(300, 1)]))


def last_line(command, threads):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
    done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    print("| problem | threads | ecotone | scikit-learn, 1 start | ratio | scikit-learn, 3 starts | ratio | log likelihood: ecotone, 1 start, 3 starts | evaluations: all rows, 500 rows |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, problem in PROBLEMS.items():
        folder = build / "bench" / "gp" / str(problem)
        sigma = write(folder, problem)
        for threads in ("1", "2"):
            ours = last_line([build / "bench" / "bench_gp", folder, ROWS, COLS, sigma, threads], threads)
            theirs = [last_line([sys.executable, "-W", "ignore", "-c", RIVAL, folder, ROWS, COLS, sigma, restarts], threads) for restarts in (0, 2)]
            ratios = [each["seconds"] / ours["seconds"] for each in theirs]
            print(f"| {name} | {threads} | {ours['seconds']:.2f} s | {theirs[0]['seconds']:.2f} s | {ratios[0]:.1f} | {theirs[1]['seconds']:.2f} s | {ratios[1]:.1f} "
                  f"| {ours['log_likelihood']:.4f}, {theirs[0]['log_likelihood']:.4f}, {theirs[1]['log_likelihood']:.4f} | {ours['evaluations']}, {ours['subset_evaluations']} |", flush=True)


if __name__ == "__main__":
    main()
