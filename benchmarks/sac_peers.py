"""Environment steps per second of whole training loops, ours and the peers', in one run.

    python benchmarks/sac_peers.py [--threads 2] [--rounds 8] [--seconds 2.5]

HalfCheetah-v5, two hidden layers of 256, batch 256; one critic, actor and temperature update a
step; everything else as each one has it by default.  Compilation and warm-up are not counted.
"speed" is our rate over the peer's in the same round.  The last line is one JSON object.
"""

import tempfile

from race import race
from turns import turns

GOALS = {"sb3": 2.0, "sbx": 1.3, "cleanrl": 2.0, "leanrl": 1.2}
TASK = "HalfCheetah-v5"


def run_lff(*, threads: int, compiled: bool) -> None:
    """Train as ``lff train`` does: checkpoints, metrics, finite checks and all."""
    from lff.algos import SACConfig
    from lff.nn import MLPTrunk, NetConfig
    from lff.training import TrainConfig, train

    net = NetConfig(trunk=MLPTrunk(hidden=(256, 256)))
    config = TrainConfig(
        env=f"gym/{TASK}",
        algo=SACConfig(actor=net, critic=net, batch_size=256, actor_lr=3e-4, critic_lr=3e-4),
        steps=1_000_000,
        compile=compiled,
        threads=threads,
        eval_every=1_000_000,  # the peers do not evaluate
    )
    tick = turns(ready_after=config.warmup_steps + 50)
    with tempfile.TemporaryDirectory() as folder:
        train(config, directory=folder, watch=lambda _run, event: event == "step" and tick())


def run_baselines(module: str) -> None:
    """Train with Stable-Baselines3, or with SBX, which has its interface."""
    from importlib import import_module

    from stable_baselines3.common.callbacks import BaseCallback

    tick = turns(ready_after=200)

    class Tick(BaseCallback):
        def _on_step(self) -> bool:
            tick()
            return True

    model = import_module(module).SAC("MlpPolicy", TASK)
    model.learn(1_000_000, callback=Tick())


def run_child(name: str, *, threads: int, compiled: bool) -> None:
    if name != "sbx":
        import torch

        torch.set_num_threads(threads)
    if name == "lff":
        run_lff(threads=threads, compiled=compiled)
    elif name in ("sb3", "sbx"):
        run_baselines({"sb3": "stable_baselines3", "sbx": "sbx"}[name])
    else:
        from cleanrl_style import STARTS, train

        train(turns(ready_after=STARTS + 50), compiled=name == "leanrl")


if __name__ == "__main__":
    race(
        __file__,
        run_child,
        goals=GOALS,
        about=__doc__,
        threads=2,
        seconds=2.5,
    )
