#!/usr/bin/env python3
"""A CSV of 5 GB fitted in less than 1 GB of memory, by sgd and by lbfgs. Usage: stream.py BUILD-FOLDER

Not part of `make bench` unless ECOTONE_BENCH_STREAM is set: it needs 5 GB of disk and some minutes. The file is made by `generate` and removed at the
end."""
import os
import pathlib
import subprocess
import sys
import time

ROWS, FEATURES = 5_300_000, 50


def timed(command):
    """Seconds and largest resident memory (MB) of a command."""
    start = time.perf_counter()
    child = subprocess.Popen([str(c) for c in command])
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"failed: {command}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main():
    if not os.environ.get("ECOTONE_BENCH_STREAM"):
        print("skipped: set ECOTONE_BENCH_STREAM=1 (5 GB of disk, some minutes)")
        return
    build = pathlib.Path(sys.argv[1]).resolve()
    program, data = build / "cli" / "ecotone", build / "bench" / "stream.csv"
    subprocess.run([program, "generate", "logistic", f"rows={ROWS}", "target=0", f"features={FEATURES}", "noise=true", "--quiet", "-o", data], check=True)
    print(f"{data.stat().st_size / 1e9:.2f} GB, {ROWS} rows x {FEATURES} features")
    try:
        for learner in ("logistic l2=0.001 solver=sgd epochs=5", "logistic l2=0.001 solver=lbfgs tol=1e-6"):
            model = build / "bench" / "stream.eco"
            seconds, memory = timed([program, "fit", data, f"scale | {learner}", "--label", "label", "--domain", "domain", "--stream", "--threads", "2", "--quiet", "-o", model])
            print(f"{learner:45s} {seconds:7.1f} s   {memory:6.0f} MB resident")
    finally:
        data.unlink()


if __name__ == "__main__":
    main()
