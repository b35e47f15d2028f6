"""What the layer costs inside each host: its update with LFF over its update with its own MLP.

The MLP has as many parameters.  Both take turns in one process; each round gives one ratio by the
wall's clock and one by processor time, and the medians count.  HalfCheetah's sizes, batch 256, two
hidden layers of 256 behind 256 features; only updates, so that no environment dilutes the cost.

    python benchmarks/plugin_cost.py --hosts sb3 sbx torchrl tianshou
"""

import argparse
import json
from dataclasses import asdict

import numpy as np
import torch
from gymnasium import Env, spaces
from pixel_turns import Clocks, take_turns
from turns import median_and_quartiles

from lff import Fourier, MLPTrunk, NetConfig
from lff.nn import MatchedMLP

OBS, ACT, BATCH = 17, 6, 256
FRONT, HIDDEN = Fourier(fourier_dim=256, sigma=0.01), (256, 256)
GOAL = 1.25


class Still(Env):
    """An environment of the right sizes; only updates are measured."""

    observation_space = spaces.Box(-np.inf, np.inf, (OBS,), np.float32)
    action_space = spaces.Box(-1, 1, (ACT,), np.float32)

    def reset(self, **_):
        return np.zeros(OBS, np.float32), {}

    def step(self, action):  # noqa: ARG002
        obs = np.random.default_rng().normal(size=OBS).astype(np.float32)
        return obs, float(obs[0]), False, False, {}


def hidden(variant, inputs, outputs):
    net = NetConfig(FRONT, MLPTrunk(HIDDEN))
    mlp = NetConfig(trunk=MatchedMLP(like=net))
    return HIDDEN if variant == "lff" else mlp.hidden(inputs, outputs)


def like_sb3(algorithm, policy, variant, **options):
    widths = {"pi": [*hidden(variant, OBS, 2 * ACT)], "qf": [*hidden(variant, OBS + ACT, 1)]}
    kwargs = {"net_arch": widths} | ({"fourier": asdict(FRONT)} if variant == "lff" else {})
    name = policy if variant == "lff" else "MlpPolicy"
    options |= {"buffer_size": 2000, "learning_starts": 300, "seed": 0}
    model = algorithm(name, Still(), policy_kwargs=kwargs, **options)
    model.learn(301)  # fills the replay, sets the logger up
    return lambda: model.train(gradient_steps=1, batch_size=BATCH)


def sb3(variant):
    from stable_baselines3 import SAC

    from lff.plugins.sb3 import LFFSACPolicy

    return like_sb3(SAC, LFFSACPolicy, variant, device="cpu")


def sbx(variant):
    from sbx import SAC

    from lff.plugins.flax import LFFSACPolicy

    return like_sb3(SAC, LFFSACPolicy, variant)


def torchrl(variant):
    from tensordict import TensorDict
    from torchrl.data import Bounded
    from torchrl.modules import MLP, ValueOperator
    from torchrl.objectives import SACLoss, SoftUpdate

    from lff.plugins.torchrl import make_actor, make_critics

    spec = Bounded(-torch.ones(ACT), torch.ones(ACT), shape=(ACT,))
    net = NetConfig(FRONT, MLPTrunk(HIDDEN, init="default"))
    actor, critics = (
        make_actor(net, spec, obs_dim=OBS),
        make_critics(net, obs_dim=OBS, action_dim=ACT),
    )
    if variant == "mlp":
        relu, keys = {"activation_class": torch.nn.ReLU}, ["observation", "action"]
        cells = [*hidden(variant, OBS + ACT, 1)]
        critics = [
            ValueOperator(MLP(OBS + ACT, 1, num_cells=cells, **relu), in_keys=keys) for _ in "12"
        ]
        cells = [*hidden(variant, OBS, 2 * ACT)]
        actor.module[0].module[0] = MLP(OBS, 2 * ACT, num_cells=cells, **relu)
    loss = SACLoss(actor, critics, num_qvalue_nets=2, loss_function="l2")
    loss.make_value_estimator(gamma=0.99)
    target = SoftUpdate(loss, eps=0.995)
    optimizer = torch.optim.Adam(loss.parameters())
    no = torch.zeros(BATCH, 1, dtype=torch.bool)
    after = {"observation": torch.randn(BATCH, OBS), "reward": torch.randn(BATCH, 1)}
    after |= {"done": no, "terminated": no}
    action = torch.rand(BATCH, ACT) * 1.8 - 0.9
    batch = {"observation": torch.randn(BATCH, OBS), "action": action, "next": after}
    data = TensorDict(batch, [BATCH])

    def update():
        losses = loss(data.copy())
        optimizer.zero_grad()
        sum(losses[f"loss_{name}"] for name in ("actor", "qvalue", "alpha")).backward()
        optimizer.step()
        target.step()

    return update


