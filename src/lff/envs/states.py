"""States of generators, simulations and plain fields as arrays, so that checkpoints need no pickle.

A MuJoCo simulation is three arrays, complete enough to continue bit for bit.  ``integration``:
time, positions, velocities, activations, controls, applied forces and the solver's warm start
(MuJoCo's mjSTATE_INTEGRATION).  ``derived``: everything computed from them in the last step; some
rewards read it before it is computed again (Ant's velocity), and sensors of forces are computed on
the way to a state, not from it.  ``model``: the model's numbers, since tasks move targets and draw
gains by writing to it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lff.core.errors import BadInputError
from lff.envs.base import Saved, State

_HALF = 2**64
# sizes that change with the number of contacts: computed again, never stored
_TRANSIENT = ("efc_", "iefc_", "iacc", "ifrc_", "contact", "bvh_", "flex")
# what an episode never changes, and may be large
_ASSETS = ("mesh_", "tex_", "skin_", "key_", "bvh_", "oct_", "flex")


def legacy_to_arrays(random: np.random.RandomState, name: str) -> State:
    """Return the state of a Mersenne Twister (dm_control's tasks draw from one)."""
    _, key, position, has_gauss, gauss = random.get_state(legacy=True)
    return {
        f"{name}.key": np.array(key, dtype=np.uint32),
        f"{name}.position": np.array([position, has_gauss], dtype=np.int64),
        f"{name}.gauss": np.array([gauss], dtype=np.float64),
    }


def legacy_from_arrays(random: np.random.RandomState, name: str, state: Saved) -> None:
    """Set a Mersenne Twister to a state of :func:`legacy_to_arrays`."""
    position, has_gauss = (int(n) for n in state[f"{name}.position"])
    gauss = float(state[f"{name}.gauss"][0])
    random.set_state(("MT19937", state[f"{name}.key"], position, has_gauss, gauss))


def generators_to_arrays(**generators: np.random.Generator) -> State:
    """Return the states of PCG64s (Gymnasium's environments and spaces draw from one), by name."""
    arrays = {}
    for name, generator in generators.items():
        state: Any = generator.bit_generator.state
        if state["bit_generator"] != "PCG64":
            remedy = "leave Gymnasium's own in place"
            raise BadInputError(name, generator, "a PCG64 generator", remedy)
        words = [*divmod(state["state"]["state"], _HALF), *divmod(state["state"]["inc"], _HALF)]
        spare = [state["has_uint32"], state["uinteger"]]
        arrays[f"{name}.words"] = np.array(words, dtype=np.uint64)
        arrays[f"{name}.spare"] = np.array(spare, dtype=np.int64)
    return arrays


def generators_from_arrays(state: Saved, **generators: np.random.Generator) -> None:
    """Set PCG64s to a state of :func:`generators_to_arrays`."""
    for name, generator in generators.items():
        high, low, inc_high, inc_low = (int(word) for word in state[f"{name}.words"])
        has_uint32, uinteger = (int(n) for n in state[f"{name}.spare"])
        generator.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": high * _HALF + low, "inc": inc_high * _HALF + inc_low},
            "has_uint32": has_uint32,
            "uinteger": uinteger,
        }


def fields_to_arrays(owner: Any, prefix: str, *, arrays: bool = False) -> State:
    """Return the fields of an object that are numbers, or arrays of them if asked for.

    A task of dm_control keeps the dog's weight there, Gymnasium's environments their goals.
    """
    return {f"{prefix}.{name}": np.array([v]) for name, v in _numbers(owner, arrays=arrays)}


def fields_from_arrays(owner: Any, prefix: str, state: Saved, *, arrays: bool = False) -> None:
    """Set them to a state of :func:`fields_to_arrays`."""
    for name, value in _numbers(owner, arrays=arrays):
        saved = state[f"{prefix}.{name}"][0]
        copy = saved.copy() if isinstance(value, np.ndarray) else type(value)(saved)
        setattr(owner, name, copy)


def _numbers(owner: Any, *, arrays: bool) -> list[tuple[str, Any]]:
    return [
        (name, value)
        for name, value in sorted(vars(owner).items())
        if isinstance(value, int | float | np.number)
        or (arrays and isinstance(value, np.ndarray) and value.dtype.kind in "biuf")
    ]


def physics_to_arrays(model: Any, data: Any) -> State:
    """Return the whole simulation; ``model`` and ``data`` are MuJoCo's own structures."""
    import mujoco

    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    integration = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, integration, kind)
    return {
        "physics.integration": integration,
        "physics.derived": _flat(data, _TRANSIENT),
        "physics.model": _flat(model, _ASSETS),
    }


def physics_from_arrays(model: Any, data: Any, state: Saved) -> None:
    """Set a simulation to a state of :func:`physics_to_arrays`."""
    import mujoco

    _fill(model, _ASSETS, state["physics.model"])
    mujoco.mj_resetData(model, data)
    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    mujoco.mj_setState(model, data, state["physics.integration"], kind)
    # contacts and constraints are found again; mj_step1 leaves the warm start alone
    mujoco.mj_step1(model, data)
    _fill(data, _TRANSIENT, state["physics.derived"])


def _flat(owner: Any, excluded: tuple[str, ...]) -> NDArray[Any]:
    return np.concatenate([a.ravel() for a in _arrays(owner, excluded)], dtype=np.float64)


def _fill(owner: Any, excluded: tuple[str, ...], values: NDArray[Any]) -> None:
    start = 0
    for array in _arrays(owner, excluded):
        array[...] = values[start : start + array.size].reshape(array.shape)
        start += array.size


def _arrays(owner: Any, excluded: tuple[str, ...]) -> Iterator[NDArray[Any]]:
    """Yield the views of a structure's floating-point fields, in the order of their names."""
    for name in dir(owner):
        if not name.startswith(("_", *excluded)):
            value = getattr(owner, name)
            if isinstance(value, np.ndarray) and value.dtype.kind == "f":
                yield value
