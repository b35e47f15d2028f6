"""PPO in one file, in the style of CleanRL; three lines give its critic learned Fourier features.

    python examples/single_file/ppo.py --env-id Pendulum-v1 --total-steps 100000

The lines marked LFF are the whole change; behind them is what they were before.  As in the
authors' code the actor stays an MLP.  Gymnasium resets an environment in the step that ends its
episode and keeps the last observation aside, from which a time limit is bootstrapped.
"""

from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
import tyro
from torch import nn

import lff


@dataclass
class Args:
    env_id: str = "Pendulum-v1"
    """a task of Gymnasium with continuous actions"""
    seed: int = 1
    """seed of everything"""
    total_steps: int = 100_000
    """environment steps, all environments together"""
    num_envs: int = 4
    """environments side by side"""
    num_steps: int = 256
    """steps of each between two updates"""
    epochs: int = 10
    """passes over these steps"""
    minibatch: int = 64
    """steps per gradient"""
    learning_rate: float = 3e-4
    """of Adam"""
    gamma: float = 0.99
    """discount"""
    gae_lambda: float = 0.95
    """of generalised advantage estimation"""
    clip: float = 0.2
    """how far the probability ratio counts"""
    hidden: int = 64
    """width of the hidden layers"""
    fourier_dim: int = 64
    """number of Fourier features"""
    sigma: float = 0.01
    """their standard deviation at the start"""


def dense(inputs, outputs, gain=2**0.5):
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class Critic(nn.Module):
    def __init__(self, inputs, args, hidden):
        super().__init__()
        self.lff = lff.LearnedFourierFeatures(inputs, args.fourier_dim, sigma=args.sigma)  # LFF new
        self.fc1 = dense(self.lff.out_features, hidden)  # LFF was dense(inputs, hidden)
        self.fc2 = dense(hidden, hidden)
        self.fc3 = dense(hidden, 1, gain=1.0)

    def forward(self, obs):
        x = self.lff(obs)  # LFF was obs
        return self.fc3(self.fc2(self.fc1(x).tanh()).tanh()).squeeze(-1)


class Agent(nn.Module):
    def __init__(self, n_obs, n_act, args):
        super().__init__()
        self.critic = Critic(n_obs, args, args.hidden)
        self.actor_mean = nn.Sequential(
            dense(n_obs, args.hidden),
            nn.Tanh(),
            dense(args.hidden, args.hidden),
            nn.Tanh(),
            dense(args.hidden, n_act, gain=0.01),
        )
        self.actor_logstd = nn.Parameter(torch.zeros(n_act))

    def distribution(self, obs):
        normal = torch.distributions.Normal(self.actor_mean(obs), self.actor_logstd.exp())
        return torch.distributions.Independent(normal, 1)


def make_env(args):
    env = gym.wrappers.ClipAction(gym.make(args.env_id))
    env = gym.wrappers.NormalizeObservation(gym.wrappers.RecordEpisodeStatistics(env))
    return gym.wrappers.NormalizeReward(env, gamma=args.gamma)


def advantages(reward, value, next_value, ended, args):
    """GAE; ``next_value`` is 0 after a true end, ``ended`` stops the sum at any end."""
    result, last = torch.zeros_like(reward), torch.zeros(reward.shape[1])
    for t in reversed(range(len(reward))):
        delta = reward[t] + args.gamma * next_value[t] - value[t]
        last = delta + args.gamma * args.gae_lambda * ~ended[t] * last
        result[t] = last
    return result


def main(args: Args):  # noqa: PLR0915  one file, read top to bottom
    torch.manual_seed(args.seed)
    mode = gym.vector.AutoresetMode.SAME_STEP
    makers = [lambda: make_env(args) for _ in range(args.num_envs)]
    envs = gym.vector.SyncVectorEnv(makers, autoreset_mode=mode)
    n_obs = envs.single_observation_space.shape[0]
    n_act = envs.single_action_space.shape[0]
    agent = Agent(n_obs, n_act, args)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    shape = (args.num_steps, args.num_envs)
    obs, actions = torch.zeros(*shape, n_obs), torch.zeros(*shape, n_act)
    log_probs, rewards, values, next_values = (torch.zeros(shape) for _ in range(4))
    ended = torch.zeros(shape, dtype=torch.bool)
    current = torch.as_tensor(envs.reset(seed=args.seed)[0], dtype=torch.float32)
    returns = []
    for update in range(max(1, args.total_steps // (args.num_steps * args.num_envs))):
        for t in range(args.num_steps):
            with torch.no_grad():
                policy = agent.distribution(current)
                obs[t], actions[t] = current, policy.sample()
                log_probs[t], values[t] = policy.log_prob(actions[t]), agent.critic(current)
            after, reward, terminated, truncated, info = envs.step(actions[t].numpy())
            rewards[t] = torch.as_tensor(reward)
            ended[t] = torch.as_tensor(terminated | truncated)
            last = np.array(after, dtype=np.float32)
            for i in np.flatnonzero(terminated | truncated):
                last[i] = info["final_obs"][i]
                returns.append(float(info["final_info"]["episode"]["r"][i]))
            with torch.no_grad():
                next_values[t] = agent.critic(torch.as_tensor(last)) * ~torch.as_tensor(terminated)
            current = torch.as_tensor(after, dtype=torch.float32)
        advantage = advantages(rewards, values, next_values, ended, args)
        batch = [x.flatten(0, 1) for x in (obs, actions, log_probs, advantage, advantage + values)]
        for _ in range(args.epochs):
            for rows in torch.randperm(len(batch[0])).split(args.minibatch):
                s, a, old, gain, target = (x[rows] for x in batch)
                policy = agent.distribution(s)
                ratio = (policy.log_prob(a) - old).exp()
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
                policy_loss = -torch.min(ratio * gain, clipped * gain).mean()
                value_loss = (agent.critic(s) - target).square().mean()
                optimizer.zero_grad()
                (policy_loss + 0.5 * value_loss).backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        if returns:
            steps = (update + 1) * args.num_steps * args.num_envs
            print(f"step={steps}, episodic_return={np.mean(returns[-20:]):.1f}")
    return {"agent": agent, "optimizer": optimizer}, returns


if __name__ == "__main__":
    owner, _ = main(tyro.cli(Args))
    if hasattr(owner["agent"].critic, "lff"):
        lff.audit(owner)
