#!/usr/bin/env python3
"""Training a deep belief net 784-500-500-2000 on 10,000 rows for 20 epochs, beside plain products of single precision on as many threads. Usage: dbn.py BUILD-FOLDER"""
import json
import pathlib
import subprocess
import sys

ROWS, EPOCHS = 10_000, 20


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    print("| threads | seconds | Gflop/s | products, Gflop/s | share |")
    print("| --- | --- | --- | --- | --- |")
    for threads in (1, 2):
        command = [build / "bench" / "bench_dbn", ROWS, EPOCHS, threads]
        done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
        out = json.loads(done.stdout.splitlines()[-1])
        print(f"| {threads} | {out['seconds']:.1f} | {out['gflops']:.0f} | {out['product_gflops']:.0f} | {out['share']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
