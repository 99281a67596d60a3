#!/usr/bin/env python3
"""What the kernels are worth: a matrix product, a Cholesky factorisation, a Gaussian process and components of a low-rank map on each of the kernels
that this processor can run, and on those that OpenBLAS would choose by itself. Usage: kernels.py BUILD-FOLDER [THREADS]"""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import gp  # noqa: E402


def run(kernels, *command):
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"} | {"ECOTONE_KERNELS": kernels}
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    threads = sys.argv[2] if len(sys.argv) > 2 else "1"
    doctor = run("", build / "cli" / "ecotone", "doctor", "--json")["kernels"]
    print(f"kernels in use: {doctor['name']}; OpenBLAS by itself: {doctor['replaced'] or doctor['name']}; {threads} threads")
    folder = build / "bench" / "gp" / "0"
    sigma = gp.write(folder, 0)
    print("| kernels | product, 1 thread | Cholesky of 4,096 | Gaussian process, 2,000 rows | low-rank DICA, 250,000 x 20, rank 500 |")
    print("| --- | --- | --- | --- | --- |")
    for kernels in ("prescott", "nehalem", "sandybridge", "haswell", "zen", "skylakex"):
        try:
            rates = run(kernels, build / "bench" / "bench_kernels", threads)
        except subprocess.CalledProcessError as error:
            print(f"| {kernels} | {error.stderr.strip()} | | | |")
            continue
        process = run(kernels, build / "bench" / "bench_gp", folder, gp.ROWS, gp.COLS, sigma, threads)["seconds"]
        low_rank = run(kernels, build / "bench" / "bench_components_million", "memory", "rows=250000", "rank=500", f"threads={threads}")["fit"]
        print(f"| {rates['kernels']} | {rates['product']:.0f} GFLOP/s | {rates['cholesky']:.0f} GFLOP/s | {process:.2f} s | {low_rank:.2f} s |", flush=True)


if __name__ == "__main__":
    main()
