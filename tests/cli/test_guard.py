"""`fit --guard`: adaptation only where it is estimated to gain more than the noise."""

import json

import pytest
from conftest import CLINIC_COLUMNS

WEIGHTED = "weight.logistic flatten=none | logistic l2=0.001"


@pytest.fixture(scope="module")
def problems(ecotone, tmp_path_factory):
    """misspecified: weighting gains; noshift: there is nothing to gain."""
    folder = tmp_path_factory.mktemp("problems")
    for name in ("misspecified", "noshift"):
        ecotone("generate", name, "--seed", 1, "-o", folder / f"{name}.csv")
    return folder


COLUMNS = ("--label", "label", "--domain", "domain", "--where", "domain!=test")
TARGET = (*COLUMNS, "--target", "target")


def test_an_adaptation_that_gains_is_used(ecotone, problems, tmp_path):
    data, model = problems / "misspecified.csv", tmp_path / "model.eco"
    found = ecotone.json("fit", data, WEIGHTED, *TARGET, "--guard", "-o", model)
    guard = found["guard"]
    assert guard["chosen"] == "adapted"
    assert guard["scorer"] == "importance" and guard["loss"] == "log_loss"
    assert guard["gain"] == pytest.approx(guard["estimate_plain"] - guard["estimate_adapted"])
    assert guard["gain"] > guard["standard_error"] > 0
    assert found["pipeline"] == guard["adapted"] == WEIGHTED
    assert guard["plain"] == "logistic l2=0.001"
    assert ecotone.json("inspect", model)["guard"] == guard
    line = f"adapted, estimated log loss {guard['estimate_adapted']:.3g} against {guard['estimate_plain']:.3g} plain"
    assert line in ecotone("inspect", model).stdout
    assert line in ecotone("fit", data, WEIGHTED, *TARGET, "--guard", "-o", model).stdout


def test_one_that_does_not_is_declined_and_the_plain_model_remains(ecotone, problems, tmp_path):
    data, model, plain = problems / "noshift.csv", tmp_path / "model.eco", tmp_path / "plain.eco"
    found = ecotone.json("fit", data, WEIGHTED, *TARGET, "--guard", "-o", model)
    guard = found["guard"]
    assert guard["chosen"] == "plain"
    assert guard["gain"] <= 1.28 * guard["standard_error"] and guard["decided_by"] == "within_error"
    assert guard["overlap"]["auroc"] < 0.6 and guard["overlap"]["rows"] == 300
    assert found["pipeline"] == "logistic l2=0.001"
    shown = ecotone("inspect", model).stdout
    assert "guard     plain, estimated log loss" in shown and f"declined  {WEIGHTED}" in shown
    ecotone("fit", data, "logistic l2=0.001", *TARGET, "-o", plain)
    said = lambda path: ecotone("predict", path, data).stdout
    assert said(model) == said(plain)


def test_where_nothing_overlaps_the_plain_model_is_fitted_without_estimates(ecotone, tmp_path):
    data, model = tmp_path / "far.csv", tmp_path / "model.eco"
    ecotone("generate", "target_shift", "--set", "overlap=false", "--seed", 1, "-o", data)
    guard = ecotone.json("fit", data, WEIGHTED, *TARGET, "--guard", "-o", model)["guard"]
    assert guard["chosen"] == "plain" and guard["decided_by"] == "no_overlap"
    assert guard["overlap"]["auroc"] > 0.99 and guard["overlap"]["ess_raw"] < 3
    assert guard["estimate_plain"] is None and guard["gain"] is None
    assert "guard     plain, because source and target do not overlap" in ecotone("inspect", model).stdout
    two = ("--where", "domain!=test", "--protocol", "adapt", "--choose", "auto")
    pipelines = ("logistic l2=0.001", WEIGHTED)
    out = ecotone.json("evaluate", data, *pipelines, "--label", "label", "--domain", "domain", *two)
    for target in out["scorers"][0]["targets"]:
        assert target["chosen"] == 0 and target["decided_by"] == "no_overlap"
        assert target["overlap"]["auroc"] > 0.99
    text = ecotone("evaluate", data, *pipelines, "--label", "label", "--domain", "domain", *two).stdout
    assert "decided by" in text and "no_overlap" in text


