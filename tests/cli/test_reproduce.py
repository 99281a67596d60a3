"""`ecotone reproduce`: the list, an item as text and JSON, errors, equal bytes."""

import csv
import os
from xml.etree import ElementTree

ROW = {"row", "column", "earlier", "earlier_spread", "margin", "ours", "spread", "repetitions", "verdict"}
WEIGHTS = ("reproduce", "weighting", "--table", "weights", "--repetitions", "2")


def test_list_shows_every_experiment(ecotone):
    text = ecotone("reproduce", "--list").stdout
    assert "sayed2022" in text and "--example 59.7" in text and "--table weights" in text
    experiments = ecotone.json("reproduce", "--list")["experiments"]
    item = next(e for e in experiments if e["experiment"] == "weighting")["items"][0]
    assert item["item"] == "weights" and item["repetitions"] == 60 and item["kind"] == "shift"
    items = next(e for e in experiments if e["experiment"] == "sayed2022")["items"]
    assert [item["item"] for item in items] == [f"59.{i}" for i in range(1, 8)]
    assert len(ecotone.json("reproduce", "sayed2022", "--list")["experiments"]) == 1


def test_an_item_as_json(ecotone):
    out = ecotone.json(*WEIGHTS)
    assert out["paper"] == "sayed2022" and out["item"] == "weights"
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
    text = ecotone(*WEIGHTS).stdout
    assert text.startswith("39 cells of an earlier study: ") and "published" not in text
    assert "earlier" in text and "ours" in text and "n = 2 sqrt(its se^2 + our se^2)" in text
    assert "default weights gain at least 12 points on misspecified" in text
    assert "left out: true density ratio" in text


def test_equal_bytes_for_any_number_of_threads(ecotone):
    one = ecotone(*WEIGHTS, "--json", "--threads", 1).stdout
    assert ecotone(*WEIGHTS, "--json", "--threads", 2).stdout == one
    assert ecotone(*WEIGHTS, "--json", "--threads", 2, "--seed", 1).stdout != one


def test_list_is_aligned_and_fits_a_page(ecotone):
    lines = ecotone("reproduce", "--list").stdout.splitlines()
    assert max(map(len, lines)) <= 100
    column = next(line for line in lines if "--table weights" in line).index("target error")
    assert all(len(line) == len(line.rstrip()) and line[column] != " " and line[column - 1] == " " for line in lines)


def test_few_repetitions_are_noted(ecotone):
    (note,) = ecotone.json(*WEIGHTS)["notes"]
    assert "2 repetitions instead of the experiment's 60" in note


def test_without_published_numbers_the_rule_is_not_shown(ecotone):
    text = ecotone("reproduce", "weighting", "--table", "guard", "--repetitions", 1).stdout
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


def test_the_table_of_likelihoods(ecotone):
    """Table 59.1 to the last digit."""
    out = ecotone.json("reproduce", "sayed2022", "--example", "59.5")
    assert out["summary"] == {"numbers": "published", "cells": 13, "agree": 13, "differ": 0, "cannot_tell": 0}
    chosen = next(row for row in out["rows"] if row["row"] == "least confident sample")
    assert chosen["ours"] == 1 and chosen["spread"] == 0


def test_examples_are_drawn_with_their_data(ecotone, tmp_path, data_folder):
    wanted = {
        "59.1": ["accuracy", "training", "test", "likelihoods"],
        "59.2": ["figure_59_5", "class_0_against_1_2", "class_1_against_0_2", "class_2_against_0_1", "test", "predicted", "likelihoods"],
        "59.3": ["figure_59_9", "class_0_against_1", "class_0_against_2", "class_1_against_2", "test", "predicted"],
    }
    for example, names in wanted.items():
        folder = tmp_path / example
        options = ("--data", data_folder, "--repetitions", 3, "-o", folder)
        out = ecotone.json("reproduce", "sayed2022", "--example", example, *options)
        files = [file for file in out["files"] if file.endswith(".svg")]
        assert len(files) == len(names) and all(name in file for name, file in zip(names, files))
        for file in files:
            assert ElementTree.parse(file).getroot().tag.endswith("svg")
            assert (folder / file).with_suffix(".csv").stat().st_size > 50
    rows = list(csv.DictReader((tmp_path / "59.1/figure_59_3_test.csv").open()))
    assert len(rows) == 30 + 2 and rows[-1]["group"] == "separating line"
    page = tmp_path / "page.html"
    ecotone("reproduce", "sayed2022", "--example", "59.7", "--repetitions", 3, "--report", page)
    assert page.read_text().count("figure_59_12_") >= 4


def test_iris_that_is_not_there(ecotone, tmp_path):
    message = ecotone.error("reproduce", "sayed2022", "--example", "59.1", "--data", tmp_path, exit=4, code="missing_data")
    assert "iris/iris.csv" in message and "UCI Machine Learning Repository" in message and "sepal_length" in message


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
    bare = {name: value for name, value in os.environ.items() if name != "ECOTONE_DATA"}
    message = ecotone.error("reproduce", "labelfree", "--table", "choice", exit=2, code="no_data", env=bare)
    assert "--data" in message
    assert "did you mean 'sayed2022'" in ecotone.error(
        "reproduce", "sayed202", "--example", "x", exit=2, code="unknown_experiment"
    )
    assert "--example 59.1" in ecotone.error("reproduce", "sayed2022", "--table", "3", exit=2, code="unknown_item")
    ecotone.error("reproduce", exit=2, code="usage")
    ecotone.error("reproduce", "sayed2022", "--table", "1", "--item", "59.1", exit=2, code="usage")
    ecotone.error(*WEIGHTS, "--data", ".", exit=2, code="idle_flag")
    ecotone.error("reproduce", "sayed2022", "--item", "59.1", "--repetitions", 0, exit=2, code="usage")
