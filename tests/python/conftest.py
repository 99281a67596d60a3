import warnings

import numpy as np
import pytest

import ecotone


@pytest.fixture(autouse=True)
def quiet():
    """Warnings of fits on a handful of rows are not what these tests are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ecotone.EcotoneWarning)
        warnings.filterwarnings("ignore", category=UserWarning, module="sklearn")
        yield


@pytest.fixture(scope="session")
def clinics():
    return ecotone.generate("clinics", size=0.1, seed=1)


@pytest.fixture
def rows():
    """Three sources and a target, 60 rows each; the first column decides."""
    random = np.random.default_rng(0)
    X = random.normal(size=(240, 4))
    domain = np.repeat([0, 1, 2, -1], 60)
    y = (X[:, 0] + 0.3 * random.normal(size=240) > 0).astype(int)
    return X, y, domain
