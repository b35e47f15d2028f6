"""SAC of TorchRL on Pendulum-v1, with LFF or its own MLP of equal size.

TorchRL has losses and no trainer: the loop is ours.
"""

import gymnasium
import numpy as np
import torch
from hosts import ACT, BATCH, FOURIER, HIDDEN, OBS, RATE, TASK, WARMUP, played, widths
from tensordict import TensorDict
from torchrl.data import Bounded
from torchrl.envs.utils import ExplorationType, set_exploration_type
from torchrl.modules import MLP, ValueOperator
from torchrl.objectives import SACLoss, SoftUpdate

from lff import MLPTrunk, NetConfig
from lff.plugins.torchrl import make_actor, make_critics


def build(variant):
    spec = Bounded(torch.full((ACT,), -2.0), torch.full((ACT,), 2.0), shape=(ACT,))
    net = NetConfig(FOURIER, MLPTrunk(HIDDEN, init="default"))
    critics = make_critics(net, obs_dim=OBS, action_dim=ACT)
    actor = make_actor(net, spec, obs_dim=OBS)
    if variant == "MLP":  # the host's own
        relu = {"activation_class": torch.nn.ReLU}
        hidden = widths(variant, OBS + ACT, 1)
        for i in range(2):
            network = MLP(OBS + ACT, 1, num_cells=[*hidden], **relu)
            critics[i] = ValueOperator(network, in_keys=["observation", "action"])
        head = actor.module[0].module
        head[0] = MLP(OBS, 2 * ACT, num_cells=[*widths(variant, OBS, 2 * ACT)], **relu)
    loss = SACLoss(actor, critics, num_qvalue_nets=2, loss_function="l2")
    loss.make_value_estimator(gamma=0.99)
    return actor, loss


@played
def run(variant, seed, steps, every):
    torch.manual_seed(seed)
    actor, loss = build(variant)
    target = SoftUpdate(loss, eps=0.995)
    optimizer = torch.optim.Adam(loss.parameters(), lr=RATE)

    def act(obs, how=ExplorationType.DETERMINISTIC):
        with torch.no_grad(), set_exploration_type(how):
            data = TensorDict({"observation": torch.as_tensor(obs)[None]}, [1])
            return actor(data)["action"][0].numpy()

    env, memory = gymnasium.make(TASK), []
    draws = np.random.default_rng(seed)
    obs, _ = env.reset(seed=seed)
    for step in range(1, steps + 1):
        warm = step <= WARMUP
        action = draws.uniform(-2, 2, 1) if warm else act(obs, ExplorationType.RANDOM)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, next_obs, [float(reward)], [terminated]))
        obs = env.reset()[0] if terminated or truncated else next_obs
        if not warm:
            rows = [memory[i] for i in draws.integers(len(memory), size=BATCH)]
            s, a, s2, r, end = (torch.as_tensor(np.array(x)) for x in zip(*rows, strict=True))
            after = {"observation": s2, "reward": r.float(), "terminated": end, "done": end}
            batch = {"observation": s, "action": a.float(), "next": after}
            losses = loss(TensorDict(batch, [BATCH]))
            optimizer.zero_grad()
            sum(losses[f"loss_{name}"] for name in ("actor", "qvalue", "alpha")).backward()
            optimizer.step()
            target.step()
        if step % every == 0:
            yield step, act
