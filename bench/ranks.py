#!/usr/bin/env python3
"""Fits on one and two ranks beside threads, with what ranks send, and a model of the cost of more ranks.

    apt install openmpi-bin libopenmpi-dev
    bench/ranks.py build/release [--rows 1000000] [--times 3]

Prints Markdown. Times are those of `fit` (`--timing`), the least of some runs of the same command. The model takes the
time of one rank divided by ranks for what is shared, and for each message a latency and the bytes of all ranks over
a bandwidth: 20 microseconds a hop of a tree and 1 GB/s, a usual cluster.
"""
import argparse
import math
import os
import re
import subprocess
import tempfile

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
               "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
PIPELINES = ["scale | logistic l2=0.001", "scale | svm kernel=linear", "scale | dica route=low_rank map=fourier rank=200 sigma=4 | ridge lam=0.1",
             "trees rounds=50 leaves=31"]
LATENCY, BANDWIDTH = 20e-6, 1e9


def fit(program, data, pipeline, folder, ranks, threads):
    """Seconds of the fit, messages and bytes of a rank."""
    command = [program, "fit", data, pipeline, "-o", f"{folder}/model.eco", "--threads", str(threads), "--timing"]
    if ranks > 1:
        command = ["mpirun", "-n", str(ranks), *command]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT).stderr
    seconds = float(re.search(r" fit ([0-9.]+) s", said)[1])
    sent = re.search(r"ranks: (\d+) messages, (\d+) bytes of rank 0", said)
    return seconds, int(sent[1]) if sent else 0, int(sent[2]) if sent else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    program = os.path.join(options.build, "cli", "ecotone")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "generate", "exchangeable", "--set", "domains=10", "--set", f"rows={options.rows // 10}",
                        "--set", "features=20", "-o", f"{folder}/all.eco"], check=True, stdout=subprocess.DEVNULL)
        rows = []
        for pipeline in PIPELINES:
            found = {}
            for _ in range(options.times):  # in turns, so that a slow moment meets all
                for ranks, threads in ((1, 1), (1, 2), (2, 1)):
                    now = fit(program, f"{folder}/all.eco", pipeline, folder, ranks, threads)
                    found[ranks, threads] = min(found.get((ranks, threads), now), now)
            rows.append((pipeline, found))
    print("| pipeline | 1 rank, 1 thread | 1 rank, 2 threads | 2 ranks, 1 thread | ranks / threads | messages | bytes of a rank |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for pipeline, found in rows:
        alone, threads, ranks = (found[key][0] for key in ((1, 1), (1, 2), (2, 1)))
        print(f"| `{pipeline}` | {alone:.2f} s | {threads:.2f} s | {ranks:.2f} s | {ranks / threads:.2f} "
              f"| {found[2, 1][1]} | {found[2, 1][2]:,} |")
    print("\n| pipeline | " + " | ".join(f"{n} ranks" for n in (4, 16, 64, 256)) + " | |")
    print("| --- |" + " --- |" * 5)
    for pipeline, found in rows:
        alone, both = found[1, 1][0], found[2, 1]
        kept = max(0.0, 2 * both[0] - alone)  # what each rank does by itself: t(2) = kept + (alone - kept) / 2
        cells, names = [], []
        for n in (4, 16, 64, 256):
            # Each rank sends about the same bytes and receives those of all.
            parts = {"rows": (alone - kept) / n, "what every rank does": kept,
                     "latency": both[1] * LATENCY * math.ceil(math.log2(n)), "bytes": both[2] * (n - 1) / BANDWIDTH}
            cells.append(f"{sum(parts.values()):.2f} s")
            names.append(max(parts, key=parts.get))
        first = next((f"from {n} ranks on: {name}" for n, name in zip((4, 16, 64, 256), names) if name != "rows"), "rows")
        print(f"| `{pipeline}` | " + " | ".join(cells) + f" | {first} |")


if __name__ == "__main__":
    main()
