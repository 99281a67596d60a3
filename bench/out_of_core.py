#!/usr/bin/env python3
"""Verbs on a data file (.eco) that is larger than the memory they may use: seconds and largest anonymous memory of each, in a cgroup of LIMIT where one
can be made (page cache included). Usage: out_of_core.py BUILD-FOLDER GB [LIMIT-MB [THREADS]]; 1000 MB and 2 threads unless told otherwise.

By hand, since 20 GB take long: without a size it does nothing. The file is written beside the benchmarks and removed at the end."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
import anonymous  # noqa: E402
import large_data  # noqa: E402
import memory_limit  # noqa: E402


def main():
    if len(sys.argv) < 3:
        print("skipped: say how many GB, such as 20 (as much disk, and some minutes per GB)")
        return
    build = pathlib.Path(sys.argv[1]).resolve()
    size, limit = float(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 1000.0
    threads = sys.argv[4] if len(sys.argv) > 4 else "2"
    program, folder = build / "cli" / "ecotone", build / "bench"
    folder.mkdir(exist_ok=True)
    data, linear, curved, out = (folder / name for name in ("large.eco", "linear.eco", "curved.eco", "out.csv"))
    runs = [
        ("diagnose", [program, "diagnose", data, "--json"]),
        ("select", [program, "select", data, "tgreedy", "--json"]),
        ("fit", [program, "fit", data, "scale | logistic", "-o", linear]),
        ("fit", [program, "fit", data, "scale | dica route=low_rank | logistic", "-o", curved]),
        ("predict", [program, "predict", linear, data, "-o", out]),
        ("predict", [program, "predict", curved, data, "-o", out]),
    ]
    failed = False
    try:
        rows = large_data.write(data, int(size * 1e9))
        with memory_limit.limited(int(limit * 1e6)) as before:
            held = "in a cgroup of that size" if before else "no cgroup could be made"
            print(f"{data.stat().st_size / 1e9:.2f} GB, {rows} rows x {large_data.COLUMNS} columns, limit {limit:.0f} MB ({held})")
            print("| command | seconds | anonymous MB |\n| --- | --- | --- |")
            for verb, command in runs:
                done, seconds, most = anonymous.run([*command, "--quiet", "--threads", threads], before)
                name = " ".join(str(part) for part in command[1:] if part not in (data, out, "-o", "--json"))
                if verb == "fit":
                    name = f'fit "{command[3]}"'
                elif verb == "predict":
                    name = f"predict, the model of {'scale and logistic' if command[2] == linear else 'dica'}"
                print(f"| {name} | {seconds:.0f} | {most / 1e6:.0f} |", flush=True)
                if done.returncode or most > limit * 1e6:
                    failed = True
                    print(f"failed (exit {done.returncode}): {done.stderr[-500:]}")
    finally:
        for path in (data, linear, curved, out):
            path.unlink(missing_ok=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
