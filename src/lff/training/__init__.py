"""Training: the loop, evaluation, diagnostics, presets.  What the command line calls."""

import platform
import sys
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

import lff
from lff.core.errors import BadInputError
from lff.envs import Env, make
from lff.envs.gym import Adapter
from lff.store import RunDir
from lff.training.any_config import AnyTrainConfig as AnyTrainConfig
from lff.training.compiling import check_compiler
from lff.training.config import TrainConfig as TrainConfig
from lff.training.config import worth_compiling as worth_compiling
from lff.training.loop import Loop as Loop
from lff.training.off_policy import OffPolicyRun as OffPolicyRun
from lff.training.on_policy import OnPolicyRun as OnPolicyRun
from lff.training.ppo_config import PPOTrainConfig as PPOTrainConfig
from lff.training.presets import Preset as Preset
from lff.training.presets import preset as preset
from lff.training.presets import sac_config as sac_config
from lff.training.setting_up import check_fit, set_torch
from lff.training.vectors import EnvFunction, VectorFunction, chosen_vector

PACKAGES = ("torch", "numpy", "gymnasium", "mujoco", "dm-control", "safetensors")


def train(
    config: AnyTrainConfig,
    *,
    directory: Path | str,
    env_fn: EnvFunction | None = None,
    vector_fn: VectorFunction | None = None,
    watch: Callable[[Loop, str], None] | None = None,
    command: list[str] | None = None,
    may_differ: tuple[str, ...] = (),
    reference_episodes: int = 0,
) -> RunDir:
    """Train to the end in a run directory, or go on where an earlier start stopped.

    Args:
        config: the run.
        directory: where it lives; the same config in the same directory resumes.
        env_fn: makes your own Gymnasium environment from a seed, instead of ``config.env``.
        vector_fn: for PPO, makes Gymnasium's vector environment from a seed, of ``num_envs`` and in
            any autoreset mode; evaluation still needs ``env_fn`` or ``config.env``.
        watch: told of every step, evaluation and warning.
        command: the command line to store.
        may_differ: fields that may differ from the stored config (``steps``, to extend a run).
        reference_episodes: episodes of the random and of the zero policy to play once, for
            ``evaluations/reference.json``.
    """
    check_device(config.device)
    if config.compile:
        check_compiler()
    if reference_episodes < 0:
        raise BadInputError("reference_episodes", reference_episodes, ">= 0", "use 0 for none")
    set_torch(config.threads)
    run = RunDir(directory)
    info: Mapping[str, Any] = {
        "command": command or sys.argv,
        "seed": config.seed,
        "versions": versions(),
    }

    def make_env(seed: int) -> Env:
        if env_fn is None:
            repeat = config.action_repeat
            return make(config.env, seed=seed, action_repeat=repeat, view=config.view)
        return Adapter(env_fn(seed), config.env, seed=seed, action_repeat=config.action_repeat)

    first = make_env(0)  # what cannot be made or does not fit leaves no directory behind
    try:
        if isinstance(config, TrainConfig):
            check_fit(config, first)
    finally:
        first.close()
    make_vector = chosen_vector(config, make_env, env_fn=env_fn, vector_fn=vector_fn)
    with run.start(config, info=info, may_differ=may_differ) as opened:
        loop: Loop
        if isinstance(config, PPOTrainConfig):
            loop = OnPolicyRun(config, opened, make_env, make_vector=make_vector, watch=watch)
        else:
            loop = OffPolicyRun(config, opened, make_env, watch=watch)
        loop.train(reference_episodes=reference_episodes)
    return run


def check_device(device: str) -> None:
    """Refuse a device that is not there."""
    if device != "cpu" and not torch.cuda.is_available():
        raise BadInputError("device", device, "cpu: torch sees no CUDA here", "use --device cpu")


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    found = {"python": platform.python_version(), "lff": lff.__version__}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
