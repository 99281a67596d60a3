"""What can be said about a new domain: expect, explain, sets, class shares, and the interval for the next domain."""

import csv
import io
import json

import pytest
from conftest import CLINIC_COLUMNS

OPTION, DATA = 2, 3
LINEAR = "impute | scale | logistic l2=0.01"


@pytest.fixture(scope="module")
def drawn(ecotone, tmp_path_factory):
    """Twelve exchangeable domains."""
    path = tmp_path_factory.mktemp("drawn") / "drawn.csv"
    ecotone("generate", "exchangeable", "--set", "domains=12", "--set", "rows=60", "-o", path)
    return path


COLUMNS = ("--label", "label", "--domain", "domain")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_evaluate_has_both_intervals(ecotone, clinics):
    found = ecotone.json("evaluate", clinics, LINEAR, *CLINIC_COLUMNS, "--resamples", 0)["pipelines"][0]
    assert found["next_domain"]["by"] == "replay" and found["next_domain"]["level"] == 0.9
    next_auroc, mean = found["next_domain"]["metrics"]["auroc"], found["mean_interval"]["auroc"]
    assert next_auroc["estimate"] == found["mean"]["auroc"]
    assert next_auroc["low"] < mean["low"] < mean["high"] < next_auroc["high"]
    assert next_auroc["conformal"] is None and next_auroc["domains"] == 8
    text = ecotone("evaluate", clinics, LINEAR, *CLINIC_COLUMNS).stdout
    assert "90% prediction interval for one new domain" in text and "95% confidence interval" in text
    none = ecotone.json("evaluate", clinics, LINEAR, *CLINIC_COLUMNS, "--next-domain", "none")["pipelines"][0]
    assert "next_domain" not in none


def test_expect_of_a_pipeline_and_of_a_model(ecotone, drawn, tmp_path):
    found = ecotone.json("expect", drawn, "scale | logistic l2=0.1", *COLUMNS, "--target", "domain12")
    (one,) = found["expectations"]
    assert found["kind"] == "expectation" and one["target"] == "domain12" and one["domains"] == 11
    accuracy = one["metrics"][0]
    assert accuracy["metric"] == "accuracy" and accuracy["estimator"] == "blend"
    assert accuracy["interval"]["low"] < accuracy["estimate"] < accuracy["interval"]["high"]
    assert accuracy["conformal"] is not None  # eleven domains are enough
    assert {value["estimator"] for value in accuracy["estimators"]} == {
        "source", "doc", "blend", "atc", "cbpe", "cbpe_em", "pape", "importance"}
    # The same rows given apart, and to a model that remembers.
    rows = drawn.read_text().splitlines()
    new, known = tmp_path / "new.csv", tmp_path / "known.csv"
    new.write_text("\n".join([rows[0], *(r for r in rows[1:] if "domain12" in r)]) + "\n")
    known.write_text("\n".join([rows[0], *(r for r in rows[1:] if "domain12" not in r)]) + "\n")
    apart = ecotone.json("expect", known, "scale | logistic l2=0.1", *COLUMNS, "--new", new)["expectations"][0]
    assert apart["metrics"][0]["estimate"] == pytest.approx(accuracy["estimate"], abs=1e-9)
    assert apart["metrics"][0]["interval"] == pytest.approx(accuracy["interval"], abs=1e-9)
    model = tmp_path / "model.eco"
    ecotone("fit", known, "scale | logistic l2=0.1", *COLUMNS, "--expect", "-o", model)
    remembered = ecotone.json("expect", model, new)["expectations"][0]
    assert remembered["metrics"][0]["estimate"] == pytest.approx(accuracy["estimate"], abs=1e-9)
    assert remembered["metrics"][0]["interval"] == pytest.approx(accuracy["interval"], abs=1e-9)
    assert "knows how it fared in 11 domains" in ecotone("inspect", model).stdout
    text = ecotone("expect", model, new).stdout
    assert "what to expect in 'domain12' (60 rows)" in text and "blend" in text


