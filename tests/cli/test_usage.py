"""What people do with the program, from help to predictions."""

import csv
import gzip
import io
import json
import re
import shlex
import subprocess

import pytest
from conftest import CLINIC_COLUMNS, PIPELINE, ROOT, SMALL_COLUMNS

VERBS = (
    "generate convert diagnose evaluate tune fit predict transform inspect reproduce methods doctor completion"
).split()
GENERATORS = (
    "moons wishart logistic clinics misspecified strong noshift separable10 noisy10 hidden_blob three_classes "
    "synthetic_domains target_shift exchangeable"
).split()


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


# --- the program about itself


def test_names_in_a_file_cannot_control_the_terminal(ecotone, small, tmp_path):
    """Escape sequences in names of domains and classes."""
    wild = tmp_path / "wild.csv"
    controls = "\x1b\x07\x9b\u202e\u2066\u200f"
    wild.write_text(
        small.read_text().replace("yes", "y\x1b[31m\x07\u202e\u2066es").replace("\na,", "\n\x1b[2J\x9b2J\u200fa,")
    )
    model, eco = tmp_path / "m.eco", tmp_path / "d.eco"
    for command in (
        ("fit", wild, "scale | logistic l2=0.1", *SMALL_COLUMNS, "-o", model),
        ("convert", wild, *SMALL_COLUMNS, "-o", eco),
        ("inspect", model),
        ("evaluate", wild, "scale | logistic l2=0.1", *SMALL_COLUMNS),
        ("diagnose", wild, *SMALL_COLUMNS),
    ):
        done = ecotone(*command)
        assert done.stdout and not set(controls) & set(done.stdout + done.stderr), command
    done = ecotone("evaluate", wild, "constant", *SMALL_COLUMNS, "--target", "nowhere", exit=3)
    assert "?" in done.stderr and not set(controls) & set(done.stderr)


def test_help(ecotone):
    """Every verb once, under the heading that verbs.def gives it."""
    page = ecotone("--help").stdout
    place = 0
    for kind, name in re.findall(r'^(GROUP|VERB)\("?([^")]*)', (ROOT / "cli/verbs.def").read_text(), re.M):
        if kind == "GROUP":
            place = page.index(f"\n{name}:\n", place)
        else:
            place = page.index(f"\n  {name} ", place)
            assert page.count(f"\n  {name} ") == 1
    assert max(map(len, page.split("\nTry it:")[0].splitlines())) <= 100


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(ecotone, verb):
    page = ecotone(verb, "--help").stdout
    examples = page.split("Examples:")[1]
    assert examples.count("ecotone ") >= 2
    for flag in ("--json", "--threads", "--seed", "--quiet", "--timing"):
        assert flag in page
    assert max(map(len, page.split("\nExamples:")[0].splitlines())) <= 100


def test_version(ecotone):
    import re

    line = ecotone("--version").stdout
    assert re.fullmatch(r"ecotone \d+\.\d+\.\d+ \(commit [^,]+, \w+, \w+ [\d.]+(, sanitize [\w,]+)?\)\n", line), line


def test_version_as_json(ecotone):
    found = ecotone.json("--version")
    assert set(found) == {"version", "commit", "build_type", "compiler", "sanitizers"}
    assert f"ecotone {found['version']} (commit {found['commit']}" in ecotone("--version").stdout


def test_bare_call_and_version_verb(ecotone):
    assert ecotone().stdout == ecotone("--help").stdout
    assert ecotone("version").stdout == ecotone("--version").stdout
    assert ecotone("version", "--json").stdout == ecotone("--version", "--json").stdout


def test_flags_may_stand_before_the_verb(ecotone, small):
    columns = ("--threads", "2", "--seed=3", "--label", "y")
    expected = ecotone.results("evaluate", small, "constant", *SMALL_COLUMNS, *columns[:3])
    assert ecotone.results(*columns, "evaluate", small, "constant", *SMALL_COLUMNS[2:]) == expected
    assert "unknown flag '--thread' of evaluate; did you mean '--threads'?" in ecotone.error(
        "--thread", "2", "evaluate", small, "constant", exit=2, code="unknown_flag"
    )


def test_lists_may_be_given_in_parts(ecotone, small):
    once = ecotone.results("evaluate", small, "constant", *SMALL_COLUMNS, "--ignore", "x1,x2")
    assert ecotone.results("evaluate", small, "constant", *SMALL_COLUMNS, "--ignore", "x1", "--ignore", "x2") == once


