"""What a training run is: a task, an agent, a seed and a schedule.  Steps are environment steps."""

import re
from dataclasses import dataclass, field

from lff.algos import SACConfig
from lff.core.checks import check_flag, check_size
from lff.core.config import LATER
from lff.core.errors import BadInputError
from lff.envs import has_pixels
from lff.envs.views import PixelView

FEWEST_COMPILED_UPDATES = 8_000
"""Compiling costs about half a minute and saves some 6 ms an update at widths 128 and 256: below
this many updates it is not surely won back."""


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """One run.  Everything counted in steps is counted in environment steps."""

    env: str
    """The task: dmc/<domain>-<task>, dmc-pixels/<domain>-<task>, gym/<id>, probe/<name> or
    package.module:make_env."""
    algo: SACConfig
    """The agent."""
    steps: int
    """Environment steps, action repeat included."""
    seed: int = 0
    """The one seed that every random stream is derived from."""
    action_repeat: int = 1
    """Frames that each action is played for."""
    warmup_steps: int = 5_000
    """Steps with uniform random actions before the first update."""
    replay_capacity: int = 1_000_000
    """Transitions kept."""
    updates_per_step: int = 1
    """Updates per agent step."""
    log_every: int = 1_000
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
    view: PixelView | None = field(default=None, metadata=LATER)
    """What a task of dmc-pixels/ shows; None for its defaults, and for every other task."""

    def __post_init__(self) -> None:
        """Check the schedule before anything is built."""
        for name in (
            "steps",
            "action_repeat",
            "replay_capacity",
            "updates_per_step",
            "log_every",
            "eval_every",
            "eval_episodes",
            "checkpoint_every",
            "threads",
        ):
            check_size(name, getattr(self, name))
        check_flag("compile", self.compile)
        if self.device != "cpu" and not re.fullmatch(r"cuda(:\d+)?", self.device):
            raise BadInputError("device", self.device, "cpu, cuda or cuda:N", "use cpu")
        seen = has_pixels(self.env)
        if seen and self.algo.encoder is None:
            remedy = "use lff.training.pixel_presets, or a task of dmc/"
            raise BadInputError("algo", "no encoder", f"one with an encoder for {self.env}", remedy)
        if self.view is not None and not seen:
            remedy = "leave it out, or use a task of dmc-pixels/"
            raise BadInputError("view", self.view, "for a task seen through a camera", remedy)
        if self.warmup_steps < 1:
            remedy = "use 1 or more: an update needs a transition"
            raise BadInputError("warmup_steps", self.warmup_steps, "a positive integer", remedy)
        if self.seed < 0:
            raise BadInputError("seed", self.seed, "an integer >= 0", "use 0")


def worth_compiling(steps: int, *, warmup_steps: int, action_repeat: int, updates: int) -> bool:
    """Tell whether a run has updates enough to win the compilation back."""
    return (steps - warmup_steps) // action_repeat * updates >= FEWEST_COMPILED_UPDATES
