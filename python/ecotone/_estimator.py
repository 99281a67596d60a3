"""What all estimators of the package share: fitting and asking a native model in the ways of scikit-learn."""
import json
import os

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils.validation import assert_all_finite, check_is_fitted

from . import _frames, _input, _native
from ._messages import quick_settings, settings

# Keys of a stage that say what it is, not what it found.
_NOT_FOUND = ("stage", "options", "status", "converged")
# Attributes that are set where there is something to set, and asked for often.
_OWN = ("classes_", "feature_names_in_", "n_features_in_", "sample_weight_")
# Names that users of scikit-learn look for, beside those of the library.
_ALSO = {"coef_": "weights", "intercept_": "offset"}


class Estimator(BaseEstimator):
    """A pipeline of native stages. Subclasses say which by `_pipeline_text` and of which sort by their mixins."""

    __metadata_request__fit = {"sample_domain": True}
    __metadata_request__predict = {"sample_domain": True}
    __metadata_request__predict_proba = {"sample_domain": True}
    __metadata_request__predict_log_proba = {"sample_domain": True}
    __metadata_request__decision_function = {"sample_domain": True}
    __metadata_request__transform = {"sample_domain": True}

    _task = None  # of a class that does one
    _stages_allow_nan = False
    _needs_labels = True
    _weighs = False  # whether what it learns are weights of the source rows

    def _pipeline_text(self):
        raise NotImplementedError

    # Fitting

    def fit(self, X, y=None, *, sample_domain=None, sample_weight=None, groups=None):
        """Fit on the rows of all domains.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (rows, columns)
        y : array of shape (rows,)
            Labels. Those of target rows are never looked at, so they may be missing; neither are those that a masked
            array hides.
        sample_domain : array of shape (rows,), optional
            The domain of each row. Numbers below 0 are targets, whose rows but not whose labels may be used; of other
            names, `target` says which are. Without it all rows are one source domain.
        sample_weight : array of shape (rows,), optional
        groups : array of shape (rows,), optional
            Rows of one group, such as the visits of a patient, stay together wherever the fit chooses by folds.

        Returns
        -------
        self
        """
        text = self._pipeline_text()
        if y is None and self._needs_labels:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        data, domains = self._training_data(X, sample_domain, text)
        with settings(self.threads, self.seed) as native:
            source = np.ones(data.rows, dtype=bool) if domains is None else domains.source()
            if y is not None and self._uses_labels():
                hidden = _input.hidden(y)
                known = source if hidden is None or hidden.shape != source.shape else source & ~hidden
                task = self._task_of(y, known)
                classes = _input.labels(data, y, known, task, native, _name_of(y, "label"))
                if classes is None:
                    vars(self).pop("classes_", None)
                else:
                    self.classes_ = classes
            elif y is not None:
                _input.check_consistent_length(source, y)
            if self._weighs:  # no label matters to it, only which rows are to be weighted
                data.set_numbers(np.where(source, 0.0, np.nan), "regress", "label", native)
            if domains is not None:
                domains.give(data, self.domain or _name_of(sample_domain, "domain"))
            _input.weights(data, sample_weight)
            _input.groups(data, groups)
            try:
                model, passed = _native.Model.fit(text, data, self._guard(), native)
                self.model_ = self._fitted(model, data, native)
            except ValueError as error:
                _explain(error, data, source, sample_weight)
                raise
        if passed is not None:
            self.sample_weight_ = passed
        return self

    def _guard(self):
        return False

    def _fitted(self, model, data, native):
        """The model to keep."""
        return model

    def _uses_labels(self):
        return self._needs_labels

    def _training_data(self, X, sample_domain, text):
        codes = _native.takes_categories([text])
        data = _input.features(self, X, reset=True, finite=not self._allows_nan(), leave_out=self.domain, codes=codes)
        domains = self._domains_of(X, sample_domain)
        if domains is not None:
            _input.check_consistent_length(domains.codes, np.empty(data.rows))
        return data, domains

    def _domains_of(self, X, sample_domain):
        if sample_domain is None and self.domain is not None and _frames.is_frame(X):
            if self.domain in _frames.column_names(X):
                sample_domain = _frames.values_of(X, self.domain)
        return None if sample_domain is None else _input.Domains(sample_domain, self.target)

    def _task_of(self, y, source):
        return self._task

    def _allows_nan(self):
        return self._stages_allow_nan

    # Asking

    def _batch(self, X, sample_domain, looks_for_nan=True):
        """Native data to ask the model about; `looks_for_nan` says whether the model will refuse what is not finite."""
        if "model_" not in vars(self):
            check_is_fitted(self)
        if (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.flags.c_contiguous
            and X.shape[1] == self.n_features_in_
            and len(X)
            and "feature_names_in_" not in vars(self)
        ):
            if not looks_for_nan and not self._allows_nan():
                assert_all_finite(X, input_name="X")
            data = _native.Data.dense(X)
        else:
            data = _input.features(self, X, reset=False, finite=not self._allows_nan(), leave_out=self.domain)
        domains = self._domains_of(X, sample_domain)
        if domains is not None:
            _input.check_consistent_length(domains.codes, np.empty(data.rows))
            data.set_domains(domains.codes, domains.names, [], "")
        return data

    def _prediction(self, X, sample_domain):
        data = self._batch(X, sample_domain)
        try:
            if data.rows < 1000:
                return self.model_.predict(data, quick_settings)
            with settings(self.threads, self.seed) as native:
                return self.model_.predict(data, native)
        except ValueError as error:
            if getattr(error, "code", "") == "non_finite" and not _frames.is_frame(X):
                assert_all_finite(X, input_name="X")  # in the words of scikit-learn
            raise

    def _predict(self, X, sample_domain):
        prediction = self._prediction(X, sample_domain)
        if self.model_.task == "regress":
            return prediction.value
        return self.classes_[prediction.index]

    def _transform(self, X, sample_domain):
        data = self._batch(X, sample_domain, looks_for_nan=False)
        with settings(self.threads, self.seed) as native:
            values, shape, _ = self.model_.transform(data, native)
        if shape is None:
            return values
        starts, columns, numbers = values
        kind = scipy.sparse.csr_array if isinstance(X, scipy.sparse.sparray) else scipy.sparse.csr_matrix
        return kind((numbers, columns, starts), shape=shape)

    def _names_out(self, input_features):
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        if input_features is not None and known is not None and list(input_features) != list(known):
            raise ValueError("input_features is not equal to feature_names_in_")
        if input_features is not None and len(input_features) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), got {len(input_features)}"
            )
        # The names of one row's features, asked of the model itself.
        if known is not None:
            column = [(name, np.zeros(1), None, [], False) if levels is None else (name, None, np.zeros(1, np.int32), levels, False)
                      for name, levels in self.model_.columns]
            data = _native.Data.columns(column, 1)
        else:
            data = _native.Data.dense(np.zeros((1, self.n_features_in_)))
        names = self.model_.transform(data, quick_settings)[2]
        if known is None:
            given = list(input_features) if input_features is not None else [f"x{i}" for i in range(self.n_features_in_)]
            given = dict(zip(self.model_.features, given))
            names = [given.get(name, name) for name in names]
        return np.array(names, dtype=object)

    # What was learned

    def __getattr__(self, name):
        """Results of the last stage under their native names with an underscore behind: weights_, eigenvalues_."""
        model = vars(self).get("model_")
        if model is None or not name.endswith("_") or name.startswith("_") or name in _OWN:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = self.inspect()["stages"][-1]
        key = _ALSO.get(name, name[:-1])
        if key not in found or key in _NOT_FOUND:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = found[key]
        return np.array(value) if isinstance(value, list) else value

    def inspect(self):
        """All that the model knows, as `ecotone inspect --json` shows it."""
        check_is_fitted(self)
        return json.loads(self.model_.inspect())

    @property
    def converged_(self):
        """Whether all stages converged."""
        check_is_fitted(self)
        return all(converged for converged, _ in self.model_.statuses)

    def save(self, path):
        """Write the model as an `.eco` file, which the program and other languages read."""
        check_is_fitted(self)
        self.model_.save(os.fspath(path))

    def __sklearn_is_fitted__(self):
        return "model_" in vars(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._allows_nan()
        tags.target_tags.required = self._needs_labels
        return tags


def _explain(error, data, source, sample_weight):
    """Adds to a message what is unusual about the data, in the words that scikit-learn looks for."""
    labels = data.labels
    if source.sum() == 1:
        error.args = (f"{error} (n_samples = 1)",)
    elif labels is not None and labels[1] is not None and "class" not in str(error):
        counts = source if sample_weight is None else source & (np.asarray(sample_weight) > 0)
        if len(np.unique(labels[0][counts])) == 1:
            error.args = (f"{error} (one class)",)


def _name_of(values, otherwise):
    name = getattr(values, "name", None)
    return name if isinstance(name, str) else otherwise


class Predicts:
    """predict, for estimators that end in a learner."""

    def predict(self, X, *, sample_domain=None):
        """The class or the number of each row."""
        return self._predict(X, sample_domain)

    def contributions(self, X, *, sample_domain=None):
        """What each column that reaches the learner adds to the decision value or the number of each row.

        Returns
        -------
        array of shape (rows, columns + 1), or (rows, classes, columns + 1) for more than two classes
            The last column is the mean over the rows of training; with it, a row adds up to its decision value or
            number. Learners that cannot say raise a ValueError with the names of those that can.
        """
        data = self._batch(X, sample_domain)
        with settings(self.threads, self.seed) as native:
            values, names = self.model_.contributions(data, native)
        width = len(names) + 1
        return values if values.shape[1] == width else values.reshape(len(values), -1, width)

    def refit(self, X, y, *, strength=2.0, sample_domain=None, sample_weight=None):
        """This estimator, moved towards a few labelled rows of a new domain: splits stay, leaves take Newton steps.

        For estimators whose learner is trees. Fit a copy if the old answers are still needed.

        Parameters
        ----------
        X, y : rows and labels, as in fit
        strength : float
            How strongly the old values hold, in second derivatives.
        sample_domain, sample_weight : as in fit

        Returns
        -------
        self
        """
        data = self._batch(X, sample_domain)
        with settings(self.threads, self.seed) as native:
            known = np.ones(data.rows, dtype=bool)
            _input.labels(data, y, known, self.model_.task, native, _name_of(y, "label"))
            _input.weights(data, sample_weight)
            self.model_ = self.model_.refit(data, float(strength), native)
        return self

    def _sets(self, X, sample_domain, part):
        prediction = self._prediction(X, sample_domain)
        if not getattr(prediction, part).size:
            raise ValueError(f"{type(self).__name__} makes no {'sets' if part == 'set' else 'intervals'}; put conformal behind the learner")
        return prediction


class Classifies(Predicts, ClassifierMixin):
    """The methods of classifiers."""

    _task = "classify"

    def predict_proba(self, X, *, sample_domain=None):
        """The probability of each class, in the order of `classes_`."""
        return self._prediction(X, sample_domain).probability

    def predict_log_proba(self, X, *, sample_domain=None):
        """Logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, sample_domain=sample_domain))

    def predict_set(self, X, *, sample_domain=None):
        """Whether each class is in the set of each row: booleans of shape (rows, classes), of a pipeline with conformal."""
        return self._sets(X, sample_domain, "set").set.astype(bool)

    def decision_function(self, X, *, sample_domain=None):
        """Decision values: of the second of two classes, or one per class."""
        score = self._prediction(X, sample_domain).score
        return score.ravel() if score.shape[1] == 1 else score


class Regresses(Predicts, RegressorMixin):
    """The methods of regressors."""

    _task = "regress"

    def predict(self, X, *, sample_domain=None, return_std=False):
        """The number of each row and, where asked for, its standard deviation."""
        if not return_std:
            return self._predict(X, sample_domain)
        prediction = self._prediction(X, sample_domain)
        if not len(prediction.variance):
            raise ValueError(f"{type(self).__name__} has no standard deviations")
        return prediction.value, np.sqrt(prediction.variance)


    def predict_interval(self, X, *, sample_domain=None):
        """The ends of the interval of each row, of shape (rows, 2), of a pipeline with conformal; they may be infinite."""
        prediction = self._sets(X, sample_domain, "low")
        return np.column_stack([prediction.low, prediction.high])


class Transforms(TransformerMixin):
    """The methods of transformers."""

    def fit_transform(self, X, y=None, *, sample_domain=None, sample_weight=None, groups=None):
        """Fit, then transform the same rows."""
        self.fit(X, y, sample_domain=sample_domain, sample_weight=sample_weight, groups=groups)
        return self.transform(X, sample_domain=sample_domain)

    def transform(self, X, *, sample_domain=None):
        """The features that the last stage gives."""
        return self._transform(X, sample_domain)

    def get_feature_names_out(self, input_features=None):
        """The names of these features."""
        return self._names_out(input_features)
