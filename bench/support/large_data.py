"""A data file (.eco) of any size, written block by block: two classes, some domains that differ in where their rows lie."""
import json
import struct

import numpy as np

COLUMNS, DOMAINS, BLOCK = 200, 5, 4096


def write(path, size):
    """Writes about `size` bytes; gives the number of rows."""
    rows = size // (8 * (COLUMNS + 2))
    names = [f"x{j + 1}" for j in range(COLUMNS)]
    schema = {"columns": [{"name": name, "kind": "numeric"} for name in names], "label": "y", "domain": "site", "weight": ""}
    metadata = {
        "format": "ecotone-data", "format_version": "1", "task": "classify", "classes": ["0", "1"], "schema": schema,
        "domains": [f"site{k + 1}" for k in range(DOMAINS)], "roles": ["source"] * DOMAINS,
    }
    header = {"__metadata__": {key: value if isinstance(value, str) else json.dumps(value) for key, value in metadata.items()}}
    begin = 0
    for name, kind, shape in (("domain", "I64", [rows]), ("label", "I64", [rows]), ("x", "F64", [rows, COLUMNS])):
        end = begin + 8 * int(np.prod(shape))
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    domain = np.arange(rows) * DOMAINS // rows
    label = np.empty(rows, np.int64)
    shift = np.random.default_rng(1).normal(size=(DOMAINS, COLUMNS)) / 4
    effect = np.where(np.arange(COLUMNS) < 10, 0.5, 0)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.write(domain.astype(np.int64).tobytes())
        at_label = file.tell()
        file.seek(8 * rows, 1)
        for first in range(0, rows, BLOCK):
            random = np.random.default_rng([2, first])
            where = domain[first : first + BLOCK]
            x = random.standard_normal((len(where), COLUMNS)) + shift[where]
            label[first : first + BLOCK] = random.random(len(where)) < 1 / (1 + np.exp(-x @ effect))
            file.write(x.tobytes())
        file.seek(at_label)
        file.write(label.tobytes())
    return rows
