"""What `ecotone inspect` says as text."""


def test_objects_inside_a_run_are_shown(ecotone, tmp_path):
    data, model = tmp_path / "moons.csv", tmp_path / "model.eco"
    ecotone("generate", "moons", "--set", "angle=30", "--set", "rows=60", "--seed", "1", "-o", data)
    roles = ("--label", "label", "--domain", "domain", "--target", "target")
    ecotone("fit", data, "daboost gamma=0.5 vote=2", *roles, "-o", model)
    runs = ecotone.json("inspect", model)["stages"][0]["runs"]
    assert any(run["refused"]["target"] > 0 for run in runs)
    lines = [line.split() for line in ecotone("inspect", model).stdout.splitlines()]
    for reason in ("source", "target", "b_t"):
        assert [f"runs/refused/{reason}", *(str(run["refused"][reason]) for run in runs)] in lines


def test_training_rows_in_a_model_are_said_and_can_be_refused(ecotone, small, tmp_path):
    model, columns = tmp_path / "model.eco", ("--label", "y", "--domain", "site")
    fit = ("fit", small, "impute | scale | svm", *columns, "-o", model)
    out = ecotone.json(*fit)
    held = out["stages"][2]["training_rows"]
    assert held > 0 and "training_rows" not in out["stages"][0]
    assert ecotone.json("inspect", model)["stages"][2]["training_rows"] == held
    line = f"svm holds {held} training rows, which whoever has the model can read; kernel=linear route=low_rank"
    assert f"rows     {line}" in ecotone(*fit).stdout and f"rows      {line}" in ecotone("inspect", model).stdout
    model.unlink()
    message = ecotone.error(*fit, "--no-rows", exit=2, code="holds_rows")
    assert message.startswith(f"--no-rows: stage 3, svm, holds {held} training rows; kernel=linear") and not model.exists()
    tune = ("tune", small, "impute | scale | svm C={1,10}", *columns, "--no-rows")
    ecotone.error(*tune, exit=2, code="idle_flag")
    assert "stage 3, svm" in ecotone.error(*tune, "-o", model, exit=2, code="holds_rows") and not model.exists()
    ecotone("fit", small, "impute | scale | svm kernel=linear route=low_rank", *columns, "--no-rows", "-o", model)
    assert "training rows" not in ecotone("inspect", model).stdout


def test_what_a_model_makes_of_its_columns(ecotone, clinics, model):
    found = ecotone.json("inspect", model, "--on", clinics)
    assert (found["kind"], found["metric"], found["repeats"]) == ("effects", "auroc", 5)
    domains = [each["domain"] for each in found["domains"]]
    assert sum(each["rows"] for each in found["domains"]) == found["provenance"]["rows"]
    means = [column["importance"]["mean"] for column in found["columns"]]
    assert means == sorted(means, reverse=True) and means[0] > 0.02
    for column in found["columns"]:
        curves = column["dependence"]
        points = len(curves.get("values", curves.get("levels")))
        assert 2 <= points <= 33
        assert len(column["importance"]["domains"]) == len(curves["domains"]) == len(domains)
        assert all(len(score) == points for domain in curves["domains"] for score in domain)
        # A linear model moves every domain alike.
        assert "opposite" not in column
        first, second = curves["domains"][0][0], curves["domains"][1][0]
        shifts = [a - b for a, b in zip(first, second, strict=True)]
        assert max(shifts) - min(shifts) < 1e-9
    text = ecotone("inspect", model, "--on", clinics, "--top", "3").stdout
    lines = text.splitlines()
    assert "fall of AUROC when a column is shuffled among the rows of a domain, mean of 5 shuffles" in lines
    row = next(line.split() for line in lines if line.startswith(found["columns"][0]["column"] + " "))
    assert float(row[1]) == round(means[0], 4)
    assert f"({len(means) - 3} more columns; --top shows more, --json has all)" in lines


def test_columns_without_labels_and_bytes_of_any_thread(ecotone, clinics, model, tmp_path):
    bare = tmp_path / "bare.csv"
    header, *rows = clinics.read_text().splitlines()
    drop = header.split(",").index("disease")
    bare.write_text("\n".join(",".join(c for i, c in enumerate(r.split(",")) if i != drop) for r in (header, *rows)))
    found = ecotone.results("inspect", model, "--on", bare, "--threads", "1")
    assert found["metric"] is None and all("importance" not in column for column in found["columns"])
    labelled = ecotone("inspect", model, "--on", clinics, "--json", "--threads", "1").stdout
    assert labelled == ecotone("inspect", model, "--on", clinics, "--json", "--threads", "3").stdout
    assert labelled != ecotone("inspect", model, "--on", clinics, "--json", "--threads", "1", "--seed", "2").stdout
    assert "no row has a label" in ecotone("inspect", model, "--on", bare).stdout


def test_the_page_of_columns_is_made_again_of_its_document(ecotone, clinics, model, tmp_path):
    page, again, saved = tmp_path / "page.html", tmp_path / "again.html", tmp_path / "saved.json"
    run = ecotone("inspect", model, "--on", clinics, "--report", page, "--columns", "age", "--json")
    saved.write_text(run.stdout)
    ecotone("report", saved, "-o", again)
    assert page.read_bytes() == again.read_bytes()
    html = page.read_text()
    assert 'id="importance"' in html and 'id="dependence"' in html and 'id="population"' in html


def test_flags_about_rows_need_rows(ecotone, clinics, model, tmp_path):
    for flags in (("--repeats", "3"), ("--columns", "age"), ("--domain", "hospital"), ("--report", tmp_path / "p.html")):
        assert "--on" in ecotone.error("inspect", model, *flags, exit=2, code="idle_flag")
    ecotone.error("inspect", model, "--on", clinics, "--report", tmp_path / "p.csv", exit=2, code="bad_output")
    message = ecotone.error("inspect", model, "--on", clinics, "--columns", "agee", exit=2, code="unknown_column")
    assert "did you mean 'age'?" in message


def test_evaluate_says_what_its_models_use(ecotone, small):
    run = ("evaluate", small, "impute | scale | logistic", "--label", "y", "--domain", "site", "--importance")
    found = ecotone.json(*run)["pipelines"][0]["importance"]
    assert found["metric"] == "auroc" and found["splits"] == ["a", "b", "c"]
    assert {column["column"] for column in found["columns"]} == {"x1", "x2", "colour"}
    text = ecotone(*run).stdout
    assert "fall of AUROC when a column is shuffled among held-out rows, impute | scale | logistic" in text
    first = found["columns"][0]
    row = next(line.split() for line in text.splitlines() if line.startswith(first["column"] + " "))
    assert [float(x) for x in row[1:]] == [round(x, 4) for x in (first["mean"], first["spread"], *first["splits"])]
    assert "shuffled" not in ecotone(*run[:-1]).stdout
    ecotone.error(*run, "--protocol", "adapt", "--choose", "all", exit=2, code="idle_flag")
