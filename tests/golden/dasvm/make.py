#!/usr/bin/env python3
"""Writes the golden cases of dasvm by running bench/rivals/dasvm_sklearn.py with tight machines. Needs scikit-learn. Usage: make.py FOLDER-OF-RIVALS"""
import functools
import json
import pathlib
import sys

import numpy
from sklearn.svm import SVC

sys.path.insert(0, sys.argv[1])
import dasvm_sklearn as rival

CASES = {  # rows per domain, angle, C, gamma, rho, most rounds, shift of the target
    "moons20": (60, 20, 10.0, 4.0, 5, 200, 0),
    "moons30": (100, 30, 10.0, 4.0, 5, 200, 0),
    "moons50_flips": (80, 50, 3.0, 1.0, 4, 200, 0),
    "moons40_max_rounds": (80, 40, 10.0, 4.0, 4, 6, 0),
    "moons25_wide": (50, 25, 2.0, 0.5, 3, 200, 0),
    "moons0_moved": (40, 0, 10.0, 0.5, 10, 200, 2.5),
    "far_one_class": (40, 0, 10.0, 0.5, 5, 200, 30),
}


def run(xs, ys, xt, tolerance, options):
    fits = []

    class Recorded(SVC):
        def fit(self, x, y, sample_weight=None):
            costs = numpy.full(len(y), self.C) if sample_weight is None else self.C * numpy.asarray(sample_weight)
            fits.append({"rows": len(y), "positive": int((numpy.asarray(y) > 0).sum()), "cost": float(costs.sum())})
            return super().fit(x, y, sample_weight)

    rival.SVC = functools.partial(Recorded, tol=tolerance)
    machine, rounds = rival.dasvm(xs, ys, xt, **options)
    return rounds, fits, machine.decision_function(xt)


def stable(xs, ys, xt, options, reference):
    """Whether the course survives tiny moves of all rows. Free support vectors tie at |f| = 1, and the kernel of SVC is in single precision: rounding must not decide who leaves."""
    draw = numpy.random.default_rng(1)
    for _ in range(8):
        near = [x + 1e-6 * draw.normal(size=x.shape) for x in (xs, xt)]
        rounds, fits, scores = run(near[0], ys, near[1], 1e-11, options)
        if rounds != reference[0] or [f["rows"] for f in fits] != [f["rows"] for f in reference[1]] or not numpy.allclose(scores, reference[2], atol=1e-4):
            return False
    return True


def circular_accuracy(xs, ys, xt, labels, options):
    """The part of source rows that get their labels again from the target with the labels that it got; None where rounding decides the way back."""
    if len(set(labels)) < 2:
        return float((ys == labels[0]).mean())
    found = run(xt, labels, xs, 1e-11, options)
    if not stable(xt, labels, xs, options, found):
        return None
    return float((numpy.where(found[2] > 0, 1.0, -1.0) == ys).mean())


def main():
    for name, (rows, angle, cost, gamma, rho, most, shift) in CASES.items():
        options = {"C": cost, "gamma": gamma, "rho": rho, "max_iter": most}
        for seed in range(1000):
            draw = numpy.random.default_rng(seed)
            (xs, ys), (xt, yt) = rival.moons(rows, draw), rival.moons(rows, draw, angle)
            xt = xt + shift
            rounds, fits, scores = found = run(xs, ys, xt, 1e-11, options)
            if stable(xs, ys, xt, options, found):
                break
        else:
            raise SystemExit(f"{name}: no stable case")
        case = {"seed": seed, "C": cost, "gamma": gamma, "rho": rho, "max_rounds": most, "xs": xs.tolist(), "ys": ys.tolist(), "xt": xt.tolist(), "rounds": rounds, "fits": fits,
                "labels": numpy.where(scores > 0, 1, -1).tolist(), "scores": scores.tolist()}
        case["circular_accuracy"] = circular_accuracy(xs, ys, xt, numpy.where(scores > 0, 1.0, -1.0), options)
        print(name, "seed", seed, "rounds", rounds, "error", ((scores > 0) != (yt > 0)).mean(), "circular accuracy", case["circular_accuracy"])
        (pathlib.Path(__file__).parent / f"{name}.json").write_text(json.dumps(case) + "\n")


if __name__ == "__main__":
    main()
