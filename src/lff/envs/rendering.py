"""Rendering without a screen: the OpenGL backends that work here, and a camera.

The only file of the library that sets an environment variable: MUJOCO_GL, which MuJoCo, dm_control
and Gymnasium all read.  Each candidate is tried in a child process with a time limit, because a
broken driver can abort the process or hang.
"""

import functools
import importlib
import os
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lff.core.checks import check_choice
from lff.core.errors import BadInputError, require_extra
from lff.core.imports import run_code

Backend = Literal["egl", "osmesa", "glfw"]
VARIABLE = "MUJOCO_GL"
PACKAGES: dict[Backend, str] = {
    "egl": "libegl1 libgl1 libgl1-mesa-dri",
    "osmesa": "libosmesa6",
    "glfw": "libglfw3, and a screen",
}
"""The apt package that each backend needs."""

_ATTEMPT = """
import importlib, mujoco
context = importlib.import_module("mujoco.{backend}").GLContext(8, 8)
context.make_current()
model = mujoco.MjModel.from_xml_string("<mujoco/>")
mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_50)
"""


def choose_backend() -> Backend:
    """Return a backend that works and leave it in MUJOCO_GL; one that is set already is obeyed."""
    require_extra("dmc", "mujoco", purpose="drawing MuJoCo's tasks")
    wanted = os.environ.get(VARIABLE, "").lower()
    if wanted:
        check_choice(VARIABLE, wanted, get_args(Backend))
    candidates: tuple[Backend, ...] = (wanted,) if wanted else get_args(Backend)
    for backend in candidates:
        if works(backend):
            os.environ[VARIABLE] = backend
            return backend
    packages = " or ".join(PACKAGES[b] for b in candidates if wanted or b != "glfw")
    constraint = f"one of {', '.join(candidates)} that works here"
    remedy = f"apt-get install {packages}"
    raise BadInputError("an OpenGL backend", "failures", constraint, remedy)


@functools.cache
def works(backend: Backend, *, timeout: float = 60.0) -> bool:
    """Return whether a child process can draw with this backend."""
    environment = {**os.environ, VARIABLE: backend}
    environment.pop("PYOPENGL_PLATFORM", None)
    return not run_code(_ATTEMPT.format(backend=backend), environment, timeout=timeout)


class Camera:
    """A camera on a MuJoCo simulation, whatever backend other libraries were imported with.

    A ``fast`` one leaves out multisampling, shadows and reflections; any other renders the same
    bits as dm_control.
    """

    def __init__(self, model: Any, *, size: int, camera: int = -1, fast: bool = False) -> None:
        import mujoco

        self._mujoco = mujoco
        backend = choose_backend()
        self._context = importlib.import_module(f"mujoco.{backend}").GLContext(size, size)
        self._context.make_current()
        model.vis.global_.offwidth = max(model.vis.global_.offwidth, size)
        model.vis.global_.offheight = max(model.vis.global_.offheight, size)
        self._model = model
        quality = model.vis.quality  # read once, by the renderer: left as it was
        before = quality.offsamples, quality.shadowsize
        if fast:
            quality.offsamples = quality.shadowsize = 0
        self._renderer = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_150)
        quality.offsamples, quality.shadowsize = before
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._renderer)
        self._scene = mujoco.MjvScene(model, maxgeom=10_000)
        if fast:
            for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
                self._scene.flags[flag] = 0
        view = mujoco.MjvCamera()
        if camera >= 0:
            view.type, view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, camera
        else:
            mujoco.mjv_defaultFreeCamera(model, view)
        everything = mujoco.mjtCatBit.mjCAT_ALL
        self._shown = mujoco.MjvOption(), mujoco.MjvPerturb(), view, everything, self._scene
        self._pixels = np.empty((size, size, 3), dtype=np.uint8)
        self._viewport = mujoco.MjrRect(0, 0, size, size)

    def render(self, data: Any) -> NDArray[np.uint8]:
        """Return the current frame, size x size x 3."""
        mujoco = self._mujoco
        self._context.make_current()
        mujoco.mjv_updateScene(self._model, data, *self._shown)
        mujoco.mjr_render(self._viewport, self._scene, self._renderer)
        mujoco.mjr_readPixels(self._pixels, None, self._viewport, self._renderer)
        return self._pixels[::-1].copy()  # OpenGL's first row is the lowest

    def refresh(self) -> None:
        """Upload terrains again: a task may have drawn a new one."""
        self._context.make_current()
        for terrain in range(self._model.nhfield):
            self._mujoco.mjr_uploadHField(self._model, self._renderer, terrain)

    def close(self) -> None:
        """Free what the driver holds."""
        self._context.make_current()
        self._renderer.free()
        self._context.free()
