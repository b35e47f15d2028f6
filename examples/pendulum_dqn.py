"""A user's own agent, before the change: a DQN swings up a pendulum.  It knows nothing of lff."""

import torch
from torch import nn

TORQUES, ENVS, EPISODE = torch.tensor([-2.0, 0.0, 2.0]), 16, 200


class QNetwork(nn.Module):
    def __init__(self, obs_dim=3, actions=3):
        super().__init__()
        self.fc1 = nn.Linear(obs_dim, 128)
        self.fc2, self.fc3 = nn.Linear(128, 128), nn.Linear(128, actions)

    def forward(self, obs):
        return self.fc3(self.fc2(self.fc1(obs).relu()).relu())


def observe(theta, speed):
    return torch.stack((theta.cos(), theta.sin(), speed), dim=-1)


def swing(theta, speed, torque):
    """One step of many pendulums: gravity 10, length and mass 1, time step 0.05."""
    upright = (theta + torch.pi) % (2 * torch.pi) - torch.pi
    reward = -(upright**2 + 0.1 * speed**2 + 0.001 * torque**2)
    speed = (speed + 0.05 * (15 * theta.sin() + 3 * torque)).clamp(-8, 8)
    return theta + 0.05 * speed, speed, reward


class DQN:
    def __init__(self, network, seed):
        torch.manual_seed(seed)
        self.q, self.q_target = network(), network()
        self.q_target.load_state_dict(self.q.state_dict())
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=1e-3)
        self.replay = []

    def train(self, steps):
        """Yield (environment steps, mean return) after every episode."""
        for step in range(steps):
            if step % EPISODE == 0:
                theta = torch.pi * (2 * torch.rand(ENVS) - 1)
                speed, total = 2 * torch.rand(ENVS) - 1, 0.0
            obs = observe(theta, speed)
            explore = torch.rand(ENVS) < max(0.05, 1 - 4 * step / steps)
            with torch.no_grad():
                action = torch.where(explore, torch.randint(3, (ENVS,)), self.q(obs).argmax(-1))
            theta, speed, reward = swing(theta, speed, TORQUES[action])
            self.replay.append((obs, action, reward, observe(theta, speed)))
            self.update([self.replay[i] for i in torch.randint(len(self.replay), (16,)).tolist()])
            total += reward.mean().item()
            if (step + 1) % EPISODE == 0:
                yield (step + 1) * ENVS, total

    def update(self, transitions):
        obs, action, reward, next_obs = map(torch.cat, zip(*transitions, strict=True))
        with torch.no_grad():
            target_q = 0.1 * reward + 0.99 * self.q_target(next_obs).max(-1).values
        loss = (self.q(obs).gather(-1, action[:, None])[:, 0] - target_q).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        for slow, fast in zip(self.q_target.parameters(), self.q.parameters(), strict=True):
            slow.data.lerp_(fast.data, 0.01)
