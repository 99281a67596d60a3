"""The verbs partial, merge and finish: a model of several sites without their rows."""

import csv
import itertools

import pytest

COLUMNS = ["--label", "label", "--domain", "domain", "--min-rows", "1"]
FIT_COLUMNS = COLUMNS[:4]


@pytest.fixture(scope="module")
def data(ecotone, tmp_path_factory):
    path = tmp_path_factory.mktemp("sums") / "all.csv"
    ecotone("generate", "exchangeable", "--set", "domains=6", "--set", "rows=80", "-o", path)
    return path


def sites(data, folder, of):
    """The rows dealt to files by `of(row number, row)`."""
    with open(data, newline="") as file:
        header, *rows = csv.reader(file)
    parts = {}
    for number, row in enumerate(rows):
        parts.setdefault(of(number, row), []).append(row)
    paths = []
    for name, own in sorted(parts.items()):
        paths.append(folder / f"site{name}.csv")
        with open(paths[-1], "w", newline="") as file:
            csv.writer(file).writerows([header, *own])
    return paths


def predictions(ecotone, model, data, folder):
    ecotone("predict", model, data, "-o", folder / "out.csv")
    with open(folder / "out.csv", newline="") as file:
        return [float(row["p_1"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize("pipeline", ["scale | ridge lam=0.1", "scale | tgreedy steps=2 | ridge lam=0.3", "scale | ridge score=squared_error"])
def test_the_model_of_all_sites_is_that_of_all_rows(ecotone, data, tmp_path, pipeline):
    parts = []
    for path in sites(data, tmp_path, lambda number, row: number % 3):
        parts.append(path.with_suffix(".eco"))
        ecotone("partial", path, pipeline, *COLUMNS, "-o", parts[-1])
    ecotone("merge", *parts, "-o", tmp_path / "all.eco")
    finished = ecotone.json("finish", tmp_path / "all.eco", "-o", tmp_path / "finished.eco")
    assert len(finished["parts"]) == 3 and len(finished["domains"]) == 6
    ecotone("fit", data, pipeline, *FIT_COLUMNS, "-o", tmp_path / "fitted.eco")
    ours = predictions(ecotone, tmp_path / "finished.eco", data, tmp_path)
    wanted = predictions(ecotone, tmp_path / "fitted.eco", data, tmp_path)
    assert max(abs(a - b) for a, b in zip(ours, wanted)) < 1e-10


def test_the_order_and_grouping_of_merges_do_not_matter(ecotone, data, tmp_path):
    parts = []
    for path in sites(data, tmp_path, lambda number, row: row[0]):  # a domain each
        parts.append(path.with_suffix(".eco"))
        ecotone("partial", path, "scale | ridge", *COLUMNS, "-o", parts[-1], "--threads", len(parts))
    a, b, c, d, e, f = parts
    ecotone("merge", a, b, "-o", tmp_path / "ab.eco")
    ecotone("merge", f, tmp_path / "ab.eco", c, "-o", tmp_path / "abcf.eco")
    models = []
    for number, files in enumerate(([e, d, tmp_path / "abcf.eco"], parts, parts[::-1])):
        models.append(tmp_path / f"model{number}.eco")
        ecotone("finish", *files, "-o", models[-1])
    assert len({model.read_bytes() for model in models}) == 1


def without_labels(path):
    """The table without its column of labels."""
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    label = header.index("label")
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([row[:label] + row[label + 1 :] for row in [header, *rows]])


def test_a_site_may_have_rows_of_a_target_without_labels(ecotone, data, tmp_path):
    with open(data, newline="") as file:
        target = list(csv.DictReader(file))[-1]["domain"]
    pipeline = "scale | coral | ridge lam=0.1"
    one, two, new = sites(data, tmp_path, lambda number, row: "new" if target in row else f"{number % 2}")
    without_labels(new)
    parts = [path.with_suffix(".eco") for path in (one, two, new)]
    for path, part in zip((one, two), parts):
        ecotone("partial", path, pipeline, *COLUMNS, "-o", part)
    ecotone("partial", new, pipeline, "--domain", "domain", "--target", target, "--min-rows", 1, "-o", parts[2])
    assert f"{target} (target)" in ecotone("inspect", parts[2]).stdout
    shown = ecotone.json("inspect", parts[2])["parts"][0]
    assert shown["targets"] == {target: 80} and shown["rows"] == {}
    assert target in ecotone("diagnose", *parts).stdout
    ecotone("merge", *parts, "-o", tmp_path / "all.eco")
    merged = ecotone.json("inspect", tmp_path / "all.eco")["parts"]
    assert [part["targets"] for part in merged if "targets" in part] == [{target: 80}]
    finished = ecotone.json("finish", tmp_path / "all.eco", "-o", tmp_path / "finished.eco")
    assert len(finished["domains"]) == 6
    ecotone("fit", data, pipeline, *FIT_COLUMNS, "--target", target, "-o", tmp_path / "fitted.eco")
    ours = predictions(ecotone, tmp_path / "finished.eco", data, tmp_path)
    wanted = predictions(ecotone, tmp_path / "fitted.eco", data, tmp_path)
    assert max(abs(a - b) for a, b in zip(ours, wanted)) < 1e-8
    ecotone.error("finish", *parts[:2], "-o", tmp_path / "x.eco", exit=3, code="no_target")
    ecotone.error("finish", parts[2], "-o", tmp_path / "x.eco", exit=3, code="no_labels")
    ecotone.error("partial", data, "tgreedy", *COLUMNS, "--target", target, "-o", tmp_path / "x.eco", exit=2, code="needs_rows")


def test_rare_categories_are_refused(ecotone, small, tmp_path):
    columns = ["--domain", "site", "--label", "y", "-o", tmp_path / "part.eco"]
    said = ecotone.error("partial", small, "scale", *columns, "--min-rows", 8, exit=3, code="small_category")
    assert "'colour'" in said and "--ignore" in said
    ecotone("partial", small, "scale", *columns, "--min-rows", 8, "--ignore", "colour")
    ecotone("partial", small, "scale", *columns, "--min-rows", 5)


def numbers_of(domains):
    """[domain, x, flag, label]: in domain b the label of three rows is 1, in a flag of twelve."""
    lines = []
    for domain in domains:
        for i in range(40):
            lines.append([domain, f"{(i * 37 % 41) / 8 - i % 3}", int(domain == "a" and i % 3 == 0 and i < 36), int(domain == "b" and i < 3)])
    return lines


def write_rows(path, rows, header=("site", "x", "flag", "y")):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.mark.parametrize("pipeline", ["scale | ridge lam=1", "kpca route=low_rank map=fourier sigma=2 rank=9 | ridge lam=1"])
def test_rare_labels_are_refused(ecotone, tmp_path, pipeline):
    columns = ["--domain", "site", "--label", "y", "--task", "regress", "-o", tmp_path / "part.eco"]
    rows = write_rows(tmp_path / "rare.csv", numbers_of("abc"))
    said = ecotone.error("partial", rows, pipeline, *columns, exit=3, code="small_category")
    assert "in domain 'b' 3 rows have the label 1 and all others 0" in said
    assert not (tmp_path / "part.eco").exists()
    ecotone("partial", rows, pipeline, *columns, "--min-rows", 3)
    assert "has 3 rows" in " ".join(ecotone("inspect", tmp_path / "part.eco").stdout.split())


def test_inspect_says_how_many_rows_have_the_rarest_number(ecotone, tmp_path):
    rows = write_rows(tmp_path / "flags.csv", [[*row[:3], "yes" if i % 2 else "no"] for i, row in enumerate(numbers_of("abc"))])
    part = tmp_path / "part.eco"
    ecotone("partial", rows, "scale | ridge", "--domain", "site", "--label", "y", "-o", part)
    assert "has 12 rows" in " ".join(ecotone("inspect", part).stdout.split())


def test_parts_of_the_same_rows_are_reported(ecotone, tmp_path):
    labelled = [[*row[:3], "yes" if i % 2 else "no"] for i, row in enumerate(numbers_of("abc"))]
    parts = []
    for name, rows in (("one", labelled), ("back", labelled[::-1]), ("other", [[row[0], float(row[1]) + 1, *row[2:]] for row in labelled])):
        parts.append(tmp_path / f"{name}.eco")
        ecotone("partial", write_rows(tmp_path / f"{name}.csv", rows), "scale | ridge lam=1", "--domain", "site", "--label", "y", "-o", parts[-1])
    one, back, other = parts
    for verb in (["merge", one, back, "-o", tmp_path / "all.eco"], ["finish", one, other, back, "-o", tmp_path / "model.eco"]):
        assert "alike_parts" in [warning["code"] for warning in ecotone.json(*verb)["warnings"]]
    assert "count twice" in ecotone("diagnose", tmp_path / "all.eco").stderr
    assert ecotone("merge", one, other, "-o", tmp_path / "two.eco").stderr == ""


def test_a_site_without_labels_helps_to_scale(ecotone, data, tmp_path):
    one, two = sites(data, tmp_path, lambda number, row: number % 2)
    without_labels(two)
    for path, columns in ((one, COLUMNS), (two, COLUMNS[2:])):
        ecotone("partial", path, "scale", *columns, "-o", path.with_suffix(".eco"))
    ecotone("finish", one.with_suffix(".eco"), two.with_suffix(".eco"), "-o", tmp_path / "scale.eco")
    ecotone("fit", data, "scale", *FIT_COLUMNS, "-o", tmp_path / "fitted.eco")
    scaled = []
    for model in ("scale", "fitted"):
        ecotone("transform", tmp_path / f"{model}.eco", data, "-o", tmp_path / f"{model}.csv")
        with open(tmp_path / f"{model}.csv", newline="") as file:
            scaled.append([float(row["x1"]) for row in csv.DictReader(file)])
    assert max(abs(a - b) for a, b in zip(*scaled)) < 1e-10


def test_the_seed_is_that_of_the_parts(ecotone, data, tmp_path):
    part = tmp_path / "part.eco"
    ecotone("partial", data, "scale | ridge", *COLUMNS, "-o", part)
    for verb in ("merge", "finish"):
        assert "--seed" in ecotone.error(verb, part, "--seed", 5, "-o", tmp_path / "x.eco", exit=2, code="idle_flag")


def test_a_model_among_sums_is_named(ecotone, data, tmp_path):
    part, model = tmp_path / "part.eco", tmp_path / "model.eco"
    ecotone("partial", data, "scale | ridge", *COLUMNS, "-o", part)
    ecotone("finish", part, "-o", model)
    for files in ((model, part), (part, model)):
        said = ecotone.error("diagnose", *files, exit=4, code="bad_sums")
        assert "model.eco" in said and "'ecotone-model'" in said


def test_rows_may_go_through_a_model_first(ecotone, data, tmp_path):
    paths = sites(data, tmp_path, lambda number, row: number % 2)
    first = [path.with_suffix(".scale.eco") for path in paths]
    for path, part in zip(paths, first):
        ecotone("partial", path, "scale", *COLUMNS, "-o", part)
    scale = tmp_path / "scale.eco"
    ecotone("finish", *first, "-o", scale)
    pipeline = "dica route=low_rank map=fourier sigma=2 rank=40 components=3 | ridge lam=0.1"
    second = [path.with_suffix(".dica.eco") for path in paths]
    for path, part in zip(paths, second):
        ecotone("partial", path, pipeline, *COLUMNS, "--behind", scale, "-o", part)
    ecotone.error("finish", *second, "-o", tmp_path / "model.eco", exit=3, code="other_model")
    ecotone("finish", *second, "--behind", scale, "-o", tmp_path / "model.eco")
    shown = ecotone.json("inspect", tmp_path / "model.eco")
    assert [stage["stage"] for stage in shown["stages"]] == ["scale", "dica", "ridge"]
    right = [(p > 0.5) == (row == "1") for p, row in zip(predictions(ecotone, tmp_path / "model.eco", data, tmp_path), labels(data))]
    assert sum(right) / len(right) > 0.6


def test_a_model_of_one_site_prepares_rows_with_missing_values(ecotone, tmp_path):
    clinics = tmp_path / "clinics.csv"
    ecotone("generate", "clinics", "--set", "size=0.3", "-o", clinics)
    columns = ["--label", "disease", "--domain", "hospital"]
    assert "--behind" in ecotone.error("partial", clinics, "scale | ridge", *columns, "-o", tmp_path / "x.eco", exit=3, code="non_finite")
    ecotone("fit", clinics, "impute | scale", *columns, "--where", "hospital==Alderbrook", "-o", tmp_path / "prepare.eco")
    behind = ["--behind", tmp_path / "prepare.eco"]
    ecotone("partial", clinics, "ridge lam=0.1", *columns, *behind, "--min-rows", 1, "-o", tmp_path / "part.eco")
    ecotone("finish", tmp_path / "part.eco", *behind, "-o", tmp_path / "model.eco")
    assert ecotone.json("inspect", tmp_path / "model.eco")["pipeline"] == "impute | scale | ridge lam=0.1"
    ecotone("predict", tmp_path / "model.eco", clinics, "-o", tmp_path / "out.csv")


def labels(data):
    with open(data, newline="") as file:
        return [row["label"] for row in csv.DictReader(file)]


def test_inspect_says_what_a_part_reveals(ecotone, data, tmp_path):
    part = tmp_path / "part.eco"
    ecotone("partial", data, "scale | ridge", *COLUMNS, "-o", part)
    text = ecotone("inspect", part).stdout
    assert "how many rows every domain and class has" in " ".join(text.split())
    shown = ecotone.json("inspect", part)
    assert shown["kind"] == "sums" and sum(shown["parts"][0]["rows"].values()) == 480
    assert sum(itertools.chain.from_iterable(rows.values() for rows in shown["parts"][0]["classes"].values())) == 480


def test_what_cannot_be_learned_from_sums_is_refused_before_anything_is_read(ecotone, data, tmp_path):
    part = tmp_path / "part.eco"
    for pipeline, code in (
        ("impute | ridge", "needs_rows"),
        ("scale | logistic", "needs_rows"),
        ("scale | dica | ridge", "needs_rows"),
        ("ridge score=auroc", "bad_option"),
    ):
        ecotone.error("partial", data, pipeline, *COLUMNS, "-o", part, exit=2, code=code)
    ecotone.error("partial", data, "ridge", *COLUMNS, "-o", tmp_path / "part.csv", exit=2, code="bad_output")
    ecotone.error("partial", data, "ridge", *FIT_COLUMNS, "-o", part, "--min-rows", 81, exit=3, code="small_domain")
    assert "of class" in ecotone.error("partial", data, "ridge", *FIT_COLUMNS, "-o", part, "--min-rows", 70, exit=3, code="small_domain")
    ecotone.error("partial", data, "ridge class_weight=balanced", *COLUMNS, "-o", part, exit=2, code="needs_rows")
    ecotone.error("partial", data, "ridge", *COLUMNS, "--group", "x1", "-o", part, exit=2, code="idle_flag")
    assert not part.exists()
    ecotone("partial", data, "scale | ridge", *COLUMNS, "-o", part)
    ecotone.error("merge", part, part, "-o", tmp_path / "x.eco", exit=3, code="same_part")
    ecotone.error("finish", data, "-o", tmp_path / "x.eco", exit=4, code="bad_model")
    assert not (tmp_path / "x.eco").exists()


def test_diagnose_compares_domains_by_their_sums(ecotone, data, tmp_path):
    parts = []
    for path in sites(data, tmp_path, lambda number, row: number % 2):
        parts.append(path.with_suffix(".eco"))
        ecotone("partial", path, "scale | ridge", *COLUMNS, "-o", parts[-1])
    found = ecotone.json("diagnose", *parts)
    rows = ecotone.json("diagnose", data, *FIT_COLUMNS)
    shifts = {each["feature"]: each["by_domain"] for each in found["smd"]}
    for each in rows["feature_shift"]:
        assert abs(shifts[each["feature"]][each["domain"]] - each["smd"]) < 1e-9
    assert "share of 1" in ecotone("diagnose", *parts).stdout
    ecotone.error("diagnose", *parts, "--label", "label", exit=2, code="idle_flag")
    drawn = tmp_path / "drawn.eco"
    ecotone("partial", data, "kpca route=low_rank map=fourier sigma=2 rank=400", *COLUMNS, "-o", drawn)
    mmd = ecotone.json("diagnose", drawn)["mmd2"]
    assert len(mmd) == 6 and all(mmd[a][b] == mmd[b][a] for a in range(6) for b in range(6))
    assert all(mmd[a][b] > 0 for a in range(6) for b in range(6) if a != b)


def test_methods_say_which_can_be_learned_from_sums(ecotone):
    able = {method["name"] for method in ecotone.json("methods")["methods"] if "sums" in method["routes"]}
    assert able == {"scale", "kpca", "udica", "coir", "dica", "tgreedy", "greedy", "step", "icp", "least_squares", "ridge", "anchor", "align", "coral", "linot", "barycentre"}
    assert "sums over rows" in " ".join(ecotone("methods", "ridge").stdout.split())
