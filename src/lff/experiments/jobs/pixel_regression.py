"""Regression of Q on a fixed set of images: Figure 6 without the variance of exploration.

A random policy plays some episodes; the target of a transition is the discounted return that
followed, scaled to variance 1, in training with noise on it.  Error is measured on episodes that
training does not see, against their returns without noise.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call, grad

from lff.algos import PixelSACConfig
from lff.core.checks import Config, Scale, Size, validate
from lff.core.errors import BadInputError
from lff.core.seeding import env_seed, stream_seed
from lff.data.augment import augment
from lff.envs import make
from lff.envs.views import PixelView
from lff.launch.job import JobRow, Report
from lff.nn import PixelCritic
from lff.optim import Adam, Rule

HELD_OUT = 4  # every so many episodes one is kept for the test
LOOKS = 10
CHUNK = 128


class ImageReturns(NamedTuple):
    """Transitions of random episodes: images, actions, returns, and which are for the test."""

    obs: Tensor
    action: Tensor
    target: Tensor
    test: Tensor


@dataclass(frozen=True, kw_only=True)
class PixelRegressionJob(Config):
    """Fit the critics of an agent to returns of random episodes, once for each seed."""

    tag: ClassVar[str] = "pixel-regression"

    env: str
    view: PixelView
    algo: PixelSACConfig
    """The agent whose critics, encoder, augmentation, batch size and rate are used."""
    action_repeat: Size
    noise: Scale
    """Standard deviation of the noise on targets, in units of the returns'."""
    episodes: Size
    """Episodes played, a quarter of them for the test."""
    seeds: Size
    """How many seeds: weights, batches and noise."""
    updates: Size

    def __post_init__(self) -> None:
        validate(self)
        if self.episodes < 2:
            raise BadInputError("episodes", self.episodes, "2 or more", "one is for the test")

    def run(self, _folder: Path, report: Report) -> Iterator[JobRow]:
        torch.set_num_threads(1)
        data = play(self)
        every = max(1, self.updates // LOOKS)
        for seed in range(self.seeds):
            fit = _Fit(self, data, seed=seed)
            for step in range(self.updates + 1):
                if step:
                    fit.step()
                if step % every == 0 or step == self.updates:
                    test = fit.error(fit.test)
                    yield JobRow(seed, step, "train error", fit.error(fit.train[: len(fit.test)]))
                    yield JobRow(seed, step, "test error", test)
                    done = (seed + step / self.updates) / self.seeds
                    report(done, f"seed {seed}, test error {test:.3g}")


def play(job: PixelRegressionJob) -> ImageReturns:
    """Return the transitions of a random policy; the same for every seed and encoder."""
    env = make(job.env, seed=0, action_repeat=job.action_repeat, view=job.view)
    images, actions, returns, test = [], [], [], []
    for episode in range(job.episodes):
        rng = np.random.default_rng(env_seed(0, f"regression/{episode}"))
        obs, _ = env.reset(seed=env_seed(0, f"regression/{episode}"))
        rewards: list[float] = []
        ended = False
        while not ended:
            action = rng.uniform(-1, 1, env.action_space.shape).astype(np.float32)
            images.append(obs)
            actions.append(action)
            obs, reward, terminated, truncated, _ = env.step(action)
            rewards.append(reward)
            ended = terminated or truncated
        ahead = itertools.accumulate(
            reversed(rewards), lambda total, reward: reward + job.algo.gamma * total
        )
        returns += [*ahead][::-1]
        test += [episode % HELD_OUT == 0] * len(rewards)
    env.close()
    target = torch.tensor(returns, dtype=torch.float32)
    return ImageReturns(
        obs=torch.from_numpy(np.stack(images)),
        action=torch.from_numpy(np.stack(actions)),
        target=(target - target.mean()) / target.std(),
        test=torch.tensor(test),
    )


class _Fit:
    """Critics, their optimizer and their streams."""

    def __init__(self, job: PixelRegressionJob, data: ImageReturns, *, seed: int) -> None:
        self.algo, self.data = job.algo, data
        streams = {
            name: torch.Generator().manual_seed(stream_seed(seed, name))
            for name in ("weights", "noise", "batches")
        }
        self.batches = streams["batches"]
        channels, *sides = data.obs.shape[1:]
        height, width = (self.algo.augmentation.out_size(side) for side in sides)
        self.critic = PixelCritic(
            self.algo.encoder,
            self.algo.critic,
            self.algo.num_critics,
            obs_shape=(channels, height, width),
            action_dim=data.action.shape[1],
            generator=streams["weights"],
        ).requires_grad_(requires_grad=False)
        parameters = dict(self.critic.named_parameters())
        self.adam = Adam(parameters, {name: Rule(self.algo.critic_lr) for name in parameters})
        noise = torch.randn(len(data.target), generator=streams["noise"])
        self.noisy = data.target + job.noise * noise
        self.train, self.test = (torch.nonzero(rows)[:, 0] for rows in (~data.test, data.test))

    def step(self) -> None:
        """Do one gradient step on an augmented batch."""
        size = (self.algo.batch_size,)
        rows = self.train[torch.randint(len(self.train), size, generator=self.batches)]
        images = self.data.obs[rows]
        images, _ = augment(self.algo.augmentation, images, images, self.batches)
        action, target = self.data.action[rows], self.noisy[rows]

        def loss(parameters: dict[str, Tensor]) -> Tensor:
            q: Tensor = functional_call(self.critic, parameters, (images, action))
            return (q.squeeze(-1) - target).square().mean()

        with torch.no_grad():
            self.adam.step(grad(loss)(self.adam.parameters))

    def error(self, rows: Tensor) -> float:
        """Return the mean squared error, of the critics' mean, to returns without noise."""
        total = 0.0
        with torch.inference_mode():
            for part in torch.split(rows, CHUNK):
                images = self.algo.augmentation.center(self.data.obs[part])
                q = self.critic(images, self.data.action[part]).squeeze(-1).mean(dim=0)
                total += (q - self.data.target[part]).square().sum().item()
        return total / len(rows)
