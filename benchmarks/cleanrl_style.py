"""SAC as CleanRL's single file does it: the same operations in the same order, written anew.

One actor and one temperature update a step (upstream: two of each every second step).  ``compiled``
makes it like LeanRL's: losses and policy through torch.compile, optimizers fused, targets moved by
one call.
"""

import gymnasium
import numpy as np
import torch
import torch.nn.functional as F
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from stable_baselines3.common.buffers import ReplayBuffer
from torch import nn, optim
from torch.distributions import Normal

GAMMA, TAU, BATCH, STARTS = 0.99, 0.005, 256, 5_000
POLICY_LR, Q_LR = 3e-4, 1e-3


class QNetwork(nn.Module):
    """One critic."""

    def __init__(self, obs_dim: int, action_dim: int, width: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(obs_dim + action_dim, width)
        self.fc2, self.fc3 = nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, obs, action):
        x = torch.cat([obs, action], 1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class Actor(nn.Module):
    """The policy; actions are in [-1, 1]."""

    def __init__(self, obs_dim: int, action_dim: int, width: int) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(obs_dim, width), nn.Linear(width, width)
        self.fc_mean, self.fc_logstd = nn.Linear(width, action_dim), nn.Linear(width, action_dim)
        self.register_buffer("scale", torch.ones(action_dim))
        self.register_buffer("bias", torch.zeros(action_dim))

    def forward(self, obs, noise=None):
        x = F.relu(self.fc2(F.relu(self.fc1(obs))))
        mean, log_std = self.fc_mean(x), torch.tanh(self.fc_logstd(x))
        normal = Normal(mean, (-5 + 3.5 * (log_std + 1)).exp(), validate_args=False)
        u = normal.rsample() if noise is None else mean + normal.scale * noise
        y = torch.tanh(u)
        log_prob = normal.log_prob(u) - torch.log(self.scale * (1 - y.pow(2)) + 1e-6)
        return y * self.scale + self.bias, log_prob.sum(1, keepdim=True)


class Agent:
    """Networks, optimizers, losses, and the parts of an update."""

    def __init__(self, obs_dim: int, action_dim: int, *, width=256, compiled=False) -> None:
        sizes = (obs_dim, action_dim, width)
        self.actor, self.qf1, self.qf2 = Actor(*sizes), QNetwork(*sizes), QNetwork(*sizes)
        self.qf1_target, self.qf2_target = QNetwork(*sizes), QNetwork(*sizes)
        self.qf1_target.load_state_dict(self.qf1.state_dict())
        self.qf2_target.load_state_dict(self.qf2.state_dict())
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.target_entropy, self.compiled, self.act = -float(action_dim), compiled, self.actor
        q_parameters = [*self.qf1.parameters(), *self.qf2.parameters()]
        self.q_optimizer = optim.Adam(q_parameters, lr=Q_LR, fused=compiled)
        self.actor_optimizer = optim.Adam(self.actor.parameters(), lr=POLICY_LR, fused=compiled)
        self.alpha_optimizer = optim.Adam([self.log_alpha], lr=Q_LR, fused=compiled)
        if compiled:
            self.act = torch.compile(self.actor)
            self.critic_loss = torch.compile(self.critic_loss)
            self.actor_loss = torch.compile(self.actor_loss)
            self.alpha_loss = torch.compile(self.alpha_loss)

    def critic_loss(self, data, alpha, noise=None):
        with torch.no_grad():
            next_action, next_log_prob = self.actor(data.next_observations, noise)
            q1 = self.qf1_target(data.next_observations, next_action)
            q2 = self.qf2_target(data.next_observations, next_action)
            next_value = torch.min(q1, q2) - alpha * next_log_prob
            going_on = 1 - data.dones.flatten()
            target_q = data.rewards.flatten() + going_on * GAMMA * next_value.view(-1)
        loss1 = F.mse_loss(self.qf1(data.observations, data.actions).view(-1), target_q)
        loss2 = F.mse_loss(self.qf2(data.observations, data.actions).view(-1), target_q)
        return loss1 + loss2

    def actor_loss(self, data, alpha, noise=None):
        action, log_prob = self.actor(data.observations, noise)
        q1, q2 = self.qf1(data.observations, action), self.qf2(data.observations, action)
        return ((alpha * log_prob) - torch.min(q1, q2)).mean()

    def alpha_loss(self, data, noise=None):
        with torch.no_grad():
            _, log_prob = self.actor(data.observations, noise)
        return (-self.log_alpha.exp() * (log_prob + self.target_entropy)).mean()

    def update(self, data, alpha):
        """Do one update of everything; return the new α."""
        descend(self.q_optimizer, self.critic_loss(data, alpha))
        descend(self.actor_optimizer, self.actor_loss(data, alpha))
        descend(self.alpha_optimizer, self.alpha_loss(data))
        self.move_targets()
        # a compiled loss takes α as a tensor: a new number would be a new program
        return self.log_alpha.detach().exp() if self.compiled else self.log_alpha.exp().item()

    def move_targets(self):
        nets = [*self.qf1.parameters(), *self.qf2.parameters()]
        targets = [*self.qf1_target.parameters(), *self.qf2_target.parameters()]
        if self.compiled:
            with torch.no_grad():
                torch._foreach_lerp_(targets, nets, TAU)
            return
        for p, t in zip(nets, targets, strict=True):
            t.data.copy_(TAU * p.data + (1 - TAU) * t.data)


def descend(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def train(tick, *, compiled: bool, make_env, width: int = 256, batch: int = BATCH) -> None:
    """Run the loop until ``tick`` ends it; actions of the task are in [-1, 1]."""
    envs = SyncVectorEnv(
        [lambda: gymnasium.wrappers.RecordEpisodeStatistics(make_env())],
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    obs_space, action_space = envs.single_observation_space, envs.single_action_space
    agent = Agent(obs_space.shape[0], action_space.shape[0], width=width, compiled=compiled)
    alpha = torch.ones(1) if compiled else 1.0
    stored = Box(-np.inf, np.inf, obs_space.shape, np.float32)
    buffer = ReplayBuffer(1_000_000, stored, action_space, "cpu", handle_timeout_termination=False)
    obs, _ = envs.reset(seed=1)
    step = 0
    while True:
        if step < STARTS:
            actions = np.array([action_space.sample()])
        else:
            actions = agent.act(torch.Tensor(obs))[0].detach().cpu().numpy()
        next_obs, rewards, terminated, truncated, infos = envs.step(actions)
        real_next_obs = next_obs.copy()
        for i, cut in enumerate(truncated):
            if cut:
                real_next_obs[i] = infos["final_obs"][i]
        buffer.add(obs, real_next_obs, actions, rewards, terminated, infos)
        obs = next_obs
        if step > STARTS:
            data = buffer.sample(batch)
            alpha = agent.update(data, alpha)
        step += 1
        tick()
