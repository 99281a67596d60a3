"""`ecotone label` with people at its page: what is asked, stored and written, and bad input."""

import json
import signal

import pytest
from label_server import COLUMNS, PIPELINE, Server, journal, label, labels_of, pool, right, rows_of, serve, work, write_pool


def test_a_session_from_the_first_question_to_the_files(serve, pool, ecotone, tmp_path):
    with serve() as server:
        assert server.started == {"url": server.started["url"], "folder": "pool.labels"}
        state = server.state()
        assert (state["task"], state["label"], state["classes"]) == ("classify", "y", ["no", "yes"])
        assert (state["target"], state["domain_word"], state["folder"]) == (["new"], "site", "pool.labels")
        question = state["question"]
        assert question["domain"] == "new" and question["id"] == f"K{question['row'] - 1:05d}"
        assert {field["name"] for field in question["fields"]} == {"x1", "x2", "colour"}
        given = work(server, 12)
        last = server.state()["question"]["row"]
        server.answer(last, kind="unsure")
        skipped = server.state()["question"]["row"]
        state = server.answer(skipped, kind="skip")
        progress = state["progress"]
        assert (progress["labels"], progress["unsure"], progress["skipped"], progress["budget"]) == (12, 1, 1, 30)
        assert progress["audits"] == 2 and progress["metric"] == "accuracy"
        told, closing = server.finish()
    folder = tmp_path / "pool.labels"
    files = [f"pool.labels/{name}" for name in ("labelled.csv", "journal.jsonl", "model.eco")]
    assert told == {"finished": True, "files": files} and closing["files"] == files
    assert closing["labels"] == 12 and closing["estimate"]["rows"] == 2
    events = journal(folder)
    assert labels_of(events) == given
    # Every field as it was, and four more for the rows that were answered.
    by_row = {event["row"]: event for event in events}
    for number, (before, after) in enumerate(zip(rows_of(pool), rows_of(folder / "labelled.csv")), start=1):
        event = by_row.get(number)
        expected = before | {"ecotone_why": "", "ecotone_probability": "", "ecotone_answer": ""}
        if event:
            expected |= {"y": event["label"] or "", "ecotone_why": event["why"], "ecotone_answer": event["kind"]}
            assert float(after["ecotone_probability"]) == event["probability"]
            expected["ecotone_probability"] = after["ecotone_probability"]
        assert after == expected
    predicted = ecotone("predict", folder / "model.eco", pool).stdout.splitlines()
    assert len(predicted) == 101 and predicted[0].startswith("domain,prediction")


def test_audits_show_neither_belief_nor_the_order_of_the_model(serve):
    with serve() as server:
        state, seen = server.state(), []
        for _ in range(15):
            question = state["question"]
            seen.append(question)
            state = server.answer(question["row"], right(question))
        audits = [q for q in seen if q["why"] == "audit"]
        assert len(audits) == 3 and all(q["audit"] and q["belief"] is None for q in audits)
        assert all([f["name"] for f in q["fields"]] == ["x1", "x2", "colour"] for q in audits)
        assert any(q["belief"] for q in seen)


def test_undo_goes_back_without_limit(serve):
    with serve() as server:
        given = work(server, 4)
        for row in reversed(given):
            state = server.undo()
            assert state["question"]["row"] == row and state["question"]["answered"] == given[row]
        assert state["progress"]["labels"] == 0 and not state["undo"]
        assert server.undo(status=409)["error"]["code"] == "nothing_to_undo"


def test_a_click_that_is_sent_again_is_stored_once(serve, tmp_path):
    with serve() as server:
        row = server.state()["question"]["row"]
        first = server.answer(row, "yes", request="abc")
        again = server.answer(row, "yes", request="abc")
        assert again["question"]["row"] == first["question"]["row"] and again["progress"]["labels"] == 1
        server.finish()
    assert [event["row"] for event in journal(tmp_path / "pool.labels")] == [row]


def test_two_pages_have_rows_of_their_own_and_agree(serve):
    with serve() as server:
        one, two = server.state("one")["question"]["row"], server.state("two")["question"]["row"]
        assert one != two
        server.answer(one, "yes", "one")
        clash = server.answer(one, "no", "two", status=409)
        assert clash["error"]["code"] == "answered" and clash["state"]["question"]["row"] == two
        other = server.answer(server.state("one")["question"]["row"], "no", "two", status=409)
        assert other["error"]["code"] == "not_asked"
        assert server.state("two")["progress"]["labels"] == 1


