"""The program for Ray in docs/sums.md, as it stands there."""
import pathlib
import re
import textwrap

import numpy as np
import pandas as pd
import pytest

import ecotone

ray = pytest.importorskip("ray")


def program():
    text = (pathlib.Path(__file__).parents[2] / "docs" / "sums.md").read_text()
    return textwrap.dedent(re.search(r"\nRay:\n\n((?:    .*\n|\n)+)", text)[1])


def test_the_program_of_the_guide():
    X, y, domain = ecotone.generate("exchangeable", domains=4, rows=100)
    frame = pd.DataFrame(np.asarray(X), columns=["a", "b", "c", "d"]).assign(y=y, site=domain)
    try:
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    except Exception as error:
        pytest.skip(f"Ray cannot start here: {error}")
    try:
        names = {"frames": [frame.iloc[s::3] for s in range(3)]}
        exec(program(), names)
    finally:
        ray.shutdown()
    X = frame[["a", "b", "c", "d"]]
    alone = ecotone.Pipeline("scale | ridge").fit(X, frame["y"], sample_domain=frame["site"])
    assert (names["model"].predict(X) == alone.predict(X)).mean() > 0.98
    assert len(program().splitlines()) < 40
