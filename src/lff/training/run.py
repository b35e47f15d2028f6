"""A training run: a task, an algorithm, a seed and a schedule; and :func:`train`, which runs it."""

import platform
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import torch

import lff
from lff.algos.base import ALGORITHMS, Algorithm, Spaces
from lff.core.checks import Config, Count, Size, validate
from lff.core.config import LATER, tag_of
from lff.core.errors import BadInputError
from lff.envs import Env, has_pixels, make
from lff.envs.gym import Adapter
from lff.envs.views import PixelView
from lff.native.build import Target, checked_cache_dir, find_compiler, need_compiler
from lff.native.policy import supports_policy
from lff.native.sac import config_gap
from lff.store import RunDir
from lff.training.loop import Loop, Watch
from lff.training.off_policy import OffPolicyLoop
from lff.training.on_policy import EnvFunction, OnPolicyLoop, VectorFunction, make_vector

PACKAGES = ("torch", "numpy", "gymnasium", "mujoco", "dm-control", "safetensors")
FEWEST_UPDATES = {"replay": 8_000, "rollout": 20_000}
"""Compiling costs about half a minute.  It saves some 6 ms an update of SAC at widths 128 and 256,
2 ms of PPO: below these counts that is not surely amortized."""
FEWEST_NATIVE = 1_000
"""The native update is built in some seconds and saves some 6 ms each time."""
WIDEST_NATIVE = 512
"""Above, matrix products take nearly all the time, and the graph compiler's are as fast."""
Compilation = Literal["native", "graph", "off"]
Placement = Literal["inside", "processes"]


@dataclass(frozen=True, kw_only=True)
class Schedule(Config):
    """When a run logs, evaluates and saves, in environment steps."""

    tag: ClassVar[str] = "schedule"
    log_every: Size = 1_000
    """Steps between two rows of training metrics."""
    eval_every: Size = 10_000
    """Steps between two evaluations; there is one at the end in any case."""
    eval_episodes: Size = 10
    """Episodes of an evaluation, mean action, in an environment of its own."""
    checkpoint_every: Size = 10_000
    """Steps between two checkpoints."""


@dataclass(frozen=True, kw_only=True)
class Compute(Config):
    """How a run is computed."""

    tag: ClassVar[str] = "compute"
    compile: Compilation = "off"
    """Run the update as native code, as one compiled graph, or eagerly."""
    threads: Size = 1
    """Threads of torch."""
    device: str = "cpu"
    """Where networks live and learn: cpu, cuda or cuda:N."""
    envs: Placement = "inside"
    """Where several environments live: inside this process, or in processes of their own."""
    processor: Target = field(default="native", metadata=LATER)
    """What native code is built for: this processor, or any with AVX2, for results that another
    machine reproduces."""

    def __post_init__(self) -> None:
        validate(self)
        if self.device != "cpu" and not re.fullmatch(r"cuda(:\d+)?", self.device):
            raise BadInputError("device", self.device, "cpu, cuda or cuda:N", "use cpu")


@dataclass(frozen=True, kw_only=True)
class RunConfig(Config):
    """One run.  Everything counted in steps is counted in environment steps."""

    tag: ClassVar[str] = "run"
    env: str
    """The task: dmc/<domain>-<task>, dmc-pixels/<domain>-<task>, gym/<id>, gym-pixels/<id>,
    probe/<name> or package.module:make_env."""
    algo: Annotated[Algorithm, ALGORITHMS]
    """The algorithm with its networks."""
    steps: Size
    """Environment steps, action repeat included, over all environments together."""
    seed: Count = 0
    """The one seed that every random stream is derived from."""
    num_envs: Size = 1
    """Environments stepped together; algorithms with a replay memory take one."""
    action_repeat: Size = 1
    """Frames that each action is played for."""
    view: PixelView | None = None
    """What a task that observes images shows; None for its defaults, and for every other task."""
    schedule: Schedule = Schedule()
    """When to log, evaluate and save."""
    compute: Compute = Compute()
    """Compilation, threads, device."""

    def __post_init__(self) -> None:
        validate(self)
        if self.view is not None and not has_pixels(self.env):
            remedy = "leave it out, or use a task of dmc-pixels/ or gym-pixels/"
            raise BadInputError("view", self.view, "for a task with pixel observations", remedy)
        if has_pixels(self.env) and not hasattr(self.algo, "encoder"):
            remedy = "use lff train sac, or a task that observes a vector"
            tag, wanted = tag_of(type(self.algo)), f"for images, as {self.env} has"
            raise BadInputError("algo", tag, wanted, remedy)
        if self.algo.learns_from == "replay" and self.num_envs != 1:
            remedy = "leave it out, or use an on-policy algorithm"
            raise BadInputError("num_envs", self.num_envs, "1 with a replay memory", remedy)


def worth_compiling(config: RunConfig) -> bool:
    """Return whether a run has enough updates to amortize the graph's compilation."""
    return _updates(config) >= FEWEST_UPDATES[config.algo.learns_from]


