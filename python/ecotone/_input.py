"""Features, labels, domains and weights of Python as native data. Nothing that a caller passes is ever written to."""
import warnings

import numpy as np
import scipy.sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from . import _frames, _native


def features(estimator, X, *, reset, finite=True, leave_out=None, codes=False):
    """Native data of X. As in scikit-learn, n_features_in_ and feature_names_in_ are set (reset) or checked.

    Categories are one feature each with `codes`, and otherwise one for each level; without reset, as the model has them.
    """
    if _frames.is_frame(X):
        return _frame_features(estimator, X, reset, leave_out, codes)
    X = validate_data(
        estimator, X, accept_sparse="csr", dtype=np.float64, order="C", ensure_all_finite=finite, reset=reset
    )
    return matrix(X)


def matrix(X, names=None):
    """Native data of a checked array or CSR matrix."""
    if not scipy.sparse.issparse(X):
        return _native.Data.dense(X, names)
    X = scipy.sparse.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return _native.Data.csr(
        np.ascontiguousarray(X.indptr, np.int64),
        np.ascontiguousarray(X.indices, np.int32),
        np.ascontiguousarray(X.data, np.float64),
        X.shape[1],
        names,
    )


def _frame_features(estimator, X, reset, leave_out, codes):
    names = [name for name in _frames.column_names(X) if name != leave_out]
    rows = _frames.row_count(X)
    for count, what in ((len(names), "feature"), (rows, "sample")):
        if count == 0:
            raise ValueError(f"Found array with 0 {what}(s) (shape=({rows}, {len(names)})) while a minimum of 1 is required.")
    named = all(isinstance(name, str) for name in names)
    if not named and any(isinstance(name, str) for name in names):
        raise TypeError("Feature names are only supported if all input features have string names; convert them all to strings")
    if reset:
        estimator.n_features_in_ = len(names)
        if named:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
    else:
        _check_names(estimator, names if named else None, len(names))
    columns = _frames.columns(X, leave_out)
    if not named:  # found by position
        columns = [(f"x{j + 1}", *parts) for j, (_, *parts) in enumerate(columns)]
    return _native.Data.columns(columns, rows, codes, None if reset else estimator.model_)


def _check_names(estimator, names, count):
    """The errors and warnings of scikit-learn about names of columns."""
    who = type(estimator).__name__
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and names is not None and list(known) != names:
        message = "The feature names should match those that were passed during fit.\n"
        for kind, some in (
            ("Feature names unseen at fit time", sorted(set(names) - set(known))),
            ("Feature names seen at fit time, yet now missing", sorted(set(known) - set(names))),
        ):
            if some:
                message += f"{kind}:\n" + "".join(f"- {name}\n" for name in some[:5]) + ("- ...\n" if len(some) > 5 else "")
        if set(names) == set(known):
            message += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(message)
    if known is None and names is not None:
        warnings.warn(f"X has feature names, but {who} was fitted without feature names", UserWarning, stacklevel=4)
    if known is not None and names is None:
        warnings.warn(f"X does not have valid feature names, but {who} was fitted with feature names", UserWarning, stacklevel=4)
    if count != estimator.n_features_in_:
        raise ValueError(f"X has {count} features, but {who} is expecting {estimator.n_features_in_} features as input.")


def labels(data, y, source, task, settings, name="label"):
    """Gives data the labels of its source rows; those of other rows are never looked at. Returns the classes, or None."""
    y = one_line(y)
    check_consistent_length(y, source)
    if task == "regress":
        y = check_array(y[source], ensure_2d=False, dtype=np.float64, input_name="y", ensure_min_samples=0)
        data.set_numbers(_spread(y, source, np.nan), "regress", name, settings)
        return None
    known = y[source]
    if known.dtype.kind == "f" and not np.isfinite(known).all():
        raise ValueError("Input y contains NaN or infinity." if np.isnan(known).any() else "Input y contains infinity.")
    check_classification_targets(known)
    if known.dtype.kind in "iuf":
        data.set_numbers(_spread(known.astype(np.float64), source, np.nan), "classify", name, settings)
        return np.unique(known)
    codes, words = _frames.factorise(known)
    if (codes < 0).any():
        raise ValueError("Input y contains missing labels.")
    data.set_words(_spread(codes, source, -1), words, name, settings)
    order = data.labels[1]
    if known.dtype.kind == "b":
        return np.array([word == "True" for word in order])
    return np.array(order, dtype=known.dtype if known.dtype.kind == "U" else object)


def one_line(y):
    return column_or_1d(_frames.line(y), warn=True)


def hidden(y):
    """Which labels a masked array of NumPy hides; None: none."""
    mask = np.ma.getmask(y) if isinstance(y, np.ma.MaskedArray) else np.ma.nomask
    return None if mask is np.ma.nomask else np.array(mask)


def _spread(values, rows, missing):
    """Values of these rows among all rows."""
    if rows.all():
        return np.ascontiguousarray(values)
    result = np.full(len(rows), missing, dtype=values.dtype)
    result[rows] = values
    return result


class Domains:
    """The domain of each row, by name, and which domains are targets: numbers below 0, or those named."""

    def __init__(self, values, target=None):
        values = column_or_1d(_frames.line(values))
        if values.dtype.kind == "f" and np.isfinite(values).all() and (values == np.floor(values)).all():
            values = values.astype(np.int64)
        if values.dtype.kind == "f" and not np.isfinite(values).all() or values.dtype.kind == "O" and any(v is None or v != v for v in values):
            raise ValueError("sample_domain has missing values; every row needs a domain")
        if values.dtype.kind == "O":
            values = np.array([str(value) for value in values])
        distinct, codes = np.unique(values, return_inverse=True)
        self.codes = codes.astype(np.int32)
        self.names = [str(value) for value in distinct.tolist()]
        if target is not None:
            wanted = [target] if isinstance(target, (str, int, np.integer)) else list(target)
            self.targets = [str(name) for name in wanted]
        elif distinct.dtype.kind in "iu":
            self.targets = [str(value) for value in distinct.tolist() if value < 0]
        else:
            self.targets = []

    def source(self):
        """Which rows belong to no target."""
        is_target = np.array([name in self.targets for name in self.names], dtype=bool)
        return ~is_target[self.codes]

    def give(self, data, name):
        data.set_domains(self.codes, self.names, self.targets, name)


def weights(data, sample_weight):
    if sample_weight is None:
        return
    rows = np.empty((data.rows, 1))
    data.set_weights(_check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True))


def groups(data, values, name="group"):
    """Gives data the group of each row; None and NaN: a row on its own."""
    if values is None:
        return
    values = column_or_1d(_frames.line(values))
    check_consistent_length(values, np.empty(data.rows))
    data.set_groups(_frames.factorise(values)[0], name)


def times(data, values, name="time"):
    """Gives data the time of each row: numbers, or dates, which count in days."""
    if values is None:
        return
    values = column_or_1d(_frames.line(values))
    check_consistent_length(values, np.empty(data.rows))
    dates = values.dtype.kind == "M"
    if dates:
        values = _frames.days(values)
    elif values.dtype.kind not in "biuf":
        raise ValueError(f"times must be numbers or dates (datetime64), got {values.dtype} such as {values[0]!r}")
    data.set_times(np.ascontiguousarray(values, np.float64), dates, name)
