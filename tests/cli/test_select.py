"""The verbs select and moments: the golden cases through the program, moments in several files, bad input by name."""

import csv
import json
import math
import random

import pytest

from conftest import ROOT

GOLDEN = ROOT / "tests" / "golden" / "tgreedy"
CASES = sorted(path.stem for path in GOLDEN.glob("*.json"))
NAMES = {"weights": "domain_weights"}


def pipeline(run, route):
    options = dict(run["options"])
    rule = options.pop("rule")
    text = f"{rule} steps={run['steps']} route={route}"
    for key, value in options.items():
        text += f" {NAMES.get(key, key)}={str(value).lower()}"
    return text


def number(value):
    return {"inf": math.inf, "-inf": -math.inf, None: None}.get(value, value) if not isinstance(value, float) else value


def same(found, wanted, relative=1e-9):
    if isinstance(wanted, list):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted):
            same(a, b, relative)
        return
    a, b = number(found), number(wanted)
    if b is None or not math.isfinite(b):
        assert a == b
    else:
        assert a == pytest.approx(b, rel=relative, abs=1e-10)


def flags(case):
    return ("--label", "y", "--domain", "domain", "--task", "regress")


@pytest.mark.parametrize("route", ["lazy", "gram"])
@pytest.mark.parametrize("case", CASES)
def test_golden(ecotone, case, route):
    golden = json.loads((GOLDEN / f"{case}.json").read_text())
    for run in golden["runs"]:
        if "ex2" in run["options"]:
            continue  # numbers of its own, which the program takes from rows; the unit test has it
        args = ("select", GOLDEN / golden["csv"], pipeline(run, route), *flags(case))
        if "error" in run:
            ecotone.error(*args, exit=3, code=run["error"])
            continue
        found = ecotone.json(*args)
        assert found["indices"] == run["selected"]
        assert found["selected"] == [f"f{j}" for j in run["selected"]]
        for key in ("T", "mu", "sigma", "gain", "loss", "domain_loss", "weights"):
            same(found[key], run[key])
        same(found["pvalue"], run["pvalue"], 1e-7)
        if run["auroc"] is not None:
            same(found["auroc"], run["auroc"])
        assert found["stopped_early"] == run["stopped_early"]
        assert found["route"] == route


def test_golden_stopping(ecotone):
    golden = json.loads((GOLDEN / "g1_basic.json").read_text())
    stopping = golden["stopping"]
    data = GOLDEN / golden["csv"]
    found = ecotone.json("select", data, f"tgreedy steps=8 delta={stopping['delta']} stop=lodo size=best", *flags(""))
    assert len(found["indices"]) == stopping["lodo"]["best"]
    for key in ("best", "best_one_se", "curve", "table"):
        same(found["stopping"]["lodo"][key], stopping["lodo"][key])
    for key in ("student_bonferroni_count", "theorem1_heuristic_count", "theorem1_exact_count"):
        assert found["stopping"][key] == stopping[key]
    assert found["stopping"]["theorem1"]["valid"] is False
    assert found["stopping"]["theorem1"]["exact"] == "inf"
    ortho = ecotone.json("select", data, f"tgreedy steps=3 mode=ortho delta={stopping['delta']}", *flags(""))
    for key in ("sigma_S", "paper", "corrected", "tight", "n_needed"):
        same(ortho["corollary3"][key], golden["corollary3"][key])


def test_classes_and_the_table(ecotone):
    data = GOLDEN / "g1_basic.csv"
    args = ("select", data, "tgreedy steps=5", "--label", "y", "--domain", "domain")
    found = ecotone.json(*args)
    assert found["classes"] == ["-1", "1"]
    assert found["indices"] == [4, 3, 4, 5, 0]
    assert len(found["held_out_auroc"]) == 5 and all(0 <= a <= 1 for a in found["held_out_auroc"])
    text = ecotone(*args).stdout
    for word in ("T", "p-value", "gain", "source AUROC", "held-out AUROC", "feature", "heuristic"):
        assert word in text
    assert "f4" in text.splitlines()[3]


