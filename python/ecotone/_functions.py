"""The verbs of the program as functions on arrays and data frames."""
import os
from collections import namedtuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from . import _frames, _input, _native
from ._estimator import Estimator, _name_of
from ._messages import settings
from ._methods import option_texts
from ._pipeline import Pipeline, classes_from_names
from ._results import Choice, Diagnosis, Evaluation, Expectation, Explanation, Selection, Tuning

class Data(namedtuple("Data", "X y domain")):
    """Features as a data frame, labels and domains as arrays; None where there are none.

    The attributes sample_weight, group and time hold the columns that `read` was told to take as such.
    """

    sample_weight = group = time = None


def _data(X, y, domain, native, *, target=None, sample_weight=None, group=None, time=None, task=None, pipelines=()):
    """Native data of a function's arguments, its features and y. All but X may be columns of X, by name.

    Categories are codes if all `pipelines` take them.
    """
    given = {"label": y, "domain": domain, "weight": sample_weight, "group": group, "time": time}
    frame = _frames.is_frame(X)
    columns = _frames.column_names(X) if frame else []
    leave_out = [name for name in given.values() if isinstance(name, str)]
    for name in leave_out:
        if name not in columns:
            raise ValueError(f"no column {name!r} in X" + (f"; its columns are {', '.join(map(str, columns))}" if columns else ""))
    names = {role: each if isinstance(each, str) else _name_of(each, role) for role, each in given.items()}
    y, domain, sample_weight, group, time = (
        _frames.values_of(X, each) if isinstance(each, str) else each for each in given.values()
    )
    if frame:
        X = _frames.drop(X, leave_out)
        data = _native.Data.columns(_frames.columns(X), _frames.row_count(X), _native.takes_categories(pipelines))
    else:
        data = _input.features(_Named(), X, reset=True, finite=False)
    if domain is not None:
        _input.Domains(domain, target).give(data, names["domain"])
    if y is not None:
        y = _labels(data, y, task, names["label"], native)
    _input.weights(data, sample_weight)
    _input.groups(data, group, names["group"])
    _input.times(data, time, names["time"])
    return data, X, y


class _Named(BaseEstimator):
    """Takes the place of an estimator where features are validated."""


def _labels(data, y, task, name, native):
    """Gives data labels, some of which may be missing; classes or numbers by the rule of the library."""
    hidden = _input.hidden(y)
    y = _input.one_line(y)
    if hidden is not None:
        y = np.where(hidden, np.nan, y) if y.dtype.kind in "iuf" else np.where(hidden, None, y)
    if y.dtype.kind in "iuf":
        data.set_numbers(np.ascontiguousarray(y, np.float64), task or "guess", name, native)
    else:
        if task == "regress":
            raise ValueError(f"label {name!r} holds text; task regress needs numbers")
        data.set_words(*_frames.factorise(y), name, native)
    return y


def evaluate(
    X, y=None, domain=None, pipelines=None, *, metric=None, task=None, sample_weight=None, group=None, time=None, seed=0, threads=None, **options
):
    """Score pipelines on domains that they were not trained on.

    Parameters
    ----------
    X : array, CSR matrix or data frame
    y : array, or the name of a column of X
    domain : array, or the name of a column of X
    pipelines : list of str or estimators
        Texts of pipelines, in which options may be lists in braces that are then chosen inside every split; estimators
        of this package; estimators of scikit-learn, which are fitted on the same rows and scored alike.
    metric : str, optional
        What the printed table shows.
    sample_weight, group, time : array, or the name of a column of X, optional
        Rows of one group, such as a patient, are never on both sides of a split. Times, numbers or dates, order the
        rows for protocol="forward".
    **options
        protocol, target, folds, repetitions, held_out, blocks, gap, window, threshold, resamples, choice_metric: as of
        `ecotone evaluate`.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import ecotone
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> X, y, domain = ecotone.generate("clinics", size=0.1)
    >>> result = ecotone.evaluate(X, y, domain, ["impute | scale | logistic", HistGradientBoostingClassifier(max_iter=5)])
    >>> len(result.to_json()["pipelines"])
    2
    """
    if pipelines is None or isinstance(pipelines, (str, BaseEstimator)):
        pipelines = [pipelines] if pipelines is not None else []
    candidates = [each._pipeline_text() if isinstance(each, Estimator) else each for each in pipelines]
    option_list = option_texts(options)
    with settings(threads, seed) as native:
        texts = [each for each in candidates if isinstance(each, str)]
        data, X, y = _data(
            X, y, domain, native, sample_weight=sample_weight, group=group, time=time, task=task, pipelines=texts
        )
        if not all(isinstance(each, str) for each in candidates):
            splits = _native.splits(data, option_list, native)
            candidates = [each if isinstance(each, str) else _answers(each, X, y, data, splits) for each in candidates]
        return Evaluation(_native.evaluate(data, candidates, option_list, native), metric or "")


