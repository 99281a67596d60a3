#!/usr/bin/env python3
"""Leave-one-domain-out of boosted trees and forests beside their peers at their defaults, and refits on few labels.

    pip install numpy pandas scikit-learn lightgbm xgboost catboost
    bench/trees_domains.py build/release [--data ../shared/data] [--sets heart,gvhd,parkinsons,clinics] [--keep FOLDER]
    bench/trees_domains.py build/release refit [--sets ...]

Prints Markdown. Every domain is held out in turn; its AUROC (numbers: RMSE) is that of a fit on all others (of several
classes: the mean over classes against the rest). Text columns are categories to every peer that takes them, missing values
stay missing. `+-` is the standard error of the mean difference from `trees`, paired over domains. `--keep` keeps results, so
that a run can be continued. Seeds of peers are 0.
"""
import argparse
import io
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import pandas as pd

SETS = {
    "heart": {"file": "heart_disease/heart_disease.csv", "label": "label", "drop": ["num"]},
    "gvhd": {"file": "gvhd/gvhd_flowcap12_1k.csv.gz", "label": "label", "drop": ["manual", "triple"]},
    "parkinsons": {"file": "parkinsons/parkinsons_updrs.csv", "label": "motor_UPDRS",
                   "drop": ["age", "sex", "test_time", "total_UPDRS"], "numbers": True},
    "clinics": {"file": None, "label": "disease", "drop": [], "domain": "hospital"},
}
OURS = ["trees", "trees shape=symmetric", "trees shape=symmetric leaves=64", "trees stop=domains", "trees stop=rows",
        "trees splits=agree", "trees splits=vote", "trees splits=steady", "trees min_domains=2", "trees domain_weights=equal", "forest"]
OURS_OF_NUMBERS = ["trees gamma=2"]
DRAWS = 3  # of the labels of a refit
GVHD_ROWS = 300  # a domain, spread evenly: the whole set takes the slowest peer hours


def table(name, data, program):
    """The set as a frame with columns domain, the label and features, and a CSV file of the same rows."""
    case = SETS[name]
    if case["file"] is None:
        text = subprocess.run([program, "generate", "clinics", "-o", "-"], capture_output=True, text=True, check=True).stdout
        frame = pd.read_csv(io.StringIO(text)).rename(columns={case["domain"]: "domain"})
    else:
        frame = pd.read_csv(data / case["file"])
    frame = frame.drop(columns=case["drop"]).dropna(subset=[case["label"]])
    if name == "gvhd":
        frame = frame[frame[case["label"]] != -1]  # cells without a label
        parts = []
        for _, rows in frame.groupby("domain", sort=False):
            parts.append(rows.iloc[np.linspace(0, len(rows) - 1, min(len(rows), GVHD_ROWS)).astype(int)])
        frame = pd.concat(parts)
    return frame.reset_index(drop=True)


def peers(numbers):
    import catboost
    import lightgbm
    import xgboost
    from sklearn.ensemble import (HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier,
                                  RandomForestRegressor)
    if numbers:
        return {"LightGBM": lightgbm.LGBMRegressor(verbose=-1, random_state=0, n_jobs=2),
                "XGBoost": xgboost.XGBRegressor(enable_categorical=True, random_state=0, n_jobs=2),
                "CatBoost": catboost.CatBoostRegressor(verbose=False, random_seed=0, thread_count=2, allow_writing_files=False),
                "HistGradientBoosting": HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=0),
                "RandomForest (scikit-learn)": RandomForestRegressor(300, min_samples_leaf=5, max_features=1 / 3,
                                                                     random_state=0, n_jobs=2)}
    return {"LightGBM": lightgbm.LGBMClassifier(verbose=-1, random_state=0, n_jobs=2),
            "XGBoost": xgboost.XGBClassifier(enable_categorical=True, random_state=0, n_jobs=2),
            "CatBoost": catboost.CatBoostClassifier(verbose=False, random_seed=0, thread_count=2, allow_writing_files=False),
            "HistGradientBoosting": HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0),
            "RandomForest (scikit-learn)": RandomForestClassifier(300, random_state=0, n_jobs=2)}


