#!/usr/bin/env python3
"""Logistic and softmax regression beside scikit-learn's solvers, to a relative suboptimality of 1e-6. Usage: linear.py BUILD-FOLDER [PROBLEM...]

Each solver is run over its grid of tolerances, loosest first, until the risk is within 1e-6 (relative) of the risk that ours reaches at a
tolerance of 1e-12; the time is the best of three fits at that setting. Peers and ours run in turn, on the same data, with the same number of threads."""
import json
import pathlib
import subprocess
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

GOAL = 1e-6
TOLERANCES = [1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 1e-7, 1e-8]
COARSE = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7]  # of D, where single fits take long
PEERS = ("lbfgs", "newton-cg", "newton-cholesky", "saga", "liblinear")
# C: a Hessian of 100,000 x 100,000. D: one fit at the loosest tolerance takes more than a minute.
LEFT_OUT = {"C": ("newton-cholesky",), "D": ("newton-cg", "saga", "liblinear")}
SECONDS = 20.0  # a peer that needs longer at one setting is left out

warnings.filterwarnings("ignore")


def labels(rng, score):
    return (rng.random(score.size) < 1 / (1 + np.exp(-score))).astype(np.int32)


def dense(rng, rows, cols):
    x = rng.standard_normal((rows, cols))
    return x, labels(rng, x @ (rng.standard_normal(cols) / np.sqrt(cols)))


def problem(name):
    rng = np.random.default_rng(59)
    if name == "A":
        return dense(rng, 100_000, 50)
    if name == "B":
        return dense(rng, 20_000, 2_000)
    if name == "C":
        x = sp.random(100_000, 100_000, density=1e-3, format="csr", random_state=rng, data_rvs=rng.standard_normal)
        return x, labels(rng, x @ rng.standard_normal(100_000))
    if name == "D":  # columns scaled by a geometric sequence from 1e-3 to 1e3, then rotated
        x, y = dense(rng, 20_000, 2_000)
        rotation, _ = np.linalg.qr(rng.standard_normal((2_000, 2_000)))
        return np.ascontiguousarray((x * np.geomspace(1e-3, 1e3, 2_000)) @ rotation), y
    if name in ("S", "T"):  # 8 classes: independent columns, or columns that share 50 directions
        x = rng.standard_normal((3_000, 500))
        if name == "T":
            x = x[:, :50] @ rng.standard_normal((50, 500)) / 7 + 0.1 * x
        scores = x @ rng.standard_normal((500, 8)) * 0.1
        return x, (scores + rng.gumbel(size=scores.shape)).argmax(1).astype(np.int32)
    if name == "MNIST":
        import gzip
        import os

        folder = pathlib.Path(os.environ.get("ECOTONE_DATA", "../shared/data")) / "mnist"
        images = next(folder.glob("train*-images*"), None)
        if images is None:
            return None
        read = lambda p, skip: np.frombuffer((gzip.open(p) if p.suffix == ".gz" else open(p, "rb")).read(), np.uint8, offset=skip)
        x = read(images, 16).reshape(-1, 784)[:10_000] / 255.0
        y = read(next(folder.glob("train*-labels*")), 8)[:10_000]
        return np.ascontiguousarray(x), y.astype(np.int32)
    raise SystemExit(f"no problem '{name}'")


def risk(x, y, w, l1, l2):
    """l1 |w| + l2 w^2 + mean loss"""
    if w.shape[0] == 1:
        m = (x @ w[0]) * (2 * y - 1)
        loss = np.logaddexp(0, -m).mean()
    else:
        s = x @ w.T
        top = s.max(1)
        loss = (np.log(np.exp(s - top[:, None]).sum(1)) + top - s[np.arange(len(y)), y]).mean()
    return l1 * np.abs(w).sum() + l2 * (w**2).sum() + loss


def write(folder, x, y):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*"):
        old.unlink()
    (folder / "shape.json").write_text(json.dumps({"rows": x.shape[0], "cols": x.shape[1], "classes": int(y.max()) + 1}))
    if sp.issparse(x):
        x.indptr.astype(np.int64).tofile(folder / "indptr.bin")
        x.indices.astype(np.int32).tofile(folder / "indices.bin")
        x.data.tofile(folder / "data.bin")
    else:
        x.tofile(folder / "x.bin")
    y.tofile(folder / "y.bin")


