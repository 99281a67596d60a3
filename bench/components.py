#!/usr/bin/env python3
"""Invariant components beside the dense rival (bench/rivals/dica_dense.py) and scikit-learn's KernelPCA, 2 threads each. Usage: components.py BUILD-FOLDER

The rival's own data and settings (10 domains, 5 columns, three classes, sigma 1, lam 0.1), 4,000 rows; rounds of both alternate, the best of the
rounds counts. Then kernel PCA of 10,000 rows, and the symmetric form without lam on 20,000 rows beside one Gram matrix of them."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

THREADS = 2
ROUNDS = 3
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

import numpy as np  # noqa: E402
import sklearn  # noqa: E402
from sklearn.decomposition import KernelPCA  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parent / "rivals"))
import dica_dense as rival  # noqa: E402


def write_toy(folder, rows):
    x, y, domain = rival.toy(rows, np.random.default_rng(0))
    cls = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    x.tofile(folder / "x.bin")
    cls.astype(np.int32).tofile(folder / "class.bin")
    domain.astype(np.int32).tofile(folder / "domain.bin")
    shape = {"rows": len(x), "cols": x.shape[1], "classes": 3, "domains": 10}
    (folder / "shape.json").write_text(json.dumps(shape))
    return x, cls, domain


def ours(program, folder, **keys):
    words = [f"{key}={value}" for key, value in keys.items()]
    done = subprocess.run([program, folder, f"threads={THREADS}", *words], capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    assert result["converged"]
    return result


def largest_angle(a, b):
    """Sine of the largest angle between the spaces of the columns."""
    a, b = np.linalg.qr(a)[0], np.linalg.qr(b)[0]
    return np.linalg.norm(b - a @ (a.T @ b), 2)


def against_the_rival(program, folder):
    x, cls, domain = write_toy(folder, 4000)
    cases = [
        ("dica", {"form": "paper"}, "DICA, paper form", 20),
        ("dica", {"lam": 0}, "symmetric DICA, lam = 0", 50),
        ("udica", {}, "UDICA", 8),
        ("udica", {"lam": 0}, "UDICA, lam = 0", 25),
    ]
    theirs = {"dica": [], "udica": []}
    mine = [[] for _ in cases]
    for _ in range(ROUNDS):
        for method, times in theirs.items():
            start = time.perf_counter()
            gamma, _ = rival.fit(x, cls, domain, method)
            times.append(time.perf_counter() - start)
            for (name, keys, _, _), times_of_ours in zip(cases, mine):
                if name != method:
                    continue
                found = ours(program, folder, method=name, **keys)
                times_of_ours.append(found["seconds"])
                if "lam" not in keys:
                    assert np.allclose(found["gamma"], gamma, rtol=1e-6), (found["gamma"], gamma)
    for (name, _, text, wanted), times in zip(cases, mine):
        print(f"| {text}, n = 4,000 | {min(times):.3f} s | {min(theirs[name]):.2f} s | {min(theirs[name]) / min(times):.0f} x | {wanted} x |")


def against_scikit_learn(program, folder):
    x, _, _ = write_toy(folder, 10_000)
    mine, peer, z = [], {"arpack": [], "randomized": []}, None
    for _ in range(ROUNDS):
        mine.append(ours(program, folder, method="kpca", components=10)["seconds"])
        for solver, times in peer.items():
            start = time.perf_counter()
            found = KernelPCA(n_components=10, kernel="rbf", gamma=0.5, eigen_solver=solver, random_state=0).fit(x)
            times.append(time.perf_counter() - start)
            if solver == "arpack":
                z = found.eigenvectors_
    angle = largest_angle(np.fromfile(folder / "z.bin").reshape(len(x), 10), z)
    best = min(min(times) for times in peer.values())
    print(
        f"| KPCA, 10 components, n = 10,000 | {min(mine):.2f} s | {min(peer['arpack']):.2f} s arpack, {min(peer['randomized']):.2f} s randomized "
        f"(scikit-learn {sklearn.__version__}) | {best / min(mine):.1f} x, angle {angle:.0e} | 3 x |"
    )


def against_the_gram_matrix(program, folder):
    write_toy(folder, 20_000)
    gram, mine = [], []
    for _ in range(ROUNDS):
        gram.append(ours(program, folder, method="gram")["seconds"])
        mine.append(ours(program, folder, method="dica", lam=0)["seconds"])
    print(f"| symmetric DICA, lam = 0, n = 20,000 | {min(mine):.2f} s | {min(gram):.2f} s for the Gram matrix | {min(mine) / min(gram):.2f} of it | < 3 |")


def main():
    program = pathlib.Path(sys.argv[1]).resolve() / "bench" / "bench_components"
    print("| task | ecotone | rival | ratio | goal |\n| --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        against_the_rival(program, folder)
        against_scikit_learn(program, folder)
        against_the_gram_matrix(program, folder)


if __name__ == "__main__":
    main()
