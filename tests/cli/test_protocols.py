"""Protocols of evaluate: forward in time, groups, named domains."""

import csv
import datetime

import pytest

COLUMNS = ("--label", "y", "--domain", "site")
PIPELINE = "scale | logistic"


def rows_of_visits():
    """Thirty patients with four visits each, two patients at a time, some at two sites; the label follows x1."""
    start = datetime.date(2020, 1, 1)
    for i in range(120):
        patient, visit = i // 8 * 2 + i % 2, i % 8 // 2
        x1, x2 = (patient * 37 % 11) + visit * 0.3, (i * 53 % 17) / 4
        site = "abc"[(patient + (visit == 3 and patient % 5 == 0)) % 3]
        yield {
            "patient": f"p{patient}",
            "day": (start + datetime.timedelta(days=5 * (i // 2))).isoformat(),
            "site": site,
            "x1": x1,
            "x2": x2,
            "y": "yes" if x1 + (i * i * 29 % 7) > 8 else "no",
        }


def write(path, rows):
    rows = list(rows)
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return path


def rubbish(row):
    return row | {"x1": 40, "x2": -40, "y": "no" if row["y"] == "yes" else "yes"}


def predictions(path):
    with open(path, newline="") as file:
        return {int(row["row"]): (row["prediction"], row["p_yes"]) for row in csv.DictReader(file)}


@pytest.fixture
def visits(tmp_path):
    return write(tmp_path / "visits.csv", rows_of_visits())


def test_forward_scores_blocks_of_time(ecotone, visits):
    flags = (visits, PIPELINE, "--label", "y", "--ignore", "patient,site", "--time", "day", "--protocol", "forward")
    found = ecotone.json("evaluate", *flags, "--blocks", "3", "--gap", "10", "--window", "100")
    assert found["protocol"] == "forward"
    forward = found["forward"]
    assert (forward["time"], forward["gap"], forward["window"]) == ("day", 10, 100)
    names = [block["block"] for block in forward["blocks"]]
    assert names == [domain["domain"] for domain in found["pipelines"][0]["domains"]]
    assert names[0] == "2020-03-16 to 2020-05-25"
    assert forward["blocks"][0]["trained_rows"] == 26  # 15 days from 2020-01-01 on, two visits each, less the gap
    table = ecotone("evaluate", *flags).stdout
    assert "in each block of time" in table and "5 blocks" in table and "paired" not in table


def test_forward_needs_times(ecotone, visits):
    flags = (visits, "constant", "--label", "y", "--ignore", "patient", "--protocol", "forward")
    assert "--time" in ecotone.error("evaluate", *flags, exit=3, code="no_time")
    flags += ("--time", "day")
    assert "60" in ecotone.error("evaluate", *flags, "--blocks", "60", exit=3, code="too_few_times")
    assert "gap" in ecotone.error("evaluate", *flags, "--gap", "1000", exit=3, code="no_training_rows")
    assert "--gap" in ecotone.error("evaluate", visits, "constant", *COLUMNS, "--gap", "3", exit=2, code="idle_flag")


def test_forward_sees_nothing_of_the_future(ecotone, visits, tmp_path):
    """Rubbish in the rows after a block, and in its labels, changes no prediction for it."""
    end = "2020-05-25"  # of the first block
    later = write(
        tmp_path / "later.csv", (rubbish(row) if row["day"] > end else row for row in rows_of_visits())
    )
    found = []
    for data in (visits, later):
        out = tmp_path / f"{data.stem}_predictions.csv"
        flags = ("--time", "day", "--group", "patient", "--protocol", "forward", "--blocks", "3")
        ecotone("evaluate", data, PIPELINE, *COLUMNS, *flags, "--save-predictions", out)
        found.append(predictions(out))
    block = [i + 1 for i, row in enumerate(rows_of_visits()) if "2020-03-16" <= row["day"] <= end]
    assert len(block) == 30 and all(found[0][row] == found[1][row] for row in block)
    assert found[0] != found[1]


@pytest.mark.parametrize("protocol", ["leave-one-domain-out", "adapt", "k-fold", "domain-split"])
def test_a_patient_is_never_on_both_sides(ecotone, visits, tmp_path, protocol):
    """Rubbish in other visits of a held-out patient changes no prediction for that patient."""
    flags = (PIPELINE, *COLUMNS, "--group", "patient", "--protocol", protocol)
    found = ecotone.json("evaluate", visits, *flags)
    assert found["groups"] == {"column": "patient", "groups": 30}
    if protocol in ("k-fold", "domain-split"):
        return
    # Site c is held out with visits of p5, p20 (at site a and b before): these visits are trained on by nobody.
    patients = {row["patient"] for row in rows_of_visits() if row["site"] == "c"}
    changed = [
        rubbish(row) if row["patient"] in patients and row["site"] != "c" else row for row in rows_of_visits()
    ]
    assert changed != list(rows_of_visits())
    other = write(tmp_path / "other.csv", changed)
    kept = []
    for data in (visits, other):
        out = tmp_path / f"{data.stem}_predictions.csv"
        ecotone("evaluate", data, *flags, "--save-predictions", out)
        kept.append(predictions(out))
    held = [i + 1 for i, row in enumerate(rows_of_visits()) if row["site"] == "c"]
    assert all(kept[0][row] == kept[1][row] for row in held)
    assert kept[0] != kept[1]


def test_tune_and_fit_take_groups(ecotone, visits, tmp_path):
    flags = (visits, "scale | logistic l2={0.01,1}", "--label", "y", "--ignore", "day,site")
    blind = ecotone.json("tune", *flags)
    aware = ecotone.json("tune", *flags, "--group", "patient")
    assert blind["points"] != aware["points"]
    ecotone("fit", *flags[:1], PIPELINE, *flags[2:], "--group", "patient", "-o", tmp_path / "model.eco")


def test_choose_takes_targets(ecotone, visits):
    flags = (visits, "constant", PIPELINE, *COLUMNS, "--ignore", "patient,day", "--protocol", "adapt")
    found = ecotone.json("evaluate", *flags, "--choose", "importance", "--target", "b", "--target", "c")
    assert [target["domain"] for target in found["targets"]] == ["b", "c"]