def test_moments_of_parts_select_without_the_data(ecotone, tmp_path):
    rows = list(csv.reader((GOLDEN / "g8_modes.csv").open()))
    head, body = rows[0], rows[1:]
    random.Random(1).shuffle(body)
    files = []
    for k in range(7):
        part = tmp_path / f"part{k}.csv"
        part.write_text("\n".join(",".join(row) for row in [head, *body[k::7]]) + "\n")
        files.append(tmp_path / f"part{k}.eco")
        ecotone("moments", part, *flags(""), "-o", files[-1])
    golden = json.loads((GOLDEN / "g8_modes.json").read_text())
    for order in (files, files[::-1], files[3:] + files[:3]):
        ecotone("moments", *order, "-o", tmp_path / "all.eco")
        for run in golden["runs"]:
            if "ex2" in run["options"]:
                continue
            found = ecotone.json("select", tmp_path / "all.eco", pipeline(run, "auto"))
            assert found["indices"] == run["selected"]
            same(found["T"], run["T"])
            same(found["loss"], run["loss"])
            assert found["auroc"] is None
            assert found["route"] == "gram"


def test_single_precision_and_no_gram(ecotone, tmp_path):
    data = GOLDEN / "g8_modes.csv"
    ecotone("moments", data, *flags(""), "-o", tmp_path / "single.eco", "--gram", "single")
    ecotone("moments", data, *flags(""), "-o", tmp_path / "none.eco", "--gram", "none")
    found = ecotone.json("select", tmp_path / "single.eco", "tgreedy steps=4")
    assert found["indices"] == [4, 5, 2, 1]
    ecotone.error("select", tmp_path / "none.eco", "tgreedy", exit=3, code="no_gram")
    ecotone.error("moments", tmp_path / "single.eco", tmp_path / "none.eco", "-o", tmp_path / "x.eco", exit=3, code="different_moments")
    ecotone.error("moments", tmp_path / "single.eco", data, "-o", tmp_path / "x.eco", exit=2, code="usage")
    ecotone.error("moments", data, *flags(""), "-o", tmp_path / "x.eco", "--gram", "half", exit=2, code="bad_option")
    ecotone.error("select", tmp_path / "single.eco", "scale | tgreedy", exit=2, code="needs_rows")
    broken = (tmp_path / "single.eco").read_bytes()[:-100]
    (tmp_path / "broken.eco").write_bytes(broken)
    done = ecotone("select", tmp_path / "broken.eco", "tgreedy", exit=4)
    assert "broken.eco" in done.stderr


