"""Estimators on arrays: inputs of all kinds, domains and targets, errors, equality with the program."""
import copy
import os
import pickle
import subprocess
import sysconfig

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import ecotone


def test_version_and_file_name():
    cmake = open(os.path.join(os.path.dirname(__file__), "../../CMakeLists.txt")).read()
    assert f"project(ecotone VERSION {ecotone.__version__} " in cmake
    name = os.path.basename(ecotone._native.__file__)
    assert name in ("_native.abi3.so", "_native" + sysconfig.get_config_var("EXT_SUFFIX"))


def test_arrays_of_all_kinds_give_the_same_model(rows):
    X, y, domain = rows
    X = X.astype(np.float32).astype(np.float64)  # exact in both
    wide = np.zeros((480, 8))
    wide[::2, ::2] = X
    expected = ecotone.Logistic(l2=0.1).fit(X, y, sample_domain=domain)
    for same in (X.astype(np.float32), np.asfortranarray(X), wide[::2, ::2], X.tolist(), X[:, ::-1][:, ::-1]):
        model = ecotone.Logistic(l2=0.1).fit(same, y, sample_domain=domain)
        assert model.model_.bytes() == expected.model_.bytes()
        assert (model.predict_proba(same) == expected.predict_proba(X)).all()


def test_nothing_of_the_caller_is_written(rows):
    X, y, domain = rows
    weight = np.ones(len(y))
    before = [each.copy() for each in (X, y, domain, weight)]
    for each in (X, y, domain, weight):
        each.setflags(write=False)
    for name in ("Logistic", "DICA", "Scale", "WeightLogistic", "DASVM"):
        model = getattr(ecotone, name)().fit(X, y, sample_domain=domain, sample_weight=weight)
        (model.predict if hasattr(model, "predict") else model.transform)(X)
    for each, old in zip((X, y, domain, weight), before):
        assert (each == old).all()


def test_sparse_rows_stay_sparse_and_give_the_same_answers(rows):
    X, y, domain = rows
    X = np.where(np.abs(X) > 0.5, X, 0)
    dense = ecotone.Logistic(l2=0.1).fit(X, y, sample_domain=domain)
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.csr_array):
        sparse = ecotone.Logistic(l2=0.1).fit(kind(X), y, sample_domain=domain)
        np.testing.assert_allclose(sparse.predict_proba(kind(X)), dense.predict_proba(X), atol=1e-6)
    unsorted = scipy.sparse.csr_matrix((np.array([1.0, 2.0]), np.array([3, 0]), np.array([0, 2])), shape=(1, 4))
    assert dense.predict(unsorted) == dense.predict(unsorted.toarray())


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1], [10, 9]])
def test_labels_come_back_as_they_were(rows, labels):
    X, y, domain = rows
    given = np.array(labels)[y]
    model = ecotone.Logistic(l2=0.01).fit(X, given, sample_domain=domain)
    assert model.classes_.dtype == given.dtype
    assert list(model.classes_) == sorted(labels)
    assert model.predict(X).dtype == given.dtype
    assert (model.predict(X) == given).mean() > 0.85
    assert (model.predict(X) == model.classes_[model.predict_proba(X).argmax(axis=1)]).all()


@pytest.mark.parametrize("mask", [-1, 7, np.nan, None, "?"])
def test_labels_of_targets_are_never_looked_at(rows, mask):
    X, y, domain = rows
    masked = y.astype(object if mask is None or mask == "?" else float if mask != mask else int)
    masked[domain < 0] = mask
    plain = ecotone.WeightLogistic().fit(X, y, sample_domain=domain)
    assert plain.model_.bytes() == ecotone.WeightLogistic().fit(X, masked, sample_domain=domain).model_.bytes()
    labels = masked.astype(str) if masked.dtype == object else masked
    model = ecotone.Pipeline("scale | weight.logistic | logistic l2=0.1").fit(X, labels, sample_domain=domain)
    assert len(model.classes_) == 2


def test_targets_by_name(rows):
    X, y, domain = rows
    names = np.array(["north", "east", "south", "west"])[domain]
    by_sign = ecotone.DASVM().fit(X, y, sample_domain=domain)
    by_name = ecotone.DASVM(target="west").fit(X, y, sample_domain=names)
    assert (by_sign.predict_proba(X) == by_name.predict_proba(X)).all()
    with pytest.raises(ValueError, match="no domain 'up'"):
        ecotone.DASVM(target="up").fit(X, y, sample_domain=names)


