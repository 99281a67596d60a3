"""Writes cases.json: Gaussian processes by scikit-learn on y less its average (build/venv/bin/python make.py)."""

import json
import pathlib

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Exponentiation, Matern, WhiteKernel


def case(name, kernel, sklearn_kernel, x, y, z, amplitude, noise, slopes):
    """`slopes` names the parameters in the order of scikit-learn's gradient; others are fixed."""
    average = y.mean(axis=0)
    covariance = ConstantKernel(amplitude) * sklearn_kernel + WhiteKernel(noise)
    gp = GaussianProcessRegressor(covariance, alpha=0, optimizer=None, normalize_y=False).fit(x, y - average)
    value, gradient = gp.log_marginal_likelihood(gp.kernel_.theta, eval_gradient=True)
    mean, deviation = gp.predict(z, return_std=True)
    # The white kernel counts the noise of new observations.
    variance = np.reshape(deviation, (len(z), -1))[:, 0] ** 2 - noise
    return {
        "name": name, "kernel": kernel, "amplitude": amplitude, "noise": noise,
        "x": x.tolist(), "y": y.tolist(), "z": z.tolist(),
        "mean": (np.reshape(mean, (len(z), -1)) + average).tolist(), "variance": variance.tolist(),
        "log_likelihood": float(value), "slopes": dict(zip(slopes, gradient.tolist())),
    }


def best(x, y):
    """The largest likelihood of many starts."""
    kernel = ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(0.1)
    gp = GaussianProcessRegressor(kernel, alpha=0, n_restarts_optimizer=20, random_state=0)
    return float(gp.fit(x, y - y.mean(axis=0)).log_marginal_likelihood_value_)


def main():
    random = np.random.default_rng(7)
    cases = []
    x = random.normal(size=(30, 2))
    y = (np.sin(2 * x[:, :1]) + 0.3 * x[:, 1:] + 0.2 * random.normal(size=(30, 1))) + 5
    z = random.normal(size=(6, 2))
    cases.append(case("rbf", {"kind": "rbf", "sigma": 0.8}, RBF(0.8), x, y, z, 1.7, 0.05,
                      ["amplitude", "sigma", "noise"]))
    cases[-1]["best_log_likelihood"] = best(x, y)
    x = random.uniform(-3, 3, size=(25, 1))
    y = np.abs(x) + 0.1 * random.normal(size=(25, 1))
    z = random.uniform(-4, 4, size=(5, 1))
    cases.append(case("laplacian", {"kind": "laplacian", "sigma": 1.4}, Matern(1.4, nu=0.5), x, y, z, 0.9, 0.02,
                      ["amplitude", "sigma", "noise"]))
    x = random.normal(size=(20, 3))
    y = np.column_stack([x[:, 0] * x[:, 1], x[:, 2] ** 2 - 3]) + 0.1 * random.normal(size=(20, 2))
    z = random.normal(size=(4, 3))
    dot = Exponentiation(DotProduct(np.sqrt(0.5), sigma_0_bounds="fixed"), 2)
    cases.append(case("poly", {"kind": "poly", "degree": 2, "coef0": 0.5}, dot, x, y, z, 0.4, 0.3,
                      ["amplitude", "noise"]))
    path = pathlib.Path(__file__).with_name("cases.json")
    path.write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
