"""Learners trees and forest, and the verb refit, as a user meets them."""
import csv
import json

import pytest


def write(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def table(tmp_path):
    """Text in one column decides, with missing values; two sites."""
    rows = [["site", "kind", "size", "sick"]]
    kinds = ["red", "green", "blue", "grey", "pink", ""]
    for i in range(240):
        kind = kinds[i % 6]
        sick = int(kind in ("red", "blue")) if i % 10 else i // 10 % 2
        rows.append([f"s{i // 6 % 2}", kind, "" if i % 7 == 0 else i % 13, sick])
    return write(tmp_path / "table.csv", rows)


FLAGS = ["--label", "sick", "--domain", "site"]


def test_text_and_missing_values_need_no_stage(ecotone, table, tmp_path):
    model = tmp_path / "m.eco"
    done = ecotone("fit", table, "trees rounds=20 leaves=4", *FLAGS, "-o", model)
    assert "20 rounds of trees with up to 4 leaves" in done.stdout
    predicted = ecotone("predict", model, table).stdout.splitlines()
    assert len(predicted) == 241
    trees = json.loads(ecotone("inspect", model, "--trees", "--json").stdout)["trees"]
    root = trees[0]["nodes"][0]
    assert root["column"] == "kind"
    assert set(root["levels"]) in ({"red", "blue"}, {"green", "grey", "pink"})
    text = ecotone("inspect", model, "--trees").stdout
    assert text.startswith("loss logistic, start ") and "\ntree 1\nkind is " in text
    assert "gain of the splits of each column" in ecotone("inspect", model).stdout


def test_levels_never_seen_go_where_missing_values_go(ecotone, table, tmp_path):
    model = tmp_path / "m.eco"
    ecotone("fit", table, "trees rounds=5 leaves=4", *FLAGS, "-o", model)
    new = write(tmp_path / "new.csv", [["site", "kind", "size"], ["s9", "violet", 3], ["s9", "", 3]])
    done = ecotone("predict", model, new)
    rows = [line.split(",")[1:] for line in done.stdout.splitlines()[1:]]
    assert rows[0] == rows[1]
    assert "column 'kind': 1 row has a category that the model does not know" in done.stderr


def test_same_trees_beside_a_pipeline_that_needs_features(ecotone, table):
    """Text is read as codes for trees alone and as features beside logistic: the scores must be the same."""
    alone = json.loads(ecotone("evaluate", table, "trees rounds=10 leaves=4", *FLAGS, "--json").stdout)
    both = json.loads(
        ecotone("evaluate", table, "trees rounds=10 leaves=4", "impute | logistic l2=0.1", *FLAGS, "--json").stdout
    )
    assert alone["pipelines"][0]["mean"] == both["pipelines"][0]["mean"]


def test_many_levels_are_taken_where_features_are_refused(ecotone, tmp_path):
    rows = [["site", "code", "sick"]]
    for i in range(1200):
        rows.append([f"s{i % 2}", f"c{i % 300}", int(i % 300 < 150) if i % 9 else i % 2])
    table = write(tmp_path / "many.csv", rows)
    model = tmp_path / "m.eco"
    done = ecotone("fit", table, "trees rounds=30 leaves=4 cat_min_rows=1 min_rows=2 cat_most=200", *FLAGS, "-o", model)
    assert "of column 'code' the 255 most frequent categories are kept" in done.stderr
    predicted = ecotone("predict", model, table).stdout.splitlines()[1:]
    right = sum(line.split(",")[1] == str(row[2]) for line, row in zip(predicted, rows[1:]))
    assert right > 900


def test_refit_moves_a_model_and_says_so(ecotone, table, tmp_path):
    model, moved = tmp_path / "m.eco", tmp_path / "moved.eco"
    ecotone("fit", table, "trees rounds=20 leaves=4", *FLAGS, "-o", model)
    few = write(tmp_path / "few.csv", [["site", "kind", "size", "sick"]] + [["s9", "red", 3, 0]] * 8)
    done = ecotone("refit", model, few, "-o", moved)
    assert "refitted" in done.stdout and "8 rows" in done.stdout
    probability = [float(ecotone("predict", m, few).stdout.splitlines()[1].split(",")[-1]) for m in (model, moved)]
    assert probability[1] < probability[0] - 0.1
    note = json.loads(ecotone("inspect", moved, "--json").stdout)["refit"]
    assert note["rows"] == 8 and note["strength"] == 2


def test_refit_says_what_was_before_it(ecotone, table, tmp_path):
    model, moved = tmp_path / "m.eco", tmp_path / "moved.eco"
    ecotone("fit", table, "trees leaves=4", *FLAGS, "-o", model)
    ecotone("refit", model, table, "-o", moved)
    old, new = ([line for line in ecotone("inspect", m).stdout.splitlines() if "left out" in line or "gain of" in line]
                for m in (model, moved))
    assert len(old) == 2
    assert new == [line + " (before the refit)" for line in old]


def test_refit_needs_every_class_to_balance_them(ecotone, table, tmp_path):
    model, out = tmp_path / "m.eco", tmp_path / "out.eco"
    ecotone("fit", table, "trees rounds=3 leaves=3 class_weight=balanced", *FLAGS, "-o", model)
    well = write(tmp_path / "well.csv", [["site", "kind", "size", "sick"]] + [["s9", "red", 3, 0]] * 8)
    message = ecotone.error("refit", model, well, "-o", out, exit=3, code="zero_weights")
    assert message.startswith("refit: class_weight=balanced needs rows of every class") and not out.exists()


def test_inspect_names_the_round_and_class_of_trees(ecotone, table, tmp_path):
    rows = [line.split(",") for line in table.read_text().splitlines()]
    names = ("well", "ill", "dead")
    three = write(tmp_path / "three.csv",
                  [rows[0]] + [row[:3] + [names[int(row[3]) + (i % 5 == 0)]] for i, row in enumerate(rows[1:])])
    model = tmp_path / "m.eco"
    ecotone("fit", three, "trees rounds=2 leaves=3", *FLAGS, "-o", model)
    classes = ecotone.json("inspect", model)["classes"]
    assert len(classes) == 3
    lines = ecotone("inspect", model, "--trees").stdout.splitlines()
    assert lines[0].startswith("loss softmax, start ") and all(f"({name})" in lines[0] for name in classes)
    heads = [line for line in lines if line.startswith("tree ")]
    assert heads == [f"tree {t + 1}, round {t // 3 + 1}, class {classes[t % 3]}" for t in range(6)]
    trees = ecotone.json("inspect", model, "--trees")["trees"]
    assert [(tree["round"], tree["class"]) for tree in trees] == [(t // 3 + 1, classes[t % 3]) for t in range(6)]
    ecotone("fit", three, "forest trees=2", *FLAGS, "-o", model)
    lines = ecotone("inspect", model, "--trees").stdout.splitlines()
    assert lines[0] == "forest: the answer is the mean of the leaves" and lines[1] == f"tree 1, class {classes[0]}"
    trees = ecotone.json("inspect", model, "--trees")["trees"]
    assert [tree["class"] for tree in trees] == classes * 2
    assert all(0 <= value <= 1 for tree in trees for value in tree["value"])
    ecotone("fit", table, "forest trees=2", *FLAGS, "-o", model)
    trees = ecotone.json("inspect", model, "--trees")["trees"]
    assert [tree["round"] for tree in trees] == [1, 2] and "class" not in trees[0]


def test_refit_refuses_other_models_and_other_labels(ecotone, table, tmp_path):
    model = tmp_path / "m.eco"
    ecotone("fit", table, "impute | logistic l2=0.1", *FLAGS, "-o", model)
    done = ecotone("refit", model, table, "-o", tmp_path / "out.eco", exit=None)
    assert done.returncode != 0 and "logistic l2=0.1 cannot be refitted" in done.stderr
    assert not (tmp_path / "out.eco").exists()
    ecotone("fit", table, "trees rounds=3 leaves=3", *FLAGS, "-o", model)
    other = write(tmp_path / "other.csv", [["site", "kind", "size", "sick"], ["s9", "red", 3, 7]])
    done = ecotone("refit", model, other, "-o", tmp_path / "out.eco", exit=None)
    assert done.returncode != 0 and "class '7'" in done.stderr


def test_words_of_other_packages_lead_here(ecotone, table, tmp_path):
    for word, here in [("xgboost", "'trees'"), ("lightgbm", "'trees'"), ("gbm", "'trees'"), ("catboost", "symmetric"),
                       ("random_forest", "'forest'")]:
        done = ecotone("fit", table, word, *FLAGS, "-o", tmp_path / "m.eco", exit=None)
        assert done.returncode != 0 and here in done.stderr


def test_forest_fits_and_predicts(ecotone, table, tmp_path):
    model = tmp_path / "m.eco"
    ecotone("fit", table, "forest trees=20", *FLAGS, "-o", model)
    assert len(ecotone("predict", model, table).stdout.splitlines()) == 241


def test_refit_counts_weights_and_drops_what_no_longer_holds(ecotone, table, tmp_path):
    model, moved = tmp_path / "m.eco", tmp_path / "moved.eco"
    third = write(tmp_path / "third.csv", [["site", "kind", "size", "sick"]] + [["s2", "red", i, i % 2] for i in range(40)])
    ecotone("fit", table, third, "trees rounds=5 leaves=4", *FLAGS, "--expect", "-o", model)
    header = ["site", "kind", "size", "sick", "w"]
    few = write(tmp_path / "few.csv", [header] + [["s9", "red", 3, 0, 5]] * 4)
    plain = write(tmp_path / "plain.csv", [header] + [["s9", "red", 3, 0, 1]] * 20)
    scores = []
    for data, weight in ((few, ["--weight", "w"]), (plain, [])):
        ecotone("refit", model, data, "-o", moved, *weight)
        scores.append(ecotone("predict", moved, few).stdout)
    assert scores[0] == scores[1]
    assert "moved to 20 labelled rows with strength 2" in ecotone("inspect", moved).stdout
    done = ecotone("expect", moved, table, exit=None)
    assert done.returncode == 2 and "--expect" in done.stderr
    again = tmp_path / "again.eco"
    ecotone("refit", moved, few, "-o", again)
    assert "the last of 2 refits" in ecotone("inspect", again).stdout


def test_refit_names_itself_in_its_errors(ecotone, table, tmp_path):
    model = tmp_path / "m.eco"
    ecotone("fit", table, "trees rounds=3 leaves=3", *FLAGS, "-o", model)
    empty = write(tmp_path / "empty.csv", [["site", "kind", "size", "sick"], ["s9", "red", 3, ""]])
    done = ecotone("refit", model, empty, "-o", tmp_path / "out.eco", exit=None)
    assert done.returncode == 3 and "refit: none of the 1 rows has a label" in done.stderr
    numbers = write(tmp_path / "numbers.csv", [["site", "size", "days"]] + [[f"s{i % 2}", i % 13, i % 7 + 0.5] for i in range(90)])
    ecotone("fit", numbers, "trees rounds=3 leaves=3", "--label", "days", "--domain", "site", "-o", model)
    for value in ("inf", "1e300"):
        bad = write(tmp_path / "bad.csv", [["site", "size", "days"], ["s9", 3, 1.5], ["s9", 4, value]])
        done = ecotone("refit", model, bad, "-o", tmp_path / "out.eco", exit=None)
        assert done.returncode == 3 and "bug" not in done.stderr, done.stderr
    assert not (tmp_path / "out.eco").exists()
