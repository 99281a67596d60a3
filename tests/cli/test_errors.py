"""Every wrong input ends with the right exit code, a stable error code and a message that says who, what and which value."""

import gzip
import json
import os
import struct

import pytest
from conftest import CLINIC_COLUMNS, PIPELINE, SMALL_COLUMNS

OPTION, DATA, FILE = 2, 3, 4


def write(path, text):
    path.write_text(text)
    return path


def rows(n, start="x,y,site\n", line="{},{},{}\n"):
    return start + "".join(line.format(i * 7 % 5, "ab"[i % 2], "uv"[i // 2 % 2]) for i in range(n))


# --- usage


@pytest.mark.parametrize("given, meant", [("evalute", "evaluate"), ("fits", "fit"), ("metods", "methods")])
def test_unknown_verb(ecotone, given, meant):
    assert f"did you mean '{meant}'?" in ecotone.error(given, exit=OPTION, code="unknown_verb")


def test_unknown_verb_without_a_near_one(ecotone):
    assert "evaluate" in ecotone.error("xyzzy", exit=OPTION, code="unknown_verb")


def test_help_of_an_unknown_verb(ecotone):
    assert "did you mean 'fit'?" in ecotone.error("help", "fti", exit=OPTION, code="unknown_verb")
    assert "Usage: ecotone fit" in ecotone("help", "fit").stdout


def test_unknown_flag(ecotone, small):
    message = ecotone.error("evaluate", small, "logistic", "--lable", "y", exit=OPTION, code="unknown_flag")
    assert "'--lable'" in message and "did you mean '--label'?" in message


def test_missing_flag_value(ecotone, small):
    message = ecotone.error("evaluate", small, "logistic", "--label", "--threads", 1, exit=OPTION, code="usage")
    assert "--label" in message and "--threads" in message
    assert "--label" in ecotone("evaluate", small, "logistic", "--label", exit=OPTION).stderr


def test_fit_needs_output(ecotone, small):
    assert "--output" in ecotone.error("fit", small, "logistic", "--label", "y", exit=OPTION, code="usage")


def test_bad_threads(ecotone):
    assert "--threads" in ecotone.error("methods", "--threads", "-3", exit=OPTION, code="usage")
    assert "--threads" in ecotone.error("methods", "--threads", "many", exit=OPTION, code="usage")


@pytest.mark.parametrize("seed", ("-1", "18446744073709551616", "99999999999999999999999", "1.5", "0x10", "+1", " 1"))
def test_bad_seed(ecotone, seed):
    message = ecotone.error("generate", "moons", "--seed", seed, "-o", "m.csv", exit=OPTION, code="usage")
    assert "--seed" in message and "whole number" in message and f"'{seed}'" in message


def test_largest_seed(ecotone, tmp_path):
    largest, before = (ecotone("generate", "moons", "--seed", str(2**64 - k)).stdout for k in (1, 2))
    assert largest != before


def test_empty_values_are_refused(ecotone, small, tmp_path):
    """An unset variable of the shell is not "not given"."""
    given = ("evaluate", small, "logistic l2=0.1", *SMALL_COLUMNS)
    for flag in ("--report", "--metric", "--features", "--label", "--seed", "--threads", "--where", "--title"):
        message = ecotone.error(*given, flag, "", exit=OPTION, code="usage")
        assert flag in message, message
    assert "--report: the value is empty" in ecotone(*given, "--report", "", exit=OPTION).stderr
    assert "--output" in ecotone.error("fit", *given[1:], "-o", "", exit=OPTION, code="usage")


def test_generate_writes_what_the_name_says(ecotone, tmp_path):
    for name in ("x.npy", "x", "x.csv.gz"):
        message = ecotone.error("generate", "moons", "-o", tmp_path / name, exit=OPTION, code="bad_output")
        assert "must end in .eco or .csv" in message and name in message
    assert list(tmp_path.iterdir()) == []
    assert ecotone("generate", "moons", "-o", "/dev/stdout").stdout.startswith("domain,x1,")


def test_outputs_have_names_of_their_format(ecotone, small, tmp_path):
    model = tmp_path / "m.eco"
    ecotone("fit", small, "scale | logistic l2=0.1", *SMALL_COLUMNS, "-o", model)
    evaluate = ("evaluate", small, "constant", *SMALL_COLUMNS)
    for name in ("p.eco", "p.npy", "p.parquet", "p.XLSX", "p.json", "p.html", "p.csv.gz"):
        for command in (("predict", model, small, "-o"), (*evaluate, "--save-predictions")):
            message = ecotone.error(*command, tmp_path / name, exit=OPTION, code="bad_output")
            assert "writes a CSV file" in message and name in message
    for name in ("q.txt", "q.csv"):
        message = ecotone.error(*evaluate, "--report", tmp_path / name, exit=OPTION, code="bad_output")
        assert "--report writes an HTML page" in message and name in message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.eco", "small.csv"]
    ecotone(*evaluate, "--save-predictions", tmp_path / "p.txt", "--report", tmp_path / "page")
    ecotone("predict", model, small, "-o", "/dev/null")


# --- pipelines and options


@pytest.mark.parametrize(
    "pipeline, code, parts",
    [
        ("logitic", "unknown_method", ["logitic", "did you mean 'logistic'?"]),
        ("scale | logistic l3=1", "unknown_option", ["'l3'", "logistic", "'l2'"]),
        ("scale | logistic l2=-1", "bad_option", ["logistic", "l2", ">= 0", "-1"]),
        ("scale | logistic l2=high", "bad_option", ["logistic", "l2", "high"]),
        ("scale | logistic l2", "bad_pipeline", ["l2"]),
        ("scale || logistic", "bad_pipeline", []),
        ("scale | logistic l2=1 l2=2", "repeated_option", ["l2"]),
        ("impute strategy=mode | logistic", "bad_option", ["strategy", "mean", "median", "mode"]),
        ("logistic | scale", "learner_not_last", ["logistic"]),
        ("scale | calibrate", "needs_learner", ["calibrate"]),
    ],
)
def test_pipeline(ecotone, small, pipeline, code, parts):
    message = ecotone.error("evaluate", small, pipeline, *SMALL_COLUMNS, exit=OPTION, code=code)
    for part in parts:
        assert part in message


def test_no_pipeline(ecotone, small):
    assert "pipeline" in ecotone.error("evaluate", small, *SMALL_COLUMNS, exit=OPTION, code="no_pipeline")


def test_no_data(ecotone):
    ecotone.error("evaluate", "scale | logistic", "--label", "y", exit=OPTION, code="no_data")


def test_data_after_pipeline(ecotone, small):
    message = ecotone.error("evaluate", small, "scale", small, exit=OPTION, code="bad_order")
    assert "data files come before pipelines" in message


def test_two_pipelines_to_fit(ecotone, small, tmp_path):
    ecotone.error("fit", small, "scale", "impute", "-o", tmp_path / "m.eco", exit=OPTION, code="usage")


def test_unknown_protocol_metric_task_format(ecotone, small):
    flags = (small, "scale | logistic", *SMALL_COLUMNS)
    message = ecotone.error("evaluate", *flags, "--protocol", "leave-one-out", exit=OPTION, code="bad_option")
    assert "leave-one-domain-out" in message
    assert "auroc" in ecotone.error("evaluate", *flags, "--metric", "aurok", exit=OPTION, code="unknown_metric")
    ecotone.error("evaluate", *flags, "--task", "guess", exit=OPTION, code="bad_option")
    ecotone.error("evaluate", *flags, "--format", "xlsx", exit=OPTION, code="bad_format")


@pytest.mark.parametrize("flag", ["--folds", "--repetitions", "--held-out"])
def test_flag_of_another_protocol(ecotone, small, flag):
    flags = (small, "constant", *SMALL_COLUMNS)
    message = ecotone.error("evaluate", *flags, flag, 2, exit=OPTION, code="idle_flag")
    own = "k-fold" if flag == "--folds" else "domain-split"
    assert flag in message and own in message and "leave-one-domain-out" in message
    ecotone("evaluate", *flags, flag, 2, "--protocol", own)


@pytest.mark.parametrize("flag", ["--blocks", "--gap", "--window"])
def test_flag_of_forward_with_another_protocol(ecotone, small, flag):
    message = ecotone.error("evaluate", small, "constant", *SMALL_COLUMNS, flag, 2, exit=OPTION, code="idle_flag")
    assert flag in message and "forward" in message


def test_more_values_than_any_memory(ecotone, tmp_path):
    """1e5 x 2^31 x 1e6 numbers need more bytes than 64 bits can count."""
    sizes = ("sources=100000", "rows=2147483647", "features=1000000")
    message = ecotone.error("generate", "synthetic_domains", *sizes, "-o", tmp_path / "d.csv", exit=DATA, code="not_enough_memory")
    assert "x 1000000 values needs" in message


def test_generate(ecotone, tmp_path):
    message = ecotone.error("generate", "mons", exit=OPTION, code="unknown_generator", cwd=tmp_path)
    assert "moons" in message
    out = ("-o", tmp_path / "moons.csv")
    assert "angel" in ecotone.error("generate", "moons", "--set", "angel=30", *out, exit=OPTION, code="unknown_option")
    assert "ten" in ecotone.error("generate", "moons", "--set", "angle=ten", *out, exit=OPTION, code="bad_option")
    assert "angle" in ecotone.error("generate", "moons", "--set", "angle", *out, exit=OPTION, code="bad_setting")
    ecotone.error("generate", "moons", "--set", "=3", *out, exit=OPTION, code="bad_setting")
    assert not (tmp_path / "moons.csv").exists()


# --- files


def test_missing_file(ecotone, tmp_path):
    message = ecotone.error("evaluate", "data.csv", "scale | logistic", exit=FILE, code="no_such_file", cwd=tmp_path)
    assert message == "no such file: data.csv"
    ecotone.error("predict", "model.eco", "data.csv", exit=FILE, code="no_such_file", cwd=tmp_path)
    ecotone.error("inspect", "model.eco", exit=FILE, code="no_such_file", cwd=tmp_path)


def test_second_file_is_missing(ecotone, small, tmp_path):
    message = ecotone.error("evaluate", small, "gone.csv", "scale", exit=FILE, code="no_such_file", cwd=tmp_path)
    assert "gone.csv" in message


def test_folder_as_file(ecotone, tmp_path):
    message = ecotone.error("evaluate", tmp_path, "scale | logistic", "--label", "y", exit=FILE, code="cannot_open")
    assert str(tmp_path) in message and "folder" in message


def test_folder_as_output(ecotone, small, tmp_path):
    message = ecotone.error("fit", small, "scale", "-o", tmp_path, exit=FILE, code="cannot_write")
    assert str(tmp_path) in message


@pytest.mark.parametrize("output", ["/proc/model.eco", "/sys/model.eco", "no/such/folder/model.eco"])
def test_folder_that_cannot_be_written(ecotone, small, tmp_path, output):
    folder = os.path.dirname(output)
    if output.startswith("/") and not os.path.ismount(folder):
        pytest.skip(f"{folder} is an ordinary folder here, not a file system of the kernel")
    message = ecotone.error("fit", small, "scale", "-o", output, exit=FILE, code="cannot_write", cwd=tmp_path)
    assert output in message


def test_output_that_is_an_input(ecotone, small, tmp_path):
    """Found before anything is read: the files are as they were, by whatever name they are called."""
    model, data = tmp_path / "m.eco", tmp_path / "d.csv"
    data.write_bytes(small.read_bytes())
    ecotone("fit", data, "scale | logistic", *SMALL_COLUMNS, "-o", model)
    link, hop = tmp_path / "link", tmp_path / "hop"
    link.symlink_to(data)
    hop.mkdir()
    old = {path: path.read_bytes() for path in (model, data)}
    for verb, *arguments in (
        ("predict", model, data, "-o", model),
        ("predict", model, data, "-o", data),
        ("predict", model, link, "-o", data),
        ("transform", model, data, "-o", link),
        ("predict", model, data, "-o", hop / ".." / "d.csv"),
        ("fit", data, "scale", "-o", data),
        ("convert", data, *SMALL_COLUMNS, "-o", data),
        ("evaluate", data, "constant", *SMALL_COLUMNS, "--report", data),
        ("evaluate", data, "constant", *SMALL_COLUMNS, "--save-predictions", link),
    ):
        assert "d.csv" in (message := ecotone.error(verb, *arguments, exit=OPTION, code="same_file")) or "m.eco" in message
        assert {path: path.read_bytes() for path in old} == old


def test_outputs_that_are_one_file(ecotone, small, tmp_path):
    new, dangling = tmp_path / "new.html", tmp_path / "dangling"
    dangling.symlink_to(new)
    flags = ("evaluate", small, "constant", *SMALL_COLUMNS)
    for other in (new, dangling, tmp_path / "." / "new.html"):
        ecotone.error(*flags, "--report", new, "--save-predictions", other, exit=OPTION, code="same_file")
        assert not new.exists()
    ecotone(*flags, "--report", "/dev/null", "--save-predictions", "/dev/null")
    ecotone(*flags, "--report", new, "--save-predictions", tmp_path / "other.csv")


def test_full_standard_output(ecotone, model, clinics):
    with open("/dev/full", "w") as full:
        import subprocess

        done = subprocess.run([ecotone.path, "predict", model, clinics], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == FILE
    assert "standard output" in done.stderr and "No space" in done.stderr


# --- tables


def test_ragged_row_names_its_line(ecotone, tmp_path):
    path = write(tmp_path / "d.csv", "a,b,y\n1,2,u\n3,4,v\n5,6\n7,8,u\n")
    message = ecotone.error("evaluate", path, "logistic", "--label", "y", exit=DATA, code="ragged_row")
    assert "line 4" in message and "d.csv" in message


def test_ragged_row_behind_quoted_line_ends(ecotone, tmp_path):
    path = write(tmp_path / "d.csv", 'a,b,y\n1,"two\nlines",u\n3,x,v\n5,6,7,8\n')
    message = ecotone.error("evaluate", path, "logistic", "--label", "y", exit=DATA, code="ragged_row")
    assert "line 5" in message


@pytest.mark.parametrize("content", ["", "\n", "\n\n\n"])
def test_empty_file(ecotone, tmp_path, content):
    path = write(tmp_path / "d.csv", content)
    message = ecotone.error("evaluate", path, "logistic", "--label", "y", exit=DATA, code="empty_data")
    assert "d.csv" in message


def test_table_without_rows(ecotone, tmp_path):
    path = write(tmp_path / "d.csv", "a,b,y\n")
    ecotone.error("evaluate", path, "logistic", "--label", "y", exit=DATA, code="empty_data")
    ecotone.error("fit", path, "scale", "--label", "y", "-o", tmp_path / "m.eco", exit=DATA, code="empty_data")
    assert not (tmp_path / "m.eco").exists()


def test_one_row(ecotone, small, tmp_path):
    path = write(tmp_path / "d.csv", rows(1))
    ecotone.error("evaluate", path, "logistic", "--label", "y", "--domain", "site", exit=DATA, code="needs_two_domains")
    ecotone.error("fit", path, "logistic", "--label", "y", "-o", tmp_path / "m.eco", exit=DATA, code="one_class")
    # One row is enough to scale, and to predict.
    ecotone("fit", path, "scale", "--ignore", "y,site", "-o", tmp_path / "m.eco")
    ecotone("fit", small, "scale | logistic", *SMALL_COLUMNS, "-o", tmp_path / "m.eco")
    one = write(tmp_path / "one.csv", "colour,x2,x1\nred,1,2\n")
    assert len(ecotone("predict", tmp_path / "m.eco", one).stdout.splitlines()) == 2


def test_no_rows_to_predict(ecotone, small, tmp_path):
    ecotone("fit", small, "scale | logistic", *SMALL_COLUMNS, "-o", tmp_path / "m.eco")
    none = write(tmp_path / "none.csv", "colour,x2,x1\n")
    ecotone.error("predict", tmp_path / "m.eco", none, exit=DATA, code="empty_data")


def test_unknown_column(ecotone, small):
    flags = ("scale | logistic", "--domain", "site")
    message = ecotone.error("evaluate", small, *flags, "--label", "z", exit=DATA, code="unknown_column")
    assert "'z'" in message or " z" in message
    message = ecotone.error("evaluate", small, *flags, "--label", "y", "--ignore", "color", exit=DATA, code="unknown_column")
    assert "color" in message and "did you mean 'colour'?" in message
    ecotone.error("evaluate", small, *flags, "--label", "y", "--where", "age>3", exit=DATA, code="unknown_column")


def test_nan_reaches_the_learner(ecotone, tmp_path):
    path = write(tmp_path / "d.csv", rows(20) + ",a,u\n")
    message = ecotone.error("evaluate", path, "logistic", "--label", "y", "--domain", "site", exit=DATA, code="non_finite")
    assert "impute" in message and "x" in message
    ecotone("evaluate", path, "impute | logistic", "--label", "y", "--domain", "site")


def test_rows_are_counted_in_the_file(ecotone, tmp_path):
    """Row 18 has the hole, however many rows were left out before it or stand elsewhere in the training view."""
    lines = rows(30).splitlines()
    lines[18] = ",".join(["", *lines[18].split(",")[1:]])
    lines[3] = lines[3].replace(",a,", ",,").replace(",b,", ",,")
    path, model = write(tmp_path / "d.csv", "\n".join(lines) + "\n"), tmp_path / "m.eco"
    flags = ("logistic l2=1", "--label", "y", "--domain", "site")
    site = lines[18].split(",")[2]
    other = "u" if site == "v" else "v"
    for verb, *more in (
        ("evaluate", *flags),
        ("evaluate", *flags, "--protocol", "k-fold"),
        ("fit", *flags, "-o", model),
        ("fit", *flags, "-o", model, "--target", site),
        ("fit", *flags, "-o", model, "--target", other),
        ("fit", *flags, "-o", model, "--where", "x!=1"),
    ):
        assert "in row 18;" in ecotone.error(verb, path, *more, exit=DATA, code="non_finite")
    whole = write(tmp_path / "whole.csv", rows(30))
    ecotone("fit", whole, *flags, "-o", model)
    message = ecotone.error("predict", model, path, "--where", "x!=1", exit=DATA, code="non_finite")
    assert "in row 18;" in message


def test_feature_names_that_clash(ecotone, tmp_path):
    path = write(tmp_path / "d.csv", "t=p,t,y\n10,p,0\n20,q,1\n35,p,0\n11,q,1\n")
    model = tmp_path / "m.eco"
    message = ecotone.error("fit", path, "constant", "--label", "y", "-o", model, exit=DATA, code="duplicate_column")
    assert "'t=p' and 't'" in message and "--ignore" in message
    ecotone("fit", path, "constant", "--label", "y", "--ignore", "t", "-o", model)
    path = write(tmp_path / "d.csv", "a,a_missing,y\n1,0,u\n,1,v\n3,0,u\n4,0,v\n")
    flags = ("impute indicator=true | scale", "--label", "y", "-o", model)
    assert "'a_missing'" in ecotone.error("fit", path, *flags, exit=DATA, code="duplicate_column")


def test_classes_that_touch(ecotone, tmp_path):
    """Quasi-separable: a tie at 2, so the classes are not separated without error."""
    path = write(tmp_path / "d.csv", "x,y\n1,a\n2,a\n2,b\n3,b\n")
    flags = ("--label", "y", "-o", tmp_path / "m.eco")
    message = ecotone.error("fit", path, "logistic l2=0", *flags, exit=DATA, code="separable")
    assert "without error" not in message and "perhaps with ties" in message and "column 'x' alone" in message
    ecotone("fit", path, "logistic", *flags)


def test_one_class(ecotone, tmp_path):
    path = write(tmp_path / "d.csv", rows(20).replace(",b,", ",a,"))
    flags = ("--label", "y", "--domain", "site")
    assert "at least two classes" in ecotone.error("evaluate", path, "logistic", *flags, exit=DATA, code="one_class")


def test_evaluate_goes_on_without_what_cannot_be_fitted(ecotone, tmp_path):
    """Without site b there is one class, which logistic refuses; the table of the others stands, and the exit is 3."""
    lines = ["x,site,y"] + [f"{i},{'abc'[i % 3]},{'u' if i % 3 != 1 or i % 2 else 'v'}" for i in range(60)]
    path = write(tmp_path / "d.csv", "\n".join(lines) + "\n")
    flags = ("evaluate", path, "logistic l2=1", "constant", "impute | constant", "--label", "y", "--domain", "site")
    page = tmp_path / "page.html"
    done = ecotone(*flags, "--report", page, exit=DATA)
    assert "difference from constant" in done.stdout and "not fitted" in done.stdout and "with b held out" in done.stdout
    assert done.stderr.splitlines()[-1] == "error: 1 of 3 pipelines could not be fitted; the table says why"
    assert "Not fitted:" in page.read_text()
    out = ecotone.json(*flags, exit=DATA)
    failed, constant, imputed = out["pipelines"]
    assert failed["error"]["code"] == "one_class" and failed["error"]["message"].startswith('"logistic l2=1" with b held out')
    assert failed["mean"]["accuracy"] is None and constant["mean"]["accuracy"] > 0.5
    assert out["reference"] == 1 and imputed["difference"]["accuracy"]["p_adjusted"] == 1
    ecotone.error(*flags[:3], *flags[5:], exit=DATA, code="one_class")


def test_one_domain(ecotone, small):
    message = ecotone.error("evaluate", small, "logistic", "--label", "y", exit=DATA, code="needs_two_domains")
    assert "--domain" in message or "domain" in message
    ecotone("evaluate", small, "scale | logistic", "--label", "y", "--ignore", "site", "--protocol", "k-fold")


def test_no_labels(ecotone, tmp_path, small):
    path = write(tmp_path / "d.csv", rows(20).replace(",a,", ",,").replace(",b,", ",NA,"))
    flags = ("--label", "y", "--domain", "site")
    for verb, more in (("evaluate", ()), ("fit", ("-o", tmp_path / "m.eco"))):
        ecotone.error(verb, path, "logistic", *flags, *more, exit=DATA, code="no_labels")
    ecotone.error("evaluate", small, "scale | logistic", "--domain", "site", exit=DATA, code="no_labels")
    ecotone.error("fit", small, "scale | logistic", "-o", tmp_path / "m.eco", exit=DATA, code="no_labels")


def test_unknown_target(ecotone, small, tmp_path):
    flags = (*SMALL_COLUMNS, "--target", "d", "-o", tmp_path / "m.eco")
    message = ecotone.error("fit", small, "scale | logistic", *flags, exit=DATA, code="unknown_domain")
    assert "'d'" in message and "a, b, c" in message


def test_too_many_levels(ecotone, tmp_path):
    text = "name,y,site\n" + "".join(f"n{i % 140},{'ab'[i % 2]},{'uv'[i // 2 % 2]}\n" for i in range(150))
    path = write(tmp_path / "d.csv", text)
    flags = ("--label", "y", "--domain", "site")
    message = ecotone.error("evaluate", path, "logistic", *flags, exit=DATA, code="too_many_levels")
    assert "name" in message and "--ignore" in message


def test_many_columns(ecotone, tmp_path):
    n = 100_000
    path = tmp_path / "wide.csv"
    with open(path, "w") as file:
        file.write(",".join(f"c{j}" for j in range(n)) + ",y\n")
        for i in range(12):
            file.write(",".join(str((i * 31 + j * 17) % 7) for j in range(n)) + f",{'ab'[i % 2]}\n")
    model = tmp_path / "m.eco"
    ecotone("fit", path, "scale | logistic l2=0.1", "--label", "y", "-o", model)
    lines = ecotone("predict", model, path).stdout.splitlines()
    assert lines[0] == "prediction,p_a,p_b" and len(lines) == 13
    assert len(ecotone.json("inspect", model)["features"]) == n


def test_truncated_gzip(ecotone, tmp_path):
    whole = gzip.compress(rows(5000).encode())
    path = tmp_path / "d.csv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    flags = ("--label", "y", "--domain", "site")
    ecotone.error("evaluate", path, "logistic", *flags, exit=FILE, code="truncated_gzip")
    path.write_bytes(whole)
    ecotone("evaluate", path, "logistic", *flags)


# --- models


def test_missing_column_is_named(ecotone, model, clinics, tmp_path):
    lines = [line.split(",") for line in clinics.read_text().splitlines()]
    gone = lines[0].index([c for c in lines[0] if c not in ("disease", "hospital")][3])
    path = write(tmp_path / "d.csv", "\n".join(",".join(c for j, c in enumerate(x) if j != gone) for x in lines) + "\n")
    assert lines[0][gone] in ecotone.error("predict", model, path, exit=DATA, code="missing_column")


def test_missing_columns_are_quoted_each(ecotone, small, tmp_path):
    ecotone("fit", small, "scale | logistic", *SMALL_COLUMNS, "-o", tmp_path / "m.eco")
    path = write(tmp_path / "d.csv", "z\n1\n")
    message = ecotone.error("predict", tmp_path / "m.eco", path, exit=DATA, code="missing_column")
    assert "no column 'x1', 'x2', 'colour', which the model needs" in message


def test_text_where_a_number_was(ecotone, small, tmp_path):
    ecotone("fit", small, "scale | logistic", *SMALL_COLUMNS, "-o", tmp_path / "m.eco")
    path = write(tmp_path / "d.csv", "x1,x2,colour\n1,2,red\n1,tall,red\n")
    message = ecotone.error("predict", tmp_path / "m.eco", path, exit=DATA, code="bad_value")
    assert "tall" in message and "x2" in message and "line 3" in message


def test_predict_without_a_learner(ecotone, small, tmp_path):
    ecotone("fit", small, "impute | scale", *SMALL_COLUMNS, "-o", tmp_path / "m.eco")
    assert "learner" in ecotone.error("predict", tmp_path / "m.eco", small, exit=OPTION, code="no_learner")
    ecotone("transform", tmp_path / "m.eco", small)


def test_model_without_data(ecotone, model):
    ecotone.error("predict", model, exit=OPTION, code="no_data")


def test_table_as_model(ecotone, small):
    ecotone.error("inspect", small, exit=FILE, code="bad_model")
    ecotone.error("predict", small, small, exit=FILE, code="bad_model")


def test_data_as_model(ecotone, small, tmp_path):
    ecotone("convert", small, *SMALL_COLUMNS, "-o", tmp_path / "d.eco")
    ecotone.error("inspect", tmp_path / "d.eco", exit=FILE, code="bad_model")


def test_truncated_model(ecotone, model, clinics, tmp_path):
    whole = model.read_bytes()
    path = tmp_path / "m.eco"
    for length in [0, 1, 7, 8, 9, 100, len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:length])
        ecotone.error("predict", path, clinics, exit=FILE, code="bad_model")
    path.write_bytes(whole + b"\0")
    ecotone.error("predict", path, clinics, exit=FILE, code="bad_model")


def with_header(whole, change):
    """The model with its JSON header changed."""
    length = struct.unpack("<Q", whole[:8])[0]
    header = json.loads(whole[8 : 8 + length])
    change(header)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + whole[8 + length :]


@pytest.mark.parametrize("claim", [0, 1, 2**31, 2**40, 2**63, 2**64 - 1])
def test_hostile_header_length(ecotone, model, tmp_path, claim):
    path = tmp_path / "m.eco"
    path.write_bytes(struct.pack("<Q", claim) + model.read_bytes()[8:])
    ecotone.error("inspect", path, exit=FILE, code="bad_model")


def hostile_changes():
    def arrays(header):
        return [entry for name, entry in header.items() if name != "__metadata__"]

    def offsets(header):
        arrays(header)[0]["data_offsets"] = [0, 2**60]

    def negative(header):
        arrays(header)[0]["data_offsets"] = [-8, 8]

    def shape(header):
        arrays(header)[0]["shape"] = [2**62, 4]

    def kind(header):
        arrays(header)[0]["dtype"] = "F16"

    def gone(header):
        header.pop("__metadata__")

    def no_strings(header):
        header["__metadata__"] = {"pipeline": 3}

    def pipeline(header):
        header["__metadata__"]["pipeline"] = "scale | exec rm=1"

    return [offsets, negative, shape, kind, gone, no_strings, pipeline]


@pytest.mark.parametrize("change", hostile_changes(), ids=lambda change: change.__name__)
def test_hostile_header(ecotone, model, tmp_path, change):
    path = tmp_path / "m.eco"
    path.write_bytes(with_header(model.read_bytes(), change))
    ecotone.error("inspect", path, exit=FILE, code="bad_model")


def test_newer_format_is_refused_by_name(ecotone, model, tmp_path):
    def newer(header):
        header["__metadata__"]["format_version"] = "999"

    path = tmp_path / "m.eco"
    path.write_bytes(with_header(model.read_bytes(), newer))
    assert "999" in ecotone.error("inspect", path, exit=FILE, code="newer_format")


def test_failed_fit_leaves_the_old_model(ecotone, model, clinics, tmp_path):
    path = tmp_path / "m.eco"
    path.write_bytes(model.read_bytes())
    ecotone.error("fit", clinics, "scale | logistic", *CLINIC_COLUMNS, "-o", path, exit=DATA, code="non_finite")
    assert path.read_bytes() == model.read_bytes()
    assert [p.name for p in tmp_path.iterdir()] == ["m.eco"]
    ecotone("fit", clinics, PIPELINE, *CLINIC_COLUMNS, "-o", path)
    assert path.read_bytes() == model.read_bytes()
