"""What is promised when things go wrong: no half file, the old model intact, no leftovers."""

import contextlib
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import time

import pytest
from conftest import CLINIC_COLUMNS, PIPELINE, SMALL_COLUMNS, wait_until_ready_to_stop

MOMENTS = 200


@pytest.fixture(scope="module")
def large(ecotone, tmp_path_factory):
    """Enough rows that a fit takes a while."""
    path = tmp_path_factory.mktemp("large") / "large.csv"
    ecotone("generate", "clinics", "--set", "size=3", "-o", path)
    return path


def fit_command(ecotone, data, model):
    return [ecotone.path, "fit", str(data), PIPELINE, *CLINIC_COLUMNS, "-o", str(model)]


def seconds_of(command):
    begin = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    return time.monotonic() - begin


def stopped_at(command, moment, signal_number, ready=False):
    """Starts a command and sends it a signal after some seconds, where asked from when it catches it; the exit status."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if ready:
        wait_until_ready_to_stop(process)
    time.sleep(moment)
    process.send_signal(signal_number)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.slow
@pytest.mark.parametrize("signal_number", (signal.SIGINT, signal.SIGKILL), ids=("SIGINT", "SIGKILL"))
def test_stopped_fits_leave_the_old_model(ecotone, large, tmp_path, signal_number):
    model = tmp_path / "model.eco"
    command = fit_command(ecotone, large, model)
    whole = max(seconds_of(command) for _ in range(3))
    new = model.read_bytes()
    old = b"the old model " * 1000
    chance = random.Random(7)
    endings = set()
    for _ in range(MOMENTS):
        model.write_bytes(old)
        status, out, err = stopped_at(command, chance.uniform(0, 1.1 * whole), signal_number)
        # Done in time, or stopped: by the signal itself before main, or as we promise.
        assert status in (0, 130, -signal_number), (status, out, err)
        endings.add(status)
        # A kill may come after the rename.
        assert model.read_bytes() in ([new] if status == 0 else [old, new])
        leftovers = [p.name for p in tmp_path.iterdir() if p != model]
        if signal_number == signal.SIGINT and status != -signal_number:
            assert leftovers == []
            assert status == 0 or (model.read_bytes() == old and b"error: " in err)
        assert len(leftovers) <= 1, leftovers
        assert all(name.endswith(".tmp") for name in leftovers)
    assert len(endings) >= 2, "the moments hit no run while it worked"
    # The next run removes what a killed one left.
    (tmp_path / ".model.eco.99999999.tmp").write_bytes(b"half")
    subprocess.run(command, check=True, capture_output=True)
    assert [p.name for p in tmp_path.iterdir()] == ["model.eco"]
    assert model.read_bytes() == new


def stopped_while_working(command, *signal_numbers):
    """Sends signals to a command that is at work, all before it can answer the first; status, error stream, seconds."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until_ready_to_stop(process)
    time.sleep(0.5)
    assert process.poll() is None, "the command is too short to be stopped"
    process.send_signal(signal.SIGSTOP)
    for number in signal_numbers:
        process.send_signal(number)
    begin = time.monotonic()
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=60)
    return process.returncode, err, time.monotonic() - begin


@pytest.mark.slow
def test_second_interrupt_stops_at_once(ecotone, large, tmp_path):
    """The first interrupt ends in order, with a message; the second leaves without a word."""
    predictions = tmp_path / "p.csv"
    command = [ecotone.path, "evaluate", str(large), *[PIPELINE] * 200, *CLINIC_COLUMNS]
    command += ["--protocol", "domain-split", "--repetitions", "50", "--save-predictions", str(predictions), "--quiet"]
    status, err, _ = stopped_while_working(command, signal.SIGINT)
    assert status == 130 and err.startswith("error: "), (status, err)
    for _ in range(5):
        status, err, seconds = stopped_while_working(command, signal.SIGTERM, signal.SIGINT)
        assert (status, err) == (130, "")
        assert seconds < 10
    assert not predictions.exists()


