#!/usr/bin/env python3
"""Checks the laws of the house: src/ecotone against layers.txt (a folder may include only itself and folders above it in the list), and cli/."""
import argparse
import pathlib
import re
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
SOURCES = (".h", ".cpp", ".def")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"ecotone/([^"]+)"|<([^>]+)>|"([^"]+)")', re.M)
# The header for users of the library: it stands above all layers, and no layer includes it.
FACE = "ecotone.h"
# Outside libraries that one layer alone may include.
ONLY_IN = {"linalg": re.compile(r"^(cblas|lapack|lapacke|openblas|f77blas|Spectra|Eigen)\b"), "base": re.compile(r"^(zlib\.h|pthread\.h|thread$)")}
# Layers of numbers and arrays: they never name a table, its columns or what fitting may see of it.
WITHOUT_TABLES = ("base", "linalg", "measure", "kernels", "solve")
TABLE = re.compile(r"\b(TrainView|Dataset|Schema)\b")
# What opens a namespace or defines a type where no block is open.
SCOPE_OR_TYPE = re.compile(r"^(?:namespace ([\w:]+) \{|(?:struct|class|enum class) (\w+)(?: final)?(?: : [^{;]*)? \{)", re.M)
# The files of cli/ that may include CLI11.
CLI11_IN = ("flags.h", "flags.cpp", "flag_errors.cpp")
CLI11 = re.compile(r"^CLI/")
# Comments, or strings, in which two slashes begin none.
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.S)


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in SOURCES)


def code_of(path):
    """The text of a source without its comments; lines stay where they are."""
    return COMMENT_OR_STRING.sub(lambda match: match[1] or "\n" * match[0].count("\n"), path.read_text())


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def include_problems(path, layer, layers):
    """Forbidden includes of a file in a layer, or, with layer None, of the public header."""
    for ours, system, relative in INCLUDE.findall(path.read_text()):
        if relative:
            if not relative.endswith(".def"):
                yield f'{path}: include "{relative}" as "ecotone/LAYER/FILE"'
        elif ours:
            other = ours.split("/")[0]
            if ours == FACE:
                yield f"{path}: {FACE} is for users of the library; include the headers it is made of"
            elif other not in layers and ours != "version.h":
                yield f"{path}: {ours} belongs to no layer"
            elif layer and other in layers and layers.index(other) > layers.index(layer):
                yield f"{path}: {layer} may not include {ours} ({other} is a later layer)"
        else:
            for owner, pattern in ONLY_IN.items():
                if layer != owner and pattern.match(system):
                    yield f"{path}: only {owner} may include <{system}>"


def table_problems(path, layer):
    code = code_of(path)
    for match in TABLE.finditer(code):
        yield f"{path}:{line_of(code, match.start())}: {layer} may not name {match[0]}"


def type_problems(root):
    """Types of one name in two headers: the compiler sees only one of them, the linker mixes their functions."""
    seen = {}
    for path in sources(root):
        if path.suffix != ".h":
            continue
        scope = ""
        for match in SCOPE_OR_TYPE.finditer(code_of(path)):
            if match[1]:
                scope = match[1]
                continue
            name = f"{scope}::{match[2]}"
            if name in seen:
                yield f"{path}: {name} is defined in {seen[name]}, too"
            seen[name] = path


def library_problems(root):
    yield from type_problems(root)
    layers = [line.strip() for line in (root / "layers.txt").read_text().splitlines() if line.strip() and not line.startswith("#")]
    for path in sorted(root.iterdir()):
        if path.is_dir() and path.name not in layers:
            yield f"{path}: not in layers.txt"
        elif path.suffix in SOURCES and path.name != FACE:
            yield f"{path}: belongs in a layer; only {FACE} stands beside layers.txt"
    if (root / FACE).exists():
        yield from include_problems(root / FACE, None, layers)
    for layer in layers:
        for path in sources(root / layer):
            yield from include_problems(path, layer, layers)
            if layer in WITHOUT_TABLES:
                yield from table_problems(path, layer)


def cli_problems(root):
    """Includes of CLI11 outside the files that may have them."""
    for path in sources(root):
        if path.relative_to(root).as_posix() in CLI11_IN:
            continue
        for _, system, relative in INCLUDE.findall(path.read_text()):
            if CLI11.match(system or relative):
                yield f"{path}: only {', '.join(CLI11_IN)} may include <{system or relative}>"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", nargs="?", type=pathlib.Path, default=REPOSITORY / "src" / "ecotone")
    parser.add_argument("cli", nargs="?", type=pathlib.Path, default=REPOSITORY / "cli")
    roots = parser.parse_args()
    found = list(library_problems(roots.library))
    found += cli_problems(roots.cli)
    for line in found:
        print(f"check: {line}", file=sys.stderr)
    if found:
        return 1
    print("check: includes respect the layers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
