import json
import sys
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lff.core import BadInputError, BadTypeError, digest, from_dict, from_json, to_dict, to_json
from lff.core.config import Registry
from lff.nn import (
    FFN,
    AnyFront,
    ConcatMLPTrunk,
    ConstantControl,
    Conv1x1,
    D2RLTrunk,
    DeepFourierTrunk,
    Fourier,
    Fourier2d,
    Identity,
    LinearControl,
    LogUniformFourier,
    MLPTrunk,
    NetConfig,
    NoFront,
    PixelEncoderConfig,
    SIRENTrunk,
    TanhControl,
)

pytestmark = pytest.mark.usefixtures("unchecked")

sizes = st.integers(1, 2000)
even = st.integers(1, 1000).map(lambda n: 2 * n)
scales = st.floats(0, 1e6, allow_nan=False)
hidden = st.lists(sizes, min_size=1, max_size=4).map(tuple)
fourier = st.builds(
    Fourier, fourier_dim=even, sigma=scales, trainable=st.booleans(), concat_input=st.booleans()
)
fronts = st.one_of(
    st.just(Identity()),
    fourier,
    st.builds(LogUniformFourier, fourier_dim=even, ratio=scales),
    st.builds(LinearControl, fourier_dim=even, sigma=scales),
    st.builds(TanhControl, fourier_dim=even, sigma=scales),
    st.builds(ConstantControl, fourier_dim=even),
    st.builds(FFN, scale=scales, features=st.none() | sizes),
)
activations = st.sampled_from(["relu", "tanh"])
trunks = st.one_of(
    st.builds(
        MLPTrunk,
        hidden=hidden,
        activation=activations,
        init=st.sampled_from(["orthogonal", "default"]),
    ),
    st.builds(ConcatMLPTrunk, hidden=hidden, activation=activations),
    st.builds(D2RLTrunk, hidden=hidden),
    st.builds(SIRENTrunk, hidden=hidden, first_omega=st.floats(0.1, 100)),
    st.builds(DeepFourierTrunk, hidden=st.lists(even, min_size=1, max_size=3).map(tuple)),
)
nets = st.builds(NetConfig, front=fronts, trunk=trunks)


@given(nets)
def test_round_trip_through_json_text(config):
    again = from_json(NetConfig, json.dumps(json.loads(to_json(config))))
    assert again == config
    assert digest(again) == digest(config)


@given(
    st.builds(
        PixelEncoderConfig,
        front=st.one_of(
            st.just(NoFront()),
            st.builds(Conv1x1, channels=sizes),
            st.builds(Fourier2d, fourier_dim=even, sigma=scales, per_frame=st.booleans()),
        ),
        feature_dim=sizes,
    )
)
def test_pixel_configs_round_trip(config):
    assert from_dict(PixelEncoderConfig, to_dict(config)) == config


@given(nets, nets)
def test_digests_differ_exactly_where_configs_do(one, other):
    assert (digest(one) == digest(other)) == (to_dict(one) == to_dict(other))


def test_digest_is_pinned_across_machines_and_versions():
    config = NetConfig(Fourier(fourier_dim=1024, sigma=0.001), MLPTrunk(hidden=(1024, 1024)))
    assert digest(config) == "dd3555f3df755fbf"


def test_an_int_where_a_float_belongs_is_the_same_config():
    assert digest(Fourier(fourier_dim=8, sigma=1)) == digest(Fourier(fourier_dim=8, sigma=1.0))


def test_numpys_numbers_and_negative_zero_are_written_alike():
    plain = Fourier(fourier_dim=64, sigma=0.0)
    odd = Fourier(fourier_dim=np.int64(64), sigma=np.float32(-0.0))
    assert odd == plain
    assert digest(odd) == digest(plain)
    assert from_json(Fourier, to_json(odd)) == plain
    trunk = MLPTrunk(hidden=(np.int32(8), 8))
    assert digest(trunk) == digest(MLPTrunk(hidden=(8, 8)))


def test_a_list_of_widths_becomes_a_tuple():
    assert MLPTrunk(hidden=[32, 32]) == MLPTrunk(hidden=(32, 32))
    assert hash(MLPTrunk(hidden=[32, 32])) == hash(MLPTrunk(hidden=(32, 32)))


def test_union_is_read_by_its_tag():
    data = {"type": "fourier", "fourier_dim": 8, "sigma": 0.1}
    assert from_dict(AnyFront, data) == Fourier(fourier_dim=8, sigma=0.1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"type": "Fouriér"}, ["config.front.type", "Fouriér", "did you mean fourier?"]),
        ({"sigmo": 1}, ["sigmo", "did you mean sigma?"]),
        ({"sigma": "big"}, ["config.front.sigma", "'big'", "float"]),
        ({"fourier_dim": 3.5}, ["config.front.fourier_dim", "3.5", "int"]),
        ({"fourier_dim": 7}, ["fourier_dim", "7", "even", "use 6 or 8"]),
        ({"trainable": 1}, ["config.front.trainable", "bool"]),
    ],
)
def test_bad_data_names_field_value_and_remedy(change, words):
    data = to_dict(NetConfig(Fourier(fourier_dim=8, sigma=0.1)))
    data["front"] |= change
    with pytest.raises(BadInputError) as caught:
        from_dict(NetConfig, data)
    message = str(caught.value)
    assert "\n" not in message
    assert all(word in message for word in words), message


def test_missing_field_is_named():
    with pytest.raises(BadInputError, match="add sigma"):
        from_dict(Fourier, {"type": "fourier", "fourier_dim": 8})


def test_broken_json_is_one_clear_line():
    with pytest.raises(BadInputError, match="config must be JSON"):
        from_json(NetConfig, "{not json")


def test_a_class_is_not_a_config():
    with pytest.raises(BadTypeError, match="dataclass instance"):
        to_dict(Fourier)
    with pytest.raises(BadTypeError, match="front must be one of"):
        NetConfig(front=Fourier)


class TestTags:
    def test_a_tag_is_written_in_place_of_the_class_name(self):
        @dataclass(frozen=True)
        class Renamed:
            tag: ClassVar[str] = "old-name"
            x: int = 1

        assert to_dict(Renamed()) == {"type": "old-name", "x": 1}
        assert from_dict(Renamed, {"type": "old-name", "x": 2}) == Renamed(2)

    def test_a_registry_in_the_annotation_decodes_its_classes(self):
        assert from_dict(Holder, to_dict(Holder(Ours(3)))) == Holder(Ours(3))

    def test_a_class_from_outside_needs_trust(self, tmp_path, monkeypatch):
        code = (
            "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Own:\n    x: int\n"
        )
        (tmp_path / "registry_guest.py").write_text(code)
        monkeypatch.syspath_prepend(tmp_path)
        data = to_dict(Holder(Ours(1))) | {"inner": {"type": "registry_guest:Own", "x": 5}}
        with pytest.raises(BadInputError, match="--trust registry_guest"):
            from_dict(Holder, data)
        assert "registry_guest" not in sys.modules
        held = from_dict(Holder, data, trust=("registry_guest",))
        assert held.inner.x == 5
        assert to_dict(held) == data

    def test_an_unknown_tag_names_the_nearest(self):
        data = to_dict(Holder(Ours(1)))
        with pytest.raises(BadInputError, match="did you mean ours"):
            from_dict(Holder, data | {"inner": {"type": "our", "x": 1}})


@dataclass(frozen=True)
class Ours:
    tag: ClassVar[str] = "ours"
    x: int


@dataclass(frozen=True)
class Holder:
    inner: Annotated[Any, Registry("inner", {"ours": f"{__name__}:Ours"})]
