"""The stage step and the learner ridge through the program: select, evaluate, inspect, moments, bad input by name."""

import json

import pytest

from conftest import CLINIC_COLUMNS, ROOT

GOLDEN = ROOT / "tests" / "golden" / "tgreedy"


def test_step_is_what_select_takes_unasked(ecotone, clinics):
    done = ecotone("select", clinics, *CLINIC_COLUMNS)
    assert 'no pipeline given; using "impute | step"' in done.stderr
    for word in ("gain", "loss", "held-out loss", "source AUROC", "held-out AUROC", "feature", "chosen", "empty"):
        assert word in done.stdout
    found = ecotone.json("select", clinics, *CLINIC_COLUMNS)
    assert found["pipeline"] == "impute | step"
    assert any("no pipeline given" in note for note in found["notes"])
    steps = len(found["indices"])
    assert steps > 0
    for key in ("selected", "gain", "loss", "domain_loss", "weights", "offset", "auroc", "held_out_auroc", "held_out_loss"):
        assert len(found[key]) == steps, key
    assert all(gain > 0 for gain in found["gain"])
    table = found["lodo"]
    best = table["candidates"][table["best"]]
    assert (best["lam"], best["size"]) == (found["lam"], steps)
    assert table["criterion"] == "log_loss"
    assert not found["kept_empty"] and table["beats_empty"]
    # The best log loss needs at least as many features as the fewest within one standard error of it.
    first = ecotone.json("select", clinics, "impute | step rule=best", *CLINIC_COLUMNS)
    assert len(first["indices"]) >= steps
    values = [each["value"] for each in first["lodo"]["candidates"]]
    assert values == [each["value"] for each in table["candidates"]] and values[first["lodo"]["best"]] == min(values)
    # What the table of candidates says of the best is what the steps say.
    area = ecotone.json("select", clinics, "impute | step score=auroc rule=best", *CLINIC_COLUMNS)
    best = area["lodo"]["candidates"][area["lodo"]["best"]]
    assert best["value"] == max(each["value"] for each in area["lodo"]["candidates"])
    assert area["held_out_auroc"][-1] == pytest.approx(best["value"], abs=1e-9)


def test_step_from_moments(ecotone, clinics, tmp_path):
    data = GOLDEN / "g8_modes.csv"
    flags = ("--label", "y", "--domain", "domain", "--task", "regress")
    ecotone("moments", data, *flags, "-o", tmp_path / "m.eco")
    alone = ecotone("select", tmp_path / "m.eco")
    assert 'using "step"' in alone.stderr
    # Numbers are judged by the squared error, which moments know; so rows and moments agree.
    rows = ecotone.json("select", data, "step size=3", *flags)
    moments = ecotone.json("select", tmp_path / "m.eco", "step size=3")
    assert moments["indices"] == rows["indices"]
    assert moments["lam"] == rows["lam"]
    assert moments["auroc"] is None
    for a, b in zip(moments["held_out_loss"], rows["held_out_loss"]):
        assert a == pytest.approx(b, rel=1e-9)


def test_no_penalty_is_orthogonal_greedy(ecotone):
    data = GOLDEN / "g1_basic.csv"
    flags = ("--label", "y", "--domain", "domain", "--task", "regress")
    step = ecotone.json("select", data, "step size=4 lam=0", *flags)
    greedy = ecotone.json("select", data, "greedy steps=4 mode=ortho intercept=true", *flags)
    assert step["indices"] == greedy["indices"]
    assert step["lodo"] is None
    for a, b in zip(step["loss"], greedy["loss"]):
        assert a == pytest.approx(b, rel=1e-9)
    for a, b in zip(step["held_out_loss"], greedy["held_out_loss"]):
        assert a == pytest.approx(b, rel=1e-9)


def test_evaluate_prints_ridge_beside_the_published_rules(ecotone, clinics):
    pipelines = ("impute | scale | ridge", "impute | scale | greedy", "impute | scale | tgreedy", "impute | scale | step")
    text = ecotone("evaluate", clinics, *pipelines, *CLINIC_COLUMNS).stdout
    for pipeline in pipelines:
        assert pipeline in text
    found = ecotone.json("evaluate", clinics, *pipelines, *CLINIC_COLUMNS)
    area = {each["pipeline"]: each["mean"]["auroc"] for each in found["pipelines"]}
    assert all(area[pipeline] > 0.6 for pipeline in pipelines), area


