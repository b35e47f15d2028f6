"""What a run needs before its first step: torch as it has it, sizes that fit, memory, packages."""

import importlib.util

import numpy as np
import torch

from lff.core.errors import BadInputError
from lff.data import FrameReplay, Replay
from lff.envs.base import Env
from lff.nn import PixelMaps
from lff.training.config import TrainConfig


def set_torch(threads: int) -> None:
    """Set torch as a run has it: its threads, and numbers too small to be normal are zero."""
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)


def check_fit(config: TrainConfig, env: Env) -> None:
    """Refuse a run whose parts do not fit, before anything is written."""
    shape = tuple(env.observation_space.shape)
    new_replay(config, shape, int(np.prod(env.action_space.shape)))  # touches no memory
    encoder = config.algo.encoder
    if encoder is None:
        return
    if importlib.util.find_spec("PIL") is None:
        remedy = "pip install 'learned-fourier-features[dmc]'"
        raise BadInputError("pillow", None, "installed, for the contact sheet", remedy)
    channels, height, width = shape
    high, wide = (config.algo.augmentation.out_size(side) for side in (height, width))
    with torch.device("meta"):
        PixelMaps(encoder, (channels, high, wide))


def new_replay(
    config: TrainConfig, obs_shape: tuple[int, ...], action_dim: int
) -> Replay | FrameReplay:
    """Return the memory of a run."""
    # a repeat cut short by an episode's end plays fewer frames, so steps bounds the transitions
    capacity = min(config.replay_capacity, config.steps)
    if config.algo.encoder is None:
        return Replay(capacity, obs_dim=int(np.prod(obs_shape)), action_dim=action_dim)
    if len(obs_shape) != 3:
        remedy = "use a task of dmc-pixels/, or leave the encoder out"
        raise BadInputError("the observation", obs_shape, "(channels, height, width)", remedy)
    channels, height, width = obs_shape
    return FrameReplay(capacity, obs_shape=(channels, height, width), action_dim=action_dim)
