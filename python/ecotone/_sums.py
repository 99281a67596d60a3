"""Learning where the rows are: sums of every site, collected, and the model that they give."""
import json

from . import _native
from ._estimator import Estimator
from ._functions import _data
from ._messages import settings
from ._pipeline import Pipeline


def _text(pipeline):
    return pipeline._pipeline_text() if isinstance(pipeline, Estimator) else pipeline


def _files(parts):
    return [parts] if isinstance(parts, (bytes, bytearray)) else list(parts)


def partial(X, y=None, domain=None, pipeline=None, *, target=None, behind=None, min_rows=10, task=None, seed=0, threads=None):
    """Sum over the rows of a site all that a pipeline needs, so that rows can stay where they are.

    `pipeline` is a text or an estimator of stages that need sums alone, such as "scale | ridge"; `behind` is a fitted
    pipeline that prepares the rows first, the same at every site. Domains, and classes and
    categories of a domain, of fewer than `min_rows` rows are refused, because sums of few rows come close to the rows
    themselves (columns of two numbers are categories, too). `target` names the domains
    whose labels are not used (also: domains that are numbers below 0); stages that align domains use their rows.
    Returns bytes: the content of a file of `ecotone partial`.

    >>> import ecotone
    >>> X, y, domain = ecotone.generate("exchangeable", domains=4)
    >>> half = len(y) // 2
    >>> parts = [ecotone.partial(X[rows], y[rows], domain[rows], "scale | ridge", min_rows=1) for rows in (slice(half), slice(half, None))]
    >>> model = ecotone.finish(ecotone.merge(parts))
    >>> model.predict(X).shape
    (400,)
    """
    return part(X, y, domain, pipeline, target=target, behind=behind, min_rows=min_rows, task=task, seed=seed, threads=threads)


def part(X, y, domain, pipeline, *, target=None, behind=None, min_rows=10, task=None, seed=0, threads=None, source=""):
    """`partial` of rows from `source`, a text: parts of other sources are other parts, even if their rows are equal."""
    with settings(threads, seed) as native:
        text = _text(pipeline)
        data, *_ = _data(X, y, domain, native, target=target, task=task, pipelines=[text])
        return _native.partial(data, text, None if behind is None else behind.model_, min_rows, source, native)


def merge(parts):
    """The sums of several sites in one: bytes of `partial` or of `merge`. The same part twice is refused."""
    with settings() as native:
        return _native.merge(_files(parts), native)


def finish(parts, *, behind=None, threads=None):
    """The pipeline that the sums of all sites give, fitted. The order of the parts does not matter, to the last byte."""
    with settings(threads, 0) as native:
        return Pipeline.from_model(_native.finish(_files(parts), None if behind is None else behind.model_, native))


def inspect_sums(parts):
    """What sums are of: the pipeline, and the rows of every part by domain and class."""
    return json.loads(_native.inspect_sums(_files(parts)))
