"""Gaussian processes through the program: the standard deviation beside the prediction, names that `inspect` gives."""

import math
import random

import pytest


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """Three sites with a smooth label of noise 0.1, and rows far away."""
    draw = random.Random(1)
    folder = tmp_path_factory.mktemp("gp")
    lines = ["site,a,b,y"]
    for i in range(240):
        a, b = draw.uniform(-2, 2), draw.uniform(-2, 2)
        lines.append(f"s{i % 3},{a},{b},{math.sin(2 * a) + b + draw.gauss(0, 0.1)}")
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    (folder / "new.csv").write_text("site,a,b\ns0,0.1,0.2\ns1,-1,1\ns9,50,50\n")
    return folder


def test_deviation_stands_beside_the_prediction(ecotone, numbers, tmp_path):
    model = tmp_path / "m.eco"
    ecotone("fit", numbers / "data.csv", "gp", "--label", "y", "--domain", "site", "-o", model, "--quiet")
    lines = ecotone("predict", model, numbers / "new.csv").stdout.splitlines()
    assert lines[0] == "domain,prediction,sd"
    rows = [line.split(",") for line in lines[1:]]
    assert float(rows[0][1]) == pytest.approx(math.sin(0.2) + 0.2, abs=0.15)
    assert 0.05 < float(rows[0][2]) < 0.2
    assert float(rows[2][2]) > 3 * float(rows[0][2])
    document = ecotone.json("predict", model, numbers / "new.csv")
    assert document["sd"] == [float(row[2]) for row in rows]
    assert document["prediction"] == [float(row[1]) for row in rows]


def test_without_variance_there_is_none(ecotone, numbers, tmp_path):
    model = tmp_path / "m.eco"
    ecotone("fit", numbers / "data.csv", "gp variance=false", "--label", "y", "--domain", "site", "-o", model, "--quiet")
    assert ecotone("predict", model, numbers / "new.csv").stdout.startswith("domain,prediction\n")
    assert "sd" not in ecotone.json("predict", model, numbers / "new.csv")


def test_inspect_names(ecotone, numbers, tmp_path):
    model = tmp_path / "m.eco"
    ecotone("fit", numbers / "data.csv", "gp distributional=true", "--label", "y", "--domain", "site", "-o", model, "--quiet")
    stage = ecotone.json("inspect", model)["stages"][-1]
    assert {"sigma", "sigma1", "amplitude", "noise", "log_likelihood", "evaluations", "route", "training_rows", "status"} <= set(stage)
    assert stage["route"] == "exact" and stage["training_rows"] == 240
    assert math.sqrt(stage["noise"]) == pytest.approx(0.1, rel=0.3)


def test_domains_left_out_choose(ecotone, numbers, tmp_path):
    model = tmp_path / "m.eco"
    ecotone("fit", numbers / "data.csv", "gp fit=cv", "--label", "y", "--domain", "site", "-o", model, "--quiet")
    stage = ecotone.json("inspect", model)["stages"][-1]
    assert stage["evaluations"] == 30 and "left out" in stage["status"]
