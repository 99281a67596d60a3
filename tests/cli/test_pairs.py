"""The verb pairs: similarity of rows, judged on classes that were never seen."""

import csv
import json
import random


def write_rows(path, classes=6, rows=60, seed=3):
    """Columns a and b tell the classes apart by their sign or size; c is noise."""
    draw = random.Random(seed)
    centres = [(draw.choice((-1, 1)) * (1 + k), draw.choice((-1, 1)) * (classes - k)) for k in range(classes)]
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["a", "b", "c", "kind"])
        for i in range(rows * classes):
            k = i % classes
            out.writerow([centres[k][0] + draw.gauss(0, 0.3), centres[k][1] + draw.gauss(0, 0.3), draw.gauss(0, 1), f"k{k}"])
    return path


def test_zero_shot_by_class(ecotone, tmp_path):
    data = write_rows(tmp_path / "rows.csv")
    made = ecotone.json("pairs", data, "--label", "kind", "--per-class", "200", "-o", tmp_path / "p.eco")
    assert made["rows"] == 6 * 400 and made["rows_paired"] == 360
    result = ecotone.json("evaluate", tmp_path / "p.eco", "greedy steps=3 nonnegative=true intercept=true")
    domains = result["pipelines"][0]["domains"]
    assert [d["domain"] for d in domains] == [f"k{k}" for k in range(6)]
    assert all(d["rows"] == 400 for d in domains)
    assert result["pipelines"][0]["mean"]["auroc"] > 0.7


def test_the_model_scores_listed_pairs(ecotone, tmp_path):
    data = write_rows(tmp_path / "rows.csv")
    ecotone("pairs", data, "--label", "kind", "-o", tmp_path / "p.eco", "--per-class", "100")
    ecotone("fit", tmp_path / "p.eco", "greedy steps=3 intercept=true", "-o", tmp_path / "m.eco")
    (tmp_path / "which.csv").write_text("first,second\n1,7\n1,2\n")
    ecotone("pairs", data, "--ignore", "kind", "--list", tmp_path / "which.csv", "-o", tmp_path / "two.eco")
    ecotone("predict", tmp_path / "m.eco", tmp_path / "two.eco", "-o", tmp_path / "out.csv")
    rows = list(csv.DictReader(open(tmp_path / "out.csv")))
    assert len(rows) == 2 and set(rows[0]) >= {"prediction", "p_same", "p_different"}
    # A model of pairs does not take rows for pairs.
    ecotone.error("predict", tmp_path / "m.eco", data, "-o", tmp_path / "x.csv", exit=3, code="missing_column")


def test_select_says_that_its_held_out_columns_are_optimistic(ecotone, tmp_path):
    ecotone("pairs", write_rows(tmp_path / "rows.csv"), "--label", "kind", "-o", tmp_path / "p.eco", "--per-class", "100")
    run = ecotone("select", tmp_path / "p.eco", "tgreedy steps=2 intercept=true", "--json")
    assert "optimistic" in run.stderr
    assert json.loads(run.stdout)["selected"][0] in ("pair(a)", "pair(b)")


def test_features_of_a_model_can_be_paired(ecotone, tmp_path):
    data = write_rows(tmp_path / "rows.csv")
    ecotone("fit", data, "scale", "--label", "kind", "-o", tmp_path / "s.eco")
    ecotone("transform", tmp_path / "s.eco", data, "-o", tmp_path / "z.eco")
    ecotone("pairs", tmp_path / "z.eco", "-o", tmp_path / "p.eco", "--per-class", "50")
    ecotone("convert", tmp_path / "p.eco", "-o", tmp_path / "p.csv")
    header = open(tmp_path / "p.csv").readline().strip().split(",")
    assert header == ["kind", "pair(a)", "pair(b)", "pair(c)", "pair"]


def test_ridge_says_that_its_inner_choice_is_optimistic(ecotone, tmp_path):
    ecotone("pairs", write_rows(tmp_path / "rows.csv"), "--label", "kind", "-o", tmp_path / "p.eco", "--per-class", "100")
    assert "optimistic" in ecotone("fit", tmp_path / "p.eco", "ridge", "-o", tmp_path / "m.eco").stderr
    assert "optimistic" not in ecotone("fit", tmp_path / "p.eco", "ridge lam=1", "-o", tmp_path / "m.eco").stderr


def test_two_classes_are_said_to_be_too_few_to_leave_one_out(ecotone, tmp_path):
    run = ecotone("pairs", write_rows(tmp_path / "rows.csv", classes=2), "--label", "kind", "-o", tmp_path / "p.eco", "--per-class", "50")
    assert "leaving one out needs three" in run.stderr


def test_the_list_is_read_by_column_name(ecotone, tmp_path):
    data = write_rows(tmp_path / "rows.csv")
    (tmp_path / "which.csv").write_text("second,first\n7,2\n\n3,2\n")
    ecotone("pairs", data, "--label", "kind", "--list", tmp_path / "which.csv", "-o", tmp_path / "two.eco")
    ecotone("convert", tmp_path / "two.eco", "-o", tmp_path / "two.csv")
    assert [row["kind"] for row in csv.DictReader(open(tmp_path / "two.csv"))] == ["k1", "k1"]


def test_bad_input(ecotone, tmp_path):
    data = write_rows(tmp_path / "rows.csv")
    out = tmp_path / "p.eco"
    ecotone.error("pairs", data, "-o", out, exit=3, code="no_labels")
    ecotone.error("pairs", data, "--label", "kind", "-o", tmp_path / "p.csv", exit=2, code="bad_output")
    ecotone.error("pairs", data, "--label", "kind", "--domain", "a", "-o", out, exit=2, code="usage")
    ecotone.error("pairs", data, "--label", "kind", "--per-class", "0", "-o", out, exit=2, code="bad_option")
    ecotone.error("pairs", data, "--label", "a", "--task", "regress", "-o", out, exit=3, code="needs_two_classes")
    for text, code in (("first,second\n1,361\n", "bad_row"), ("first,second\n1,1.5\n", "bad_row"), ("a,b\n1,2\n", "unknown_column"), ("first,second\none,two\ntwo,one\n", "bad_row")):
        (tmp_path / "list.csv").write_text(text)
        ecotone.error("pairs", data, "--label", "kind", "--list", tmp_path / "list.csv", "-o", out, exit=3, code=code)
    (tmp_path / "list.csv").write_text("first,second\n1,2\n\n1,1.5\n")
    # Blank lines are no pairs, so the pair is named and not the line.
    assert "of pair 2" in ecotone.error("pairs", data, "--list", tmp_path / "list.csv", "-o", out, exit=3, code="bad_row")
    ecotone.error("pairs", data, "--list", tmp_path / "list.csv", "--per-class", "5", "-o", out, exit=2, code="idle_flag")
    assert not out.exists()
    ecotone("pairs", data, "--label", "kind", "--per-class", "5", "-o", out)
    ecotone.error("pairs", out, "--per-class", "5", "-o", tmp_path / "pp.eco", exit=3, code="pairs_of_pairs")
