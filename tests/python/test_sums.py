"""Sums of sites, collected and finished, from Python."""
import numpy as np
import pytest

import ecotone


@pytest.fixture(scope="module")
def data():
    return ecotone.generate("exchangeable", domains=5, rows=60)


def parts_of(data, pipeline, sites=3, **more):
    X, y, domain = data
    X = np.asarray(X)
    more = {"min_rows": 1} | more
    return [ecotone.partial(X[s::sites], y[s::sites], domain[s::sites], pipeline, **more) for s in range(sites)]


def test_the_model_of_all_sites_is_that_of_all_rows(data):
    X, y, domain = np.asarray(data.X), data.y, data.domain
    model = ecotone.finish(ecotone.merge(parts_of(data, "scale | ridge lam=0.1")))
    fitted = ecotone.Pipeline("scale | ridge lam=0.1").fit(X, y, sample_domain=domain)
    np.testing.assert_allclose(model.predict_proba(X), fitted.predict_proba(X), atol=1e-10)
    assert list(model.classes_) == list(fitted.classes_)


def test_the_order_does_not_matter(data):
    parts = parts_of(data, "scale | ridge")
    one = ecotone.finish(parts)
    other = ecotone.finish([ecotone.merge(parts[1:]), parts[0]])
    assert one.model_.bytes() == other.model_.bytes()
    with pytest.raises(ValueError, match="twice"):
        ecotone.merge([parts[0], parts[0]])


def test_estimators_and_models_behind_them(data):
    scale = ecotone.finish(parts_of(data, ecotone.Scale()))
    parts = parts_of(data, "dica route=low_rank map=fourier sigma=2 rank=30 | ridge lam=0.1", behind=scale)
    model = ecotone.finish(parts, behind=scale)
    assert model.pipeline.startswith("scale | dica")
    with pytest.raises(ValueError, match="--behind"):
        ecotone.finish(parts)


def test_a_target_without_labels_joins_the_others(data):
    X, y, domain = np.asarray(data.X), np.asarray(data.y), np.asarray(data.domain)
    target, pipeline = domain[-1], "scale | coral | ridge lam=0.1"
    known = domain != target
    parts = [
        ecotone.partial(X[known], y[known], domain[known], pipeline, min_rows=1),
        ecotone.partial(X[~known], None, domain[~known], pipeline, target=target, min_rows=1),
    ]
    found = ecotone.inspect_sums(parts)["parts"]
    assert [part["targets"] for part in found if "targets" in part] == [{str(target): 60}]
    model = ecotone.finish(parts)
    fitted = ecotone.Pipeline(pipeline, target=target).fit(X, y, sample_domain=domain)
    np.testing.assert_allclose(
        model.predict_proba(X, sample_domain=domain), fitted.predict_proba(X, sample_domain=domain), atol=1e-8
    )


def yes_and_no(data):
    """A frame whose labels are bools, some of them as Python objects."""
    X, y, domain = np.asarray(data.X), np.asarray(data.y), np.asarray(data.domain)
    columns = {f"x{j + 1}": X[:, j] for j in range(X.shape[1])}
    return ecotone.Table({**columns, "flag": X[:, 0] > 0, "y": y == y[0], "site": domain})


@pytest.mark.parametrize("kind", [bool, object])
def test_labels_of_a_column_are_those_of_an_array(data, kind):
    frame = yes_and_no(data)
    labels = frame["y"].astype(kind)
    named = ecotone.Table({name: labels if name == "y" else frame[name] for name in frame.columns})
    rest = ecotone.Table({name: frame[name] for name in frame.columns if name not in ("y", "site")})
    models = []
    for given in ((named, "y", "site"), (rest, labels, frame["site"])):
        models.append(ecotone.finish(ecotone.partial(*given, "scale | ridge lam=0.1", min_rows=1)))
        assert models[-1].classes_.dtype == bool and list(models[-1].classes_) == [False, True]
    np.testing.assert_array_equal(models[0].predict_proba(rest), models[1].predict_proba(rest))


def test_the_same_rows_in_another_order_are_reported(data):
    X, y, domain = np.asarray(data.X), np.asarray(data.y), np.asarray(data.domain)
    parts = [ecotone.partial(X[order], y[order], domain[order], "scale | ridge lam=0.1", min_rows=1) for order in (slice(None), slice(None, None, -1))]
    for function in (ecotone.merge, ecotone.finish):
        with pytest.warns(ecotone.EcotoneWarning, match="count twice"):
            function(parts)


def test_no_parts_are_an_error():
    for function in (ecotone.merge, ecotone.finish, ecotone.inspect_sums):
        with pytest.raises(ValueError, match="no sums"):
            function([])


def test_what_sums_are_of(data):
    found = ecotone.inspect_sums(parts_of(data, "scale | ridge"))
    assert sum(sum(part["rows"].values()) for part in found["parts"]) == 300
    with pytest.raises(ValueError, match="min_rows|min-rows"):
        parts_of(data, "scale | ridge", min_rows=21)
