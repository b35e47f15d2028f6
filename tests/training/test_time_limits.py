"""Advantages on a chain whose value function is known, and given to the agent: all must be 0."""

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import nn

from lff.algos import PPOConfig
from lff.nn import MLPTrunk, NetConfig
from lff.store import RunDir
from lff.training.on_policy import OnPolicyLoop, make_vector
from tests.envs.timed import GAMMA, WRONG, chain
from tests.training.runs import run_config

NET = NetConfig(trunk=MLPTrunk((8,), activation="tanh"))
TASK = "tests.envs.timed:chain"
MODES = [None, "processes", *AutoresetMode]


def first_sample(folder, *, num_envs, mode, gae_lambda):
    algo = PPOConfig(
        actor=NET,
        critic=NET,
        rollout_steps=256,
        gamma=GAMMA,
        gae_lambda=gae_lambda,
        normalize_obs=False,
        normalize_reward=False,
    )
    vector = "processes" if mode == "processes" else "inside"
    config = run_config(TASK, algo, steps=1000, num_envs=num_envs, envs=vector)

    def gymnasium_vector(seed):
        return SyncVectorEnv([lambda: chain(seed=0)] * num_envs, autoreset_mode=mode)

    from lff.envs import make

    ours = mode in (None, "processes")
    make_env = lambda seed: make(TASK, seed=seed)  # noqa: E731
    envs = make_vector(config, make_env, vector_fn=None if ours else gymnasium_vector)
    found = {}
    with RunDir(folder).start(config, info={}) as run:
        loop = OnPolicyLoop(config, make_env, envs)
        loop.run = run
        critic = loop.agent.critic.network = nn.Linear(1, 1)
        nn.init.ones_(critic.weight)
        nn.init.zeros_(critic.bias)
        found["learn"] = loop._learn
        loop._learn = lambda: found.update(
            sample=loop.agent.prepare(loop.rollout)[0],
            step=loop.progress.env_step,
            rollout=loop.rollout,
        )
        try:
            loop._begin()
            while "sample" not in found:
                loop._step()
        finally:
            loop.close()
    return found


@pytest.mark.parametrize("num_envs", [1, 4])
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_the_known_values_are_their_own_targets(tmp_path, mode, num_envs):
    found = first_sample(tmp_path / "run", num_envs=num_envs, mode=mode, gae_lambda=0.95)
    sample, rollout = found["sample"], found["rollout"]
    torch.testing.assert_close(
        sample.advantage, torch.zeros_like(sample.advantage), atol=2e-5, rtol=0
    )
    torch.testing.assert_close(sample.target, sample.obs[:, 0], atol=2e-5, rtol=0)
    assert (sample.obs != WRONG).all()
    # both kinds of end, in every environment
    assert rollout.truncated.any(dim=0).all()
    assert rollout.terminated.any(dim=0).all()
    # steps that were no action are neither learned from nor counted
    wasted = 256 - len(sample.obs)
    assert found["step"] == len(sample.obs)
    if mode is AutoresetMode.NEXT_STEP:
        ends = (rollout.truncated | rollout.terminated)[:-1]
        assert wasted == int(ends.sum()) > 20
    else:
        assert wasted == 0


def test_a_time_limit_taken_for_an_end_would_be_seen(tmp_path):
    found = first_sample(tmp_path / "run", num_envs=1, mode=None, gae_lambda=0.95)
    rollout = found["rollout"]
    from lff.algos.policy_gradient import advantages

    value = rollout.obs[..., 0]
    after = torch.cat([value[1:], rollout.next_obs[-1:, :, 0]])
    wrong = advantages(
        rollout.reward,
        value,
        after,
        rollout.terminated | rollout.truncated,
        rollout.truncated,
        gamma=GAMMA,
        gae_lambda=0.95,
    )
    assert wrong.abs().max() > 1
    # V of the next episode's first observation instead of what the action led to
    mixed = advantages(
        rollout.reward,
        value,
        after,
        rollout.terminated,
        rollout.truncated,
        gamma=GAMMA,
        gae_lambda=0.95,
    )
    assert np.abs(mixed.numpy()).max() > 1
