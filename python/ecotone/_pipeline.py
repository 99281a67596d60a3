"""Pipelines by their text."""
import os

import numpy as np
from sklearn.utils.metaestimators import available_if

from . import _native
from ._estimator import Classifies, Estimator, Predicts, Regresses, Transforms
from ._messages import settings
from ._methods import METHODS
from ._results import Expectation


def _stages(pipeline):
    try:
        return [METHODS[name] for name in _native.stages(str(pipeline))]
    except ValueError:
        return []  # fit says what is wrong with the text


def _if_predicts(self):
    stages = _stages(self.pipeline)
    return not stages or bool(stages[-1]["tasks"])


def _if_classifies(self):
    return _if_predicts(self) and self._expected_task() == "classify"


def _if_regresses(self):
    return _if_predicts(self) and self._expected_task() == "regress"


def _tasks(stages):
    """What a pipeline can do: what all of its stages that predict can."""
    tasks = [stage["tasks"] for stage in stages if stage["tasks"] and stage["family"] != "select"] or [stages[-1]["tasks"]]
    return [task for task in tasks[0] if all(task in each for each in tasks)]


class Pipeline(Transforms, Estimator):
    """Stages in order, as text: fitted, and asked, by one native call.

    Parameters
    ----------
    pipeline : str
        Such as ``"impute | scale | dica weight=100 | svm C=10"``; `ecotone methods` lists all stages.
    task : {"classify", "regress"} or None
        By default what the last stage can do; where it can do both, numbers that are not all integers are regressed.
    guard : bool
        Adapt to the target only where the estimated gain stands out of its noise; otherwise fit without adapting.
    expect : bool
        Also learn how the pipeline fares in domains that it has not seen, for the method `expected`.
    domain, target, seed, threads
        As of all estimators.

    Examples
    --------
    >>> import ecotone
    >>> X, y, domain = ecotone.generate("clinics", size=0.1)
    >>> model = ecotone.Pipeline("impute | scale | logistic").fit(X, y, sample_domain=domain)
    >>> model.predict(X).shape
    (334,)
    """

    def __init__(self, pipeline="impute | scale | logistic", *, task=None, guard=False, expect=False, domain=None, target=None, seed=0, threads=None):
        self.pipeline = pipeline
        self.task = task
        self.guard = guard
        self.expect = expect
        self.domain = domain
        self.target = target
        self.seed = seed
        self.threads = threads

    @classmethod
    def load(cls, path):
        """The pipeline of a model file (`.eco`), fitted."""
        return cls.from_model(_native.Model.load(os.fspath(path)))

    @classmethod
    def from_model(cls, model):
        """The pipeline of a native model, fitted."""
        loaded = cls(model.pipeline, domain=model.domain_name or None)
        loaded.task = model.task if model.predicts else None
        loaded.model_ = model
        names = [name for name, _ in model.columns]
        loaded.n_features_in_ = len(names)
        if names != [f"x{j + 1}" for j in range(len(names))]:
            loaded.feature_names_in_ = np.array(names, dtype=object)
        if model.task == "classify" and model.classes:
            loaded.classes_ = classes_from_names(model.classes)
        return loaded

    @property
    def guard_(self):
        """What the guard decided, and why; None without it."""
        return self.inspect().get("guard")

    def expected(self, X, *, name="new", level=0.9):
        """What the model will score on the rows of a new domain, with intervals; for models fitted with expect=True."""
        data = self._batch(X, None)
        with settings(self.threads, self.seed) as native:
            return Expectation(*self.model_.expect(data, name, level, native))

    def _fitted(self, model, data, native):
        return model.remember(data, native) if self.expect else model

    def _pipeline_text(self):
        return str(self.pipeline)

    def _guard(self):
        return self.guard

    def _allows_nan(self):
        for stage in _stages(self.pipeline):
            if stage["name"] == "impute" or stage["takes_missing"]:
                return True
            if stage["family"] != "prepare":
                break
        return False

    @property
    def _needs_labels(self):
        return any(stage["needs_labels"] or stage["tasks"] for stage in _stages(self.pipeline))

    def _expected_task(self):
        if "model_" in vars(self):
            return self.model_.task
        if self.task is not None:
            return self.task
        stages = _stages(self.pipeline)
        tasks = _tasks(stages) if stages and stages[-1]["tasks"] else []
        return tasks[0] if tasks else "classify"

    def _task_of(self, y, source):
        if self.task not in (None, "classify", "regress"):
            raise ValueError(f"task must be classify or regress, got {self.task!r}")
        tasks = _tasks(_stages(self.pipeline))
        if self.task is not None or len(tasks) == 1:
            return self.task or tasks[0]
        values = np.asarray(y)
        values = values[source] if values.ndim == 1 else values
        return "regress" if values.dtype.kind == "f" and not (values == np.floor(values)).all() else "classify"

    @available_if(_if_predicts)
    def predict(self, X, *, sample_domain=None):
        """The class or the number of each row."""
        return self._predict(X, sample_domain)

    predict_proba = available_if(_if_classifies)(Classifies.predict_proba)
    predict_log_proba = available_if(_if_classifies)(Classifies.predict_log_proba)
    decision_function = available_if(_if_classifies)(Classifies.decision_function)
    predict_set = available_if(_if_classifies)(Classifies.predict_set)
    predict_interval = available_if(_if_regresses)(Regresses.predict_interval)
    contributions = available_if(_if_predicts)(Predicts.contributions)
    refit = available_if(_if_predicts)(Predicts.refit)
    _sets = Predicts._sets

    @available_if(_if_predicts)
    def score(self, X, y, sample_weight=None):
        """Accuracy, or the share of variance explained."""
        sort = Classifies if self._expected_task() == "classify" else Regresses
        return sort.score(self, X, y, sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if _if_predicts(self):
            sort = Classifies if self._expected_task() == "classify" else Regresses
            of_sort = _OF_SORT[sort](self).__sklearn_tags__()
            of_sort.transformer_tags = tags.transformer_tags
            return of_sort
        return tags


class _Sort(Estimator):
    """A pipeline as a classifier or a regressor, to ask scikit-learn for the tags of such."""

    def __init__(self, pipeline=None):
        self.pipeline = pipeline

    def _allows_nan(self):
        return self.pipeline._allows_nan()


_OF_SORT = {sort: type(sort.__name__, (sort, _Sort), {}) for sort in (Classifies, Regresses)}


def classes_from_names(names):
    """Classes of a model file, which holds them as text: numbers and booleans become such again."""
    for kind in (np.int64, np.float64):
        try:
            return np.array(names).astype(kind)
        except ValueError:
            pass
    if set(names) <= {"False", "True"}:
        return np.array([name == "True" for name in names])
    return np.array(names)


def load(path):
    """The model of an `.eco` file, ready to predict or transform.

    >>> import ecotone, os, tempfile
    >>> X, y, domain = ecotone.generate("clinics", size=0.1)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.eco")
    >>> ecotone.Pipeline("impute | scale | logistic").fit(X, y, sample_domain=domain).save(path)
    >>> ecotone.load(path).predict(X).shape
    (334,)
    """
    return Pipeline.load(path)
