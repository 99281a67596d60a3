"""Pipelines fitted on data frames of Dask, by the workers that have their partitions.

>>> import ecotone.dask  # doctest: +SKIP
>>> model = ecotone.dask.fit(frame, "scale | ridge", label="y", domain="site")  # doctest: +SKIP

The model is that of the same partitions on any number of workers, to the last byte, and that of one machine up to
rounding. Pipelines of `ecotone partial` need one pass over the rows, which stay with their workers; all others are
fitted by all workers together, which sum over their rows again and again.
"""
import asyncio
import concurrent.futures
import contextlib
import os
import pathlib
import re
import shutil
import tempfile
import uuid

import dask
import numpy as np

from . import _frames, _input, _native, _sums
from ._functions import option_texts
from ._messages import Listener, settings
from ._pipeline import Pipeline

_TIMEOUTS = (TimeoutError, asyncio.TimeoutError, concurrent.futures.TimeoutError)  # one class since Python 3.11


def _partial(frame, number, label, domain, pipeline, options):
    if len(frame) == 0:
        return None  # a partition without rows has no part in the model
    # A worker has as many threads as Dask gave it; more would share its processors with the other tasks.
    return _sums.part(frame, label, domain, pipeline, threads=1, source=str(number), **options)


def _require_partitions(frame):
    if _frames.is_frame(frame) and not hasattr(frame, "to_delayed") or isinstance(frame, np.ndarray):
        raise TypeError(
            f"ecotone.dask needs a data frame of Dask or a list of delayed data frames, not {type(frame).__module__}.{type(frame).__name__}: "
            "make one with dask.dataframe.from_pandas, or use ecotone.Pipeline"
        )


def _delayed_parts(frame):
    _require_partitions(frame)
    if hasattr(frame, "to_delayed"):
        return list(frame.to_delayed())
    return [part if hasattr(part, "dask") else dask.delayed(part) for part in frame]


def parts(frame, pipeline, *, label=None, domain=None, behind=None, min_rows=1, task=None, seed=0):
    """The sums of every partition as delayed bytes, None for one without rows: for those who collect them themselves.

    `frame` is a data frame of Dask, or a list of delayed data frames; `label` and `domain` are columns of it. The task
    ("classify" or "regress") is guessed in every partition unless it is given, so give it where labels are numbers.
    Parts know the number of their partition, so that partitions with the same rows both count.
    """
    options = {"behind": behind, "min_rows": min_rows, "task": task, "seed": seed}
    one = dask.delayed(_partial, pure=True)
    return [one(part, number, label, domain, pipeline, options) for number, part in enumerate(_delayed_parts(frame))]


def fit(frame, pipeline, *, label=None, domain=None, behind=None, min_rows=1, task=None, seed=0, folder=None):
    """The pipeline fitted on a data frame of Dask, or on a list of delayed data frames: a `Pipeline`, fitted.

    `behind` is a fitted pipeline that prepares the rows first, such as the result of `fit(frame, "scale", ...)`; it and
    `min_rows` are for pipelines that need one pass. Other pipelines need a `dask.distributed.Client`, and a `folder` that
    all workers see: each partition is written to it as a CSV file, of which each worker keeps its share in memory (all rows where a stage
    cannot be fitted from shares). By
    default it is a temporary one, which is right for a local cluster. The files lie in a folder of their own,
    `ecotone-...`, that only this user can open, and which goes when the fit ends; a client that is killed leaves it
    behind. Text that a CSV file would not give back as it is (ValueError), and a worker that is lost (RuntimeError),
    end the fit.
    """
    _require_partitions(frame)
    text = _sums._text(pipeline)
    _native.stages(text)  # says what is wrong with a text
    needs_rows = False
    try:
        _native.require_sums(text)
    except ValueError:
        if behind is not None:
            raise
        needs_rows = True
    if needs_rows:
        if min_rows > 1:
            raise ValueError("min_rows is for pipelines of sums; this one reads rows")
        model, said = _fit_together(frame, text, {"label": label, "domain": domain, "task": task}, seed, folder)
        _repeat(said)
        return model
    computed = dask.compute(
        *parts(frame, text, label=label, domain=domain, behind=behind, min_rows=min_rows, task=task, seed=seed)
    )
    found = [part for part in computed if part is not None]
    if not found:
        raise ValueError("there are no rows to learn from")
    return _sums.finish(found, behind=behind, threads=os.cpu_count())


