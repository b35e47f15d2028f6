import csv
import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lff.core import BadInputError, BadTypeError, CorruptError
from lff.store import MetricsFile, read_rows
from lff.store.metrics import rows_to_csv

values = st.one_of(
    st.none(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.lists(st.floats(allow_nan=False, allow_infinity=False)),
)
rows = st.lists(
    st.dictionaries(st.text().filter(lambda name: name != "env_step"), values).flatmap(
        lambda row: st.integers(0).map(lambda step: {**row, "env_step": step})
    ),
    max_size=8,
)


@pytest.fixture
def metrics(tmp_path):
    file = MetricsFile(tmp_path / "metrics.jsonl")
    yield file
    file.close()


@given(rows, st.data())
def test_killed_and_resumed_equals_uninterrupted(tmp_path_factory, table, data):
    folder = tmp_path_factory.mktemp("metrics")
    whole, broken = MetricsFile(folder / "whole.jsonl"), MetricsFile(folder / "broken.jsonl")
    for row in table:
        whole.append(row)
    at = data.draw(st.integers(0, len(table)), label="checkpoint")
    until = data.draw(st.integers(at, len(table)), label="killed")
    for row in table[:at]:
        broken.append(row)
    position = json.loads(json.dumps(broken.position))
    for row in table[at:until]:
        broken.append(row)
    broken.close()
    with broken.path.open("ab") as file:
        file.write(data.draw(st.sampled_from([b"", b"{", b'{"env_step": 3'])))
    again = MetricsFile(broken.path)
    again.truncate(position)
    for row in table[at:]:
        again.append(row)
    again.close()
    whole.close()
    assert broken.path.read_bytes() == whole.path.read_bytes()
    assert [*read_rows(whole.path)] == table
    assert whole.position["rows"] == len(table)


def test_one_text_for_one_row(metrics):
    metrics.append({"env_step": 1, "b": 0.1, "a": 1e-300})
    metrics.append({"b": np.float32(0.1), "env_step": np.int64(2), "a": torch.tensor(3)})
    lines = metrics.path.read_text().splitlines()
    assert lines[0] == '{"a": 1e-300, "b": 0.1, "env_step": 1}'
    assert lines[1] == '{"a": 3, "b": 0.10000000149011612, "env_step": 2}'


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), np.float32("nan"), torch.tensor(-np.inf)]
)
def test_what_is_not_finite_becomes_null(metrics, value):
    metrics.append({"env_step": 1, "q": value, "hist": [value, 1.0]})
    assert [*read_rows(metrics.path)] == [{"env_step": 1, "q": None, "hist": [None, 1.0]}]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"q": 1.0}, "env_step must be an integer, got None"),
        ({"env_step": True}, "env_step must be an integer, got True"),
        ({"env_step": 1.0}, "env_step must be an integer"),
        ({"env_step": 1, "q": torch.ones(2)}, "q must be one number"),
        ({"env_step": 1, "q": {"a": 1}}, "q must be a number, a string"),
        ({"env_step": 1, 2: 1}, "a metric's name must be a string"),
    ],
)
def test_a_bad_row_is_refused_whole(metrics, row, words):
    with pytest.raises((BadInputError, BadTypeError), match=words):
        metrics.append(row)
    assert metrics.position["bytes"] == metrics.position["rows"] == 0
    assert metrics.path.read_bytes() == b""


def test_half_a_row_is_cut_at_open_and_skipped_by_readers(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"env_step": 1}\n{"env_st')
    assert [*read_rows(path)] == [{"env_step": 1}]
    MetricsFile(path).close()
    assert path.read_bytes() == b'{"env_step": 1}\n'


@pytest.mark.parametrize(
    "position",
    [{"bytes": 99, "rows": 2}, {"bytes": 16, "rows": 2}, {"bytes": 17, "rows": 1}, {"rows": 1}, {}],
)
def test_a_position_that_does_not_fit_is_refused(metrics, position):
    metrics.append({"env_step": 1})
    metrics.append({"env_step": 2})
    with pytest.raises(CorruptError, match=r"metrics\.jsonl"):
        metrics.truncate(position)
    assert metrics.position["rows"] == 2


def test_a_large_file_is_counted_across_blocks(tmp_path):
    path = tmp_path / "metrics.jsonl"
    line = b'{"env_step": 1, "x": "' + b"y" * 999 + b'"}\n'
    path.write_bytes(line * 3000 + b"{")
    metrics = MetricsFile(path)
    assert (metrics.position["bytes"], metrics.position["rows"]) == (len(line) * 3000, 3000)
    metrics.truncate({"bytes": len(line) * 2000, "rows": 2000})
    metrics.close()
    assert path.stat().st_size == len(line) * 2000


def test_damaged_line_is_named(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"env_step": 1}\n[1]\n')
    with pytest.raises(CorruptError, match=r"metrics\.jsonl, line 2"):
        [*read_rows(path)]


def test_wide_table(metrics, tmp_path):
    metrics.append({"env_step": 1, "b": 0.5, "=cmd": "@x"})
    metrics.append({"env_step": 2, "a": [1, 2], "b": None, "c": -3})
    (tmp_path / "metrics.csv").write_bytes(rows_to_csv([*read_rows(metrics.path)]))
    with (tmp_path / "metrics.csv").open(newline="") as file:
        assert [*csv.reader(file)] == [
            ["env_step", "'=cmd", "a", "b", "c"],
            ["1", "'@x", "", "0.5", ""],
            ["2", "", "[1, 2]", "", "-3"],
        ]