def test_inspect_shows_the_choice(ecotone, clinics, tmp_path):
    for learner, candidates in (("ridge", 9), ("ridge penalty=auto", 25)):
        ecotone("fit", clinics, f"impute | scale | {learner}", *CLINIC_COLUMNS, "-o", tmp_path / "model.eco")
        stage = ecotone.json("inspect", tmp_path / "model.eco")["stages"][-1]
        assert len(stage["lodo_value"]) == candidates
        assert stage["lodo"]["criterion"] == "log_loss"
        assert stage["lodo"]["folds"] == 8
        assert stage["lam"] == stage["lodo_lam"][stage["lodo"]["best"]]


def test_select_and_fit_choose_the_same_behind_other_stages(ecotone, clinics, tmp_path):
    for selector in ("step", "greedy stop=lodo intercept=true", "tgreedy steps=5 stop=lodo intercept=true"):
        pipeline = f"impute | greedy steps=8 intercept=true | {selector}"
        found = ecotone.json("select", clinics, pipeline, *CLINIC_COLUMNS)
        ecotone("fit", clinics, pipeline, *CLINIC_COLUMNS, "-o", tmp_path / "model.eco")
        stage = ecotone.json("inspect", tmp_path / "model.eco")["stages"][-1]
        assert found["indices"] == stage["indices"], selector
        assert len(found["held_out_auroc"]) == len(found["held_out_loss"]) == len(found["indices"]) > 0
        assert all(0.5 < area < 1 for area in found["held_out_auroc"]), selector


def test_bad_input_by_name(ecotone, tmp_path):
    rows = (GOLDEN / "g1_basic.csv").read_text().splitlines()
    at = rows[0].split(",").index("domain")
    names = sorted({row.split(",")[at] for row in rows[1:]})
    few = tmp_path / "few.csv"
    few.write_text("\n".join([rows[0], *[row for row in rows[1:] if row.split(",")[at] in names[:3]]]) + "\n")
    common = ("--label", "y", "--domain", "domain")
    for learner in ("step", "ridge"):
        message = ecotone.error("fit", few, f"{learner} penalty=variance", *common, "-o", tmp_path / "m", exit=3, code="needs_five_domains")
        assert "penalty=ridge" in message
    ecotone.error("select", few, "step lam=-1", *common, exit=2, code="bad_option")
    ecotone.error("select", few, "step size=1.5", *common, exit=2, code="bad_option")
    ecotone.error("fit", few, "ridge lam=0", *common, "-o", tmp_path / "m", exit=2, code="bad_option")
    ecotone.error("select", few, "ridge", *common, exit=2, code="not_a_selector")
    ecotone.error("select", tmp_path / "absent.csv", *common, exit=4, code="no_such_file")
    one = tmp_path / "one.csv"
    one.write_text("\n".join([rows[0], *[row for row in rows[1:] if row.split(",")[at] == names[0]]]) + "\n")
    found = ecotone.json("select", one, "step steps=3", *common)
    assert found["domains"] == [names[0]]
    assert found["lodo"]["left_out"] == "rows"


def test_equal_bytes_for_any_number_of_threads(ecotone, clinics):
    texts = {ecotone("select", clinics, *CLINIC_COLUMNS, "--json", "--threads", n).stdout for n in (1, 2, 7)}
    assert len(texts) == 1
    assert json.loads(texts.pop())["indices"]


def test_select_says_when_nothing_is_kept(ecotone, tmp_path):
    # The effect of a turns around from domain to domain: no feature helps in a new one.
    rows = ["site,y,a,b"]
    for i in range(240):
        a, b = (i * 37 % 101) / 50 - 1, (i * 53 % 97) / 48 - 1
        rows.append(f"s{i % 6},{(1 if i % 2 else -1) * a},{a},{b}")
    data = tmp_path / "turns.csv"
    data.write_text("\n".join(rows) + "\n")
    flags = ("--label", "y", "--domain", "site", "--task", "regress")
    found = ecotone.json("select", data, "step", *flags)
    assert found["kept_empty"] and found["selected"] == []
    assert any(warning["code"] == "empty_model" for warning in found["warnings"])
    # With --no-held-out nothing of what was left out is shown; more features than there are: a note.
    given = ecotone.json("select", data, "step size=50", *flags, "--no-held-out")
    assert "held_out_loss" not in given and given["held_out_auroc"] is None
    assert given["stopped_early"] and len(given["selected"]) == 2
    assert any("2 of 50 features" in note for note in given["notes"])
    assert "held-out loss" not in ecotone("select", data, "step size=50", *flags, "--no-held-out").stdout
