"""SAC of Tianshou on Pendulum-v1, with LFF or its own MLP of equal size."""

import gymnasium
import numpy as np
import torch
from hosts import ACT, BATCH, FOURIER, OBS, RATE, TASK, WARMUP, played, widths
from tianshou.algorithm import SAC
from tianshou.algorithm.algorithm_base import policy_within_training_step
from tianshou.algorithm.modelfree.sac import AutoAlpha, SACPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.utils.net.common import Net
from tianshou.utils.net.continuous import ContinuousActorProbabilistic, ContinuousCritic
from tianshou.utils.torch_utils import torch_train_mode

from lff.plugins.tianshou import FourierNet


@played
def run(variant, seed, steps, every):
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002  Tianshou draws from it

    def net(*, inputs, outputs, **joined):
        sizes = {"state_shape": OBS, "hidden_sizes": widths(variant, inputs, outputs), **joined}
        return FourierNet(fourier=FOURIER, **sizes) if variant == "LFF" else Net(**sizes)

    def critic():
        joined = {"action_shape": ACT, "concat": True}
        return ContinuousCritic(preprocess_net=net(inputs=OBS + ACT, outputs=1, **joined))

    env = gymnasium.make(TASK)
    spread = {"unbounded": True, "conditioned_sigma": True, "action_shape": ACT}
    actor = ContinuousActorProbabilistic(preprocess_net=net(inputs=OBS, outputs=2), **spread)
    spaces = {"action_space": env.action_space, "observation_space": env.observation_space}
    policy = SACPolicy(actor=actor, **spaces)
    rate = AdamOptimizerFactory(lr=RATE)
    algorithm = SAC(
        policy=policy,
        policy_optim=rate,
        critic=critic(),
        critic_optim=rate,
        critic2=critic(),
        critic2_optim=rate,
        alpha=AutoAlpha(-float(ACT), 0.0, rate),
    )
    envs = DummyVectorEnv([lambda: gymnasium.make(TASK)])
    envs.seed(seed)
    collector = Collector(algorithm, envs, VectorReplayBuffer(steps, 1))
    collector.reset()
    collector.collect(n_step=WARMUP, random=True)

    def act(obs):
        with torch.no_grad():
            chosen = policy(Batch(obs=obs[None], info={})).act
        return policy.map_action(chosen.numpy())[0]

    for step in range(WARMUP + 1, steps + 1):
        with policy_within_training_step(policy):
            collector.collect(n_step=1)
            with torch_train_mode(algorithm):
                algorithm.update(buffer=collector.buffer, sample_size=BATCH)
        if step % every == 0:
            yield step, act
