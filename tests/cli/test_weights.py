"""Weight stages through the program; `weight.logistic` agrees with scikit-learn, which solves the same problems by other means."""

import csv

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

L2 = 0.01
STAGES = ("weight.logistic", "weight.knn", "weight.gaussian")


@pytest.fixture(scope="module")
def shift(ecotone, tmp_path_factory):
    """A table of a source and a shifted target domain."""
    path = tmp_path_factory.mktemp("weights") / "shift.csv"
    ecotone("generate", "misspecified", "--seed", 3, "--set", "test=0", "-o", path)
    return path


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    x = np.array([[float(row["x1"]), float(row["x2"])] for row in rows])
    return x, np.array([int(row["label"]) for row in rows]), np.array([row["domain"] == "source" for row in rows])


def logistic(x, y, l2, weight=None):
    # l2 ||w||^2 + (1/n) sum a loss is sklearn's 1/2 ||w||^2 + C sum a loss with C = 1 / (2 n l2).
    learner = LogisticRegression(C=1 / (2 * l2 * len(y)), tol=1e-12, max_iter=100_000, solver="newton-cholesky")
    return learner.fit(x, y, weight)


def effective(weight):
    return weight.sum() ** 2 / (weight**2).sum()


def fit(ecotone, path, folder, pipeline):
    model = folder / "model.eco"
    ecotone("fit", path, pipeline, "--label", "label", "--domain", "domain", "--target", "target", "-o", model)
    return model, ecotone.json("inspect", model)["stages"]


def test_weighted_fit_is_that_of_scikit_learn(ecotone, shift, tmp_path):
    model, stages = fit(ecotone, shift, tmp_path, f"weight.logistic l2={L2} | logistic l2={L2} tol=1e-10")
    x, y, source = read(shift)
    score = logistic(x, source.astype(int), L2).decision_function(x[source])
    log_weight = np.log(source.sum() / (~source).sum()) - score
    flat = lambda power: np.exp(power * (log_weight - log_weight.max()))
    wanted = 20 * (x.shape[1] + 1)
    assert effective(flat(1)) < wanted, "the case must be one that is flattened"
    power = brentq(lambda p: effective(flat(p)) - wanted, 0, 1, xtol=1e-14)
    weight = flat(power) / flat(power).mean()
    assert stages[0]["exponent"] == pytest.approx(power, abs=1e-6)
    assert stages[0]["ess_raw"] == pytest.approx(effective(flat(1)), rel=1e-6)
    assert stages[0]["ess"] == pytest.approx(wanted, rel=1e-6)
    assert stages[0]["largest_share"] == pytest.approx(weight.max() / weight.sum(), rel=1e-6)
    learner = logistic(x[source], y[source], L2, weight)
    assert stages[1]["weights"] == pytest.approx(learner.coef_[0], abs=1e-6)
    assert stages[1]["offset"] == pytest.approx(learner.intercept_[0], abs=1e-6)
    out = tmp_path / "out.csv"
    ecotone("predict", model, shift, "-o", out)
    with open(out, newline="") as file:
        found = [float(row["p_1"]) for row in csv.DictReader(file)]
    assert found == pytest.approx(expit(learner.decision_function(x)), abs=1e-6)


@pytest.mark.parametrize("stage", STAGES)
def test_inspect_says_what_the_weights_are_worth(ecotone, shift, tmp_path, stage):
    model, stages = fit(ecotone, shift, tmp_path, f"{stage} per_source=true | logistic l2=0.1")
    text = ecotone("inspect", model).stdout
    for key in ("exponent", "ess_raw", "ess", "largest_share", "auroc"):
        assert f"\n  {key} " in text
        assert 0 <= stages[0][key] <= 300
    assert [source["domain"] for source in stages[0]["sources"]] == ["source"]
    assert "\n    source " in text


def test_inspect_explains_the_joint_learner(ecotone, shift, tmp_path):
    model, stages = fit(ecotone, shift, tmp_path, "adapt.joint")
    lines = ecotone("inspect", model).stdout.split("stage 1: adapt.joint")[1].splitlines()[1:]
    assert lines[0].split() == ["rows", "300", "source", "rows"]
    assert "effective sample size of the weights passed to the learner" in lines[1]
    assert lines[2].startswith("  auroc ")
    entries = [line for line in lines if line.startswith("  ") and not line.startswith("    ")]
    assert {line[16] for line in entries} == {" "} and all(line[17] != " " for line in entries)
    assert stages[0]["ess"] < 300


@pytest.mark.parametrize("stage", [*STAGES, "adapt.joint"])
def test_without_a_target_there_is_nothing_to_weight_to(ecotone, shift, tmp_path, stage):
    pipeline = stage if stage == "adapt.joint" else f"{stage} | logistic l2=0.1"
    message = ecotone.error("fit", shift, pipeline, "--label", "label", "--domain", "domain", "-o", tmp_path / "model.eco", exit=3, code="no_target")
    assert message == f"{stage}: no target domain; name one with --target (fit) or use --protocol adapt (evaluate)"


def test_missing_values_are_named(ecotone, tmp_path):
    path = tmp_path / "holes.csv"
    path.write_text("domain,a,y\n" + "".join(f"{'st'[i % 3 == 0]},{i if i != 7 else ''},{i % 2}\n" for i in range(40)))
    message = ecotone.error("fit", path, "weight.logistic | logistic l2=1", "--label", "y", "--domain", "domain", "--target", "t", "-o", tmp_path / "m.eco", exit=3, code="non_finite")
    assert message == "weight.logistic: column 'a' is not a number in row 8; add impute before it"


def test_bad_words_are_refused_before_data_are_read(ecotone, tmp_path):
    message = ecotone.error("fit", tmp_path / "none.csv", "weight.knn flatten=some", "-o", tmp_path / "m.eco", exit=2, code="bad_option")
    assert message == "weight.knn: flatten must be auto, none or >= 1, got some"