def score(y, predicted, numbers):
    if numbers:
        return float(np.sqrt(np.mean((y - predicted) ** 2)))
    from sklearn.metrics import roc_auc_score
    there = [k for k in range(predicted.shape[1]) if 0 < (y == k).sum() < len(y)]
    if predicted.shape[1] == 2:
        there = there[1:]
    return float(np.mean([roc_auc_score(y == k, predicted[:, k]) for k in there])) if there else None


def of_peer(model, peer, frame, label, numbers):
    """The score of every domain, held out."""
    from sklearn.base import clone
    x = frame.drop(columns=["domain", label])
    x.columns = [f"x{j}" for j in range(x.shape[1])]  # LightGBM refuses some names
    text = [c for c in x if x[c].dtype == object or str(x[c].dtype) in ("str", "string")]
    if peer == "CatBoost":
        x[text] = x[text].astype(object).where(x[text].notna(), "missing")
    elif peer.startswith("RandomForest"):
        x = pd.get_dummies(x, columns=text, dtype=float)
    else:
        x[text] = x[text].astype("category")
    y, result = frame[label].to_numpy(), {}
    y = y if numbers else np.unique(y, return_inverse=True)[1]
    for domain in frame["domain"].unique():
        held = (frame["domain"] == domain).to_numpy()
        fitted = model.copy() if peer == "CatBoost" else clone(model)
        more = {"cat_features": text} if peer == "CatBoost" and text else {}
        fitted.fit(x[~held], y[~held], **more)
        predicted = fitted.predict(x[held]) if numbers else fitted.predict_proba(x[held])
        result[str(domain)] = score(y[held], predicted, numbers)
    return result


def of_ours(pipeline, frame, label, numbers, program):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "set.csv"
        frame.to_csv(path, index=False)
        task = ["--task", "regress" if numbers else "classify"]
        done = subprocess.run([program, "evaluate", path, pipeline, "--label", label, "--domain", "domain", *task,
                               "--resamples", "0", "--json", "--quiet"], capture_output=True, text=True, check=True)
    metric = "rmse" if numbers else "auroc"
    return {d["domain"]: d["metrics"].get(metric) for d in json.loads(done.stdout)["pipelines"][0]["domains"]}


def kept(folder, name, make):
    path = folder / (name.replace(" ", "_").replace("=", "-").replace("{", "").replace("}", "").replace(",", "-") + ".json")
    if not path.exists():
        path.write_text(json.dumps(make()))
    return json.loads(path.read_text())


def compare(names, data, program, folder):
    ranks = {}
    for name in names:
        case, numbers = SETS[name], SETS[name].get("numbers", False)
        frame = table(name, data, program)
        ours = OURS + numbers * OURS_OF_NUMBERS
        results = {p: kept(folder, f"{name} {p}", lambda p=p: of_ours(p, frame, case["label"], numbers, program)) for p in ours}
        for peer, model in peers(numbers).items():
            results[peer] = kept(folder, f"{name} {peer}",
                                 lambda peer=peer, model=model: of_peer(model, peer, frame, case["label"], numbers))
        print(f"\n{name}: {len(frame)} rows, {frame['domain'].nunique()} domains, {'RMSE, lower' if numbers else 'AUROC, higher'} is better\n")
        print("| | mean | worst | difference from trees |\n| --- | --- | --- | --- |")
        base = results["trees"]
        means = {}
        for method, scores in results.items():
            both = [d for d in base if base[d] is not None and scores.get(d) is not None]
            values = np.array([scores[d] for d in both])
            off = values - np.array([base[d] for d in both])
            error = off.std(ddof=1) / np.sqrt(len(off))
            worst = values.max() if numbers else values.min()
            means[method] = values.mean() if numbers else -values.mean()
            print(f"| {method} | {values.mean():.4f} | {worst:.4f} | " + ("" if method == "trees" else f"{off.mean():+.4f} +- {error:.4f}") + " |")
        rivals = ["trees", "LightGBM", "XGBoost", "CatBoost", "HistGradientBoosting"]
        for place, method in enumerate(sorted(rivals, key=means.get), 1):
            ranks.setdefault(method, []).append(place)
    print("\n| boosting | mean rank over the sets |\n| --- | --- |")
    for method, places in sorted(ranks.items(), key=lambda r: np.mean(r[1])):
        print(f"| {method} | {np.mean(places):.2f} |")


