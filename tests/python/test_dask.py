"""Pipelines on data frames of Dask: a local cluster of two worker processes."""
import asyncio
import importlib.util
import logging
import os
import signal
import stat
import threading
import time

import numpy as np
import pandas as pd
import pytest

import ecotone

if os.environ.get("CI") == "true":  # there nothing is skipped
    import dask
    import dask.dataframe as dd
    import dask.distributed as distributed
else:
    dask = pytest.importorskip("dask")
    dd = pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("dask.distributed")

import ecotone.dask  # noqa: E402


def drawn(rows):
    X, y, domain = ecotone.generate("exchangeable", domains=5, rows=rows)
    return pd.DataFrame(np.asarray(X), columns=[f"x{j}" for j in range(1, 5)]).assign(y=y, site=domain)


@pytest.fixture(scope="module")
def frame():
    return drawn(80)


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


def test_equal_partitions_both_count(frame, cluster):
    parts = [frame.iloc[:200], frame.iloc[:200], frame.iloc[200:]]
    ours = ecotone.dask.fit(parts, "scale | ridge lam=0.1", label="y", domain="site")
    whole = one_machine(pd.concat(parts, ignore_index=True), "scale | ridge lam=0.1")
    X = frame.drop(columns=["y", "site"])
    np.testing.assert_allclose(ours.predict_proba(X), whole.predict_proba(X), atol=1e-10)
    with pytest.raises(ValueError, match="twice"):
        ecotone.merge(2 * [ecotone.partial(parts[0], "y", "site", "scale | ridge lam=0.1", min_rows=1)])


def test_two_rounds_and_partitions_without_rows(frame, cluster):
    parts = [frame.iloc[:200], frame.iloc[:0], frame.iloc[200:]]
    scale = ecotone.dask.fit(parts, "scale", label="y", domain="site")
    model = ecotone.dask.fit(
        parts, "dica route=low_rank map=fourier sigma=2 rank=30 | ridge lam=0.1", label="y", domain="site", behind=scale
    )
    assert model.predict(frame.drop(columns=["y", "site"])).shape == (400,)
    with pytest.raises(ValueError, match="no rows"):
        ecotone.dask.fit([frame.iloc[:0]], "scale | ridge", label="y", domain="site")


@pytest.mark.parametrize("pipeline, rows", [("scale | logistic l2=0.01", 800), ("trees rounds=2 leaves=4", 8000)])
def test_workers_learn_together_what_needs_rows(cluster, tmp_path, pipeline, rows):
    # Several blocks of 512 rows for each worker, and rows enough for trees to share histograms.
    frame = drawn(rows)
    parts = dd.from_pandas(frame, npartitions=5)
    ours = ecotone.dask.fit(parts, pipeline, label="y", domain="site", folder=tmp_path)
    assert list(tmp_path.iterdir()) == []
    X = frame.drop(columns=["y", "site"])
    np.testing.assert_allclose(ours.predict_proba(X), one_machine(frame, pipeline).predict_proba(X), atol=1e-10)
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as one:
        with distributed.Client(one, set_as_default=True):
            alone = ecotone.dask.fit(parts, pipeline, label="y", domain="site")
    assert ours.model_.bytes() == alone.model_.bytes()


def test_only_the_user_can_read_rows_on_disk(frame, cluster, tmp_path, monkeypatch):
    modes = []
    first_result = ecotone.dask._first_result

    def look(*arguments):
        modes.extend(stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir())
        return first_result(*arguments)

    monkeypatch.setattr(ecotone.dask, "_first_result", look)
    ecotone.dask.fit([frame], "scale | logistic l2=0.1", label="y", domain="site", folder=tmp_path)
    assert modes == [0o700]


def test_errors_of_workers_reach_the_caller(frame, cluster, tmp_path):
    with pytest.raises(Exception, match="no such column|no column|'nothing'"):
        ecotone.dask.fit([frame], "scale | logistic", label="nothing", domain="site", folder=tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="adapts|target"):
        ecotone.dask.fit([frame], "scale | weight.logistic | logistic l2=0.1", label="y", domain="site")
    with pytest.raises(ValueError, match="cannot be learned from sums"):
        ecotone.dask.fit([frame], "logistic", label="y", domain="site", behind=one_machine(frame, "scale"))


def test_a_text_that_is_wrong_is_no_question_of_clusters(frame):
    for pipeline in ("scle | ridge", "scale | ridge lm=2", "scale | logistic l2=-1"):
        with pytest.raises(ValueError, match="did you mean|must be"):
            ecotone.dask.fit([frame], pipeline, label="y", domain="site")


def test_min_rows_is_for_sums(frame, cluster):
    with pytest.raises(ValueError, match="min_rows is for pipelines of sums"):
        ecotone.dask.fit([frame], "scale | logistic l2=0.1", label="y", domain="site", min_rows=5)


