"""The functions: the same results as the program, frames of all libraries, estimators from outside in a comparison."""
import json
import os
import subprocess

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import ecotone

COLUMNS = ("--label", "disease", "--domain", "hospital")


@pytest.fixture(scope="module")
def table(clinics, tmp_path_factory):
    """Clinics as a data frame and as a file."""
    X, y, domain = clinics
    frame = X.assign(hospital=domain, disease=y)
    path = tmp_path_factory.mktemp("data") / "clinics.csv"
    frame.to_csv(path, index=False)
    return frame, path


def program(*arguments):
    done = subprocess.run([os.environ["ECOTONE_PROGRAM"], *map(str, arguments), "--json"], check=True, capture_output=True)
    document = json.loads(done.stdout)
    for name in ("warnings", "notes", "kind", "provenance"):  # of the program's run
        document.pop(name, None)
    return document


def test_evaluate_is_the_program(table):
    frame, path = table
    texts = ["impute | constant", "impute | scale | logistic l2={0.01,0.1}"]
    ours = ecotone.evaluate(frame, "disease", "hospital", texts)
    assert ours.to_json() == program("evaluate", path, *texts, *COLUMNS)
    folds = ecotone.evaluate(frame, "disease", "hospital", texts[:1], protocol="k-fold", folds=3, seed=4)
    assert folds.to_json() == program("evaluate", path, texts[0], *COLUMNS, "--protocol", "k-fold", "--folds", 3, "--seed", 4)
    assert "logistic" in str(ours) and str(ours.table("brier")).startswith("Brier")
    assert ours._repr_html_().startswith("<iframe srcdoc=")
    assert len(ours.to_frame()) == 16


def test_tune_diagnose_and_select_are_the_program(table):
    frame, path = table
    grid = "impute | scale | logistic l2={0.01,0.1}"
    tuning = ecotone.tune(frame, "disease", "hospital", grid)
    assert tuning.to_json() == program("tune", path, grid, *COLUMNS)
    assert tuning.pipeline in list(tuning.to_frame()["pipeline"])
    diagnosis = ecotone.diagnose(frame, "disease", "hospital", permutations=19)
    assert diagnosis.to_json() == program("diagnose", path, *COLUMNS, "--permutations", 19)
    assert diagnosis.advice and len(diagnosis.to_frame()) == 8
    selection = ecotone.select(frame, "disease", "hospital", "impute | scale | greedy steps=3")
    assert selection.to_json() == program("select", path, "impute | scale | greedy steps=3", *COLUMNS)
    assert len(selection.to_frame()) == len(selection.selected) == 3
    thirds = np.arange(len(frame)) % 3
    several = ecotone.select(frame.drop(columns="disease"), thirds, "hospital", "impute | scale | greedy steps=2", task="classify")
    assert list(several.to_frame()["class"]) == ["0", "0", "1", "1", "2", "2"]
    for result in (tuning, diagnosis, selection):
        assert result._repr_html_().startswith("<pre>")


def test_guard_is_the_program(table, tmp_path):
    frame, path = table
    text = "impute | scale | weight.logistic | logistic l2=0.1"
    model = ecotone.guard(frame, "disease", "hospital", text, target="Highmoor")
    program("fit", path, text, *COLUMNS, "--target", "Highmoor", "--guard", "-o", tmp_path / "model.eco")
    assert json.loads(ecotone.load(tmp_path / "model.eco").model_.inspect())["guard"] == model.guard_
    assert model.guard_["chosen"] in ("adapted", "plain")


def test_choose(table):
    frame, path = table
    texts = ["impute | scale | logistic l2=0.1", "impute | scale | weight.logistic | logistic l2=0.1"]
    choice = ecotone.choose(frame, "disease", "hospital", texts)
    assert choice.to_json() == program("evaluate", path, *texts, *COLUMNS, "--protocol", "adapt", "--choose", "auto")
    assert len(choice.to_frame()) == 1


def test_read_gives_what_was_written(table):
    frame, path = table
    X, y, domain = ecotone.read(path, label="disease", domain="hospital")
    assert list(X.columns) == [name for name in frame.columns if name not in ("hospital", "disease")]
    assert (y == frame["disease"]).all() and (domain == frame["hospital"]).all()
    np.testing.assert_array_equal(X["age"], frame["age"])
    assert (X["chest_pain"].astype(object).fillna("") == frame["chest_pain"].astype(object).fillna("")).all()
    with pytest.raises(OSError, match="none.csv"):
        ecotone.read("none.csv")
    with pytest.raises(ValueError, match="no column 'nonsense'"):
        ecotone.read(path, label="nonsense")