def losses(y, p, numbers):
    p = np.asarray(p, float)
    if numbers:
        return (y - p) ** 2
    return -np.log(np.clip(p, 1e-12, 1))  # the probability of the true class


def refit(names, data, program, folder):
    """Change of the held-out domain's loss by `ecotone refit` with 10 and 20 of its labels, on its other rows, in three draws."""
    print("| | labels | mean loss before | after | cases with lower loss | domains with lower mean loss |\n| --- | --- | --- | --- | --- | --- |")
    totals = {}
    for name in names:
        case, numbers = SETS[name], SETS[name].get("numbers", False)
        frame = table(name, data, program)
        found = kept(folder, f"refit {name}", lambda: refit_set(frame, case["label"], numbers, program))
        for k, rows in found.items():
            before, after = np.array(rows).T
            root = np.sqrt if numbers else (lambda v: v)
            gains = (root(before) - root(after)).reshape(-1, DRAWS)  # by domain and draw
            of_cases, of_domains = totals.setdefault(k, ([], []))
            of_cases.extend((gains > 0).ravel())
            of_domains.extend(gains.mean(axis=1) > 0)
            print(f"| {name} ({'RMSE' if numbers else 'log loss'}) | {k} | {root(before).mean():.4f} | {root(after).mean():.4f} | "
                  f"{int((gains > 0).sum())} of {gains.size} | {int((gains.mean(axis=1) > 0).sum())} of {len(gains)} |")
    for k, lists in totals.items():
        print(f"| all | {k} | | | " + " | ".join(f"{sum(each)} of {len(each)} ({100 * np.mean(each):.0f} %)" for each in lists) + " |")


def refit_set(frame, label, numbers, program):
    flags = ["--label", label, "--domain", "domain", "--task", "regress" if numbers else "classify", "--quiet"]
    found = {"10": [], "20": []}
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run = lambda *args: subprocess.run([program, *map(str, args)], capture_output=True, text=True, check=True).stdout
        for domain in frame["domain"].unique():
            held = frame["domain"] == domain
            frame[~held].to_csv(folder / "train.csv", index=False)
            run("fit", folder / "train.csv", "trees", *flags, "-o", folder / "m.eco")
            for k in (10, 20) * DRAWS:
                own = frame[held].iloc[rng.permutation(int(held.sum()))]
                if len(own) < k + 20:
                    continue
                own[:k].to_csv(folder / "few.csv", index=False)
                own[k:].to_csv(folder / "rest.csv", index=False)
                run("refit", folder / "m.eco", folder / "few.csv", "-o", folder / "r.eco", "--quiet")
                y = own[k:][label].to_numpy()
                means = []
                for model in ("m.eco", "r.eco"):
                    answers = pd.read_csv(io.StringIO(run("predict", folder / model, folder / "rest.csv", "--quiet")))
                    p = answers["prediction"] if numbers else [answers[f"p_{c}"].iloc[i] for i, c in enumerate(y)]
                    means.append(float(losses(y, p, numbers).mean()))
                found[str(k)].append(means)
    return found


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("build")
    a.add_argument("what", nargs="?", choices=["compare", "refit"], default="compare")
    a.add_argument("--data", type=pathlib.Path, default=pathlib.Path(os.environ.get("ECOTONE_DATA", "../shared/data")))
    a.add_argument("--sets", default=",".join(SETS))
    a.add_argument("--keep", type=pathlib.Path)
    o = a.parse_args()
    if not o.data.is_dir():
        return print(f"skipped: there are no data in {o.data}; name the folder by ECOTONE_DATA")
    program = pathlib.Path(o.build) / "cli" / "ecotone"
    program = str(program if program.exists() else o.build)
    folder = o.keep or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    {"compare": compare, "refit": refit}[o.what](o.sets.split(","), o.data, program, folder)


if __name__ == "__main__":
    main()