def _answers(estimator, X, y, data, splits):
    """What an estimator answers for the held-out rows of every split: (name, answers, error)."""
    name = repr(estimator).replace("\n", " ")
    if data.labels is None:
        raise ValueError("evaluate: the data have no labels")
    index, classes = data.labels
    try:
        return name, [_answer(clone(estimator), X, y, index, classes, data, split) for split in splits], ""
    except (ValueError, TypeError) as error:
        return name, [], f"{name}: {error}"


def _answer(estimator, X, y, index, classes, data, split):
    _, _, source, target, held_out = split
    known = index[source] >= 0 if classes is not None else np.isfinite(index[source])
    source = source[known]
    arguments = {}
    if data.weights is not None and has_fit_parameter(estimator, "sample_weight"):
        arguments["sample_weight"] = data.weights[source]
    rows = source
    labels = np.asarray(y)[source]
    if has_fit_parameter(estimator, "sample_domain"):
        domains = data.domains[0]
        rows = np.concatenate([source, target])
        arguments = {"sample_domain": np.concatenate([domains[source] + 1, -domains[target] - 1])}
        labels = np.concatenate([index[source], np.full(len(target), -1)]) if classes is not None else labels
        if classes is None:
            labels = np.concatenate([labels, np.full(len(target), np.nan)])
    estimator.fit(_frames.take(X, rows), labels, **arguments)
    new = _frames.take(X, held_out)
    if classes is None:
        return None, [], np.ascontiguousarray(estimator.predict(new), np.float64)
    return (*_probabilities(estimator, new, y, index, len(classes), "sample_domain" in arguments), None)


def _probabilities(estimator, X, y, index, count, coded):
    """One column per class of the data, and which classes the estimator knows."""
    place = {value: code for value, code in zip(index.tolist() if coded else np.asarray(y).tolist(), index.tolist()) if code >= 0}
    columns = [place[value] for value in np.asarray(estimator.classes_).tolist() if value in place]
    probability = np.zeros((_frames.row_count(X), count))
    if hasattr(estimator, "predict_proba"):
        probability[:, columns] = estimator.predict_proba(X)
    else:  # all on the class that it says
        said = [place[value] for value in np.asarray(estimator.predict(X)).tolist()]
        probability[np.arange(len(said)), said] = 1
    return probability, [code in columns for code in range(count)]


def choose(X, y=None, domain=None, pipelines=None, *, scorer="auto", metric=None, task=None, group=None, seed=0, threads=None):
    """What choosing among pipelines without the target's labels costs: `ecotone evaluate --protocol adapt --choose`."""
    with settings(threads, seed) as native:
        data, *_ = _data(X, y, domain, native, group=group, task=task)
        return Choice(*_native.choose(data, _texts(pipelines), scorer, metric or "", native))


def _texts(pipelines):
    if pipelines is None:
        return []
    if isinstance(pipelines, (str, Estimator)):
        pipelines = [pipelines]
    return [each._pipeline_text() if isinstance(each, Estimator) else each for each in pipelines]


