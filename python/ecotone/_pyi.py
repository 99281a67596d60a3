"""Writes __init__.pyi, the types of the package: `python -m ecotone._pyi`."""
import inspect
import os

from . import _functions, _pipeline, _splitters, _sums
from ._methods import CLASSES, COMMON, METHODS, TYPES, _default, default_learner, parameter_name

COMMON_TYPES = {"domain": "str | None", "target": "str | int | list[Any] | None", "seed": "int", "threads": "int | None"}


def _class(name, made):
    method = METHODS[made._method]
    options = [(parameter_name(o["name"]), TYPES[o["type"]], _default(o)) for o in method["options"]]
    if method["follows_learner"]:
        options.insert(0, ("learner", "str", default_learner(None)))
    options += [(each, COMMON_TYPES[each], default) for each, default, *_ in COMMON]
    arguments = ", ".join(f"{each}: {kind if default is not None or 'None' in kind else kind + ' | None'} = ..." for each, kind, default in options)
    bases = [base.__name__ for base in made.__mro__[1:] if base.__name__ in ("Classifies", "Regresses", "Transforms")]
    return f"class {name}({', '.join([*bases, 'Estimator'])}):\n    def __init__(self, *, {arguments}) -> None: ...\n"


def _function(function):
    parts = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        sign = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        parts.append(f"{sign}{parameter.name}: Any" + " = ..." * (parameter.default is not parameter.empty))
    returns = {"evaluate": "Evaluation", "tune": "Tuning", "diagnose": "Diagnosis", "select": "Selection", "choose": "Choice",
               "expect": "Expectation", "explain": "Explanation", "guard": "Pipeline", "load": "Pipeline", "finish": "Pipeline", "partial": "bytes", "merge": "bytes", "generate": "Data", "read": "Data"}.get(function.__name__, "Any")
    return f"def {function.__name__}({', '.join(parts)}) -> {returns}: ...\n"


def text():
    """The whole file."""
    lines = [
        "# Made by `python -m ecotone._pyi`.\n",
        "from typing import Any\n\n",
        "from ._estimator import Classifies, Estimator, Regresses, Transforms\nfrom ._frames import Table as Table\n",
        "from ._functions import Data as Data\nfrom ._messages import EcotoneWarning as EcotoneWarning\n",
        "from ._pipeline import Pipeline as Pipeline\n",
        "from ._results import " + ", ".join(f"{name} as {name}" for name in ("Choice", "Diagnosis", "Evaluation", "Expectation", "Explanation", "Selection", "Tuning")) + "\n",
        "from ._splitters import LeaveOneDomainOut as LeaveOneDomainOut\n\n__version__: str\n\n",
    ]
    functions = [getattr(_functions, name) for name in ("choose", "diagnose", "evaluate", "expect", "explain", "generate", "guard", "read", "report", "select", "tune")]
    functions += [_sums.finish, _sums.inspect_sums, _sums.merge, _sums.partial]
    lines += [_function(each) for each in (*functions, _pipeline.load, _splitters.leave_one_domain_out)]
    lines += ["\n" + _class(name, made) for name, made in CLASSES.items()]
    return "".join(lines)


if __name__ == "__main__":
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "__init__.pyi"), "w") as file:
        file.write(text())
