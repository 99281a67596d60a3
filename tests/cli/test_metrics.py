"""Metrics of `evaluate`: weights, thresholds, intervals, and the list of `methods --metrics`."""

import csv
import re

import numpy as np
import pytest
from conftest import CLINIC_COLUMNS, PIPELINE, ROOT
from sklearn import metrics

OPTION = 2


@pytest.fixture(scope="module")
def weighted(clinics, tmp_path_factory):
    """The clinics with a column of row weights."""
    random = np.random.default_rng(4)
    rows = list(csv.reader(clinics.read_text().splitlines()))
    path = tmp_path_factory.mktemp("weighted") / "weighted.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*rows[0], "counts"])
        writer.writerows([*row, round(float(w), 3)] for row, w in zip(rows[1:], random.exponential(size=len(rows) - 1)))
    return path


def test_weighted_metrics_are_those_of_sklearn(ecotone, weighted, tmp_path):
    saved = tmp_path / "p.csv"
    flags = (weighted, PIPELINE, *CLINIC_COLUMNS, "--weight", "counts", "--save-predictions", saved, "--threshold", "0.4")
    result = ecotone.json("evaluate", *flags, "--resamples", 0)
    data = list(csv.DictReader(weighted.read_text().splitlines()))
    rows = list(csv.DictReader(saved.read_text().splitlines()))
    for domain in result["pipelines"][0]["domains"]:
        own = [row for row in rows if row["domain"] == domain["domain"]]
        y = np.array([int(row["truth"]) for row in own])
        both = np.array([[float(row["p_0"]), float(row["p_1"])] for row in own])
        p = both[:, 1]
        w = np.array([float(data[int(row["row"]) - 1]["counts"]) for row in own])
        predicted = np.array([int(row["prediction"]) for row in own])
        expected = {
            "accuracy": metrics.accuracy_score(y, predicted, sample_weight=w),
            "balanced_accuracy": metrics.balanced_accuracy_score(y, predicted, sample_weight=w),
            "auroc": metrics.roc_auc_score(y, p, sample_weight=w),
            "average_precision": metrics.average_precision_score(y, p, sample_weight=w),
            "log_loss": metrics.log_loss(y, np.clip(both, 1e-15, 1 - 1e-15), sample_weight=w),
            "brier": metrics.brier_score_loss(y, p, sample_weight=w),
            "sensitivity": metrics.recall_score(y, p >= 0.4, sample_weight=w),
            "ppv": metrics.precision_score(y, p >= 0.4, sample_weight=w),
            "f1": metrics.f1_score(y, p >= 0.4, sample_weight=w),
        }
        assert {name: domain["metrics"][name] for name in expected} == pytest.approx(expected, rel=1e-9)
        assert domain["prevalence"]["1"] == pytest.approx(np.average(y, weights=w))


def test_threshold_adds_five_metrics(ecotone, clinics):
    flags = (clinics, PIPELINE, *CLINIC_COLUMNS, "--resamples", 20)
    plain = ecotone.json("evaluate", *flags)
    assert "threshold" not in plain and "sensitivity" not in plain["metrics"]
    chosen = ecotone.json("evaluate", *flags, "--threshold", "sensitivity=0.9")
    assert chosen["metrics"] == [*plain["metrics"], "sensitivity", "specificity", "ppv", "npv", "f1"]
    pipeline = chosen["pipelines"][0]
    thresholds = [split["threshold"] for split in pipeline["thresholds"]]
    assert [split["held_out"] for split in pipeline["thresholds"]] == [d["domain"] for d in pipeline["domains"]]
    assert all(0 < t < 1 for t in thresholds)
    # What was computed before is the same.
    for before, after in zip(plain["pipelines"][0]["domains"], pipeline["domains"]):
        assert after["metrics"].items() >= before["metrics"].items()
        assert after["intervals"].items() >= before["intervals"].items()
    table = ecotone("evaluate", *flags, "--threshold", "sensitivity=0.9").stdout
    assert f"threshold of '1' by sensitivity=0.9" in table
    assert f"{min(thresholds):.4f} to {max(thresholds):.4f}" in table


