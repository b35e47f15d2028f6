"""SAC in one file, in the style of CleanRL; three lines give its critics learned Fourier features.

    python examples/single_file/sac.py --env-id Pendulum-v1 --total-steps 10000

The lines marked LFF are the whole change; behind them is what they were before.
"""

from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
import tyro
from torch import nn

import lff


@dataclass
class Args:
    env_id: str = "Pendulum-v1"
    """a task of Gymnasium with continuous actions"""
    seed: int = 1
    """seed of everything"""
    total_steps: int = 10_000
    """environment steps"""
    learning_starts: int = 1_000
    """steps with random actions"""
    batch_size: int = 256
    """transitions per update"""
    gamma: float = 0.99
    """discount"""
    tau: float = 0.005
    """how far the target moves at every update"""
    policy_lr: float = 3e-4
    """learning rate of the actor"""
    q_lr: float = 1e-3
    """learning rate of the critics and of the temperature"""
    hidden: int = 256
    """width of the hidden layers"""
    fourier_dim: int = 256
    """number of Fourier features"""
    sigma: float = 0.01
    """their standard deviation at the start"""


class SoftQNetwork(nn.Module):
    def __init__(self, inputs, args, hidden):
        super().__init__()
        self.lff = lff.LearnedFourierFeatures(inputs, args.fourier_dim, sigma=args.sigma)  # LFF new
        self.fc1 = nn.Linear(self.lff.out_features, hidden)  # LFF was nn.Linear(inputs, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, 1)

    def forward(self, obs, action):
        x = self.lff(torch.cat([obs, action], 1))  # LFF was torch.cat([obs, action], 1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x))))).squeeze(1)


class Actor(nn.Module):
    def __init__(self, env, args):
        super().__init__()
        self.fc1 = nn.Linear(env.observation_space.shape[0], args.hidden)
        self.fc2 = nn.Linear(args.hidden, args.hidden)
        self.fc_mean = nn.Linear(args.hidden, env.action_space.shape[0])
        self.fc_logstd = nn.Linear(args.hidden, env.action_space.shape[0])
        low, high = torch.tensor(env.action_space.low), torch.tensor(env.action_space.high)
        self.register_buffer("scale", (high - low) / 2)
        self.register_buffer("bias", (high + low) / 2)

    def forward(self, obs):
        x = F.relu(self.fc2(F.relu(self.fc1(obs))))
        log_std = -5 + 3.5 * (torch.tanh(self.fc_logstd(x)) + 1)  # in [-5, 2]
        normal = torch.distributions.Normal(self.fc_mean(x), log_std.exp())
        u = normal.rsample()
        slope = 2 * (np.log(2) - u - F.softplus(-2 * u)) + self.scale.log()
        return torch.tanh(u) * self.scale + self.bias, (normal.log_prob(u) - slope).sum(1)


def main(args: Args):  # noqa: PLR0915  one file, read top to bottom
    torch.manual_seed(args.seed)
    draws = np.random.default_rng(args.seed)
    env = gym.make(args.env_id)
    env.action_space.seed(args.seed)
    n_obs, n_act = env.observation_space.shape[0], env.action_space.shape[0]
    actor = Actor(env, args)
    critics = nn.ModuleList([SoftQNetwork(n_obs + n_act, args, args.hidden) for _ in range(2)])
    targets = nn.ModuleList([SoftQNetwork(n_obs + n_act, args, args.hidden) for _ in range(2)])
    targets.load_state_dict(critics.state_dict())
    log_alpha = torch.zeros(1, requires_grad=True)
    q_optimizer = torch.optim.Adam(critics.parameters(), lr=args.q_lr)
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=args.policy_lr)
    a_optimizer = torch.optim.Adam([log_alpha], lr=args.q_lr)
    widths = {"obs": n_obs, "action": n_act, "next_obs": n_obs, "reward": 1, "terminated": 1}
    replay = {k: np.zeros((args.total_steps, n), dtype=np.float32) for k, n in widths.items()}
    obs, _ = env.reset(seed=args.seed)
    episode_return, returns = 0.0, []
    for step in range(args.total_steps):
        if step < args.learning_starts:
            action = env.action_space.sample()
        else:
            with torch.no_grad():
                action = actor(torch.as_tensor(obs, dtype=torch.float32)[None])[0][0].numpy()
        next_obs, reward, terminated, truncated, _ = env.step(action)
        found = (obs, action, next_obs, reward, terminated)  # a time limit is not terminal
        for column, value in zip(replay.values(), found, strict=True):
            column[step] = value
        obs, episode_return = next_obs, episode_return + float(reward)
        if terminated or truncated:
            returns.append(episode_return)
            print(f"step={step + 1}, episodic_return={episode_return:.1f}")
            episode_return, (obs, _) = 0.0, env.reset()
        if step < args.learning_starts:
            continue
        rows = draws.integers(step + 1, size=args.batch_size)
        s, a, s2, r, end = (torch.from_numpy(column[rows]) for column in replay.values())
        alpha = log_alpha.exp().detach()
        with torch.no_grad():
            a2, log_prob = actor(s2)
            next_q = torch.min(*(target(s2, a2) for target in targets)) - alpha * log_prob
            target_q = r[:, 0] + args.gamma * (1 - end[:, 0]) * next_q
        q_loss = sum(F.mse_loss(critic(s, a), target_q) for critic in critics)
        q_optimizer.zero_grad()
        q_loss.backward()
        q_optimizer.step()
        new_action, log_prob = actor(s)
        q = torch.min(*(critic(s, new_action) for critic in critics))
        actor_optimizer.zero_grad()
        (alpha * log_prob - q).mean().backward()
        actor_optimizer.step()
        a_optimizer.zero_grad()
        (-log_alpha.exp() * (log_prob.detach() - n_act).mean()).backward()
        a_optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(targets.parameters(), critics.parameters(), strict=True):
                slow.lerp_(fast, args.tau)
    networks = {"actor": actor, "critics": critics, "targets": targets}
    return networks | {"q_optimizer": q_optimizer, "actor_optimizer": actor_optimizer}, returns


if __name__ == "__main__":
    agent, _ = main(tyro.cli(Args))
    if hasattr(agent["critics"][0], "lff"):
        lff.audit(agent)
