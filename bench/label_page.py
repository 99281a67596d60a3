#!/usr/bin/env python3
"""How long a person waits for the next row: answers posted to `ecotone label` with 100,000 rows to ask (20 columns) while the model is fitted again in the background. Usage: label_page.py BUILD-FOLDER [ROWS]"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import numpy as np

ANSWERS, SOURCES = 300, 20_000


def make_table(path, rows):
    """Two domains, of which the target has no labels."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(SOURCES + rows, 20))
    y = (x[:, :4].sum(axis=1) + rng.normal(size=len(x)) > 0).astype(int)
    with open(path, "w") as out:
        out.write("site," + ",".join(f"x{j}" for j in range(20)) + ",y\n")
        for i, row in enumerate(x):
            out.write(("a," if i < SOURCES else "b,") + ",".join(f"{v:.4g}" for v in row) + f",{y[i] if i < SOURCES else ''}\n")
    return y


def main():
    program = pathlib.Path(sys.argv[1]).resolve() / "cli" / "ecotone"
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        truth = make_table(f"{folder}/table.csv", rows)
        command = [program, "label", f"{folder}/table.csv", "scale | logistic l2=0.001", "--label", "y", "--domain", "site", "--target", "b"]
        server = subprocess.Popen([*command, "--budget", str(ANSWERS), "-o", f"{folder}/labels"], stdout=subprocess.PIPE, text=True)
        try:
            url = urllib.parse.urlsplit(next(m[0] for m in (re.search(r"http://\S+", line) for line in server.stdout) if m))
            token = urllib.parse.parse_qs(url.query)["token"][0]

            def call(path, body=None):
                request = urllib.request.Request(f"http://{url.netloc}{path}", json.dumps(body).encode() if body else None, {"X-Token": token, "Content-Type": "application/json"})
                with urllib.request.urlopen(request) as answer:
                    return json.load(answer)

            state = call("/api/state?page=bench")
            waits = []
            while state["question"]:
                row = state["question"]["row"]
                begin = time.perf_counter()
                state = call("/api/answer", {"page": "bench", "request": f"bench-{row}", "row": row, "kind": "label", "label": str(truth[row - 1])})
                waits.append(1000 * (time.perf_counter() - begin))
                time.sleep(0.05)  # a fast person
            memory = re.search(r"VmHWM:\s*(\d+)", pathlib.Path(f"/proc/{server.pid}/status").read_text())[1]
        finally:
            server.terminate()
            server.wait()
    waits = np.array(waits)
    print(f"{rows} rows to ask, {len(waits)} answers: median {np.median(waits):.1f} ms, 95% within {np.quantile(waits, 0.95):.1f} ms, longest {waits.max():.1f} ms (goal 50); peak memory {int(memory) / 1024:.0f} MB")


if __name__ == "__main__":
    main()
