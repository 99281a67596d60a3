"""`ecotone label` without a browser: in the terminal and by spreadsheet."""

import os
import pty
import select
import subprocess
import termios
import time

from label_server import journal, label, labels_of, pool, rows_of, truth

# ---- the terminal


def test_the_terminal_by_script(ecotone, label, tmp_path):
    done = ecotone(*label("--terminal"), cwd=tmp_path, input="1\n2\nu\ns\nz\nyes\n7\nperhaps\nq\n1\n")
    assert "'7' is no answer" in done.stdout and "'perhaps' is no answer" in done.stdout
    assert "labels    3 of 30" in done.stdout and "1 unsure, 0 skipped" in done.stdout
    events = journal(tmp_path / "pool.labels")
    assert [event["kind"] for event in events] == ["label", "label", "unsure", "skip", "undo", "label"]
    assert [event["label"] for event in events if event["kind"] == "label"] == ["no", "yes", "yes"]
    assert events[5]["row"] == events[3]["row"]
    assert all(len(line) <= 100 for line in done.stdout.splitlines())


def test_classes_that_are_digits_have_their_own_keys(ecotone, tmp_path):
    lines = ["site,x,y"] + [f"old,{i % 9},{i % 9 // 3}" for i in range(30)] + [f"new,{i % 9}," for i in range(30)]
    (tmp_path / "digits.csv").write_text("\n".join(lines) + "\n")
    args = ("label", "digits.csv", "scale | logistic", "--label", "y", "--domain", "site", "--target", "new", "--terminal")
    done = ecotone(*args, cwd=tmp_path, input="1\n2\n3\n0\nq\n")
    assert "keys: 0, 1, 2," in done.stdout and "'3' is no answer; keys: 0, 1, 2," in done.stdout
    assert [event["label"] for event in journal(tmp_path / "digits.labels")] == ["1", "2", "0"]


def test_the_terminal_takes_the_belief_but_shows_none_for_audits(ecotone, label, tmp_path):
    done = ecotone(*label("--terminal", "--audit", 2), cwd=tmp_path, input="2\n\n1\nq\n")
    asked = done.stdout.split("\nrow ")[1:]
    assert "no belief is shown for this row" in done.stdout
    audit = next(text for text in asked if text.split(" ", 1)[0] == str(journal(tmp_path / "pool.labels")[1]["row"]))
    assert "belief:" not in audit and "space belief" not in audit and "unsure of" not in audit


def test_single_keys_and_the_settings_of_the_terminal(ecotone, label, tmp_path):
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    process = subprocess.Popen([ecotone.path, *map(str, label("--terminal"))], cwd=tmp_path, stdin=slave, stdout=slave,
                               stderr=subprocess.DEVNULL)
    try:
        seen = ""
        for key, wait_for in (("1", "label 1 of 30"), ("u", "label 2 of 30"), ("q", "label 2 of 30")):
            while wait_for not in seen:
                assert select.select([master], [], [], 30)[0], seen
                seen += os.read(master, 65536).decode()
            seen = seen[seen.rindex(wait_for) + len(wait_for):] if key == "u" else ("" if key == "1" else seen)
            os.write(master, key.encode())
        deadline = time.time() + 30
        while process.poll() is None and time.time() < deadline:
            if select.select([master], [], [], 0.05)[0]:
                os.read(master, 65536)
        assert process.returncode == 0
        assert termios.tcgetattr(slave) == before
    finally:
        process.kill()
        process.wait()
        os.close(master)
        os.close(slave)
    assert [event["kind"] for event in journal(tmp_path / "pool.labels")] == ["label", "unsure"]


# ---- spreadsheets


def fill(path, answer):
    """Fills the column answer by row."""
    head, *lines = path.read_text().splitlines()
    rows = [dict(zip(head.split(","), line.split(","))) for line in lines]
    for row in rows:
        row["answer"] = answer(row)
    path.write_text("\n".join([head, *(",".join(row.values()) for row in rows)]) + "\n")
    return rows


def test_a_round_by_spreadsheet(ecotone, label, pool, tmp_path):
    told = ecotone.json(*label("--queries", "round.csv", "--count", 10), cwd=tmp_path)
    assert (told["queries"], told["questions"], told["folder"]) == ("round.csv", 10, "pool.labels")
    sheet = tmp_path / "round.csv"
    assert sheet.read_text().splitlines()[0] == "row,id,site,x1,x2,colour,answer"
    before = rows_of(pool)
    for row in rows_of(sheet):
        line = before[int(row["row"]) - 1]
        assert row == {"row": row["row"], "id": line["key"], "site": "new", "answer": ""} | {
            name: line[name] for name in ("x1", "x2", "colour")}
    words = ["", "unsure", "skip"]
    rows = fill(sheet, lambda row: words.pop() if words else truth(float(row["x1"]), float(row["x2"])))
    done = ecotone(*label("--answers", "round.csv"), cwd=tmp_path)
    assert done.stdout.startswith("stored    9 answers\n") and "advice" in done.stdout
    events = journal(tmp_path / "pool.labels")
    assert labels_of(events) == {int(row["row"]): row["answer"] for row in rows if row["answer"] in ("no", "yes")}
    assert {event["why"] for event in events} > {"audit"}
    # The same file again changes nothing.
    again = ecotone.json(*label("--answers", "round.csv"), cwd=tmp_path)
    assert (again["stored"], again["labels"], again["unsure"], again["skipped"]) == (0, 7, 1, 1)
    assert journal(tmp_path / "pool.labels") == events


