"""`evaluate --protocol adapt --choose`: choices without target labels, and what they cost."""

import csv

import pytest
from conftest import CLINIC_COLUMNS, SMALL_COLUMNS

GRID = "impute | scale | logistic l2={0.01,0.1,1}"
CHOOSE = ("--protocol", "adapt", "--choose")
SCORERS = ["auto", "transfer", "importance", "control_variate", "reverse", "circular", "entropy", "density", "ensemble", "nuclear", "mixval"]


def test_grids_are_candidates_and_the_first_is_no_adaptation(ecotone, clinics):
    found = ecotone.json("evaluate", clinics, GRID, "impute | constant", *CLINIC_COLUMNS, *CHOOSE, "importance")
    assert found["candidates"] == [
        *(f"impute | scale | logistic l2={l2}" for l2 in ("0.01", "0.1", "1")),
        "impute | constant",
    ]
    assert found["metric"] == "accuracy"
    assert 'choose: "impute | scale | logistic l2=0.01" stands for no adaptation' in found["notes"]
    (scorer,) = found["scorers"]
    assert scorer["scorer"] == "importance"
    truth = ecotone.json("evaluate", clinics, *found["candidates"], *CLINIC_COLUMNS, "--protocol", "adapt")
    for t, (target, choice) in enumerate(zip(found["targets"], scorer["targets"])):
        real = [p["domains"][t]["metrics"]["accuracy"] for p in truth["pipelines"]]
        assert target["scores"] == real
        assert choice["score"] == real[choice["chosen"]]
        assert choice["regret"] == pytest.approx(max(real) - choice["score"])
        assert choice["gain"] == pytest.approx(choice["score"] - real[0])
        estimates = [e["estimate"] for e in choice["estimates"]]
        assert choice["chosen"] == estimates.index(min(estimates))
    assert found["no_adaptation"]["regret"] == pytest.approx(scorer["mean"]["regret"] + scorer["mean"]["gain"])


def test_circular_counts_errors_on_source_rows(ecotone, small):
    pipelines = ("scale | svm", "scale | dasvm rho=5")
    found = ecotone.json("evaluate", small, *pipelines, *SMALL_COLUMNS, *CHOOSE, "circular")
    (scorer,) = found["scorers"]
    assert scorer["scorer"] == "circular"
    rows = sum(target["rows"] for target in found["targets"])
    for target, choice in zip(found["targets"], scorer["targets"]):
        for estimate in choice["estimates"]:
            wrong = estimate["estimate"] * (rows - target["rows"])
            assert wrong == pytest.approx(round(wrong), abs=1e-6)


def test_no_adaptation_does_not_adapt(ecotone, small):
    grid = "scale | weight.logistic flatten={auto,none} | logistic l2=0.1"
    found = ecotone.json("evaluate", small, grid, *SMALL_COLUMNS, *CHOOSE, "importance")
    assert found["candidates"][0] == "scale | logistic l2=0.1" and len(found["candidates"]) == 3
    assert any("plain counterpart is added" in note for note in found["notes"])
    assert 'choose: "scale | logistic l2=0.1" stands for no adaptation' in found["notes"]
    text = ecotone("evaluate", small, "constant", *SMALL_COLUMNS, *CHOOSE, "importance").stdout
    assert "1 candidate ·" in text and "none: score without adaptation" in text
    grid = ecotone.json("evaluate", small, "logistic l2={1,2}", *SMALL_COLUMNS, *CHOOSE, "importance")
    assert any("the others are compared with its first point" in note for note in grid["notes"])


def test_all_compares_the_scorers_in_one_table(ecotone, small):
    pipelines = ("scale | logistic l2={0.1,1}", "constant")
    found = ecotone.json("evaluate", small, *pipelines, *SMALL_COLUMNS, *CHOOSE, "all", "--threads", 1)
    assert [s["scorer"] for s in found["scorers"]] == SCORERS
    for s in found["scorers"]:
        assert set(s["mean"]) == {"score", "regret", "gain", "rank_correlation"}
    assert found == ecotone.json("evaluate", small, *pipelines, *SMALL_COLUMNS, *CHOOSE, "all", "--threads", 3)
    lines = ecotone("evaluate", small, *pipelines, *SMALL_COLUMNS, *CHOOSE, "all").stdout.splitlines()
    firsts = [line.split("  ")[0] for line in lines]
    for name in (*SCORERS, "no adaptation", "best possible"):
        assert name in firsts
    assert max(map(len, lines)) <= 130


def test_labels_of_the_target_do_not_change_its_choice(ecotone, small, tmp_path):
    rows = list(csv.DictReader(small.open()))
    flipped = tmp_path / "flipped.csv"
    with flipped.open("w") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        for row in rows:
            if row["site"] == "b":
                row = {**row, "y": {"yes": "no", "no": "yes"}[row["y"]]}
            writer.writerow(row)
    run = lambda path: ecotone.json("evaluate", path, "scale | logistic l2={0.1,1}", *SMALL_COLUMNS, *CHOOSE, "all")
    before, after = run(small), run(flipped)
    assert before["targets"][1]["scores"] != after["targets"][1]["scores"]
    for a, b in zip(before["scorers"], after["scorers"]):
        if a["scorer"] == "ensemble":  # two candidates are too few for it
            assert a["error"]["code"] == b["error"]["code"] == "too_few_candidates"
            continue
        assert a["targets"][1]["estimates"] == b["targets"][1]["estimates"]
        assert a["targets"][1]["chosen"] == b["targets"][1]["chosen"]


def test_regression(ecotone, tmp_path):
    path = tmp_path / "numbers.csv"
    lines = ["site,x,y"] + [f"{'abcd'[i % 4]},{i * 37 % 101},{(i * 37 % 101) * 0.5 + i * i * 13 % 7}" for i in range(120)]
    path.write_text("\n".join(lines) + "\n")
    args = (path, "constant", "least_squares", "--label", "y", "--domain", "site", "--task", "regress", *CHOOSE)
    found = ecotone.json("evaluate", *args, "all")
    assert [s["scorer"] for s in found["scorers"]] == SCORERS[:6]
    for s in found["scorers"]:
        assert s["mean"]["regret"] == 0, s
    assert "defined for classification only" in ecotone.error("evaluate", *args, "entropy", exit=2, code="scorer_undefined")


def test_errors(ecotone, small, tmp_path):
    args = ("evaluate", small, "constant", *SMALL_COLUMNS)
    message = ecotone.error(*args, *CHOOSE, "entropi", exit=2, code="unknown_scorer")
    assert "did you mean 'entropy'?" in message
    assert "--choose works only with --protocol adapt" in ecotone.error(*args, "--choose", "auto", exit=2, code="idle_flag")
    report = ("--report", tmp_path / "r.html")
    assert "--report cannot be combined with --choose" in ecotone.error(*args, *CHOOSE, "auto", *report, exit=2, code="idle_flag")
    assert not (tmp_path / "r.html").exists()
    ecotone.error(*args, *CHOOSE, "auto", "--metric", "rmse", exit=2, code="unknown_metric")
    two = ("--where", "site!=c")
    message = ecotone.error(*args, *CHOOSE, "transfer", *two, exit=3, code="needs_two_domains")
    assert "three to be useful), got 1" in message
    assert "transfer could not be used" in ecotone(*args, *CHOOSE, "all", *two).stdout
    metric = ("--choice-metric", "log_loss")
    assert "--choice-metric cannot" in ecotone.error(*args, *CHOOSE, "auto", *metric, exit=2, code="idle_flag")
