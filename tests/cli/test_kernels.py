"""Which kernels multiply matrices: what `doctor` says of them, and the setting that pins them."""

import os

import pytest
from conftest import CLINIC_COLUMNS

PIPELINE = "impute | scale | dica route=low_rank | logistic l2=0.01"


def with_kernels(**settings):
    kept = {name: value for name, value in os.environ.items() if name not in ("ECOTONE_KERNELS", "OPENBLAS_CORETYPE")}
    return {"env": kept | settings}


def has(ecotone, kernels):
    """Whether the processor can run these kernels."""
    if ecotone("doctor", exit=None, **with_kernels(ECOTONE_KERNELS=kernels)).returncode == 0:
        return True
    ecotone.error("doctor", exit=2, code="bad_kernels", **with_kernels(ECOTONE_KERNELS=kernels))
    return False


def test_doctor_names_kernels_and_speed(ecotone):
    found = ecotone.json("doctor", **with_kernels())
    assert found["kernels"]["chosen_by"] in ("openblas", "ecotone")
    assert (found["kernels"]["chosen_by"] == "ecotone") == (found["kernels"]["replaced"] is not None)
    assert not found["kernels"]["fell_back"] and "warnings" not in found
    assert 0 < found["speed"]["product_gflops"] and 0 < found["speed"]["peak_gflops"]
    text = ecotone("doctor", **with_kernels()).stdout
    assert f"kernels    {found['kernels']['name']}, chosen by" in text
    assert f"of the peak of {found['kernels']['processor']}" in text


def test_the_setting_pins_the_kernels(ecotone):
    found = ecotone.json("doctor", **with_kernels(ECOTONE_KERNELS="prescott"))["kernels"]
    assert (found["name"], found["chosen_by"], found["fell_back"]) == ("Prescott", "ECOTONE_KERNELS", False)
    found = ecotone.json("doctor", **with_kernels(OPENBLAS_CORETYPE="Nehalem"))["kernels"]
    assert (found["name"], found["chosen_by"], found["fell_back"]) == ("Nehalem", "OPENBLAS_CORETYPE", False)


@pytest.mark.parametrize("name", ["", "pentium"])
def test_a_core_type_that_openblas_does_not_know_is_no_choice(ecotone, name):
    """OpenBLAS may then take other kernels than without the setting, but none below the processor's abilities."""
    found = ecotone.json("doctor", **with_kernels(OPENBLAS_CORETYPE=name))["kernels"]
    assert found["chosen_by"] in ("openblas", "ecotone") and not found["fell_back"]


def test_a_core_type_beyond_the_processor_is_refused(ecotone):
    if ecotone.json("doctor", **with_kernels())["kernels"]["processor"] == "AVX-512":
        pytest.skip("this processor has all instructions that OpenBLAS knows")
    message = ecotone.error("doctor", exit=2, code="bad_kernels", **with_kernels(OPENBLAS_CORETYPE="SkylakeX"))
    assert "OPENBLAS_CORETYPE: SkylakeX needs AVX-512, which this processor does not have" in message


def test_unknown_kernels_are_refused_before_any_work(ecotone, tmp_path):
    message = ecotone.error("doctor", exit=2, code="bad_kernels", **with_kernels(ECOTONE_KERNELS="pentium"))
    assert "unknown kernels 'pentium'; choose one of prescott, nehalem," in message
    ecotone("generate", "clinics", "-o", tmp_path / "c.csv", exit=2, **with_kernels(ECOTONE_KERNELS="pentium"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kernels", ["prescott", "haswell", "skylakex"])
def test_equal_kernels_give_equal_bytes_however_they_were_chosen(ecotone, tmp_path, kernels):
    if not has(ecotone, kernels):
        pytest.skip(f"this processor cannot run {kernels} kernels")
    core = {"prescott": "Prescott", "haswell": "Haswell", "skylakex": "SkylakeX"}[kernels]
    data = tmp_path / "data.csv"
    ecotone("generate", "clinics", "-o", data, **with_kernels(ECOTONE_KERNELS=kernels))
    models = []
    for name, more, threads in (
        ("pinned", {"ECOTONE_KERNELS": kernels}, 1),
        ("threads", {"ECOTONE_KERNELS": kernels}, 2),
        ("openblas", {"OPENBLAS_CORETYPE": core}, 2),
    ):
        model = tmp_path / f"{name}.eco"
        ecotone("fit", data, PIPELINE, *CLINIC_COLUMNS, "--threads", threads, "-o", model, **with_kernels(**more))
        models.append(model.read_bytes())
    assert models[0] == models[1] == models[2]
