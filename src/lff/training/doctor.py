"""Is this machine fit for a run?  Small real trials, each with its remedy in one line."""

import os
import platform
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from rich.filesize import decimal

from lff.core.errors import BadInputError, RunError, absent, one_line
from lff.core.imports import run_code
from lff.core.memory import available_memory
from lff.data import FrameReplay
from lff.envs import make, rendering, shapes
from lff.native.build import cache_dir, find_compiler
from lff.store import RunLock, write_bytes
from lff.training.compile import CACHE, INDUCTOR
from lff.training.presets import preset
from lff.training.run import versions

Status = Literal["ok", "warning", "failed"]
PIP = "pip install 'learned-fourier-features[{}]'"
EXTRAS = {
    "dmc": ("dm_control", "mujoco"),
    "gym": ("mujoco", "imageio"),
    "video": ("av",),
    "export": ("onnx", "onnxscript", "onnxruntime"),
    "tensorboard": ("tensorboard",),
    "wandb": ("wandb",),
    "tune": ("optuna",),
    "ray": ("ray",),
    "sb3": ("stable_baselines3",),
    "torchrl": ("torchrl",),
    "tianshou": ("tianshou",),
    "flax": ("flax", "optax", "sbx"),
}
"""The modules that each extra brings."""
CORE = (
    *("torch", "numpy", "jaxtyping", "safetensors", "filelock", "gymnasium", "tyro", "rich"),
    *("scipy", "matplotlib", "jinja2", "PIL"),
)
OLDEST_TORCH = (2, 10)
FIRST_BAD_MUJOCO = 4
COMPILED = """
import torch
f = torch.compile(lambda x: (x.sin() + 1).sum(), fullgraph=True)
x = torch.arange(8.0)
assert torch.allclose(f(x), (x.sin() + 1).sum())
"""


@dataclass(frozen=True)
class Check:
    """Result of one trial."""

    name: str
    """Subject of the trial."""
    status: Status
    """``failed`` only for what every run needs."""
    found: str
    """Versions, sizes or the error that were found."""
    remedy: str = ""
    """How to fix it, unless all is well."""


def examine(*, directory: Path, env: str, full: bool = False) -> list[Check]:
    """Run every check; ``full`` also compiles, which takes half a minute."""
    found = versions()
    checks = [check_python(), check_packages(), check_torch(), check_compiler(full=full)]
    checks += [check_cuda(), check_mujoco(found.get("mujoco"), found.get("dm-control"))]
    checks += [check_env(env), check_rendering(), _memory_for(env)]
    return [*checks, check_directory(directory), check_cache(), _threads_here(), check_extras()]


def _verdict(name: str, found: str, *problems: tuple[bool, Status, str]) -> Check:
    """Return the first problem that holds, with its status and remedy, or that all is well."""
    for holds, status, remedy in problems:
        if holds:
            return Check(name, status, found, remedy)
    return Check(name, "ok", found)


def check_python() -> Check:
    """Python itself."""
    old = sys.version_info < (3, 11)
    found = f"{platform.python_version()} at {sys.executable}"
    return _verdict("python", found, (old, "failed", "install Python 3.11 or newer"))


def check_packages() -> Check:
    """Packages that every run needs."""
    missing = absent(CORE)
    found = f"no {', '.join(missing)}" if missing else f"{len(CORE)} core packages"
    return _verdict("packages", found, (bool(missing), "failed", PIP.replace("[{}]", "")))


def check_torch() -> Check:
    """Its version, threads and the instructions that it uses."""
    capability = torch.backends.cpu.get_cpu_capability()
    major, minor = (int(part) for part in torch.__version__.split(".")[:2])
    return _verdict(
        "torch",
        f"{torch.__version__}, {torch.get_num_threads()} threads, {capability}",
        ((major, minor) < OLDEST_TORCH, "failed", "pip install 'torch>=2.10': others are unsafe"),
        (capability in ("DEFAULT", "NO AVX"), "warning", "no vector instructions: slow training"),
    )


def check_compiler(*, full: bool) -> Check:
    """What ``--compile`` needs: a C++ compiler and Python's headers; ``full`` compiles for real."""
    path = find_compiler()
    eager = "or train with --compile off"
    if path is None:
        missing = os.environ.get("CXX") or "g++"
        return Check("compile", "warning", f"no {missing}", f"apt-get install g++, {eager}")
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if not header.exists():
        return Check("compile", "warning", f"no {header}", f"apt-get install python3-dev, {eager}")
    if not full:
        return Check("compile", "ok", f"{path} is there; --full compiles something")
    with tempfile.TemporaryDirectory() as cache:
        error = run_code(COMPILED, {**os.environ, CACHE: cache}, timeout=600.0)
    found = f"torch.compile fails: {error}" if error else f"torch.compile works, with {path}"
    return _verdict("compile", found, (bool(error), "warning", eager[3:]))


def check_cuda() -> Check:
    """Whether there is a GPU.  None is needed."""
    found = "no CUDA device: everything runs on the CPU"
    if torch.cuda.is_available():
        found = f"{torch.cuda.get_device_name(0)}; use it by --device cuda (untested)"
    return Check("cuda", "ok", found)


def check_mujoco(mujoco: str | None, dm_control: str | None) -> Check:
    """The simulator's versions; MuJoCo 4 breaks dm_control."""
    if mujoco is None or dm_control is None:
        missing = "mujoco" if mujoco is None else "dm_control"
        return Check("mujoco", "warning", f"no {missing}", PIP.format("dmc"))
    bad = int(mujoco.split(".")[0]) >= FIRST_BAD_MUJOCO
    remedy = "pip install 'mujoco>=3.17,<4': dm_control does not work with 4"
    return _verdict("mujoco", f"mujoco {mujoco}, dm_control {dm_control}", (bad, "failed", remedy))


