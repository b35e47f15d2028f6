"""What a training run of PPO is: a task, an agent, environments side by side, and a schedule."""

import re
from dataclasses import dataclass
from typing import Literal, get_args

from lff.algos import PPOConfig
from lff.core.checks import check_choice, check_flag, check_size
from lff.core.errors import BadInputError
from lff.envs import has_pixels

FEWEST_COMPILED_UPDATES = 20_000
"""Compiling costs about half a minute and saves some 2 ms an update: below this many updates it is
not surely won back."""
VectorKind = Literal["inside", "processes"]


@dataclass(frozen=True, kw_only=True)
class PPOTrainConfig:
    """One run.  Everything counted in steps is counted in environment steps, of all together."""

    env: str
    """The task: dmc/<domain>-<task>, gym/<id>, probe/<name> or package.module:make_env."""
    algo: PPOConfig
    """The agent."""
    steps: int
    """Environment steps, action repeat included."""
    seed: int = 0
    """The one seed that every random stream is derived from."""
    num_envs: int = 1
    """Environments that are stepped together."""
    vector: VectorKind = "inside"
    """Whether they live in this process or in processes of their own."""
    action_repeat: int = 1
    """Frames that each action is played for."""
    log_every: int = 2_000
    """Steps between two rows of training metrics."""
    eval_every: int = 10_000
    """Steps between two evaluations; there is one at the end in any case."""
    eval_episodes: int = 10
    """Episodes of an evaluation, mean action, on environments of its own."""
    checkpoint_every: int = 10_000
    """Steps between two checkpoints."""
    compile: bool = False
    """Run the update as one compiled graph."""
    threads: int = 1
    """Threads of torch."""
    device: str = "cpu"
    """Where networks live and learn: cpu, cuda or cuda:N."""

    def __post_init__(self) -> None:
        """Check the schedule before anything is built."""
        for name in (
            "steps",
            "num_envs",
            "action_repeat",
            "log_every",
            "eval_every",
            "eval_episodes",
            "checkpoint_every",
            "threads",
        ):
            check_size(name, getattr(self, name))
        check_flag("compile", self.compile)
        check_choice("vector", self.vector, get_args(VectorKind))
        if self.device != "cpu" and not re.fullmatch(r"cuda(:\d+)?", self.device):
            raise BadInputError("device", self.device, "cpu, cuda or cuda:N", "use cpu")
        if self.seed < 0:
            raise BadInputError("seed", self.seed, "an integer >= 0", "use 0")
        if has_pixels(self.env):
            remedy = "use a task from state, or SAC"
            raise BadInputError("env", self.env, "a task that observes numbers for PPO", remedy)
        rows = self.algo.rollout_steps
        if rows % self.num_envs:
            remedy = f"use a divisor of {rows}, or other rollout_steps"
            raise BadInputError("num_envs", self.num_envs, f"a divisor of {rows}", remedy)

    @property
    def view(self) -> None:
        """What pixels are made of; PPO sees numbers."""
        return None

    @property
    def rollouts(self) -> int:
        """How often the run optimizes: what is left of a rollout at the end is not learned from."""
        return self.steps // self.action_repeat // self.algo.rollout_steps

    @property
    def worth_compiling(self) -> bool:
        """Whether the run has updates enough to win the compilation back."""
        algo = self.algo
        updates = self.rollouts * algo.epochs * -(-algo.rollout_steps // algo.batch_size)
        return updates >= FEWEST_COMPILED_UPDATES
