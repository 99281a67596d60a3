"""`predict --contributions`: what each column adds to a score, and that it adds up."""

import csv
import io
import math
import random

import pytest


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Three sites, labels of two classes, of three, and numbers; some values are missing."""
    draw = random.Random(5)
    folder = tmp_path_factory.mktemp("contributions")
    lines = ["site,age,dose,noise,sick,stage,pain"]
    for i in range(600):
        age, dose, noise = draw.gauss(60, 10), draw.gauss(0, 1), draw.gauss(0, 1)
        score = (age - 60) / 10 - dose * (age > 55) + draw.gauss(0, 0.5)
        shown = "" if i % 9 == 0 else age
        lines.append(f"s{i % 3},{shown},{dose},{noise},{int(score > 0)},{'abc'[(score > -1) + (score > 1)]},{score}")
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    return folder / "data.csv"


LABELS = ("sick", "stage", "pain")


@pytest.fixture(scope="module")
def fitted(ecotone, tables, tmp_path_factory):
    """The path of a model of this pipeline and label."""
    folder = tmp_path_factory.mktemp("models")

    def fit(label, pipeline):
        model = folder / f"{len(list(folder.iterdir()))}.eco"
        ignored = ",".join(name for name in LABELS if name != label)
        task = "regress" if label == "pain" else "classify"
        ecotone("fit", tables, pipeline, "--label", label, "--domain", "site", "--ignore", ignored, "--task", task,
                "-o", model, "--quiet")
        return model

    return fit


def rows_of(ecotone, *args):
    return list(csv.DictReader(io.StringIO(ecotone("predict", *args, "--contributions").stdout)))


def total(row, start):
    return sum(float(row[f"{start}{name}"]) for name in ("age", "dose", "noise", "base"))


def test_two_classes_add_up_to_the_log_odds(ecotone, tables, fitted):
    model = fitted("sick", "trees")
    rows = rows_of(ecotone, model, tables)
    assert list(rows[0]) == ["domain", "prediction", "p_0", "p_1", "c_age", "c_dose", "c_noise", "c_base"]
    for row in rows:
        assert total(row, "c_") == pytest.approx(math.log(float(row["p_1"]) / float(row["p_0"])), abs=1e-9)
    size = {name: sum(abs(float(row[f"c_{name}"])) for row in rows) for name in ("age", "dose", "noise")}
    assert size["noise"] < min(size["age"], size["dose"]) / 2
    assert len({row["c_base"] for row in rows}) == 1


def test_several_classes_have_one_score_each(ecotone, tables, fitted):
    rows = rows_of(ecotone, fitted("stage", "trees"), tables)
    assert [name for name in rows[0] if name.startswith("c_b_")] == ["c_b_age", "c_b_dose", "c_b_noise", "c_b_base"]
    for row in rows:
        for other in "bc":
            odds = math.log(float(row[f"p_{other}"]) / float(row["p_a"]))
            assert total(row, f"c_{other}_") - total(row, "c_a_") == pytest.approx(odds, abs=1e-9)


def test_numbers_add_up_to_the_prediction(ecotone, tables, fitted):
    for row in rows_of(ecotone, fitted("pain", "trees"), tables):
        assert total(row, "c_") == pytest.approx(float(row["prediction"]), abs=1e-9)


def test_columns_are_those_that_reach_the_learner(ecotone, tables, fitted):
    rows = rows_of(ecotone, fitted("sick", "impute indicator=true | trees"), tables)
    assert "c_age" in rows[0] and sum(name.startswith("c_") for name in rows[0]) > 4
    for row in rows:
        added = sum(float(value) for name, value in row.items() if name.startswith("c_"))
        assert added == pytest.approx(math.log(float(row["p_1"]) / float(row["p_0"])), abs=1e-9)


@pytest.mark.parametrize("label", ["sick", "stage"])
def test_json_says_the_same(ecotone, tables, fitted, label):
    model = fitted(label, "trees")
    found = ecotone.json("predict", model, tables, "--contributions")["contributions"]
    assert found["columns"] == ["age", "dose", "noise", "base"]
    starts = ["c_"] if label == "sick" else ["c_a_", "c_b_", "c_c_"]
    for row, values in zip(rows_of(ecotone, model, tables), found["values"], strict=True):
        wanted = [[float(row[start + name]) for name in found["columns"]] for start in starts]
        assert values == (wanted[0] if label == "sick" else wanted)
    assert "contributions" not in ecotone.json("predict", model, tables)


def test_many_rows_in_blocks_are_the_same_bytes(ecotone, tables, fitted, tmp_path):
    """More rows than are asked for at once."""
    model = fitted("sick", "trees")
    head, *lines = tables.read_text().splitlines()
    many = tmp_path / "many.csv"
    many.write_text("\n".join([head] + lines * 15) + "\n")
    few = ecotone("predict", model, tables, "--contributions").stdout.splitlines()
    for threads in (1, 2, 7):
        found = ecotone("predict", model, many, "--contributions", "--threads", threads).stdout.splitlines()
        assert found == few[:1] + few[1:] * 15


@pytest.mark.parametrize("pipeline", ["impute | scale | logistic", "trees | calibrate"])
def test_others_are_refused_with_the_names_of_those_that_can(ecotone, tables, fitted, tmp_path, pipeline):
    model = fitted("sick", pipeline)
    output = tmp_path / "out.csv"
    message = ecotone.error("predict", model, tables, "--contributions", "-o", output, exit=2, code="no_contributions")
    assert message.startswith(pipeline.split()[-1]) and "trees" in message
    assert not output.exists()


def test_a_column_that_would_be_written_twice_is_an_error(ecotone, tables, fitted, tmp_path):
    named = tmp_path / "named.csv"
    named.write_text(tables.read_text().replace("noise", "base", 1))
    model = tmp_path / "m.eco"
    ecotone("fit", named, "trees", "--label", "sick", "--domain", "site", "--ignore", "stage,pain", "-o", model, "--quiet")
    output = tmp_path / "out.csv"
    message = ecotone.error("predict", model, named, "--contributions", "-o", output, exit=3, code="column_clash")
    assert "'c_base'" in message and not output.exists()
