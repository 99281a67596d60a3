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
