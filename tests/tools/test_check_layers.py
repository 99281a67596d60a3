"""The layer check passes on the tree as it is and fails on each kind of forbidden include and name."""
import importlib.util
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
        ("methods/model.cpp", '  #  include "ecotone/report/html/html.h"', "methods may not include report/html/html.h"),
        ("methods/model.cpp", "#include <Spectra/SymEigsSolver.h>", "only linalg may include"),
        ("data/dataset.cpp", "#include <cblas.h>", "only linalg may include"),
        ("data/dataset.cpp", '#include "dataset.h"', 'include "dataset.h" as'),
        ("data/dataset.cpp", '#include "ecotone/cellar/wine.h"', "belongs to no layer"),
        ("report/html/html.cpp", '#include "ecotone/ecotone.h"', "ecotone.h is for users of the library"),
        ("ecotone.h", '#include "ecotone/cellar/wine.h"', "belongs to no layer"),
        ("ecotone.h", '#include "base/error.h"', 'include "base/error.h" as'),
        ("ecotone.h", "#include <Eigen/Core>", "only linalg may include"),
    ],
)
def test_a_forbidden_include_fails(tree, file, line, says):
    path = tree / file
    path.write_text(path.read_text() + "\n" + line + "\n")
    answer = run(tree)
    assert answer.returncode == 1
    assert says in answer.stderr


def test_a_type_that_is_defined_twice_fails(tree):
    path = tree / "data" / "schema.h"
    path.write_text(path.read_text() + "\nnamespace ecotone {\nstruct Moments {\n  int rows = 0;\n};\n}  // namespace ecotone\n")
    answer = run(tree)
    assert answer.returncode == 1
    assert "ecotone::Moments is defined in" in answer.stderr


def test_a_folder_outside_the_list_fails(tree):
    (tree / "cellar").mkdir()
    answer = run(tree)
    assert answer.returncode == 1
    assert "not in layers.txt" in answer.stderr


def test_the_public_header_includes_any_layer(tree):
    path = tree / "ecotone.h"
    for layer in (tree / "layers.txt").read_text().split("\n"):
        if layer and not layer.startswith("#"):
            header = next((tree / layer).rglob("*.h")).relative_to(tree)
            path.write_text(path.read_text() + f'#include "ecotone/{header}"\n')
    answer = run(tree)
    assert answer.returncode == 0, answer.stderr


def test_another_file_beside_the_layers_fails(tree):
    (tree / "all.h").write_text("#pragma once\n")
    answer = run(tree)
    assert answer.returncode == 1
    assert "all.h: belongs in a layer" in answer.stderr


@pytest.mark.parametrize("layer, file", [("solve", "solve/svm/cache.h"), ("kernels", "kernels/new.cpp"), ("linalg", "linalg/new.h"), ("measure", "measure/new.cpp")])
@pytest.mark.parametrize("name", ["TrainView", "Dataset", "Schema"])
def test_layers_of_numbers_name_no_table(tree, layer, file, name):
    path = tree / file
    before = path.read_text() if path.exists() else ""
    path.write_text(f"/* a {name}\n is */ {before}\nvoid fit(const {name}& what);\n")
    answer = run(tree)
    assert answer.returncode == 1
    assert answer.stderr.count("may not name") == 1
    assert f"{path.name}:{before.count(chr(10)) + 3}: {layer} may not name {name}" in answer.stderr


def test_comments_and_longer_words_are_no_names(tree):
    (tree / "solve" / "new.h").write_text(
        "// a Dataset\n/* of a TrainView,\n   by its Schema */\nclass DatasetOf;\nconst char* address = \"a//b\";  // Schema\n"
    )
    answer = run(tree)
    assert answer.returncode == 0, answer.stderr


def test_a_string_with_slashes_hides_no_name(tree):
    (tree / "solve" / "new.h").write_text('const char* address = "a//b"; struct Schema;\n')
    assert "new.h:1: solve may not name Schema" in run(tree).stderr


def test_later_layers_name_tables(tree):
    (tree / "methods" / "new.h").write_text("struct Dataset;\n")
    assert run(tree).returncode == 0


@pytest.fixture
def check_layers():
    spec = importlib.util.spec_from_file_location("check_layers", CHECK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_cli11_is_included_by_the_flags_alone(check_layers, tmp_path):
    (tmp_path / "flags.h").write_text("#include <CLI/App.hpp>\n")
    (tmp_path / "flags.cpp").write_text("#include <CLI/CLI.hpp>\n")
    (tmp_path / "fit.cpp").write_text('// #include <CLI/App.hpp> is not here\n#include "cli/flags.h"\n#include <string>\n')
    assert list(check_layers.cli_problems(tmp_path)) == []
    (tmp_path / "verbs").mkdir()
    (tmp_path / "verbs" / "flags.h").write_text("#include <CLI/App.hpp>\n")
    (tmp_path / "fit.cpp").write_text('#include "CLI/Config.hpp"\n')
    problems = list(check_layers.cli_problems(tmp_path))
    assert len(problems) == 2
    assert "fit.cpp: only flags.h, flags.cpp, flag_errors.cpp may include <CLI/Config.hpp>" in problems[0]
    assert "verbs/flags.h" in problems[1]


def test_the_cli_keeps_its_law_where_it_is_enforced(check_layers):
    found = list(check_layers.cli_problems(ROOT / "cli"))
    assert not found, found