def test_new_domains_are_welcome(rows):
    X, y, domain = rows
    model = ecotone.Pipeline("scale | dica | svm").fit(X, y, sample_domain=domain)
    assert (model.predict(X, sample_domain=["new"] * len(y)) == model.predict(X)).all()


def test_wrong_lengths_are_errors(rows):
    X, y, domain = rows
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ecotone.Logistic().fit(X, y, sample_domain=domain[1:])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ecotone.Logistic().fit(X, y[1:])
    with pytest.raises(ValueError, match="missing values"):
        ecotone.Logistic().fit(X, y, sample_domain=np.where(domain == 1, np.nan, domain))


def test_errors_have_the_text_of_the_program_and_a_code(rows, tmp_path):
    X, y, domain = rows
    with pytest.raises(ValueError, match=r"logistic: l2 must be .* got -1") as caught:
        ecotone.Logistic(l2=-1).fit(X, y)
    assert caught.value.code == "bad_option"
    with pytest.raises(ValueError, match="did you mean 'logistic'"):
        ecotone.Pipeline("scale | logitic").fit(X, y)
    with pytest.raises(OSError, match="No such file"):
        ecotone.load(tmp_path / "none.eco")
    (tmp_path / "bad.eco").write_bytes(b"no model")
    with pytest.raises(OSError, match="bad.eco"):
        ecotone.load(tmp_path / "bad.eco")
    with pytest.raises(NotFittedError):
        ecotone.SVM().predict(X)
    with pytest.raises(AttributeError):
        ecotone.SVM().fit(X, y).nonsense_


def test_warnings_are_warnings(rows):
    X, y, domain = rows
    with pytest.warns(ecotone.EcotoneWarning, match="although they have 2 classes"):
        ecotone.Logistic().fit(np.zeros_like(X), y)


def test_learned_attributes(rows):
    X, y, domain = rows
    model = ecotone.Logistic(l2=0.1).fit(X, y, sample_domain=domain)
    assert model.coef_.shape[-1] == 4 and np.isscalar(float(np.ravel(model.intercept_)[0]))
    assert (model.coef_ == model.weights_).all() and model.converged_
    weights = ecotone.WeightLogistic(flatten="none").fit(X, y, sample_domain=domain).sample_weight_
    assert weights.shape == (180,) and (weights > 0).all()