def table(path, rows):
    path.write_text("domain,y,a,b\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    return path


def rows_of(domains, label=lambda i: 1 if i % 2 else -1):
    draw = random.Random(3)
    return [[d, label(i), round(draw.gauss(0, 1), 4), round(draw.gauss(0, 1), 4)] for d in domains for i in range(10)]


def test_bad_input_by_name(ecotone, tmp_path):
    one = table(tmp_path / "one.csv", rows_of("a"))
    two = table(tmp_path / "two.csv", rows_of("ab"))
    common = ("--label", "y", "--domain", "domain")
    ecotone.error("select", one, "tgreedy", *common, exit=3, code="needs_two_domains")
    ecotone.error("select", two, "tgreedy stop=lodo", *common, exit=3, code="needs_three_domains")
    equal = table(tmp_path / "equal.csv", rows_of("abc", lambda i: 1))
    ecotone.error("select", equal, "tgreedy", *common, exit=3, code="one_class")
    ecotone.error("select", equal, "tgreedy", *common, "--task", "regress", exit=3, code="one_class")
    missing = rows_of("abc")
    missing[4][2] = ""
    missing = table(tmp_path / "missing.csv", missing)
    message = ecotone.error("select", missing, "tgreedy", *common, exit=3, code="non_finite")
    assert "'a'" in message and "row 5" in message
    ecotone.error("select", two, "logistic", *common, exit=2, code="not_a_selector")
    ecotone.error("select", two, "tgreedy", "--domain", "domain", exit=3, code="no_labels")
    short = ecotone.json("select", two, "greedy steps=9 mode=stepwise", *common)
    assert short["stopped_early"] and len(short["indices"]) == 2
    assert any("ends after 2 of 9 steps" in note for note in short["notes"])


@pytest.mark.parametrize("mode", ["stepwise", "ortho", "ortho_resid"])
def test_more_steps_than_features(ecotone, tmp_path, mode):
    data = table(tmp_path / "three.csv", rows_of("abc"))
    found = ecotone.json("select", data, f"tgreedy steps=9 mode={mode}", "--label", "y", "--domain", "domain")
    assert found["stopped_early"] and sorted(found["indices"]) == [0, 1]
    assert any("ends after 2 of 9 steps" in note for note in found["notes"])


def test_bad_input_of_moments(ecotone, tmp_path):
    common = ("--label", "y", "--domain", "domain")
    out = ("-o", tmp_path / "m.eco")
    equal = table(tmp_path / "equal.csv", rows_of("abc", lambda i: 1))
    ecotone.error("moments", equal, *common, *out, exit=3, code="one_class")
    three = table(tmp_path / "three.csv", rows_of("abc", lambda i: "xyz"[i % 3]))
    assert "--where" in ecotone.error("moments", three, *common, *out, exit=3, code="needs_two_classes")
    for text, word in (("NaN", "not a number"), ("inf", "infinite")):
        rows = rows_of("abc")
        rows[4][3] = text
        message = ecotone.error("moments", table(tmp_path / "bad.csv", rows), *common, *out, exit=3, code="non_finite")
        assert "'b'" in message and "row 5" in message and word in message
    without = table(tmp_path / "without.csv", rows_of("abc", lambda i: ""))
    for verb in (("moments", without, *out), ("select", without, "tgreedy")):
        message = ecotone.error(*verb, *common, exit=3, code="no_labels")
        assert "none of the 30 rows" in message
    two = table(tmp_path / "two.csv", rows_of("ab"))
    ecotone.error("moments", two, "--domain", "domain", *out, exit=3, code="no_labels")
    ecotone.error("moments", two, *common, "-o", tmp_path / "m.bin", exit=2, code="bad_output")
    assert not (tmp_path / "m.eco").exists()


def test_moments_of_few_domains(ecotone, tmp_path):
    common = ("--label", "y", "--domain", "domain")
    files = []
    for k, name in enumerate("ab"):
        files.append(tmp_path / f"{name}.eco")
        ecotone("moments", table(tmp_path / f"{name}.csv", rows_of(name)), *common, "-o", files[k])
    ecotone.error("select", files[0], "tgreedy", exit=3, code="needs_two_domains")
    message = ecotone.error("select", *files, "tgreedy", exit=2, code="one_file")
    assert "ecotone moments" in message
    ecotone("moments", *files, "-o", tmp_path / "both.eco")
    ecotone.error("select", tmp_path / "both.eco", "tgreedy stop=lodo", exit=3, code="needs_three_domains")
    # What says how data are read says nothing of moments.
    assert "--label" in ecotone.error("select", tmp_path / "both.eco", "tgreedy", "--label", "y", exit=2, code="idle_flag")
    for flag in (("--domain", "domain"), ("--gram", "none")):
        assert flag[0] in ecotone.error("moments", *files, *flag, "-o", tmp_path / "x.eco", exit=2, code="idle_flag")


def test_inspect_shows_moments(ecotone, tmp_path):
    rows = rows_of("ab") + rows_of("c")[:4]
    common = ("--label", "y", "--domain", "domain", "--target", "c")
    data = table(tmp_path / "data.csv", rows)
    for gram, word in (("double", "double precision"), ("single", "single precision"), ("none", "none")):
        file = tmp_path / f"{gram}.eco"
        ecotone("moments", data, *common, "--gram", gram, "-o", file)
        assert ecotone.json("inspect", file) == {
            "kind": "moments",
            "features": 2,
            "classes": ["-1", "1"],
            "domains": [
                {"domain": "a", "rows": 10, "labelled": True},
                {"domain": "b", "rows": 10, "labelled": True},
                {"domain": "c", "rows": 4, "labelled": False},
            ],
            "gram": gram,
        }
        text = ecotone("inspect", file).stdout
        assert "24 rows in 3 domains" in text and "2: a, b" in text and "-1 is -1, +1 is 1" in text
        assert word in text.split("gram")[1].splitlines()[0]
        assert text.splitlines()[-1].split() == ["c", "4", "no", "labels"]
    ecotone("moments", data, *common, "--task", "regress", "--weight", "b", "--where", "b>=0", "-o", tmp_path / "w.eco")
    text = ecotone("inspect", tmp_path / "w.eco").stdout
    assert "labels    numeric (regression)" in text and "weight" in text


def test_the_same_moments_count_once(ecotone, tmp_path):
    common = ("--label", "y", "--domain", "domain")
    files = [tmp_path / "a.eco", tmp_path / "b.eco", tmp_path / "copy.eco"]
    for file, name in zip(files, "ab"):
        ecotone("moments", table(tmp_path / f"{name}.csv", rows_of(name)), *common, "-o", file)
    files[2].write_bytes(files[0].read_bytes())
    for twice in (files[:1] * 2, files):
        said = ecotone.error("moments", *twice, "-o", tmp_path / "x.eco", exit=3, code="same_part")
        assert "a.eco" in said and str(twice[-1]) in said
    assert not (tmp_path / "x.eco").exists()


def test_inspect_refuses_what_is_neither(ecotone, tmp_path):
    data = table(tmp_path / "data.csv", rows_of("ab"))
    common = ("--label", "y", "--domain", "domain")
    ecotone("convert", data, *common, "-o", tmp_path / "data.eco")
    assert "'ecotone-data'" in ecotone.error("inspect", tmp_path / "data.eco", exit=4, code="bad_model")
    ecotone("moments", data, *common, "-o", tmp_path / "m.eco")
    assert "'ecotone-moments'" in ecotone.error("predict", tmp_path / "m.eco", data, exit=4, code="bad_model")
    whole = (tmp_path / "m.eco").read_bytes()
    (tmp_path / "m.eco").write_bytes(whole.replace(b'"format_version":"1"', b'"format_version":"2"'))
    ecotone.error("inspect", tmp_path / "m.eco", exit=4, code="newer_format")
    (tmp_path / "m.eco").write_bytes(whole[:-9])
    ecotone.error("inspect", tmp_path / "m.eco", exit=4, code="bad_model")


def test_ranks_below_chance_are_said(ecotone, tmp_path):
    """Domains that turn the effect around: what was learned without one ranks its rows the wrong way."""
    draw = random.Random(5)
    rows = []
    for sign, domain in ((1, "a"), (-1, "b")):
        for i in range(30):
            y = 1 if i % 2 else -1
            rows.append([domain, y, round(sign * y + 0.5 * draw.gauss(0, 1), 4), round(draw.gauss(0, 1), 4)])
    data = table(tmp_path / "turned.csv", rows)
    common = ("--label", "y", "--domain", "domain")
    found = ecotone.json("select", data, "greedy steps=1", *common)
    assert found["held_out_auroc"][-1] < 0.4
    assert [w["code"] for w in found["warnings"]] == ["below_chance"]
    found = ecotone.json("evaluate", data, "constant", "logistic l2=0.1", *common)
    (warning,) = [w for w in found["warnings"] if w["code"] == "below_chance"]
    assert "centred" in warning["message"] and "logistic" in warning["message"]
    found = ecotone.json("evaluate", data, "constant", *common)
    assert "warnings" not in found


def test_a_domain_without_labels_is_left_out_and_said(ecotone, tmp_path):
    rows = rows_of("abcd")
    for row in rows[10:20]:
        row[1] = ""
    data = table(tmp_path / "some.csv", rows)
    found = ecotone.json("select", data, "tgreedy steps=2", "--label", "y", "--domain", "domain", "--no-held-out")
    assert found["domains"] == ["a", "c", "d"]
    assert [w["code"] for w in found["warnings"]] == ["domain_without_labels"]


def test_as_a_stage_and_as_a_learner(ecotone, tmp_path):
    data = GOLDEN / "g1_basic.csv"
    common = ("--label", "y", "--domain", "domain")
    model = tmp_path / "model.eco"
    ecotone("fit", data, "scale | tgreedy steps=3 | logistic l2=0.1", *common, "-o", model)
    z = ecotone("transform", model, data).stdout.splitlines()[0]
    assert z.split(",")[-2:] == ["f4", "f3"]
    learner = tmp_path / "learner.eco"
    ecotone("fit", data, "scale | tgreedy steps=3", *common, "-o", learner)
    assert ecotone("predict", learner, data).stdout.startswith("domain,prediction,p_-1,p_1")
    result = ecotone.json("evaluate", data, "scale | tgreedy steps=3", "scale | greedy steps=3", *common)
    assert all(p["mean"]["auroc"] is not None for p in result["pipelines"])


def test_equal_bytes_for_any_number_of_threads(ecotone, tmp_path):
    data = GOLDEN / "g2_unequal.csv"
    texts = {
        ecotone("select", data, "tgreedy steps=6 stop=lodo", *flags(""), "--json", "--threads", n).stdout for n in (1, 2, 7)
    }
    assert len(texts) == 1
    for n in (1, 2, 7):
        ecotone("moments", data, *flags(""), "-o", tmp_path / f"m{n}.eco", "--threads", n)
    assert len({(tmp_path / f"m{n}.eco").read_bytes() for n in (1, 2, 7)}) == 1
