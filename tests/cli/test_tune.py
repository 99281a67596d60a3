"""`ecotone tune`: the table, JSON, the model, random search, errors, equal bytes."""

import math
from statistics import mean, stdev

import pytest

from conftest import CLINIC_COLUMNS, SMALL_COLUMNS
from test_usage import table

GRID = "impute | scale | logistic l2={1,0.1,0.01}"


def test_scores_are_those_of_evaluate(ecotone, clinics):
    exact = GRID + " tol=1e-10"
    out = ecotone.results("tune", clinics, exact, *CLINIC_COLUMNS, "--metric", "log_loss")
    assert out["search"] == "grid" and out["metric"] == "log_loss" and out["held_out"] == "domains"
    texts = [point["pipeline"] for point in out["points"]]
    assert texts == [f"impute | scale | logistic l2={l2} tol=1e-10" for l2 in ("1", "0.1", "0.01")]
    single = ecotone.json("evaluate", clinics, *texts, *CLINIC_COLUMNS)
    assert out["folds"] == [d["domain"] for d in single["pipelines"][0]["domains"]]
    for point, pipeline in zip(out["points"], single["pipelines"]):
        assert point["mean"] == pytest.approx(pipeline["mean"]["log_loss"], abs=1e-8)
        assert point["spread"] == pytest.approx(pipeline["spread"]["log_loss"], abs=1e-8)
    best = min(range(3), key=lambda i: out["points"][i]["score"])
    assert out["best"] == best and out["pipeline"] == texts[out["chosen"]]
    assert out["points"][best]["difference"] == {"mean": 0, "se": 0}
    assert out == ecotone.results("tune", clinics, exact, *CLINIC_COLUMNS)  # the metric is the default


def test_choice_is_the_simplest_within_one_standard_error(ecotone, clinics):
    out = ecotone.json("tune", clinics, "impute | scale | logistic l2={0.001,0.01,0.1,1}", *CLINIC_COLUMNS)
    # A fold counts against a pipeline at most as much as another one can count for it.
    folds = [[min(pair) for pair in zip(point["folds"], out["bound"])] for point in out["points"]]
    best = min(folds, key=mean)
    near = []
    for i, values in enumerate(folds):
        differences = [a - b for a, b in zip(values, best)]
        if abs(mean(differences)) <= stdev(differences) / len(differences) ** 0.5:
            near.append(i)
    assert out["chosen"] == max(near)  # the grid lists small penalties first
    constant = ecotone.json("evaluate", clinics, "constant", *CLINIC_COLUMNS)["pipelines"][0]["domains"]
    losses = [domain["metrics"]["log_loss"] for domain in constant]
    gain = max(loss - point["folds"][i] for i, loss in enumerate(losses) for point in out["points"])
    assert out["bound"] == pytest.approx([loss + gain for loss in losses])


@pytest.mark.parametrize("seed", [0, 1])
def test_the_documented_example_predicts_both_classes(ecotone, tmp_path, seed):
    data, grid = tmp_path / "clinics.csv", "impute | scale | logistic l2={0.001,0.01,0.1,1}"
    ecotone("generate", "clinics", "--seed", seed, "-o", data)
    out = ecotone.json("tune", data, grid, *CLINIC_COLUMNS, "-o", tmp_path / "m.eco")
    assert "one_class_predicted" not in [warning["code"] for warning in out["warnings"]]
    answers = table(ecotone("predict", tmp_path / "m.eco", data).stdout)
    assert {row["prediction"] for row in answers} == {"0", "1"}


def test_warns_of_a_model_with_one_answer(ecotone, clinics, tmp_path):
    out = ("-o", tmp_path / "m.eco")
    tuned = ecotone.json("tune", clinics, "impute | scale | logistic l2={1}", *CLINIC_COLUMNS, *out)
    fitted = ecotone.json("fit", clinics, "impute | scale | logistic l2=1", *CLINIC_COLUMNS, *out)
    for document in (tuned, fitted):
        assert "one_class_predicted" in [warning["code"] for warning in document["warnings"]]
    assert "warnings" not in ecotone.json("fit", clinics, "constant", *CLINIC_COLUMNS, *out)


def test_warns_at_the_edge_of_the_grid(ecotone, clinics):
    command = ("tune", clinics, "impute | scale | logistic l2={10,100}", *CLINIC_COLUMNS)
    messages = [w["message"] for w in ecotone.json(*command)["warnings"] if w["code"] == "edge_of_grid"]
    assert messages == ["tune: the choice logistic l2=10 is the smallest value tried; try l2={1,0.1} as well"]


def log_loss(rows, truth):
    return -mean(math.log(min(max(float(row[f"p_{y}"]), 1e-15), 1 - 1e-15)) for row, y in zip(rows, truth))


