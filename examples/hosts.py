"""Does it learn inside other libraries' trainers?  A host's SAC on Pendulum-v1, LFF beside its MLP.

    python examples/study.py hosts:host-sb3

The same host, rates and seeds; the MLP is the host's own, of equal size.  Every 500 steps the mean
action plays five episodes.  Each ``run`` of the modules ``host_*`` yields (environment steps, a
function from observation to mean action).
"""

import importlib
from dataclasses import dataclass

from lff.experiments.spec import Cell, Experiment, Panel, baseline, ours
from lff.launch.job import JobRow
from lff.stats import RETURN, Better

TASK, OBS, ACT = "Pendulum-v1", 3, 1
RATE, BATCH, WARMUP, HIDDEN = 1e-3, 64, 200, (64, 64)
HOSTS = {"sb3": "Stable-Baselines3", "sbx": "SBX", "torchrl": "TorchRL", "tianshou": "Tianshou"}
EPISODES = 5


@dataclass(frozen=True)
class HostJob:
    """Train one arm in one host, which is imported only now; play the random policy once."""

    host: str
    variant: str
    seed: int
    steps: int = 3_000
    every: int = 500

    def run(self, _folder, report):
        import numpy as np
        import torch

        torch.set_num_threads(1)
        train = importlib.import_module(f"host_{self.host}").run
        for step, act in train(self.variant, self.seed, steps=self.steps, every=self.every):
            value = play(act)
            report(step / self.steps, f"return {value:.0f}")
            yield JobRow(self.seed, step, RETURN.key, value)
        draws = np.random.default_rng(self.seed)
        value = play(lambda _: draws.uniform(-2, 2, size=1).astype(np.float32))
        yield JobRow(self.seed, 0, "random return", value)


def play(act):
    """Return the mean return of five episodes that always start alike."""
    import gymnasium

    env, total = gymnasium.make(TASK), 0.0
    for episode in range(EPISODES):
        obs, _ = env.reset(seed=1000 + episode)
        over = False
        while not over:
            obs, reward, terminated, truncated, _ = env.step(act(obs))
            total, over = total + float(reward), terminated or truncated
    return total / EPISODES


def fourier():
    """Return the layer of the LFF arm."""
    from lff import Fourier

    return Fourier(fourier_dim=64, sigma=0.01)


def widths(variant, in_features, out_features):
    """Hidden widths: those behind the front, or those of an MLP with as many parameters."""
    from lff import MLPTrunk, NetConfig
    from lff.nn import MatchedMLP

    net = NetConfig(fourier(), MLPTrunk(HIDDEN))
    mlp = NetConfig(trunk=MatchedMLP(like=net))
    return HIDDEN if variant == "LFF" else mlp.hidden(in_features, out_features)


def grid(host):
    """Return the jobs of a host: both arms of a seed before the next seed."""

    def cells(arms, scale):
        size = {"steps": 204, "every": 204} if scale == "smoke" else {}
        return tuple(
            Cell(name, TASK, HostJob(host, name, seed, **size), seed)
            for seed in range(2 if scale == "smoke" else 5)
            for name in arms
        )

    return cells


EXPERIMENTS = tuple(
    Experiment(
        name=f"host-{host}",
        title=f"Does LFF help inside {title}?",
        source="beyond the paper",
        arms={"MLP": baseline(), "LFF": ours()},
        grid=grid(host),
        metrics=(RETURN,),
        sentences={f"H-{host}: LFF helps inside {title}.": Better("LFF", than="MLP")},
        panels=(Panel(RETURN),),
        whole_at="laptop",
    )
    for host, title in HOSTS.items()
)
