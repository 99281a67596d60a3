"""End-to-end tests of the program `ecotone`: ECOTONE_PROGRAM names it, ECOTONE_DATA the folder of shared data sets."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than a few seconds")


def wait_until_ready_to_stop(process):
    """Returns when the process catches SIGINT itself, however busy the machine is."""
    while process.poll() is None:
        caught = re.search(r"SigCgt:\s*([0-9a-f]+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())
        if caught and int(caught[1], 16) >> (signal.SIGINT - 1) & 1:
            return
        time.sleep(0.01)


class Program:
    """Runs the program; each call gives the finished process with text streams."""

    def __init__(self, path):
        self.path = str(path)

    def __call__(self, *args, exit=0, cwd=None, **more):
        done = subprocess.run(
            [self.path, *map(str, args)], capture_output=True, text=True, cwd=cwd, timeout=300, **more
        )
        assert exit in (None, done.returncode), f"exit {done.returncode}, wanted {exit}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *args, **more):
        """The one JSON document that a verb prints."""
        return json.loads(self(*args, "--json", **more).stdout)

    def results(self, *args, **more):
        """The same without where it comes from: equal for equal results, however they were asked for."""
        document = self.json(*args, **more)
        document.pop("provenance")
        return document

    def error(self, *args, exit, code, **more):
        """The message of an error: the exit code and the error's code are checked, and that text and JSON say the same."""
        done = self(*args, "--json", exit=exit, **more)
        error = json.loads(done.stdout)["error"]
        assert error["code"] == code, error
        assert "error: " in done.stderr
        plain = self(*args, exit=exit, **more)
        assert plain.stdout == "", plain.stdout
        # Memory that is available changes from run to run.
        steady = lambda text: re.sub(r"[0-9.]+ GB is available", "GB", text)
        assert steady(error["message"].splitlines()[0]) in steady(plain.stderr)
        return error["message"]


@pytest.fixture(scope="session")
def ecotone():
    path = os.environ.get("ECOTONE_PROGRAM")
    if not path:
        pytest.exit("ECOTONE_PROGRAM must name the program to test", returncode=2)
    return Program(pathlib.Path(path).resolve())


@pytest.fixture(scope="session")
def data_folder():
    folder = pathlib.Path(os.environ.get("ECOTONE_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no shared data sets at {folder} (ECOTONE_DATA)")
    return folder


@pytest.fixture(scope="session")
def clinics(ecotone, tmp_path_factory):
    """The demo data: hospitals, missing values, a text column."""
    path = tmp_path_factory.mktemp("clinics") / "clinics.csv"
    ecotone("generate", "clinics", "-o", path)
    return path


CLINIC_COLUMNS = ("--label", "disease", "--domain", "hospital")
PIPELINE = "impute | scale | logistic l2=0.01"


@pytest.fixture(scope="session")
def model(ecotone, clinics, tmp_path_factory):
    """A model of the clinics."""
    path = tmp_path_factory.mktemp("model") / "model.eco"
    ecotone("fit", clinics, PIPELINE, *CLINIC_COLUMNS, "-o", path)
    return path


@pytest.fixture
def small(tmp_path):
    """A tiny table that everything works on: three domains, two numbers, a text column, a label."""
    path = tmp_path / "small.csv"
    lines = ["site,x1,x2,colour,y"]
    for i in range(60):
        site, colour = "abc"[i % 3], ("red", "green", "blue")[(i // 4) % 3]
        label = "yes" if (i * 37 % 11) + (i * i * 29 % 13) > 11 else "no"
        lines.append(f"{site},{i * 37 % 11},{(i * 53 % 17) / 4},{colour},{label}")
    path.write_text("\n".join(lines) + "\n")
    return path


SMALL_COLUMNS = ("--label", "y", "--domain", "site")
