"""The commands that need torch, by name."""

from collections.abc import Callable
from typing import Any

from lff.cli.audit import audit_command
from lff.cli.compare import compare
from lff.cli.doctor import doctor
from lff.cli.explore import explore
from lff.cli.export import export_command
from lff.cli.play import play
from lff.cli.presets import presets
from lff.cli.report import report
from lff.cli.rerun import rerun
from lff.cli.resume import resume
from lff.cli.show import show
from lff.cli.sigma import sigma
from lff.cli.spectrum import spectrum
from lff.cli.tune import tune_command


def train() -> None:
    """Train an agent, or resume its training: lff train sac --help."""


def experiment() -> None:
    """Run the experiments, draw and judge them: lff experiment --help."""


COMMANDS: dict[str, Callable[..., Any]] = {
    "train": train,
    "resume": resume,
    "show": show,
    "compare": compare,
    "rerun": rerun,
    "play": play,
    "audit": audit_command,
    "export": export_command,
    "presets": presets,
    "sigma": sigma,
    "spectrum": spectrum,
    "doctor": doctor,
    "tune": tune_command,
    "experiment": experiment,
    "report": report,
    "explore": explore,
}
