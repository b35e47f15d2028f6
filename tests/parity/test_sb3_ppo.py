"""Our PPO against Stable-Baselines3's: from the same weights, by the same actions, the same rollout
with the same advantages, and the same update."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import lff
from lff.algos import PPO, Spaces
from lff.algos.moments import Moments
from lff.core.seeding import stream_seed
from lff.training.on_policy import OnPolicyLoop
from tests.training.runs import MLP, small_ppo

EXAMPLES = Path(__file__).parents[2] / "examples"
SEEN = 1_000


def linears(*networks):
    return [m for net in networks for m in net.modules() if isinstance(m, nn.Linear)]


def pairs(agent, policy):
    """Their layers and ours, the actor's first."""
    theirs = policy.mlp_extractor
    yield from zip(
        linears(theirs.policy_net, policy.action_net), linears(agent.networks["actor"]), strict=True
    )
    yield from zip(
        linears(theirs.value_net, policy.value_net), linears(agent.networks["critic"]), strict=True
    )


@pytest.fixture
def same_start(monkeypatch):
    """Statistics that have seen something: the first rows are where the two begin differently."""
    init = Moments.__init__

    def begin(self, width):
        init(self, width)
        self.count[:] = self.squares[:] = SEEN

    monkeypatch.setattr(Moments, "__init__", begin)


@pytest.mark.usefixtures("same_start")
@pytest.mark.parametrize(
    ("task", "rows", "ends"), [("Hopper", 300, "terminated"), ("HalfCheetah", 1_100, "truncated")]
)
def test_a_rollout_and_its_update_are_those_of_sb3(task, rows, ends, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from sb3_ppo import Peer

    agent = {"rollout_steps": rows, "batch_size": rows, "epochs": 1, "lr": 0.1}
    agent |= {"adam_eps": 1.0}  # so that a step is proportional to the gradient, not to its sign
    agent |= {"actor": MLP, "critic": MLP, "value_clip": None, "advantage_norm": "minibatch"}
    config = small_ppo(f"gym/{task}-v5", agent=agent, steps=rows, eval_every=rows, log_every=rows)
    peer = Peer(config)
    weights = torch.Generator().manual_seed(stream_seed(config.seed, "weights"))
    start = config.algo.build(Spaces.of(peer), generator=weights)
    with torch.no_grad():
        for theirs, ours in pairs(start, peer.policy):
            theirs.weight.copy_(ours.weight)
            theirs.bias.copy_(ours.bias)
    peer.lr_schedule = lambda _: config.algo.lr  # by their schedule it is 0 after this rollout
    peer.policy.optimizer.param_groups[0]["eps"] = config.algo.adam_eps
    normal = peer.get_vec_normalize_env()
    normal.obs_rms.count = normal.ret_rms.count = SEEN
    peer.learn(rows)

    buffer = peer.rollout_buffer
    actions = iter(buffer.actions.reshape(rows, 1, -1))
    monkeypatch.setattr(OnPolicyLoop, "_choose", lambda *_: next(actions))
    prepare, loops, seen = PPO.prepare, {}, []

    def keep(self, rollout):
        found = prepare(self, rollout)
        seen.append((getattr(rollout, ends).sum().item(), found[0]))
        return found

    monkeypatch.setattr(PPO, "prepare", keep)
    lff.train(config, directory=tmp_path / "run", watch=lambda loop, _: loops.update(its=loop))
    ((count, sample),) = seen
    assert count > 0  # the kind of end that this task is here for
    for ours, theirs in (
        (sample.obs, buffer.observations),
        (sample.value, buffer.values),
        (sample.log_prob, buffer.log_probs),
        (sample.advantage, buffer.advantages),
        (sample.target, buffer.returns),
    ):
        theirs = np.asarray(theirs).reshape(ours.shape)
        torch.testing.assert_close(ours, torch.from_numpy(theirs), rtol=1e-3, atol=1e-3)
    moved = [
        (ours.weight - before.weight, theirs.weight - before.weight)
        for (theirs, ours), (_, before) in zip(
            pairs(loops["its"].agent, peer.policy), pairs(start, peer.policy), strict=True
        )
    ]
    for ours, theirs in moved:
        assert torch.linalg.norm(ours - theirs) < 0.01 * torch.linalg.norm(theirs)
