#!/usr/bin/env python3
"""What intervals and sets for a new domain cost. Usage: trust.py BUILD-FOLDER

`evaluate` of linear models on `clinics` with the interval for the next domain by replay (a fit for every pair of domains) beside the same without it, and `predict` of 1,000,000 rows with sets weighted to a
target (one sort, a quantile for every row) beside the same model without sets. 2 threads; the time of the part that --timing names, the best of five runs in turn."""
import pathlib
import re
import subprocess
import sys
import tempfile

RUNS = 5
COLUMNS = ["--label", "disease", "--domain", "hospital"]


def seconds(program, part, *args):
    done = subprocess.run([program, *map(str, args), "--timing", "--threads", "2"], capture_output=True, text=True, check=True)
    return float(re.search(rf"{part}\s+([0-9.]+) s", done.stderr).group(1))


def in_turn(program, part, commands):
    best = [float("inf")] * len(commands)
    for _ in range(RUNS):
        best = [min(old, seconds(program, part, *command)) for old, command in zip(best, commands)]
    return best


def main():
    program = pathlib.Path(sys.argv[1]) / "cli" / "ecotone"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        make = lambda *args: subprocess.run([program, *map(str, args)], check=True, capture_output=True)
        print(f"{'evaluate, 8 hospitals':<44} {'plain':>9} {'interval':>9} {'ratio':>6}   (goal: at most 4)")
        for size in (1, 10):
            data = folder / f"clinics{size}.csv"
            make("generate", "clinics", "--set", f"size={size}", "-o", data)
            for pipeline in ("impute | scale | logistic", "impute | scale | logistic l2=0.01"):
                command = ["evaluate", data, pipeline, *COLUMNS]
                plain, interval = in_turn(program, "evaluate", [[*command, "--next-domain", how] for how in ("none", "replay")])
                print(f"{f'{pipeline}, size {size}':<44} {plain:>7.3f} s {interval:>7.3f} s {interval / plain:>6.1f}")
        many = folder / "new.csv"
        train = folder / "train.csv"
        make("generate", "exchangeable", "--set", "domains=20", "--set", "rows=500", "-o", train)
        make("generate", "exchangeable", "--set", "domains=1", "--set", "rows=1000000", "-o", many)
        commands = []
        for name, stages in (("plain", "scale | logistic l2=0.01"), ("sets", "scale | logistic l2=0.01 | conformal method=weighted")):
            model = folder / f"{name}.eco"
            make("fit", train, stages, "--label", "label", "--domain", "domain", "--target", "domain20", "-o", model)
            commands.append(["predict", model, many, "-o", folder / f"{name}.csv"])
        plain, sets = in_turn(program, "predict", commands)
        print(f"\n{'predict 1,000,000 rows':<44} {'plain':>9} {'sets':>9} {'more':>8}   (goal: less than 1 s)")
        print(f"{'weighted sets from 9,500 scores':<44} {plain:>7.3f} s {sets:>7.3f} s {sets - plain:>6.3f} s")


main()
