"""The numbers of `evaluate` and `fit` agree with scikit-learn, which solves the same problem by other means."""

import csv

import numpy as np
import pytest
from conftest import CLINIC_COLUMNS
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score, average_precision_score, balanced_accuracy_score, brier_score_loss, log_loss, roc_auc_score,
)  # fmt: skip
from sklearn.preprocessing import StandardScaler

L2 = 0.01
TOLERANCE = 1e-6
MISSING = {"", "NA", "nan", "?"}


def logistic(rows, solver="newton-cholesky"):
    # l2 ||w||^2 + (1/n) sum loss is sklearn's 1/2 ||w||^2 + C sum loss with C = 1 / (2 n l2).
    return LogisticRegression(C=1 / (2 * L2 * rows), tol=1e-12, max_iter=100_000, solver=solver)


def read_table(path, label, domain, ignore=()):
    """Numbers and one-hot text columns in the order of the file, labels and domains."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    columns = []
    for name in rows[0]:
        if name in (label, domain, *ignore):
            continue
        values = [row[name] for row in rows]
        try:
            columns.append([np.nan if v in MISSING else float(v) for v in values])
        except ValueError:
            for level in sorted(set(values) - MISSING):
                columns.append([float(v == level) for v in values])
    y = np.array([int(row[label]) for row in rows])
    return np.array(columns).T, y, np.array([row[domain] for row in rows])


def calibration_error(truth, probability, bins=15):
    """15 equal-width bins of the top probability, the mean over rows of |accuracy - confidence|."""
    top = probability.max(axis=1)
    right = probability.argmax(axis=1) == truth
    bin_of = np.minimum((top * bins).astype(int), bins - 1)
    return sum(abs(right[bin_of == b].sum() - top[bin_of == b].sum()) for b in range(bins)) / len(truth)


def recalibration(truth, positive):
    """Slope of a logistic regression on the log odds, and intercept of one whose slope is 1."""
    x = logit(np.clip(positive, 1e-15, 1 - 1e-15))
    line = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000, solver="newton-cholesky").fit(x[:, None], truth)
    return line.coef_[0, 0], brentq(lambda a: (truth - expit(a + x)).sum(), -50, 50, xtol=1e-14)


def metrics(truth, probability):
    positive = probability[:, 1]
    slope, intercept = recalibration(truth, positive)
    predicted = (positive >= 0.5).astype(int)
    return {
        "accuracy": accuracy_score(truth, predicted),
        "balanced_accuracy": balanced_accuracy_score(truth, predicted),
        "auroc": roc_auc_score(truth, positive),
        "average_precision": average_precision_score(truth, positive),
        "log_loss": log_loss(truth, np.clip(probability, 1e-15, 1 - 1e-15), labels=[0, 1]),
        "brier": brier_score_loss(truth, positive),
        "brier_sum": float(((probability - np.eye(2)[truth]) ** 2).sum(axis=1).mean()),
        "calibration_error": calibration_error(truth, probability),
        "calibration_slope": slope,
        "calibration_intercept": intercept,
    }


def leave_one_domain_out(x, y, domain):
    """Imputation, scaling and logistic regression learned on the other domains, as metrics per domain."""
    scores = {}
    for held_out in dict.fromkeys(domain):
        train, test = domain != held_out, domain == held_out
        impute = SimpleImputer(keep_empty_features=True).fit(x[train])
        scale = StandardScaler().fit(impute.transform(x[train]))
        learner = logistic(train.sum()).fit(scale.transform(impute.transform(x[train])), y[train])
        # predict_proba's 1 - p has few digits left where p is near 1.
        score = learner.decision_function(scale.transform(impute.transform(x[test])))
        probability = np.column_stack([expit(-score), expit(score)])
        scores[held_out] = metrics(y[test], probability)
    return scores


def tolerance(name):
    """A recalibration adds the error of one fit to that of another."""
    return 20 * TOLERANCE if name in ("calibration_slope", "calibration_intercept") else TOLERANCE


def check_agreement(result, expected):
    assert result["protocol"] == "leave-one-domain-out"
    domains = result["pipelines"][0]["domains"]
    assert [d["domain"] for d in domains] == list(expected)
    for entry in domains:
        ours, theirs = entry["metrics"], expected[entry["domain"]]
        assert set(ours) == set(theirs)
        for name, value in theirs.items():
            assert ours[name] == pytest.approx(value, abs=tolerance(name)), (entry["domain"], name)
    for name in result["metrics"]:
        values = [expected[d][name] for d in expected]
        assert result["pipelines"][0]["mean"][name] == pytest.approx(np.mean(values), abs=tolerance(name))
        assert result["pipelines"][0]["spread"][name] == pytest.approx(np.std(values, ddof=1), abs=tolerance(name))


def test_heart_disease_leave_one_hospital_out(ecotone, data_folder):
    path = data_folder / "heart_disease" / "heart_disease.csv"
    result = ecotone.json(
        "evaluate", path, "--label", "label", "--domain", "domain", "--ignore", "num",
        f"impute | scale | logistic l2={L2}", "--protocol", "leave-one-domain-out",
    )  # fmt: skip
    check_agreement(result, leave_one_domain_out(*read_table(path, "label", "domain", ["num"])))


def test_clinics_leave_one_hospital_out(ecotone, clinics):
    result = ecotone.json("evaluate", clinics, *CLINIC_COLUMNS, f"impute | scale | logistic l2={L2}")
    check_agreement(result, leave_one_domain_out(*read_table(clinics, "disease", "hospital")))


def predicted(ecotone, data, flags, tmp_path):
    """Classes and probabilities of a model that is fitted and applied on one file."""
    model, out = tmp_path / "model.eco", tmp_path / "out.csv"
    ecotone("fit", data, f"scale | logistic l2={L2}", *flags, "-o", model)
    ecotone("predict", model, data, "-o", out)
    with open(out, newline="") as file:
        rows = list(csv.DictReader(file))
    classes = [name[2:] for name in rows[0] if name.startswith("p_")]
    return [r["prediction"] for r in rows], classes, np.array([[float(r["p_" + c]) for c in classes] for r in rows])


def check_softmax(ecotone, path, label, tmp_path, flags):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    inputs = [name for name in rows[0] if name not in (label, "domain")]
    x = np.array([[float(row[name]) for name in inputs] for row in rows])
    y = np.array([row[label] for row in rows])
    x = StandardScaler().fit_transform(x)
    # newton-cholesky is one-versus-rest in some releases; lbfgs is multinomial in all.
    learner = logistic(len(y), "lbfgs").fit(x, y)
    prediction, classes, probability = predicted(ecotone, path, flags, tmp_path)
    assert classes == list(learner.classes_)
    assert np.abs(probability - learner.predict_proba(x)).max() < TOLERANCE
    assert prediction == list(learner.predict(x))


def test_iris_softmax(ecotone, data_folder, tmp_path):
    flags = ("--label", "label", "--domain", "domain")
    check_softmax(ecotone, data_folder / "iris" / "iris.csv", "label", tmp_path, flags)


def test_generated_softmax(ecotone, tmp_path):
    rng = np.random.default_rng(3)
    path = tmp_path / "three.csv"
    centres = {"left": (-1, 0, 0), "middle": (0, 1, 0), "right": (1, 0, 0.5)}
    lines = ["a,b,c,label"]
    for name, centre in centres.items():
        lines += [",".join(map(repr, map(float, row))) + "," + name for row in rng.normal(centre, 1, (80, 3))]
    path.write_text("\n".join(lines) + "\n")
    check_softmax(ecotone, path, "label", tmp_path, ("--label", "label"))