@pytest.mark.parametrize(
    "name, words",
    [
        ("xgboost", "'trees'"),
        ("RandomForestClassifier", "'forest'"),
        ("PCA", "'kpca kernel=linear'"),
        ("elastic-net", "l1=auto l2=auto"),
        ("Linear_Regression", "'least_squares'"),
        ("RidgeCV", "use 'ridge'"),
        ("knn", "'svm'"),
        ("one_hot_encoder", "text columns become categories"),
        ("dann", "not part of ecotone"),
        ("kmm", "'weight.kmm'"),
    ],
)
def test_names_of_other_packages_lead_to_what_is_here(ecotone, name, words):
    message = ecotone.error("methods", name, exit=2, code="unknown_method")
    assert words in message and "did you mean" not in message
    for quoted in re.findall(r"'([^']*)'", message)[1:]:
        ecotone("methods", quoted.split()[0])


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("evaluate",), "is missing"),
        (("generate", "clinics", "-o", "a.csv", "-o", "b.csv"), "--output can be given only once"),
        (("generate", "clinics", "--threads", "many"), "--threads: a whole number from 0 to 4096 is needed, got 'many'"),
        (("generate", "clinics", "--threads", "-1"), "a whole number from 0 to 4096 is needed"),
        (("generate", "clinics", "--set", ""), "--set: the value is empty"),
        (("generate", "clinics", "-o", "--quiet"), "a value is needed here, not the flag --quiet"),
        (("generate", "clinics", "-o=a.csv"), "--output: the value begins with '='; write '-o FILE' or '--output=FILE'"),
        (("generate", "clinics", "--quiet=no"), "--quiet is a switch and takes no value"),
        (("evaluate", "a.csv", "constant", "--domain-from-file=3"), "--domain-from-file is a switch and takes no value"),
        (("generate", "clinics", "-q=1"), "without '='"),
        (("fit", "a.csv", "constant"), "--output FILE (or -o FILE) is missing"),
        (("inspect",), "FILE is missing"),
        (("--threads", "2"), "--threads needs a verb, such as `ecotone"),
        (("--label=y",), "--label needs a verb, such as `ecotone"),
    ],
)
def test_usage_errors_are_plain(ecotone, arguments, message):
    said = ecotone.error(*arguments, exit=2, code="usage")
    assert message in said
    for word in ("option", "subcommand", "required", "convert", "argument", "override"):  # words of the parser library
        assert word not in said
    assert "error: --threads: a value is missing" in ecotone("generate", "clinics", "--threads", exit=2).stderr
    assert "error: no verb is given" in ecotone("--", exit=2).stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("--frob",), "unknown flag '--frob'; `ecotone --help` lists the verbs"),
        (("inspect", "x", "-z"), "unknown flag '-z' of inspect"),
        (("inspect", "x", "--jsom"), "unknown flag '--jsom' of inspect; did you mean '--json'?"),
    ],
)
def test_unknown_flags(ecotone, arguments, message):
    assert ecotone.error(*arguments, exit=2, code="unknown_flag") == message


@pytest.mark.parametrize("arguments", [("inspect", "x", "y"), ("inspect", "x", "--", "--json"), ("doctor", "x")])
def test_unexpected_arguments(ecotone, arguments):
    done = ecotone(*arguments, exit=2)
    assert done.stderr == f"error: unexpected argument '{arguments[-1]}' of {arguments[0]}\n"


def test_help_of_help(ecotone):
    assert ecotone("help", "help").stdout == ecotone("--help").stdout
    assert ecotone("help", "fit").stdout == ecotone("fit", "--help").stdout


def test_doctor(ecotone):
    found = ecotone.json("doctor")
    assert found["threads"] >= 1
    assert found["memory_bytes"] > 0
    assert "csv" in found["features"]["formats"] and "gzip" in found["features"]["compression"]
    text = ecotone("doctor").stdout
    for key in ("blas", "build_type", "version"):
        assert found[key] in text


