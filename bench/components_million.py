#!/usr/bin/env python3
"""Invariant components of a million rows by a low-rank kernel map: time, share of the rate of matrix products measured in the same run, memory; then against
rows, rank and threads, with a plot (docs/images/components_cost.svg); then from a mapped file. Usage: components_million.py BUILD-FOLDER"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
import cost_plot  # noqa: E402
import memory_limit  # noqa: E402

LARGE_ROWS = 5_000_000


def run(program, *arguments, before=None):
    return json.loads(subprocess.run([program, *arguments], check=True, capture_output=True, text=True, preexec_fn=before).stdout)


def line(name, one):
    share, by_processor = one["share_of_product_rate"], one["processor_share_of_product_rate"]
    more = one["anonymous_peak_mb"] - one["anonymous_before_mb"]
    print(
        f"| {name} | {one['landmarks']:.2f} | {one['sums']:.2f} | {one['reduced']:.2f} | {one['fit']:.2f} | {one['fit_processor']:.1f} | "
        f"{100 * share:.0f}% | {100 * by_processor:.0f}% | {more:.0f} | {one['project']:.2f} |",
        flush=True,
    )


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    program = build / "bench" / "bench_components_million"
    print("| rows x columns, rank, threads | landmarks | sums | reduced | fit | processor | of products | by processor | MB more | project |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    fit = {}
    for rows, rank, threads in ((1_000_000, 500, 2), (1_000_000, 500, 1), (1_000_000, 250, 2), (1_000_000, 1000, 2), (500_000, 500, 2), (250_000, 500, 2)):
        one = run(program, "memory", f"rows={rows}", f"rank={rank}", f"threads={threads}")
        line(f"{rows} x 20, {rank}, {threads}", one)
        fit[rows, rank, threads] = one["fit"]
    plot = pathlib.Path(__file__).resolve().parents[1] / "docs" / "images" / "components_cost.svg"
    plot.write_text(
        cost_plot.svg(
            "seconds of the fit",
            [
                ("rows (rank 500, 2 threads)", {n: t for (n, r, k), t in fit.items() if r == 500 and k == 2}),
                ("rank (1,000,000 rows, 2 threads)", {r: t for (n, r, k), t in fit.items() if n == 1_000_000 and k == 2}),
                ("threads (1,000,000 rows, rank 500)", {k: t for (n, r, k), t in fit.items() if n == 1_000_000 and r == 500}),
            ],
        )
    )
    data = build / "bench" / "components_large.eco"
    subprocess.run([program, "write", data, f"rows={LARGE_ROWS}"], check=True)
    try:
        size = data.stat().st_size
        with memory_limit.limited(size // 3) as before:
            one = run(program, "file", data, before=before)
        line(f"{LARGE_ROWS} x 20, 500, 2, mapped", one)
        limit = f"in a cgroup of {size / 3e6:.0f} MB" if before else "no cgroup could be made"
        print(f"the file: {size / 1e6:.0f} MB, {limit}; anonymous memory of the whole process at most {one['anonymous_peak_mb']:.0f} MB")
    finally:
        data.unlink()


if __name__ == "__main__":
    main()
