"""Alignment, transport, ratios and anchors agree with other packages where the definitions do. Their answers were made by bench/align_agreement.py and are in golden/align_peers.json."""

import csv
import json

import numpy as np
import pytest
from conftest import ROOT

PEERS = json.loads((ROOT / "tests" / "golden" / "align_peers.json").read_text())
NONE = "shrink_mean=0 shrink_cov=0 ridge=0"


@pytest.fixture(scope="module")
def fitted(ecotone, tmp_path_factory):
    """Fits a pipeline on the rows of some domains; returns what inspect and transform, or predict, make of it."""
    folder = tmp_path_factory.mktemp("peers")

    def run(stages, domains, label="label", target=None):
        rows, model = folder / f"{domains}.csv", folder / "model.eco"
        with open(rows, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["x", "y", "z", "label", "number", "site"])
            for values in zip(PEERS["rows"], PEERS["label"], PEERS["number"], PEERS["domain"]):
                if values[3] in domains:
                    out.writerow([*values[0], *values[1:]])
        other = "number" if label == "label" else "label"
        columns = ["--label", label, "--domain", "site", "--ignore", other]
        ecotone("fit", rows, stages, *columns, *(["--target", target] if target else []), "-o", model)
        stage = ecotone.json("inspect", model)["stages"][0]
        return stage, rows, model

    def transformed(*args, domain, **more):
        _, rows, model = run(*args, **more)
        ecotone("transform", model, rows, "-o", folder / "out.csv")
        with open(folder / "out.csv") as file:
            return np.array([[float(row[name]) for name in "xyz"] for row in csv.DictReader(file) if row["domain"] == domain])

    def predicted(*args, **more):
        _, rows, model = run(*args, **more)
        ecotone("predict", model, rows, "-o", folder / "out.csv")
        with open(folder / "out.csv") as file:
            return np.array([float(row["prediction"]) for row in csv.DictReader(file)])

    run.transformed, run.predicted = transformed, predicted
    return run


def test_linear_maps(fitted):
    for name in ("linot", "coral"):
        moved = fitted.transformed(f"{name} {NONE}", "at", target="t", domain="a")
        assert moved == pytest.approx(np.array(PEERS[name]), abs=1e-9), name


def test_the_barycentre(fitted):
    for domain in "ab":
        moved = fitted.transformed(f"barycentre {NONE}", "ab", domain=domain)
        assert moved.mean(0) == pytest.approx(PEERS["barycentre_mean"], abs=1e-9)
        assert np.cov(moved.T) == pytest.approx(np.array(PEERS["barycentre_covariance"]), abs=1e-7)


def test_transport(fitted):
    stage, *_ = fitted("transport solver=exact | constant", "at", target="t")
    assert stage["moved"][0]["cost"] == pytest.approx(PEERS["exact_cost"], rel=1e-12)
    stage, *_ = fitted(f"transport reg={PEERS['reg']} tol=1e-12 max_sweeps=100000 | constant", "at", target="t")
    assert stage["moved"][0]["cost"] == pytest.approx(PEERS["entropic_cost"], rel=1e-8)


def test_weights(fitted):
    stage, *_ = fitted(f"weight.rulsif alpha={PEERS['alpha']} sigma={PEERS['sigma']} lam={PEERS['lam']} flatten=none | constant", "at", target="t")
    assert stage["ess_raw"] == pytest.approx(PEERS["rulsif_ess"], rel=1e-9)
    stage, *_ = fitted(f"weight.kmm sigma={PEERS['sigma']} most={PEERS['most']} flatten=none | constant", "at", target="t")
    assert stage["chosen"]["objective"] == pytest.approx(PEERS["kmm_objective"], rel=2e-6)
    assert stage["chosen"]["gap"] < 1e-6 * abs(PEERS["kmm_objective"])


def test_anchor_regression(fitted):
    assert fitted.predicted(f"anchor gamma={PEERS['gamma']} l2=0", "abt", label="number") == pytest.approx(PEERS["anchor"], abs=1e-9)
