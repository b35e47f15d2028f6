"""Named mutations that turn a results folder of one study into a hostile one."""

import base64
import functools
import gzip
import json
import shutil
import zlib
from pathlib import Path

from tests.trust.kinds import DEEP, ESCAPES, HTML, edit, kind, link, register_files

STUDY, SCALE = "claim-lazy", "laptop"
TABLE, SIDECAR = f"{SCALE}/{STUDY}.csv", f"{SCALE}/{STUDY}.json"
FIELDS, PUBLISHED = f"{SCALE}/{STUDY}.fields.json", "published.csv"
DIGEST = next(
    iter(json.loads((Path(__file__).parents[2] / "results" / SIDECAR).read_text())["jobs"])
)
RECORD = f"jobs/{DIGEST}.csv.gz"

RESULTS = {}
"""Mutations of results folders by name."""

register_files(RESULTS, (TABLE, SIDECAR, FIELDS, PUBLISHED, RECORD))
for _name in ("jobs", SCALE):
    RESULTS[f"link: {_name}"] = functools.partial(link, name=_name)

for _title, _text in {"HTML": HTML, "escapes": ESCAPES}.items():
    for _column in ("variant", "task", "metric", "experiment"):

        @kind(f"{_title}: {_column}s of the table", RESULTS)
        def _(folder, _, text=_text, column=_column):
            head, *lines = (folder / TABLE).read_text().splitlines()
            at = head.split(",").index(column)
            quoted = '"' + text.replace('"', '""') + '"'
            cells = [line.split(",") for line in lines if '"' not in line][:40]
            for one in cells:
                one[at] = quoted
            text = "\n".join([head, *lines, *map(",".join, cells)])
            (folder / TABLE).write_text(text + "\n", newline="")

    @kind(f"{_title}: sidecar", RESULTS)
    def _(folder, _, text=_text):
        data = json.loads((folder / SIDECAR).read_text())
        more = {"command": text, "seeds": text, "versions": {text: text}, text: text}
        (folder / SIDECAR).write_text(json.dumps(data | more))

    @kind(f"{_title}: published scores", RESULTS)
    def _(folder, _, text=_text):
        with (folder / PUBLISHED).open("a", newline="") as file:
            file.write(f'"{text.replace(chr(34), "")}",SAC,1000,1.0,,5,"{text[1:9]}"\n')

    @kind(f"{_title}: rows of a record", RESULTS)
    def _(folder, _, text=_text):
        record(folder, rows=f'0,0,"{text.replace(chr(34), "")}",1.0\n')

    @kind(f"{_title}: fields", RESULTS)
    def _(folder, _, text=_text):
        cells = base64.b64encode(zlib.compress(bytes(8))).decode()
        names = dict.fromkeys(("metric", "name", "variant", "task"), text)
        entry = names | {"shape": [2, 2], "low": 0, "high": 1, "cells": cells}
        (folder / FIELDS).write_text(json.dumps([entry]))


def record(folder, header=None, rows="0,0,x,1.0\n"):
    head = {"job": {}, "seconds": 1.0, "outcome": "finished"} if header is None else header
    text = head if isinstance(head, str) else json.dumps(head)
    content = f"{text}\nseed,step,metric,value\n{rows}".encode()
    (folder / RECORD).write_bytes(gzip.compress(content))


RECORDS = {
    "deep header": {"header": DEEP["objects"].decode()},
    "a list": {"header": "[]"},
    "seconds": {"header": {"seconds": "x"}},
    "infinite seconds": {"header": '{"seconds": Infinity}'},
    "rows of text": {"rows": "a,b,c,d\n"},
    "a cell less": {"rows": "0,0,x\n"},
    "huge integers": {"rows": "9" * 5000 + ",0,x,1\n"},
    "not numbers": {"rows": "0,0,x,nan\n0,0,x,inf\n"},
    "no rows": {"rows": ""},
}
for _title, _changes in RECORDS.items():
    RESULTS[f"record: {_title}"] = lambda folder, _, changes=_changes: record(folder, **changes)


@kind("record: a bomb", RESULTS)
def _(folder, _):
    packer = zlib.compressobj(9, wbits=31)
    zeros = b"0" * 2**20
    parts = [packer.compress(zeros) for _ in range(512)]
    (folder / RECORD).write_bytes(b"".join(parts) + packer.flush())


@kind("record: cut", RESULTS)
def _(folder, _):
    path = folder / RECORD
    path.write_bytes(path.read_bytes()[:20])


@kind("record: a part of it is a link", RESULTS)
def _(folder, canary):
    (canary / "target").write_text("keep me")
    path = folder / RECORD
    path.with_name(f".{path.name}").symlink_to(canary / "target")
    path.unlink()


LINES = {
    "texts for numbers": "a,b,c,d,e,f,g",
    "too few": "a,b",
    "not finite": "e,v,t,0,0,m,nan\ne,v,t,0,0,m,inf",
    "huge": f"e,v,t,{10**400},0,m,1",
    "beyond 64 bits": f"e,v,t,{10**30},{10**30},m,1e308",
    "an open quote": 'e,"v,t',
    "NUL": "e,\0,t,0,0,m,1",
}
for _title, _line in LINES.items():

    @kind(f"table: {_title}", RESULTS)
    def _(folder, _, line=_line):
        with (folder / TABLE).open("a") as file:
            file.write(line + "\n")


@kind("table: a head alone", RESULTS)
def _(folder, _):
    (folder / TABLE).write_text((folder / TABLE).read_text().splitlines()[0] + "\n")


SIDES = {
    "jobs": [7, [], {"x": 7}, {"../../x": [["a", "b", 1]]}],
    "planned": ["x", -1, 1e300, None],
    "claims": [7, ["x"]],
    "versions": [7],
    "seeds": [{"a": 1}],
    "command": [7, ["x"]],
}
for _field, _values in SIDES.items():
    for _value in _values:
        RESULTS[f"sidecar: {_field} = {json.dumps(_value)}"] = (
            lambda folder, _, field=_field, value=_value: edit(folder, SIDECAR, **{field: value})
        )
SURFACES = {
    "huge": {"shape": [2**20, 2**20], "cells": base64.b64encode(zlib.compress(b"0")).decode()},
    "negative": {"shape": [-1, 4], "cells": ""},
    "not base64": {"shape": [1, 1], "cells": "!"},
    "texts": {"shape": ["a", "b"], "cells": ""},
    "a number": {"shape": 7, "cells": 7},
    "infinite": {"shape": [1, 1], "cells": "", "low": 1e300, "high": -1e300},
}
for _title, _entry in SURFACES.items():

    @kind(f"fields: {_title}", RESULTS)
    def _(folder, _, entry=_entry):
        names = dict.fromkeys(("metric", "name", "variant", "task"), "x")
        (folder / FIELDS).write_text(json.dumps([names | {"low": 0, "high": 1} | entry]))


def base_results(source: Path, folder: Path):
    """A results folder with one study: its table, sidecar, record, published scores."""
    (folder / SCALE).mkdir(parents=True)
    (folder / "jobs").mkdir()
    for name in (TABLE, SIDECAR, PUBLISHED):
        shutil.copy(source / name, folder / name)
    record(folder)
