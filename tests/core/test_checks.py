from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pytest

from lff.core import BadInputError, BadTypeError
from lff.core.checks import (
    Config,
    Count,
    EvenSize,
    Interval,
    NonNegative,
    Positive,
    Size,
    Sizes,
    validate,
)


@dataclass(frozen=True)
class Inner(Config):
    rate: Annotated[float, Positive("use 1e-4")] = 1.0


@dataclass(frozen=True, kw_only=True)
class Sample(Config):
    size: Size = 1
    start: Count = 0
    even: EvenSize = 2
    scale: Annotated[float, NonNegative()] = 0.0
    share: Annotated[float, Interval("[0, 1)")] | None = None
    widths: Sizes = (1,)
    pair: tuple[int, float] = (1, 1.0)
    kind: Literal["a", "bee"] = "a"
    flag: bool = False
    name: str = "x"
    inner: Inner | None = None
    either: Inner | float = 1.0


def test_values_are_converted_so_that_equal_configs_are_written_alike():
    config = Sample(size=np.int64(3), scale=-0.0, widths=[np.int32(4), 5], share=np.float32(0.5))
    assert config == Sample(size=3, scale=0.0, widths=(4, 5), share=0.5)
    assert type(config.size) is int
    assert type(config.share) is float
    assert str(config.scale) == "0.0"
    assert config.either == 1.0
    assert Sample(either=Inner()).either == Inner()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"size": 0}, BadInputError, "size must be a positive integer, got 0; use 1 or more"),
        ({"size": 1.5}, BadTypeError, "size must be an integer, got 1.5; pass an int"),
        ({"size": True}, BadTypeError, "size must be an integer, got True; pass an int"),
        ({"start": -1}, BadInputError, "start must be 0 or more, got -1; use 0 to start"),
        ({"even": 5}, BadInputError, "use 4 or 6"),
        ({"even": 0}, BadInputError, "use 2 or more"),
        ({"scale": -1}, BadInputError, "scale must be a finite number >= 0, got -1.0"),
        ({"scale": float("nan")}, BadInputError, "scale must be a finite number, got nan"),
        ({"scale": "1"}, BadTypeError, "scale must be a finite number, got '1'; pass a float"),
        ({"share": 1.0}, BadInputError, "share must be in [0, 1), got 1.0; use 0.5"),
        ({"widths": ()}, BadInputError, "widths must be at least one item, got ()"),
        ({"widths": (1, 0)}, BadInputError, "widths[1] must be a positive integer, got 0"),
        ({"widths": "ab"}, BadTypeError, "widths must be a sequence, got 'ab'"),
        ({"pair": (1,)}, BadInputError, "pair must be 2 items, got (1,)"),
        ({"kind": "be"}, BadInputError, "kind must be one of a, bee, got 'be'; did you mean bee?"),
        ({"flag": 1}, BadTypeError, "flag must be True or False, got 1; pass a bool"),
        ({"name": 3}, BadTypeError, "name must be a string, got 3; pass a str"),
        ({"inner": Inner}, BadTypeError, "inner must be of type Inner"),
        ({"either": "x"}, BadTypeError, "either must be one of Inner, float"),
    ],
)
def test_a_refusal_names_value_constraint_and_remedy(fields, error, message):
    with pytest.raises(error) as caught:
        Sample(**fields)
    assert message in str(caught.value)


def test_markers_of_an_inner_config_have_their_own_remedy():
    with pytest.raises(BadInputError, match="rate must be a finite number > 0"):
        Inner(rate=0)


def test_a_check_across_fields_follows_validation():
    @dataclass(frozen=True)
    class Range(Config):
        low: float
        high: float

        def __post_init__(self):
            validate(self)
            if self.low > self.high:
                raise BadInputError("low", self.low, f"at most high={self.high}", "swap them")

    assert Range(1, 2).low == 1.0
    with pytest.raises(BadInputError, match=r"low must be at most high=1\.0"):
        Range(2, 1)
