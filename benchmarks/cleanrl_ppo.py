"""PPO as CleanRL's single file does it: the same operations in the same order, written anew."""

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import nn, optim
from torch.distributions import Normal

GAMMA, LAMBDA, CLIP, LR, CLIP_NORM = 0.99, 0.95, 0.2, 3e-4, 0.5


def layer(wide, narrow, gain=2**0.5):
    linear = nn.Linear(wide, narrow)
    nn.init.orthogonal_(linear.weight, gain)
    nn.init.constant_(linear.bias, 0.0)
    return linear


def network(obs, width, out, gain):
    first, second, last = layer(obs, width), layer(width, width), layer(width, out, gain)
    return nn.Sequential(first, nn.Tanh(), second, nn.Tanh(), last)


class Agent(nn.Module):
    """Actor and critic."""

    def __init__(self, obs: int, act: int, width: int) -> None:
        super().__init__()
        self.critic = network(obs, width, 1, 1.0)
        self.actor_mean = network(obs, width, act, 0.01)
        self.actor_logstd = nn.Parameter(torch.zeros(1, act))

    def action_and_value(self, obs, action=None):
        mean = self.actor_mean(obs)
        law = Normal(mean, self.actor_logstd.expand_as(mean).exp())
        action = law.sample() if action is None else action
        return action, law.log_prob(action).sum(1), law.entropy().sum(1), self.critic(obs)


def make(task):
    def wrapped():
        env = gymnasium.make(task)
        env = gymnasium.wrappers.FlattenObservation(env)
        env = gymnasium.wrappers.RecordEpisodeStatistics(env)
        env = gymnasium.wrappers.ClipAction(env)
        env = gymnasium.wrappers.NormalizeObservation(env)
        space = env.observation_space
        clip = lambda obs: np.clip(obs, -10, 10)  # noqa: E731
        env = gymnasium.wrappers.TransformObservation(env, clip, space)
        env = gymnasium.wrappers.NormalizeReward(env, gamma=GAMMA)
        return gymnasium.wrappers.TransformReward(env, lambda reward: np.clip(reward, -10, 10))

    return wrapped


def train(tick, *, task, rollout, batch, epochs, width) -> None:
    """Run the loop until ``tick`` ends it."""
    envs = SyncVectorEnv([make(task)], autoreset_mode=AutoresetMode.SAME_STEP)
    obs_shape, act_shape = envs.single_observation_space.shape, envs.single_action_space.shape
    agent = Agent(obs_shape[0], act_shape[0], width)
    adam = optim.Adam(agent.parameters(), lr=LR, eps=1e-5)
    obs = torch.zeros((rollout, 1, *obs_shape))
    actions = torch.zeros((rollout, 1, *act_shape))
    log_probs, rewards, dones, values = (torch.zeros((rollout, 1)) for _ in range(4))
    next_obs, _ = envs.reset(seed=1)
    next_obs, next_done = torch.Tensor(next_obs), torch.zeros(1)
    while True:
        for step in range(rollout):
            obs[step], dones[step] = next_obs, next_done
            with torch.no_grad():
                action, log_prob, _, value = agent.action_and_value(next_obs)
                values[step] = value.flatten()
            actions[step], log_probs[step] = action, log_prob
            next_obs, reward, ended, cut, _ = envs.step(action.cpu().numpy())
            next_done = np.logical_or(ended, cut)
            rewards[step] = torch.tensor(reward).view(-1)
            next_obs, next_done = torch.Tensor(next_obs), torch.Tensor(next_done)
            if step < rollout - 1:
                tick()
        with torch.no_grad():
            next_value = agent.critic(next_obs).reshape(1, -1)
            advantages, last = torch.zeros_like(rewards), 0
            for t in reversed(range(rollout)):
                going = 1.0 - (next_done if t == rollout - 1 else dones[t + 1])
                after = next_value if t == rollout - 1 else values[t + 1]
                delta = rewards[t] + GAMMA * after * going - values[t]
                advantages[t] = last = delta + GAMMA * LAMBDA * going * last
            returns = advantages + values
        flat = [x.reshape((-1, *x.shape[2:])) for x in (obs, actions)]
        flat += [x.reshape(-1) for x in (log_probs, advantages, returns, values)]
        learn(agent, adam, flat, rollout=rollout, batch=batch, epochs=epochs)
        tick()


def learn(agent, adam, flat, *, rollout, batch, epochs) -> None:
    """Do all updates of one rollout."""
    obs, actions, log_probs, advantages, returns, values = flat
    order, clipped = np.arange(rollout), []
    for _ in range(epochs):
        np.random.shuffle(order)  # noqa: NPY002  as it is there
        for start in range(0, rollout, batch):
            rows = order[start : start + batch]
            _, log_prob, entropy, value = agent.action_and_value(obs[rows], actions[rows])
            change = log_prob - log_probs[rows]
            ratio = change.exp()
            with torch.no_grad():
                (-change).mean(), ((ratio - 1) - change).mean()
                clipped += [((ratio - 1.0).abs() > CLIP).float().mean().item()]
            A = advantages[rows]
            A = (A - A.mean()) / (A.std() + 1e-8)
            policy = torch.max(-A * ratio, -A * torch.clamp(ratio, 1 - CLIP, 1 + CLIP)).mean()
            value = value.view(-1)
            held = values[rows] + torch.clamp(value - values[rows], -CLIP, CLIP)
            errors = torch.max((value - returns[rows]) ** 2, (held - returns[rows]) ** 2)
            loss = policy - 0.0 * entropy.mean() + 0.5 * (0.5 * errors.mean())
            adam.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), CLIP_NORM)
            adam.step()
