"""A SAC update as in the paper's starting code base, written anew: eager, critics one by one.

Two backward passes through the critics' weights, tanh-Gaussian from torch.distributions,
``torch.optim.Adam``, targets moved parameter by parameter.  The networks are ours.
"""

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal, TransformedDistribution
from torch.distributions.transforms import TanhTransform

from lff.algos import SACConfig


class Agent:
    """Networks, optimizers and one update."""

    def __init__(self, config: SACConfig, obs_dim: int, action_dim: int) -> None:
        self.config, self.target_entropy, self.step = config, -float(action_dim), 0
        self.actor = config.actor.build(obs_dim, 2 * action_dim)
        self.critics = nn.ModuleList(
            config.critic.build(obs_dim + action_dim, 1) for _ in range(config.num_critics)
        )
        self.targets = copy.deepcopy(self.critics)
        self.log_alpha = torch.tensor(math.log(config.alpha.initial), requires_grad=True)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=config.actor_lr)
        self.critic_optimizer = torch.optim.Adam(self.critics.parameters(), lr=config.critic_lr)
        self.alpha_optimizer = torch.optim.Adam([self.log_alpha], lr=config.alpha.lr)

    def sample(self, obs, noise):
        mean, log_std = self.actor(obs).chunk(2, dim=-1)
        log_std = -5 + 0.5 * (2 + 5) * (torch.tanh(log_std) + 1)
        tanh = TanhTransform(cache_size=1)
        normal = Normal(mean, log_std.exp())
        policy = TransformedDistribution(normal, [tanh])
        action = tanh(normal.loc + normal.scale * noise)
        return action, policy.log_prob(action).sum(-1, keepdim=True)

    def q(self, critics, obs, action):
        return [critic(torch.cat([obs, action], dim=-1)) for critic in critics]

    def update(self, batch, noise):
        """Do one update; return the three losses as they were before it."""
        critic_loss = self.update_critics(batch, noise.next_action)
        actor_loss, alpha_loss = self.update_actor_and_alpha(batch, noise.action)
        self.step += 1
        if self.step % self.config.target.period == 0:
            tau = self.config.target.tau
            for target, critic in zip(self.targets, self.critics, strict=True):
                for t, p in zip(target.parameters(), critic.parameters(), strict=True):
                    t.data.copy_(tau * p.data + (1 - tau) * t.data)
        return critic_loss, actor_loss, alpha_loss

    def update_critics(self, batch, noise):
        reward, going_on = batch.reward[:, None], (~batch.terminated).float()[:, None]
        with torch.no_grad():
            next_action, log_prob = self.sample(batch.next_obs, noise)
            target_v = torch.stack(self.q(self.targets, batch.next_obs, next_action)).amin(0)
            target_v = target_v - self.log_alpha.exp() * log_prob
            target_q = reward + going_on * self.config.gamma * target_v
        losses = [F.mse_loss(q, target_q) for q in self.q(self.critics, batch.obs, batch.action)]
        loss = sum(losses)
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()
        return loss.detach()

    def update_actor_and_alpha(self, batch, noise):
        action, log_prob = self.sample(batch.obs, noise)
        q = torch.stack(self.q(self.critics, batch.obs, action)).amin(0)
        loss = (self.log_alpha.exp().detach() * log_prob - q).mean()
        self.actor_optimizer.zero_grad()
        loss.backward()
        self.actor_optimizer.step()
        gap = (-log_prob - self.target_entropy).detach()
        alpha_loss = (self.log_alpha.exp() * gap).mean()
        self.alpha_optimizer.zero_grad()
        alpha_loss.backward()
        self.alpha_optimizer.step()
        return loss.detach(), alpha_loss.detach()
