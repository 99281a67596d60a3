"""Data frames: pandas, polars, pyarrow and our own tables give the same models; names of columns are kept and checked."""
import os
import subprocess
import sys

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import ecotone


@pytest.fixture(scope="module")
def frame(clinics):
    return clinics.X.assign(hospital=clinics.domain), clinics.y


def kinds(frame):
    yield "pandas", frame
    yield "objects", frame.astype({"chest_pain": object})
    yield "strings", frame.astype({"chest_pain": "string"})
    yield "extension", frame.astype({"age": "Int64", "bmi": "Float64", "male": "boolean"})
    yield "polars", polars.from_pandas(frame.astype({"chest_pain": object}))
    yield "polars categorical", polars.from_pandas(frame.astype({"chest_pain": object})).with_columns(polars.col("chest_pain").cast(polars.Categorical))
    yield "pyarrow", pyarrow.Table.from_pandas(frame, preserve_index=False)
    halves = [pyarrow.Table.from_pandas(part.astype({"chest_pain": object}), preserve_index=False) for part in (frame[:100], frame[100:])]
    yield "chunks", pyarrow.concat_tables(halves)
    dictionaries = [pyarrow.Table.from_pandas(part.assign(chest_pain=part["chest_pain"].cat.remove_unused_categories()), preserve_index=False)
                    for part in (frame[:7], frame[7:])]
    yield "dictionaries of their own", pyarrow.concat_tables(dictionaries)
    yield "table", ecotone.Table({name: frame[name].astype(object).where(frame[name].notna(), None) for name in frame})


def test_all_frames_give_the_same_model(frame):
    X, y = frame
    text = "impute | scale | logistic l2=0.1"
    expected = ecotone.Pipeline(text, domain="hospital").fit(X, y)
    assert "chest_pain=typical" in expected.model_.features and "hospital" not in expected.feature_names_in_
    for name, same in kinds(X):
        model = ecotone.Pipeline(text, domain="hospital").fit(same, y)
        assert list(model.feature_names_in_) == list(expected.feature_names_in_), name
        assert model.inspect() | {"label": 0} == expected.inspect() | {"label": 0}, name
        assert (model.predict_proba(same) == expected.predict_proba(X)).all(), name


def test_labels_and_domains_of_other_libraries(frame):
    X, y = frame
    expected = ecotone.Pipeline("impute | scale | logistic l2=0.1").fit(X.drop(columns="hospital"), y, sample_domain=X["hospital"])
    for labels, domains in ((polars.Series(y), polars.Series(X["hospital"].astype(str))), (pyarrow.array(y), pyarrow.array(X["hospital"].astype(str)))):
        model = ecotone.Pipeline("impute | scale | logistic l2=0.1").fit(X.drop(columns="hospital"), labels, sample_domain=domains)
        assert (model.predict(X.drop(columns="hospital")) == expected.predict(X.drop(columns="hospital"))).all()


def test_new_rows(frame):
    X, y = frame
    model = ecotone.Pipeline("impute | scale | logistic l2=0.1", domain="hospital").fit(X, y)
    new = X.drop(columns="hospital")[:3].assign(chest_pain=["never seen", None, "typical"])
    assert model.predict(new).shape == (3,)  # the domain's column may be absent, categories may be new
    with pytest.raises(ValueError, match="unseen at fit time:\n- Age"):
        model.predict(X.rename(columns={"age": "Age"}))
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(X[X.columns[::-1]])
    with pytest.raises(ValueError, match="now missing:\n- age"):
        model.predict(X.drop(columns="age"))
    with pytest.raises(ValueError, match="neither numbers, dates nor text"):
        model.fit(X.assign(age=pandas.Timedelta("1 day")), y)
    with pytest.raises(ValueError, match="neither numbers, dates nor text"):
        model.fit(polars.from_pandas(X.assign(age=pandas.Timedelta("1 day"))), y)
    with pytest.raises(ValueError, match="more than 100 distinct values"):
        model.fit(X.assign(age=[f"p{i}" for i in range(len(X))]), y)


def test_dates_are_days_as_in_the_program(frame, tmp_path):
    X, y = frame
    day = np.datetime64("2024-01-01") + np.arange(len(X)).astype("timedelta64[D]")
    dated = X.assign(seen=day)
    expected = ecotone.Pipeline("impute | scale | logistic l2=0.1", domain="hospital").fit(dated, y)
    dated.assign(label=y).to_csv(tmp_path / "d.csv", index=False)
    read = ecotone.read(tmp_path / "d.csv", label="label", domain="hospital")
    assert (read.X["seen"].to_numpy() == day).all()
    zoned = dated.assign(seen=pandas.to_datetime(day, utc=True).tz_convert("Asia/Tokyo"))
    for same in (zoned, polars.from_pandas(dated), pyarrow.Table.from_pandas(dated), pyarrow.Table.from_pandas(zoned)):
        model = ecotone.Pipeline("impute | scale | logistic l2=0.1", domain="hospital").fit(same, y)
        assert (model.predict_proba(same) == expected.predict_proba(dated)).all()
    expected.save(tmp_path / "m.eco")
    predict = [os.environ["ECOTONE_PROGRAM"], "predict", tmp_path / "m.eco", tmp_path / "d.csv", "--quiet", "-o", tmp_path / "p.csv"]
    subprocess.run(predict, check=True)
    np.testing.assert_allclose(pandas.read_csv(tmp_path / "p.csv")["p_1"], expected.predict_proba(dated)[:, 1], rtol=1e-12)
    late = dated.assign(seen=[None, *day[1:]])
    late["seen"] = pandas.to_datetime(late["seen"])
    assert np.isfinite(expected.predict_proba(late)).all()


def test_names_out_and_set_output(frame):
    X, y = frame
    scaled = ecotone.Pipeline("impute | scale", domain="hospital").fit(X).set_output(transform="pandas").transform(X)
    assert list(scaled.columns) == list(ecotone.Pipeline("impute | scale", domain="hospital").fit(X).get_feature_names_out())
    assert "chest_pain=typical" in scaled and len(scaled) == len(X)
    numbers = X.select_dtypes("number").fillna(0)
    components = ecotone.KPCA(components=3).set_output(transform="polars").fit(numbers, y).transform(numbers)
    assert isinstance(components, polars.DataFrame) and components.columns == ["z1", "z2", "z3"]
    assert list(ecotone.Scale().fit(np.eye(3)).get_feature_names_out()) == ["x0", "x1", "x2"]


def test_no_library_of_frames_is_needed(frame):
    """In a process that can import none of them."""
    program = """
import sys
for name in ("pandas", "polars", "pyarrow", "tqdm"):
    sys.modules[name] = None
import ecotone
X, y, domain = ecotone.generate("clinics", size=0.1)
assert type(X) is ecotone.Table, type(X)
model = ecotone.Pipeline("impute | scale | logistic").fit(X, y, sample_domain=domain)
assert len(model.predict(X)) == 334
print(ecotone.evaluate(X, y, domain, ["constant"]).to_frame().shape)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("(8, ")
