"""The layer check passes on the tree as it is and fails on each kind of forbidden include."""
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECK = ROOT / "tools" / "check_layers.py"


def run(tree):
    return subprocess.run([sys.executable, CHECK, tree], capture_output=True, text=True)


@pytest.fixture
def tree(tmp_path):
    return pathlib.Path(shutil.copytree(ROOT / "src" / "ecotone", tmp_path / "ecotone"))


def test_the_tree_keeps_its_layers(tree):
    answer = run(tree)
    assert answer.returncode == 0, answer.stderr


@pytest.mark.parametrize(
    "file, line, says",
    [
        ("base/error.h", '#include "ecotone/methods/model.h"', "base may not include methods/model.h"),
        ("data/schema.cpp", '#include "ecotone/evaluate/evaluate.h"', "data may not include evaluate/evaluate.h"),
        ("methods/model.cpp", '  #  include "ecotone/report/html/html.h"', "methods may not include report/html.h"),
        ("methods/model.cpp", "#include <Spectra/SymEigsSolver.h>", "only linalg may include"),
        ("data/dataset.cpp", "#include <cblas.h>", "only linalg may include"),
        ("data/dataset.cpp", '#include "dataset.h"', 'include "dataset.h" as'),
        ("data/dataset.cpp", '#include "ecotone/cellar/wine.h"', "is in no layer"),
    ],
)
def test_a_forbidden_include_fails(tree, file, line, says):
    path = tree / file
    path.write_text(path.read_text() + "\n" + line + "\n")
    answer = run(tree)
    assert answer.returncode == 1
    assert says in answer.stderr


def test_a_folder_outside_the_list_fails(tree):
    (tree / "cellar").mkdir()
    answer = run(tree)
    assert answer.returncode == 1
    assert "not in layers.txt" in answer.stderr
