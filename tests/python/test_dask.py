"""Pipelines on data frames of Dask: a local cluster of two worker processes."""
import numpy as np
import pandas as pd
import pytest

import ecotone

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("dask.distributed")

import ecotone.dask  # noqa: E402


@pytest.fixture(scope="module")
def frame():
    X, y, domain = ecotone.generate("exchangeable", domains=5, rows=80)
    return pd.DataFrame(np.asarray(X), columns=[f"x{j}" for j in range(1, 5)]).assign(y=y, site=domain)


@pytest.fixture(scope="module")
def cluster():
    # Patient with a busy machine, and without a limit on memory that a small one would meet.
    with dask.config.set({"distributed.comm.timeouts.connect": "120s"}), distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0
    ) as made:
        with distributed.Client(made) as client:
            yield client


def one_machine(frame, pipeline):
    return ecotone.Pipeline(pipeline).fit(frame.drop(columns=["y", "site"]), frame["y"], sample_domain=frame["site"])


def test_the_model_is_that_of_one_machine(frame, cluster):
    model = ecotone.dask.fit(dd.from_pandas(frame, npartitions=5), "scale | ridge lam=0.1", label="y", domain="site")
    X = frame.drop(columns=["y", "site"])
    np.testing.assert_allclose(model.predict_proba(X), one_machine(frame, "scale | ridge lam=0.1").predict_proba(X), atol=1e-10)


def test_workers_do_not_matter(frame, cluster):
    parts = [frame.iloc[s::4] for s in range(4)]
    ours = ecotone.dask.fit(parts, "scale | ridge", label="y", domain="site")
    with dask.config.set(scheduler="synchronous"):
        alone = ecotone.dask.fit(parts, "scale | ridge", label="y", domain="site")
    assert ours.model_.bytes() == alone.model_.bytes()


def test_two_rounds_and_partitions_without_rows(frame, cluster):
    parts = [frame.iloc[:200], frame.iloc[:0], frame.iloc[200:]]
    scale = ecotone.dask.fit(parts, "scale", label="y", domain="site")
    model = ecotone.dask.fit(
        parts, "dica route=low_rank map=fourier sigma=2 rank=30 | ridge lam=0.1", label="y", domain="site", behind=scale
    )
    assert model.predict(frame.drop(columns=["y", "site"])).shape == (400,)
    with pytest.raises(ValueError, match="no rows"):
        ecotone.dask.fit([frame.iloc[:0]], "scale | ridge", label="y", domain="site")


@pytest.mark.parametrize("pipeline", ["scale | logistic l2=0.01", "trees rounds=5 leaves=4"])
def test_workers_learn_together_what_needs_rows(frame, cluster, tmp_path, pipeline):
    parts = dd.from_pandas(frame, npartitions=5)
    ours = ecotone.dask.fit(parts, pipeline, label="y", domain="site", folder=tmp_path)
    assert list(tmp_path.iterdir()) == []
    X = frame.drop(columns=["y", "site"])
    np.testing.assert_allclose(ours.predict_proba(X), one_machine(frame, pipeline).predict_proba(X), atol=1e-10)
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as one:
        with distributed.Client(one, set_as_default=True):
            alone = ecotone.dask.fit(parts, pipeline, label="y", domain="site")
    assert ours.model_.bytes() == alone.model_.bytes()


def test_errors_of_workers_reach_the_caller(frame, cluster, tmp_path):
    with pytest.raises(Exception, match="no such column|no column|'nothing'"):
        ecotone.dask.fit([frame], "scale | logistic", label="nothing", domain="site", folder=tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="adapts|target"):
        ecotone.dask.fit([frame], "scale | weight.logistic | logistic l2=0.1", label="y", domain="site")
    with pytest.raises(ValueError, match="cannot be learned from sums"):
        ecotone.dask.fit([frame], "logistic", label="y", domain="site", behind=one_machine(frame, "scale"))
