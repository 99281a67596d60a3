"""The verb `diagnose`: how domains differ."""

import json

from conftest import CLINIC_COLUMNS, SMALL_COLUMNS

FIELDS = {
    "rows", "features", "domains", "sample_rows", "sampled", "permutations", "bandwidth", "distributional_variance",
    "against_rest", "pairs", "feature_shift", "label_shift", "missing_shift", "advice", "shift_table", "map",
    "domain_word", "missing_values", "kind", "provenance",
}
COMPARISON = {
    "mmd2", "mmd2_estimator", "mmd2_standard_error", "mmd2_block_p_value", "p_value", "q_value", "auroc",
    "proxy_a_distance", "apart", "top_features", "rows", "used_rows",
}
QUICK = ("--permutations", 19, "--sample", 200)


def test_the_fields_of_json(ecotone, clinics):
    found = ecotone.json("diagnose", clinics, *CLINIC_COLUMNS, *QUICK)
    assert set(found) - {"notes"} == FIELDS
    assert found["rows"] == 3340 and len(found["domains"]) == 8
    assert found["sampled"] and found["sample_rows"] == 200 and found["permutations"] == 19
    assert set(found["bandwidth"]) == {"sigma", "rows"}
    assert set(found["distributional_variance"]) == {"value", "unbiased", "rows"}
    assert len(found["pairs"]) == 28 and len(found["against_rest"]) == 8
    for pair in found["pairs"]:
        assert set(pair) == COMPARISON | {"a", "b", "ess_a_to_b", "ess_b_to_a"}
        assert 0.05 <= pair["p_value"] <= 1 and 0 < pair["ess_a_to_b"] <= 1 and 0 <= pair["proxy_a_distance"] <= 2
    for one in found["against_rest"]:
        assert set(one) == COMPARISON | {"domain", "ess_rest_to_domain", "ess_domain_to_rest"}
    for shift in found["feature_shift"]:
        assert set(shift) - {"remark"} == {"feature", "domain", "smd", "ks", "p_value", "q_value"}
    assert len(found["shift_table"]["features"]) == found["features"] and len(found["shift_table"]["domains"]) == 8
    assert len(found["map"]["domains"]) == 8 and 0 < found["map"]["share"] <= 1
    assert len(found["feature_shift"]) == found["features"]
    assert found["label_shift"]["classes"] == ["0", "1"]
    assert set(found["label_shift"]["domains"][0]) == {"domain", "rows", "share"}
    assert {"column", "share", "spread"} == set(found["missing_shift"][0])
    assert {"domain", "text"} == set(found["advice"][0])


def test_the_planted_columns_and_the_mixed_unit(ecotone, clinics):
    done = ecotone("diagnose", clinics, *CLINIC_COLUMNS)
    assert "hospital Eastholm differs mostly in creatinine (another unit?); it hardly overlaps with the others, so weighting cannot help" in done.stdout
    lines = done.stdout.split("shift of single features, one domain")[1].splitlines()[3:7]
    assert {line.split()[0] for line in lines} == {"creatinine", "age", "cholesterol", "hemoglobin"}
    tables = done.stdout[: done.stdout.rindex("\n\n")]
    assert max(map(len, tables.splitlines())) <= 100


def test_the_same_for_any_threads_and_another_for_another_seed(ecotone, small):
    flags = ("diagnose", small, *SMALL_COLUMNS, "--permutations", 50, "--json")
    one = ecotone(*flags, "--threads", 1).stdout
    assert one == ecotone(*flags, "--threads", 7).stdout
    assert one != ecotone(*flags, "--threads", 2, "--seed", 5).stdout


def test_many_domains_begin_with_a_summary(ecotone, tmp_path):
    """30 domains, the last ones farther and farther away: text shows the farthest, JSON has all."""
    path = tmp_path / "many.csv"
    lines = [f"s{d:02},{(i * 37 % 41) / 10 + max(0, d - 20) / 2},{i * 29 % 31}" for d in range(30) for i in range(40)]
    path.write_text("site,x,z\n" + "\n".join(lines) + "\n")
    flags = ("diagnose", path, "--domain", "site", "--permutations", 199)
    found = ecotone.json(*flags)["against_rest"]
    assert len(found) == 30 and found[0]["domain"] == "s29"
    assert found == sorted(found, key=lambda one: -one["mmd2"])
    text = ecotone(*flags).stdout
    differ = sum(one["q_value"] <= 0.05 for one in found)
    assert 0 < differ < 30
    first, second, third, fourth, *_ = text.splitlines()
    assert (first, second) == (
        "how 30 domains differ: 1200 rows, 2 features", f"{differ} of 30 domains differ from the others beyond chance"
    )
    assert third.startswith("farthest: s29 (MMD² ") and f"nearest: {found[-1]['domain']} (MMD² " in third
    assert fourth == "1 of 2 features shift beyond chance, most of all x"

    def listed(text):
        lines = text.split("each against all others")[1].split("\n\n")[0].splitlines()
        return [line.split()[0] for line in lines if line.startswith("s") and line[1:3].isdigit()]

    order = [one["domain"] for one in found]
    assert listed(text) == order[:10] and "(20 more domains; --top 30 shows all)" in text
    assert listed(ecotone(*flags, "--top", 29).stdout) == order[:29]
    assert "(1 more domain; --top 30 shows all)" in ecotone(*flags, "--top", 29).stdout
    assert "--top" not in ecotone(*flags, "--top", 30).stdout
    ecotone.error(*flags, "--top", 0, exit=2, code="usage")