class _Workers:
    """The workers of one fit as ranks: what they give each other goes through variables of the scheduler.

    The variable `state` is empty while all is well, says what has failed, and is gone when the fit is over. Of its own
    variables a rank keeps those of two steps.
    """

    def __init__(self, run, rank, size, client):
        self.rank, self.size = rank, size
        self._run, self._client, self.steps = run, client, 0
        self.state = self.variable("state")

    def variable(self, *name):
        from dask.distributed import Variable

        return Variable("-".join(map(str, (self._run, *name))), client=self._client)

    def gather(self, mine):
        step = self.steps
        self.steps += 1
        self.variable(step, self.rank).set(mine)
        found = [mine if rank == self.rank else self._wait_for(step, rank) for rank in range(self.size)]
        if step > 0:  # all ranks are at this step, so all have what they needed of the one before
            self.variable(step - 1, self.rank).delete()
        return found

    def failed(self):
        """What has failed, None if nothing has."""
        try:
            return self.state.get(timeout="0.1s") or None
        except _TIMEOUTS:
            return "the fit is over"

    def fail(self, error):
        """Tells the others of an error, unless they know of one."""
        if self.failed() is None:
            self.state.set(f"rank {self.rank} of {self.size}: {error}")
        else:
            for step in range(max(self.steps - 2, 0), self.steps):
                self.variable(step, self.rank).delete()  # it may be younger than the end of the fit

    def _wait_for(self, step, rank):
        while True:
            try:
                return self.variable(step, rank).get(timeout="1s")
            except _TIMEOUTS:
                failed = self.failed()
                if failed is not None:
                    raise _OtherFailed(f"another worker has failed: {failed}") from None


class _OtherFailed(RuntimeError):
    """The error of a rank that only ends because of another."""


class _Said:
    """Keeps what a rank says, [(code, text)] with None as the code of notes, for the caller."""

    def __init__(self):
        self.messages = []

    def warning(self, code, text):
        self.messages.append((code, text))

    def note(self, text):
        self.messages.append((None, text))

    def progress(self, what, done, total):
        pass

    def close(self):
        pass


def _repeat(messages):
    listener = Listener()
    for code, text in messages:
        if code is None:
            listener.note(text)
        else:
            listener.warning(code, text)


_MISSING = {"", "NA", "n/a", "N/A", "#N/A", "<NA>", "nan", "NaN", "NULL", "null", "?"}  # is_missing of number.h
_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan(\(\w*\))?)", re.ASCII | re.IGNORECASE)
_PLAIN_INTEGER = re.compile(r"-?(0|[1-9]\d*)", re.ASCII)
_DATE = re.compile(r"(\d{4}([-/])\d\d\2\d\d|\d{1,2}([./])\d{1,2}\3\d{4})([T ]\d{1,2}:\d\d(:\d\d(\.\d+)?)?Z?)?", re.ASCII)


def _kind(word):
    return "numbers" if _NUMBER.fullmatch(word) else "dates" if _DATE.fullmatch(word) else "text"


def _kinds(name, words):
    """{kind: an example} of the texts of a column, of which every one must survive a CSV file."""
    for word in words:
        if word != word.strip() or word in _MISSING:
            raise ValueError(f"column {name!r} holds the text {word!r}, which a CSV file does not give back as it is; rename it, or leave the column out")
    return {_kind(word): word for word in words}


def _write(part, folder, number, label, domain):
    """Writes the rows of a partition, if it has any: (the file or None, the kinds of its texts by column, targets)."""
    kinds, targets = {}, []
    if len(part) == 0:
        return None, kinds, targets
    written = part.copy(deep=False)
    for place, (name, numbers, codes, words, dated) in enumerate(_frames.columns(part)):
        column = part.iloc[:, place]
        found = {} if codes is None else _kinds(name, [words[code] for code in np.unique(codes[codes >= 0])])
        if name == domain:
            domains = _input.Domains(column)
            written.isetitem(place, np.array(domains.names, dtype=object)[domains.codes])
            targets = domains.targets
        elif codes is not None:
            # Classes may be named 0 and 1, but a CSV file does not tell 007 from 7.
            if name != label or not all(_PLAIN_INTEGER.fullmatch(word) for word in words):
                kinds[name] = found
        elif dated:
            written.isetitem(place, _frames.dates(numbers))
        elif name != label and column.dtype.kind in "bO" or column.dtype.kind == "f":  # floats of 32 bits as those of 64
            written.isetitem(place, numbers)
    path = pathlib.Path(folder) / f"part-{number:06}.csv"
    written.to_csv(path, index=False)
    return str(path), kinds, targets