def test_wrong_labels_are_refused(serve):
    with serve() as server:
        row = server.state()["question"]["row"]
        assert server.answer(row, "perhaps", status=400)["error"]["code"] == "bad_label"
        assert server.answer(row, status=400)["error"]["code"] == "bad_request"
        assert server.state()["progress"]["labels"] == 0


def test_further_classes_stay_for_the_next_start(serve, tmp_path):
    with serve("--classes", "perhaps") as server:
        state = server.state()
        assert state["classes"] == ["no", "perhaps", "yes"]
        server.answer(state["question"]["row"], "perhaps")
        server.ended(by=signal.SIGTERM)
    with serve() as server:
        assert server.state()["classes"] == ["no", "perhaps", "yes"]
    assert "perhaps" in labels_of(journal(tmp_path / "pool.labels")).values()


def test_a_killed_server_goes_on_where_it_was(serve, tmp_path):
    with serve() as server:
        given = work(server, 6)
        asked = server.state()["question"]["row"]
        server.kill()
    with serve() as server:
        state = server.state()
        assert state["progress"]["labels"] == 6 and state["question"]["row"] == asked
        assert server.undo()["question"]["row"] == list(given)[-1]
        row, label = given.popitem()
        server.answer(row, label)
        given[row] = label
        server.finish()
    assert labels_of(journal(tmp_path / "pool.labels")) == given


@pytest.mark.parametrize("how", (signal.SIGINT, signal.SIGTERM))
def test_a_signal_ends_with_the_files_written(serve, tmp_path, how):
    with serve() as server:
        given = work(server, 5)
        out, err = server.ended(by=how)
    assert json.loads(out)["labels"] == 5
    assert "all answers are saved" in err
    assert labels_of(journal(tmp_path / "pool.labels")) == given
    assert (tmp_path / "pool.labels" / "model.eco").exists()


def test_the_budget_ends_the_questions(serve):
    with serve("--budget", "3") as server:
        work(server, 3)
        state = server.state()
        assert state["question"] is None and "3 labels of the budget" in state["progress"]["advice"]


def test_numbers_as_labels(ecotone, tmp_path):
    lines = ["site;x;y"] + [f"{'new' if i > 19 else 'old'};{i % 13},5;{'' if i > 19 else f'{2 * (i % 13)},25'}" for i in range(40)]
    path = tmp_path / "numbers.csv"
    path.write_text("\n".join(lines) + "\n")
    with Server(ecotone, path, "scale | ridge", "--task", "regress", *COLUMNS, "--audit", 2, cwd=tmp_path) as server:
        state = server.state()
        assert state["task"] == "regress" and state["classes"] == []
        for value in (3.5, "4.25", -1, 7):
            row = state["question"]["row"]
            state = server.answer(row, value)
        assert state["progress"]["metric"] == "rmse" and state["progress"]["estimate"]["rows"] == 2
        assert server.answer(state["question"]["row"], "many", status=400)["error"]["code"] == "bad_label"
        server.finish()
    assert sorted(labels_of(journal(tmp_path / "numbers.labels")).values()) == ["-1", "3.5", "4.25", "7"]
    # The decimal comma of the file is kept.
    table = (tmp_path / "numbers.labels" / "labelled.csv").read_text().splitlines()
    assert table[0] == "site;x;y;ecotone_why;ecotone_probability;ecotone_answer"
    assert sorted(line.split(";")[2] for line in table[21:] if line.endswith(";label")) == ["-1", "3,5", "4,25", "7"]


def test_several_files_go_one_below_the_other(ecotone, tmp_path):
    write_pool(tmp_path / "a.csv", 30, 0)
    new = write_pool(tmp_path / "new.csv", 0, 30)
    head, *rest = (line.split(",") for line in new.read_text().splitlines())
    new.write_text("\n".join(",".join(fields[::-1]) for fields in [head, *rest]) + "\n")  # another order of columns
    args = (tmp_path / "a.csv", new, PIPELINE, "--label", "y", "--domain-from-file", "--target", "new", "--ignore", "key,site")
    with Server(ecotone, *args, cwd=tmp_path) as server:
        given = work(server, 3)
        server.finish()
    table = rows_of(tmp_path / "a.labels" / "labelled.csv")
    assert len(table) == 60 and [row["key"] for row in table] == [f"K{i:05d}" for i in (*range(30), *range(30))]
    assert {n: row["y"] for n, row in enumerate(table, start=1) if row["ecotone_answer"]} == given
    assert all(row > 30 for row in given)


