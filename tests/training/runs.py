"""Short runs for tests: a small agent on a task that costs nothing."""

import dataclasses

from lff.algos import SACConfig
from lff.nn import Fourier, MLPTrunk, NetConfig
from lff.training import TrainConfig
from lff.training.pixel_presets import pixel_preset

NET = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((16, 16)))


def small(env="dmc/cheetah-run", **options):
    algo = options.pop("algo", None) or SACConfig(
        actor=NET, critic=NET, batch_size=16, actor_lr=1e-3, critic_lr=1e-3
    )
    schedule = {
        "steps": 1200,
        "warmup_steps": 100,
        "log_every": 100,
        "eval_every": 600,
        "eval_episodes": 1,
        "checkpoint_every": 150,
    }
    return TrainConfig(env=env, algo=algo, **(schedule | options))


def tiny_pixels(task="dmc-pixels/cartpole-swingup", *, net="lff", **options):
    """Forty actions of a tiny agent that sees."""
    sizes = {"size": 36, "seen_size": 32, "num_filters": 4, "hidden_dim": 16, "fourier_dim": 8}
    chosen = dataclasses.replace(pixel_preset("laptop", task), batch_size=4, **sizes)
    schedule = {
        "steps": 320,
        "action_repeat": 8,
        "warmup_steps": 80,
        "log_every": 40,
        "eval_every": 320,
        "eval_episodes": 1,
        "checkpoint_every": 320,
    }
    return TrainConfig(env=task, view=chosen.view, algo=chosen.agent(net), **(schedule | options))