def test_a_target_is_compared_with_the_others(ecotone, small):
    found = ecotone.json("diagnose", small, *SMALL_COLUMNS, "--target", "b")
    assert {(pair["a"], pair["b"]) for pair in found["pairs"]} == {("a", "b"), ("c", "b")}
    assert [one["domain"] for one in found["against_rest"]] == ["b"]


def test_no_label_is_needed(ecotone, small):
    assert ecotone.json("diagnose", small, "--domain", "site", "--ignore", "y")["label_shift"] is None


def test_files_as_domains(ecotone, tmp_path):
    for name, shift in (("near", 0), ("far", 5)):
        rows = "\n".join(f"{i * 37 % 11 + shift},{i * 53 % 17}" for i in range(40))
        (tmp_path / f"{name}.csv").write_text("x,z\n" + rows + "\n")
    done = ecotone("diagnose", "near.csv", "far.csv", "--domain-from-file", cwd=tmp_path)
    assert "differs mostly in x" in done.stdout
    assert "each against all others" not in done.stdout  # two domains are one pair


def test_errors(ecotone, small, tmp_path):
    ecotone.error("diagnose", small, "--label", "y", "--ignore", "site", exit=3, code="needs_two_domains")
    message = ecotone.error("diagnose", small, *SMALL_COLUMNS, "--target", "z", exit=3, code="unknown_domain")
    assert "a, b, c" in message
    ecotone.error("diagnose", small, "--domain", "sight", exit=3, code="unknown_column")
    ecotone.error("diagnose", "gone.csv", "--domain", "site", exit=4, code="no_such_file", cwd=tmp_path)
    ecotone("diagnose", small, *SMALL_COLUMNS, "--permutations", 0, exit=2)
    ecotone("diagnose", small, *SMALL_COLUMNS, "--sample", 3, exit=2)
    ecotone("diagnose", exit=2)


def test_heart_disease(ecotone, data_folder):
    path = data_folder / "heart_disease" / "heart_disease.csv"
    found = ecotone.json("diagnose", path, "--label", "label", "--domain", "domain", "--ignore", "num")
    assert found["feature_shift"][0]["feature"] == "chol"  # not recorded in Switzerland: all zero
    assert found["feature_shift"][0]["domain"] == "switzerland"
    missing = {one["column"]: one["spread"] for one in found["missing_shift"]}
    assert missing["ca"] > 0.9
    assert all(pair["p_value"] <= 0.01 for pair in found["pairs"])
    assert json.dumps(found).count("NaN") == 0


def test_the_features_of_a_pipeline(ecotone, small):
    flags = ("diagnose", small, *SMALL_COLUMNS, *QUICK)
    plain = ecotone.json(*flags)
    assert "pipeline" not in plain
    found = {w: ecotone.json(*flags, "--pipeline", f"scale | udica weight={w}") for w in (0, 10000)}
    assert found[0]["pipeline"] == "scale | udica weight=0"
    assert found[0]["features"] == 2 and found[0]["rows"] == plain["rows"] and found[0]["domains"] == plain["domains"]
    assert {one["feature"] for one in found[0]["feature_shift"]} == {"z1", "z2"}
    assert found[10000]["distributional_variance"]["value"] < found[0]["distributional_variance"]["value"]
    assert "on the features of scale | udica weight=10000" in ecotone(*flags, "--pipeline", "scale | udica weight=10000").stdout


def test_a_pipeline_that_predicts_has_no_features(ecotone, small):
    message = ecotone.error("diagnose", small, *SMALL_COLUMNS, "--pipeline", "scale | logistic", exit=2, code="unexpected_learner")
    assert "'logistic'" in message


def test_a_pipeline_that_cannot_be_compared(ecotone, small, tmp_path):
    columns = ("diagnose", small, *SMALL_COLUMNS)
    ecotone.error(*columns, "--pipeline", "", exit=2, code="usage")
    message = ecotone.error(*columns, "--pipeline", "scale | dica", "--target", "a,b,c", exit=3, code="no_labels")
    assert "--target" in message and "--label" not in message
    equal = tmp_path / "equal.csv"
    equal.write_text("x0,y,domain\n" + "".join(f"1,c{i % 2},d{i % 3}\n" for i in range(30)))
    message = ecotone.error("diagnose", equal, "--label", "y", "--domain", "domain", "--pipeline", "kpca", exit=3, code="no_features")
    assert "the pipeline 'kpca' leaves no feature" in message