def tianshou(variant):
    from tianshou.algorithm import SAC
    from tianshou.algorithm.algorithm_base import policy_within_training_step
    from tianshou.algorithm.modelfree.sac import AutoAlpha, SACPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.env import DummyVectorEnv
    from tianshou.utils.net.common import Net
    from tianshou.utils.net.continuous import ContinuousActorProbabilistic, ContinuousCritic
    from tianshou.utils.torch_utils import torch_train_mode

    from lff.plugins.tianshou import FourierNet

    def net(*, inputs, outputs, **joined):
        sizes = {"state_shape": OBS, "hidden_sizes": hidden(variant, inputs, outputs), **joined}
        return FourierNet(fourier=FRONT, **sizes) if variant == "lff" else Net(**sizes)

    def critic():
        joined = net(inputs=OBS + ACT, outputs=1, action_shape=ACT, concat=True)
        return ContinuousCritic(preprocess_net=joined)

    spread = {"unbounded": True, "conditioned_sigma": True, "action_shape": ACT}
    actor = ContinuousActorProbabilistic(preprocess_net=net(inputs=OBS, outputs=2 * ACT), **spread)
    policy = SACPolicy(actor=actor, action_space=Still.action_space)
    rate = AdamOptimizerFactory()
    both = {"critic": critic(), "critic2": critic(), "critic_optim": rate, "critic2_optim": rate}
    alpha = AutoAlpha(-float(ACT), 0.0, rate)
    algorithm = SAC(policy=policy, policy_optim=rate, alpha=alpha, **both)
    collector = Collector(algorithm, DummyVectorEnv([Still]), VectorReplayBuffer(2000, 1))
    collector.reset()
    collector.collect(n_step=300, random=True)

    def update():
        with policy_within_training_step(policy), torch_train_mode(algorithm):
            algorithm.update(buffer=collector.buffer, sample_size=BATCH)

    return update


HOSTS = {"sb3": sb3, "sbx": sbx, "torchrl": torchrl, "tianshou": tianshou}


def compare(host, arguments):
    """Return milliseconds of both, and median and quartiles of their ratio, by each clock."""
    updates = {variant: HOSTS[host](variant) for variant in ("mlp", "lff")}

    def several(update):
        return lambda: [update() for _ in range(arguments.updates)]

    runs = {variant: several(update) for variant, update in updates.items()}
    times = take_turns(runs, rounds=arguments.rounds)
    found = {}
    for clock in Clocks._fields:
        mlp, lff = (np.array([getattr(t, clock) for t in times[name]]) for name in ("mlp", "lff"))
        ratio, quartiles = median_and_quartiles((lff / mlp).tolist())
        each = 1000 / arguments.updates
        found[clock] = {
            "ratio": round(ratio, 3),
            "quartiles": quartiles,
            "mlp_ms": round(float(np.median(mlp)) * each, 2),
            "lff_ms": round(float(np.median(lff)) * each, 2),
        }
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", nargs="+", choices=HOSTS, default=[*HOSTS])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--updates", type=int, default=10, help="in one turn")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    found = {}
    for host in arguments.hosts:
        found[host] = compare(host, arguments)
        for clock, numbers in found[host].items():
            print(f"{host:9s} {clock:4s}", *(f"{k} {v}" for k, v in numbers.items()), flush=True)
    ratios = {host: numbers["wall"]["ratio"] for host, numbers in found.items()}
    cpu = {host: numbers["cpu"]["ratio"] for host, numbers in found.items()}
    met = {host: ratio <= GOAL for host, ratio in cpu.items()}
    print(json.dumps({"ratios": ratios, "cpu": cpu, "goal": GOAL, "met": met, "hosts": found}))


if __name__ == "__main__":
    main()
