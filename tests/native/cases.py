"""Agents to compare, native against eager, and random combinations of their parts.

python -m tests.native.cases 500      so many combinations from seed 0, one line each
"""

import random
import sys
from dataclasses import dataclass

import torch

from lff.algos import FixedAlpha, LearnedAlpha, NoTarget, PolyakTarget, SACConfig, Spaces
from lff.algos.sac import Noise
from lff.data import Batch
from lff.native import NativeSAC
from lff.nn import Fourier, MLPTrunk, NetConfig
from lff.nn.fronts import ConstantControl, LinearControl, LogUniformFourier, TanhControl
from lff.nn.net import Identity
from lff.regularizers import BasisRule, LayerNorm, WeightDecay
from tests.algos.batches import random_batch

ROWS = 400


@dataclass(frozen=True)
class Case:
    config: SACConfig
    obs: int
    act: int
    threads: int = 1

    def build(self, seed=0):
        generator = torch.Generator().manual_seed(seed)
        return self.config.build(Spaces((self.obs,), self.act), generator=generator)

    def build_double(self):
        torch.set_default_dtype(torch.float64)
        try:
            return self.build()
        finally:
            torch.set_default_dtype(torch.float32)

    def replay(self, generator):
        return random_batch(generator, size=ROWS, obs=self.obs, act=self.act)


def lff(*hidden, dim=24, sigma=0.1, **options):
    return NetConfig(Fourier(fourier_dim=dim, sigma=sigma, **options), MLPTrunk(hidden))


def mlp(*hidden):
    return NetConfig(trunk=MLPTrunk(hidden))


def draw_case(seed):
    """Draw a combination of sizes, fronts, layers and settings."""
    pick = random.Random(seed)

    def front():
        dim, sigma = 2 * pick.randint(1, 40), pick.choice((0.01, 0.1, 1.0))
        flags = {"trainable": pick.random() < 0.7, "concat_input": pick.random() < 0.7}
        return pick.choice(
            (
                Identity(),
                Fourier(fourier_dim=dim, sigma=sigma, **flags),
                Fourier(fourier_dim=dim, sigma=sigma),
                LogUniformFourier(fourier_dim=dim, **flags),
                LinearControl(fourier_dim=dim, sigma=sigma),
                ConstantControl(fourier_dim=dim),
                TanhControl(fourier_dim=dim, sigma=sigma),
            )
        )

    def network():
        hidden = tuple(pick.randint(1, 150) for _ in range(pick.randint(1, 4)))
        return NetConfig(front(), MLPTrunk(hidden))

    where = ("actor", "critic", "both")
    extra = [
        LayerNorm(where=pick.choice(where)),
        WeightDecay(
            where=pick.choice(where),
            coefficient=0.1,
            kind=pick.choice(("l2", "decoupled", "l1")),
            biases=pick.random() < 0.5,
        ),
        BasisRule(lr=1e-3, decay=0.1, kind=pick.choice(("l2", "l1")), anchor=0.2),
    ]
    config = SACConfig(
        actor=network(),
        critic=network(),
        num_critics=pick.choice((1, 2, 2, 3)),
        batch_size=pick.choice((1, 7, 32, 64, 100, 101)),
        gamma=pick.choice((0.0, 0.9, 0.99)),
        actor_lr=pick.choice((1e-4, 3e-4)),
        critic_lr=pick.choice((1e-4, 1e-3)),
        alpha=pick.choice((LearnedAlpha(), LearnedAlpha(beta1=0.5), FixedAlpha())),
        target=pick.choice((PolyakTarget(), PolyakTarget(tau=0.7, period=1), NoTarget())),
        target_noise=pick.choice((0.0, 0.5)),
        regularizers=tuple(one for one in extra if pick.random() < 0.4),
        normalize_obs=pick.random() < 0.3,
        log_std_min=pick.choice((-5.0, -10.0)),
    )
    threads = pick.choice((1, 1, 2))
    return Case(
        config, obs=pick.randint(1, 70), act=pick.choice((1, 2, 6, 17, 33)), threads=threads
    )


def distances(case, *, steps=5, target="native"):
    """Return how far single native steps and eager steps are from those in float64.

    Each step starts from the eager agent's state.  Distances are largest differences within a
    tensor, as a share of its largest number; the largest over all tensors counts.
    """
    eager, agent, exact = case.build(), case.build(), case.build_double()
    native = NativeSAC(agent, threads=case.threads, target=target)
    generator = torch.Generator().manual_seed(1)
    if eager.norm is not None:
        eager.observe((2 * torch.randn(50, case.obs, generator=generator) + 1).numpy())
    found = []
    for step in range(steps):
        state = eager.state()
        agent.load_state(state)
        exact.load_state(state)
        replay = case.replay(generator)
        index = torch.randint(ROWS, (case.config.batch_size,), generator=generator)
        noise = eager.draw(generator, case.config.batch_size)
        batch = Batch(*(column[index] for column in replay))
        actor = step != 1
        ours = native.update(replay, index, noise, actor=actor)
        theirs = eager.update(batch, noise, actor=actor)
        right = exact.update(
            Batch(*map(double, batch)), Noise(*map(double, noise[:3])), actor=actor
        )
        assert ours.keys() == theirs.keys()
        expected = exact.state() | right
        found.append((far(agent.state() | ours, expected), far(eager.state() | theirs, expected)))
    return found


def double(x):
    return x.double() if x.is_floating_point() else x


def far(state, expected):
    worst = 0.0
    for name, right in expected.items():
        value = torch.as_tensor(state[name], dtype=torch.float64)
        scale = right.abs().max() + (1e-3 if name.startswith("train/") else 1e-9)
        gap = float((value - right).abs().max() / scale)
        worst = max(worst, gap)
    return worst


def check_distances(found):
    """A step is as near to float64 as the eager one is.

    Where a sum is within rounding of a ReLU's kink, or two critics' values are equal to rounding,
    one side may take the other branch, and the gradient of that row differs: eager and eager on
    two threads do so as well.  Most steps must be near, and none far off.
    """
    near = [ours < 10 * theirs + 2e-5 for ours, theirs in found]
    assert sum(near) > len(near) / 2, found
    assert all(ours < 0.3 for ours, _ in found), found


if __name__ == "__main__":
    for number in range(int(sys.argv[1])):
        result = distances(draw_case(number))
        check_distances(result)
        print(number, max(ours for ours, _ in result), flush=True)  # noqa: T201