def tune(
    X, y=None, domain=None, pipelines=None, *, target=None, task=None, sample_weight=None, group=None, seed=0, threads=None, **options
):
    """Choose options of pipelines by folds within the training domains; options are search, draws and metric.

    Rows of one `group`, such as a patient, stay in one fold.

    >>> import ecotone
    >>> data = ecotone.generate("clinics", size=0.1)
    >>> ecotone.tune(*data, pipelines="impute | scale | logistic l2={0.01,0.1}").pipeline.split(" l2")[0]
    'impute | scale | logistic'
    """
    with settings(threads, seed) as native:
        texts = _texts(pipelines)
        data, *_ = _data(
            X, y, domain, native, target=target, sample_weight=sample_weight, group=group, task=task, pipelines=texts
        )
        return Tuning(*_native.tune(data, texts, option_texts(options), native))


def diagnose(X, y=None, domain=None, *, pipeline=None, target=None, task=None, seed=0, threads=None, **options):
    """How the domains differ, in which columns, and whether weighting could help; options are permutations and sample.

    >>> import ecotone
    >>> data = ecotone.generate("clinics", size=0.1)
    >>> len(ecotone.diagnose(*data, permutations=19).to_frame())
    8
    """
    if target is not None:
        options["target"] = [target] if isinstance(target, (str, int)) else list(target)
    with settings(threads, seed) as native:
        data, *_ = _data(X, y, domain, native, task=task)
        text = pipeline._pipeline_text() if isinstance(pipeline, Estimator) else pipeline or ""
        return Diagnosis(*_native.diagnose(data, text, option_texts(options), native))


def select(
    X, y=None, domain=None, pipeline="impute | step", *, task=None, sample_weight=None, group=None, seed=0, threads=None, **options
):
    """Select features that hold across domains, step by step; the option is held_out.

    >>> import ecotone
    >>> data = ecotone.generate("clinics", size=0.1)
    >>> len(ecotone.select(*data, pipeline="impute | scale | greedy steps=3").selected)
    3
    """
    with settings(threads, seed) as native:
        data, *_ = _data(X, y, domain, native, sample_weight=sample_weight, group=group, task=task)
        return Selection(*_native.select(data, _texts(pipeline)[0], option_texts(options), native))


def expect(X, y=None, domain=None, pipeline=None, *, target=None, task=None, sample_weight=None, group=None, seed=0, threads=None, **options):
    """What a pipeline will score in the domains of `target`, whose labels are not looked at, with intervals.

    Options are level and replay, as of `ecotone expect`. For a model that is fitted already see `Pipeline.expected`.

    >>> import ecotone
    >>> X, y, domain = ecotone.generate("clinics", size=0.2)
    >>> found = ecotone.expect(X, y, domain, "impute | scale | logistic", target="Highmoor")
    >>> list(found.to_frame().columns)[:4]
    ['target', 'metric', 'estimate', 'low']
    """
    with settings(threads, seed) as native:
        texts = _texts(pipeline)
        data, *_ = _data(
            X, y, domain, native, target=target, sample_weight=sample_weight, group=group, task=task, pipelines=texts
        )
        return Expectation(*_native.expect(data, texts[0], option_texts(options), native))


def explain(X, y=None, domain=None, pipeline=None, *, target=None, task=None, sample_weight=None, group=None, seed=0, threads=None, **options):
    """Why a pipeline loses more in the domains of `target`, which need labels: other rows, or another relation?

    The option is loss, as of `ecotone explain`.

    >>> import ecotone
    >>> X, y, domain = ecotone.generate("clinics", size=0.5)
    >>> found = ecotone.explain(X, y, domain, "impute | scale | logistic", target="Fernleigh")
    >>> len(found.advice)
    1
    """
    with settings(threads, seed) as native:
        texts = _texts(pipeline)
        data, *_ = _data(
            X, y, domain, native, target=target, sample_weight=sample_weight, group=group, task=task, pipelines=texts
        )
        return Explanation(*_native.explain(data, texts[0], option_texts(options), native))