@pytest.mark.parametrize("written", ("", "x1,x2,colour\n1,2,red\n"), ids=("nobody writes", "somebody stopped writing"))
def test_first_interrupt_ends_a_wait_for_a_pipe(ecotone, small, tmp_path, written):
    model, pipe = tmp_path / "m.eco", tmp_path / "pipe"
    ecotone("fit", small, "scale | logistic", *SMALL_COLUMNS, "-o", model)
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [ecotone.path, "predict", model, pipe, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    writer = open(pipe, "w") if written else None
    if writer:
        writer.write(written)
        writer.flush()
    wait_until_ready_to_stop(process)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert '"code": "cancelled"' in out and "error: " in err


def test_a_limit_of_the_address_space_is_named_with_sizes(ecotone, tmp_path):
    """`ulimit -v` is a limit of memory like any other; what does not fit is refused before it is drawn."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    for settings in (("logistic", "rows=1000000", "features=1000"), ("synthetic_domains", "relu=1000000")):
        begin = time.monotonic()
        message = ecotone.error(
            "generate", *settings, "-o", tmp_path / "d.csv", exit=3, code="not_enough_memory", preexec_fn=limit
        )
        assert "needs" in message and "GB, but only" in message, message
        assert time.monotonic() - begin < 10


def test_repetitions_that_do_not_fit_into_memory_are_refused_at_once(ecotone, clinics):
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    command = ("evaluate", clinics, PIPELINE, *CLINIC_COLUMNS, "--protocol", "domain-split", "--repetitions")
    begin = time.monotonic()
    for repetitions in (1000000, 300000):
        message = ecotone.error(*command, repetitions, exit=3, code="not_enough_memory", preexec_fn=limit)
        assert f"{repetitions} repetitions" in message and "use fewer repetitions" in message, message
    assert time.monotonic() - begin < 30


@pytest.mark.parametrize("verb", ("fit", "predict"))
def test_a_named_pipe_as_output(ecotone, small, tmp_path, verb):
    """The reader gets every byte, and one signal ends the wait for a reader."""
    model, pipe = tmp_path / "m.eco", tmp_path / "pipe"
    fit = ["fit", small, "scale | logistic l2=0.1", *SMALL_COLUMNS]
    ecotone(*fit, "-o", model)
    arguments = fit if verb == "fit" else ["predict", model, small]
    ecotone(*arguments, "-o", tmp_path / "file")
    os.mkfifo(pipe)
    command = [ecotone.path, *map(str, arguments), "-o", str(pipe)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert pipe.read_bytes() == (tmp_path / "file").read_bytes()
    assert process.wait(timeout=60) == 0
    status, _, err = stopped_at(command, 0.5, signal.SIGTERM, ready=True)
    assert status == 130 and b"error: stopped by SIGTERM" in err
    status, _, err = stopped_at(command, 0.5, signal.SIGINT, ready=True)
    assert status == 130 and b"error: stopped by the user" in err


def test_a_slow_pipe_is_read_to_its_end(ecotone, small, tmp_path):
    model, pipe = tmp_path / "m.eco", tmp_path / "pipe"
    ecotone("fit", small, "scale | logistic", *SMALL_COLUMNS, "-o", model)
    os.mkfifo(pipe)
    process = subprocess.Popen([ecotone.path, "predict", model, pipe], stdout=subprocess.PIPE, text=True)
    time.sleep(0.2)
    with open(pipe, "w") as writer:
        for line in small.read_text().splitlines(keepends=True):
            writer.write(line)
            writer.flush()
            time.sleep(0.005)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out == ecotone("predict", model, small).stdout


def limited_to(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("size", (0, 1, 1000, 4096))
@pytest.mark.parametrize("verb", ("fit", "predict", "transform", "convert", "generate", "evaluate"))
def test_full_disk(ecotone, clinics, model, tmp_path, verb, size):
    """A file-size limit is a full disk: exit 4, the old file intact, nothing beside it."""
    out = tmp_path / ("out.eco" if verb in ("fit", "convert") else "out.csv")
    out.write_bytes(b"old")
    commands = {
        "fit": (clinics, PIPELINE, *CLINIC_COLUMNS, "-o", out),
        "predict": (model, clinics, "-o", out),
        "transform": (model, clinics, "-o", out),
        "convert": (clinics, *CLINIC_COLUMNS, "-o", out),
        "generate": ("clinics", "-o", out),
        "evaluate": (clinics, "impute | constant", *CLINIC_COLUMNS, "--save-predictions", out),
    }
    if verb == "fit":
        size = min(size, model.stat().st_size - 1)
    message = ecotone.error(verb, *commands[verb], exit=4, code="no_space", preexec_fn=limited_to(size))
    assert str(out) in message
    assert out.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == [out.name]


@pytest.mark.slow
def test_full_file_system(ecotone, clinics, tmp_path):
    """A real full disk, where the test may mount a tiny one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    if mount is None or subprocess.run([mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]).returncode != 0:
        pytest.skip("no right to mount a tmpfs here")
    try:
        out = disk / "data.eco"
        out.write_bytes(b"old")
        ecotone.error("convert", clinics, *CLINIC_COLUMNS, "-o", out, exit=4, code="no_space")
        assert out.read_bytes() == b"old"
        assert os.listdir(disk) == ["data.eco"]
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("gz", (False, True), ids=("csv", "csv.gz"))
def test_file_truncated_while_it_is_read(ecotone, large, tmp_path, gz):
    """The program answers with numbers or with an error of ours; it does not die."""
    source = large
    if gz:
        source = tmp_path / "large.csv.gz"
        with open(source, "wb") as file:
            subprocess.run(["gzip", "-c", large], stdout=file, check=True)
    content = source.read_bytes()
    victim = tmp_path / ("victim.csv.gz" if gz else "victim.csv")
    victim.write_bytes(content)
    command = fit_command(ecotone, victim, tmp_path / "model.eco")
    whole = seconds_of(command)
    chance = random.Random(1)
    statuses = set()
    for _ in range(60):
        victim.write_bytes(content)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(chance.uniform(0, whole / 2))
        os.truncate(victim, chance.randrange(len(content)))
        out, err = process.communicate(timeout=60)
        assert process.returncode in (0, 3, 4), (process.returncode, err)
        assert process.returncode == 0 or "error: " in err
        statuses.add(process.returncode)
    assert statuses & {3, 4}, "no run met a truncated file"


def test_mapped_data_that_are_too_short(ecotone, clinics, tmp_path):
    path = tmp_path / "d.eco"
    ecotone("convert", clinics, *CLINIC_COLUMNS, "-o", path)
    content = path.read_bytes()
    for part in (0.1, 0.5, 0.99):
        path.write_bytes(content[: int(len(content) * part)])
        done = ecotone("evaluate", path, "impute | constant", exit=4)
        assert "error: " in done.stderr


def wait_until_mapped(process, path):
    """Returns when the process has mapped the file; False where it ended without."""
    while process.poll() is None:
        with contextlib.suppress(OSError):
            if str(path) in pathlib.Path(f"/proc/{process.pid}/maps").read_text():
                return True
        time.sleep(0.0005)
    return False


@pytest.mark.slow
def test_mapped_data_truncated_while_read(ecotone, tmp_path):
    """The kernel takes the pages away from under the program, which says so and ends as for any other broken file."""
    path, out = tmp_path / "d.eco", tmp_path / "p.csv"
    ecotone("generate", "logistic", "--set", "rows=200000", "--set", "features=20", "--set", "target=1000", "-o", path)
    content = path.read_bytes()
    command = [ecotone.path, "evaluate", str(path), "impute | scale | logistic l2=0.1", "--save-predictions", str(out)]
    statuses, cut_short = [], 0
    for step in range(8):
        out.write_bytes(b"old")
        path.write_bytes(content)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert wait_until_mapped(process, path), process.communicate()
        time.sleep(0.01 * step)
        os.truncate(path, 100_000)
        _, err = process.communicate(timeout=120)
        statuses.append(process.returncode)
        if process.returncode == 0:
            continue
        assert process.returncode == 4, (process.returncode, err)
        # Cut before it was checked, the file is refused; later the pages are gone.
        cut_short += "error: a mapped file was truncated while it was being read\n" in err
        assert "error: " in err and ("truncated while it was being read" in err or str(path) in err), err
        assert out.read_bytes() == b"old"
    assert cut_short > 0, f"no run met the missing pages: {statuses}"


def test_interrupt_says_so_in_json(ecotone, clinics, tmp_path):
    """SIGINT before the work begins is found by the work: exit 130, a JSON error."""
    command = [ecotone.path, "evaluate", str(clinics), *[PIPELINE] * 100, *CLINIC_COLUMNS, "--json"]
    for attempt in range(20):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.05 + 0.02 * attempt)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        if process.returncode == 130:
            assert '"code": "cancelled"' in out
            assert "error: " in err
            return
        assert process.returncode in (0, -signal.SIGINT)
    pytest.fail("no run was interrupted")


