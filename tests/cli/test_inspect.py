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
