"""scikit-learn's own checks of estimators: every class as it is, and with domains where it cannot be fitted without."""
import json

import pytest
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data, parametrize_with_checks

import ecotone
from ecotone._methods import CLASSES, METHODS
from estimators import make, with_domains

WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
# A row of weight 2 is not the same as two rows: why not.
UNEQUAL = {
    "weights are for learners: what a column is divided by and which components there are follow from rows": [
        "Scale", "DBN", "KPCA", "UDICA", "COIR", "DICA", "TCA", "Rank", "Align", "Coral", "Linot", "Barycentre", "Subspace"],
    "penalties are chosen in folds of rows, and by default the loss is divided by the number of rows": [
        "Logistic", "Softmax", "Probit", "Poisson", "LeastSquares", "Ridge", "RidgeRegressor", "Step", "StepRegressor", "GP", "Calibrate",
        "Groupdro", "GroupdroRegressor", "AdaptPrior", "Conformal", "ConformalRegressor"],
    "the kernel's width comes from distances between rows, and the solver stops at a tolerance": ["SVM", "SVMRegressor", "DASVM"],
    "rounds are chosen in folds of rows, samples are drawn of rows, and leaves count rows": [
        "Trees", "TreesRegressor", "Forest", "ForestRegressor"],
    "the sample of the target, and the moments of a domain, are rows": ["AdaptJoint", "AdaptJdot", "AdaptJdotRegressor", "Daboost", "Tgreedy", "TgreedyRegressor", "ICP", "ICPRegressor"],
}
OTHERS = {name: {"check_class_weight_classifiers": "boosting, and trees grown to the end, separate rows of whatever weight, so weights of classes do not move its answers far"}
          for name in ("Adaboost", "Daboost", "Forest")}
EXPLAINS = "it explains and does not predict: where no set of columns is accepted, all answers are alike"
OTHERS["ICP"] = {check: EXPLAINS for check in ("check_classifiers_train", "check_classifiers_classes")}
OTHERS["ICPRegressor"] = {"check_regressors_train": EXPLAINS}
# What is made of a row of a new domain depends on the other rows of it.
OF_SAMPLES = {name: {"check_methods_subset_invariance": "a row of a new domain is compared with the others of its domain"}
              for name in ("Rank", "Align", "Coral", "Linot", "Barycentre", "Subspace")}
EXPECTED = {name: {check: reason for check in WEIGHTS} for reason, names in UNEQUAL.items() for name in names}
for _name, _checks in [*OTHERS.items(), *OF_SAMPLES.items()]:
    EXPECTED.setdefault(_name, {}).update(_checks)

NEEDS_DOMAINS = {name for name, each in CLASSES.items() if METHODS[each._method]["adapts"] or each._method in ("tgreedy", "icp", "conformal")}
ALONE = [name for name in CLASSES if name not in NEEDS_DOMAINS]


def expected(estimator):
    return EXPECTED.get(type(estimator).__name__, {})


@parametrize_with_checks([make(name) for name in ALONE], expected_failed_checks=expected)
def test_estimator(estimator, check):
    check(estimator)


@parametrize_with_checks([with_domains(name) for name in CLASSES if name in NEEDS_DOMAINS], expected_failed_checks=expected)
def test_estimator_with_domains(estimator, check):
    check(estimator)


@parametrize_with_checks([ecotone.Pipeline("scale | logistic"), ecotone.Pipeline("scale | least_squares"), ecotone.Pipeline("impute | scale")],
                         expected_failed_checks=lambda estimator: dict.fromkeys(WEIGHTS, "scale divides by what follows from rows"))
def test_pipeline(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", sorted(NEEDS_DOMAINS))
def test_without_domains_the_error_says_what_is_missing(name):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    with pytest.raises(ValueError, match="target domain|two labelled domains|two source domains"):
        make(name).fit(X, y)


@pytest.mark.parametrize("name, options", [
    ("Logistic", {"l2": 0.1, "norm": "sum", "tol": 0}),
    ("Softmax", {"l2": 0.1, "norm": "sum", "tol": 0}),
    ("Probit", {"l2": 0.1, "norm": "sum", "tol": 0}),
    ("Poisson", {"l2": 0.1, "norm": "sum", "tol": 0}),
    ("LeastSquares", {"l2": 0.1, "norm": "sum", "tol": 0}),
    ("Ridge", {"lam": 1}),
    ("RidgeRegressor", {"lam": 1}),
    ("StepRegressor", {"lam": 1.0, "size": 3}),
    ("GP", {"sigma": 1.0, "amplitude": 1.0, "noise": 0.1}),
])
def test_a_weight_is_a_number_of_rows_where_nothing_is_chosen_from_rows(name, options):
    estimator = CLASSES[name](**options)
    check_sample_weight_equivalence_on_dense_data(name, estimator)


def test_every_method_has_a_class():
    assert {each._method for each in CLASSES.values()} == {method["name"] for method in json.loads(ecotone._native.methods())}