def test_equal_bytes_for_any_number_of_threads(ecotone, problems, tmp_path):
    data = problems / "misspecified.csv"
    made = []
    for threads in (1, 2, 7):
        path = tmp_path / f"{threads}.eco"
        ecotone("fit", data, WEIGHTED, *TARGET, "--guard", "--threads", threads, "-o", path)
        made.append(path.read_bytes())
    assert made[0] == made[1] == made[2]


def test_the_joint_learner_has_the_logistic_one_as_its_counterpart(ecotone, problems, tmp_path):
    data = problems / "misspecified.csv"
    found = ecotone.json("fit", data, "adapt.joint l2=0.02 offset=true", *TARGET, "--guard", "-o", tmp_path / "model.eco")
    assert found["guard"]["plain"].startswith("logistic l2=0.02")
    assert found["guard"]["adapted"].startswith("adapt.joint l2=0.02")
    assert found["guard"]["chosen"] == "adapted"


def test_scaling_by_domain_is_compared_with_scaling(ecotone, problems, tmp_path):
    data, model = problems / "noshift.csv", tmp_path / "model.eco"
    guard = ecotone.json("fit", data, "scale by=domain | logistic l2=0.1", *TARGET, "--guard", "-o", model)["guard"]
    assert guard["plain"] == "scale | logistic l2=0.1"


@pytest.mark.parametrize("stage", ["align", "rank"])
def test_stages_that_match_domains_are_compared_with_none(ecotone, problems, tmp_path, stage):
    data, model = problems / "noshift.csv", tmp_path / "model.eco"
    guard = ecotone.json("fit", data, f"scale | {stage} | logistic l2=0.1", *TARGET, "--guard", "-o", model)["guard"]
    assert guard["adapted"] == f"scale | {stage} | logistic l2=0.1"
    assert guard["plain"] == "scale | logistic l2=0.1"


def test_missing_values_and_categories_are_handled(ecotone, clinics, tmp_path):
    pipeline = "impute | scale | weight.logistic | logistic l2=0.01"
    args = (clinics, pipeline, *CLINIC_COLUMNS, "--target", "Dunmere", "--guard")
    guard = ecotone.json("fit", *args, "-o", tmp_path / "model.eco")["guard"]
    assert guard["scorer"] == "transfer"  # seven source hospitals
    assert "importance_gain" in guard  # what rows like the target's say, beside them
    assert guard["plain"] == "impute | scale | logistic l2=0.01"


def test_errors(ecotone, problems, tmp_path):
    data, out = problems / "noshift.csv", ("-o", tmp_path / "model.eco")
    message = ecotone.error(
        "fit", data, "logistic l2=0.1", *TARGET, "--guard", *out, exit=2, code="nothing_to_guard"
    )
    assert "no stage that adapts to a target or matches domains" in message
    message = ecotone.error(
        "fit", data, "weight.balance | logistic", *TARGET, "--guard", *out, exit=2, code="nothing_to_guard"
    )
    message = ecotone.error("fit", data, WEIGHTED, *COLUMNS, "--guard", *out, exit=3, code="no_target")
    assert "--target" in message
    assert not (tmp_path / "model.eco").exists()


def test_a_note_that_is_no_decision_is_refused(ecotone, problems, tmp_path):
    data, model = problems / "noshift.csv", tmp_path / "model.eco"
    ecotone("fit", data, WEIGHTED, *TARGET, "--guard", "-o", model)
    raw = model.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    note = json.loads(header["__metadata__"]["notes"])
    note["guard"]["chosen"] = "\x1b[2J"
    header["__metadata__"]["notes"] = json.dumps(note)
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)
    bad = tmp_path / "bad.eco"
    bad.write_bytes(len(text).to_bytes(8, "little") + text + raw[8 + size :])
    assert "note 'guard'" in ecotone.error("inspect", bad, exit=4, code="bad_model")
