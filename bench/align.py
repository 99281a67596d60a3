#!/usr/bin/env python3
"""Alignment, transport and density ratios beside skada, ADAPT and POT (those that are installed; ADAPT needs TensorFlow). Usage: align.py BUILD-FOLDER [ROUNDS]

First table: 2,000 source and 2,000 target rows of 10 columns, 1 thread each, the best of ROUNDS (3) in turn, every measurement in a process of its own and there the best of three fits (one
where a fit takes a second; a peer is ended after 90 s). KMM has the same box, which frank-wolfe ignores (its largest weight is printed), entropic transport the same plan: masses right to 1e-9. Second table: 100,000 + 100,000 rows, 2 threads, ecotone alone beside one DSYRK of 200,000 x 500."""
import json
import os
import pathlib
import subprocess
import sys

SMALL, LARGE = 2_000, 100_000
PATIENCE = 90  # seconds for a peer

PROGRAM = r'''
import json, re, resource, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
name, rows, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(0)
xs = random.normal(size=(rows, 10))
xt = random.normal(size=(rows, 10)) @ (np.eye(10) + 0.2 * random.normal(size=(10, 10))) + 0.5
x, domain = np.vstack([xs, xt]), np.repeat([1, -2], rows)
y = (xs[:, 0] > 0).astype(int)
labels = np.concatenate([y, np.full(rows, -1)])
sigma = float(np.sqrt(np.median(((x[:500, None] - x[None, -500:]) ** 2).sum(-1))))
gamma = 1 / (2 * sigma**2)

def resident(what):
    return 1024 * int(re.search(what + r":\s+(\d+)", open("/proc/self/status").read())[1])

def ours(text):
    import ecotone
    model = ecotone.Pipeline(text, threads=threads)
    return lambda: model.fit(x, labels, sample_domain=domain)

def skada_adapter(adapter):
    return lambda: adapter.fit_transform(x, labels, sample_domain=domain)

def adapt_weights(kind, **options):
    import adapt.instance_based
    return lambda: (None, {"sample_weight": getattr(adapt.instance_based, kind)(Xt=xt, verbose=0, **options).fit_weights(xs, xt)})

def adapt_features():
    import adapt.feature_based
    return lambda: adapt.feature_based.CORAL(Xt=xt, verbose=0).fit_transform(xs, xt)

def make(name):
    if name == "dsyrk":
        from scipy.linalg.blas import dsyrk
        a = np.asfortranarray(random.normal(size=(500, 2 * rows)))
        return lambda: dsyrk(1.0, a)
    if name.startswith("skada"):
        import skada
        return skada_adapter({
            "skada tca": lambda: skada.TransferComponentAnalysisAdapter(n_components=30, mu=10),
            "skada kmm": lambda: skada.KMMReweightAdapter(gamma=gamma, B=10.0, tol=1e-6),
            "skada kmm scipy": lambda: skada.KMMReweightAdapter(gamma=gamma, B=10.0, tol=1e-6, solver="scipy"),
            "skada coral": lambda: skada.CORALAdapter(),
            "skada linot": lambda: skada.LinearOTMappingAdapter(),
        }[name]())
    if name.startswith("adapt"):
        return {
            "adapt coral": lambda: adapt_features(),
            "adapt kmm": lambda: adapt_weights("KMM", kernel="rbf", gamma=gamma, B=10, eps=1e-9),
            "adapt kliep": lambda: adapt_weights("KLIEP", kernel="rbf", gamma=gamma),
            "adapt rulsif": lambda: adapt_weights("RULSIF", kernel="rbf", gamma=gamma, alpha=0.1, lambdas=0.1),
        }[name]()
    if name == "POT sinkhorn_log":
        import ot
        def plan():
            cost = ot.dist(xs, xt)
            one = np.full(rows, 1 / rows)
            return ot.sinkhorn(one, one, cost, 0.05 * cost.mean(), method="sinkhorn_log", stopThr=1e-9, numItermax=5000) @ xt * rows
        return plan
    return ours({
        "tca": f"tca components=30 sigma={sigma} | constant",
        "tca exact": f"tca components=30 route=exact sigma={sigma} | constant",
        "kmm": f"weight.kmm sigma={sigma} flatten=none | constant",
        "coral": "coral | constant", "linot": "linot | constant", "entropic": "transport | constant",
        "tca rank 500": f"tca components=30 sigma={sigma} rank=500 | constant",
        "kmm rank 100": f"weight.kmm sigma={sigma} flatten=none rank=100 | constant",
        "kmm rank 500": f"weight.kmm sigma={sigma} flatten=none rank=500 | constant",
        "rulsif": "weight.rulsif | constant", "kliep": "weight.kliep | constant",
        "rulsif of one width": f"weight.rulsif sigma={sigma} | constant", "kliep of one width": f"weight.kliep sigma={sigma} flatten=none | constant",
    }[name])

work = make(name)
open("/proc/self/clear_refs", "w").write("5")
before = resident("VmRSS")
found = {"seconds": 1e99, "processor": 1e99}
for _ in range(3):
    start, used = time.perf_counter(), time.process_time()
    result = work()
    found = {"seconds": min(found["seconds"], time.perf_counter() - start), "processor": min(found["processor"], time.process_time() - used)}
    if found["seconds"] > 1:
        break
found["memory"] = resident("VmHWM") - before
found["most"] = float(result[1]["sample_weight"].max()) if "kmm" in name and not name.startswith("kmm") else 0.0
print(json.dumps(found))
'''

