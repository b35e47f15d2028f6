import hashlib
import json
import logging

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from lff.core import BadInputError, BadTypeError, CorruptError, StorageError
from lff.store import Checkpoint, kept_metas, load, load_latest, save
from lff.store.atomic import DTYPES, decode, encode
from lff.store.checkpoint import final_step, reopen

GOLDEN = "51e15d89db4c770f3b981405c055ec429fc396943f17877cf1f2df47ff408200"


def every_dtype_and_shape():
    rng = np.random.default_rng(0)
    arrays = {}
    for dtype in DTYPES:
        for shape in ((), (0,), (3,), (2, 0, 3), (2, 3)):
            raw = rng.integers(0, 2, (*shape, dtype.itemsize), dtype=np.uint8)
            arrays[f"{dtype}{shape}"] = np.ascontiguousarray(raw).view(dtype).reshape(shape)
    return arrays


def names(folder):
    return sorted(path.name for path in (folder / "checkpoints").iterdir())


def test_round_trip_of_every_dtype_and_shape(tmp_path):
    arrays = every_dtype_and_shape()
    save(tmp_path, 7, arrays, {})
    loaded = load_latest(tmp_path).arrays
    assert loaded.keys() == arrays.keys()
    for name, array in arrays.items():
        assert loaded[name].dtype == array.dtype
        assert loaded[name].shape == array.shape
        assert loaded[name].tobytes() == array.tobytes()


def test_bytes_are_those_that_torch_writes():
    arrays = every_dtype_and_shape()
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    assert encode(arrays) == safetensors.torch.save(tensors)
    # as written by lff 0.1, which wrote through torch
    w = np.arange(6, dtype=np.float32).reshape(2, 3)
    known = {"w": w, "n": np.array(7), "b": np.ones(2, bool)}
    assert hashlib.sha256(encode(known)).hexdigest() == GOLDEN


@given(
    npst.arrays(
        dtype=st.sampled_from(
            [np.bool_, np.uint8, np.int8, np.int32, np.int64, np.uint64, np.float32, np.float64]
        ),
        shape=npst.array_shapes(min_dims=0, max_dims=3, min_side=0),
    )
)
def test_numpy_arrays_keep_dtype_shape_and_bits(array):
    again = decode(encode({"x": array}), "file")["x"]
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    assert again.tobytes() == array.tobytes()


def test_nan_payloads_and_signed_zeros_survive(tmp_path):
    words = np.array([0x7FC00001, 0x7F800001, -0x80000000, 0x7F800000], dtype=np.int32)
    save(tmp_path, 0, {"x": words.view(np.float32)}, {})
    assert np.array_equal(load_latest(tmp_path).arrays["x"].view(np.int32), words)


def test_views_and_shared_memory_are_written_in_full(tmp_path):
    base = np.arange(12.0).reshape(3, 4)
    frozen = np.arange(3)
    frozen.setflags(write=False)
    tensors = {
        "base": base,
        "same": base,
        "t": base.T,
        "row": base[1],
        "wide": np.broadcast_to(base[:1], (5, 4)),
    }
    save(tmp_path, 0, {**tensors, "frozen": frozen}, {})
    loaded = load_latest(tmp_path).arrays
    assert all(np.array_equal(loaded[name], tensor) for name, tensor in tensors.items())
    assert loaded["frozen"].tolist() == [0, 1, 2]
    loaded["base"][:] = 0  # writable, and of its own memory
    assert loaded["same"].sum() == 66


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), json_values))
def test_meta_comes_back_equal(tmp_path_factory, meta):
    folder = tmp_path_factory.mktemp("run")
    save(folder, 1, {}, meta)
    assert load_latest(folder).meta == meta


def test_big_integers_of_a_generator_survive(tmp_path):
    state = np.random.default_rng(0).bit_generator.state
    save(tmp_path, 1, {}, {"rng": state})
    assert load_latest(tmp_path).meta["rng"] == state


@pytest.mark.parametrize(
    ("meta", "words"),
    [
        ({"optimizer": {0: 1}}, "meta.optimizer's key must be a string, got 0"),
        ({"best": [1.0, float("inf")]}, r"meta.best\[1\] must be finite"),
        ({"x": {"w": np.ones(2)}}, "meta.x.w must be plain JSON data"),
    ],
)
def test_meta_that_would_not_come_back_is_refused_before_writing(tmp_path, meta, words):
    with pytest.raises(BadInputError, match=words):
        save(tmp_path, 1, {}, meta)
    assert not (tmp_path / "checkpoints").exists()


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        ({"x": [1, 2]}, "x must be a numpy array"),
        ({"x": torch.eye(1)}, "x must be a numpy array"),
        ({"x": np.array(["a"])}, "x must be an array of numbers"),
        ({"x": np.array([None])}, "x must be an array of numbers"),
        ({"x": np.zeros(1, np.complex128)}, "x must be .* of a storable dtype"),
        ({3: np.ones(1)}, "name must be a string, got 3"),
    ],
)
def test_what_cannot_be_stored_is_named(tmp_path, tensors, words):
    with pytest.raises(BadTypeError, match=words):
        save(tmp_path, 1, tensors, {})


def test_step_must_be_a_count(tmp_path):
    with pytest.raises(BadInputError, match="step must be from 0"):
        save(tmp_path, -1, {}, {})


def test_layout_and_manifest(tmp_path):
    path = save(tmp_path, 12345, {"w": np.ones(2)}, {"a": 1})
    assert path == tmp_path / "checkpoints" / "step-000012345"
    assert sorted(p.name for p in path.iterdir()) == [
        "manifest.json",
        "meta.json",
        "tensors.safetensors",
    ]
    manifest = json.loads((path / "manifest.json").read_text())
    assert manifest["layout"] == 3
    assert manifest["step"] == 12345
    assert {name: entry["bytes"] for name, entry in manifest["files"].items()} == {
        name: (path / name).stat().st_size for name in ("meta.json", "tensors.safetensors")
    }


