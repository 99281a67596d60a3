#!/usr/bin/env python3
"""What other packages answer on a small table, for tests/cli/test_align_agreement.py: POT 0.9.7, skada 0.6.0, densratio 0.4.0, ivmodels 0.10.0. Usage: align_agreement.py [OUTPUT]

Writes tests/golden/align_peers.json: the rows, and what each package makes of them where its definition is ours. Needs `pip install POT skada densratio ivmodels`; the test needs none of them. ADAPT, which
needs TensorFlow, is not run."""
import json
import pathlib
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
GAMMA, SIGMA, LAM, ALPHA, MOST, REG = 3.0, 1.5, 0.1, 0.1, 5.0, 0.1


def table():
    """Two sources and a target of as many rows, so that divisors do not matter, in three columns; a class and a number as labels."""
    random = np.random.default_rng(26)
    parts, names = [], []
    for name, rows, shift in (("a", 35, 0.0), ("b", 35, 0.6), ("t", 35, 1.0)):
        mix = np.eye(3) + 0.3 * random.normal(size=(3, 3))
        parts.append(random.normal(size=(rows, 3)) @ mix + shift)
        names += [name] * rows
    x = np.round(np.vstack(parts), 6)
    noise = random.normal(size=len(x))
    return x, np.array(names), (x[:, 0] + noise > 0.3).astype(int), np.round(x @ [1.0, -0.5, 0.2] + 0.3 * noise, 6)


def moments(x):
    return x.mean(0), np.cov(x.T)


def linear_maps(x, domain):
    """The Gaussian optimal map of source a to the target, and the mean and covariance of the barycentre of a and b."""
    import ot

    (ma, ca), (mb, cb), (mt, ct) = (moments(x[domain == name]) for name in "abt")
    a, b = ot.gaussian.bures_wasserstein_mapping(ma, mt, ca, ct)
    mean, covariance = ot.gaussian.bures_wasserstein_barycenter(np.stack([ma, mb]), np.stack([ca, cb]), eps=1e-14, num_iter=1000)[:2]
    return {"linot": (x[domain == "a"] @ a + b).tolist(), "barycentre_mean": np.ravel(mean).tolist(), "barycentre_covariance": covariance.tolist()}


def coral(x, domain):
    """skada takes rows as centred; its reg=0 is no shrinkage."""
    from skada import CORALAdapter

    sources, target = x[domain == "a"], x[domain == "t"]
    both = np.vstack([sources - sources.mean(0), target - target.mean(0)])
    roles = np.repeat([1, -2], [len(sources), len(target)])
    moved = CORALAdapter(reg=0.0, assume_centered=True).fit_transform(both, sample_domain=roles)
    moved = moved[0] if isinstance(moved, tuple) else moved
    return {"coral": (np.asarray(moved)[: len(sources)] + target.mean(0)).tolist()}


def transport(x, domain):
    """Costs of the exact and of the entropic plan from a to the target."""
    import ot

    sources, target = x[domain == "a"], x[domain == "t"]
    a, b = np.full(len(sources), 1 / len(sources)), np.full(len(target), 1 / len(target))
    cost = ot.dist(sources, target)
    plan = ot.sinkhorn(a, b, cost, REG * cost.mean(), method="sinkhorn_log", stopThr=1e-13, numItermax=100_000)
    return {"exact_cost": float(ot.emd2(a, b, cost)), "entropic_cost": float((plan * cost).sum())}


def weights(x, domain):
    """Effective sample sizes of RuLSIF's ratios, with a bump at every target row, and the objective of KMM."""
    from densratio import densratio
    from skada import KMMReweightAdapter
    from sklearn.metrics.pairwise import rbf_kernel

    sources, target = x[domain == "a"], x[domain == "t"]
    fit = densratio(target, sources, method="RuLSIF", alpha=ALPHA, sigma_range=[SIGMA], lambda_range=[LAM], kernel_num=len(target), verbose=False)
    gamma = 1 / (2 * SIGMA**2)
    ratio = rbf_kernel(sources, np.asarray(fit.kernel_info.centers), gamma=gamma) @ np.ravel(fit.theta)
    adapter = KMMReweightAdapter(gamma=gamma, B=MOST, eps=0.0, tol=1e-12, max_iter=100_000, solver="scipy")
    _, more = adapter.fit_transform(np.vstack([sources, target]), sample_domain=np.repeat([1, -2], [len(sources), len(target)]))
    found = more["sample_weight"][: len(sources)]
    kappa = rbf_kernel(sources, target, gamma=gamma).mean(1) * len(sources)
    objective = 0.5 * found @ rbf_kernel(sources, gamma=gamma) @ found - kappa @ found
    return {"rulsif_ess": float(ratio.sum() ** 2 / (ratio**2).sum()), "kmm_objective": float(objective)}


def anchor(x, domain, number):
    """Predictions of anchor regression with a dummy for all domains but one."""
    from ivmodels.models import AnchorRegression

    dummies = np.stack([domain == name for name in "ab"], axis=1).astype(float)
    model = AnchorRegression(gamma=GAMMA).fit(x, number, Z=dummies)
    return {"anchor": np.ravel(model.predict(x)).tolist()}


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    output = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "tests" / "golden" / "align_peers.json"
    x, domain, label, number = table()
    document = {
        "rows": x.tolist(), "domain": domain.tolist(), "label": label.tolist(), "number": number.tolist(),
        "gamma": GAMMA, "sigma": SIGMA, "lam": LAM, "alpha": ALPHA, "most": MOST, "reg": REG,
        **linear_maps(x, domain), **coral(x, domain), **transport(x, domain), **weights(x, domain), **anchor(x, domain, number),
    }
    output.write_text(json.dumps(document) + "\n")
    print(f"wrote {output}")


if __name__ == "__main__":
    main()
