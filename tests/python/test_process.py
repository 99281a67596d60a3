"""What the process around a call sees: threads, forks, Ctrl-C, memory, time, bars."""
import multiprocessing
import os
import subprocess
import sys
import threading
import time

import numpy as np
from joblib import Parallel, delayed

import ecotone


def test_many_threads_ask_one_model(rows):
    X, y, domain = rows
    model = ecotone.Pipeline("scale | svm").fit(X, y, sample_domain=domain)
    big = np.tile(X, (50, 1))
    expected = model.predict_proba(big)
    wrong = []

    def ask():
        for _ in range(5):
            if not (model.predict_proba(big) == expected).all() or not (model.predict_proba(X[:1]) == expected[:1]).all():
                wrong.append(1)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def fitted_in_child(seed):
    X = np.random.default_rng(seed).normal(size=(300, 5))
    return ecotone.Pipeline("scale | logistic l2=0.1").fit(X, X[:, 0] > 0).model_.bytes()


def test_children_fit_and_predict():
    expected = [fitted_in_child(seed) for seed in range(3)]  # so that the parent has used its threads before it forks
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(fitted_in_child, range(3)) == expected
    assert Parallel(n_jobs=2)(delayed(fitted_in_child)(seed) for seed in range(3)) == expected


def test_other_threads_run_during_a_fit():
    X = np.random.default_rng(0).normal(size=(400, 10))
    count = 0
    done = threading.Event()

    def work():
        ecotone.GP(threads=1).fit(X, X[:, 0])
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.wait(0.001):
        count += 1
    thread.join()
    assert count > 10


PROGRAM = """
import threading, time, os, signal
import numpy as np, ecotone
X = np.random.default_rng(0).normal(size=(6000, 30))
y = X[:, 0] + np.random.default_rng(1).normal(size=6000)
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begin = time.monotonic()
try:
    ecotone.GP().fit(X, y)
    print("finished")
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - begin)
"""


def test_ctrl_c_stops_a_fit():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, timeout=300)
    assert done.stdout.startswith("interrupted"), done.stdout + done.stderr
    # One second to the signal and one for the fit to stop; the rest is for a busy machine.
    assert float(done.stdout.split()[1]) < 15


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_thousand_fits_leave_no_memory_behind(rows):
    X, y, domain = rows
    model = ecotone.Pipeline("scale | logistic l2=0.1", threads=1)
    for _ in range(200):
        model.fit(X, y, sample_domain=domain).predict(X)
    before = resident()
    for _ in range(1000):
        model.fit(X, y, sample_domain=domain).predict(X)
    assert resident() - before < 4e6


def test_arrays_are_not_copied():
    X = np.random.default_rng(0).normal(size=(400_000, 20))  # 64 MB
    before = resident()
    data = ecotone._native.Data.dense(X)
    assert resident() - before < 8e6
    assert data.rows == 400_000


def test_bars_appear_where_tqdm_is_installed(monkeypatch):
    import tqdm.auto

    seen = []

    class Bar:
        def __init__(self, total, **arguments):
            self.total, self.n, self.desc = total, 0, ""
            assert arguments["delay"] == 1

        def update(self, count):
            self.n += count
            seen.append((self.desc, self.n, self.total))

        def close(self):
            seen.append("closed")

    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    ecotone.evaluate(*ecotone.generate("clinics", size=0.1), pipelines=["impute | scale | logistic"])
    steps = [step for step in seen if step != "closed"]
    assert seen[-1] == "closed" and {name for name, done, total in steps if done == total} >= {"evaluate", "next domain"}
