#!/usr/bin/env python3
"""Support vector machines of a million rows in low rank (rank 500, 20 columns, 10 domains), distributional and pooled: time, processor time, memory, accuracy on
100,000 rows of unseen domains. Usage: svm_million.py BUILD-FOLDER"""
import json
import pathlib
import subprocess
import sys


def main():
    program = pathlib.Path(sys.argv[1]).resolve() / "bench" / "bench_svm_million"
    print("| rows, rank, threads | map | machine | fit | processor | MB more | steps | gap / objective | residual | accuracy |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, rows, rank, threads, distributional in (
        ("distributional", 1_000_000, 500, 2, 1),
        ("distributional", 1_000_000, 500, 1, 1),
        ("pooled", 1_000_000, 500, 2, 0),
        ("distributional", 250_000, 500, 2, 1),
        ("distributional", 1_000_000, 250, 2, 1),
    ):
        keys = [f"rows={rows}", f"rank={rank}", f"threads={threads}", f"distributional={distributional}"]
        one = json.loads(subprocess.run([program, *keys], check=True, capture_output=True, text=True).stdout)
        print(
            f"| {name}, {rows}, {rank}, {threads} | {one['map']:.1f} | {one['machine']:.1f} | {one['map'] + one['machine']:.1f} | "
            f"{one['map_processor'] + one['machine_processor']:.1f} | {one['peak_mb'] - one['before_mb']:.0f} | {one['iterations']} | "
            f"{one['gap'] / one['primal']:.1e} | {one['residual']:.2g} | {one['accuracy']:.4f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
