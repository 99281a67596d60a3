"""Estimators as scikit-learn's checks meet them: as they are, or with domains added to every fit."""
import numpy as np
import scipy.sparse
from ecotone._methods import CLASSES

# Options that make many fits quick; a margin that three overlapping classes allow.
ARGUMENTS = {"DBN": {"layers": (4,), "epochs": 1}, "Daboost": {"rounds": 300, "gamma": 0.05}, "Adaboost": {"rounds": 50}}


def make(name):
    return CLASSES[name](**ARGUMENTS.get(name, {}))


def doubled(X, y, sample_weight):
    """All rows twice: first of two sources in turn, then of a target."""
    n = X.shape[0]
    rows = np.concatenate([np.arange(n), np.arange(n)])
    domain = np.concatenate([np.arange(n) // 2 % 2, np.full(n, -1)])
    X = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    if sample_weight is not None:
        sample_weight = np.asarray(sample_weight)[rows]
    return X, None if y is None else np.asarray(y)[rows], domain, sample_weight


class AddsDomains:
    """Added to an estimator, gives every fit two sources and a target."""

    def fit(self, X, y=None, *, sample_domain=None, sample_weight=None):
        if not hasattr(X, "iloc"):
            X = X.tocsr() if scipy.sparse.issparse(X) else np.asarray(X)
        same = y is None or len(X.shape) == 2 and np.asarray(y).shape[:1] == X.shape[:1]
        if len(X.shape) == 2 and same and (sample_weight is None or np.asarray(sample_weight).shape == X.shape[:1]):
            X, y, sample_domain, sample_weight = doubled(X, y, sample_weight)
        return super().fit(X, y, sample_domain=sample_domain, sample_weight=sample_weight)


class AddsDomainsToTransformer(AddsDomains):
    def fit_transform(self, X, y=None, *, sample_domain=None, sample_weight=None):
        return self.fit(X, y, sample_weight=sample_weight).transform(X)


# At the top level of the module, where pickle looks for classes.
for _name, _class in CLASSES.items():
    _adds = AddsDomainsToTransformer if hasattr(_class, "transform") else AddsDomains
    globals()[_name] = type(_name, (_adds, _class), {"__module__": __name__, "__init__": _class.__init__})


def with_domains(name):
    return globals()[name](**ARGUMENTS.get(name, {}))
