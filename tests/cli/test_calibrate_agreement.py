"""What `calibrate` learns agrees with scikit-learn on the same out-of-fold decision values."""

import csv

import numpy as np
import pytest
from conftest import CLINIC_COLUMNS
from scipy.special import expit
from sklearn.impute import SimpleImputer
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from test_sklearn_agreement import L2, logistic, read_table


def fitted_scores(x, y, at):
    """Decision values of rows `at` by imputation, scaling and logistic regression of rows x, y."""
    impute = SimpleImputer(keep_empty_features=True).fit(x)
    scale = StandardScaler().fit(impute.transform(x))
    learner = logistic(len(y)).fit(scale.transform(impute.transform(x)), y)
    return learner.decision_function(scale.transform(impute.transform(at)))


def out_of_fold(x, y, domain):
    scores = np.empty(len(y))
    for held_out in dict.fromkeys(domain):
        train = domain != held_out
        scores[~train] = fitted_scores(x[train], y[train], x[~train])
    return scores


def platt(scores, y):
    """Platt's smoothed targets as weighted copies of the rows, solved by logistic regression without a penalty."""
    high, low = (y.sum() + 1) / (y.sum() + 2), 1 / ((y == 0).sum() + 2)
    target = np.where(y == 1, high, low)
    learner = LogisticRegression(C=np.inf, tol=1e-12, max_iter=100_000, solver="newton-cholesky")
    learner.fit(np.tile(scores, 2)[:, None], np.repeat([1, 0], len(y)), np.concatenate([target, 1 - target]))
    return learner.coef_[0, 0], learner.intercept_[0]


def calibrated(ecotone, clinics, tmp_path, stage):
    """The fitted stage as `inspect` shows it, and the predicted probabilities of the second class."""
    model, out = tmp_path / "model.eco", tmp_path / "out.csv"
    ecotone("fit", clinics, *CLINIC_COLUMNS, f"impute | scale | logistic l2={L2} | {stage}", "-o", model)
    ecotone("predict", model, clinics, "-o", out)
    with open(out, newline="") as file:
        rows = list(csv.DictReader(file))
    result = ecotone.json("inspect", model)["stages"][-1]
    return result, np.array([float(r["p_1"]) for r in rows]), np.array([r["prediction"] for r in rows])


def test_platt(ecotone, clinics, tmp_path):
    x, y, domain = read_table(clinics, "disease", "hospital")
    slope, intercept = platt(out_of_fold(x, y, domain), y)
    stage, probability, _ = calibrated(ecotone, clinics, tmp_path, "calibrate")
    assert stage["slope"] == pytest.approx(slope, rel=1e-5)
    assert stage["intercept"] == pytest.approx(intercept, rel=1e-5)
    assert stage["folds"] == len(set(domain))
    assert stage["folds_of"] == "domains"
    assert np.abs(probability - expit(slope * fitted_scores(x, y, x) + intercept)).max() < 1e-6


def test_isotonic(ecotone, clinics, tmp_path):
    x, y, domain = read_table(clinics, "disease", "hospital")
    scores = out_of_fold(x, y, domain)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(scores, y)
    stage, probability, _ = calibrated(ecotone, clinics, tmp_path, "calibrate method=isotonic")
    assert stage["knots"] == pytest.approx(theirs.X_thresholds_, abs=1e-6)
    assert stage["knot_probability"] == pytest.approx(theirs.y_thresholds_, abs=1e-9)
    # Between knots that nearly touch, a difference of scores in the tenth digit shows.
    difference = np.abs(probability - theirs.predict(fitted_scores(x, y, x)))
    assert np.median(difference) < 1e-7
    assert difference.max() < 1e-3


def test_threshold_moves_the_prediction(ecotone, clinics, tmp_path):
    stage, probability, prediction = calibrated(ecotone, clinics, tmp_path, "calibrate threshold=f1")
    assert 0 < stage["threshold"] < 0.5
    assert list(prediction) == ["1" if p >= stage["threshold"] else "0" for p in probability]
