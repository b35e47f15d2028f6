"""States of numpy's random generators as arrays, so that a checkpoint needs no pickle."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lff.core.errors import BadInputError

_HALF = 2**64


def legacy_to_arrays(random: np.random.RandomState, name: str) -> dict[str, NDArray[Any]]:
    """Return the state of a Mersenne Twister (dm_control's tasks draw from one)."""
    _, key, position, has_gauss, gauss = random.get_state(legacy=True)
    return {
        f"{name}.key": np.array(key, dtype=np.uint32),
        f"{name}.position": np.array([position, has_gauss], dtype=np.int64),
        f"{name}.gauss": np.array([gauss], dtype=np.float64),
    }


def legacy_from_arrays(
    random: np.random.RandomState, name: str, state: Mapping[str, NDArray[Any]]
) -> None:
    """Set a Mersenne Twister to a state of :func:`legacy_to_arrays`."""
    position, has_gauss = (int(n) for n in state[f"{name}.position"])
    gauss = float(state[f"{name}.gauss"][0])
    random.set_state(("MT19937", state[f"{name}.key"], position, has_gauss, gauss))


def generator_to_arrays(random: np.random.Generator, name: str) -> dict[str, NDArray[Any]]:
    """Return the state of a PCG64 (Gymnasium's environments and spaces draw from one)."""
    state: Any = random.bit_generator.state
    if state["bit_generator"] != "PCG64":
        raise BadInputError(name, random, "a PCG64 generator", "leave Gymnasium's own in place")
    words = [
        part
        for number in (state["state"]["state"], state["state"]["inc"])
        for part in divmod(number, _HALF)
    ]
    return {
        f"{name}.words": np.array(words, dtype=np.uint64),
        f"{name}.spare": np.array([state["has_uint32"], state["uinteger"]], dtype=np.int64),
    }


def generator_from_arrays(
    random: np.random.Generator, name: str, state: Mapping[str, NDArray[Any]]
) -> None:
    """Set a PCG64 to a state of :func:`generator_to_arrays`."""
    high, low, inc_high, inc_low = (int(word) for word in state[f"{name}.words"])
    has_uint32, uinteger = (int(n) for n in state[f"{name}.spare"])
    random.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": high * _HALF + low, "inc": inc_high * _HALF + inc_low},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