@pytest.mark.parametrize("protocol", ["leave-one-domain-out", "adapt"])
def test_evaluate_of_a_grid_is_an_outer_loop_over_tune(ecotone, clinics, tmp_path, protocol):
    grid = "impute | scale | logistic l2={0.001,0.01,0.1,1}"
    nested = ecotone.json("evaluate", clinics, "constant", grid, *CLINIC_COLUMNS, "--protocol", protocol)
    assert nested["choice_metric"] == "log_loss" and "chosen" not in nested["pipelines"][0]
    scored = nested["pipelines"][1]
    assert scored["pipeline"] == grid
    for domain, choice in zip(scored["domains"], scored["chosen"], strict=True):
        name = domain["domain"]
        rows = ("--target", name) if protocol == "adapt" else ("--where", f"hospital!={name}")
        model = tmp_path / "m.eco"
        out = ecotone.json("tune", clinics, grid, *CLINIC_COLUMNS, *rows, "-o", model)
        assert (choice["held_out"], choice["pipeline"]) == (name, out["pipeline"])
        assert choice["mean"] == pytest.approx(out["points"][out["chosen"]]["mean"], abs=1e-9)
        answers = table(ecotone("predict", model, clinics, "--where", f"hospital={name}").stdout)
        truth = [row["disease"] for row in table(clinics.read_text()) if row["hospital"] == name]
        assert len(answers) == len(truth) == domain["rows"]
        right = mean(row["prediction"] == y for row, y in zip(answers, truth))
        assert domain["metrics"]["accuracy"] == pytest.approx(right, abs=1e-12)
        assert domain["metrics"]["log_loss"] == pytest.approx(log_loss(answers, truth), abs=1e-9)


def test_evaluate_takes_grids_under_every_protocol(ecotone, small):
    for protocol, splits in (("k-fold", 5), ("domain-split", 10), ("adapt", 3)):
        command = ("evaluate", small, "scale | logistic l2={0.1,1}", *SMALL_COLUMNS, "--protocol", protocol)
        scored = ecotone.json(*command)["pipelines"][0]
        assert len(scored["chosen"]) == splits
        assert {choice["pipeline"] for choice in scored["chosen"]} <= {f"scale | logistic l2={l2}" for l2 in ("0.1", "1")}
    text = ecotone(*command).stdout
    assert "chosen within the training rows of each split, by log loss" in text
    by_accuracy = ecotone.json(*command, "--choice-metric", "accuracy")
    assert by_accuracy["choice_metric"] == "accuracy"
    ecotone.error("evaluate", small, "constant", *SMALL_COLUMNS, "--choice-metric", "accuracy", exit=2, code="idle_flag")
    ecotone.error(*command, "--choice-metric", "rmse", exit=2, code="unknown_metric")
    ecotone.error("evaluate", small, "logistic l2={1..2}", *SMALL_COLUMNS, exit=2, code="range_in_grid")


def test_writes_the_chosen_model(ecotone, clinics, tmp_path):
    out = ecotone.json("tune", clinics, GRID, *CLINIC_COLUMNS, "-o", tmp_path / "tuned.eco")
    ecotone("fit", clinics, out["pipeline"], *CLINIC_COLUMNS, "-o", tmp_path / "fitted.eco")
    assert (tmp_path / "tuned.eco").read_bytes() == (tmp_path / "fitted.eco").read_bytes()


def test_targets_are_not_scored(ecotone, small):
    out = ecotone.json("tune", small, "logistic l2={1,0.1}", *SMALL_COLUMNS, "--target", "b")
    assert out["folds"] == ["a", "c"]


def test_held_out_domains_play_the_target(ecotone, small):
    pipeline = "scale | weight.logistic flatten={auto,none} | logistic l2=0.1"
    out = ecotone.json("tune", small, pipeline, *SMALL_COLUMNS, "--metric", "log_loss")
    adapt = ecotone.json("evaluate", small, *(p["pipeline"] for p in out["points"]), *SMALL_COLUMNS, "--protocol", "adapt")
    for point, scored in zip(out["points"], adapt["pipelines"]):
        assert point["mean"] == pytest.approx(scored["mean"]["log_loss"], abs=1e-7)
    assert any("serves as the target" in note for note in out["notes"])


def test_text_marks_the_chosen_point(ecotone, small):
    text = ecotone("tune", small, "constant", "logistic l2={1,0.1}", *SMALL_COLUMNS).stdout
    marked = [line for line in text.splitlines() if line.startswith("*")]
    chosen = next(line for line in text.splitlines() if line.startswith("chosen"))
    assert len(marked) == 1 and chosen.split(maxsplit=1)[1] in marked[0]


def test_one_domain_holds_rows_out_and_says_so(ecotone, small):
    out = ecotone.json("tune", small, "logistic l2={1,0.1}", "--label", "y", "--ignore", "site")
    assert out["held_out"] == "rows"
    assert "folds_of_rows" in [w["code"] for w in out["warnings"]]


def test_random_search(ecotone, small):
    command = ("tune", small, "logistic l2={1e-4..1}", *SMALL_COLUMNS, "--search", "random", "--draws", 5)
    out = ecotone.json(*command)
    assert len(out["points"]) == 5 and out["search"] == "random"
    assert ecotone(*command, "--json").stdout == ecotone(*command, "--json", "--threads", 1).stdout
    assert out["points"] != ecotone.json(*command, "--seed", 1)["points"]


def test_errors(ecotone, small):
    columns = SMALL_COLUMNS
    assert "position 10" in ecotone.error("tune", small, "logistic l2={1..2}", *columns, exit=2, code="range_in_grid")
    ecotone.error("tune", small, "logistic l2={1,2", *columns, exit=2, code="bad_pipeline")
    ecotone.error("tune", small, "scale", *columns, exit=2, code="no_learner")
    ecotone.error("tune", small, "logistic", *columns, "--metric", "rmse", exit=2, code="unknown_metric")
    ecotone.error("tune", small, "logistic", *columns, "--search", "gird", exit=2, code="bad_option")
    ecotone.error("tune", small, "logistic", *columns, "--draws", 3, exit=2, code="idle_flag")
    ecotone.error("tune", small, *columns, exit=2, code="no_pipeline")
    assert "only with tune and evaluate" in ecotone.error(
        "fit", small, "logistic l2={1,2}", *columns, "-o", "x.eco", exit=2, code="unexpected_grid"
    )