def _require_text(parts):
    """Refuses columns of text of which all values would be read as numbers, or as dates."""
    columns = {}
    for kinds in parts:
        for name, found in kinds.items():
            columns.setdefault(name, {}).update(found)
    for name, kinds in columns.items():
        for kind, word in kinds.items():
            if kind != "text" and len(kinds) == 1:
                raise ValueError(f"column {name!r} holds text such as {word!r}, which would be read as {kind}: make it a column of {kind}, or add a letter")


def _fit_rank(files, text, options, seed, run, rank, size):
    """The share of one worker: (bytes of the model, what was said) of the first, None of the others."""
    from dask.distributed import get_client, secede

    secede()  # ranks of other fits may wait for this worker
    workers = _Workers(run, rank, size, get_client())
    said = _Said()
    try:
        with settings(1, seed, workers, said) as native:
            codes, own_rows = _native.takes_categories([text]), _native.shared_by_ranks(text)
            data = _native.Data.read(files, [], "csv", option_texts(options), native, codes, own_rows)
            model, _ = _native.Model.fit(text, data, False, native)
        return (model.bytes(), said.messages) if rank == 0 else None
    except BaseException as error:
        workers.fail(error)
        raise


def _first_result(client, ranks, names, state):
    """What the first rank returns when all have ended; the error of one that failed; RuntimeError if a worker is lost."""
    from dask.distributed import wait

    told = False
    while True:
        with contextlib.suppress(*_TIMEOUTS):
            wait(ranks, timeout=1)
        here = client.scheduler_info(n_workers=-1)["workers"]
        lost = [name for name, rank in zip(names, ranks) if not rank.done() and name not in here]
        if lost:
            raise RuntimeError(f"the fit has lost {'a worker' if len(lost) == 1 else 'workers'}: {', '.join(lost)}")
        failed = [rank for rank in ranks if rank.status == "error"]
        if not all(rank.done() for rank in ranks):
            if failed and not told:
                state.set("see its error")  # a task that could not start has told nobody
                told = True
        elif failed:
            errors = [rank.exception() for rank in failed]
            raise next((error for error in errors if not isinstance(error, _OtherFailed)), errors[0])
        else:
            with contextlib.suppress(*_TIMEOUTS):
                return ranks[0].result(timeout=60)


def _forget(client, run):
    """Deletes the variables of a run from the scheduler."""

    def delete(dask_scheduler):  # sent as it is: the scheduler need not have ecotone
        variables = dask_scheduler.extensions["variables"].variables
        for name in [name for name in variables if name.startswith(prefix)]:
            del variables[name]

    prefix = f"{run}-"
    client.run_on_scheduler(delete)


def _fit_together(frame, text, options, seed, folder):
    """The fitted pipeline, and what the first rank said."""
    from dask.distributed import get_client

    try:
        client = get_client()
    except ValueError:
        raise ValueError(f'"{text}" sums over rows again and again, which needs a cluster: make a dask.distributed.Client') from None
    run = f"ecotone-{uuid.uuid4().hex}"
    scratch = pathlib.Path(folder or tempfile.gettempdir()) / run
    scratch.mkdir(mode=0o700)  # rows are for nobody else on these computers
    given = {name: value for name, value in options.items() if value is not None}
    state = _Workers(run, 0, 1, client).state
    ranks = []
    try:
        write = dask.delayed(_write, pure=False)
        roles = [str(given[role]) if role in given else None for role in ("label", "domain")]
        written = client.gather(client.compute([write(part, str(scratch), k, *roles) for k, part in enumerate(_delayed_parts(frame))]))
        _require_text([kinds for _, kinds, _ in written])
        files = [path for path, _, _ in written if path is not None]
        if not files:
            raise ValueError("there are no rows to learn from")
        targets = sorted({target for _, _, targets in written for target in targets})
        if targets:
            given["target"] = targets
        names = sorted(client.scheduler_info(n_workers=-1)["workers"])
        state.set("")
        for rank, name in enumerate(names):
            ranks.append(client.submit(_fit_rank, files, text, given, seed, run, rank, len(names), workers=[name], pure=False))
        model, said = _first_result(client, ranks, names, state)
        return Pipeline.from_model(_native.Model.from_bytes(model)), said
    except BaseException:
        client.cancel(ranks)
        raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        state.delete()  # ranks that are still at work end at their next exchange
        with contextlib.suppress(Exception):  # a scheduler that is gone, or takes no functions
            _forget(client, run)