def test_not_enough_memory(ecotone, tmp_path):
    """Memory is estimated before it is taken: 160 GB of zeros (a sparse file) are refused at once, with the numbers."""
    data = tmp_path / "zeros.npy"
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (20000000, 1000), }"
    header += b" " * (117 - len(header)) + b"\n"
    data.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    os.truncate(data, data.stat().st_size + 8 * 20_000_000 * 1000)
    message = ecotone.error("convert", data, "-o", tmp_path / "d.eco", exit=3, code="not_enough_memory")
    assert "20000000 rows" in message and "160.0 GB" in message
    assert [p.name for p in tmp_path.iterdir()] == ["zeros.npy"]


def test_small_address_space(ecotone, tmp_path):
    """Where memory runs out in spite of the estimate: an error of ours or success, never a death or a half file."""
    if "sanitize" in ecotone("--version").stdout:
        pytest.skip("sanitizers need a large address space")
    data, out = tmp_path / "d.csv", tmp_path / "d.eco"
    ecotone("generate", "logistic", "--set", "rows=50000", "--set", "features=20", "-o", data)
    for megabytes in (50, 60, 70, 80, 100):
        limit = megabytes * 2**20
        done = subprocess.run(
            [ecotone.path, "convert", data, "--label", "label", "-o", out, "--threads", "1", "--json"],
            capture_output=True, text=True, timeout=60, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        )  # fmt: skip
        # 127: too little for the loader, so the program never began.
        assert done.returncode in (0, 3, 127), (done.returncode, done.stderr)
        if done.returncode == 3:
            assert '"not_enough_memory"' in done.stdout
        assert out.exists() == (done.returncode == 0)
        assert sorted(p.name for p in tmp_path.iterdir()) == ["d.csv", "d.eco"][: 1 + out.exists()]
        out.unlink(missing_ok=True)


def test_runs_at_once_do_not_disturb_each_other(ecotone, clinics, model, tmp_path):
    """Several processes write one target: it is whole at any time."""
    out = tmp_path / "model.eco"
    processes = [
        subprocess.Popen(fit_command(ecotone, clinics, out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    for process in processes:
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    assert out.read_bytes() == model.read_bytes()
    assert [p.name for p in tmp_path.iterdir()] == ["model.eco"]