def _updates(config: RunConfig) -> int:
    algo: Any = config.algo
    if algo.learns_from == "replay":
        steps = (config.steps - algo.warmup_steps) // config.action_repeat
        return int(steps * algo.updates_per_step)
    rollouts = config.steps // config.action_repeat // algo.rollout_steps
    return int(rollouts * algo.epochs * -(-algo.rollout_steps // algo.batch_size))


def native_gap(config: RunConfig) -> str | None:
    """Return why the native update is not for a run, on any machine; None if it is."""
    if _updates(config) < FEWEST_NATIVE:
        return "too short to amortize compilation"
    if config.compute.device != "cpu":
        return f"device {config.compute.device}"
    if has_pixels(config.env):
        return "an encoder of images"
    if config.algo.learns_from == "replay":
        return config_gap(config.algo, WIDEST_NATIVE)
    if not worth_compiling(config):
        return "too short to amortize compilation"
    return supports_policy(config.algo.build(Spaces((4,), 2)))  # any sizes will do


def why_not_native(config: RunConfig) -> str | None:
    """Return the same for this machine."""
    reason = native_gap(config)
    if reason is None and find_compiler() is None:
        return "no C++ compiler: install g++ to be faster"
    if reason is None:
        try:
            checked_cache_dir()
        except BadInputError:
            return "no build cache that only you can write: set XDG_CACHE_HOME to be faster"
    return reason


def choose_compilation(config: RunConfig) -> Compilation:
    """Return how a run is best computed on this machine."""
    if why_not_native(config) is None:
        return "native"
    return "graph" if worth_compiling(config) and find_compiler() else "off"


def train(
    config: RunConfig,
    *,
    directory: Path | str,
    env_fn: EnvFunction | None = None,
    vector_fn: VectorFunction | None = None,
    watch: Watch | None = None,
    command: list[str] | None = None,
    may_differ: tuple[str, ...] = (),
    reference_episodes: int = 0,
) -> RunDir:
    """Train to the end in a run directory, or resume an earlier start.

    Args:
        config: the run.
        directory: where it lives; the same config in the same directory resumes.
        env_fn: makes your own Gymnasium environment from a seed, instead of ``config.env``.
        vector_fn: for on-policy algorithms, makes Gymnasium's vector environment from a seed, of
            ``num_envs`` and in any autoreset mode; evaluation still needs ``env_fn`` or
            ``config.env``.
        watch: called with the loop and the name of an event: step, eval, warning, saved.
        command: the command line to store.
        may_differ: fields that may differ from the stored config (``steps``, to extend a run).
        reference_episodes: episodes of the random and of the zero policy to play once, for
            ``evaluations/reference.json``.
    """
    check_device(config.compute.device)
    if config.compute.compile != "off":
        need_compiler(config.compute.compile)
    if reference_episodes < 0:
        raise BadInputError("reference_episodes", reference_episodes, ">= 0", "use 0 for none")
    torch.set_num_threads(config.compute.threads)
    torch.set_flush_denormal(True)
    run = RunDir(directory)
    loop = make_loop(config, env_fn=env_fn, vector_fn=vector_fn, watch=watch)
    info: Mapping[str, Any] = {
        "command": command or sys.argv,
        "seed": config.seed,
        "versions": versions(),
        "reference_episodes": reference_episodes,
        "computed": {"by": config.compute.compile, **_origin(loop)},
    }
    try:
        # what cannot be built has failed by now and leaves no directory behind
        with run.start(config, info=info, may_differ=may_differ) as opened:
            loop.train(opened, reference_episodes=reference_episodes)
    finally:
        loop.close()
    return run


def _origin(loop: Loop) -> dict[str, str]:
    """Return what the native code was made by, for comparison alone, or why there is none."""
    if loop.origin is not None:
        alone = loop.config.algo.learns_from == "rollout"
        return asdict(loop.origin) | ({"acts_alone": "yes"} if alone else {})
    return {"not_native": why_not_native(loop.config) or "as asked"}


def make_loop(
    config: RunConfig,
    *,
    env_fn: EnvFunction | None = None,
    vector_fn: VectorFunction | None = None,
    watch: Watch | None = None,
) -> Loop:
    """Return the loop of a run: environment, agent and memory are built, nothing is written."""

    def make_env(seed: int) -> Env:
        if env_fn is None:
            return make(config.env, seed=seed, action_repeat=repeat, view=config.view)
        return Adapter(env_fn(seed), config.env, seed=seed, action_repeat=repeat)

    repeat = config.action_repeat
    if config.algo.learns_from == "rollout":
        envs = make_vector(config, make_env, env_fn=env_fn, vector_fn=vector_fn)
        return OnPolicyLoop(config, make_env, envs, watch=watch)
    if vector_fn is not None:
        remedy = "leave it out; an algorithm with a replay memory acts in one environment"
        raise BadInputError("vector_fn", vector_fn, "given for on-policy algorithms only", remedy)
    return OffPolicyLoop(config, make_env, watch=watch)


def check_device(device: str) -> None:
    """Refuse a device that is not available."""
    if device != "cpu" and not torch.cuda.is_available():
        raise BadInputError("device", device, "cpu, since torch finds no CUDA device", "use cpu")


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    found = {"python": platform.python_version(), "lff": lff.__version__}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found
