"""Equal runs give equal bytes, whatever the number of threads."""

import pytest
from conftest import CLINIC_COLUMNS, PIPELINE

THREADS = (1, 2, 7)


@pytest.fixture(scope="module")
def large(ecotone, tmp_path_factory):
    """More than 20 blocks of rows, so that threads have something to share."""
    path = tmp_path_factory.mktemp("large") / "large.csv"
    assert ecotone.json("generate", "clinics", "--set", "size=4", "-o", path)["rows"] > 20 * 512
    return path


@pytest.mark.parametrize("seed", (0, 5))
def test_model_files_are_the_same_bytes(ecotone, clinics, tmp_path, seed):
    models = []
    for threads in THREADS:
        path = tmp_path / f"model{threads}.eco"
        ecotone("fit", clinics, PIPELINE, *CLINIC_COLUMNS, "-o", path, "--threads", threads, "--seed", seed)
        models.append(path.read_bytes())
    assert models[0] == models[1] == models[2]


def test_large_model_files_are_the_same_bytes(ecotone, large, tmp_path):
    models, predictions, features = [], [], []
    for threads in THREADS:
        path = tmp_path / f"model{threads}.eco"
        ecotone("fit", large, "impute | scale | logistic l2=1e-3", *CLINIC_COLUMNS, "-o", path, "--threads", threads)
        models.append(path.read_bytes())
        predictions.append(ecotone("predict", path, large, "--threads", threads).stdout)
        features.append(ecotone("transform", path, large, "--threads", threads).stdout)
    assert models[0] == models[1] == models[2]
    assert predictions[0] == predictions[1] == predictions[2]
    assert features[0] == features[1] == features[2]


@pytest.mark.parametrize("protocol", ("leave-one-domain-out", "adapt", "domain-split", "k-fold"))
def test_results_are_the_same_bytes(ecotone, clinics, tmp_path, protocol):
    results, saved, pages = [], [], []
    more = ("--repetitions", 3) if protocol == "domain-split" else ()
    for threads in THREADS:
        csv, page = tmp_path / f"{threads}.csv", tmp_path / f"{threads}.html"
        done = ecotone(
            "evaluate", clinics, "impute | constant", PIPELINE, *CLINIC_COLUMNS, "--protocol", protocol, *more,
            "--threads", threads, "--save-predictions", csv, "--report", page, "--json",
        )  # fmt: skip
        results.append(done.stdout)
        saved.append(csv.read_bytes())
        pages.append(page.read_bytes())
    assert results[0] == results[1] == results[2]
    assert saved[0] == saved[1] == saved[2]
    assert pages[0] == pages[1] == pages[2]


def test_generated_data_are_the_same_bytes(ecotone, tmp_path):
    files = []
    for threads in THREADS:
        for ending in ("csv", "eco"):
            path = tmp_path / f"{threads}.{ending}"
            ecotone("generate", "clinics", "--seed", 11, "-o", path, "--threads", threads)
            files.append(path.read_bytes())
    assert files[0::2] == [files[0]] * 3
    assert files[1::2] == [files[1]] * 3


def test_the_seed_changes_generated_data(ecotone):
    assert ecotone("generate", "clinics").stdout != ecotone("generate", "clinics", "--seed", 1).stdout