def test_equal_states_have_equal_bytes(tmp_path):
    for run in ("one", "two"):
        (tmp_path / run).mkdir()
        save(tmp_path / run, 3, {"b": np.ones(2), "a": np.zeros(1)}, {"y": 1, "x": 2})
    for name in ("tensors.safetensors", "meta.json", "manifest.json"):
        one, two = (tmp_path / run / "checkpoints/step-000000003" / name for run in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_the_last_two_are_kept(tmp_path):
    for step in (100, 200, 300, 400):
        save(tmp_path, step, {"x": np.array(step)}, {})
    assert names(tmp_path) == ["step-000000300", "step-000000400"]
    assert load_latest(tmp_path).step == 400
    assert [*kept_metas(tmp_path)] == [{}, {}]


def test_final_is_one_of_the_last_two(tmp_path):
    for step in (100, 200):
        save(tmp_path, step, {}, {})
    assert final_step(tmp_path) is None
    save(tmp_path, 250, {}, {}, final=True)
    assert names(tmp_path) == ["final", "step-000000200"]
    assert load_latest(tmp_path).step == final_step(tmp_path) == 250


def test_a_finished_run_goes_on(tmp_path):
    save(tmp_path, 100, {}, {}, final=True)
    reopen(tmp_path)
    assert names(tmp_path) == ["step-000000100"]
    assert final_step(tmp_path) is None
    save(tmp_path, 200, {}, {}, final=True)
    assert names(tmp_path) == ["final", "step-000000100"]


def test_final_is_replaced(tmp_path):
    save(tmp_path, 100, {}, {"n": 1}, final=True)
    save(tmp_path, 200, {}, {"n": 2}, final=True)
    assert names(tmp_path) == ["final"]
    assert load_latest(tmp_path).meta == {"n": 2}


def test_the_same_step_again_replaces_it(tmp_path):
    save(tmp_path, 100, {}, {"n": 1})
    save(tmp_path, 100, {}, {"n": 2})
    assert names(tmp_path) == ["step-000000100"]
    assert load_latest(tmp_path).meta == {"n": 2}


def test_none_before_the_first(tmp_path):
    assert load_latest(tmp_path) is None
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "step-000000001.new").mkdir()  # killed during the first save
    assert load_latest(tmp_path) is None


def test_complete_but_not_yet_renamed_counts(tmp_path):
    path = save(tmp_path, 100, {}, {"n": 1})
    path.rename(path.with_name(path.name + ".new"))
    assert load_latest(tmp_path).meta == {"n": 1}
    save(tmp_path, 200, {}, {})
    assert names(tmp_path) == ["step-000000100", "step-000000200"]


def test_a_half_written_one_is_swept_away(tmp_path):
    path = save(tmp_path, 100, {}, {}).with_name("step-000000200.new")
    path.mkdir()
    (path / "meta.json").touch()
    assert load_latest(tmp_path).step == 100
    save(tmp_path, 300, {}, {})
    assert names(tmp_path) == ["step-000000100", "step-000000300"]


def test_damage_falls_back_and_names_the_file(tmp_path, caplog):
    save(tmp_path, 100, {"x": np.zeros(9)}, {})
    path = save(tmp_path, 200, {"x": np.ones(9)}, {})
    (path / "meta.json").unlink()
    with caplog.at_level(logging.WARNING):
        found = load_latest(tmp_path)
    assert isinstance(found, Checkpoint)
    assert found.step == 100
    assert str(path / "meta.json") in caplog.text
    assert str(path / "meta.json") in found.passed_over[0]


def test_a_damaged_one_ahead_does_not_push_out_good_ones(tmp_path):
    save(tmp_path, 100, {"x": np.zeros(9)}, {})
    bad = save(tmp_path, 300, {"x": np.zeros(9)}, {}) / "tensors.safetensors"
    bad.write_bytes(bad.read_bytes()[:-1] + b"!")  # same size
    assert load_latest(tmp_path).step == 100
    save(tmp_path, 150, {"x": np.zeros(9)}, {})
    assert names(tmp_path) == ["step-000000100", "step-000000150"]


def test_none_good_names_them_all(tmp_path):
    for path in [save(tmp_path, step, {}, {}) for step in (1, 2)]:
        (path / "manifest.json").write_text("{}")
    with pytest.raises(CorruptError) as caught:
        load_latest(tmp_path)
    message = str(caught.value)
    assert "step-000000001" in message
    assert "step-000000002" in message
    assert "\n" not in message
    assert caught.value.exit_code == 74


def test_a_newer_layout_says_so(tmp_path):
    path = save(tmp_path, 1, {}, {}) / "manifest.json"
    path.write_text(path.read_text().replace('"layout": 3', '"layout": 4'))
    with pytest.raises(CorruptError, match="has layout '4'; this version of lff reads layout 3"):
        load(path.parent)


def test_one_of_the_first_version_names_the_version_that_reads_it(tmp_path):
    path = save(tmp_path, 1, {}, {}) / "manifest.json"
    path.write_text(path.read_text().replace('"layout": 3', '"format": 1'))
    with pytest.raises(StorageError, match=r"was written by lff 0\.1; version 0\.1 reads it: pip"):
        load(path.parent)


def test_missing_run_folder(tmp_path):
    with pytest.raises(StorageError, match=r"gone.*no such file or folder"):
        save(tmp_path / "gone", 1, {}, {})
