"""Short runs of PPO for tests."""

from lff.algos import PPOConfig
from lff.nn import Fourier, MLPTrunk, NetConfig
from lff.training import PPOTrainConfig

NET = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((16, 16), activation="tanh"))
MLP = NetConfig(trunk=MLPTrunk((16, 16), activation="tanh"))


def small_ppo(env="gym/Hopper-v5", *, agent=None, **options):
    small = {"rollout_steps": 120, "batch_size": 40, "epochs": 2, "lr": 1e-3}
    algo = PPOConfig(**({"actor": NET, "critic": NET} | small | (agent or {})))
    schedule = {
        "steps": 600,
        "log_every": 100,
        "eval_every": 300,
        "eval_episodes": 1,
        "checkpoint_every": 90,
    }
    return PPOTrainConfig(env=env, algo=algo, **(schedule | options))
