"""`ecotone tune`: the table, JSON, the model, random search, errors, equal bytes."""

import pytest

from conftest import CLINIC_COLUMNS, SMALL_COLUMNS

GRID = "impute | scale | logistic l2={1,0.1,0.01}"


def test_scores_are_those_of_evaluate(ecotone, clinics):
    out = ecotone.json("tune", clinics, GRID, *CLINIC_COLUMNS, "--metric", "log_loss")
    assert out["search"] == "grid" and out["metric"] == "log_loss" and out["held_out"] == "domains"
    texts = [point["pipeline"] for point in out["points"]]
    assert texts == [f"impute | scale | logistic l2={l2}" for l2 in ("1", "0.1", "0.01")]
    single = ecotone.json("evaluate", clinics, *texts, *CLINIC_COLUMNS)
    assert out["folds"] == [d["domain"] for d in single["pipelines"][0]["domains"]]
    for point, pipeline in zip(out["points"], single["pipelines"]):
        assert point["mean"] == pytest.approx(pipeline["mean"]["log_loss"], abs=1e-8)
        assert point["spread"] == pytest.approx(pipeline["spread"]["log_loss"], abs=1e-8)
    best = min(range(3), key=lambda i: out["points"][i]["mean"])
    assert out["chosen"] == best and out["pipeline"] == texts[best]
    assert out["points"][best]["difference"] == {"mean": 0, "sd": 0}


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
    assert [w["code"] for w in out["warnings"]] == ["folds_of_rows"]


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
    assert "tune or evaluate --choose" in ecotone.error(
        "fit", small, "logistic l2={1,2}", *columns, "-o", "x.eco", exit=2, code="unexpected_grid"
    )