def test_expect_refuses(ecotone, drawn, tmp_path):
    model = tmp_path / "plain.eco"
    ecotone("fit", drawn, "scale | logistic l2=0.1", *COLUMNS, "-o", model)
    assert "fit it with --expect" in ecotone.error("expect", model, drawn, exit=OPTION, code="no_expectation")
    ecotone.error("expect", drawn, LINEAR, *COLUMNS, exit=OPTION, code="no_target")
    ecotone.error("expect", drawn, LINEAR, *COLUMNS, "--target", "domain13", exit=DATA, code="unknown_domain")
    few = ("--where", "domain!=domain1", *(word for d in range(4, 13) for word in ("--where", f"domain!=domain{d}")))
    ecotone.error("expect", drawn, LINEAR, *COLUMNS, *few, "--target", "domain2", exit=DATA, code="too_few_domains")
    ecotone.error("expect", drawn, "scale", *COLUMNS, "--target", "domain2", exit=OPTION, code="no_learner")


def test_explain_adds_up(ecotone, clinics):
    found = ecotone.json("explain", clinics, LINEAR, *CLINIC_COLUMNS, "--target", "Fernleigh,Dunmere")
    assert [each["target"] for each in found["explanations"]] == ["Dunmere", "Fernleigh"]
    for each in found["explanations"]:
        parts = each["parts"]
        total = sum(parts[name]["value"] for name in ("x_source_to_shared", "y_given_x", "x_shared_to_target"))
        assert total == pytest.approx(parts["difference"], abs=1e-12)
        assert parts["difference"] == pytest.approx(parts["target"] - parts["source"], abs=1e-12)
        assert each["advice"]
    text = ecotone("explain", clinics, LINEAR, *CLINIC_COLUMNS, "--target", "Dunmere").stdout
    assert "another relation of labels to features" in text
    ecotone.error("explain", clinics, LINEAR, *CLINIC_COLUMNS, exit=OPTION, code="no_target")
    ecotone.error("explain", clinics, LINEAR, *CLINIC_COLUMNS, "--target", "Dunmere", "--loss", "x", exit=OPTION, code="unknown_loss")


@pytest.mark.parametrize("verb, target", [("expect", "Dunmere"), ("explain", "Fernleigh")])
def test_pages_from_json_are_the_same(ecotone, clinics, tmp_path, verb, target):
    page, again = tmp_path / "page.html", tmp_path / "again.html"
    args = (verb, clinics, LINEAR, *CLINIC_COLUMNS, "--target", target)
    document = ecotone.json(*args, "--report", page)
    saved = tmp_path / "result.json"
    saved.write_text(json.dumps(document))
    ecotone("report", saved, "-o", again)
    # The page of the run also knows who is in the data, as does its document.
    assert page.read_text() == again.read_text()


def test_sets_in_predictions(ecotone, drawn, tmp_path):
    model = tmp_path / "sets.eco"
    ecotone("fit", drawn, "scale | logistic l2=0.1 | conformal", *COLUMNS, "--target", "domain12", "-o", model)
    stage = ecotone.json("inspect", model)["stages"][-1]
    assert stage["method"] == "hcp" and stage["guarantee"] == "average over new domains" and len(stage["coverage_by_domain"]) == 11
    assert "90% of rows of a new domain, on average over new domains" in " ".join(ecotone("inspect", model).stdout.split())
    rows = rows_of(ecotone("predict", model, drawn).stdout)
    assert {row["set"] for row in rows} <= {"0", "1", "0|1", "none"}
    listed = ecotone.json("predict", model, drawn)
    assert ["|".join(each) or "none" for each in listed["set"]] == [row["set"] for row in rows]
    for row in rows:  # lac: a class is in the set if its probability is large enough
        inside = {name for name in "01" if 1 - float(row[f"p_{name}"]) <= stage["quantile"] + 1e-12}
        assert inside == (set() if row["set"] == "none" else set(row["set"].split("|")))


def test_intervals_of_numbers(ecotone, tmp_path):
    data, model = tmp_path / "numbers.csv", tmp_path / "numbers.eco"
    ecotone("generate", "wishart", "--set", "domains=12", "--set", "rows=40", "-o", data)
    columns = ("--label", "y", "--domain", "domain")
    ecotone("fit", data, "scale | ridge | conformal", *columns, "-o", model)
    for row in rows_of(ecotone("predict", model, data).stdout):
        assert float(row["low"]) < float(row["prediction"]) < float(row["high"])
    few = ("--where", "domain!=domain1")
    done = ecotone("fit", data, "scale | ridge | conformal method=hcp level=0.99", *columns, *few, "-o", model)
    assert "sets hold everything" in done.stderr
    rows = rows_of(ecotone("predict", model, data).stdout)
    assert {(row["low"], row["high"]) for row in rows} == {("-inf", "inf")}
    assert set(ecotone.json("predict", model, data)["low"]) == {"-inf"}


