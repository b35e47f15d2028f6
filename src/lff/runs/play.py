"""Episodes of a run's policy on its task, as rewards and as frames."""

import itertools
from collections.abc import Callable, Iterator

import gymnasium
import numpy as np

from lff.core.errors import BadInputError
from lff.core.seeding import env_seed, stream_seed
from lff.envs import Env, make
from lff.runs.load import Policy
from lff.runs.video import Frame

DEFAULT_FPS = 30.0
"""For environments that do not say how fast they are."""


class Player:
    """Plays a policy; equal seeds give equal episodes, and the run is only read."""

    def __init__(
        self, policy: Policy, *, seed: int = 0, sample: bool = False, render: bool = False
    ) -> None:
        """Make the task; ``sample`` draws the actions instead of taking their mean."""
        self.policy, self.seed, self.sample = policy, seed, sample
        config = policy.config
        first, repeat = env_seed(seed, "play"), config.action_repeat
        self.env: Env = make(
            config.env, seed=first, action_repeat=repeat, render=render, view=config.view
        )
        self.fps = float(self.env.metadata.get("render_fps") or DEFAULT_FPS) / repeat

    def episode(
        self, number: int, *, film: Callable[[Frame], None] | None = None, every: int = 1
    ) -> Iterator[float]:
        """Play one episode and yield its rewards; ``film`` takes every so-many-th frame."""
        obs, _ = self.env.reset(seed=env_seed(self.seed, f"play/{number}"))
        for step in itertools.count():
            if film is not None and step % every == 0:
                film(self._frame())
            draw = stream_seed(self.seed, f"action/{number}/{step}") if self.sample else None
            action = self.policy.act(obs, sample=self.sample, seed=draw)
            obs, reward, terminated, truncated, _ = self.env.step(action)
            yield reward
            if terminated or truncated:
                return

    def close(self) -> None:
        """Close the task."""
        self.env.close()

    def _frame(self) -> Frame:
        try:
            return np.asarray(self.env.render(), np.uint8)
        except (ImportError, gymnasium.error.Error) as error:  # a library of the task is missing
            constraint, remedy = "of a task that can be drawn here", " ".join(str(error).split())
            raise BadInputError("video", str(self.env), constraint, remedy) from None
