"""Pipelines fitted on data frames of Dask, by the sums of their partitions; rows stay with the workers that have them.

>>> import ecotone.dask  # doctest: +SKIP
>>> model = ecotone.dask.fit(frame, "scale | ridge", label="y", domain="site")  # doctest: +SKIP

The model is that of the same partitions on any number of workers, to the last byte, and that of one machine up to
rounding. Pipelines are those of `ecotone partial`.
"""
import os

import dask

from . import _sums


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


def fit(frame, pipeline, *, label=None, domain=None, behind=None, min_rows=1, task=None, seed=0):
    """The pipeline fitted on a data frame of Dask, or on a list of delayed data frames: a `Pipeline`, fitted.

    `behind` is a fitted pipeline that prepares the rows first, such as the result of `fit(frame, "scale", ...)`.
    """
    computed = dask.compute(
        *parts(frame, pipeline, label=label, domain=domain, behind=behind, min_rows=min_rows, task=task, seed=seed)
    )
    found = [part for part in computed if part is not None]
    if not found:
        raise ValueError("there are no rows to learn from")
    return _sums.finish(found, behind=behind, threads=os.cpu_count())
