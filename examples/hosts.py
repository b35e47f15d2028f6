"""A host's SAC on Pendulum-v1, LFF beside its MLP of equal size: ``lff experiment run host-sb3``.

Every 500 steps the mean action plays five episodes.  Each ``run`` of the modules ``host_*`` yields
(environment steps, metric, value).
"""

import functools

import gymnasium
import numpy as np

from lff import Fourier, MLPTrunk, NetConfig
from lff.nn import MatchedMLP
from lff.stats import RETURN

TASK, OBS, ACT = "Pendulum-v1", 3, 1
RATE, BATCH, WARMUP, HIDDEN = 1e-3, 64, 200, (64, 64)
FOURIER = Fourier(fourier_dim=64, sigma=0.01)
EPISODES = 5


def played(train):
    """Play what ``train`` yields, functions from observation to mean action, then a random one."""

    @functools.wraps(train)
    def run(variant, seed, steps, every):
        for step, act in train(variant, seed, steps, every):
            yield step, RETURN.key, play(act)
        draws = np.random.default_rng(seed)
        random = play(lambda _: draws.uniform(-2, 2, size=1).astype(np.float32))
        yield 0, "random return", random

    return run


def play(act):
    """Return the mean return of five episodes that always start alike."""
    env, total = gymnasium.make(TASK), 0.0
    for episode in range(EPISODES):
        obs, _ = env.reset(seed=1000 + episode)
        over = False
        while not over:
            obs, reward, terminated, truncated, _ = env.step(act(obs))
            total, over = total + float(reward), terminated or truncated
    return total / EPISODES


def widths(variant, in_features, out_features):
    """Hidden widths: those behind the front, or those of an MLP with as many parameters."""
    mlp = NetConfig(trunk=MatchedMLP(like=NetConfig(FOURIER, MLPTrunk(HIDDEN))))
    return HIDDEN if variant == "LFF" else mlp.hidden(in_features, out_features)
