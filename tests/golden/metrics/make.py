"""Writes cases.json: metrics with row weights by scikit-learn (build/venv/bin/python make.py).

The calibration error and the intercept with a slope of 1, which scikit-learn does not have, are by their definitions.
"""

import json
import pathlib

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn import metrics
from sklearn.linear_model import LogisticRegression


def calibration_error(y, predicted, probability, weight):
    top = probability.max(axis=1)
    bins = np.minimum((top * 15).astype(int), 14)
    gaps = [abs(np.sum(weight[bins == b] * ((predicted == y)[bins == b] - top[bins == b]))) for b in range(15)]
    return sum(gaps) / weight.sum()


def two_classes(y, probability, weight, threshold):
    """What is defined for two classes only."""
    p = np.clip(probability[:, 1], 1e-15, 1 - 1e-15)
    line = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10000, solver="newton-cholesky")
    line.fit(logit(p)[:, None], y, sample_weight=weight)
    above = (probability[:, 1] >= threshold).astype(int)
    return {
        "auroc": metrics.roc_auc_score(y, probability[:, 1], sample_weight=weight),
        "average_precision": metrics.average_precision_score(y, probability[:, 1], sample_weight=weight),
        "brier": metrics.brier_score_loss(y, probability[:, 1], sample_weight=weight),
        "calibration_slope": line.coef_[0, 0],
        "calibration_intercept": brentq(lambda a: np.sum(weight * (y - expit(a + logit(p)))), -50, 50, xtol=1e-14),
        "sensitivity": metrics.recall_score(y, above, sample_weight=weight),
        "specificity": metrics.recall_score(y, above, pos_label=0, sample_weight=weight),
        "ppv": metrics.precision_score(y, above, sample_weight=weight),
        "npv": metrics.precision_score(y, above, pos_label=0, sample_weight=weight),
        "f1": metrics.f1_score(y, above, sample_weight=weight),
    }


def several_classes(y, probability, weight):
    indicator = np.eye(probability.shape[1])[y]
    return {
        "auroc": metrics.roc_auc_score(y, probability, multi_class="ovr", average="macro", sample_weight=weight),
        "average_precision": metrics.average_precision_score(indicator, probability, sample_weight=weight),
        "brier": np.average(((probability - indicator) ** 2).sum(axis=1), weights=weight),
    }


def classes(name, random, rows, count, decimals, weight):
    """Probabilities are rounded, so that many are tied."""
    y = random.integers(count, size=rows)
    y[:count] = np.arange(count)
    probability = random.random((rows, count)) + 0.4 * np.eye(count)[y]
    probability = np.round(probability / probability.sum(axis=1, keepdims=True), decimals)
    probability[:, 0] = 1 - probability[:, 1:].sum(axis=1)
    predicted = probability.argmax(axis=1)
    threshold = 0.4
    expect = two_classes(y, probability, weight, threshold) if count == 2 else several_classes(y, probability, weight)
    expect |= {
        "accuracy": metrics.accuracy_score(y, predicted, sample_weight=weight),
        "balanced_accuracy": metrics.balanced_accuracy_score(y, predicted, sample_weight=weight),
        "log_loss": metrics.log_loss(y, probability, sample_weight=weight, labels=list(range(count))),
        "calibration_error": calibration_error(y, predicted, probability, weight),
    }
    return {
        "name": name, "task": "classify", "truth": y.tolist(), "predicted": predicted.tolist(), "threshold": threshold,
        "probability": probability.tolist(), "weight": weight.tolist(), "expect": {k: float(v) for k, v in expect.items()},
    }


def numbers(name, random, rows, weight):
    y = 5 + random.normal(size=rows)
    value = y + 0.5 * random.normal(size=rows)
    expect = {
        "rmse": metrics.root_mean_squared_error(y, value, sample_weight=weight),
        "mae": metrics.mean_absolute_error(y, value, sample_weight=weight),
        "r2": metrics.r2_score(y, value, sample_weight=weight),
    }
    return {
        "name": name, "task": "regress", "truth": y.tolist(), "value": value.tolist(), "weight": weight.tolist(),
        "expect": {k: float(v) for k, v in expect.items()},
    }


def main():
    random = np.random.default_rng(18)
    cases = [
        classes("two classes, ties, real weights", random, 60, 2, 1, random.exponential(size=60)),
        classes("two classes, few ties, whole weights", random, 45, 2, 3, random.integers(1, 5, size=45).astype(float)),
        classes("two classes, equal weights", random, 40, 2, 1, np.ones(40)),
        classes("two classes, most weight on a few rows", random, 50, 2, 2, np.exp(3 * random.normal(size=50))),
        classes("three classes, ties, real weights", random, 60, 3, 1, random.exponential(size=60)),
        classes("five classes, whole weights", random, 80, 5, 2, random.integers(1, 4, size=80).astype(float)),
        numbers("numbers, real weights", random, 30, random.exponential(size=30)),
        numbers("numbers, equal weights", random, 20, np.ones(20)),
    ]
    text = json.dumps(cases, indent=None, separators=(",", ":")).replace('},{"name"', '},\n{"name"')
    pathlib.Path(__file__).with_name("cases.json").write_text(text + "\n")


main()
