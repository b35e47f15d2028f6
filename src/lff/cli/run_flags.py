"""The flags that every ``lff train`` has: networks, and how a run is watched, kept and computed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lff.store import RunDir
from lff.training.compiling import find_compiler
from lff.training.presets import NetName
from lff.training.trackers import Trackers


@dataclass(frozen=True, kw_only=True)
class NetworkFlags:
    """Sizes of the networks, and an actor or a critic of its own."""

    actor_net: NetName | None = None
    """network of the actor alone."""
    critic_net: NetName | None = None
    """network of the critic, or critics, alone."""
    sigma: float | None = None
    """standard deviation of B at the start, instead of the preset's."""
    actor_sigma: float | None = None
    """the same for the actor alone."""
    critic_sigma: float | None = None
    """the same for the critic, or critics, alone."""
    fourier_dim: int | None = None
    """number of Fourier features, instead of the preset's."""
    hidden_dim: int | None = None
    """width of the hidden layers, instead of the preset's."""

    @property
    def sizes(self) -> dict[str, Any]:
        """The fields of a preset among them; None for the preset's own."""
        return {name: getattr(self, name) for name in ("sigma", "fourier_dim", "hidden_dim")}


@dataclass(frozen=True, kw_only=True)
class RunFlags:
    """How a run is watched, kept and computed."""

    eval_every: int | None = None
    """steps between evaluations, instead of the preset's."""
    eval_episodes: int | None = None
    """episodes of an evaluation, instead of the preset's."""
    log_every: int = 1_000
    """steps between rows of metrics."""
    checkpoint_every: int = 10_000
    """steps between checkpoints."""
    compile: Literal["auto", "on", "off"] = "auto"
    """run the update as one compiled graph; auto if the run is long enough."""
    threads: int = 1
    """threads of torch."""
    device: str = "cpu"
    """where networks live and learn: cpu, cuda or cuda:N."""
    reference_episodes: int = 3
    """episodes of the random and the zero policy, played once; 0 for none."""
    tensorboard: bool = False
    """also write TensorBoard's event files, into RUN/tensorboard."""
    wandb: str | None = None
    """also log to this W&B project; offline unless WANDB_MODE=online."""

    @property
    def evaluation(self) -> dict[str, Any]:
        """The fields of a preset among them; None for the preset's own."""
        return {"eval_every": self.eval_every, "eval_episodes": self.eval_episodes}

    @property
    def schedule(self) -> dict[str, Any]:
        """The fields of a run's config that no preset has."""
        names = ("log_every", "checkpoint_every", "threads", "device")
        return {name: getattr(self, name) for name in names}

    @property
    def trackers(self) -> Trackers:
        """The trackers to log to."""
        return Trackers(tensorboard=self.tensorboard, wandb=self.wandb)

    def compiled(self, folder: Path, *, worth: bool) -> bool:
        """Return whether to compile: as asked, else as the run began, else by length, compiler."""
        if self.compile != "auto":
            return self.compile == "on"
        if RunDir(folder).status != "empty":
            return bool(RunDir(folder).config.get("compile", False))
        return worth and find_compiler() is not None