def test_other_formats_are_written_as_a_table(ecotone, pool, tmp_path):
    ecotone("convert", pool, "-o", tmp_path / "pool.eco", *COLUMNS, "--ignore", "key")
    with Server(ecotone, tmp_path / "pool.eco", PIPELINE, *COLUMNS, cwd=tmp_path) as server:
        given = work(server, 3)
        server.finish()
    table = rows_of(tmp_path / "pool.labels" / "labelled.csv")
    assert {n: row["y"] for n, row in enumerate(table, start=1) if n > 40 and row["y"]} == given


def test_a_model_that_cannot_be_fitted_is_told(ecotone, tmp_path):
    path = write_pool(tmp_path / "pool.csv", 0, 20)
    with Server(ecotone, path, PIPELINE, *COLUMNS, "--classes", "no,yes", "--ignore", "key", cwd=tmp_path) as server:
        assert server.state()["question"]["why"] == "seed"
        given = work(server, 1)
        told, closing = server.finish()
    assert "model_error" in closing and "pool.labels/model.eco" not in told["files"]
    assert labels_of(journal(tmp_path / "pool.labels")) == given


# ---- errors


@pytest.mark.parametrize(
    ("flags", "code", "message"),
    (
        (("--repeat", 3), "idle_flag", "--repeat works only with --simulate"),
        (("--report", "r.html"), "idle_flag", "--report works only with --simulate"),
        (("--count", 3), "idle_flag", "--count works only with --queries"),
        (("--terminal", "--port", 8000), "idle_flag", "--port works only with the page"),
        (("--terminal", "--host", "127.0.0.1"), "idle_flag", "--host works only with the page"),
        (("--terminal", "--export"), "idle_flag", "--export cannot be combined with --terminal"),
        (("--simulate", "-o", "x"), "idle_flag", "--output cannot be combined with --simulate"),
        (("--strategy", "entropy", "--strategy", "margin"), "idle_flag", "--simulate compares several"),
        (("--strategy", "entrpy"), "unknown_strategy", "entropy"),
        (("--host", "0.0.0.0"), "needs_token", "--host 0.0.0.0 lets other computers in"),
        (("--host", "0.0.0.0", "--token", "short"), "bad_token", "at least 16"),
        (("--token", "a/b/c/d/e/f/g/h/i/j"), "bad_token", "other characters"),
        (("--host", "example.org", "--token", "0123456789abcdef"), "bad_host", "numeric address"),
        (("--queries", "r.eco"), "bad_output", "CSV"),
    ),
)
def test_flags_that_do_not_go_together(ecotone, label, tmp_path, flags, code, message):
    assert message in ecotone.error(*label(*flags), exit=2, code=code, cwd=tmp_path)


def test_bad_input(ecotone, label, pool, tmp_path):
    ok = ("--domain", "site", "--target", "new")
    fails = lambda *args, **more: ecotone.error("label", *args, cwd=tmp_path, **more)
    assert "--label" in fails(pool, PIPELINE, *ok, exit=2, code="no_label")
    assert "one pipeline" in fails(pool, PIPELINE, "constant", "--label", "y", *ok, exit=2, code="usage")
    fails(pool, PIPELINE, "--label", "z", *ok, exit=3, code="unknown_column")
    assert "name a file" in fails("-", PIPELINE, "--label", "y", *ok, exit=2, code="bad_input")
    assert "no learner" in fails(pool, "impute | scale", "--label", "y", *ok, exit=2, code="no_learner")
    full = write_pool(tmp_path / "full.csv", 40, 0)
    assert "nothing to ask" in fails(full, PIPELINE, "--label", "y", "--domain", "site", "--target", "b", exit=3, code="empty_data")
    (tmp_path / "taken").write_text("")
    assert "taken" in fails(pool, PIPELINE, "--label", "y", *ok, "-o", "taken", exit=4, code="cannot_write")


def test_a_journal_belongs_to_its_data(ecotone, label, pool, tmp_path):
    ecotone(*label("--terminal"), cwd=tmp_path, input="1\nq\n")
    write_pool(pool, 40, 61)
    assert "other data" in ecotone.error(*label("--export"), exit=4, code="other_data", cwd=tmp_path)
    (tmp_path / "pool.labels" / "labels.sqlite").write_bytes(b"not a database" * 100)
    ecotone.error(*label("--export"), exit=4, code="not_a_journal", cwd=tmp_path)


def test_one_program_at_a_time(serve, ecotone, label, tmp_path):
    with serve():
        ecotone.error(*label("--export"), exit=4, code="journal_in_use", cwd=tmp_path)


def test_a_port_that_is_taken(serve, ecotone, label, tmp_path):
    with serve() as server:
        message = ecotone.error(*label("-o", "other", "--port", server.port), exit=2, code="cannot_listen", cwd=tmp_path)
    assert f"port {server.port}" in message
