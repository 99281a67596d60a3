#!/usr/bin/env python3
"""Follows docs/extend.md literally in a copy of the tree: writes its files, appends its lines, runs its commands.

Code blocks say what they are in their info string: `cpp file=PATH` is a new file, `cpp append=PATH` are lines for the end of a file, `sh run` is run from
the copy's root. The copy lies in build/guide; objects that did not change come from ccache.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDE = "docs/extend.md"
BLOCK = re.compile(r"^```(\w+) (file|append|run)(?:=(\S+))?\n(.*?)^```$", re.M | re.S)


def copy_tree(target):
    shutil.rmtree(target, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    if (ROOT / "build" / "venv").exists():
        (target / "build").mkdir(exist_ok=True)
        (target / "build" / "venv").symlink_to(ROOT / "build" / "venv")


def main():
    blocks = BLOCK.findall((ROOT / GUIDE).read_text())
    kinds = {kind for _, kind, _, _ in blocks}
    if kinds != {"file", "append", "run"}:
        sys.exit(f"check: {GUIDE} must have file, append and run blocks, has {sorted(kinds)}")
    tree = ROOT / "build" / "guide" / "tree"
    copy_tree(tree)
    # Compile commands differ from the main build's only in paths below the root; relative ones make ccache see them as equal.
    environment = dict(os.environ, CCACHE_BASEDIR=str(tree), CCACHE_NOHASHDIR="1")
    for language, kind, path, text in blocks:
        if kind == "run":
            commands = re.sub(r"\s*\\\n\s*", " ", text.strip()).splitlines()
            print(f"check: guide runs: {' && '.join(commands)}", flush=True)
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=tree, env=environment, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{done.stdout[-4000:]}{done.stderr[-4000:]}\ncheck: {GUIDE}: a command failed")
        elif kind == "file":
            target = tree / path
            if target.exists():
                sys.exit(f"check: {GUIDE}: {path} exists already")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        else:
            with open(tree / path, "a") as file:
                file.write(text)
    print(f"check: {GUIDE} works as written")


if __name__ == "__main__":
    main()
