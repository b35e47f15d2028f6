"""A MuJoCo simulation as three arrays, complete enough to continue bit for bit.

``integration``: time, positions, velocities, activations, controls, applied forces and the solver's
warm start (MuJoCo's mjSTATE_INTEGRATION).  ``derived``: everything computed from them in the last
step; some rewards read it before it is computed again (Ant's velocity), and sensors of forces are
computed on the way to a state, not from it.  ``model``: the model's numbers, since tasks move
targets and draw gains by writing to it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

INTEGRATION = mujoco.mjtState.mjSTATE_INTEGRATION
# sizes that change with the number of contacts: computed again, never stored
_TRANSIENT = ("efc_", "iefc_", "iacc", "ifrc_", "contact", "bvh_", "flex")
# what an episode never changes, and may be large
_ASSETS = ("mesh_", "tex_", "skin_", "key_", "bvh_", "oct_", "flex")


def physics_to_arrays(model: Any, data: Any) -> dict[str, NDArray[Any]]:
    """Return the whole simulation; ``model`` and ``data`` are MuJoCo's own structures."""
    integration = np.empty(mujoco.mj_stateSize(model, INTEGRATION))
    mujoco.mj_getState(model, data, integration, INTEGRATION)
    return {
        "physics.integration": integration,
        "physics.derived": _flat(data, _TRANSIENT),
        "physics.model": _flat(model, _ASSETS),
    }


def physics_from_arrays(model: Any, data: Any, state: Mapping[str, NDArray[Any]]) -> None:
    """Set a simulation to a state of :func:`physics_to_arrays`."""
    _fill(model, _ASSETS, state["physics.model"])
    mujoco.mj_resetData(model, data)
    mujoco.mj_setState(model, data, state["physics.integration"], INTEGRATION)
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
        if name.startswith(("_", *excluded)):
            continue
        value = getattr(owner, name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            yield value
