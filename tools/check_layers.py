#!/usr/bin/env python3
"""Checks the includes of src/ecotone against layers.txt: a folder may include only itself and folders above it in the list."""
import argparse
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"ecotone/([^"]+)"|<([^>]+)>|"([^"]+)")', re.M)
# Outside libraries that one layer alone may include.
ONLY_IN = {"linalg": re.compile(r"^(cblas|lapack|lapacke|openblas|f77blas|Spectra|Eigen)\b"), "base": re.compile(r"^(zlib\.h|pthread\.h|thread$)")}


def problems(root):
    layers = [line.strip() for line in (root / "layers.txt").read_text().splitlines() if line.strip() and not line.startswith("#")]
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        if folder.name not in layers:
            yield f"{folder}: not in layers.txt"
    for rank, layer in enumerate(layers):
        for path in sorted((root / layer).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".def"):
                continue
            for ours, system, relative in INCLUDE.findall(path.read_text()):
                if relative:
                    if not relative.endswith(".def"):
                        yield f'{path}: include "{relative}" as "ecotone/LAYER/FILE"'
                elif ours:
                    other = ours.split("/")[0]
                    if other in layers and layers.index(other) > rank:
                        yield f"{path}: {layer} may not include {ours} ({other} is a later layer)"
                    elif other not in layers and ours != "version.h":
                        yield f"{path}: {ours} is in no layer"
                else:
                    for owner, pattern in ONLY_IN.items():
                        if layer != owner and pattern.match(system):
                            yield f"{path}: only {owner} may include <{system}>"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent / "src" / "ecotone")
    found = list(problems(parser.parse_args().root))
    for line in found:
        print(f"check: {line}", file=sys.stderr)
    if found:
        return 1
    print("check: layers are kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())
