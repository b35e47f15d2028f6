import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lff.core import BadInputError, CorruptError, StorageError
from lff.store import SegmentRef, SegmentStore, find_refs


def rows(start, count):
    steps = np.arange(start, start + count)
    return {
        "obs": steps[:, None] + np.zeros((1, 3), np.float32),
        "action": steps.astype(np.float64),
        "terminated": steps % 2 == 0,
        "pixels": steps.astype(np.uint8)[:, None, None] * np.ones((1, 2, 2), np.uint8),
    }


@pytest.fixture
def store(tmp_path):
    return SegmentStore(tmp_path / "replay")


@given(st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_segments_read_as_one(tmp_path_factory, counts):
    store = SegmentStore(tmp_path_factory.mktemp("replay"))
    starts = np.cumsum([0, *counts])
    refs = [store.append(rows(a, n)) for a, n in zip(starts, counts, strict=False)]
    refs = [*find_refs(json.loads(json.dumps({"deep": [ref.to_json() for ref in refs]})))]
    joined = store.read(refs)
    expected = rows(0, sum(counts))
    assert joined.keys() == expected.keys()
    for name, array in expected.items():
        assert joined[name].dtype == array.dtype
        np.testing.assert_array_equal(joined[name], array)


def test_reading_takes_any_order_and_part(store):
    refs = [store.append(rows(start, 2)) for start in (0, 2, 4)]
    assert store.read([refs[2], refs[0]])["action"].tolist() == [4, 5, 0, 1]
    assert store.read([]) == {}


def test_one_file_a_call_and_numbers_go_on_after_reopening(store):
    assert store.append(rows(0, 2)).name == "segment-000000000.safetensors"
    assert SegmentStore(store.folder).append(rows(2, 2)).segment == 1
    assert sorted(path.name for path in store.folder.iterdir()) == [
        "segment-000000000.safetensors",
        "segment-000000001.safetensors",
    ]


@pytest.mark.parametrize(
    "arrays", [{}, {"a": np.zeros(2), "b": np.zeros(3)}, {"a": np.zeros(())}, {"a": np.float64(1)}]
)
def test_rows_must_agree(store, arrays):
    with pytest.raises(BadInputError, match="equal first axis"):
        store.append(arrays)
    assert not [*store.folder.iterdir()]


def test_rewind_forgets_what_came_after(store):
    refs = [store.append(rows(start, 1)) for start in range(5)]
    assert store.rewind(refs[:3]) == 2
    assert store.append(rows(3, 1)) == refs[3]  # as if it had never been interrupted
    assert store.rewind([]) == 4
    assert store.append(rows(0, 1)) == refs[0]


def test_rewind_spares_the_protected_and_never_overwrites_them(store):
    refs = [store.append(rows(start, 1)) for start in range(3)]
    assert store.rewind(refs[:1], protected=refs) == 0
    assert store.append(rows(1, 1)).segment == 3


def test_drop_spares_what_checkpoints_need(store):
    refs = [store.append(rows(start, 1)) for start in range(6)]
    assert store.drop_before(refs[4], protected=refs[2:]) == 2
    assert store.read(refs[2:])["action"].tolist() == [2, 3, 4, 5]
    with pytest.raises(StorageError, match="segment-000000000"):
        store.read(refs[:2])


def test_damage_is_named(store):
    ref = store.append(rows(0, 4))
    path = store.folder / ref.name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(CorruptError, match=ref.name):
        store.read([ref])


def test_wrong_count_and_other_shapes_are_refused(store):
    one, other = store.append({"a": np.zeros(2)}), store.append({"a": np.zeros((2, 3))})
    third = store.append({"b": np.zeros(2)})
    with pytest.raises(CorruptError, match="lacks the 3 rows"):
        store.read([SegmentRef(one.segment, 3, one.sha256)])
    for ref in (other, third):
        with pytest.raises(CorruptError, match=ref.name):
            store.read([one, ref])


@pytest.mark.parametrize(
    "data",
    [
        {"segment": "../../x", "count": 1, "sha256": ""},
        {"segment": -1, "count": 1, "sha256": ""},
        {"segment": True, "count": 1, "sha256": ""},
        {"segment": 1, "count": 1},
        None,
    ],
)
def test_a_reference_is_numbers_only(data):
    assert [*find_refs({"x": data})] == []
    with pytest.raises(CorruptError, match="no reference to a segment"):
        SegmentRef.from_json(data)
