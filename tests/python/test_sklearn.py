"""Inside scikit-learn and SKADA: pipelines, searches, splitters, routing; examples in docstrings; types."""
import doctest
import inspect
import os
import subprocess
import sys

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ecotone
from ecotone import _functions, _methods, _pipeline, _pyi, _results, _splitters


def sources(rows):
    X, y, domain = rows
    return X[domain >= 0], y[domain >= 0], domain[domain >= 0]


def test_search_over_domains(rows):
    X, y, domain = sources(rows)
    grid = {"l2": [0.01, 1.0]}
    search = GridSearchCV(ecotone.Logistic(), grid, cv=ecotone.LeaveOneDomainOut(), scoring="neg_log_loss")
    search.fit(X, y, groups=domain, sample_domain=domain)
    assert search.n_splits_ == 3 and search.best_estimator_.model_.domains == ["0", "1", "2"]
    # Groups reach the inner folds: every fit was without the domain that it was scored on.
    for number, left_out in enumerate(np.unique(domain)):
        model = ecotone.Logistic(l2=0.01).fit(X[domain != left_out], y[domain != left_out], sample_domain=domain[domain != left_out])
        loss = -np.log(model.predict_proba(X[domain == left_out])[np.arange(60), y[domain == left_out]]).mean()
        assert search.cv_results_[f"split{number}_test_score"][0] == pytest.approx(-loss)


def test_pipelines_and_scores_without_routing(rows):
    X, y, domain = sources(rows)
    assert not sklearn.get_config()["enable_metadata_routing"]
    scores = cross_val_score(make_pipeline(StandardScaler(), ecotone.DICA(), ecotone.SVM()), X, y, groups=domain, cv=ecotone.LeaveOneDomainOut())
    assert len(scores) == 3 and scores.mean() > 0.7
    assert cross_val_predict(ecotone.LeastSquares(), X, X[:, 0], groups=domain, cv=ecotone.LeaveOneDomainOut()).shape == (180,)


def test_routing(rows):
    X, y, domain = sources(rows)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(ecotone.Scale(), ecotone.Logistic(l2=0.1)).fit(X, y, sample_domain=domain)
        assert pipeline[-1].model_.domains == ["0", "1", "2"]
        search = GridSearchCV(ecotone.Logistic(), {"l2": [0.1, 1.0]}, cv=ecotone.LeaveOneDomainOut())
        search.fit(X, y, sample_domain=domain)
        assert search.n_splits_ == 3 and search.best_estimator_.model_.domains == ["0", "1", "2"]
    assert not sklearn.get_config()["enable_metadata_routing"]


def test_splitter(rows):
    X, y, domain = rows
    splits = list(ecotone.LeaveOneDomainOut().split(X, y, domain))
    assert len(splits) == ecotone.LeaveOneDomainOut().get_n_splits(X, y, domain) == 3
    for train, held_out in splits:
        assert set(domain[train]) & set(domain[held_out]) == set() and (domain[train] == -1).sum() == 60
    with pytest.raises(ValueError, match="no domains"):
        next(ecotone.LeaveOneDomainOut().split(X))
    with pytest.raises(ValueError, match="at least two source domains"):
        next(ecotone.LeaveOneDomainOut().split(X, y, np.zeros(240)))


SKADA = """
import numpy as np, ecotone
before = __import__("sklearn").get_config()["enable_metadata_routing"]
assert not before, "importing ecotone switches nothing on"
from skada import make_da_pipeline
from skada.datasets import make_shifted_datasets
from skada.model_selection import LeaveOneDomainOut as Theirs, SourceTargetShuffleSplit
from skada.metrics import PredictionEntropyScorer
from sklearn.model_selection import cross_validate
from sklearn.preprocessing import StandardScaler
X, y, domain = make_shifted_datasets(20, 20, shift="covariate_shift", random_state=0)
masked = y.copy(); masked[domain < 0] = -1
untouched = masked.copy()
for last in (ecotone.Logistic(l2=0.1), ecotone.DASVM(), ecotone.Pipeline("scale | weight.logistic | logistic l2=0.1")):
    model = make_da_pipeline(StandardScaler(), last).fit(X, masked, sample_domain=domain)
    assert set(model.predict(X[domain < 0], sample_domain=domain[domain < 0])) <= {0, 1}, last
    assert (masked == untouched).all()
scores = cross_validate(make_da_pipeline(StandardScaler(), ecotone.Logistic(l2=0.1)), X, y, params={"sample_domain": domain},
                        cv=SourceTargetShuffleSplit(n_splits=2, random_state=0), scoring=PredictionEntropyScorer(), error_score="raise")
assert np.isfinite(scores["test_score"]).all()
print("good")
"""


def test_inside_skada():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", SKADA], capture_output=True, text=True)
    assert done.stdout == "good\n", done.stderr


@pytest.mark.parametrize("module", [_functions, _pipeline, _results, _splitters, ecotone._frames])
def test_examples(module):
    found = doctest.testmod(module)
    assert found.attempted and not found.failed


def run_examples(of, name):
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder(recurse=False).find(of, name, module=False, globs={}):
        runner.run(test)
    assert runner.tries >= 3 and not runner.failures


def test_examples_of_the_package():
    run_examples(ecotone, "ecotone")


@pytest.mark.parametrize("name", list(_methods.CLASSES))
def test_examples_of_classes(name):
    made = _methods.CLASSES[name]
    run_examples(made, name)
    assert set(inspect.signature(made).parameters) == set(made().get_params())


def test_types_are_up_to_date():
    with open(os.path.join(os.path.dirname(_pyi.__file__), "__init__.pyi")) as file:
        assert file.read() == _pyi.text(), "run python -m ecotone._pyi"


def test_notebook(tmp_path):
    script = os.path.join(os.path.dirname(__file__), "../../docs/notebook.py")
    subprocess.run([sys.executable, "-W", "ignore", os.path.abspath(script)], check=True, capture_output=True, cwd=tmp_path)
    assert (tmp_path / "clinics.eco").stat().st_size and "<!DOCTYPE html>" in (tmp_path / "clinics.html").read_text()
