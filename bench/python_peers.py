#!/usr/bin/env python3
"""The Python package beside SKADA, ADAPT and scikit-learn, one thread each. Usage: python_peers.py BUILD-FOLDER [METHOD...]

Half of the rows are source, half target. For every method, size and peer a process of its own lets ecotone and the peer take turns; the best round
counts. Times are processor times, so that other work on the computer matters little. A fit that needs more than 120 s or 16 GB is given up. Then the
time that `predict` of a single row takes."""
import math
import multiprocessing
import os
import pathlib
import resource
import signal
import sys
import timeit
import warnings

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"):
    os.environ[name] = "1"
# SKADA's optimal transport would load the TensorFlow that ADAPT needs.
os.environ |= {"POT_BACKEND_DISABLE_TENSORFLOW": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
sys.path.insert(0, str(pathlib.Path(sys.argv[1]).resolve() / "python"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "rivals"))

import numpy as np  # noqa: E402

import ecotone  # noqa: E402

SIZES = (500, 2_000, 20_000)
ROUNDS, ENOUGH_SECONDS, LIMIT_SECONDS, LIMIT_BYTES = 20, 20, 120, 16 << 30
RUNS = 1_000  # of one prediction
GIVEN_UP = "given up"
K = 15  # neighbours


def shifted(rows):
    """Ten normal columns; the target lies half a standard deviation away in three of them and is a tenth wider."""
    x = np.random.default_rng(0).standard_normal((rows, 10))
    x[rows // 2:] = 1.1 * x[rows // 2:] + 0.5 * (np.arange(10) < 3)
    return x, np.where(np.arange(rows) < rows // 2, 1, -2)


def apart(ours, theirs):
    """The largest relative difference of weights of mean 1."""
    largest = np.abs(theirs / theirs.mean() / (ours / ours.mean()) - 1).max()
    assert largest < 0.01, largest
    return f"weights differ by {largest:.0e}"


def ranks(ours, theirs):
    from scipy.stats import spearmanr

    return f"another definition, rank correlation {spearmanr(ours, theirs)[0]:.2f}"


def weights_of(estimator, x, domain):
    return estimator.set_params(flatten="none", threads=1).fit(x, sample_domain=domain).sample_weight_


def skada_weights(adapter, x, domain):
    return adapter.fit_transform(x, sample_domain=domain)[1]["sample_weight"][domain > 0]


# For each method: ecotone's fit, the peer's, and what to say about their answers.


def discriminator(rows, peer):
    from sklearn.linear_model import LogisticRegression

    x, domain = shifted(rows)
    ours = lambda: weights_of(ecotone.WeightLogistic(l2=1e-3), x, domain)
    classifier = LogisticRegression(C=1 / (2e-3 * rows))  # the same penalty
    if peer == "SKADA":
        from skada import DiscriminatorReweightAdapter

        # Its weights are P(source) / P(target), the inverse of what they should be.
        return ours, lambda: skada_weights(DiscriminatorReweightAdapter(classifier), x, domain), lambda a, b: apart(a, 1 / b) + " after 1 / w"
    from adapt.instance_based import IWC

    return ours, lambda: IWC(classifier=classifier, verbose=0).fit_weights(x[domain > 0], x[domain < 0]), apart


def neighbours(rows, peer):
    x, domain = shifted(rows)
    ours = lambda: weights_of(ecotone.WeightKnn(k=K), x, domain)
    if peer == "SKADA":
        from skada import NearestNeighborReweightAdapter

        return ours, lambda: skada_weights(NearestNeighborReweightAdapter(), x, domain), ranks
    if peer == "ADAPT":
        from adapt.instance_based import NearestNeighborsWeighting

        return ours, lambda: NearestNeighborsWeighting(n_neighbors=K, verbose=0).fit_weights(x[domain > 0], x[domain < 0]), ranks
    from sklearn.neighbors import NearestNeighbors

    def by_definition():
        near = NearestNeighbors(n_neighbors=K + 1).fit(x).kneighbors(x[domain > 0], return_distance=False)[:, 1:]
        sources = (near < rows // 2).sum(axis=1)
        return (K - sources + 0.5) / (sources + 0.5)

    return ours, by_definition, apart


def gaussian(rows, peer):
    from skada import GaussianReweightAdapter

    x, domain = shifted(rows)
    half = rows // 2
    ours = lambda: weights_of(ecotone.WeightGaussian(shrink=0), x, domain)
    # Its covariances are sums divided by n, ours by n - 1: the logarithms of the weights differ by that factor.
    return ours, lambda: skada_weights(GaussianReweightAdapter(reg=None), x, domain), lambda a, b: apart(a, b ** (1 - 1 / half))


def dasvm(rows, peer):
    from dasvm_sklearn import moons
    from skada import DASVMClassifier
    from sklearn.svm import SVC

    draw, half = np.random.default_rng(0), rows // 2
    (xs, ys), (xt, yt) = moons(half, draw), moons(half, draw, 20.0)
    x, y, domain = np.r_[xs, xt], np.r_[np.where(ys > 0, 1, 0), np.full(half, -1)], np.r_[np.full(half, 1), np.full(half, -2)]
    ours = lambda: ecotone.DASVM(C=10, sigma=8**-0.5, rho=10, circular=False, threads=1).fit(x, y, sample_domain=domain).predict(xt)
    theirs = lambda: DASVMClassifier(SVC(C=10, gamma=4), k=10).fit(x, y, sample_domain=domain).predict(xt)
    errors = lambda a, b: "another schedule, target errors " + " and ".join(f"{np.mean(labels != (yt > 0)):.1%}" for labels in (a, b))
    return ours, theirs, errors


def kpca(rows, peer):
    from sklearn.decomposition import KernelPCA

    x = np.random.default_rng(0).standard_normal((rows, 10)) * np.linspace(1, 3, 10)

    def same_up_to_sign(ours, theirs):
        a, b = ours / np.linalg.norm(ours, axis=0), theirs / np.linalg.norm(theirs, axis=0)
        largest = np.abs(a * np.sign((a * b).sum(axis=0)) - b).max() / np.abs(b).max()
        assert largest < 1e-6, largest
        return f"columns differ by {largest:.0e}"

    ours = lambda: ecotone.KPCA(components=5, sigma=5, route="matvec", threads=1).fit_transform(x)
    return ours, lambda: KernelPCA(5, kernel="rbf", gamma=1 / 50).fit_transform(x), same_up_to_sign


METHODS = {
    "weight.logistic": (discriminator, "SKADA", "ADAPT"),
    "weight.knn": (neighbours, "SKADA", "ADAPT", "scikit-learn"),
    "weight.gaussian": (gaussian, "SKADA"),
    "dasvm": (dasvm, "SKADA"),
    "kpca": (kpca, "scikit-learn"),
}


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)  # time.process_time counts in ticks where the processor time is limited
    return usage.ru_utime + usage.ru_stime


def timed(fit):
    """The answer of a fit and its processor time. One that takes too long ends the process."""
    start = processor_seconds()
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(start + LIMIT_SECONDS), resource.RLIM_INFINITY))
    return fit(), processor_seconds() - start


def take_turns(pipe, method, rows, peer):
    """Sends who needed how many seconds, fit by fit, and in the end what is to be said about the answers."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    *fits, compare = METHODS[method][0](rows, peer)
    begin = processor_seconds()
    answers = [None, None]
    try:
        for _ in range(ROUNDS):
            for who, fit in enumerate(fits):
                answers[who], seconds = timed(fit)
                pipe.send((who, seconds))
            if processor_seconds() - begin > ENOUGH_SECONDS:
                break
        pipe.send((None, compare(*answers)))
    except MemoryError:
        pipe.send((None, f"more than {LIMIT_BYTES >> 30} GB"))


def race(method, rows, peer):
    """The least seconds of ecotone and of the peer, infinite for one that did not end, and what is to be said about the answers."""
    processes = multiprocessing.get_context("spawn")
    reader, writer = processes.Pipe(duplex=False)
    child = processes.Process(target=take_turns, args=(writer, method, rows, peer))
    child.start()
    writer.close()
    best, said = [math.inf, math.inf], None
    while said is None:
        try:
            who, value = reader.recv()
        except EOFError:
            child.join()
            who, value = None, GIVEN_UP if child.exitcode == -signal.SIGXCPU else "failed"
        if who is None:
            said = value
        else:
            best[who] = min(best[who], value)
    child.join()
    return *best, said


def digits(value):
    return f"{value:.1f}" if 0.95 < value < 9.95 else f"{value:.2g}" if value < 1 else f"{value:,.0f}"


def duration(seconds):
    if seconds == math.inf:
        return "-"
    return f"{digits(seconds)} s" if seconds > 1 else f"{digits(1e3 * seconds)} ms"


def row(method, rows, peer):
    ours, theirs, said = race(method, rows, peer)
    if theirs < math.inf:
        measured, ratio = duration(theirs), digits(theirs / ours)
    elif said == GIVEN_UP and ours < math.inf:
        measured, ratio = f"> {LIMIT_SECONDS} s", f"> {digits(LIMIT_SECONDS / ours)}"
    else:
        measured = ratio = "-"
    return f"| `{method}` | {rows:,} | {duration(ours)} | {peer} | {measured} | {ratio} | {said} |"


def single_rows():
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    x, _ = shifted(2_000)
    y = x[:, 0] + x[:, 1] ** 2 > 1
    print("| `predict` of one row | ecotone | scikit-learn |\n| --- | --- | --- |")
    for text, peer in (("scale | logistic", LogisticRegression()), ("scale | svm", SVC())):
        models = [ecotone.Pipeline(text).fit(x, y), make_pipeline(StandardScaler(), peer).fit(x, y)]
        best = [min(timeit.repeat(lambda: model.predict(x[:1]), timer=processor_seconds, number=RUNS, repeat=ROUNDS)) / RUNS for model in models]
        print("| `{}` | {:.0f} us | {:.0f} us |".format(text.replace("|", "\\|"), *(1e6 * value for value in best)), flush=True)


def main():
    print("| method | rows | ecotone | peer | | times as fast | answers |\n| --- | --- | --- | --- | --- | --- | --- |")
    for method in sys.argv[2:] or METHODS:
        for rows in SIZES:
            for peer in METHODS[method][1:]:
                print(row(method, rows, peer), flush=True)
    print()
    single_rows()


if __name__ == "__main__":
    main()