def test_methods(ecotone):
    listed = ecotone.json("methods")["methods"]
    declared = (ROOT / "src/ecotone/methods/methods.def").read_text()
    names = [line[7:-1] for line in declared.splitlines() if line.startswith("METHOD(")]
    assert [m["name"].replace(".", "_") for m in listed] == names
    for method in listed:
        assert method["summary"].endswith(".")
        assert {"name", "family", "summary", "when", "example", "citation", "needs_labels", "options"} <= set(method)
        assert ecotone.json("methods", method["name"]) == method
        text = ecotone("methods", method["name"]).stdout
        words = " ".join(text.split())
        assert max(map(len, text.splitlines())) <= 130
        # First an example, when to use it and its citation, then the method's own options, then the common ones.
        order = [method["example"], method["when"], method["reference"]]
        order += [f" {o['name']}=" for common in (False, True) for o in method["options"] if o["common"] == common]
        place = 0
        for part in order:
            place = words.index(part, place)
        for option in method["options"]:
            assert {"name", "type", "default", "help", "low", "high", "choices"} <= set(option)
            assert option["help"] in words
            if option["choices"]:
                assert option["default"] in option["choices"]
            if option["low"] is not None and isinstance(option["default"], (int, float)):
                assert option["default"] >= option["low"]
    l2 = [o for m in listed if m["name"] == "logistic" for o in m["options"] if o["name"] == "l2"][0]
    assert l2["low"] == 0 and l2["type"] == "real or auto"


def test_the_examples_of_methods_run(ecotone, tmp_path):
    """The command as it is shown, on a smaller table."""
    ecotone("generate", "clinics", "size=0.15", "-o", "clinics.csv", cwd=tmp_path)
    for method in ecotone.json("methods")["methods"]:
        text = ecotone("methods", method["name"]).stdout
        (command,) = re.findall(r"^  (ecotone evaluate .*)$", text, re.M)
        program, *words = shlex.split(command)
        assert method["example"] in words
        assert "mean" in ecotone(*words, "--quiet", cwd=tmp_path).stdout


def test_a_baseline_says_that_it_reads_no_features(ecotone):
    sentence = "Ignores the features, so missing values do not matter."
    assert sentence in ecotone("methods", "constant").stdout
    assert sentence not in ecotone("methods", "logistic").stdout
    assert sentence in (ROOT / "docs/methods.md").read_text()


def test_reference_page(ecotone):
    page = ecotone("methods", "--markdown").stdout
    assert page == ecotone("methods", "--markdown", "--threads", 1).stdout
    for method in ecotone.json("methods")["methods"]:
        assert f"\n## {method['name']}\n" in page
        for option in method["options"]:
            assert f"| `{option['name']}` | {option['type']} |" in page


# --- generate and convert


@pytest.mark.parametrize("name", GENERATORS)
def test_generate(ecotone, tmp_path, name):
    path = tmp_path / "data.csv"
    made = ecotone.json("generate", name, "-o", path)
    rows = table(path.read_text())
    assert len(rows) == made["rows"] == sum(d["rows"] for d in made["domains"])
    assert all(None not in row and None not in row.values() for row in rows)
    assert ecotone("generate", name).stdout == path.read_text()


def test_generators_are_listed(ecotone):
    listed = ecotone.json("generate", "--list")["generators"]
    assert {g["name"] for g in listed} == set(GENERATORS)
    text = ecotone("generate", "--list").stdout
    for generator in listed:
        assert generator["name"] in text and generator["summary"] in text


