"""Jobs that train by the scripts of ``examples/``: other libraries' agents, and a user's own.

The scripts belong to the repository; a job names the library that it misses.
"""

import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import lff
from lff.core.config import LATER
from lff.core.errors import BadInputError, MissingExtraError
from lff.experiments.jobs.training import TrainJob
from lff.launch.job import JobRow, Report
from lff.stats.metrics import RETURN

SCRIPTS = Path(lff.__file__).parents[2] / "examples"
EXTRAS = {"sbx": "flax", "tensordict": "torchrl", "tianshou": "tianshou"}
"""The extra that brings a library; ``peers`` brings the others."""


def load_script(name: str) -> Any:
    """Import a script of ``examples/``, with torch on one thread."""
    import torch

    if not SCRIPTS.is_dir():
        remedy = "run this experiment in a clone of the repository: pip install -e ."
        raise BadInputError("examples", str(SCRIPTS), "a directory", remedy)
    if str(SCRIPTS) not in sys.path:
        sys.path.append(str(SCRIPTS))
    torch.set_num_threads(1)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(str(error.name).partition(".")[0], "peers")
        raise MissingExtraError([str(error.name)], extra, f"examples/{name}.py") from None


@dataclass(frozen=True)
class HostJob:
    """Train one network in another library's agent, or in a user's own."""

    tag: ClassVar[str] = "host"

    script: Literal["host_sb3", "host_sbx", "host_torchrl", "host_tianshou", "drop_in"]
    variant: str
    """The network: MLP or LFF."""
    seeds: tuple[int, ...]
    steps: int
    """Steps of the agent."""
    every: int
    """Steps between two evaluations."""

    def run(self, _folder: Path, report: Report) -> Iterator[JobRow]:
        train = load_script(self.script).run
        for done, seed in enumerate(self.seeds):
            for step, metric, value in train(self.variant, seed, self.steps, self.every):
                fraction = (done + min(1.0, step / self.steps)) / len(self.seeds)
                report(fraction, f"return {value:.0f}")
                yield JobRow(seed, step, metric, value)


@dataclass(frozen=True)
class PeerJob:
    """Train Stable-Baselines3's agent on the task and schedule of one of our jobs."""

    tag: ClassVar[str] = "peer"

    train: TrainJob
    defaults: bool = field(default=False, metadata=LATER)
    """Whether it has its own sizes and rates, or those of our job."""

    def run(self, _folder: Path, report: Report) -> Iterator[JobRow]:
        import torch

        torch.set_flush_denormal(True)
        config: Any = self.train.config
        script = load_script(f"sb3_{config.algo.tag}")
        for step, value in (script.Defaults if self.defaults else script.Peer)(config).curve():
            report(step / config.steps, f"return {value:.1f}")
            yield JobRow(config.seed, step, RETURN.key, value)