def test_evaluate_scores_sets(ecotone, drawn):
    args = ("evaluate", drawn, "scale | logistic l2=0.1", "scale | logistic l2=0.1 | conformal", *COLUMNS, "--resamples", 0)
    plain, sets = ecotone.json(*args)["pipelines"]
    assert plain["mean"]["set_coverage"] is None and sets["mean"]["set_coverage"] > 0.85
    assert sets["set_level"] == 0.9 and "on average over new domains" in sets["promise"]
    assert "promise: 90% of rows" in " ".join(ecotone(*args).stdout.split())
    text = ecotone(*args, "--metric", "set_coverage").stdout
    assert text.startswith("coverage in each domain")


def test_shares_are_corrected_only_where_that_gains(ecotone, clinics, tmp_path):
    data, model = tmp_path / "shares.csv", tmp_path / "model.eco"
    ecotone("generate", "exchangeable", "differ=classes", "domains=9", "rows=300", "spread=1.2", "-o", data)
    ecotone("fit", data, "logistic l2=0.01 | adapt.prior", *COLUMNS, "--target", "domain9", "-o", model)
    stage = ecotone.json("inspect", model)["stages"][-1]
    assert stage["corrects"] and stage["reason"] == "gain" and stage["gain"] > stage["gain_error"]
    assert "played the target" in ecotone("inspect", model).stdout
    done = ecotone("fit", clinics, f"{LINEAR} | adapt.prior", *CLINIC_COLUMNS, "--target", "Highmoor", "-o", model)
    assert "predictions are not corrected" in done.stderr
    plain = tmp_path / "plain.eco"
    ecotone("fit", clinics, LINEAR, *CLINIC_COLUMNS, "--target", "Highmoor", "-o", plain)
    assert ecotone("predict", model, clinics).stdout == ecotone("predict", plain, clinics).stdout


def test_resumed_runs_are_the_same(ecotone, drawn, tmp_path):
    args = ("expect", drawn, "scale | logistic l2=0.1", *COLUMNS, "--target", "domain12")
    journal = ("--resume", tmp_path / "journal")
    first = ecotone.json(*args, *journal)
    again = ecotone.json(*args, *journal)
    plain = ecotone.json(*args)
    for document in (first, again, plain):
        document.pop("provenance", None)
    assert first == again == plain


def test_evaluate_refuses_a_metric_of_sets_before_it_fits(ecotone, clinics):
    message = ecotone.error("evaluate", clinics, "trees", "--metric", "interval_coverage", *CLINIC_COLUMNS, exit=OPTION, code="unknown_metric")
    assert "there is no interval_coverage here" in message


def test_expect_takes_a_target_or_new_rows(ecotone, clinics):
    both = ["--target", "Dunmere", "--new", clinics]
    assert "use one" in ecotone.error("expect", clinics, "impute | scale | logistic l2=0.1", *CLINIC_COLUMNS, *both, exit=OPTION, code="idle_flag")


def test_expect_of_a_model_refuses_what_it_would_not_use(ecotone, drawn, tmp_path):
    model = tmp_path / "model.eco"
    ecotone("fit", drawn, "scale | logistic l2=0.1", *COLUMNS, "--expect", "-o", model)
    for flag in ("--target", "--label", "--ignore"):
        message = ecotone.error("expect", model, drawn, flag, "domain", exit=OPTION, code="idle_flag")
        assert f"{flag} goes with data and a pipeline" in message
    assert "not checked: whether these rows lie where the sources do" in ecotone("expect", model, drawn, "--domain", "domain").stdout


def test_expect_of_a_few_new_rows_has_no_interval_but_of_accuracy(ecotone, drawn, tmp_path):
    rows, few = drawn.read_text().splitlines(), tmp_path / "few.csv"
    few.write_text("\n".join([rows[0], *[r for r in rows[1:] if "domain12" in r][:10]]) + "\n")
    known = tmp_path / "known.csv"
    known.write_text("\n".join(r for r in rows if "domain12" not in r) + "\n")
    (found,) = ecotone.json("expect", known, "scale | logistic l2=0.1", *COLUMNS, "--new", few)["expectations"]
    assert found["no_interval"].startswith("the target has 10 rows, source domains 60 on average")
    assert {metric["metric"] for metric in found["metrics"] if metric["interval"]} == {"accuracy"}