@pytest.fixture(scope="module")
def visits(table, tmp_path_factory):
    """Patients with several visits on known days, as a frame and as a file."""
    frame, _ = table
    chance = np.random.default_rng(5)
    frame = frame.assign(
        patient=[f"p{i}" for i in chance.integers(0, len(frame) // 3, len(frame))],
        day=np.datetime64("2024-01-01") + chance.integers(0, 400, len(frame)).astype("timedelta64[D]"),
    )
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    frame.to_csv(path, index=False)
    return frame, path


def test_groups_and_times_are_those_of_the_program(visits):
    frame, path = visits
    columns = (*COLUMNS, "--group", "patient", "--time", "day")
    texts = ["impute | scale | logistic l2={0.01,1}"]
    for protocol in ("forward", "k-fold"):
        result = ecotone.evaluate(frame, "disease", "hospital", texts, group="patient", time="day", protocol=protocol)
        assert result.to_json() == program("evaluate", path, *texts, *columns, "--protocol", protocol)
    columns = (*COLUMNS, "--group", "patient", "--ignore", "day")
    tuned = ecotone.tune(frame.drop(columns="day"), "disease", "hospital", texts, group="patient")
    assert tuned.to_json()["points"] == program("tune", path, *texts, *columns)["points"]


def test_groups_reach_the_folds_of_a_fit(visits, tmp_path):
    frame, path = visits
    X = frame.drop(columns=["disease", "patient", "day"])
    model = ecotone.Pipeline("impute | scale | logistic", domain="hospital").fit(X, frame["disease"].rename("disease"), groups=frame["patient"])
    program("fit", path, "impute | scale | logistic", *COLUMNS, "--group", "patient", "--ignore", "day", "-o", tmp_path / "m.eco")
    np.testing.assert_array_equal(model.predict_proba(X), ecotone.load(tmp_path / "m.eco").predict_proba(X))


def test_read_gives_groups_times_and_some_rows(visits):
    frame, path = visits
    data = ecotone.read(path, label="disease", domain="hospital", group="patient", time="day", where="age>=50")
    rows = frame[frame["age"] >= 50]
    assert len(data.X) == len(rows) and "patient" not in data.X and "day" not in data.X
    assert (data.time == rows["day"].to_numpy()).all()
    assert len(set(zip(data.group, rows["patient"]))) == rows["patient"].nunique() == len(set(data.group))
    assert data.sample_weight is None
    with pytest.raises(ValueError, match="tsv"):
        ecotone.read(path, format="tsv")


def test_outsiders_under_forward(visits):
    frame, _ = visits
    X = frame[["age", "bmi", "hospital", "day"]].fillna(0)
    result = ecotone.evaluate(X, frame["disease"], "hospital", ["scale | logistic l2=1", LogisticRegression()], time="day", protocol="forward", blocks=3)
    ours, theirs = result.to_json()["pipelines"]
    assert [each["domain"] for each in ours["domains"]] == [each["domain"] for each in theirs["domains"]]
    assert len(theirs["domains"]) == 3 and all(each["metrics"]["auroc"] for each in theirs["domains"])


def test_times_that_are_none(visits):
    frame, _ = visits
    for time, message in ((frame["hospital"], "times must be numbers or dates"), (frame["day"].mask(frame.index == 3), "row 4 has no time")):
        with pytest.raises(ValueError, match=message):
            ecotone.evaluate(frame[["age", "bmi"]], frame["disease"], None, ["constant"], time=time, protocol="forward")


def test_report(table, tmp_path):
    frame, path = table
    result = ecotone.evaluate(frame, "disease", "hospital", ["constant"])
    ecotone.report(result, tmp_path / "report.html", title="Mine")
    # The program's page has more to show: it knows the data. From scores alone it is the same.
    scores = program("evaluate", path, "constant", *COLUMNS) | {"kind": "evaluation"}
    (tmp_path / "scores.json").write_text(json.dumps(scores))
    program("report", tmp_path / "scores.json", "-o", tmp_path / "program.html", "--title", "Mine")
    assert (tmp_path / "report.html").read_bytes() == (tmp_path / "program.html").read_bytes()


def test_scikit_learn_beside_ours(table):
    frame, _ = table
    X = frame.drop(columns=["disease", "chest_pain"]).fillna(0)
    candidates = [LogisticRegression(C=0.1, max_iter=1000), "scale | logistic l2=0.1", HistGradientBoostingClassifier(max_iter=10), LinearSVC()]
    result = ecotone.evaluate(X, frame["disease"], "hospital", candidates)
    document = result.to_json()
    names = [each["pipeline"] for each in document["pipelines"]]
    assert names[0].startswith("LogisticRegression(") and names[1] == "scale | logistic l2=0.1" and len(names) == 4
    # The same numbers by hand.
    features = X.drop(columns="hospital")
    for each in document["pipelines"][0]["domains"]:
        out = (X["hospital"] == each["domain"]).to_numpy()
        model = LogisticRegression(C=0.1, max_iter=1000).fit(features[~out], frame["disease"][~out])
        assert each["metrics"]["accuracy"] == pytest.approx(model.score(features[out], frame["disease"][out]))
        assert each["rows"] == out.sum()
    # Ours are scored the same beside them or alone.
    alone = ecotone.evaluate(X, frame["disease"], "hospital", [candidates[1]]).to_json()
    assert document["pipelines"][1]["domains"] == alone["pipelines"][0]["domains"]
    assert document["pipelines"][1]["difference"]["accuracy"]["mean"] == pytest.approx(
        document["pipelines"][1]["mean"]["accuracy"] - document["pipelines"][0]["mean"]["accuracy"])


def test_outsiders_alone_numbers_and_failures(table):
    frame, _ = table
    X = frame[["age", "bmi", "hospital"]].fillna(0)
    result = ecotone.evaluate(X, frame["cholesterol"].fillna(5.0), "hospital", [RandomForestRegressor(n_estimators=5, random_state=0)])
    assert result.to_json()["task"] == "regress" and result.to_json()["pipelines"][0]["mean"]["rmse"] > 0
    broken = ecotone.evaluate(X, frame["disease"], "hospital", ["scale | logistic l2=1", LogisticRegression(C=-1)])
    assert "LogisticRegression(C=-1)" in broken.to_json()["pipelines"][1]["error"]["message"]
    with pytest.raises(ValueError, match="LogisticRegression"):
        ecotone.evaluate(X, frame["disease"], "hospital", [LogisticRegression(C=-1)])


def test_best_knows_which_way_metrics_go(table):
    frame, _ = table
    texts = ["constant", "impute | scale | logistic l2=1"]
    result = ecotone.evaluate(frame, "disease", "hospital", texts)
    scores = {each["pipeline"]: each["mean"] for each in result.to_json()["pipelines"]}
    for metric, better in (("brier_sum", min), ("log_loss", min), ("auroc", max), ("average_precision", max)):
        assert result.best(metric) == better(scores, key=lambda name: scores[name][metric]), metric


def test_own_estimators_in_a_comparison(table):
    frame, _ = table
    X = frame[["age", "bmi", "hospital"]].fillna(0)
    given = [ecotone.Logistic(l2=0.1), ecotone.Pipeline("scale | logistic l2=0.1")]
    names = [each["pipeline"] for each in ecotone.evaluate(X, frame["disease"], "hospital", given).to_json()["pipelines"]]
    assert names == ["logistic l2=0.1", "scale | logistic l2=0.1"]


def test_bad_arguments(clinics):
    X, y, domain = clinics
    with pytest.raises(ValueError, match="no pipeline"):
        ecotone.evaluate(X, y, domain)
    with pytest.raises(ValueError, match="no column 'town'"):
        ecotone.evaluate(X, y, "town", ["constant"])
    with pytest.raises(ValueError, match="unknown option 'fold'"):
        ecotone.evaluate(X, y, domain, ["constant"], fold=3)
    with pytest.raises(ValueError, match="at least two domains"):
        ecotone.evaluate(X, y, None, ["constant"])
    with pytest.raises(ValueError, match="did you mean 'clinics'"):
        ecotone.generate("clinic")
