#!/usr/bin/env python3
"""Makes symmetric.json and forest.json beside it: trees of other shapes by a plain implementation, from sums of doubles.

    python make_shapes.py

Every split is found by trying all thresholds between neighbouring values of every column, with missing values on either
side, and rows are divided by masks; nothing is binned, and nothing is shared with ecotone. The data have few distinct
values, so that ecotone's bins are these values. `gap` is the least relative distance of a chosen sum of gains from the
next different one.
"""
import json
import pathlib

import numpy as np

LAM, RATE, MIN_ROWS, MIN_HESSIAN = 1.0, 0.3, 5, 1e-3


def table(rows, seed):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(rows, 4)), 1)
    score = x[:, 0] - x[:, 1] * x[:, 2]
    y = (rng.random(rows) < 1 / (1 + np.exp(-2 * score))).astype(float)
    x[rng.random((rows, 4)) < 0.05] = np.nan
    return x, y, score


def candidates(x):
    """(column, threshold, missing_left, mask of the left) in ecotone's order; ascending thresholds between values."""
    for j in range(x.shape[1]):
        missing = np.isnan(x[:, j])
        values = np.unique(x[~missing, j])
        cuts = [(a + b) / 2 for a, b in zip(values[:-1], values[1:])]
        for missing_left in (False, True):
            if missing_left and not missing.any():
                continue
            ends = cuts + ([np.inf] if missing.any() and not missing_left else [])
            for cut in ends:
                yield j, cut, missing_left, np.where(missing, missing_left, x[:, j] <= cut)


def gain(g, h, left, inside, lam, min_rows, min_hessian):
    parts = [inside & left, inside & ~left]
    if any(p.sum() < min_rows or h[p].sum() < min_hessian for p in parts):
        return None
    term = lambda p, l: g[p].sum() ** 2 / (h[p].sum() + l)
    return 0.5 * (term(parts[0], lam) + term(parts[1], lam) - term(inside, lam))


def distance(scores):
    different = sorted({round(s, 12) for s in scores}, reverse=True)
    return (different[0] - different[1]) / different[0] if len(different) > 1 else 1.0


def symmetric_tree(x, g, h, levels):
    leaves, nodes, parents, gap = [np.ones(len(x), bool)], [], [None], 1.0
    for _ in range(levels):
        scored = []
        for j, cut, missing_left, left in candidates(x):
            gains = [gain(g, h, left, inside, LAM, MIN_ROWS, MIN_HESSIAN) for inside in leaves]
            if any(v is not None for v in gains):
                scored.append((sum(v for v in gains if v is not None), j, cut, missing_left, left, gains))
        best = max(scored, key=lambda s: s[0])
        if best[0] <= 0:
            break
        gap = min(gap, distance([s[0] for s in scored]))
        total, j, cut, missing_left, left, gains = best
        no_missing = not np.isnan(x[:, j]).any()
        if no_missing:
            missing_left = bool(h[left].sum() >= h[~left].sum())
        for l in range(len(gains)):
            if gains[l] is None:
                continue
            inside, number = leaves[l], len(nodes)
            nodes.append({"feature": j, "threshold": cut if np.isfinite(cut) else "inf", "missing_left": bool(missing_left),
                          "gain": gains[l], "score": total, "left": -l - 1, "right": -len(leaves) - 1})
            if parents[l] is not None:
                nodes[parents[l][0]][parents[l][1]] = number
            leaves[l] = inside & left
            leaves.append(inside & ~left)
            parents[l] = (number, "left")
            parents.append((number, "right"))
    return nodes, leaves, gap


def symmetric():
    x, y, _ = table(120, 5)
    p = y.mean()
    f = np.full(len(y), np.log(p / (1 - p)))
    trees, gap = [], 1.0
    for _ in range(3):
        q = 1 / (1 + np.exp(-f))
        g, h = q - y, q * (1 - q)
        nodes, leaves, own = symmetric_tree(x, g, h, 3)
        gap = min(gap, own)
        value = [-RATE * g[leaf].sum() / (h[leaf].sum() + LAM) for leaf in leaves]
        for leaf, v in zip(leaves, value):
            f = f + v * leaf
        trees.append({"nodes": nodes, "value": value})
    return {"rate": RATE, "lam": LAM, "min_rows": MIN_ROWS, "min_hessian": MIN_HESSIAN, "levels": 3, "gap": gap,
            "X": rows_of(x), "y": y.tolist(), "trees": trees, "scores": f.tolist()}


def full_tree(x, y, min_rows, nodes, values, inside):
    """Depth first, the left side first; returns the place of what was grown."""
    g, h = y[inside].mean() - y, np.ones(len(y))
    scored = []
    for j, cut, missing_left, left in candidates_in(x, inside):
        v = gain(g, h, left, inside, 0.0, min_rows, 0.0)
        if v is not None and v > 1e-12:
            scored.append((v, j, cut, missing_left, left))
    if not scored:
        values.append(y[inside].mean())
        return -len(values)
    best = max(scored, key=lambda s: s[0])
    v, j, cut, missing_left, left = best
    number = len(nodes)
    nodes.append({"feature": j, "threshold": cut if np.isfinite(cut) else "inf", "gain": v})
    nodes[number]["left"] = full_tree(x, y, min_rows, nodes, values, inside & left)
    nodes[number]["right"] = full_tree(x, y, min_rows, nodes, values, inside & ~left)
    return number


def candidates_in(x, inside):
    """As `candidates`, with thresholds half-way between neighbours of the whole table but only where the rows differ."""
    for j, cut, missing_left, left in candidates(x):
        if missing_left and not np.isnan(x[inside, j]).any():
            continue
        if (inside & left).any() and (inside & ~left).any():
            yield j, cut, missing_left, left


def forest():
    x, _, score = table(60, 11)
    rng = np.random.default_rng(3)
    y = np.round(score + 0.3 * rng.normal(size=len(score)), 3)
    nodes, values = [], []
    full_tree(x, y, 5, nodes, values, np.ones(len(y), bool))
    return {"min_rows": 5, "X": rows_of(x), "y": y.tolist(), "nodes": nodes, "value": values}


def rows_of(x):
    return [["nan" if np.isnan(v) else v for v in row] for row in x.tolist()]


def main():
    folder = pathlib.Path(__file__).parent
    for name, case in (("symmetric", symmetric()), ("forest", forest())):
        (folder / f"{name}.json").write_text(json.dumps(case) + "\n")
        print(name, case.get("gap"), len(case.get("nodes", case.get("trees"))))


if __name__ == "__main__":
    main()