def test_settings(ecotone, tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    ecotone("generate", "moons", "--set", "angle=30", "-o", a)
    ecotone("generate", "moons", "angle=30", "-o", b)
    assert a.read_bytes() == b.read_bytes()
    ecotone("generate", "moons", "--set", "angle=60", "-o", b)
    assert a.read_bytes() != b.read_bytes()


def test_eco_data_give_the_same_results(ecotone, clinics, tmp_path):
    eco, back = tmp_path / "data.eco", tmp_path / "back.csv"
    said = ecotone("convert", clinics, *CLINIC_COLUMNS, "-o", eco).stdout
    assert "8 domains" in said and "disease" in said
    from_csv = ecotone.json("evaluate", clinics, PIPELINE, *CLINIC_COLUMNS, "--quiet")
    from_eco = ecotone.json("evaluate", eco, PIPELINE, "--quiet")
    provenance = [found.pop("provenance") for found in (from_csv, from_eco)]
    assert from_csv == from_eco
    assert provenance[0]["data_hash"] == provenance[1]["data_hash"]
    assert provenance[0]["command"].endswith("--label disease --domain hospital")
    ecotone("convert", eco, "-o", back)
    again = ecotone.json("evaluate", back, PIPELINE, *CLINIC_COLUMNS, "--quiet")
    assert again["pipelines"] == from_csv["pipelines"]


def test_generated_eco_equals_generated_csv(ecotone, tmp_path):
    eco, text = tmp_path / "d.eco", tmp_path / "d.csv"
    ecotone("generate", "clinics", "-o", eco)
    ecotone("convert", eco, "-o", text)
    assert text.read_text() == ecotone("generate", "clinics").stdout


def test_files_as_domains(ecotone, small, tmp_path):
    lines = small.read_text().splitlines()
    paths = []
    for site in "abc":
        path = tmp_path / f"site_{site}.csv"
        path.write_text("\n".join([lines[0], *(x for x in lines[1:] if x.startswith(site))]) + "\n")
        paths.append(path)
    flags = ("--label", "y", "--ignore", "site")
    result = ecotone.json("evaluate", *paths, "scale | logistic", *flags, "--domain-from-file")
    assert [d["domain"] for d in result["pipelines"][0]["domains"]] == ["site_a", "site_b", "site_c"]
    one = ecotone.json("evaluate", small, "scale | logistic", *SMALL_COLUMNS)
    for ours, theirs in zip(result["pipelines"][0]["domains"], one["pipelines"][0]["domains"]):
        assert ours["rows"] == theirs["rows"]
        assert ours["metrics"]["auroc"] == pytest.approx(theirs["metrics"]["auroc"], abs=1e-9)


# --- evaluate


def test_evaluate_table_and_json_agree(ecotone, clinics):
    flags = (clinics, "impute | constant", PIPELINE, *CLINIC_COLUMNS)
    result = ecotone.json("evaluate", *flags)
    text = ecotone("evaluate", *flags).stdout
    assert {"protocol", "metrics", "pipelines"} <= set(result)
    constant, logistic = result["pipelines"]
    assert logistic["pipeline"] == PIPELINE and constant["pipeline"] == "impute | constant"
    for domain in logistic["domains"]:
        assert domain["domain"] in text
        assert f"{domain['metrics']['auroc']:.4f}" in text
        assert 0.5 < domain["metrics"]["auroc"] < 1
    for domain in constant["domains"]:
        assert domain["metrics"]["auroc"] == 0.5
    difference = logistic["difference"]["auroc"]
    assert difference["low"] < difference["mean"] < difference["high"]
    assert difference["mean"] == pytest.approx(logistic["mean"]["auroc"] - constant["mean"]["auroc"])


def test_metric_of_the_table(ecotone, clinics):
    flags = (clinics, PIPELINE, *CLINIC_COLUMNS)
    text = ecotone("evaluate", *flags, "--metric", "brier").stdout
    mean = ecotone.json("evaluate", *flags)["pipelines"][0]["mean"]["brier"]
    assert "brier" in text.lower() and f"{mean:.4f}" in text


def test_saved_predictions(ecotone, clinics, tmp_path):
    path = tmp_path / "p.csv"
    result = ecotone.json("evaluate", clinics, "impute | constant", PIPELINE, *CLINIC_COLUMNS, "--save-predictions", path)
    rows = table(path.read_text())
    data = table(clinics.read_text())
    assert len(rows) == 2 * len(data)
    assert list(rows[0]) == ["pipeline", "row", "domain", "truth", "prediction", "p_0", "p_1"]
    for row in rows:
        origin = data[int(row["row"]) - 1]
        assert (row["domain"], row["truth"]) == (origin["hospital"], origin["disease"])
        assert float(row["p_0"]) + float(row["p_1"]) == pytest.approx(1)
    for entry in result["pipelines"][1]["domains"]:
        mine = [r for r in rows if r["pipeline"] == PIPELINE and r["domain"] == entry["domain"]]
        right = sum(r["truth"] == r["prediction"] for r in mine) / len(mine)
        assert right == pytest.approx(entry["metrics"]["accuracy"], abs=1e-12)


def test_saved_predictions_count_rows_in_the_file(ecotone, small, tmp_path):
    path = tmp_path / "p.csv"
    ecotone("evaluate", small, "constant", *SMALL_COLUMNS, "--where", "x1>=3", "--save-predictions", path)
    data = table(small.read_text())
    rows = table(path.read_text())
    assert [int(r["row"]) for r in rows] == [i for i, d in enumerate(data, 1) if int(d["x1"]) >= 3]
    for row in rows:
        origin = data[int(row["row"]) - 1]
        assert (row["domain"], row["truth"]) == (origin["site"], origin["y"])


def test_named_domains_are_scored_by_models_of_the_others(ecotone, clinics, tmp_path):
    """Labels of a named domain, or their features, change nothing but its own scores."""
    target = ("Dunmere", "Highmoor")
    flags = ("impute | scale | logistic l2=0.1", *CLINIC_COLUMNS, "--target", ",".join(target))
    found = ecotone.json("evaluate", clinics, *flags)
    assert found["protocol"] == "named-domains"
    assert [d["domain"] for d in found["pipelines"][0]["domains"]] == list(target)
    with open(clinics, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if row["hospital"] == "Highmoor":
            row["disease"], row["age"] = str(1 - int(row["disease"])), "-1e6"
    rubbish = tmp_path / "rubbish.csv"
    with open(rubbish, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    other = ecotone.json("evaluate", rubbish, *flags)
    first, second = (each["pipelines"][0]["domains"] for each in (found, other))
    assert first[0] == second[0] and first[1] != second[1]
    assert "did you mean 'Dunmere'?; the domains are Alderbrook," in ecotone.error(
        "evaluate", clinics, "constant", *CLINIC_COLUMNS, "--target", "Dunmeer", exit=3, code="unknown_domain"
    )


def test_a_constant_ranks_nothing(ecotone, small):
    flags = (small, "constant", *SMALL_COLUMNS, "--protocol", "k-fold")
    for domain in ecotone.json("evaluate", *flags)["pipelines"][0]["domains"]:
        assert domain["metrics"]["auroc"] == 0.5


def test_unseen_categories_of_held_out_rows(ecotone, tmp_path):
    path = tmp_path / "d.csv"
    lines = [f"{'AB'[i % 2]},{i * 7 % 11},{'pq'[i // 2 % 2]},{'uv'[i * 5 % 3 % 2]}" for i in range(40)]
    lines += [f"C,{i},new,{'uv'[i % 2]}" for i in range(6)]
    path.write_text("site,x,t,y\n" + "\n".join(lines) + "\n")
    flags = (path, "constant", "scale | logistic l2=1", "--label", "y", "--domain", "site")
    warnings = ecotone.json("evaluate", *flags)["warnings"]
    assert [w["code"] for w in warnings] == ["unseen_category"]
    assert "'t': 6 held-out rows" in warnings[0]["message"]


def test_roles_of_a_data_file_are_not_used_silently(ecotone, small, tmp_path):
    path = tmp_path / "d.eco"
    ecotone("convert", small, *SMALL_COLUMNS, "--target", "c", "-o", path)
    notes = ecotone.json("evaluate", path, "constant")["notes"]
    assert any("c is not marked as source" in note and "leave-one-domain-out" in note for note in notes), notes


def test_report(ecotone, clinics, tmp_path):
    path = tmp_path / "report.html"
    flags = (clinics, "impute | constant", PIPELINE, *CLINIC_COLUMNS, "--report", path, "--title", "Our <clinics>")
    ecotone("evaluate", *flags)
    page = path.read_text()
    assert "Our &lt;clinics&gt;" in page and "<clinics>" not in page
    assert page.lower().startswith("<!doctype html>")
    for word in ("http://", "https://", "src=", "@import"):
        assert word not in page.replace("http://www.w3.org", "")


def test_where_and_features(ecotone, small):
    flags = ("scale | logistic", *SMALL_COLUMNS)
    fewer = ecotone.json("evaluate", small, *flags, "--where", "x1>=3", "--where", "site!=c")
    rows = [r for r in table(small.read_text()) if int(r["x1"]) >= 3 and r["site"] != "c"]
    assert sum(d["rows"] for d in fewer["pipelines"][0]["domains"]) == len(rows)
    ecotone("evaluate", small, *flags, "--features", "x1,colour")


def test_regression(ecotone, small):
    flags = (small, "impute | constant", "--label", "x2", "--domain", "site", "--ignore", "y")
    result = ecotone.json("evaluate", *flags, "--task", "regress")
    assert result["metrics"] == ["rmse", "mae", "r2"]
    values = {s: [float(r["x2"]) for r in table(small.read_text()) if r["site"] == s] for s in "abc"}
    others = values["b"] + values["c"]
    mean = sum(others) / len(others)
    rmse = (sum((v - mean) ** 2 for v in values["a"]) / len(values["a"])) ** 0.5
    assert result["pipelines"][0]["domains"][0]["metrics"]["rmse"] == pytest.approx(rmse, rel=1e-12)


def test_the_guessed_task_is_said(ecotone, small):
    done = ecotone("evaluate", small, "impute | constant", *SMALL_COLUMNS, "--json")
    assert "note: " in done.stderr and "classify" in done.stderr
    assert any("classify" in note for note in json.loads(done.stdout)["notes"])
    quiet = ecotone("evaluate", small, "impute | constant", *SMALL_COLUMNS, "--json", "--quiet")
    assert quiet.stderr == "" and quiet.stdout == done.stdout


def test_timing_goes_to_standard_error(ecotone, small):
    plain = ecotone("evaluate", small, "impute | constant", *SMALL_COLUMNS)
    timed = ecotone("evaluate", small, "impute | constant", *SMALL_COLUMNS, "--timing")
    assert plain.stdout == timed.stdout
    assert "timing: " in timed.stderr and "read" in timed.stderr and "total" in timed.stderr
    assert "timing" not in plain.stderr
    stages = next(line for line in timed.stderr.splitlines() if line.startswith("timing of fitted stages: "))
    assert re.fullmatch(r"timing of fitted stages: impute \d+\.\d{3} s \(3 fits\), constant \d+\.\d{3} s \(3 fits\)", stages)


def test_timing_of_a_fit_shows_its_stages(ecotone, small, tmp_path):
    fit = ecotone("fit", small, "impute | scale | logistic l2=1", *SMALL_COLUMNS, "--timing", "-o", tmp_path / "m.eco")
    stages = next(line for line in fit.stderr.splitlines() if line.startswith("timing of fitted stages: "))
    number = r"\d+\.\d{3} s"
    assert re.fullmatch(f"timing of fitted stages: impute {number}, scale {number}, logistic {number}", stages)


def test_no_bar_without_a_terminal(ecotone, clinics):
    assert "\r" not in ecotone("evaluate", clinics, PIPELINE, *CLINIC_COLUMNS).stderr


# --- fit, inspect, predict, transform


def test_fit_says_what_it_did(ecotone, clinics, tmp_path):
    path = tmp_path / "m.eco"
    text = ecotone("fit", clinics, PIPELINE, *CLINIC_COLUMNS, "-o", path).stdout
    for word in (PIPELINE, "8 domains", "converged", str(path)):
        assert word in text
    result = ecotone.json("fit", clinics, PIPELINE, *CLINIC_COLUMNS, "-o", path)
    assert result["pipeline"] == PIPELINE and len(result["domains"]) == 8
    assert all(stage["converged"] for stage in result["stages"])


def test_inspect(ecotone, model):
    found = ecotone.json("inspect", model)
    assert {"format", "version", "pipeline", "classes", "features", "domains", "seed", "stages"} <= set(found)
    assert [stage["stage"] for stage in found["stages"]] == ["impute", "scale", "logistic"]
    learner = found["stages"][2]
    assert learner["options"]["l2"] == 0.01
    assert len(learner["weights"]) == len(found["features"])
    assert learner["kkt"] < 1e-8
    text = ecotone("inspect", model).stdout
    shown = text.index("largest first")
    order = sorted(zip(found["features"], learner["weights"]), key=lambda pair: -abs(pair[1]))
    places = [text.index(f"    {name} ", shown) for name, _ in order]
    assert places == sorted(places)


def test_inspect_keeps_its_lines(ecotone, tmp_path):
    """Long keys are followed by a blank; names with line breaks stay on their line."""
    data, model = tmp_path / "d.csv", tmp_path / "m.eco"
    names = ("two\nlines", "one")
    lines = [f'{i * 7 % 11 if i % 5 else ""},"{names[i % 2]}",{"uv"[i * 5 % 3 % 2]}' for i in range(40)]
    data.write_text("a,t,y\n" + "\n".join(lines) + "\n")
    ecotone("fit", data, "impute indicator=true | scale | logistic l2=1", "--label", "y", "-o", model)
    text = ecotone("inspect", model).stdout
    assert "  indicator_columns 0\n" in text
    assert "two\nlines" not in text and "    t=two\\nlines " in text


def test_target_labels_are_hidden(ecotone, small, tmp_path):
    """A target's labels, right or wrong or absent, give the same model."""
    models = []
    lines = small.read_text().splitlines()
    for name in ("same", "noise", "gone"):
        changed = [lines[0]]
        for i, line in enumerate(lines[1:]):
            *rest, label = line.split(",")
            if rest[0] == "c" and name == "noise":
                label = ("yes", "no")[i % 2]
            if rest[0] == "c" and name == "gone":
                label = ""
            changed.append(",".join([*rest, label]))
        data, path = tmp_path / f"{name}.csv", tmp_path / f"{name}.eco"
        data.write_text("\n".join(changed) + "\n")
        ecotone("fit", data, "scale | logistic l2=0.1", *SMALL_COLUMNS, "--target", "c", "-o", path)
        models.append(path.read_bytes())
    assert models[0] == models[1] == models[2]
    # Roles are kept in data files.
    data, path = tmp_path / "data.eco", tmp_path / "again.eco"
    ecotone("convert", small, *SMALL_COLUMNS, "--target", "c", "-o", data)
    ecotone("fit", data, "scale | logistic l2=0.1", "-o", path)
    assert path.read_bytes() == models[0]


def test_predictions(ecotone, model, clinics, tmp_path):
    path = tmp_path / "out.csv"
    ecotone("predict", model, clinics, "-o", path)
    rows, data = table(path.read_text()), table(clinics.read_text())
    assert list(rows[0]) == ["domain", "prediction", "p_0", "p_1"]
    assert [r["domain"] for r in rows] == [d["hospital"] for d in data]
    for row in rows:
        assert (row["prediction"] == "1") == (float(row["p_1"]) >= float(row["p_0"]))
        assert repr(float(row["p_1"])).replace("e-0", "e-") == row["p_1"].replace("e-0", "e-")  # shortest form
    assert ecotone("predict", model, clinics).stdout == path.read_text()
    whole = ecotone.json("predict", model, clinics)
    assert whole["prediction"] == [r["prediction"] for r in rows]
    assert [p[1] for p in whole["probability"]] == [float(r["p_1"]) for r in rows]


def test_columns_in_any_order(ecotone, model, clinics, tmp_path):
    data = table(clinics.read_text())
    names = [n for n in sorted(data[0], reverse=True) if n != "disease"] + ["new column"]
    path = tmp_path / "mixed.csv"
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore", restval="0")
        writer.writeheader()
        writer.writerows(data)
    assert ecotone("predict", model, path).stdout == ecotone("predict", model, clinics).stdout


def test_no_domain_column(ecotone, model, clinics, tmp_path):
    data = table(clinics.read_text())
    path = tmp_path / "bare.csv"
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, [n for n in data[0] if n not in ("hospital", "disease")], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(data)
    bare = ecotone("predict", model, path).stdout
    assert bare.splitlines()[0] == "prediction,p_0,p_1"
    with_domain = ecotone("predict", model, clinics).stdout
    assert [x.split(",", 1)[1] for x in with_domain.splitlines()[1:]] == bare.splitlines()[1:]


def test_unseen_category(ecotone, small, tmp_path):
    ecotone("fit", small, "scale | logistic", *SMALL_COLUMNS, "-o", tmp_path / "m.eco")
    path = tmp_path / "new.csv"
    path.write_text("x1,x2,colour\n1,2,violet\n1,2,red\n3,4,violet\n")
    done = ecotone("predict", tmp_path / "m.eco", path, "--json")
    warning = json.loads(done.stdout)["warnings"][0]
    assert warning["code"] == "unseen_category"
    assert "colour" in warning["message"] and "2" in warning["message"]
    assert "warning: " in done.stderr


def test_pipes_may_be_compressed(ecotone, model, clinics):
    plain = ecotone("predict", model, clinics).stdout
    for content in (clinics.read_bytes(), gzip.compress(clinics.read_bytes())):
        done = subprocess.run([ecotone.path, "predict", model, "/dev/stdin"], input=content, capture_output=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout.decode() == plain
    broken = gzip.compress(clinics.read_bytes())[:-100]
    done = subprocess.run([ecotone.path, "predict", model, "/dev/stdin"], input=broken, capture_output=True)
    assert done.returncode == 4 and b"/dev/stdin" in done.stderr


def test_data_from_standard_input(ecotone, small):
    plain = ecotone.results("evaluate", small, "constant", *SMALL_COLUMNS)
    assert ecotone.results("evaluate", "-", "constant", *SMALL_COLUMNS, input=small.read_text()) == plain
    with open(small) as content:
        done = ecotone("evaluate", "-", "-", "constant", *SMALL_COLUMNS, exit=2, stdin=content)
    assert "can be read once only" in done.stderr


def test_standard_output_is_no_file(ecotone, small, tmp_path):
    commands = [
        ("fit", small, "scale | logistic", *SMALL_COLUMNS, "-o", "-"),
        ("evaluate", small, "constant", *SMALL_COLUMNS, "--report", "-"),
        ("evaluate", small, "constant", *SMALL_COLUMNS, "--save-predictions", "-"),
        ("evaluate", small, "constant", *SMALL_COLUMNS, "--resume", "-"),
    ]
    for command in commands:
        assert "name" in ecotone.error(*command, exit=2, code="bad_output", cwd=tmp_path)
    assert not (tmp_path / "-").exists()


def test_lists_of_nothing(ecotone, small):
    for flag in ("--target", "--ignore"):
        done = ecotone("evaluate", small, "constant", *SMALL_COLUMNS, flag, ",", exit=2)
        assert f"{flag}: the list is empty" in done.stderr, done.stderr


@pytest.mark.parametrize(
    "start, words",
    [
        (b"PAR1\x15\x04", "a Parquet file"),
        (b"PK\x03\x04\x14\x00\x06\x00[Content_Types].xml", "an Excel workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "an old Excel workbook"),
    ],
)
def test_files_of_other_programs_are_named_with_the_way_out(ecotone, tmp_path, start, words):
    path = tmp_path / "export.bin"
    path.write_bytes(start + bytes(range(256)) * 8)
    message = ecotone.error("evaluate", path, "constant", *SMALL_COLUMNS, exit=4, code="foreign_format")
    assert f"{path} is {words}, which is not read here" in message and message.endswith(f"' '{path}' 'export.csv'")


def test_the_way_out_of_other_formats_is_safe_to_paste(ecotone, tmp_path):
    start = b"PAR1\x15\x04" + bytes(range(256)) * 8

    def advice(name, **more):
        message = ecotone("evaluate", name, "constant", *SMALL_COLUMNS, exit=4, **more).stderr
        return message, shlex.split(message[message.index("python3 -c") :])

    for name, made in [
        ("$(touch owned).parquet", "$(touch owned).csv"),
        ("it's `touch owned`.parquet", "it's `touch owned`.csv"),
        ("x.csv", "x-converted.csv"),
    ]:
        (tmp_path / name).write_bytes(start)
        message, words = advice(name, cwd=tmp_path)
        assert words[3:] == [name, made]
        done = subprocess.run(
            ["sh", "-c", "python3() { printf '%s|' \"$@\"; }; " + message[message.index("python3 -c") :]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.stdout.endswith(f"|{name}|{made}|"), done
        assert not (tmp_path / "owned").exists()
    with open(tmp_path / "x.csv", "rb") as piped:
        message, words = advice("-", stdin=piped)
    assert words[3:] == ["FILE", "data.csv"] and "stdin" not in message


def test_transform(ecotone, small, tmp_path):
    ecotone("fit", small, "scale", *SMALL_COLUMNS, "--features", "x1,x2", "-o", tmp_path / "m.eco")
    rows = table(ecotone("transform", tmp_path / "m.eco", small).stdout)
    data = table(small.read_text())
    assert list(rows[0]) == ["domain", "y", "x1", "x2"]
    assert [r["y"] for r in rows] == [d["y"] for d in data]
    for x in ("x1", "x2"):
        values = [float(d[x]) for d in data]
        mean = sum(values) / len(values)
        deviation = (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5
        for row, value in zip(rows, values):
            assert float(row[x]) == pytest.approx((value - mean) / deviation, abs=1e-12)
    result = ecotone.json("transform", tmp_path / "m.eco", small)
    assert result["z"][5] == [float(rows[5]["x1"]), float(rows[5]["x2"])]


def test_names_that_need_quotes(ecotone, tmp_path):
    data = tmp_path / "d.csv"
    lines = ['"a, b","y ""q""",site']
    for i in range(40):
        label = '"x, 1"' if i * 7 % 11 > 4 else '"say ""no"""'
        lines.append(f'{i * 7 % 11 + i % 3},{label},"s {"uv"[i % 2]}, t"')
    data.write_text("\n".join(lines) + "\n")
    flags = ("--label", 'y "q"', "--domain", "site")
    ecotone("fit", data, "scale | logistic l2=0.1", *flags, "-o", tmp_path / "m.eco")
    rows = table(ecotone("predict", tmp_path / "m.eco", data).stdout)
    assert set(rows[0]) == {"domain", "prediction", "p_x, 1", 'p_say "no"'}
    assert {r["domain"] for r in rows} == {"s u, t", "s v, t"}
    assert {r["prediction"] for r in rows} <= {"x, 1", 'say "no"'}


def test_bytes_that_are_not_utf8(ecotone, tmp_path):
    data = tmp_path / "latin1.csv"
    text = "größe,y,site\n" + "".join(f"{i * 7 % 11},{'jä'[i % 2]}a,{'uv'[i // 2 % 2]}\n" for i in range(40))
    data.write_bytes(text.encode("latin-1"))
    flags = ("--label", "y", "--domain", "site")
    done = subprocess.run(
        [ecotone.path, "evaluate", data, "scale | logistic l2=0.1", *flags, "--json"], capture_output=True
    )
    if done.returncode == 0:
        json.loads(done.stdout)
    else:
        assert done.returncode == 3
        assert json.loads(done.stdout)["error"]["code"]


def test_closed_pipe_is_quiet(ecotone, model, clinics):
    for command in (("predict", model, clinics), ("generate", "clinics"), ("inspect", model, "--json")):
        process = subprocess.Popen(
            [ecotone.path, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 0
