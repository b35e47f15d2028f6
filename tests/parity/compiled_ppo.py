"""Compiled against eager updates of PPO, in a process without the test run's shape checks.

    python -m tests.parity.compiled_ppo aot_eager|inductor

Fails unless some compiled updates, at two learning rates, give the eager agent's tensors within
tolerance.  "inductor" is the compiler as training uses it.
"""

import sys

import torch

from lff import Fourier, MLPTrunk, NetConfig
from lff.algos import PPOConfig, Spaces
from lff.algos.base import Minibatch
from lff.data.rollout import Rollout
from lff.regularizers import BasisRule, Dropout, LayerNorm, SpectralNorm, WeightDecay
from lff.training.compile import compile_update

OBS, ACT, ROWS, SIZE = 5, 2, 64, 16
NET = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((16, 16), activation="tanh"))
ALL = (
    WeightDecay(coefficient=1e-2, kind="decoupled"),
    BasisRule(lr=1e-2, decay=1e-2, anchor=0.1),
    Dropout(p=0.2),
    SpectralNorm(where="both"),
    LayerNorm(),
)
VARIANTS = (
    {},
    {"value_clip": None, "max_grad_norm": None, "advantage_norm": "rollout", "entropy_coef": 0.01},
    {"regularizers": ALL},
)


def draw_rollout(g):
    rollout = Rollout(ROWS, envs=1, obs_dim=OBS, action_dim=ACT)
    for value in (rollout.obs, rollout.action, rollout.reward, rollout.next_obs):
        value.normal_(generator=g)
    rollout.truncated[10] = rollout.terminated[20] = True
    rollout.valid.fill_(value=True)
    return rollout


def main(backend):
    alive = []
    for options in VARIANTS[: 2 if backend == "inductor" else 3]:
        if backend != "inductor":
            torch.compiler.reset()
        sizes = {"rollout_steps": ROWS, "batch_size": SIZE, "lr": 1e-3}
        config = PPOConfig(actor=NET, critic=NET, **sizes, **options)
        one, other = (
            config.build(Spaces((OBS,), ACT), generator=torch.Generator().manual_seed(0))
            for _ in "ab"
        )
        alive.append(other)
        if backend == "inductor":
            update = compile_update(other.update)
        else:
            update = torch.compile(other.update, fullgraph=True, backend=backend, dynamic=False)
        g = torch.Generator().manual_seed(1)
        for share in (1.0, 0.5):  # the schedule must reach into the graph
            rollout = draw_rollout(g)
            samples = [agent.prepare(rollout)[0] for agent in (one, other)]
            for agent in (one, other):
                agent.lr_share.fill_(share)
            for rows in torch.randperm(ROWS, generator=g).view(-1, SIZE):
                masks = one.draw(g, SIZE)
                expected = one.update(Minibatch(samples[0], rows), masks)
                actual = update(Minibatch(samples[1], rows), masks)
        for name, value in expected.items():
            torch.testing.assert_close(actual[name], value, rtol=1e-3, atol=1e-4, msg=name)
        for name, value in one.state().items():
            torch.testing.assert_close(
                other.state()[name].data, value.data, rtol=1e-3, atol=1e-4, msg=name
            )


if __name__ == "__main__":
    main(sys.argv[1])
