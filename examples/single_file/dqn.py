"""Gymnasium and plain torch: DQN on CartPole in twenty lines, with learned Fourier features."""

import random

import gymnasium
import numpy as np
import torch

import lff

STEPS = 6000
env, memory, total = gymnasium.make("CartPole-v1"), [], 0
q, target = (lff.LFF(4, 2, hidden_dim=64, sigma=0.1, fourier_dim=64) for _ in range(2))
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
obs, _ = env.reset(seed=0)
for step in range(STEPS):
    greedy = random.random() > max(0.05, 1 - 3 * step / STEPS)
    action = q(torch.tensor(obs)).argmax().item() if greedy else random.randrange(2)
    next_obs, reward, terminated, truncated, _ = env.step(action)
    memory.append((obs, action, np.float32(reward), next_obs, terminated))
    obs, total = next_obs, total + 1
    if terminated or truncated:
        print(f"step {step}: return {total}")
        total, (obs, _) = 0, env.reset()
    batch = zip(*random.choices(memory, k=64), strict=True)
    s, a, r, s2, end = (torch.from_numpy(np.array(column)) for column in batch)
    wanted = r + 0.99 * ~end * target(s2).detach().amax(1)
    loss = (q(s).gather(1, a[:, None])[:, 0] - wanted).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 200 == 0:
        target.load_state_dict(q.state_dict())
