"""Long runs: --resume goes on where a run was stopped, and the bar shows how far it is."""

import fcntl
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import termios
import time
import zlib

import pytest
from conftest import CLINIC_COLUMNS, SMALL_COLUMNS, wait_until_ready_to_stop

GRID = "impute | scale | logistic l2={0.001,0.01,0.1,1}"


def about_results(err):
    """What a run says on standard error, without what it says about its journal."""
    return [line for line in err.splitlines() if "journal" not in line]


class Run:
    """A command, and everything that it leaves."""

    def __init__(self, ecotone, arguments, files=()):
        self.command = [ecotone.path, *map(str, arguments)]
        self.files = files

    def finish(self, *more, env=None):
        """Runs to the end: standard output, what it says, and the files that it writes."""
        done = subprocess.run([*self.command, *map(str, more)], capture_output=True, text=True, timeout=300, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout, about_results(done.stderr), [path.read_bytes() for path in self.files]

    def kill(self, moment, *more):
        """Kills it after some seconds; whether it was still at work."""
        process = subprocess.Popen([*self.command, *map(str, more)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(moment)
        process.kill()
        process.communicate(timeout=60)
        return process.returncode == -signal.SIGKILL


def evaluation(ecotone, data, folder, *pipelines):
    files = [folder / "p.csv", folder / "r.html"]
    return Run(
        ecotone,
        ["evaluate", data, *pipelines, *CLINIC_COLUMNS, "--json", "--save-predictions", files[0], "--report", files[1]],
        files,
    )


def expect_survival(run, journal, kills, seed):
    """Kills runs at random moments, then lets one end: it leaves what a run without interruption leaves."""
    begin = time.monotonic()
    whole = run.finish()
    seconds = time.monotonic() - begin
    chance = random.Random(seed)
    killed, sizes = 0, []
    for _ in range(kills):
        killed += run.kill(chance.uniform(0, 0.6 * seconds), "--resume", journal)
        sizes.append(journal.stat().st_size if journal.exists() else 0)
    assert killed > 0, "no run was killed at work"
    assert sizes == sorted(sizes), "finished work was lost"
    assert run.finish("--resume", journal) == whole
    # Nothing is left to do.
    size = journal.stat().st_size
    assert run.finish("--resume", journal) == whole
    assert journal.stat().st_size == size


@pytest.mark.slow
def test_kill_in_the_middle_of_evaluate(ecotone, clinics, tmp_path):
    pipelines = [f"impute | scale | logistic l2={l2}" for l2 in (0.001, 0.1)]
    run = evaluation(ecotone, clinics, tmp_path, *pipelines, GRID, "impute | scale | svm sigma={2,8}")
    expect_survival(run, tmp_path / "run.journal", kills=50, seed=18)


@pytest.mark.slow
def test_kill_in_the_middle_of_tune(ecotone, clinics, tmp_path):
    grids = [GRID, "impute | scale | svm C={0.1,1} sigma={2,8}"]
    model = tmp_path / "m.eco"
    run = Run(ecotone, ["tune", clinics, *grids, *CLINIC_COLUMNS, "--json", "-o", model], [model])
    expect_survival(run, tmp_path / "run.journal", kills=15, seed=19)


@pytest.mark.slow
def test_kill_in_the_middle_of_reproduce(ecotone, tmp_path):
    run = Run(ecotone, ["reproduce", "weighting", "--table", "weights", "--repetitions", "10", "--json"])
    expect_survival(run, tmp_path / "run.journal", kills=15, seed=20)


def resumed(ecotone, data, journal, *more, **options):
    return ecotone("evaluate", data, "scale | logistic l2={0.1,1}", *SMALL_COLUMNS, "--resume", journal, *more, **options)


def test_a_journal_changes_no_byte(ecotone, small, tmp_path):
    journal = tmp_path / "run.journal"
    plain = ecotone("evaluate", small, "scale | logistic l2={0.1,1}", *SMALL_COLUMNS, "--json")
    first = resumed(ecotone, small, journal, "--json", "--threads", "1")
    assert (first.stdout, first.stderr) == (plain.stdout, plain.stderr)
    size = journal.stat().st_size
    again = resumed(ecotone, small, journal, "--json", "--threads", "3")
    assert again.stdout == plain.stdout
    assert f"note: 3 finished parts of the work came from {journal}" in again.stderr
    assert journal.stat().st_size == size
    assert "finished part" not in resumed(ecotone, small, journal, "--quiet").stderr


def test_work_of_others_is_not_used(ecotone, small, tmp_path):
    journal = tmp_path / "run.journal"
    resumed(ecotone, small, journal)
    other = tmp_path / "other.csv"
    other.write_text(small.read_text().replace("a,0,0.0,red", "a,1,0.0,red"))
    for data, more in ((other, ()), (small, ("--seed", "1"))):
        plain = ecotone("evaluate", data, "scale | logistic l2={0.1,1}", *SMALL_COLUMNS, *more)
        done = resumed(ecotone, data, journal, *more)
        assert done.stdout == plain.stdout
        assert "but none of this work" in done.stderr


def test_a_damaged_journal(ecotone, small, tmp_path):
    journal = tmp_path / "run.journal"
    plain = resumed(ecotone, small, journal, "--json")
    content = journal.read_bytes()
    place = len(content) // 2
    for damaged in (content[:-5], content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]):
        journal.write_bytes(damaged)
        done = resumed(ecotone, small, journal, "--json")
        assert done.stdout == plain.stdout
        assert re.search(rf"warning: {journal}: [0-9]+ bytes damaged or cut off", done.stderr), done.stderr
        assert "came from" in done.stderr


def records_of(content):
    """The heading of a journal, and (key, content) of its records."""
    begin, records = content.index(MARK), []
    place = begin
    while place < len(content):
        key, length = content[place + 8 : place + 24], struct.unpack("<Q", content[place + 24 : place + 32])[0]
        records.append((key, content[place + 40 : place + 40 + length]))
        place += 40 + length
    return content[:begin], records


MARK = b"\xe7eco\r\n\x1a\x7e"


def record(key, content):
    head = key + struct.pack("<QI", len(content), zlib.crc32(content))
    return MARK + head + struct.pack("<I", zlib.crc32(head)) + content


def test_records_of_another_shape_are_done_again(ecotone, small, tmp_path):
    """Whatever a record holds, the run ends as runs end."""
    journal = tmp_path / "run.journal"
    resumed(ecotone, small, journal, "--json")
    head, records = records_of(journal.read_bytes())
    assert head + b"".join(record(*each) for each in records) == journal.read_bytes()
    chance = random.Random(3)
    for _ in range(60):
        key, content = chance.choice(records)
        place = chance.randrange(len(content) - 8)
        number = struct.pack("<Q", chance.choice([0, 1, 2**31, 2**40, 2**63, 2**64 - 1]))
        changed = content[:place] + number + content[place + 8 :]
        journal.write_bytes(head + b"".join(record(k, changed if k == key else each) for k, each in records))
        assert resumed(ecotone, small, journal, "--json", exit=None).returncode in (0, 3)


def test_what_is_refused(ecotone, small, tmp_path):
    command = ("evaluate", small, "scale | logistic", *SMALL_COLUMNS)
    before = small.read_bytes()
    assert "another file" in ecotone.error(*command, "--resume", small, exit=2, code="same_file")
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    assert str(other) in ecotone.error(*command, "--resume", other, exit=4, code="not_a_journal")
    assert (small.read_bytes(), other.read_text()) == (before, "a,b\n1,2\n")
    ecotone.error(*command, "--resume", tmp_path / "no" / "such", exit=4, code="cannot_open")
    ecotone.error(*command, "--resume", tmp_path, exit=4, code="cannot_open")
    same = tmp_path / "same"
    ecotone.error(*command, "--resume", same, "--report", same, exit=2, code="same_file")
    choose = (*command, "--protocol", "adapt", "--choose", "all", "--resume", tmp_path / "j")
    assert "--resume" in ecotone.error(*choose, exit=2, code="idle_flag")


def test_one_run_at_a_time(ecotone, small, tmp_path):
    journal = tmp_path / "run.journal"
    resumed(ecotone, small, journal)
    with open(journal, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        message = ecotone.error(
            "evaluate", small, "scale | logistic", *SMALL_COLUMNS, "--resume", journal, exit=4, code="journal_in_use"
        )
        assert str(journal) in message
    resumed(ecotone, small, journal)


def test_a_full_disk_is_said(ecotone, small, tmp_path):
    import resource

    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    done = resumed(ecotone, small, tmp_path / "run.journal", exit=4, preexec_fn=limit)
    assert "cannot write the journal" in done.stderr
    resumed(ecotone, small, tmp_path / "run.journal")


def interrupted(command):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until_ready_to_stop(process)
    time.sleep(1)
    assert process.poll() is None, "the command is too short to be stopped"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    return err


def test_an_interrupt_says_how_to_go_on(ecotone, clinics, tmp_path):
    command = [ecotone.path, "evaluate", str(clinics), *CLINIC_COLUMNS, "--protocol", "domain-split"]
    command += [f"impute | scale | logistic l2=0.{i:04}" for i in range(1, 200)] + ["--repetitions", "100"]
    assert "note: with --resume FILE, finished fits survive an interrupt" in interrupted(command)
    journal = tmp_path / "run.journal"
    err = interrupted([*command, "--resume", str(journal)])
    assert re.search(rf"note: {journal} holds [0-9]+ finished parts; the same command goes on from there", err), err


def on_terminal(command, columns, enough):
    """What a command writes to a terminal of this width until it is enough, or for a minute."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=slave, env={**os.environ, "TERM": "xterm"}, close_fds=True
    )
    os.close(slave)
    written, end = b"", time.monotonic() + 60
    while not enough(written.decode(errors="replace")) and time.monotonic() < end:
        if select.select([master], [], [], 1)[0]:
            written += os.read(master, 65536)
    process.kill()
    process.wait()
    os.close(master)
    return written.decode(errors="replace")


@pytest.mark.parametrize("columns", (40, 100))
def test_the_bar_fits_the_terminal_and_names_the_work(ecotone, clinics, columns):
    command = [ecotone.path, "evaluate", str(clinics), *CLINIC_COLUMNS, "--protocol", "domain-split"]
    command += [f"impute | scale | logistic l2=0.{i:04}" for i in range(1, 200)] + ["--repetitions", "100"]
    whole = lambda text: [bar for bar in text.split("\r\x1b[K")[:-1] if bar.startswith("evaluate")]
    bars = whole(on_terminal(command, columns, lambda text: len(whole(text)) > 1))
    assert len(bars) > 1, bars
    assert all(len(bar) < columns and "\n" not in bar for bar in bars), bars
    assert re.match(r"evaluate \[[#.]+\] +[0-9]+% 0:[0-9]{2}", bars[-1]), bars[-1]
    if columns == 100:
        assert "impute | scale" in bars[-1]


def test_no_control_characters_off_a_terminal(ecotone, clinics):
    done = ecotone("evaluate", clinics, GRID, *CLINIC_COLUMNS)
    assert "evaluate:" not in done.stderr and not re.search(r"[\x00-\x08\x0b-\x1f]", done.stderr)
