"""The stages kpca, udica, coir and dica from the command line, on a golden case."""

import csv
import json

import numpy as np
import pytest
from conftest import ROOT

PAPER = "dica kernel=rbf sigma=1.5 lam=0.1 epsilon=1e-4 weight=1 components=2 form=paper scaling=reference"


@pytest.fixture(scope="module")
def golden():
    return json.loads((ROOT / "tests/golden/dica/basic_rbf_delta.json").read_text())


@pytest.fixture(scope="module")
def train(golden, tmp_path_factory):
    path = tmp_path_factory.mktemp("components") / "train.csv"
    with open(path, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow([f"x{j}" for j in range(len(golden["X"][0]))] + ["y", "domain"])
        for row, label, domain in zip(golden["X"], golden["y"], golden["domain"]):
            table.writerow([*map(repr, row), f"class {label}", f"domain {domain}"])
    return path


def test_projections_of_new_rows_are_the_golden_ones(ecotone, golden, train, tmp_path):
    test, model, out = tmp_path / "test.csv", tmp_path / "m.eco", tmp_path / "z.csv"
    with open(test, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow([f"x{j}" for j in range(len(golden["X"][0]))])
        table.writerows([map(repr, row) for row in golden["Xtest"]])
    ecotone("fit", train, PAPER, "--label", "y", "--domain", "domain", "-o", model)
    ecotone("transform", model, test, "-o", out)
    with open(out, newline="") as file:
        z = np.array([[float(row["z1"]), float(row["z2"])] for row in csv.DictReader(file)])
    expected = golden["expected"]["methods"]["dica"]
    wanted = np.array(expected["test"])
    wanted *= np.sign((wanted * z).sum(axis=0))
    assert np.abs(z - wanted).max() < 1e-9 * np.abs(wanted).max()
    stage = ecotone.json("inspect", model)["stages"][0]
    assert np.allclose(stage["gamma"], expected["gamma"], rtol=1e-9)
    assert stage["gamma_imag"] == [0, 0]
    assert stage["components"] == 2
    assert stage["route"] == "cholesky"
    assert stage["tr_KQ"] == pytest.approx(golden["expected"]["tr_KQ"], rel=1e-9)
    assert stage["distributional_variance"] == pytest.approx(expected["distributional_variance"], rel=1e-8)


def test_labels_are_asked_for_by_those_that_need_them(ecotone, train, tmp_path):
    columns = ("--ignore", "y", "--domain", "domain", "-o", tmp_path / "m.eco")
    ecotone.error("fit", train, "dica", *columns, exit=3, code="no_labels")
    ecotone.error("fit", train, "coir", *columns, exit=3, code="no_labels")
    ecotone("fit", train, "udica weight=100", *columns)
    ecotone("fit", train, "kpca", *columns)


def test_a_weight_that_does_nothing_is_said(ecotone, train, tmp_path):
    columns = ("--label", "y", "--domain", "domain", "-o", tmp_path / "m.eco")
    assert "warning: dica: at weight 0.001 the invariance" in ecotone("fit", train, "dica weight=0.001", *columns).stderr
    assert "warning" not in ecotone("fit", train, "dica weight=1000", *columns).stderr


def test_the_cholesky_route_needs_lam(ecotone, train, tmp_path):
    columns = ("--label", "y", "--domain", "domain", "-o", tmp_path / "m.eco")
    message = ecotone.error("fit", train, "dica lam=0 route=cholesky", *columns, exit=2, code="bad_option")
    assert message.startswith("dica: the Cholesky route needs lam > 0")


def test_rows_without_components_are_still_a_table(ecotone, tmp_path):
    data, model = tmp_path / "equal.csv", tmp_path / "m.eco"
    data.write_text("x0,y,domain\n" + "".join(f"1,c{i % 2},d{i % 3}\n" for i in range(12)))
    ecotone("fit", data, "kpca", "--label", "y", "--domain", "domain", "-o", model)
    lines = ecotone("transform", model, data).stdout.splitlines()
    assert lines[:3] == ["domain,y", "d0,c0", "d1,c1"] and len(lines) == 13
    no_domain = tmp_path / "bare.csv"
    no_domain.write_text("x0\n" + "1\n" * 4)
    assert ecotone("transform", model, no_domain).stdout == "\n" * 5
