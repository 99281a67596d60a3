"""`ecotone reproduce`: the list, an item as text and JSON, errors, equal bytes."""

import csv
from xml.etree import ElementTree

ROW = {"row", "column", "earlier", "earlier_spread", "margin", "ours", "spread", "repetitions", "verdict"}
WEIGHTING = ("reproduce", "sayed2022", "--example", "weighting", "--repetitions", "2")


def test_list_shows_every_experiment(ecotone):
    text = ecotone("reproduce", "--list").stdout
    assert "sayed2022" in text and "--example weighting" in text
    experiments = ecotone.json("reproduce", "--list")["experiments"]
    item = next(e for e in experiments if e["experiment"] == "sayed2022")["items"][0]
    assert item["item"] == "weighting" and item["repetitions"] == 60 and item["kind"] == "shift"
    assert len(ecotone.json("reproduce", "sayed2022", "--list")["experiments"]) == 1


def test_an_item_as_json(ecotone):
    out = ecotone.json(*WEIGHTING)
    assert out["paper"] == "sayed2022" and out["item"] == "weighting"
    assert all(ROW <= set(row) for row in out["rows"])
    assert {row["column"] for row in out["rows"]} == {"misspecified", "strong", "noshift"}
    for row in out["rows"]:
        assert row["repetitions"] == 2
        # The verdict follows from the numbers beside it.
        noise = 2 * (row["earlier_se"] ** 2 + row["se"] ** 2) ** 0.5
        difference = abs(row["ours"] - row["earlier"])
        agrees = max(difference, noise) <= row["margin"]
        differs = difference > max(row["margin"], noise)
        assert row["verdict"] == ("agrees" if agrees else "differs" if differs else "cannot tell")
    count = lambda verdict: sum(row["verdict"] == verdict for row in out["rows"])
    assert out["summary"] == {
        "numbers": "earlier",
        "cells": 39,
        "agree": count("agrees"),
        "differ": count("differs"),
        "cannot_tell": count("cannot tell"),
    }
    for claim in out["claims"]:
        row = next(r for r in out["rows"] if (r["row"], r["column"]) == (claim["row"], claim["column"]))
        assert claim["ours"] == row["ours"] and claim["holds"] == (row["ours"] <= claim["at_most"])


def test_text_says_the_rule_and_the_claims(ecotone):
    text = ecotone(*WEIGHTING).stdout
    assert text.startswith("39 cells of an earlier study: ") and "published" not in text
    assert "earlier" in text and "ours" in text and "n = 2 sqrt(its se^2 + our se^2)" in text
    assert "default weights gain at least 12 points on misspecified" in text
    assert "left out: true density ratio" in text


def test_equal_bytes_for_any_number_of_threads(ecotone):
    one = ecotone(*WEIGHTING, "--json", "--threads", 1).stdout
    assert ecotone(*WEIGHTING, "--json", "--threads", 2).stdout == one
    assert ecotone(*WEIGHTING, "--json", "--threads", 2, "--seed", 1).stdout != one


def test_list_is_aligned_and_fits_a_page(ecotone):
    lines = ecotone("reproduce", "--list").stdout.splitlines()
    assert max(map(len, lines)) <= 100
    column = next(line for line in lines if "--example weighting" in line).index("target error")
    assert all(len(line) == len(line.rstrip()) and line[column] != " " and line[column - 1] == " " for line in lines)


def test_few_repetitions_are_noted(ecotone):
    (note,) = ecotone.json(*WEIGHTING)["notes"]
    assert "2 repetitions instead of the experiment's 60" in note


def test_without_published_numbers_the_rule_is_not_shown(ecotone):
    text = ecotone("reproduce", "sayed2022", "--example", "guard", "--repetitions", 1).stdout
    assert "published" not in text and "agrees" not in text


def test_a_figure_is_drawn_with_its_data(ecotone, tmp_path):
    out = ecotone.json("reproduce", "habrard2012", "--figure", "3", "-o", tmp_path / "made" / "here")
    names = ["losses", "source_region", "target_region"]
    assert out["files"] == [str(tmp_path / "made" / "here" / f"{name}.{end}") for name in names for end in ("svg", "csv")]
    losses = list(csv.DictReader((tmp_path / "made/here/losses.csv").open()))
    assert len(losses) == 1500
    # Once the target loss is 0 it stays there.
    target = [float(line["target loss"]) for line in losses]
    assert all(value == 0 for value in target[target.index(0) :])
    for name in names:
        assert ElementTree.parse(tmp_path / f"made/here/{name}.svg").getroot().tag.endswith("svg")
    assert all(claim["holds"] for claim in out["claims"])
    assert "target region, % right" in {row["row"] for row in out["rows"]}
    for name in ("f3.svg", "f3.csv"):
        message = ecotone.error("reproduce", "habrard2012", "--figure", "3", "-o", tmp_path / name, exit=2, code="bad_output")
        assert str(tmp_path / "f3") + "'" in message and not (tmp_path / name).exists()


def test_a_table_without_the_best_and_worst(ecotone):
    table = ("reproduce", "habrard2012", "--table", "1", "--repetitions", 3)
    out = ecotone.json(*table)
    rows = ["SVM", "DASVM", "AdaBoost", "DABoost-H", "DABoost", "DABoost*", "DABoost literal", "DABoost bound", "DABoost vote of 5"]
    rows.append("DABoost vote of 5, 5,000 rounds")
    assert [row["row"] for row in out["rows"]] == rows * 4 and out["trimmed"] == 1
    assert [row["column"] for row in out["rows"][::10]] == ["20", "30", "40", "50"]
    # One value is left of three, so there is no spread.
    assert all(row["spread"] is None and row["repetitions"] == 3 for row in out["rows"])
    ecotone.error("reproduce", "habrard2012", "--table", "1", "--repetitions", 2, exit=2, code="too_few_repetitions")
    ecotone.error("reproduce", "habrard2012", "--table", "1", "-o", ".", exit=2, code="idle_flag")


def test_errors(ecotone):
    message = ecotone.error("reproduce", "labelfree", "--table", "choice", exit=2, code="no_data")
    assert "--data" in message
    assert "did you mean 'sayed2022'" in ecotone.error(
        "reproduce", "sayed202", "--example", "x", exit=2, code="unknown_experiment"
    )
    assert "--example weighting" in ecotone.error("reproduce", "sayed2022", exit=2, code="no_item")
    assert "--example weighting" in ecotone.error("reproduce", "sayed2022", "--table", "3", exit=2, code="unknown_item")
    ecotone.error("reproduce", exit=2, code="usage")
    ecotone.error("reproduce", "sayed2022", "--table", "1", "--item", "weighting", exit=2, code="usage")
    ecotone.error(*WEIGHTING, "--data", ".", exit=2, code="idle_flag")
    ecotone.error("reproduce", "sayed2022", "--item", "weighting", "--repetitions", 0, exit=2, code="usage")
