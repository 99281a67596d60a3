"""Results of the functions: small objects that print as the program prints and become JSON, frames or HTML."""
import html
import json

from . import _frames, _native


def _frame(rows):
    """Rows given as dictionaries, as a data frame (pandas where it is installed)."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name) for row in rows] for name in names}
    try:
        import pandas
    except ImportError:
        return _frames.Table(columns)
    return pandas.DataFrame(columns)


class Result:
    """A result: `print` shows its table, `to_json` all of it."""

    def __init__(self, document, text):
        self._document = document
        self._text = text

    def to_json(self):
        """The document that the program prints with --json, as Python objects."""
        return json.loads(self._document)

    def to_frame(self):
        """The main table as a data frame."""
        raise NotImplementedError

    def __str__(self):
        return self._text.rstrip("\n")

    __repr__ = __str__

    def _repr_html_(self):
        return f"<pre>{html.escape(str(self))}</pre>"


class Evaluation(Result):
    """How pipelines score on domains that they were not trained on.

    >>> import ecotone
    >>> result = ecotone.evaluate(*ecotone.generate("clinics", size=0.1), pipelines=["constant", "impute | scale | logistic"])
    >>> result.best("auroc")
    'impute | scale | logistic'
    >>> list(result.to_frame("auroc").columns)[:3]
    ['pipeline', 'domain', 'rows']
    """

    def __init__(self, native, metric=""):
        super().__init__(native.json(), native.table(metric))
        self._native = native

    def table(self, metric):
        """The table of one metric."""
        return Result(self._document, self._native.table(metric))

    def to_frame(self, metric=None):
        """One line per pipeline and held-out domain, one column per metric."""
        return _frame(
            [
                {"pipeline": score["pipeline"], "domain": each["domain"], "rows": each["rows"]}
                | {name: value for name, value in each["metrics"].items() if metric in (None, name)}
                for score in self.to_json()["pipelines"]
                for each in score["domains"]
            ]
        )

    def best(self, metric=None):
        """The pipeline with the best mean over the domains, by log loss (rmse for numbers) unless told otherwise."""
        document = self.to_json()
        metric = metric or ("rmse" if document["task"] == "regress" else "log_loss")
        if metric not in document["metrics"]:
            raise ValueError(f"no metric {metric!r}; the metrics are {', '.join(document['metrics'])}")
        scores = [(score["mean"].get(metric), score["pipeline"]) for score in document["pipelines"]]
        scores = [(_native.badness(metric, value), number, name) for number, (value, name) in enumerate(scores) if value is not None]
        if not scores:
            raise ValueError(f"no pipeline has a value of {metric}")
        return min(scores)[2]

    def html(self, title=""):
        """The report as one HTML page."""
        return self._native.html(title)

    def _repr_html_(self):
        page = html.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0" title="evaluation"></iframe>'


class Tuning(Result):
    """The pipelines that `tune` tried. `pipeline` is the text of the chosen one."""

    def __init__(self, document, text, pipeline):
        super().__init__(document, text)
        self.pipeline = pipeline

    def to_frame(self):
        """One line per pipeline that was tried."""
        points = self.to_json()["points"]
        return _frame([{key: value for key, value in point.items() if not isinstance(value, (list, dict))} for point in points])


class Diagnosis(Result):
    """How domains differ."""

    def to_frame(self):
        """One line per comparison of a domain with all others."""
        return _frame([{key: value for key, value in each.items() if not isinstance(value, (list, dict))} for each in self.to_json()["against_rest"]])

    @property
    def advice(self):
        """What to do about it, in sentences."""
        return [each["text"] for each in self.to_json()["advice"]]


def _steps(path):
    """What a path says of each step."""
    steps = len(path["selected"])
    whole = ("classes", "domains", "feature_names")  # of all steps
    columns = {key: value for key, value in path.items() if isinstance(value, list) and len(value) == steps and key not in whole}
    return [{key: value[step] for key, value in columns.items()} for step in range(steps)]


class Selection(Result):
    """The features that `select` found; `selected` are their names."""

    @property
    def selected(self):
        return self.to_json()["selected"]

    def to_frame(self):
        """One line per step; the paths of several classes, each against the rest, follow each other."""
        document = self.to_json()
        if "of_class" not in document:
            return _frame(_steps(document))
        paths = zip(document["classes"], document["of_class"])
        return _frame([{"class": name} | step for name, path in paths for step in _steps(path)])


class Choice(Result):
    """What choosing among pipelines without labels of the target costs."""

    def to_frame(self):
        """One line per scorer."""
        rows = []
        for each in self.to_json()["scorers"]:
            rows.append({"scorer": each["scorer"], **each.get("mean", {})})
        return _frame(rows)


class Expectation(Result):
    """What to expect in domains without labels."""

    def to_frame(self, estimators=False):
        """One line per target and metric or, with `estimators`, per estimator of each."""
        rows = []
        for each in self.to_json()["expectations"]:
            for metric in each["metrics"]:
                for value in metric["estimators"] if estimators else [metric]:
                    interval = value["interval"] or {}
                    rows.append({"target": each["target"], "metric": metric["metric"], "estimate": value["estimate"],
                                 "low": interval.get("low"), "high": interval.get("high"), "by": value["estimator"]})
        return _frame(rows)


class Explanation(Result):
    """Why domains cost more."""

    def to_frame(self):
        """One line per target: the difference of losses and its parts."""
        rows = []
        for each in self.to_json()["explanations"]:
            parts = each["parts"] or {}
            rows.append({"target": each["target"], "divisible": each["divisible"], "difference": parts.get("difference")}
                        | {name: parts[name]["value"] for name in ("x_source_to_shared", "y_given_x", "x_shared_to_target") if parts})
        return _frame(rows)

    @property
    def advice(self):
        """What to do about each, in a sentence."""
        return [each["advice"] for each in self.to_json()["explanations"]]