class Peer:
    def __init__(self, solver, **options):
        self.name, self.solver, self.options = solver, solver, options

    def fit(self, x, y, l1, l2, tol, threads, repeats):
        strength = l1 if l1 else 2 * l2
        model = LogisticRegression(C=1 / (strength * x.shape[0]), solver=self.solver, tol=tol, max_iter=100_000, fit_intercept=False, **self.options)
        times = []
        with threadpool_limits(threads):
            for _ in range(repeats):
                start = time.perf_counter()
                model.fit(x, y)
                times.append(time.perf_counter() - start)
                if times[-1] > 20:
                    break
        return min(times), model.coef_


class Ours:
    def __init__(self, program, folder, solver="auto"):
        self.name, self.program, self.folder, self.solver = f"ecotone {solver}", program, folder, solver

    def fit(self, x, y, l1, l2, tol, threads, repeats):
        out = subprocess.run([self.program, self.folder, f"solver={self.solver}", f"tol={tol}", f"threads={threads}", f"l1={l1}", f"l2={l2}", f"repeats={repeats}"],
                             check=True, capture_output=True, text=True).stdout
        rows = 1 if y.max() == 1 else int(y.max()) + 1
        return min(json.loads(out)["seconds"]), np.fromfile(self.folder / "w.bin").reshape(rows, -1)


def measure(solvers, x, y, l1, l2, threads, best, tolerances=TOLERANCES):
    rows = {}
    for solver in solvers:
        for tol in tolerances:
            seconds, w = solver.fit(x, y, l1, l2, tol, threads, 1)
            value = risk(x, y, w, l1, l2)
            if value - best <= GOAL * best:
                if seconds < 20:
                    seconds = min(seconds, solver.fit(x, y, l1, l2, tol, threads, 3)[0])
                rows[solver.name] = (seconds, tol, (value - best) / best)
                break
            if seconds > SECONDS:
                break
    return rows


def table(title, rows, threads):
    ours = {k: v for k, v in rows.items() if k.startswith("ecotone")}
    peers = {k: v for k, v in rows.items() if k not in ours}
    print(f"\n{title}, {threads} thread{'s' if threads > 1 else ''}")
    for name, (seconds, tol, gap) in sorted(rows.items(), key=lambda r: r[1][0]):
        print(f"  {name:22s} {seconds:8.3f} s   tol {tol:g}, suboptimality {gap:.1e}")
    if ours and peers:
        print(f"  best peer / ecotone auto: {min(v[0] for v in peers.values()) / rows['ecotone auto'][0]:.2f} x", flush=True)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    wanted = sys.argv[2:] or ["A", "B", "C", "D", "A-l1", "C-l1", "S", "T", "MNIST"]
    print(f"scikit-learn {sklearn.__version__}")
    for title in wanted:
        name, lasso = title.removesuffix("-l1"), title.endswith("-l1")
        data = problem(name)
        if data is None:
            print(f"\n{title}: skipped, no data (ECOTONE_DATA)")
            continue
        x, y = data
        folder = build / "bench" / f"linear-{name}"
        write(folder, x, y)
        ours = Ours(build / "bench" / "bench_linear", folder)
        l1, l2 = (1 / x.shape[0], 0.0) if lasso else (0.0, 0.5 / x.shape[0])
        if lasso:
            peers = [Peer("liblinear", penalty="l1")]
        elif y.max() > 1:
            peers = [Peer("lbfgs")]
        else:
            peers = [Peer(s) for s in PEERS if s not in LEFT_OUT.get(name, ())]
        best = risk(x, y, ours.fit(x, y, l1, l2, 1e-12, 2, 1)[1], l1, l2)
        for threads in (1, 2):
            table(title, measure([ours, *peers], x, y, l1, l2, threads, best, COARSE if name == "D" else TOLERANCES), threads)


if __name__ == "__main__":
    main()