def test_scores_of_rows_need_rows(frame, cluster):
    ours = ecotone.dask.fit([frame.iloc[:200], frame.iloc[200:]], "scale | ridge score=log_loss", label="y", domain="site")
    X = frame.drop(columns=["y", "site"])
    np.testing.assert_allclose(ours.predict_proba(X), one_machine(frame, "scale | ridge score=log_loss").predict_proba(X), atol=1e-10)


def left_on_scheduler(client):
    return client.run_on_scheduler(lambda dask_scheduler: [name for name in dask_scheduler.extensions["variables"].variables if "ecotone" in name])


def until(true, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_nothing_stays_on_the_scheduler(frame, cluster, tmp_path, monkeypatch):
    fit = lambda pipeline, parts: ecotone.dask.fit(parts, pipeline, label="y", domain="site", folder=tmp_path)
    fit("scale | logistic l2=0.1", [frame])
    assert left_on_scheduler(cluster) == []
    with pytest.raises(ValueError):
        fit("scale | weight.logistic | logistic l2=0.1", [frame])
    assert left_on_scheduler(cluster) == []

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ecotone.dask, "_first_result", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fit("scale | logistic l2=0.1", [frame])
    until(lambda: left_on_scheduler(cluster) == [] and not any(cluster.processing().values()))


def test_workers_keep_the_variables_of_two_steps(cluster):
    ranks = [ecotone.dask._Workers("ecotone-steps", rank, 2, cluster) for rank in range(2)]
    ranks[0].state.set("")
    most = []

    def exchange(workers):
        for step in range(100):
            assert workers.gather(f"{step} of {workers.rank}") == [f"{step} of 0", f"{step} of 1"]
            if workers.rank == 0:
                most.append(len(left_on_scheduler(cluster)))

    threads = [threading.Thread(target=exchange, args=[workers]) for workers in ranks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(most) == 100 and max(most) < 50  # deletions take a while; without them there are 200
    until(lambda: len(left_on_scheduler(cluster)) == 1 + 2)  # the state, and the last step of each
    ecotone.dask._forget(cluster, "ecotone-steps")


def test_waiting_ends_on_every_version_of_python(monkeypatch):
    class OfAsyncio(Exception):  # what asyncio.TimeoutError is before Python 3.11
        pass

    monkeypatch.setattr(asyncio, "TimeoutError", OfAsyncio)
    spec = importlib.util.spec_from_file_location("ecotone.dask_of_old", ecotone.dask.__file__)
    old = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(old)

    class Variable:
        def get(self, timeout):
            raise OfAsyncio

    monkeypatch.setattr(old._Workers, "variable", lambda self, *name: Variable())
    workers = old._Workers("ecotone-old", 0, 2, None)
    assert workers.failed() == "the fit is over"
    with pytest.raises(old._OtherFailed, match="the fit is over"):
        workers._wait_for(0, 1)


def start_rank(client, path, run, rank, address):
    return client.submit(
        ecotone.dask._fit_rank, [str(path)], "scale | logistic l2=0.1", {"label": "y", "domain": "site"}, 0, run, rank, 2, workers=[address], pure=False
    )


def test_fits_in_turn_do_not_wait_for_each_other(frame, cluster, tmp_path):
    frame.to_csv(tmp_path / "rows.csv", index=False)
    first, second = sorted(cluster.scheduler_info(n_workers=-1)["workers"])
    states = [ecotone.dask._Workers(run, 0, 2, cluster).state for run in ("ecotone-a", "ecotone-b")]
    for state in states:
        state.set("")
    ranks = []
    # Each worker has one thread and the other fit's rank before it.
    for run, rank, address in (("ecotone-a", 0, first), ("ecotone-b", 1, second), ("ecotone-b", 0, first), ("ecotone-a", 1, second)):
        ranks.append(start_rank(cluster, tmp_path / "rows.csv", run, rank, address))
        time.sleep(0.5)
    distributed.wait(ranks, timeout=120)
    assert [rank.status for rank in ranks] == ["finished"] * 4
    for run in ("ecotone-a", "ecotone-b"):
        ecotone.dask._forget(cluster, run)


def test_a_rank_ends_with_its_fit(frame, cluster, tmp_path):
    frame.to_csv(tmp_path / "rows.csv", index=False)
    state = ecotone.dask._Workers("ecotone-c", 0, 2, cluster).state
    state.set("")
    rank = start_rank(cluster, tmp_path / "rows.csv", "ecotone-c", 0, sorted(cluster.scheduler_info(n_workers=-1)["workers"])[0])
    until(lambda: "ecotone-c-0-0" in left_on_scheduler(cluster))
    state.delete()
    assert isinstance(rank.exception(timeout=60), ecotone.dask._OtherFailed)
    until(lambda: set(left_on_scheduler(cluster)) <= {"ecotone-c-0-0"})
    ecotone.dask._forget(cluster, "ecotone-c")


def test_warnings_reach_the_caller(frame, cluster):
    with pytest.warns(UserWarning, match="converge|iterations") as found:
        ecotone.dask.fit([frame], "scale | logistic l2=0.0001 max_iterations=1", label="y", domain="site")
    said = [warning for warning in found if "converge" in str(warning.message) or "iterations" in str(warning.message)]
    assert said[0].filename == __file__


def test_columns_are_those_of_one_machine(frame, cluster):
    mixed = frame.assign(
        flag=frame["x1"] > 0,
        maybe=np.where(frame["x2"] > 1, None, frame["x2"] > 0),
        word=np.where(frame["x3"] > 0, "007", 'a "b", c\nd'),
        single=frame["x1"].astype(np.float32) * np.float32(0.1),
        when=pd.Timestamp("2020-01-31 12:30", tz="Europe/Vienna") + pd.to_timedelta(np.arange(len(frame)), unit="h"),
    )
    ours = ecotone.dask.fit([mixed.iloc[:150], mixed.iloc[150:]], "impute | scale | logistic l2=0.1", label="y", domain="site")
    X = mixed.drop(columns=["y", "site"])
    alone = one_machine(mixed, "impute | scale | logistic l2=0.1")
    assert ours.model_.columns == alone.model_.columns
    np.testing.assert_allclose(ours.predict_proba(X), alone.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("pipeline", ["scale | ridge lam=0.1", "scale | logistic l2=0.1"])
def test_labels_of_yes_and_no_stay_so(frame, cluster, pipeline):
    """Whether rows are summed once or again and again."""
    asked = frame.assign(y=frame["y"] == frame["y"].iloc[0], flag=frame["x1"] > 0)
    ours = ecotone.dask.fit([asked.iloc[:150], asked.iloc[150:]], pipeline, label="y", domain="site")
    assert ours.classes_.dtype == bool and list(ours.classes_) == [False, True]
    X = asked.drop(columns=["y", "site"])
    alone = one_machine(asked, pipeline)
    np.testing.assert_array_equal(alone.classes_, ours.classes_)
    np.testing.assert_allclose(ours.predict_proba(X), alone.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("pipeline", ["scale | ridge", "scale | logistic"])
def test_a_frame_of_pandas_is_no_frame_of_dask(frame, pipeline):
    for given in (frame, np.ones((3, 2)), ecotone.Table({"x": np.ones(3)})):
        with pytest.raises(TypeError, match="needs a data frame of Dask or a list of delayed"):
            ecotone.dask.fit(given, pipeline, label="y", domain="site")
    with pytest.raises(TypeError, match="pandas.*DataFrame.*from_pandas"):
        ecotone.dask.parts(frame, "scale | ridge", label="y", domain="site")


@pytest.mark.parametrize("words, said", [(["NA", "a"], "'NA'"), ([" a", "b"], "' a'"), (["", "b"], "''"), (["007", "012"], "numbers"), (["2020-01-31", "2020-02-01"], "dates")])
def test_text_that_csv_would_change_is_refused(frame, cluster, words, said):
    with pytest.raises(ValueError, match=f"'word'.*{said}"):
        ecotone.dask.fit([frame.assign(word=np.resize(words, len(frame)))], "scale | logistic l2=0.1", label="y", domain="site")


@pytest.mark.parametrize("role, words", [("y", ["NA", "a"]), ("y", ["007", "7"]), ("site", [" a", "a"])])
def test_labels_and_domains_that_csv_would_change_are_refused(frame, cluster, role, words):
    with pytest.raises(ValueError, match=f"column '{role}'"):
        ecotone.dask.fit([frame.assign(**{role: np.resize(words, len(frame))})], "scale | logistic l2=0.1", label="y", domain="site")


def test_numbers_below_0_are_targets(frame, cluster):
    numbered = frame.assign(site=frame["site"].map({name: number for number, name in enumerate(sorted(frame["site"].unique()), -1)}))
    numbered.loc[numbered["site"] == -1, "y"] = frame["y"].iloc[0]  # labels that nothing may learn from
    ours = ecotone.dask.fit([numbered.iloc[:150], numbered.iloc[150:]], "scale | logistic l2=0.1", label="y", domain="site")
    X = numbered.drop(columns=["y", "site"])
    sources = one_machine(numbered[numbered["site"] >= 0], "scale | logistic l2=0.1")
    np.testing.assert_allclose(ours.predict_proba(X), sources.predict_proba(X), atol=1e-10)


def test_a_lost_worker_ends_the_fit(frame, tmp_path):
    with dask.config.set({"distributed.comm.timeouts.connect": "120s"}), distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0, silence_logs=logging.CRITICAL
    ) as made, distributed.Client(made) as client:
        address, pid = sorted(client.run(os.getpid).items())[1]

        def kill():
            until(lambda: left_on_scheduler(client), 120)
            time.sleep(1)
            os.kill(pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        start = time.monotonic()
        with pytest.raises(RuntimeError, match=f"lost a worker: {address}"):
            ecotone.dask.fit([frame], "trees rounds=300000 leaves=4", label="y", domain="site", folder=tmp_path)
        assert time.monotonic() - start < 120
        killer.join()
        assert list(tmp_path.iterdir()) == [] and left_on_scheduler(client) == []