def check_env(task: str) -> Check:
    """One real step of a task."""
    try:
        with closing(make(task, seed=0)) as env:
            env.reset()
            obs, *_ = env.step(np.zeros(env.action_space.shape, dtype=np.float32))
    except BadInputError as error:
        return Check("step", "warning", f"{task} is not here", str(error).rpartition("; ")[2])
    except Exception as error:  # noqa: BLE001 - a broken simulator raises anything
        return Check("step", "failed", f"{task}: {_line(error)}", PIP.format("dmc"))
    return Check("step", "ok", f"{task}, {obs.size} numbers observed")


def check_rendering() -> Check:
    """Which OpenGL backend draws without a screen, tried in child processes."""
    if absent(["mujoco"]):
        return Check("rendering", "warning", "no mujoco", PIP.format("dmc"))
    backends: tuple[rendering.Backend, ...] = ("egl", "osmesa")
    for backend in backends:
        if rendering.works(backend, timeout=20.0):
            return Check("rendering", "ok", f"MUJOCO_GL={backend} draws")
    remedy = f"apt-get install {rendering.PACKAGES['egl']} (only videos and pixels need it)"
    return Check("rendering", "warning", "neither EGL nor OSMesa draws", remedy)


def check_memory(available: int, shape: Sequence[int], action_dim: int, *, capacity: int) -> Check:
    """Whether a full replay of observations of this shape fits; a frame is stored once."""
    if len(shape) == 1:
        needed = capacity * (4 * (2 * shape[0] + action_dim + 1) + 1)
    else:
        channels, height, width = shape
        sizes = {"obs_shape": (channels, height, width), "action_dim": action_dim}
        needed = FrameReplay.bytes_needed(capacity, **sizes)  # type: ignore[arg-type]
    found = f"{decimal(available)} free, a replay of {capacity:,} takes {decimal(needed)}"
    remedy = "use a smaller --replay-capacity, or free some memory"
    return _verdict("memory", found, (needed > 0.8 * available, "warning", remedy))


def _memory_for(task: str) -> Check:
    available = available_memory()
    if available is None:
        return Check("memory", "warning", "unknown on this system", "watch it during the first run")
    config = preset("paper-table", task).config()
    try:
        shape, action_dim = shapes(task, config.view)
    except Exception:  # noqa: BLE001 - the check of a step has reported it
        shape, action_dim = (67,), 21
    capacity = int(config.algo.replay_capacity)  # type: ignore[attr-defined]
    return check_memory(available, shape, action_dim, capacity=capacity)


def check_directory(directory: Path) -> Check:
    """Write, sync, rename and lock where runs will live; nothing is left there."""
    home = _existing(directory.absolute())
    try:
        with tempfile.TemporaryDirectory(dir=home, prefix=".lff-doctor-") as folder:
            write_bytes(Path(folder) / "trial", b"trial")
            with RunLock(Path(folder)):
                pass
        free = shutil.disk_usage(home).free
    except RunError as error:
        return Check("directory", "failed", f"{directory}: {_line(error)}", "use another --dir")
    except OSError as error:
        why = error.strerror or str(error)
        return Check("directory", "failed", f"cannot write to {home}: {why}", "use another --dir")
    found = f"{directory} can be written, synced and locked, {decimal(free)} free"
    remedy = "free some space: replay and checkpoints grow"
    return _verdict("directory", found, (free < 2**30, "warning", remedy))


def check_cache() -> Check:
    """Where compiled code is kept between runs."""
    wanted = Path(os.environ.get(CACHE) or cache_dir(INDUCTOR))
    folder = _existing(wanted)
    if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
        return Check("cache", "ok", f"compiled code goes to {wanted}")
    remedy = "set TORCHINDUCTOR_CACHE_DIR to a folder of yours"
    return Check("cache", "warning", f"{folder} cannot be written", remedy)


def check_threads(threads: int, *, cpus: int, quota: float | None) -> Check:
    """More threads than processors fight for them."""
    allowed = cpus if quota is None else min(cpus, quota)
    most = max(1, int(allowed))
    found = f"{threads} threads by default, {allowed:g} processors allowed"
    remedy = f"export OMP_NUM_THREADS={most}"
    return _verdict("threads", found, (threads > max(1, allowed), "warning", remedy))


def check_extras() -> Check:
    """Which optional parts are installed."""
    others = [extra for extra, modules in EXTRAS.items() if absent(modules)]
    found = f"installed: {', '.join(e for e in EXTRAS if e not in others) or 'none'}"
    more = f"; not installed: {', '.join(others)}"
    remedy = f"if wanted: {PIP.format(','.join(others))}"
    return _verdict("extras", found + more * bool(others), (bool(others), "ok", remedy))


def cpu_quota(text: str) -> float | None:
    """Return the processors that a control group grants by its ``cpu.max``; None: no limit."""
    quota, _, period = text.strip().partition(" ")
    return None if quota == "max" else int(quota) / int(period)


def _threads_here() -> Check:
    quota = None
    with suppress(OSError, ValueError, ZeroDivisionError):
        quota = cpu_quota(Path("/sys/fs/cgroup/cpu.max").read_text())
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    given = os.environ.get("OMP_NUM_THREADS", "")
    return check_threads(int(given) if given.isdigit() else cpus, cpus=cpus, quota=quota)


def _existing(folder: Path) -> Path:
    """Return the nearest folder above that is there."""
    return next(one for one in (folder, *folder.parents) if one.exists())


def _line(error: BaseException) -> str:
    return one_line(error)[:160] or type(error).__name__