def test_metric_at_a_threshold_implies_youden(ecotone, clinics):
    flags = (clinics, PIPELINE, *CLINIC_COLUMNS, "--resamples", 0)
    table = ecotone("evaluate", *flags, "--metric", "sensitivity").stdout
    assert table.startswith("sensitivity in each domain")
    assert table == ecotone("evaluate", *flags, "--metric", "sensitivity", "--threshold", "youden").stdout


def test_threshold_errors(ecotone, clinics):
    flags = (clinics, "constant", *CLINIC_COLUMNS)
    assert "got 'best'" in ecotone.error("evaluate", *flags, "--threshold", "best", exit=OPTION, code="bad_option")
    ecotone.error("evaluate", *flags, "--threshold", "1.2", exit=OPTION, code="bad_option")
    numbers = (clinics, "impute | least_squares", "--label", "age", "--domain", "hospital", "--task", "regress")
    message = ecotone.error("evaluate", *numbers, "--metric", "f1", exit=OPTION, code="needs_two_classes")
    assert "two classes" in message
    ecotone.error("evaluate", *flags, "--protocol", "adapt", "--choose", "all", "--threshold", "f1", exit=OPTION, code="idle_flag")
    # No choice is made by a metric without a direction or at a threshold.
    for name in ("calibration_slope", "sensitivity"):
        grid = (clinics, "impute | scale | logistic l2={0.1,1}", *CLINIC_COLUMNS, "--choice-metric", name)
        assert "log_loss" in ecotone.error("evaluate", *grid, exit=OPTION, code="unknown_metric")


def test_intervals_worst_and_prevalence(ecotone, clinics):
    flags = (clinics, PIPELINE, *CLINIC_COLUMNS)
    pipeline = ecotone.json("evaluate", *flags)["pipelines"][0]
    table = ecotone("evaluate", *flags).stdout
    assert "in brackets: the 95% interval" in table
    for domain in pipeline["domains"]:
        interval = domain["intervals"]["auroc"]
        assert interval["low"] <= domain["metrics"]["auroc"] <= interval["high"]
        assert 0.02 < interval["high"] - interval["low"] < 0.4
        line = next(line for line in table.splitlines() if line.startswith(domain["domain"]))
        assert f"[{interval['low']:.3f}, {interval['high']:.3f}]" in line
        assert f" {100 * domain['prevalence']['1']:.1f} " in line
    worst = min(pipeline["domains"], key=lambda domain: domain["metrics"]["auroc"])
    assert pipeline["worst"]["auroc"] == {"value": worst["metrics"]["auroc"], "domain": worst["domain"]}
    assert re.search(rf"^worst +{worst['metrics']['auroc']:.4f}\n  in +{worst['domain']}$", table, re.M)
    assert ecotone("evaluate", *flags, "--threads", 1).stdout == table


def test_intervals_are_seeded(ecotone, clinics):
    flags = (clinics, "constant", *CLINIC_COLUMNS)
    domain = lambda *more: ecotone.json("evaluate", *flags, *more)["pipelines"][0]["domains"][0]
    assert domain("--seed", 1)["intervals"]["log_loss"] != domain("--seed", 2)["intervals"]["log_loss"]
    assert "intervals" not in domain("--resamples", 0)


def test_list_of_metrics(ecotone):
    listed = ecotone.json("methods", "--metrics")["metrics"]
    text = ecotone("methods", "--metrics").stdout
    page = (ROOT / "docs/metrics.md").read_text()
    assert ecotone("methods", "--metrics", "--markdown").stdout == page
    for metric in listed:
        assert {"name", "title", "task", "best", "help", "formula", "two_classes", "at_threshold"} == set(metric)
        assert re.search(rf"^{metric['name']} \({metric['task']}, ", text, re.M)
        assert f"| `{metric['name']}` |" in page
    ecotone.error("methods", "logistic", "--metrics", exit=OPTION, code="usage")


def test_every_metric_of_an_evaluation_is_listed(ecotone, clinics):
    listed = [metric["name"] for metric in ecotone.json("methods", "--metrics")["metrics"]]
    result = ecotone.json("evaluate", clinics, "constant", *CLINIC_COLUMNS, "--threshold", "0.5", "--resamples", 0)
    assert [name for name in listed if name in result["metrics"]] == result["metrics"]
    others = ["set_coverage", "set_size", "rmse", "mae", "r2", "interval_coverage", "interval_width"]
    assert [name for name in listed if name not in result["metrics"]] == others
