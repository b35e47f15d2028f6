"""Probe environments, ``probe/<name>``: so small that every Q-value is known.

An agent that fails on one of them has its fault in a known place: the value regression (constant),
the use of observations (observation), discounting and bootstrapping (two-step), the policy's
gradient (action), or all of them together (observation-action).

    >>> env = make("two-step", seed=0)
    >>> env.optimal_value(0.0, gamma=0.9), env.optimal_value(1.0, gamma=0.9)
    (0.9, 1.0)
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from lff.core.errors import BadInputError
from lff.envs import base, states
from lff.envs.base import Info, Obs, Saved, State, check_keys, check_seed

FAMILY = "probe"
BEST_ACTION = 0.5
"""a* of probe/action."""


@dataclass(frozen=True)
class Probe:
    """A decision process with one number as observation and one as action."""

    first: Callable[[np.random.Generator], float]
    """Draws the first observation."""
    reward: Callable[[float, float], float]
    """r(s, a)."""
    best: Callable[[float], float]
    """The optimal action in s (any, where the action does not matter)."""
    steps: int = 1
    """Steps until it terminates; each adds 1 to the observation."""

    def q(self, obs: float, action: float, *, gamma: float) -> float:
        """Q*(s, a) = r(s, a), or with a step to come r(s, a) + γ V*(s + 1)."""
        reward = self.reward(obs, action)
        return reward if self._last(obs) else reward + gamma * self.value(obs + 1, gamma=gamma)

    def value(self, obs: float, *, gamma: float) -> float:
        """V*(s) = Q*(s, a*(s))."""
        return self.q(obs, self.best(obs), gamma=gamma)

    def _last(self, obs: float) -> bool:
        return self.steps == 1 or obs >= self.steps - 1


PROBES = {
    # r = 1, so Q = 1
    "constant": Probe(lambda _: 0.0, lambda _s, _a: 1.0, lambda _: 0.0),
    # s = ±1, r = s, so Q = s
    "observation": Probe(
        lambda random: float(random.choice((-1.0, 1.0))), lambda s, _: s, lambda _: 0.0
    ),
    # s = 0, then s = 1 with r = 1, so Q = γ, then 1
    "two-step": Probe(lambda _: 0.0, lambda s, _: s, lambda _: 0.0, steps=2),
    # r = -(a - a*)², so Q = r, and V = 0
    "action": Probe(lambda _: 0.0, lambda _, a: -((a - BEST_ACTION) ** 2), lambda _: BEST_ACTION),
    # s uniform in [-1, 1], r = -(a - s/2)², so Q = r, and V = 0
    "observation-action": Probe(
        lambda random: float(random.uniform(-1.0, 1.0)),
        lambda s, a: -((a - s / 2) ** 2),
        lambda s: s / 2,
    ),
}


def make(task: str, *, seed: int, action_repeat: int = 1, render: bool = False) -> "ProbeEnv":
    """Return a probe by name."""
    if task not in PROBES:
        raise base.unknown_task("probe", task, PROBES, of="the probes")
    if action_repeat != 1:
        remedy = "the known values hold for 1"
        raise BadInputError("action_repeat", action_repeat, "1 for a probe", remedy)
    if render:
        raise BadInputError("render", render, "False for a probe", "a probe does not draw images")
    return ProbeEnv(task, seed=check_seed(seed))


class ProbeEnv(base.Env):
    """A probe as an environment; it knows its own optimal values."""

    can_save_state = True

    def __init__(self, name: str, *, seed: int) -> None:
        obs_space = spaces.Box(-1.0, 1.0, (1,), np.float32)
        super().__init__(obs_space, np.array([-1.0]), np.array([1.0]), action_repeat=1)
        self.probe, self._name = PROBES[name], name
        self._position, self._steps = 0.0, 0
        super().reset(seed=seed)
        self.action_space.seed(seed)

    def optimal_value(self, obs: float, *, gamma: float) -> float:
        """V*(s) in closed form."""
        return self.probe.value(obs, gamma=gamma)

    def optimal_q(self, obs: float, action: float, *, gamma: float) -> float:
        """Q*(s, a) in closed form."""
        return self.probe.q(obs, action, gamma=gamma)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Obs, Info]:
        super().reset(seed=seed, options=options)
        self._position, self._steps, self._running = self.probe.first(self.np_random), 0, True
        return self._obs(), {}

    def _frame(self, control: NDArray[Any]) -> tuple[Obs, float, bool, bool, Info]:
        reward = self.probe.reward(self._position, float(control[0]))
        self._steps += 1
        terminated = self._steps >= self.probe.steps
        if not terminated:
            self._position += 1.0
        return self._obs(), reward, terminated, False, {}

    def _obs(self) -> Obs:
        return np.array([self._position], np.float32)

    def get_state(self) -> State:
        return {
            "position": np.array([self._position]),
            "counters": np.array([self._steps, self._running], np.int64),
            **states.generators_to_arrays(**self._generators),
        }

    def set_state(self, state: Saved) -> None:
        check_keys(state, self.get_state())
        self._position = float(state["position"][0])
        steps, running = (int(n) for n in state["counters"])
        self._steps, self._running = steps, bool(running)
        states.generators_from_arrays(state, **self._generators)

    @property
    def _generators(self) -> dict[str, np.random.Generator]:
        return {"np_random": self.np_random, "action_space": self.action_space.np_random}

    def __str__(self) -> str:
        return f"probe/{self._name}"
