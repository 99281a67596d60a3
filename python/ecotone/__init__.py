"""ecotone: learning from several domains for the next one.

How much do my domains differ, how much worse will a model do in a new one, which model does best there?

>>> import ecotone
>>> X, y, domain = ecotone.generate("clinics", size=0.1)
>>> print(ecotone.evaluate(X, y, domain, ["constant", "impute | scale | logistic"], metric="accuracy"))  # doctest: +ELLIPSIS
accuracy...

Every method is an estimator of scikit-learn (`ecotone.DICA`, `ecotone.Logistic`, ...), and `ecotone.Pipeline` puts
several in a row. `fit` takes the domain of each row as `sample_domain`.
"""
from . import _native
from ._frames import Table
from ._functions import Data, choose, diagnose, evaluate, expect, explain, generate, guard, read, report, select, tune
from ._messages import EcotoneWarning
from ._methods import CLASSES
from ._pipeline import Pipeline, load
from ._results import Choice, Diagnosis, Evaluation, Expectation, Explanation, Selection, Tuning
from ._splitters import LeaveOneDomainOut, leave_one_domain_out
from ._sums import finish, inspect_sums, merge, partial

__version__ = _native.version
globals().update(CLASSES)

__all__ = [
    "Choice", "Data", "Diagnosis", "EcotoneWarning", "Evaluation", "Expectation", "Explanation", "LeaveOneDomainOut", "Pipeline", "Selection", "Table", "Tuning",
    "choose", "diagnose", "evaluate", "expect", "explain", "finish", "generate", "guard", "inspect_sums", "leave_one_domain_out", "load", "merge", "partial", "read", "report", "select", "tune",
    *CLASSES,
]
