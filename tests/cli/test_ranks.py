"""Several processes on one computation: ranks that MPI starts."""

import os
import pathlib
import shutil
import signal
import subprocess
import time
import types

import pytest
from conftest import wait_until_ready_to_stop

COLUMNS = ["--label", "label", "--domain", "domain"]
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_plm_rsh_agent": "",
    "PMIX_MCA_gds": "hash",
}

def why_no_ranks():
    """Why the launcher cannot start anything: there is none, or the system lets it not; None: it can."""
    if shutil.which("mpirun") is None:
        return "there is no mpirun"
    tried = subprocess.run(["mpirun", "-n", "2", "true"], capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
    return None if tried.returncode == 0 else f"mpirun cannot start two processes: {tried.stderr[-500:]}"


def without_ranks(why, environment):
    """Skips the tests of ranks; in continuous integration, which must run them, fails."""
    if environment.get("CI") == "true":
        pytest.fail(f"{why}, and CI=true: install the packages of packages.txt")
    pytest.skip(why)


@pytest.fixture(scope="module", autouse=True)
def launcher():
    why = why_no_ranks()
    if why is not None:
        without_ranks(why, os.environ)


def test_integration_does_not_skip_these_tests():
    with pytest.raises(pytest.fail.Exception, match="there is no mpirun"):
        without_ranks("there is no mpirun", {"CI": "true"})
    with pytest.raises(pytest.skip.Exception, match="there is no mpirun"):
        without_ranks("there is no mpirun", {})


@pytest.fixture(scope="module")
def ranks(ecotone):
    """Runs the program as so many ranks."""

    def run(count, *args, exit=0, **more):
        done = subprocess.run(
            ["mpirun", "-n", str(count), ecotone.path, *map(str, args)],
            capture_output=True, text=True, timeout=120, env=ENVIRONMENT, **more,
        )
        assert exit in (None, done.returncode), f"exit {done.returncode}, wanted {exit}\n{done.stdout}\n{done.stderr}"
        return done

    return run


@pytest.fixture(scope="module")
def data(ecotone, tmp_path_factory):
    path = tmp_path_factory.mktemp("ranks") / "all.csv"
    ecotone("generate", "exchangeable", "--set", "domains=6", "--set", "rows=500", "-o", path)
    return path


@pytest.fixture(scope="module")
def large(ecotone, tmp_path_factory):
    """Enough rows for histograms to be shared; mapped."""
    folder = tmp_path_factory.mktemp("ranks")
    ecotone("generate", "exchangeable", "--set", "domains=4", "--set", "rows=20000", "-o", folder / "all.eco")
    return folder / "all.eco"


PIPELINES = [
    "scale | logistic l2=0.01",
    "scale | logistic",
    "scale | logistic l1=0.01",
    "logistic solver=lbfgs l2=0.001",
    "scale | probit l2=0.01",
    "scale | svm kernel=linear",
    "scale | dica route=low_rank map=fourier rank=40 sigma=2 | logistic l2=0.1",
    "scale | kpca route=low_rank rank=30 sigma=2 | logistic l2=0.1",
    "scale | ridge lam=0.1",
    "trees rounds=10 leaves=7",
    "trees",
]


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_models_have_the_same_bytes_on_any_number_of_ranks(ecotone, ranks, data, tmp_path, pipeline):
    ecotone("fit", data, pipeline, *COLUMNS, "-o", tmp_path / "alone.eco")
    alone = (tmp_path / "alone.eco").read_bytes()
    for count in (2, 3, 4):
        model = tmp_path / f"{count}.eco"
        said = ranks(count, "fit", data, pipeline, *COLUMNS, "-o", model, "--threads", 1 + count % 2)
        assert model.read_bytes() == alone, count
        assert said.stdout.count("wrote") == 1


@pytest.mark.parametrize("pipeline", ["trees rounds=5", "scale | logistic l2=0.01"])
def test_mapped_rows_and_shared_histograms(ecotone, ranks, large, tmp_path, pipeline):
    ecotone("fit", large, pipeline, "-o", tmp_path / "alone.eco")
    for count in (2, 3):
        ranks(count, "fit", large, pipeline, "-o", tmp_path / "model.eco")
        assert (tmp_path / "model.eco").read_bytes() == (tmp_path / "alone.eco").read_bytes()


def test_evaluate_says_the_same(ecotone, ranks, data, tmp_path):
    asked = ["evaluate", data, "scale | logistic l2={0.01,1}", "constant", *COLUMNS, "--json"]
    alone = ecotone(*asked, "--save-predictions", tmp_path / "alone.csv").stdout
    shared = ranks(3, *asked, "--save-predictions", tmp_path / "shared.csv").stdout
    assert (tmp_path / "shared.csv").read_bytes() == (tmp_path / "alone.csv").read_bytes()
    assert shared.replace("shared.csv", "alone.csv") == alone


def nothing_left(folder, *names):
    return sorted(path.name for path in folder.iterdir()) == sorted(names)


def children_of(process, count):
    """Process numbers of the ranks, in their order, as soon as all have started."""
    children, until = [], time.monotonic() + 60
    while len(children) < count and time.monotonic() < until:
        time.sleep(0.1)
        assert process.poll() is None, process.communicate()
        text = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        children = [int(pid) for pid in text.split()]
    assert len(children) == count
    return children


@pytest.mark.parametrize("verb, result", [("fit", "-o"), ("evaluate", "--save-predictions")])
@pytest.mark.parametrize("rank", [0, 1])
def test_a_killed_rank_ends_all_and_nothing_is_written(ecotone, large, tmp_path, verb, result, rank):
    """The launcher says which rank was killed."""
    asked = [verb, str(large), "trees rounds=3000", result, str(tmp_path / "result")]
    command = ["mpirun", "-n", "3", ecotone.path, *asked]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    try:
        children = children_of(started, 3)
        time.sleep(1)
        os.kill(children[rank], signal.SIGKILL)
        said = started.communicate(timeout=60)
    finally:
        started.kill()
    assert started.returncode not in (0, None)
    assert f"rank {rank}" in said[1] and "signal 9" in said[1], said
    assert nothing_left(tmp_path)
    assert all(has_ended(pid, within=20) for pid in children)


def has_ended(pid, within):
    """Whether a process ends within some seconds: the launcher does not wait until those that it ends are gone."""
    until = time.monotonic() + within
    while is_running(pid) and time.monotonic() < until:
        time.sleep(0.1)
    return not is_running(pid)


def is_running(pid):
    """Not a process that has ended and waits for its parent."""
    try:
        return " Z " not in pathlib.Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def test_bad_data_are_an_error_of_a_rank(ranks, data, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text(data.read_text() + "1,2\n")
    done = ranks(3, "fit", bad, "scale | logistic", *COLUMNS, "-o", tmp_path / "m.eco", exit=3)
    assert "error: rank 0 of 3: " in done.stderr
    assert nothing_left(tmp_path, "bad.csv")


def test_a_rank_without_rows_is_an_error(ecotone, ranks, tmp_path):
    ecotone("generate", "exchangeable", "--set", "domains=3", "--set", "rows=300", "-o", tmp_path / "few.csv")
    done = ranks(4, "fit", tmp_path / "few.csv", "scale | logistic", *COLUMNS, "-o", tmp_path / "m.eco", exit=3)
    assert "has no rows: 900 rows are 2 shares" in done.stderr and "at most 2 ranks" in done.stderr
    assert nothing_left(tmp_path, "few.csv")


def test_other_verbs_and_resume_are_refused(ranks, data, tmp_path):
    assert "diagnose: only fit and evaluate" in ranks(2, "diagnose", data, *COLUMNS, exit=2).stderr
    asked = ["evaluate", data, "constant", *COLUMNS, "--resume", tmp_path / "journal"]
    assert "--resume keeps the work of one process" in ranks(2, *asked, exit=2).stderr


def test_without_the_module_several_ranks_are_refused(ecotone, data, tmp_path):
    """No cluster trains on one worker without a word."""
    elsewhere = tmp_path / "bin" / "ecotone"
    elsewhere.parent.mkdir()
    shutil.copy(ecotone.path, elsewhere)
    done = subprocess.run(
        [str(elsewhere), "fit", str(data), "scale", *COLUMNS, "-o", str(tmp_path / "m.eco")],
        capture_output=True, text=True, env={**os.environ, "OMPI_COMM_WORLD_SIZE": "2"},
    )
    assert done.returncode == 2 and "one of 2 processes" in done.stderr


def test_a_report_is_written_by_the_first_rank_alone(ranks, data, tmp_path):
    ranks(2, "evaluate", data, "scale | logistic l2=0.1", *COLUMNS, "--report", tmp_path / "page.html")
    assert "</html>" in (tmp_path / "page.html").read_text()


def each_rank(data, other, tmp_path, *command, count=2):
    """A fit in which every rank has its own folder with rows.csv; that of the last are others."""
    for rank, rows in enumerate([data] * (count - 1) + [other]):
        (tmp_path / f"r{rank}").mkdir()
        shutil.copy(rows, tmp_path / f"r{rank}" / "rows.csv")
    line = "cd r$OMPI_COMM_WORLD_RANK; exec " + " ".join(map(str, command))
    return subprocess.run(["mpirun", "-n", str(count), "sh", "-c", line], capture_output=True, text=True, timeout=120, env=ENVIRONMENT, cwd=tmp_path)


def test_ranks_with_other_data_or_kernels_are_refused(ecotone, data, tmp_path):
    other = tmp_path / "other.csv"
    ecotone("generate", "exchangeable", "--set", "domains=6", "--set", "rows=500", "--seed", 1, "-o", other)
    fit = [ecotone.path, "fit", "rows.csv", "logistic", *COLUMNS, "-o", "../model.eco"]
    done = each_rank(data, other, tmp_path, *fit)
    assert done.returncode == 3 and "have read different data" in done.stderr
    assert not (tmp_path / "model.eco").exists()
    for folder in ("r0", "r1"):
        shutil.rmtree(tmp_path / folder)
    done = each_rank(data, data, tmp_path, "env", "ECOTONE_KERNELS=$([ $OMPI_COMM_WORLD_RANK = 0 ] && echo prescott || echo nehalem)", *fit)
    assert done.returncode == 3 and "different kernels" in done.stderr


@pytest.mark.parametrize("asked, count", [(["fit", "rows.csv", '"scale | logistic l2=0.1"', "-o", "../model.eco"], 2),
                                          (["fit", "rows.csv", '"scale | logistic l2=0.1"', "-o", "../model.eco"], 4),
                                          (["fit", "rows.csv", '"gp"', "-o", "../model.eco"], 3),
                                          (["evaluate", "rows.csv", '"scale | logistic l2=0.1"'], 3)])
def test_ranks_compare_every_row(ecotone, data, tmp_path, asked, count):
    """The rows that differ are in neither the first nor the last block of 512, and their labels are the same."""
    lines = data.read_text().splitlines()
    place = lines[0].split(",").index("x1")
    row = lines[2101].split(",")
    lines[2101] = ",".join([*row[:place], "0.125", *row[place + 1 :]])
    other = tmp_path / "other.csv"
    other.write_text("\n".join(lines) + "\n")
    done = each_rank(data, other, tmp_path, ecotone.path, *asked, *COLUMNS, count=count)
    assert done.returncode == 3 and "have read different data" in done.stderr
    assert f" {count - 1} " in done.stderr.split("have read")[0]  # the rank that differs, or its neighbour and it
    assert not (tmp_path / "model.eco").exists()


@pytest.mark.parametrize("mapped", [False, True])
def test_ranks_with_equal_rows_go_on(ecotone, data, tmp_path, mapped):
    """Wherever the files lie, and where the result goes or how many threads there are is their own affair."""
    rows = data
    if mapped:
        rows = tmp_path / "all.eco"
        ecotone("convert", data, *COLUMNS, "-o", rows)
    for rank in range(3):
        (tmp_path / f"r{rank}").mkdir()
        shutil.copy(rows, tmp_path / f"r{rank}" / rows.name)
    line = f"exec {ecotone.path} fit r$OMPI_COMM_WORLD_RANK/{rows.name} logistic -o $OMPI_COMM_WORLD_RANK.eco --threads $((OMPI_COMM_WORLD_RANK+1))"
    done = subprocess.run(["mpirun", "-n", "3", "sh", "-c", line + ("" if mapped else " " + " ".join(COLUMNS))],
                          capture_output=True, text=True, timeout=120, env=ENVIRONMENT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    ecotone("fit", rows, "logistic", *([] if mapped else COLUMNS), "-o", tmp_path / "alone.eco")
    assert (tmp_path / "0.eco").read_bytes() == (tmp_path / "alone.eco").read_bytes()
    assert not (tmp_path / "1.eco").exists()


@pytest.mark.parametrize("words, differs", [
    (["fit", "rows.csv", "trees", "--seed", "$OMPI_COMM_WORLD_RANK"], "--seed 1"),
    (["fit", "rows.csv", '"scale | logistic l2=0.$((OMPI_COMM_WORLD_RANK+1))"'], "l2=0.2"),
    (["fit", "rows.csv", '"scale | logistic"', "--where", "\"x1<$((OMPI_COMM_WORLD_RANK+9))\""], "x1<10"),
    (["fit", "rows.csv", '"scale | logistic"', "$([ $OMPI_COMM_WORLD_RANK = 0 ] || echo --expect)"], "--expect"),
])
def test_ranks_with_another_command_are_refused(ecotone, data, tmp_path, words, differs):
    done = each_rank(data, data, tmp_path, ecotone.path, *words, *COLUMNS, "-o", "../model.eco")
    assert done.returncode == 2, done.stderr
    assert "rank 1 was started with another command than rank 0" in done.stderr and differs in done.stderr
    assert "bug in ecotone" not in done.stderr
    assert not (tmp_path / "model.eco").exists()


def test_a_rank_that_is_ended_says_by_whom(ecotone, large, tmp_path):
    command = ["mpirun", "-n", "2", ecotone.path, "fit", str(large), "trees rounds=3000", "-o", str(tmp_path / "model.eco")]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    try:
        children = children_of(started, 2)
        wait_until_ready_to_stop(types.SimpleNamespace(pid=children[0], poll=lambda: None))
        os.kill(children[0], signal.SIGTERM)
        said = started.communicate(timeout=60)
    finally:
        started.kill()
    assert started.returncode not in (0, None)
    assert "rank 0 of 2: stopped by SIGTERM: the launcher or another rank ended the run" in said[1], said
    assert nothing_left(tmp_path)


def test_one_rank_that_fails_alone_is_heard_soon(ecotone, data, tmp_path):
    """The others wait for it, so it must not wait for them."""
    fit = [ecotone.path, "fit", "$([ $OMPI_COMM_WORLD_RANK = 0 ] && echo rows.csv || echo none.csv)", "logistic"]
    began = time.monotonic()
    done = each_rank(data, data, tmp_path, *fit, *COLUMNS, "-o", "../model.eco")
    assert done.returncode == 4 and "error: rank 1 of 2: " in done.stderr and "none.csv" in done.stderr
    assert time.monotonic() - began < 60  # not the 120 s after which each_rank gives up
    assert not (tmp_path / "model.eco").exists()


def test_a_pipe_is_refused(ranks, tmp_path):
    os.mkfifo(tmp_path / "rows.csv")
    done = ranks(2, "fit", tmp_path / "rows.csv", "logistic", *COLUMNS, "-o", tmp_path / "model.eco", exit=3)
    assert "must be a file, not a pipe" in done.stderr


def test_a_launcher_of_another_mpi_is_refused(ecotone, data, tmp_path):
    environment = {**ENVIRONMENT, "SLURM_STEP_NUM_TASKS": "4"}
    done = subprocess.run([ecotone.path, "fit", data, "logistic", *COLUMNS, "-o", tmp_path / "model.eco"], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 2 and "MPI sees 1" in done.stderr
    assert not (tmp_path / "model.eco").exists()


def test_nobody_waits_for_a_rank_whose_output_was_closed(ecotone, data, tmp_path):
    line = f"{ecotone.path} evaluate {data} 'scale | logistic l2=0.1' {' '.join(COLUMNS)} | true"
    subprocess.run(["mpirun", "-n", "2", "sh", "-c", line], capture_output=True, timeout=120, env=ENVIRONMENT)
