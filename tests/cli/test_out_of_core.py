"""A data file of 1 GB in less than 150 MB of memory: blocks of rows and a few numbers per row, whatever the size of the file."""

import json
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "bench" / "support"))
import anonymous  # noqa: E402
import large_data  # noqa: E402

SIZE, LIMIT = 10**9, 150e6


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "large.eco"
    large_data.write(path, SIZE)
    yield path
    path.unlink()


def bounded(ecotone, *arguments):
    """Runs the program on 2 threads; anonymous memory is what it takes itself, the pages of the file are the system's."""
    done, seconds, most = anonymous.run([ecotone.path, *arguments, "--quiet", "--threads", "2"])
    assert done.returncode == 0, done.stderr
    assert most < LIMIT, f"{arguments[0]} took {most / 1e6:.0f} MB"
    print(f"{arguments[0]}: {seconds:.1f} s, {most / 1e6:.0f} MB")


@pytest.mark.slow
def test_a_large_file_is_compared_searched_fitted_and_predicted_in_little_memory(ecotone, large, tmp_path):
    assert large.stat().st_size > 0.99 * SIZE
    bounded(ecotone, "diagnose", large, "--json")
    bounded(ecotone, "select", large, "tgreedy", "--json")
    for name, pipeline in (("linear", "scale | logistic"), ("curved", "scale | dica route=low_rank | logistic")):
        model, out = tmp_path / f"{name}.eco", tmp_path / f"{name}.csv"
        bounded(ecotone, "fit", large, pipeline, "-o", model)
        bounded(ecotone, "predict", model, large, "-o", out)
        with open(out) as rows:
            assert next(rows).startswith("domain,prediction,p_0")
            assert sum(1 for _ in rows) == large_rows(large)
        out.unlink()


def large_rows(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return header["x"]["shape"][0]


def test_the_model_of_a_mapped_file_is_that_of_the_table(ecotone, tmp_path):
    """Rows of a CSV in memory, streamed, and mapped: the same bytes."""
    table, mapped = tmp_path / "table.csv", tmp_path / "mapped.eco"
    ecotone("generate", "exchangeable", "domains=5", "rows=600", "features=40", "-o", table)
    columns = ("--label", "label", "--domain", "domain")
    ecotone("convert", table, *columns, "-o", mapped)
    for pipeline in ("scale | logistic", "scale | dica route=low_rank rank=50 | logistic l2=0.01"):
        models = []
        for name, data in (("memory", [table, *columns]), ("streamed", [table, *columns, "--stream"]), ("mapped", [mapped])):
            models.append(tmp_path / f"model_{name}.eco")
            ecotone("fit", *data[:1], pipeline, *data[1:], "-o", models[-1])
        assert models[0].read_bytes() == models[1].read_bytes() == models[2].read_bytes(), pipeline


def test_methods_say_which_routes_they_have(ecotone):
    routes = {method["name"]: method["routes"] for method in ecotone.json("methods")["methods"]}
    assert all("memory" in each for each in routes.values())
    assert routes["scale"]["streamed"] == "" and routes["dica"]["streamed"] == "route=low_rank"
    assert "streamed" not in routes["gp"]
    listed = ecotone("methods").stdout
    assert "streamed ranks sums" in next(line for line in listed.splitlines() if line.startswith("scale "))
    assert "needs route=low_rank" in " ".join(ecotone("methods", "dica").stdout.split())