def test_save_load_pickle_copy_and_clone(rows, tmp_path):
    X, y, domain = rows
    model = ecotone.Pipeline("scale | dica | svm").fit(X, y, sample_domain=domain)
    model.save(tmp_path / "model.eco")
    loaded = ecotone.load(tmp_path / "model.eco")
    for same in (loaded, pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert (same.predict_proba(X) == model.predict_proba(X)).all()
        assert same.model_.bytes() == model.model_.bytes()
        assert (same.predict(X) == model.predict(X)).all()
    assert not hasattr(clone(model), "model_")


def test_same_bytes_as_the_program(clinics, tmp_path):
    X, y, domain = clinics
    table = X.assign(hospital=domain, disease=y)
    table.to_csv(tmp_path / "clinics.csv", index=False)
    for text, label in (
        ("impute | scale | logistic l2=0.01", "--label"), ("impute | scale | dica | svm", "--label"), ("impute strategy=median | scale", "--ignore")
    ):
        subprocess.run(
            [os.environ["ECOTONE_PROGRAM"], "fit", tmp_path / "clinics.csv", text, label, "disease", "--domain", "hospital",
             "-o", tmp_path / "model.eco", "--quiet"], check=True, capture_output=True)
        model = ecotone.Pipeline(text, domain="hospital").fit(table.drop(columns="disease"), table["disease"])
        assert model.model_.bytes() == (tmp_path / "model.eco").read_bytes()


def test_threads_and_seed_are_parameters(rows):
    X, y, domain = rows
    one = ecotone.GP(threads=1).fit(X, X[:, 0])
    two = ecotone.GP(threads=2).fit(X, X[:, 0])
    assert one.model_.bytes() == two.model_.bytes()
    assert one.predict(X, return_std=True)[1].shape == (240,)
    with pytest.raises(ValueError, match="threads must be in"):
        ecotone.GP(threads=-1).fit(X, X[:, 0])


def test_a_mask_hides_labels(rows):
    X, y, domain = rows
    hidden = np.zeros(len(y), dtype=bool)
    hidden[:40] = True
    masked = ecotone.Logistic(l2=0.1).fit(X, np.ma.masked_array(y, hidden), sample_domain=domain)
    rubbish = np.ma.masked_array(np.where(hidden, 7, y), hidden)
    assert ecotone.Logistic(l2=0.1).fit(X, rubbish, sample_domain=domain).model_.bytes() == masked.model_.bytes()
    without = ecotone.Logistic(l2=0.1).fit(X[~hidden], y[~hidden], sample_domain=domain[~hidden])
    np.testing.assert_allclose(masked.predict_proba(X), without.predict_proba(X), rtol=1e-9)
    words = np.ma.masked_array(np.where(hidden, "?", np.array(["no", "yes"])[y]), hidden)
    assert list(ecotone.Logistic(l2=0.1).fit(X, words, sample_domain=domain).classes_) == ["no", "yes"]
    numbers = np.ma.masked_array(np.where(hidden, np.inf, X[:, 0]), hidden)
    assert np.isfinite(ecotone.LeastSquares(l2=0.1).fit(X, numbers, sample_domain=domain).predict(X)).all()
    scores = [ecotone.evaluate(X, each, domain, ["logistic l2=0.1"]).to_json() for each in (np.ma.masked_array(y, hidden), np.where(hidden, np.nan, y))]
    assert scores[0] == scores[1]


def test_contributions_need_a_learner_that_has_them(rows):
    X, y, domain = rows
    with pytest.raises(ValueError) as error:
        ecotone.Logistic().fit(X, y, sample_domain=domain).contributions(X)
    assert error.value.code == "no_contributions"


@pytest.mark.parametrize("classes", [2, 3])
def test_contributions_add_up_to_the_decision_values(rows, classes):
    X, y, domain = rows
    y = y if classes == 2 else np.digitize(X[:, 0], [-0.5, 0.5])
    model = ecotone.Trees().fit(X, y, sample_domain=domain)
    found = model.contributions(X)
    assert found.shape == ((len(X), X.shape[1] + 1) if classes == 2 else (len(X), 3, X.shape[1] + 1))
    # Scores of several classes are known but for a common number.
    scores, decisions = found.sum(axis=-1), model.decision_function(X)
    if classes == 3:
        scores, decisions = (each - each[:, :1] for each in (scores, decisions))
    np.testing.assert_allclose(scores, decisions, atol=1e-9)


@pytest.mark.parametrize("make", [lambda: ecotone.Trees(rounds=5), lambda: ecotone.Pipeline("trees rounds=5"), lambda: ecotone.Pipeline("scale | trees rounds=5"), lambda: ecotone.Pipeline("forest trees=3")])
def test_trees_take_missing_values_of_arrays(rows, make):
    X, y, domain = rows
    X = X.copy()
    X[::3, 0] = np.nan
    model = make().fit(X, y, sample_domain=domain)
    assert np.isfinite(model.predict_proba(X)).all()


def test_missing_values_are_refused_where_nothing_takes_them(rows):
    X, y, domain = rows
    X = np.where(np.arange(len(X))[:, None] == 3, np.nan, X)
    for text in ("logistic", "scale | logistic"):
        with pytest.raises(ValueError, match="NaN"):
            ecotone.Pipeline(text).fit(X, y, sample_domain=domain)


@pytest.mark.parametrize("make", [lambda: ecotone.Trees(rounds=10), lambda: ecotone.Pipeline("impute | trees rounds=10")])
def test_refit_moves_towards_new_labels(rows, make):
    X, y, domain = rows
    names = np.array(["no", "yes"])
    model = make().fit(X, names[y], sample_domain=domain)
    before = model.predict_proba(X)
    assert model.contributions(X).shape == (len(X), X.shape[1] + 1)
    assert model.refit(X[:30], np.full(30, "no"), strength=1) is model
    assert model.predict_proba(X[:30])[:, 1].mean() < before[:30, 1].mean() - 0.05
    assert model.inspect()["refit"]["rows"] == 30
    with pytest.raises(ValueError, match="trees can"):
        ecotone.Logistic(l2=0.1).fit(X, y, sample_domain=domain).refit(X, y)