def guard(X, y=None, domain=None, pipeline=None, *, target=None, task=None, sample_weight=None, group=None, seed=0, threads=None):
    """Fit a pipeline that adapts to the target, or its plain counterpart where the gain does not stand out of its noise.

    Returns the fitted pipeline; its `guard_` says what was decided, and why.

    >>> import ecotone
    >>> X, y, domain = ecotone.generate("clinics", size=0.1)
    >>> model = ecotone.guard(X, y, domain, "impute | scale | weight.logistic | logistic", target="Highmoor")
    >>> sorted(model.guard_)[:2]
    ['adapted', 'chosen']
    """
    name = domain if isinstance(domain, str) else None
    named = [each for each in (y, sample_weight, group) if isinstance(each, str)]
    y, sample_weight, group = (_frames.values_of(X, each) if isinstance(each, str) else each for each in (y, sample_weight, group))
    X = _frames.drop(X, named)
    model = Pipeline(_texts(pipeline)[0], task=task, guard=True, domain=name, target=target, seed=seed, threads=threads)
    return model.fit(X, y, sample_domain=None if name else domain, sample_weight=sample_weight, groups=group)


def _as_data(data):
    X = _frames.frame(data.table())
    y = None
    if data.labels is not None:
        index, classes = data.labels
        y = index
        if classes is not None:
            y = classes_from_names(classes)
            missing = index < 0
            if missing.any():
                y = y.astype(object if y.dtype.kind in "Ub" else np.float64)
                y = np.append(y, None if y.dtype == object else np.nan)
            y = y[index]
    domain = None
    if data.has_domains:
        index, names = data.domains
        domain = np.array(names, dtype=object)[index]
    result = Data(X, y, domain)
    result.sample_weight, result.group, result.time = data.weights, data.groups, data.times
    if data.time_is_date:
        result.time = _frames.dates(data.times)
    return result


def generate(name, *, seed=0, **options):
    """Draw a synthetic data set: features, labels and domains. `ecotone generate --list` shows all.

    >>> import ecotone
    >>> X, y, domain = ecotone.generate("clinics", size=0.1)
    >>> X.shape, y.shape, len(set(domain))
    ((334, 12), (334,), 8)
    """
    with settings(None, seed) as native:
        return _as_data(_native.Data.generate(name, option_texts(options), native))


def read(paths, *, where=(), format="", seed=0, threads=None, **options):
    """Read files with the native readers: features, labels and domains.

    Parameters
    ----------
    paths : path or list of paths
        CSV, svmlight, NPY, IDX or .eco, also compressed by gzip; several are one data set.
    where : str or list of str
        Keep only rows for which all of these hold, such as "age>=18".
    format : str
        Of the files; by default it is recognised.
    **options
        label, domain, weight, group, time, id, ignore, features, task, target, decimal, domain_from_file, labels, base:
        as the flags of the program. Weights, groups and times are attributes of what is returned.

    Examples
    --------
    >>> import ecotone, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "small.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("site,a,y\\nn,1,0\\ns,2,1\\n")
    >>> X, y, domain = ecotone.read(path, label="y", domain="site")
    >>> y, domain
    (array([0, 1]), array(['n', 's'], dtype=object))
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    where = [where] if isinstance(where, str) else list(where)
    with settings(threads, seed) as native:
        return _as_data(_native.Data.read([os.fspath(path) for path in paths], where, format, option_texts(options), native))


def report(evaluation, path=None, *, title=""):
    """An evaluation as one HTML page: written to `path`, or returned.

    >>> import ecotone
    >>> result = ecotone.evaluate(*ecotone.generate("clinics", size=0.1), pipelines=["constant"])
    >>> ecotone.report(result)[:15]
    '<!DOCTYPE html>'
    """
    page = evaluation.html(title)
    if path is None:
        return page
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
