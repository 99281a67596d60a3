"""Model files and data files are safetensors files that the Python package reads."""

import json

import numpy as np
from conftest import CLINIC_COLUMNS, PIPELINE
from safetensors import safe_open
from safetensors.numpy import load_file


def test_model_file(ecotone, model):
    arrays = load_file(model)
    with safe_open(model, framework="numpy") as file:
        metadata = file.metadata()
    inspected = ecotone.json("inspect", model)
    weights = [value for name, value in arrays.items() if name.endswith("weights")]
    assert len(weights) == 1
    learned = [stage for stage in inspected["stages"] if stage["stage"] == "logistic"][0]
    assert np.array_equal(weights[0].ravel(), np.ravel(learned["weights"]))
    assert PIPELINE in metadata.values()
    for value in metadata.values():
        assert isinstance(value, str)


def test_data_file(ecotone, clinics, tmp_path):
    path = tmp_path / "clinics.eco"
    rows = ecotone.json("convert", clinics, *CLINIC_COLUMNS, "-o", path)["rows"]
    arrays = load_file(path)
    with safe_open(path, framework="numpy") as file:
        assert any("hospital" in value for value in file.metadata().values())
    assert arrays["x"].shape[0] == rows
    assert arrays["x"].dtype == np.float64
    assert np.isnan(arrays["x"]).any()
    assert len(arrays["domain"]) == rows
    assert len(arrays["label"]) == rows


def test_metadata_is_json_in_strings(model):
    with safe_open(model, framework="numpy") as file:
        metadata = file.metadata()
    parsed = [json.loads(v) for v in metadata.values() if v[:1] in "[{"]
    assert any("hospital" in json.dumps(value) for value in parsed)
