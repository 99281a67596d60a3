"""Pipelines fitted on data frames of Dask, by the workers that have their partitions.

>>> import ecotone.dask  # doctest: +SKIP
>>> model = ecotone.dask.fit(frame, "scale | ridge", label="y", domain="site")  # doctest: +SKIP

The model is that of the same partitions on any number of workers, to the last byte, and that of one machine up to
rounding. Pipelines of `ecotone partial` need one pass over the rows, which stay with their workers; all others are
fitted by all workers together, which sum over their rows again and again.
"""
import os
import pathlib
import shutil
import tempfile
import uuid

import dask

from . import _native, _sums
from ._functions import option_texts
from ._messages import settings
from ._pipeline import Pipeline


def _partial(frame, label, domain, pipeline, options):
    if len(frame) == 0:
        return None  # a partition without rows has no part in the model
    # A worker has as many threads as Dask gave it; more would share its processors with the other tasks.
    return _sums.partial(frame, label, domain, pipeline, threads=1, **options)


def _delayed_parts(frame):
    if hasattr(frame, "to_delayed"):
        return list(frame.to_delayed())
    return [part if hasattr(part, "dask") else dask.delayed(part) for part in frame]


def parts(frame, pipeline, *, label=None, domain=None, behind=None, min_rows=1, task=None, seed=0):
    """The sums of every partition as delayed bytes, None for one without rows: for those who collect them themselves.

    `frame` is a data frame of Dask, or a list of delayed data frames; `label` and `domain` are columns of it. The task
    ("classify" or "regress") is guessed in every partition unless it is given, so give it where labels are numbers.
    """
    options = {"behind": behind, "min_rows": min_rows, "task": task, "seed": seed}
    one = dask.delayed(_partial, pure=True)
    return [one(part, label, domain, pipeline, options) for part in _delayed_parts(frame)]


def fit(frame, pipeline, *, label=None, domain=None, behind=None, min_rows=1, task=None, seed=0, folder=None):
    """The pipeline fitted on a data frame of Dask, or on a list of delayed data frames: a `Pipeline`, fitted.

    `behind` is a fitted pipeline that prepares the rows first, such as the result of `fit(frame, "scale", ...)`; it is
    for pipelines that need one pass. Other pipelines need a `dask.distributed.Client`, and a `folder` that all workers
    see: each partition is written to it as a CSV file, of which each worker keeps its share in memory. By default it is
    a temporary one, which is right for a local cluster. The folder is emptied again.
    """
    text = _sums._text(pipeline)
    try:
        _native.require_sums(text)
    except ValueError:
        if behind is not None:
            raise
        return _fit_together(frame, text, {"label": label, "domain": domain, "task": task}, seed, folder)
    computed = dask.compute(
        *parts(frame, text, label=label, domain=domain, behind=behind, min_rows=min_rows, task=task, seed=seed)
    )
    found = [part for part in computed if part is not None]
    if not found:
        raise ValueError("there are no rows to learn from")
    return _sums.finish(found, behind=behind, threads=os.cpu_count())


class _Workers:
    """The workers of one fit as ranks: what they give each other goes through the scheduler, and stays there until the
    end, so that a worker that is started again catches up."""

    def __init__(self, run, rank, size, client):
        self.rank, self.size = rank, size
        self._run, self._client, self.steps = run, client, 0

    def variable(self, *name):
        from dask.distributed import Variable

        return Variable("-".join(map(str, (self._run, *name))), client=self._client)

    def gather(self, mine):
        step = self.steps
        self.steps += 1
        self.variable(step, self.rank).set(mine)
        return [mine if rank == self.rank else self._wait_for(step, rank) for rank in range(self.size)]

    def _wait_for(self, step, rank):
        while True:
            try:
                return self.variable(step, rank).get(timeout="5s")
            except TimeoutError:
                try:
                    failed = self.variable("failed").get(timeout="0.1s")
                except TimeoutError:
                    continue
                raise RuntimeError(f"another worker has failed: {failed}") from None


def _write(part, folder, number):
    """The rows of a partition as a file; nothing if it has none."""
    if len(part):
        part.to_csv(pathlib.Path(folder) / f"part-{number:06}.csv", index=False)


def _fit_rank(files, text, options, seed, run, rank, size):
    """The share of one worker: (bytes of the model, number of exchanges) of the first, None of the others."""
    from dask.distributed import get_client

    workers = _Workers(run, rank, size, get_client())
    try:
        with settings(1, seed, workers) as native:
            data = _native.Data.read(files, [], "csv", option_texts(options), native, _native.takes_categories([text]))
            model, _ = _native.Model.fit(text, data, False, native)
        return (model.bytes(), workers.steps) if rank == 0 else None
    except BaseException as error:
        workers.variable("failed").set(f"rank {rank} of {size}: {error}")
        raise


def _fit_together(frame, text, options, seed, folder):
    from dask.distributed import get_client

    try:
        client = get_client()
    except ValueError:
        raise ValueError(f'"{text}" sums over rows again and again, which needs a cluster: make a dask.distributed.Client') from None
    run = f"ecotone-{uuid.uuid4().hex}"
    scratch = pathlib.Path(folder or tempfile.gettempdir()) / run
    scratch.mkdir()
    try:
        write = dask.delayed(_write, pure=False)
        client.gather(client.compute([write(part, str(scratch), k) for k, part in enumerate(_delayed_parts(frame))]))
        files = sorted(str(path) for path in scratch.iterdir())
        if not files:
            raise ValueError("there are no rows to learn from")
        names = sorted(client.scheduler_info(n_workers=-1)["workers"])
        given = {name: value for name, value in options.items() if value is not None}
        ranks = [
            client.submit(_fit_rank, files, text, given, seed, run, rank, len(names), workers=[name], pure=False)
            for rank, name in enumerate(names)
        ]
        try:
            model, steps = client.gather(ranks)[0]
        except RuntimeError as error:
            if "another worker has failed" not in str(error):
                raise
            # The worker that failed says why.
            raise next(future.exception() for future in ranks if "another worker" not in str(future.exception()))
        spoken = _Workers(run, 0, 1, client)
        for step in range(steps):
            for rank in range(len(names)):
                spoken.variable(step, rank).delete()
        return Pipeline.from_model(_native.Model.from_bytes(model))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
