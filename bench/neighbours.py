#!/usr/bin/env python3
"""Exact nearest neighbours of all rows among all rows beside scikit-learn's brute force. Usage: neighbours.py BUILD-FOLDER

20,000 x 50 normal numbers, k = 15 (a row is its own first neighbour, for both); the best of five rounds, ours and the peer's in turn."""
import json
import pathlib
import subprocess
import sys
import time

import numpy as np
import sklearn
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

ROWS, COLS, K, ROUNDS = 20_000, 50, 15, 5


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    folder = build / "bench" / "neighbours"
    folder.mkdir(parents=True, exist_ok=True)
    x = np.random.default_rng(59).standard_normal((ROWS, COLS))
    x.tofile(folder / "x.bin")
    print(f"scikit-learn {sklearn.__version__}, {ROWS:,} x {COLS}, k = {K}")
    for threads in (1, 2):
        ours, peer, found = [], [], None
        for _ in range(ROUNDS):
            command = [build / "bench" / "bench_neighbours", folder, str(ROWS), str(COLS), str(K), str(threads), "1"]
            ours += json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            with threadpool_limits(threads):
                search = NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=threads).fit(x)
                start = time.perf_counter()
                found = search.kneighbors(x, return_distance=False)
                peer.append(time.perf_counter() - start)
        index = np.fromfile(folder / "index.bin", np.int64).reshape(ROWS, K)
        print(f"{threads} thread{'s' if threads > 1 else ''}: ecotone {min(ours):.3f} s, scikit-learn {min(peer):.3f} s, ratio {min(peer) / min(ours):.2f} x; "
              f"{int((index != found).sum())} of {index.size} neighbours differ", flush=True)


if __name__ == "__main__":
    main()
