"""One estimator per method, made from the native declarations: options become parameters, help becomes docstrings."""
import json
import keyword
import textwrap

from . import _native
from ._estimator import Classifies, Estimator, Regresses, Transforms

ACRONYMS = {"dica", "udica", "kpca", "coir", "dbn", "svm", "gp", "dasvm", "tca", "kmm", "kliep", "kde", "icp"}
# What every estimator takes besides its options.
COMMON = (
    ("domain", None, "str or None", "Of a data frame: the column that names each row's domain. It is not a feature."),
    ("target", None, "str, int, list or None", "The domains whose labels are never looked at. Numbers below 0 always are."),
    ("seed", 0, "int", "Root of all random numbers."),
    ("threads", None, "int or None", "Threads to use; all by default. Results do not depend on it."),
)
TYPES = {
    "boolean": "bool", "integer": "int", "real": "float", "real or auto": "float | str", "real or word": "float | str",
    "choice": "str", "numbers": "tuple[float, ...]", "texts": "tuple[str, ...]", "text": "str", "file": "str",
}


def class_name(method, regressor=False):
    """DICA of dica, WeightLogistic of weight.logistic; Regressor is added where a method does both tasks."""
    words = method.replace(".", "_").split("_")
    return "".join(word.upper() if word in ACRONYMS else word.capitalize() for word in words) + "Regressor" * regressor


def parameter_name(option):
    """An option that is called like a method of estimators gets _by behind: fit_by, score_by."""
    return option + "_by" * hasattr(_AllMethods, option)


def option_text(value):
    """A parameter's value as the library reads it."""
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "true" if value else "false"
    if isinstance(value, (list, tuple)) or hasattr(value, "tolist") and getattr(value, "ndim", 0) == 1:
        return ",".join(option_text(each) for each in value)
    if isinstance(value, dict):
        return ",".join(f"{option_text(key)}:{option_text(each)}" for key, each in value.items())
    if isinstance(value, float):
        return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value)) if value == value else "nan"
    return str(value)


def option_texts(given):
    """Options of a function as the native side reads them; None: not given."""
    return [(name, option_text(value)) for name, value in given.items() if value is not None]


def _equal(value, default):
    return type(value) is type(default) and value == default or isinstance(default, float) and value == default


class _AllMethods(Transforms, Classifies, Estimator):
    """Has every name that a parameter cannot have."""


class Tagged:
    """What scikit-learn may expect of a method; stands before the mixins, which set their own tags."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        method = METHODS[self._method]
        for of_sort in (tags.classifier_tags, tags.regressor_tags):
            if of_sort is not None:
                of_sort.poor_score = not method["reads_features"]
        tags.target_tags.positive_only = method["counts"]
        return tags


class MethodEstimator(Estimator):
    """The estimator of one method; its parameters are the method's options."""

    _method = None
    _defaults = {}

    def _pipeline_text(self):
        given = [
            (name, option_text(value))
            for name, default in self._defaults.items()
            if not _equal(value := getattr(self, parameter_name(name)), default) and value is not None
        ]
        return _native.stage_text(self._method, given)


class BehindLearner(MethodEstimator):
    """The estimator of a method that stands behind a learner, which the parameter `learner` gives as text."""

    def _pipeline_text(self):
        return f"{self.learner} | {super()._pipeline_text()}"


def _default(option):
    value = option["default"]
    return tuple(value) if isinstance(value, list) else value


def default_learner(task):
    """Of a method that stands behind one."""
    return "ridge" if task == "regress" else "logistic"


def _parameters(method, task):
    first = [("learner", default_learner(task), "str", "The stages before it, as text, such as 'scale | logistic'.")]
    options = [(parameter_name(o["name"]), _default(o), TYPES[o["type"]], o["help"] + _limits(o)) for o in method["options"]]
    return first * method["follows_learner"] + options + list(COMMON)


def _limits(option):
    if option["choices"]:
        return f". One of {', '.join(option['choices'])}" + (" or a number" if option["type"] == "real or word" else "")
    parts = []
    for end, sign in (("low", ">"), ("high", "<")):
        if option[end] is not None:
            parts.append(f"{sign}{'' if option['open_' + end] else '='} {option[end]:g}")
    return f" ({', '.join(parts)})" if parts else ""


def _docstring(method, name, parameters, task):
    lines = [method["summary"], "", *textwrap.wrap(method["when"], 110), "", f"In a pipeline: ``{method['example']}``"]
    if method["citation"]:
        lines += ["", *textwrap.wrap(method["reference"], 110)]
    lines += ["", "Parameters", "----------"]
    for parameter, default, kind, text in parameters:
        text = text.rstrip(".") + "."
        lines += [f"{parameter} : {kind}, default={default!r}", textwrap.indent(textwrap.fill(text, 110), "    ")]
    lines += ["", "Examples", "--------", ">>> import ecotone"]
    data = '"clinics", size=0.1, missing=0'
    lines += [f">>> X, y, domain = ecotone.generate({data})"]
    if task == "regress":
        lines += ['>>> X, y = X.drop(columns=["wait_days", "chest_pain"]), X["wait_days"]']
    argument = {"dbn": "layers=(8,), epochs=1", "daboost": 'rounds=20, target="Highmoor"'}.get(method["name"], "")
    if method["adapts"] and "target" not in argument:
        argument = 'target="Highmoor"'
    labels = "y, " if task or method["needs_labels"] else ""
    ask = "predict" if task else "transform"
    lines += [f">>> model = ecotone.{name}({argument}).fit(X, {labels}sample_domain=domain)", f">>> len(model.{ask}(X))", "334"]
    return "\n".join(lines)


def _init(parameters):
    """A real function, so that help, signature and scikit-learn see the parameters."""
    names = [name for name, *_ in parameters]
    assert not any(map(keyword.iskeyword, names)) and len(set(names)) == len(names), names
    arguments = ", ".join(f"{name}={default!r}" for name, default, *_ in parameters)
    body = "\n".join(f"    self.{name} = {name}" for name in names)
    scope = {}
    exec(f"def __init__(self, *, {arguments}):\n{body}", scope)
    return scope["__init__"]


def make_class(method, task, regressor):
    name = class_name(method["name"], regressor)
    parameters = _parameters(method, task)
    sorts = {"classify": (Classifies,), "regress": (Regresses,), None: ()}[task]
    if method["family"] not in ("learn", "adapt"):
        sorts = (Transforms, *sorts)
    root = BehindLearner if method["follows_learner"] else MethodEstimator
    return type(
        name,
        (Tagged, *sorts, root),
        {
            "__module__": "ecotone",
            "__doc__": _docstring(method, name, parameters, task),
            "__init__": _init(parameters),
            "_method": method["name"],
            "_defaults": {o["name"]: _default(o) for o in method["options"]},
            "_needs_labels": bool(task) or method["needs_labels"],
            "_weighs": method["family"] == "weight" and not method["needs_labels"],
            **({"_task": "classify"} if method["family"] == "weight" and method["needs_labels"] else {}),  # weights of classes
            "_stages_allow_nan": method["family"] == "prepare"
            or not method["reads_features"]
            or method["takes_missing"],
        },
    )


METHODS = {method["name"]: method for method in json.loads(_native.methods())}


def make_classes():
    """All estimators by name."""
    classes = {}
    for method in METHODS.values():
        tasks = method["tasks"] or [None]
        for task in tasks:
            made = make_class(method, task, regressor=task == "regress" and len(tasks) > 1)
            classes[made.__name__] = made
    return classes


CLASSES = make_classes()
