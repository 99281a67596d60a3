"""What can be said about a new domain, from Python."""
import numpy as np
import pytest

import ecotone


@pytest.fixture(scope="module")
def drawn():
    return ecotone.generate("exchangeable", domains=12, rows=60)


def test_expect_is_what_the_program_says(drawn):
    X, y, domain = drawn
    found = ecotone.expect(X, y, domain, "scale | logistic l2=0.1", target="domain12")
    frame = found.to_frame()
    assert list(frame["target"].unique()) == ["domain12"]
    accuracy = frame[frame["metric"] == "accuracy"].iloc[0]
    assert accuracy["by"] == "blend" and accuracy["low"] < accuracy["estimate"] < accuracy["high"]
    assert len(found.to_frame(estimators=True)) > len(frame)
    assert "what to expect in 'domain12'" in str(found)
    with pytest.raises(ValueError, match="no domain|domain99"):
        ecotone.expect(X, y, domain, "scale | logistic l2=0.1", target="domain99")


def test_a_model_remembers(drawn):
    X, y, domain = drawn
    known = np.asarray(domain) != "domain12"
    model = ecotone.Pipeline("scale | logistic l2=0.1", expect=True).fit(X[known], y[known], sample_domain=domain[known])
    found = model.expected(X[~known], name="domain12").to_frame()
    direct = ecotone.expect(X, y, domain, "scale | logistic l2=0.1", target="domain12").to_frame()
    assert np.allclose(found[["estimate", "low", "high"]].astype(float), direct[["estimate", "low", "high"]].astype(float), atol=1e-9)
    with pytest.raises(ValueError, match="--expect"):
        ecotone.Pipeline("scale | logistic l2=0.1").fit(X[known], y[known], sample_domain=domain[known]).expected(X)


def test_sets_and_intervals(drawn):
    X, y, domain = drawn
    model = ecotone.Conformal(learner="scale | logistic l2=0.1").fit(X, y, sample_domain=domain)
    sets = model.predict_set(X)
    assert sets.dtype == bool and sets.shape == (len(X), 2)
    assert (model.predict_proba(X)[sets] >= 1 - model.quantile_ - 1e-12).all()
    numbers = np.asarray(X)[:, 0] + np.asarray(X)[:, 1]
    for made in (ecotone.ConformalRegressor(), ecotone.Pipeline("scale | ridge | conformal")):
        ends = made.fit(np.asarray(X)[:, 2:], numbers, sample_domain=domain).predict_interval(np.asarray(X)[:, 2:])
        assert ends.shape == (len(X), 2) and (ends[:, 0] < ends[:, 1]).all()
    with pytest.raises(ValueError, match="conformal"):
        ecotone.Logistic().fit(X, y, sample_domain=domain).predict_set(X)


def test_explain(drawn):
    X, y, domain = drawn
    found = ecotone.explain(X, y, domain, "scale | logistic l2=0.1", target=["domain3", "domain7"])
    frame = found.to_frame()
    assert list(frame["target"]) == ["domain3", "domain7"] and len(found.advice) == 2
    parts = frame[["x_source_to_shared", "y_given_x", "x_shared_to_target"]].sum(axis=1)
    assert np.allclose(parts, frame["difference"], atol=1e-12)
