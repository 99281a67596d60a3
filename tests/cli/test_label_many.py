"""`ecotone label` under load and under fire."""

import random
import signal
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException

import pytest
from label_server import COLUMNS, Server, journal, labels_of, right, write_pool


@pytest.mark.slow
def test_ten_thousand_labels_by_two_hundred_connections(ecotone, tmp_path):
    path = write_pool(tmp_path / "pool.csv", 40, 12000)
    args = (path, "scale | logistic l2=0.01", *COLUMNS, "--ignore", "key,colour", "--budget", 10000)
    with Server(ecotone, *args, cwd=tmp_path) as server:
        begun, acknowledged, lock = time.time(), {}, threading.Lock()
        together = threading.Barrier(200)

        def one_page(page):
            state = server.state(page)
            together.wait(60)  # all connections are open
            while question := state["question"]:
                answer = right(question)
                with lock:
                    acknowledged[question["row"]] = answer
                state = server.answer(question["row"], answer, page)
                if state["progress"]["labels"] >= 10000:
                    break

        with ThreadPoolExecutor(200) as pages:
            list(pages.map(one_page, (f"page{i}" for i in range(200))))
        seconds = time.time() - begun
        memory = next(int(line.split()[1]) for line in open(f"/proc/{server.process.pid}/status") if line.startswith("VmHWM"))
        server.ended(by=signal.SIGTERM)
    events = journal(tmp_path / "pool.labels")
    assert len(events) >= 10000 and labels_of(events).items() <= acknowledged.items()
    assert len({event["row"] for event in events}) == len(events) == len(acknowledged)
    assert [event["id"] for event in events] == sorted(event["id"] for event in events)
    print(f"{len(events)} labels in {seconds:.0f} s, {memory / 1024:.0f} MB")
    assert memory < 200 * 1024


@pytest.mark.slow
def test_a_hundred_kills_lose_no_label(ecotone, tmp_path):
    path = write_pool(tmp_path / "pool.csv", 40, 6000)
    args = (path, "scale | logistic l2=0.01", *COLUMNS, "--ignore", "key,colour", "--budget", 5000)
    chance, acknowledged = random.Random(1), {}
    for _ in range(100):
        with Server(ecotone, *args, cwd=tmp_path) as server:
            killer = threading.Timer(chance.uniform(0, 0.15), server.process.kill)
            killer.start()
            try:
                state = server.state()
                while question := state["question"]:
                    answer = right(question)
                    state = server.answer(question["row"], answer)
                    acknowledged[question["row"]] = answer
            except (OSError, ValueError, HTTPException):
                pass
            killer.join()
    ecotone("label", *args, "--export", cwd=tmp_path)
    stored = labels_of(journal(tmp_path / "pool.labels"))
    assert acknowledged.items() <= stored.items() and len(stored) <= len(acknowledged) + 100
    with sqlite3.connect(tmp_path / "pool.labels" / "labels.sqlite") as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    print(f"{len(acknowledged)} labels over 100 kills")
    assert len(acknowledged) > 100
