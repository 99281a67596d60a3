"""Writes contributions.json: trees of LightGBM and what it says (`pred_contrib`) of new rows. Needs lightgbm and numpy;
made with LightGBM 4.7.0. Run in this folder."""
import json

import lightgbm
import numpy as np

ROWS, NEW = 400, 9
CASES = {
    "squared": {"objective": "regression", "num_leaves": 9},
    "deep": {"objective": "regression", "num_leaves": 24, "min_data_in_leaf": 2, "learning_rate": 0.5},
    "logistic": {"objective": "binary", "num_leaves": 6},
    "one_leaf": {"objective": "regression", "min_data_in_leaf": ROWS},
    "softmax": {"objective": "multiclass", "num_class": 3, "num_leaves": 5},
}
ROUNDS = {"deep": 1}
COMMON = {"verbose": -1, "deterministic": True, "num_threads": 1, "min_data_per_group": 5, "cat_smooth": 1}


def rows_of(random, count):
    """Five columns of numbers and one of ten levels; every column has missing values."""
    x = random.normal(size=(count, 6)).round(2)
    x[:, 5] = random.integers(0, 10, size=count)
    x[random.random(x.shape) < 0.15] = np.nan
    return x


def labels_of(random, x, objective):
    y = np.nan_to_num(x)
    score = y[:, 0] - y[:, 1] * y[:, 2] + (y[:, 5] % 3) + np.isnan(x[:, 3]) + 0.3 * random.normal(size=len(x))
    if objective == "regression":
        return score
    return np.digitize(score, [1] if objective == "binary" else [0.5, 1.5])


def nodes_of(structure):
    nodes, value, cover = {}, {}, {}

    def place_of(part):
        """Its number, and the rows below it."""
        if "split_index" not in part:
            leaf = part.get("leaf_index", 0)
            value[leaf], cover[leaf] = part["leaf_value"], part.get("leaf_count", ROWS)
            return -(leaf + 1), cover[leaf]
        assert part["missing_type"] == "NaN" or part["decision_type"] == "=="
        node = {"feature": part["split_feature"]}
        if part["decision_type"] == "==":
            node["levels"] = [int(level) for level in str(part["threshold"]).split("||")]
        else:
            node["threshold"] = part["threshold"]
            node["missing"] = "left" if part["default_left"] else "right"
        nodes[part["split_index"]] = node
        node["left"], left = place_of(part["left_child"])
        node["right"], right = place_of(part["right_child"])
        assert part["internal_count"] == left + right
        return part["split_index"], left + right

    place_of(structure)
    return {"nodes": [nodes[k] for k in range(len(nodes))], "value": [value[k] for k in range(len(value))],
            "cover": [cover[k] for k in range(len(cover))]}


def case_of(name, options):
    random = np.random.default_rng(23)
    x = rows_of(random, ROWS)
    y = labels_of(random, x, options["objective"])
    new = rows_of(random, NEW)
    new[0] = np.nan
    new[1, 5] = 77  # a level that was never seen
    data = lightgbm.Dataset(x, y, categorical_feature=[5])
    model = lightgbm.train({**COMMON, **options}, data, ROUNDS.get(name, 3))
    trees = [nodes_of(tree["tree_structure"]) for tree in model.dump_model()["tree_info"]]
    shown = [["nan" if np.isnan(value) else value for value in row] for row in new.tolist()]
    return {"outputs": options.get("num_class", 1), "levels_of_column_5": list(range(10)), "trees": trees, "X": shown,
            "contributions": model.predict(new, pred_contrib=True).tolist()}


cases = {name: case_of(name, options) for name, options in CASES.items()}
with open("contributions.json", "w") as file:
    json.dump({"made_by": f"make_contributions.py, LightGBM {lightgbm.__version__}", **cases}, file, separators=(",", ":"))
    file.write("\n")
