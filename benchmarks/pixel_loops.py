"""Our loop and the RAD-style one, step by step, with the same environment and the same draws."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from pixel_turns import Clocks
from rad_style import Agent, Buffer, Tensors

from lff.algos import Spaces
from lff.algos.base import Exploration
from lff.algos.sac import Noise
from lff.data import Batch
from lff.envs import make, shapes
from lff.training import RunConfig
from lff.training.compile import compile_update
from lff.training.presets import preset

CAPACITY, REPEAT = 2000, 4
CROPPED = {"augmentation": "crop", "cropped_size": 84}
SMALLEST = {"size": 24, "cropped_size": 20, "num_filters": 4, "fourier_dim": 8, "hidden_dim": 16}


@dataclass(frozen=True)
class Setting:
    """A run with the sizes, and the spaces of its task."""

    run: RunConfig
    spaces: Spaces

    @classmethod
    def of(cls, name: str, task: str) -> "Setting":
        """Return the sizes by the side of the images that the networks are given."""
        env = f"dmc-pixels/{task}"
        paper = preset("paper-table", env).replace(lr=1e-3, batch_size=128, **CROPPED)
        chosen = {
            "84": paper,
            "28": preset("laptop", env),
            "20": paper.replace(batch_size=8, **SMALLEST),
        }[name]
        run = chosen.replace(fast_render=True, action_repeat=REPEAT).config("lff")
        return cls(run, Spaces(*shapes(env, run.view)))


def random_batch(setting: Setting) -> Batch:
    """Noise: the time of an update does not depend on what images show."""
    g = torch.Generator().manual_seed(0)
    algo, (channels, side, _) = setting.run.algo, setting.spaces.obs
    size, cropped = algo.batch_size, algo.augmentation.out_size(side)
    shape = (size, channels, cropped, cropped)
    return Batch(
        obs=torch.randint(256, shape, generator=g, dtype=torch.uint8),
        action=2 * torch.rand(size, setting.spaces.action, generator=g) - 1,
        reward=torch.rand(size, generator=g),
        next_obs=torch.randint(256, shape, generator=g, dtype=torch.uint8),
        terminated=torch.zeros(size, dtype=torch.bool),
    )


class Loop:
    """What both do alike: noise, environment, clocks around the four parts of a step."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.algo = setting.run.algo
        self.streams = torch.Generator().manual_seed(1)
        self.spent: dict[str, list[Clocks]] = {}
        self.env = None

    def start(self) -> None:
        """Make the environment and begin an episode."""
        run = self.setting.run
        self.env = make(run.env, seed=0, action_repeat=REPEAT, view=run.view)
        self.begin()

    def begin(self) -> None:
        self.obs, _ = self.env.reset()

    def close(self) -> None:
        self.env.close()

    def timed(self, name: str, run: Callable[[], object]) -> object:
        start = Clocks.now()
        result = run()
        self.spent.setdefault(name, []).append(Clocks.now().since(start))
        return result

    def draw_noise(self) -> Noise:
        size = (2, self.algo.batch_size, self.setting.spaces.action)
        action, next_action = torch.randn(size, generator=self.streams)
        return Noise(action, next_action, torch.zeros(self.algo.batch_size))

    def step_pair(self) -> None:
        """Two steps, the first with an update of the actor."""
        for actor in (True, False):
            noise = torch.randn(self.setting.spaces.action, generator=self.streams)
            action = self.timed("act", lambda noise=noise: self.act(noise))
            self.move(action)
            batch = self.timed("sample", self.sample)
            noise = self.draw_noise()
            self.timed("update", lambda b=batch, n=noise, a=actor: self.update(b, n, actor=a))

    def move(self, action: np.ndarray) -> None:
        """Play an action and store what came of it."""
        found = self.timed("environment", lambda: self.env.step(action))
        next_obs, reward, terminated, truncated, _ = found
        self.timed("store", lambda: self.store(action, reward, next_obs, terminated=terminated))
        self.obs = next_obs
        if terminated or truncated:
            self.begin()


class Ours(Loop):
    """As ``lff train`` does it."""

    def __init__(self, setting: Setting, *, compiled: bool) -> None:
        super().__init__(setting)
        g = torch.Generator().manual_seed(0)
        self.agent = self.algo.build(setting.spaces, generator=g)
        self.update = compile_update(self.agent.update) if compiled else self.agent.update
        self.memory = self.algo.memory(setting.spaces, CAPACITY)

    def begin(self) -> None:
        super().begin()
        self.memory.begin(self.obs)

    def store(self, action, reward, next_obs, *, terminated) -> None:
        self.memory.add(self.obs, action, reward, next_obs, terminated=terminated)

    def act(self, noise: torch.Tensor) -> np.ndarray:
        return self.agent.act(torch.from_numpy(self.obs), Exploration(noise)).numpy()

    def sample(self) -> Batch:
        return self.memory.sample(self.algo.batch_size, self.streams)

    def update_pair(self, batch: Batch) -> None:
        for actor in (True, False):
            self.update(batch, self.draw_noise(), actor=actor)


class Rad(Loop):
    """As the published code base does it."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.agent = Agent(self.algo, *setting.spaces)
        self.buffer = Buffer(CAPACITY, *setting.spaces)

    def store(self, action, reward, next_obs, *, terminated) -> None:
        self.buffer.add(self.obs, action, reward, next_obs, terminated=terminated)

    def act(self, noise: torch.Tensor) -> np.ndarray:
        return self.agent.act(self.obs, noise)

    def sample(self) -> Tensors:
        return self.buffer.sample(self.algo.batch_size, self.streams, self.algo.augmentation)

    def update(self, batch: Tensors, noise: Noise, *, actor: bool) -> None:
        losses = self.agent.update(batch, noise.next_action, noise.action)
        assert ("actor" in losses) == actor, "the two are out of step"

    def update_pair(self, batch: Tensors) -> None:
        for actor in (True, False):
            self.update(batch, self.draw_noise(), actor=actor)

    @staticmethod
    def as_batch(batch: Batch) -> Tensors:
        """Return a batch of ours as theirs: float32."""
        reward, going_on = batch.reward[:, None], (~batch.terminated).float()[:, None]
        return batch.obs.float(), batch.action, reward, batch.next_obs.float(), going_on


def fill(loop: Loop, steps: int) -> None:
    """Begin an episode and play random actions, which are the same for both."""
    loop.start()
    g = np.random.default_rng(0)
    for _ in range(steps):
        loop.move(g.uniform(-1, 1, loop.setting.spaces.action).astype(np.float32))
    loop.spent.clear()
