#!/usr/bin/env python3
"""What more threads gain: seconds of the parts that --timing shows, of one command at a time, for 1, 2, 4, ... threads, best of three.
Usage: threads.py BUILD-FOLDER [THREADS,THREADS,...]   (default: powers of two up to the processors)"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

DOMAINS = 8
# Name, data set, part of the timing, verb and arguments after the data.
ITEMS = (
    ("leave-one-domain-out, `scale \\| logistic`, 1,000,000 x 15, 8 domains", "million", "evaluate", ("evaluate", "scale | logistic l2=1e-4")),
    ("one fit of `scale \\| logistic`, 1,000,000 x 15", "million", "fit", ("fit", "scale | logistic l2=1e-4")),
    ("one fit of `scale \\| svm`, 20,000 x 20", "small", "fit", ("fit", "scale | svm")),
    ("one fit of `adaboost`, 1,000,000 x 15, 100 rounds", "million", "fit", ("fit", "adaboost rounds=100")),
    ("`diagnose`, 1,000,000 x 15, 8 domains", "million", "diagnose", ("diagnose",)),
    ("one fit of `scale \\| dica`, low rank, 1,000,000 x 15", "million", "fit", ("fit", "scale | dica rank=300")),
    ("leave-one-domain-out, `scale \\| svm`, 4,000 x 20, 8 domains", "tiny", "evaluate", ("evaluate", "scale | svm")),
)


def generated(program, folder, name, rows, features):
    """A data set of eight domains with labels that noise blurs, as a mapped file."""
    files = []
    for domain in range(DOMAINS):
        files.append(folder / f"{name}{domain}.csv")
        settings = ("--set", f"rows={rows // DOMAINS}", "--set", f"features={features}", "--set", "noise=true")
        subprocess.run([program, "generate", "logistic", *settings, "--seed", str(domain), "--quiet", "-o", files[-1]], check=True, stdout=subprocess.DEVNULL)
    data = folder / f"{name}.eco"
    convert = [program, "convert", *files, "--domain-from-file", "--ignore", "domain", "--label", "label", "--quiet", "-o", data]
    subprocess.run(convert, check=True, stdout=subprocess.DEVNULL)
    for file in files:
        file.unlink()
    return data


def seconds(program, data, part, verb, pipeline, threads, folder):
    command = [program, verb, data, *pipeline, "--threads", str(threads), "--timing", "--quiet"]
    if verb == "fit":
        command += ["-o", folder / "model.eco"]
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    return float(re.search(rf"{part}\s+([0-9.]+) s", done.stderr).group(1))


def machine(program, counts):
    """GFLOP/s of as many processes at once: in registers, and in products. More than this no program gains."""
    totals = []
    for count in counts:
        runs = [subprocess.Popen([program, "doctor", "--json", "--threads", "1"], stdout=subprocess.PIPE, text=True) for _ in range(count)]
        speeds = [json.loads(run.communicate()[0])["speed"] for run in runs]
        totals.append([sum(speed[key] for speed in speeds) for key in ("peak_gflops", "product_gflops")])
    for title, values in zip(("the machine: GFLOP/s in registers", "the machine: GFLOP/s in products"), zip(*totals)):
        print(f"| {title} | " + " | ".join(f"{value:.0f}" for value in values) + f" | {values[-1] / values[0]:.1f} |", flush=True)


def main():
    program = pathlib.Path(sys.argv[1]).resolve() / "cli" / "ecotone"
    cores = len(os.sched_getaffinity(0))
    counts = [int(word) for word in sys.argv[2].split(",")] if len(sys.argv) > 2 else [1 << k for k in range(cores.bit_length())]
    sys.stdout.write(subprocess.run([program, "doctor"], check=True, capture_output=True, text=True).stdout + "\n")
    print("| | " + " | ".join(f"{count} thread{'s' * (count > 1)}" for count in counts) + " | times as fast |")
    print("| --- " * (len(counts) + 2) + "|")
    machine(program, counts)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sizes = {"million": (1_000_000, 15), "small": (20_000, 20), "tiny": (4_000, 20)}
        data = {key: generated(program, folder, key, *size) for key, size in sizes.items()}
        for title, key, part, (verb, *pipeline) in ITEMS:
            best = [min(seconds(program, data[key], part, verb, pipeline, count, folder) for _ in range(3)) for count in counts]
            print(f"| {title} | " + " | ".join(f"{one:.2f}" for one in best) + f" | {best[0] / best[-1]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
