#!/usr/bin/env python3
"""The permutation test of MMD^2 against one Gram matrix of the same rows, and `ecotone diagnose` of 1,000,000 x 20 rows in 10 domains. Usage: mmd.py BUILD-FOLDER"""
import pathlib
import subprocess
import sys
import time

ROWS, FEATURES, DOMAINS, THREADS, ROUNDS = 1_000_000, 20, 10, "2", 3


def make_csv(build):
    """The data, made once: normal features, the first three moved a little from domain to domain, a 0/1 label y."""
    path = build / "bench" / "diagnose_1000000x20.csv"
    if path.exists():
        return path
    import numpy

    draw = numpy.random.default_rng(0)
    part = path.with_suffix(".part")
    with open(part, "w") as file:
        file.write("site," + ",".join(f"x{j}" for j in range(FEATURES)) + ",y\n")
        for _ in range(20):
            n = ROWS // 20
            site = draw.integers(0, DOMAINS, n)
            x = draw.normal(size=(n, FEATURES))
            x[:, :3] += 0.1 * site[:, None]
            y = x[:, 0] + draw.normal(size=n) > 0
            numpy.savetxt(file, numpy.column_stack([site, x, y]), fmt=["s%d"] + ["%.17g"] * FEATURES + ["%d"], delimiter=",")
    part.rename(path)
    return path


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    for threads in ("1", "2"):
        subprocess.run([build / "bench" / "bench_mmd", "5000", "20", "1000", threads], check=True)
    data = make_csv(build)
    command = [build / "cli" / "ecotone", "diagnose", data, "--domain", "site", "--label", "y", "--threads", THREADS, "--quiet", "--timing"]
    best = 1e9
    for _ in range(ROUNDS):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - start)
    print(f"diagnose {ROWS} x {FEATURES}, {DOMAINS} domains, {THREADS} threads: {best:.1f} s with reading")


if __name__ == "__main__":
    main()