def test_wrong_spreadsheets_store_nothing(ecotone, label, tmp_path):
    ecotone(*label("--queries", "round.csv", "--count", 4), cwd=tmp_path)
    sheet = tmp_path / "round.csv"
    good = sheet.read_text()
    fill(sheet, lambda row: "yes")
    filled = sheet.read_text().splitlines()
    asked = {line.split(",")[0] for line in filled[1:]}
    other = next(str(row) for row in range(41, 100) if str(row) not in asked)

    def refused(lines, code, exit=3):
        sheet.write_text("\n".join(lines) + "\n")
        return ecotone.error(*label("--answers", "round.csv"), exit=exit, code=code, cwd=tmp_path)

    assert "line 5: 'maybe' is neither unsure, skip nor one of the classes no, yes" in refused(
        filled[:4] + [filled[4].replace("yes", "maybe")], "bad_label")
    assert "line 3: 'x' is no row number" in refused(filled[:2] + ["x," + filled[2].split(",", 1)[1]], "bad_row")
    assert "line 3: row" in refused(filled[:2] + [filled[1]], "repeated_row")
    assert f"line 2: row {other} is in no file that --queries wrote" in refused(
        [filled[0], other + "," + filled[1].split(",", 1)[1]], "not_asked")
    assert "no column 'answer'" in refused(["row,reply", "1,yes"], "missing_column")
    assert "no such file" in ecotone.error(*label("--answers", "none.csv"), exit=4, code="no_such_file", cwd=tmp_path)
    ecotone(*label("--export"), cwd=tmp_path)
    assert journal(tmp_path / "pool.labels") == []
    # An answer that was stored is not changed by another file.
    sheet.write_text("\n".join(filled) + "\n")
    ecotone(*label("--answers", "round.csv"), cwd=tmp_path)
    assert "has been answered already, with yes" in refused([filled[0], filled[1].replace("yes", "no")], "answered")
    assert good.count("\n") == 5


def test_rounds_overwrite_nothing_and_stay_open(ecotone, label, tmp_path):
    ecotone(*label("--queries", "a.csv", "--count", 3), cwd=tmp_path)
    assert "may hold answers" in ecotone.error(*label("--queries", "a.csv"), exit=4, code="file_exists", cwd=tmp_path)
    ecotone(*label("--queries", "b.csv", "--count", 3), cwd=tmp_path)
    fill(tmp_path / "a.csv", lambda row: "yes")
    fill(tmp_path / "b.csv", lambda row: "UNSURE")
    assert ecotone.json(*label("--answers", "a.csv"), cwd=tmp_path)["stored"] == 3
    assert ecotone.json(*label("--answers", "b.csv"), cwd=tmp_path)["unsure"] >= 1


def test_another_budget_leaves_the_estimate_alone(ecotone, label, tmp_path):
    ecotone(*label("--queries", "a.csv", "--count", 40, "--budget", 60), cwd=tmp_path)
    fill(tmp_path / "a.csv", lambda row: truth(float(row["x1"]), float(row["x2"])))
    first = ecotone.json(*label("--answers", "a.csv", "--budget", 60), cwd=tmp_path)
    assert first["estimate"]["rows"] == first["audits"]
    for flags in (("--budget", 5000), ("--budget", 60, "--seed", 7), ("--budget", 60, "--audit", 2)):
        assert ecotone.json(*label("--export", *flags), cwd=tmp_path)["estimate"]["rows"] == first["audits"]


def test_a_pipeline_that_cannot_be_fitted_is_refused_before_the_first_question(ecotone, pool, tmp_path):
    head, first, *others = pool.read_text().splitlines()
    fields = first.split(",")
    fields[head.split(",").index("x2")] = ""
    (tmp_path / "holes.csv").write_text("\n".join([head, ",".join(fields), *others]) + "\n")
    args = ("label", "holes.csv", "scale | logistic", "--label", "y", "--domain", "site", "--target", "new", "--id", "key")
    for mode in (("--terminal",), ("--queries", "q.csv"), ()):
        message = ecotone.error(*args, *mode, exit=3, code="cannot_fit", cwd=tmp_path)
        assert "impute" in message


def test_columns_of_label_are_no_features(ecotone, label, tmp_path):
    ecotone(*label("--queries", "a.csv", "--count", 10), cwd=tmp_path)
    fill(tmp_path / "a.csv", lambda row: truth(float(row["x1"]), float(row["x2"])))
    ecotone(*label("--answers", "a.csv"), cwd=tmp_path)
    told = ecotone.json("fit", "pool.labels/labelled.csv", "scale | logistic", "--label", "y", "--domain", "site", "--id", "key",
                        "-o", "m.eco", cwd=tmp_path)
    features = ecotone.json("inspect", "m.eco", cwd=tmp_path)["features"]
    assert told["output"] == "m.eco" and not any(name.startswith("ecotone_") for name in features)


def test_queries_stay_within_the_budget(ecotone, label, tmp_path):
    assert ecotone.json(*label("--queries", "r.csv", "--budget", 5), cwd=tmp_path)["questions"] == 5
    fill(tmp_path / "r.csv", lambda row: "yes")
    ecotone(*label("--answers", "r.csv"), cwd=tmp_path)
    spent = ("--queries", "s.csv", "--budget", 5)
    assert "all 5 labels" in ecotone.error(*label(*spent), exit=3, code="budget_spent", cwd=tmp_path)
