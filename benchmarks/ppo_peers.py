"""Environment steps per second of PPO's training loops, ours and the peers', in one run.

    python benchmarks/ppo_peers.py [--threads 1] [--rounds 8] [--seconds 6]

HalfCheetah-v5, one environment, actor and critic of two hidden layers of 64, tanh; 2048 steps a
rollout, 10 epochs of 32 updates; observations and rewards normalised by running statistics, as each
has it.  A slice is long enough for whole rollouts and their updates.  Compilation and the first
rollout are not counted.  "speed" is our rate over the peer's in the same round.  The last line is
one JSON object.
"""

import tempfile

from race import race
from turns import turns

GOALS = {"sb3": 1.5, "cleanrl": 1.3}
TASK = "HalfCheetah-v5"
ROLLOUT, BATCH, EPOCHS, WIDTH = 2048, 64, 10, 64


def by_rollouts():
    """Return what a loop calls after every step: slices begin and end where rollouts do."""
    tick = turns(ready_after=1)
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1
        if steps % ROLLOUT == 0:
            tick()

    return step


def run_lff(*, threads: int, compiled: bool) -> None:
    """Train as ``lff train ppo`` does: checkpoints, metrics, finite checks and all."""
    from lff.algos import PPOConfig
    from lff.nn import MLPTrunk, NetConfig
    from lff.training import Compute, RunConfig, Schedule, train

    net = NetConfig(trunk=MLPTrunk(hidden=(WIDTH, WIDTH), activation="tanh"))
    config = RunConfig(
        env=f"gym/{TASK}",
        algo=PPOConfig(
            actor=net, critic=net, rollout_steps=ROLLOUT, batch_size=BATCH, epochs=EPOCHS
        ),
        steps=10_000_000,
        schedule=Schedule(eval_every=10_000_000),  # the peers do not evaluate
        compute=Compute(compile="native" if compiled else "off", threads=threads),
    )
    tick = by_rollouts()
    with tempfile.TemporaryDirectory() as folder:
        train(config, directory=folder, watch=lambda _run, event: event == "step" and tick())


def run_sb3() -> None:
    """Train with Stable-Baselines3, whose defaults these are but for the normalisation."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecNormalize

    tick = by_rollouts()

    class Tick(BaseCallback):
        def _on_step(self) -> bool:
            tick()
            return True

    envs = VecNormalize(make_vec_env(TASK))
    sizes = {"net_arch": {"pi": [WIDTH, WIDTH], "vf": [WIDTH, WIDTH]}}
    model = PPO(
        "MlpPolicy",
        envs,
        n_steps=ROLLOUT,
        batch_size=BATCH,
        n_epochs=EPOCHS,
        policy_kwargs=sizes,
        device="cpu",
    )
    model.learn(10_000_000, callback=Tick())


def run_child(name: str, *, threads: int, compiled: bool) -> None:
    import torch

    torch.set_num_threads(threads)
    if name == "lff":
        run_lff(threads=threads, compiled=compiled)
    elif name == "sb3":
        run_sb3()
    else:
        from cleanrl_ppo import train

        train(by_rollouts(), task=TASK, rollout=ROLLOUT, batch=BATCH, epochs=EPOCHS, width=WIDTH)


if __name__ == "__main__":
    race(
        __file__,
        run_child,
        goals=GOALS,
        about=__doc__,
        threads=1,
        seconds=6.0,
        steps_per_tick=ROLLOUT,  # a tick is a rollout
    )