PAIRS = (
    ("TCA", ("tca", "tca exact"), ("skada tca",), 100),
    ("KMM", ("kmm",), ("skada kmm", "skada kmm scipy", "adapt kmm"), 20),
    ("CORAL", ("coral",), ("skada coral", "adapt coral"), 3),
    ("LinOT", ("linot",), ("skada linot",), 3),
    ("KLIEP", ("kliep of one width",), ("adapt kliep",), None),
    ("RuLSIF", ("rulsif of one width",), ("adapt rulsif",), None),
    ("entropic transport", ("entropic",), ("POT sinkhorn_log",), 5),
)
ALONE = {"dsyrk": "", "tca rank 500": "5 x dsyrk", "kmm rank 100": "20 s", "kmm rank 500": "", "rulsif": "10 s", "kliep": ""}


def measured(build, name, rows, threads, patience=None):
    """What the program prints of a measurement; None where its package is not installed, no memory where it was ended."""
    environment = {**os.environ, "PYTHONPATH": str(build / "python"), **{key: str(threads) for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}}
    try:
        done = subprocess.run([sys.executable, "-c", PROGRAM, name, str(rows), str(threads)], capture_output=True, text=True, env=environment, timeout=patience)
    except subprocess.TimeoutExpired:
        return {"seconds": patience, "processor": patience, "memory": None, "most": 0.0}
    if "ModuleNotFoundError" in done.stderr:
        return None
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def best_of(build, own, peers, rows, threads, rounds):
    """The least of all rounds, in which all take turns."""
    best = {}
    for _ in range(rounds):
        for name in own + peers:
            if name in best and best[name]["memory"] is None:
                continue  # it was ended in the round before
            found = measured(build, name, rows, threads, PATIENCE if name in peers else None)
            if found is None:
                print(f"({name} is not installed)")
                continue
            if name not in best or found["seconds"] < best[name]["seconds"]:
                best[name] = found
    return best


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    print("| 2,000 + 2,000 rows, 1 thread | seconds | processor | peer / ecotone | goal |\n| --- | --- | --- | --- | --- |")
    for what, own, peers, goal in PAIRS:
        best = best_of(build, own, peers, SMALL, 1, rounds)
        first = best[own[0]]["seconds"]
        for name, found in best.items():
            ratio = f"{found['seconds'] / first:.1f}" if name in peers else ""
            heeds = f", largest weight {found['most']:.0f}" if found["most"] else ""
            more = "more than " if found["memory"] is None else ""
            print(f"| {what}: {name}{heeds} | {more}{found['seconds']:.4f} | {found['processor']:.4f} | {more}{ratio} | {goal or '' if name in peers else ''} |", flush=True)
    print("\n| 100,000 + 100,000 rows, 2 threads | seconds | processor | memory beyond the rows | goal (memory: 1,000 MB) |\n| --- | --- | --- | --- | --- |")
    for name, goal in ALONE.items():
        found = measured(build, name, LARGE, 2)
        print(f"| {name} | {found['seconds']:.2f} | {found['processor']:.2f} | {found['memory'] / 1e6:.0f} MB | {goal} |", flush=True)


if __name__ == "__main__":
    main()
