#!/usr/bin/env python3
"""Labelling on MNIST, 2 against the rest (784 pixels, `logistic l2=0.005`). Usage: label.py BUILD-FOLDER [curves [PAGE.html]]

Without `curves`: a refit that starts at the last weights beside a fit from nothing, while random labels grow by 1 and by 5; both on 1 thread, in turn at every size;
processor time, the mean over the sizes, the best of three rounds. With `curves`: labels to reach 95% of the accuracy with all labels for every strategy (pool
5,000, 5,000 held out, 20 runs, batches of 5), and a page of the learning curves; takes some minutes."""
import json
import os
import pathlib
import subprocess
import sys

ROUNDS = 3
GOAL = 0.4
RANGES = ((200, 600), (1000, 1400), (2000, 2400))


def run(program, mode, folder, **keys):
    words = [f"{name}={value}" for name, value in keys.items()]
    return json.loads(subprocess.run([program, mode, folder, *words], check=True, stdout=subprocess.PIPE, text=True).stdout)


def refits(program, folder):
    print(f"{'labels':>14} {'by':>3} {'fits':>5} {'cold':>10} {'warm':>10} {'warm / cold':>12}  goal {GOAL}")
    for first, last in RANGES:
        for step in (1, 5):
            rounds = [run(program, "refit", folder, step=step, **{"from": first, "to": last}) for _ in range(ROUNDS)]
            cold, warm = (min(r[name] for r in rounds) for name in ("cold_seconds", "warm_seconds"))
            print(f"{first:>6} to {last:>4} {step:>3} {rounds[0]['fits']:>5} {1e3 * cold:>7.2f} ms {1e3 * warm:>7.2f} ms {warm / cold:>12.2f}", flush=True)


def curves(program, folder, page):
    found = run(program, "curves", folder, **({"page": page} if page else {}))
    print(f"{found['processor_seconds']:.0f} processor seconds; accuracy with all labels {found['full']:.4f}")
    for curve in found["curves"]:
        reached = curve["reached"]
        count = sum(labels is not None for labels in reached["runs"])
        print(f"  {curve['strategy']:32} median {reached['median']}, 5% {reached['low']}, 95% {reached['high']}, {count} of {len(reached['runs'])} runs")


def main():
    program = pathlib.Path(sys.argv[1]).resolve() / "bench" / "bench_label"
    folder = pathlib.Path(os.environ.get("ECOTONE_DATA", "../shared/data")) / "mnist"
    if not folder.exists():
        print("skipped, no data (ECOTONE_DATA)")
    elif sys.argv[2:3] == ["curves"]:
        curves(program, folder, sys.argv[3] if len(sys.argv) > 3 else None)
    else:
        refits(program, folder)


if __name__ == "__main__":
    main()
