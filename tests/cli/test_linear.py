"""Linear models through the program: names that `inspect` gives, streaming, penalties by cross-validation, several classes."""

import pytest
from conftest import CLINIC_COLUMNS


def fit(ecotone, data, pipeline, model, *more):
    ecotone("fit", data, pipeline, *CLINIC_COLUMNS, "-o", model, "--quiet", *more)
    return ecotone.json("inspect", model)["stages"][-1]


def test_inspect_names(ecotone, clinics, tmp_path):
    stage = fit(ecotone, clinics, "impute | scale | logistic l2=0.01", tmp_path / "m.eco")
    assert stage["stage"] == "logistic"
    assert {"weights", "offset", "kkt", "status", "iterations", "solver", "risk"} <= set(stage)
    assert stage["status"] == "converged" and stage["kkt"] < 1e-9
    assert len(stage["weights"]) == len(ecotone.json("inspect", tmp_path / "m.eco")["features"])


def test_not_converging_is_seen(ecotone, clinics, tmp_path):
    done = ecotone("fit", clinics, "impute | scale | logistic l2=0.01 max_iterations=1", *CLINIC_COLUMNS, "-o", tmp_path / "m.eco")
    assert "not_converged" in done.stderr or "not converged" in done.stderr
    assert "not converged" in ecotone.json("inspect", tmp_path / "m.eco")["stages"][-1]["status"]


@pytest.mark.parametrize("learner", ["logistic l2=0.01 solver=lbfgs", "logistic l2=0.01 solver=sgd epochs=3", "logistic l1=0.01"])
def test_streaming_changes_nothing(ecotone, clinics, tmp_path, learner):
    models = []
    for more in ([], ["--stream"]):
        model = tmp_path / f"m{len(models)}.eco"
        fit(ecotone, clinics, f"impute | scale | {learner}", model, *more)
        models.append(model.read_bytes())
    assert models[0] == models[1]


def test_penalty_by_cross_validation(ecotone, clinics, tmp_path):
    stage = fit(ecotone, clinics, "impute | scale | logistic rule=best", tmp_path / "m.eco")
    assert stage["path_folds"] == 8 and len(stage["path_loss"]) == 15
    chosen = stage["path_chosen"]
    assert stage["path_loss"][chosen] == min(stage["path_loss"])
    assert stage["chosen_l2"] == stage["path_l2"][chosen]
    default = fit(ecotone, clinics, "impute | scale | logistic", tmp_path / "m.eco")
    assert default["path_loss"] == stage["path_loss"] and default["path_chosen"] <= chosen
    behind = default["path_loss"][default["path_chosen"]] - min(default["path_loss"])
    assert behind <= default["path_error"][default["path_chosen"]]
    table = ecotone.json("evaluate", clinics, "impute | scale | logistic", *CLINIC_COLUMNS)
    assert 0.6 < table["pipelines"][0]["mean"]["auroc"] < 0.9


def test_ecoc_with_a_code_of_ones_own(ecotone, tmp_path):
    rows = ["x,z,y"] + [f"{i % 7 - 3 + 3 * (i % 3)},{i % 5 + (i % 3) ** 2},{'abc'[i % 3]}" for i in range(90)]
    (tmp_path / "d.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "code.csv").write_text("1,1,-1\n1,-1,1\n-1,1,1\n")
    pipeline = f"scale | logistic l2=0.01 multiclass=ecoc code={tmp_path / 'code.csv'} decode=hamming"
    ecotone("fit", tmp_path / "d.csv", pipeline, "--label", "y", "-o", tmp_path / "m.eco", "--quiet")
    stage = ecotone.json("inspect", tmp_path / "m.eco")["stages"][-1]
    assert stage["code"] == [[1, 1, -1], [1, -1, 1], [-1, 1, 1]]
    (tmp_path / "code.csv").unlink()  # the model keeps it
    out = ecotone("predict", tmp_path / "m.eco", tmp_path / "d.csv", "-o", "-", "--quiet").stdout.splitlines()
    assert out[0].split(",")[-3:] == ["p_a", "p_b", "p_c"] and len(out) == 91
    assert all(abs(sum(map(float, line.split(",")[-3:])) - 1) < 1e-12 for line in out[1:])


def test_poisson_counts(ecotone, tmp_path):
    rows = ["x,y"] + [f"{i % 10 / 5},{(i * 7) % 5 + i % 10}" for i in range(200)]
    (tmp_path / "d.csv").write_text("\n".join(rows) + "\n")
    message = ecotone.error("fit", tmp_path / "d.csv", "poisson", "--label", "y", "-o", tmp_path / "m.eco", exit=3, code="needs_numbers")
    assert "--task regress" in message
    ecotone("fit", tmp_path / "d.csv", "poisson", "--label", "y", "--task", "regress", "-o", tmp_path / "m.eco", "--quiet")
    values = [float(line.split(",")[-1]) for line in ecotone("predict", tmp_path / "m.eco", tmp_path / "d.csv", "-o", "-", "--quiet").stdout.splitlines()[1:]]
    truth = [float(line.split(",")[1]) for line in rows[1:]]
    assert abs(sum(values) - sum(truth)) < 1e-6 and min(values) > 0
