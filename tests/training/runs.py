"""Short runs for tests: a small agent on a task that costs nothing."""

from lff.algos import SACConfig
from lff.nn import Fourier, MLPTrunk, NetConfig
from lff.training import TrainConfig

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
