#!/usr/bin/env python3
"""Fits on one and two ranks beside threads, with what ranks send, and a model of the cost of more ranks.

    apt install openmpi-bin libopenmpi-dev
    bench/ranks.py build/release [--rows 1000000] [--times 5]

Prints Markdown. Times are those of `fit` (`--timing`), medians of some runs of the same command, with the range of
those of ranks over threads.

The model of more ranks adds up
- rows: the time of one rank that is shared, divided by ranks;
- what every rank does: 2 t(2) - t(1), the rest of what two ranks take. That counts waiting for each other, too, and
  messages between two processes of one computer, so it is an upper bound of what does not shrink;
- latency: 20 microseconds a hop of a tree for each message, twice (who is where, then the message itself);
- bytes over 1 GB/s, a usual cluster. A rank receives the sums of all others: as many times its own. Sums of integers
  are added on their way: each rank receives about twice its own. Values of rows are a share of a fixed total: two ranks
  send half of it each, and each of n ranks receives all but its own share.
"""
import argparse
import math
import os
import re
import statistics
import subprocess
import tempfile
from dataclasses import dataclass

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
               "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
PIPELINES = ["scale | logistic l2=0.001", "scale | svm kernel=linear", "scale | dica route=low_rank map=fourier rank=200 sigma=4 | ridge lam=0.1",
             "trees rounds=50 leaves=31"]
LATENCY, BANDWIDTH = 20e-6, 1e9


SENT = re.compile(r"ranks: (\d+) messages, \d+ bytes of rank 0 \((\d+) of sums, (\d+) of sums of integers, (\d+) of rows\)")


@dataclass
class Sent:
    """What a rank has sent: messages, and bytes by kind."""
    messages: int = 0
    sums: int = 0
    added: int = 0
    rows: int = 0

    def bytes(self):
        return self.sums + self.added + self.rows


def fit(program, data, pipeline, folder, ranks, threads):
    """Seconds of the fit, and what a rank has sent."""
    command = [program, "fit", data, pipeline, "-o", f"{folder}/model.eco", "--threads", str(threads), "--timing"]
    if ranks > 1:
        command = ["mpirun", "-n", str(ranks), *command]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT).stderr
    sent = SENT.search(said)
    if ranks > 1 and sent is None:
        raise SystemExit(f"no line on what ranks have sent:\n{said}")
    return float(re.search(r" fit ([0-9.]+) s", said)[1]), Sent(*map(int, sent.groups())) if sent else Sent()


def cost(ranks, alone, two, sent):
    """Seconds of this many ranks, by part, from those of one and of two ranks and what each of two has sent."""
    kept = min(max(0.0, 2 * two - alone), alone)  # t(2) = kept + (alone - kept) / 2
    received = sent.sums * (ranks - 1) + 2 * sent.added + 2 * sent.rows * (ranks - 1) / ranks
    return {"rows": (alone - kept) / ranks, "what every rank does": kept,
            "latency": 2 * sent.messages * LATENCY * math.ceil(math.log2(ranks)), "bytes": received / BANDWIDTH}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    program = os.path.join(options.build, "cli", "ecotone")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "generate", "exchangeable", "--set", "domains=10", "--set", f"rows={options.rows // 10}",
                        "--set", "features=20", "-o", f"{folder}/all.eco"], check=True, stdout=subprocess.DEVNULL)
        measured = []
        for pipeline in PIPELINES:
            seconds = {(1, 1): [], (1, 2): [], (2, 1): []}
            sent = Sent()
            for _ in range(options.times):  # in turns, so that a slow moment meets all
                for (ranks, threads), times in seconds.items():
                    time, now = fit(program, f"{folder}/all.eco", pipeline, folder, ranks, threads)
                    times.append(time)
                    sent = now if ranks > 1 else sent
            measured.append((pipeline, seconds, sent))
    print("| pipeline | 1 rank, 1 thread | 1 rank, 2 threads | 2 ranks, 1 thread | ranks / threads | messages | bytes of a rank |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for pipeline, seconds, sent in measured:
        alone, threads, ranks = (statistics.median(seconds[key]) for key in ((1, 1), (1, 2), (2, 1)))
        each = [two / one for two, one in zip(seconds[2, 1], seconds[1, 2])]
        print(f"| `{pipeline}` | {alone:.2f} s | {threads:.2f} s | {ranks:.2f} s | {ranks / threads:.2f} "
              f"({min(each):.2f} to {max(each):.2f}) | {sent.messages} | {sent.bytes():,} |")
    counts = (4, 16, 64, 256)
    print("\n| pipeline | " + " | ".join(f"{n} ranks" for n in counts) + " | |")
    print("| --- |" + " --- |" * (len(counts) + 1))
    for pipeline, seconds, sent in measured:
        parts = [cost(n, statistics.median(seconds[1, 1]), statistics.median(seconds[2, 1]), sent) for n in counts]
        largest = [max(each, key=each.get) for each in parts]
        first = next((f"from {n} ranks on: {name}" for n, name in zip(counts, largest) if name != "rows"), "rows")
        print(f"| `{pipeline}` | " + " | ".join(f"{sum(each.values()):.2f} s" for each in parts) + f" | {first} |")


if __name__ == "__main__":
    main()
