"""What methods say of their record is what docs/results/alignment.json has."""
import json
import pathlib
import re

ROWS = {"scale": "`scale by=domain`", "rank": "`rank by=domain`", "transport": "`transport exact`", "anchor": "`anchor gamma=3`",
        "logistic": "`risk=vrex`"}


def test_methods_tell_the_record_that_was_measured(ecotone):
    table = json.loads((pathlib.Path(__file__).parents[2] / "docs/results/alignment.json").read_text())
    counts = {(row["row"].strip("`"), row["column"]): row["ours"] for row in table["rows"]}
    told = set()
    for method in json.loads(ecotone("methods", "--json").stdout)["methods"]:
        found = re.search(r"better than nothing in (\d+) and worse in (\d+) of (\d+) new domains", method["when"])
        if not found:
            continue
        row = ROWS.get(method["name"], method["name"]).strip("`")
        better, equal, worse = (counts[row, column] for column in ("better", "equal", "worse"))
        assert [int(number) for number in found.groups()] == [better, worse, better + equal + worse], method["name"]
        told.add(method["name"])
    assert told >= {"scale", "rank", "coral", "linot", "barycentre", "subspace", "tca", "weight.kmm", "weight.kliep", "weight.ulsif",
                    "weight.rulsif", "weight.tars", "weight.balance", "transport", "adapt.jdot", "groupdro", "anchor",
                    "logistic"}
