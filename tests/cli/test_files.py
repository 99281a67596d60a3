"""Files as people have them: decimal commas, dates, ids, columns that give the label away."""

import csv
import importlib.util
import io
import re
import shlex
import shutil
import subprocess

import pytest
from conftest import ROOT

FILES = ROOT / "examples" / "files"
PAGE = ROOT / "docs" / "files.md"


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture()
def folder(tmp_path):
    for name in ("export.csv", "new.csv"):
        shutil.copy(FILES / name, tmp_path)
    return tmp_path


COLUMNS = ("--label", "relapse", "--domain", "clinic", "--id", "patient")
CLEAN = (*COLUMNS, "--ignore", "aftercare")


def test_the_files_are_those_of_the_script(tmp_path):
    spec = importlib.util.spec_from_file_location("make_files", FILES / "make_files.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.main(tmp_path)
    for name in ("export.csv", "new.csv"):
        assert (tmp_path / name).read_bytes() == (FILES / name).read_bytes(), name


def steady(text):
    """Without the last digits of numbers, which depend on the processor."""
    return re.sub(r"\d+\.\d{7,}", lambda number: f"{float(number.group()):.6f}", text)


def test_the_transcript_of_the_page_is_real(ecotone, folder):
    """What stands after the dots is left out of the page."""
    block = re.search(r"```console\n(.*?)```", PAGE.read_text(), re.S).group(1)
    parts = re.findall(r"^\$ ecotone ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block, re.M)
    assert [shlex.split(command)[0] for command, _ in parts] == ["diagnose", "evaluate", "evaluate", "fit", "predict"]
    for command, shown in parts:
        args = shlex.split(command.replace("\\\n", " "))
        done = subprocess.run(
            [ecotone.path, *args], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        printed, start = steady(done.stdout), steady(shown).removesuffix("...\n")
        assert printed.startswith(start) if shown.endswith("...\n") else printed == start, command
        assert done.returncode == (3 if "error: " in shown else 0), command


# --- dates and decimal commas


def test_an_american_table_gives_the_same_model(ecotone, folder):
    """The same values written with points and ISO dates."""
    rows = list(csv.reader(io.StringIO((folder / "export.csv").read_text("utf-8-sig")), delimiter=";"))
    plain = [rows[0]]
    for row in rows[1:]:
        day, month, year = row[2].split(".")
        numbers = [field.replace(".", "").replace(",", ".") for field in row[4:7]]
        plain.append([*row[:2], f"{year}-{month}-{day}", row[3], *numbers, *row[7:]])
    with open(folder / "plain.csv", "w", newline="") as file:
        csv.writer(file).writerows(plain)
    answers = []
    for name in ("export.csv", "plain.csv"):
        ecotone("fit", name, "impute | scale | logistic l2=0.1", *CLEAN, "-o", "m.eco", cwd=folder)
        for data in ("export.csv", "plain.csv"):
            answers.append(ecotone("predict", "m.eco", data, "--id", "patient", cwd=folder).stdout)
    assert len(set(answers)) == 1


def test_decimal_sign_can_be_given(ecotone, tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("a;y\n" + "".join(f"1.{i:03};{i % 2}\n" for i in range(100, 140)))
    said = ecotone.json("convert", data, "--label", "y", "-o", tmp_path / "out.csv")["warnings"]
    assert [warning["code"] for warning in said] == ["ambiguous_numbers"]
    for sign, value in ((".", 1.1), (",", 1100.0)):
        ecotone("convert", data, "--label", "y", "--decimal", sign, "-o", tmp_path / "out.csv")
        assert float(table((tmp_path / "out.csv").read_text())[0]["a"]) == value
    message = ecotone.error("convert", data, "--decimal", ";", "-o", tmp_path / "o.csv", exit=2, code="bad_option")
    assert "--decimal" in message


def test_a_bad_date_of_new_data_is_named(ecotone, folder):
    ecotone("fit", "export.csv", "impute | scale | logistic l2=0.1", *CLEAN, "-o", "m.eco", cwd=folder)
    text = (folder / "new.csv").read_text().replace("2024-06-08", "2024-06-31")
    (folder / "new.csv").write_text(text)
    message = ecotone.error("predict", "m.eco", "new.csv", exit=3, code="bad_value", cwd=folder)
    assert message == "new.csv line 3: column 'admitted' is '2024-06-31', expected a date"


# --- groups and times


def test_groups_and_times_are_kept_and_are_not_features(ecotone, tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("who,when,a,y\np,2020-01-02,1,0\nq,2020-01-01 12:00,2,1\np,2020-01-03,3,0\n")
    columns = ("--label", "y", "--group", "who", "--time", "when")
    ecotone("convert", data, *columns, "-o", tmp_path / "d.eco")
    ecotone("convert", tmp_path / "d.eco", "-o", tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == (
        "who,when,a,y\n0,2020-01-02,1,0\n1,2020-01-01T12:00:00,2,1\n0,2020-01-03,3,0\n"
    )
    data.write_text(data.read_text().replace("2020-01-03", ""))
    message = ecotone.error("convert", data, *columns, "-o", tmp_path / "e.eco", exit=3, code="missing_value")
    assert message.endswith("d.csv line 4: no value in column 'when', which every row needs")


# --- columns that are passed through


@pytest.fixture()
def model(ecotone, folder):
    ecotone("fit", "export.csv", "impute | scale | logistic l2=0.1", *CLEAN, "-o", "m.eco", cwd=folder)
    return folder / "m.eco"


def test_predictions_carry_ids_and_kept_columns(ecotone, folder, model):
    text = ecotone("predict", model, "new.csv", "--id", "patient", "--keep", "age,admitted", cwd=folder).stdout
    rows = table(text)
    assert list(rows[0]) == ["patient", "age", "admitted", "domain", "prediction", "p_0", "p_1"]
    assert [row["patient"] for row in rows] == [f"L-{n}" for n in range(17, 22)]
    assert rows[0]["admitted"] == "2024-12-01"
    # Filters drop ids with their rows, and standard input works.
    with open(folder / "new.csv") as stdin:
        some = ecotone("predict", model, "-", "--id", "patient", "--where", "age>60", stdin=stdin).stdout
    assert [row["patient"] for row in table(some)] == [row["patient"] for row in rows if float(row["age"]) > 60]
    assert ecotone.json("predict", model, folder / "new.csv", "--id", "patient")["passed"]["patient"][0] == "L-17"


def test_clashes_and_formats_without_text_are_refused(ecotone, folder, model):
    (folder / "new.csv").write_text((folder / "new.csv").read_text().replace("patient", "prediction"))
    ecotone.error("predict", model, "new.csv", "--id", "prediction", "-o", "p.csv", exit=3, code="column_clash", cwd=folder)
    ecotone.error("predict", model, "new.csv", "--id", "age", "--keep", "age", exit=2, code="column_twice", cwd=folder)
    ecotone.error("predict", model, "new.csv", "--id", "nobody", exit=3, code="unknown_column", cwd=folder)
    ecotone("convert", "export.csv", *CLEAN, "-o", "d.eco", cwd=folder)
    ecotone.error("predict", model, "d.eco", "--id", "patient", exit=2, code="no_text_columns", cwd=folder)
    ecotone.error(
        "transform", model, "export.csv", "--id", "patient", "-o", "z.eco", exit=2, code="no_text_columns", cwd=folder
    )


def test_a_column_in_use_gets_no_second_role(ecotone, small, tmp_path):
    """Every verb that reads rows for a model: the array of the first role would never be filled in."""
    model, scale, out = tmp_path / "m.eco", tmp_path / "scale.eco", tmp_path / "out.eco"
    columns = ("--label", "y", "--domain", "site")
    ecotone("fit", small, "trees rounds=3 leaves=3", *columns, "--expect", "-o", model)
    ecotone("fit", small, "impute | scale", *columns, "-o", scale)
    new_labels = [("--domain", "x1"), ("--domain", "colour"), ("--domain", "y"), ("--label", "site"), ("--label", "x2"),
                  ("--weight", "site"), ("--weight", "x1"), ("--weight", "y")]
    for flags in new_labels:
        ecotone.error("refit", model, small, *flags, "-o", out, exit=2, code="column_twice")
        ecotone.error("inspect", model, "--on", small, *flags, exit=2, code="column_twice")
    for verb in ("predict", "transform", "expect"):
        for column in ("x1", "colour", "y"):
            ecotone.error(verb, model, small, "--domain", column, exit=2, code="column_twice")
    ecotone.error("partial", small, "ridge", "--label", "y", "--domain", "x1", "--behind", scale, "-o", out, exit=2, code="column_twice")
    message = ecotone.error("refit", model, small, "--weight", "x1", "-o", out, exit=2, code="column_twice")
    assert message == "column 'x1' is given both as a feature of the model and as the weight"
    assert not out.exists()
    # What is left out, absent or renamed is in nobody's way.
    rows = small.read_text().replace("site,x1,x2,colour,y", "place,x1,x2,colour,answer")
    (tmp_path / "other.csv").write_text(rows)
    ecotone("refit", model, tmp_path / "other.csv", "--label", "answer", "--domain", "place", "-o", out)
    plain = ecotone("predict", model, small).stdout
    assert ecotone("predict", model, tmp_path / "other.csv", "--domain", "place").stdout == plain
    assert ecotone("predict", model, small, "--id", "x1", "--keep", "y").stdout.startswith("x1,y,domain,prediction")


def test_transform_keeps_names(ecotone, folder, model):
    rows = table(ecotone("transform", model, "new.csv", "--id", "patient", cwd=folder).stdout)
    assert list(rows[0]) == ["patient", "domain", "admitted", "age", "weight_kg", "creatinine", "costs"]
    ecotone("transform", model, "export.csv", "-o", "z.eco", cwd=folder)
    ecotone("convert", "z.eco", "-o", "z.csv", cwd=folder)
    # Scaled dates are numbers.
    assert all(abs(float(row["admitted"])) < 10 for row in table((folder / "z.csv").read_text()))


# --- columns that should not be features


@pytest.mark.parametrize("verb", ["diagnose", "evaluate", "tune", "fit"])
def test_suspicious_columns(ecotone, folder, verb):
    pipeline = [] if verb == "diagnose" else ["impute | scale | logistic l2={0.1,1}" if verb == "tune" else "impute | constant"]
    output = ["-o", "m.eco"] if verb == "fit" else []
    columns = ("--label", "relapse", "--domain", "clinic")
    found = ecotone.json(verb, "export.csv", *pipeline, *columns, *output, cwd=folder)
    assert {"id_like", "label_leak"} <= {warning["code"] for warning in found["warnings"]}
    (folder / "m.eco").unlink(missing_ok=True)
    message = ecotone.error(
        verb, "export.csv", *pipeline, *columns, *output, "--strict", exit=3, code="suspicious_columns", cwd=folder
    )
    assert "'patient'" in message and "'aftercare'" in message
    assert not (folder / "m.eco").exists()
    ecotone(verb, "export.csv", *pipeline, *CLEAN, *output, "--strict", cwd=folder)


def test_no_false_alarms(ecotone, clinics, data_folder, tmp_path):
    """Tables that people know, among them one column that does hold the label."""
    ecotone("generate", "moons", "-o", tmp_path / "moons.csv")
    ecotone(
        *("convert", data_folder / "mnist" / "t10k-images-idx3-ubyte.gz"),
        *("--labels", data_folder / "mnist" / "t10k-labels-idx1-ubyte.gz", "-o", tmp_path / "mnist.eco"),
    )
    heart = data_folder / "heart_disease" / "heart_disease.csv"
    for path, *columns in (
        (clinics, "--label", "disease", "--domain", "hospital"),
        (tmp_path / "moons.csv", "--label", "label"),
        (tmp_path / "mnist.eco",),
        (data_folder / "iris" / "iris.csv", "--label", "label", "--ignore", "domain"),
        (heart, "--label", "label", "--domain", "domain", "--ignore", "num"),
        (data_folder / "parkinsons" / "parkinsons_updrs.csv", "--label", "total_UPDRS", "--domain", "domain"),
        (data_folder / "gvhd" / "gvhd_pair_mclust.csv", "--label", "triple", "--domain", "domain"),
    ):
        ecotone("fit", path, "constant", *columns, "--strict", "-o", tmp_path / "m.eco")
    message = ecotone.error(
        *("fit", heart, "constant", "--label", "label", "--domain", "domain", "--strict", "-o", tmp_path / "m.eco"),
        exit=3, code="suspicious_columns",
    )
    assert "column 'num' alone tells 'label'" in message


def test_texts_that_name_rows_are_left_out(ecotone, tmp_path):
    lines = [f"P-{i},{i % 5},{'ab'[i % 2]},{'uvw'[i % 3]}" for i in range(150)]
    (tmp_path / "d.csv").write_text("\n".join(["patient,x,y,site", *lines, ""]))
    command = ("evaluate", tmp_path / "d.csv", "constant", "--label", "y", "--domain", "site")
    warnings = ecotone.json(*command)["warnings"]
    assert [each["code"] for each in warnings] == ["id_like"] and "--id patient" in warnings[0]["message"]
    assert "'patient'" in ecotone.error(*command, "--strict", exit=3, code="suspicious_columns")
    assert ecotone.json(*command, "--id", "patient").get("warnings", []) == []
