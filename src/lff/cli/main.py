"""``lff COMMAND``: finds the command, and turns errors into one line and an exit code.

A command's module is imported when it is called: ``lff --help`` imports neither torch nor tyro.
"""

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

import lff
from lff.cli.boundary import boundary, take_paths
from lff.core.checks import nearest
from lff.core.errors import BadInputError

COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "training": {
        "train": ("train", "train an agent; the same command again resumes"),
        "resume": ("rerun", "continue a run by its stored config, or extend it"),
        "rerun": ("rerun", "repeat a run and compare its metrics byte for byte"),
        "presets": ("presets", "list the presets, show one, or compare two"),
        "sigma": ("sigma", "advise σ for a task, before training"),
        "tune": ("tune", "search σ, Fourier dimension and learning rate"),
    },
    "finished and running runs": {
        "show": ("show", "print a run's task, networks, status and last metrics"),
        "verify": ("verify", "check every byte of a run or of results against its hash"),
        "compare": ("compare", "print where runs differ, and their results"),
        "play": ("policy", "play a run's policy; write a video"),
        "audit": ("policy", "audit the Fourier layers of a run"),
        "export": ("policy", "write a run's policy as ONNX or torch's .pt2"),
        "card": ("card", "write a policy card: results, audit, config, how to repeat it"),
        "spectrum": ("spectrum", "kernel and Q spectra of runs, before and after training"),
    },
    "experiments and pages": {
        "stress": ("stress", "measure whether a critic network survives bootstrapping"),
        "experiment": ("experiment", "list, run, judge and draw the experiments"),
        "report": ("report", "write an experiment or runs as one HTML page"),
        "explore": ("report", "write a page with sliders: what σ does"),
    },
    "this machine": {"doctor": ("doctor", "check the installation and print remedies")},
}
"""By group: each command's module and its line of help."""
MODULES = {name: entry[0] for group in COMMANDS.values() for name, entry in group.items()}
RAW = ("train", "experiment", "stress")  # commands that read their words themselves


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line; exit codes are those of ``docs/run-directory.md``."""
    with boundary():
        name, *words = take_paths(sys.argv[1:] if argv is None else argv) or ["--help"]
        run_command(name, words)


def run_command(name: str, words: list[str]) -> None:
    """Run one command, or print the help or the version."""
    if name in ("-h", "--help"):
        print(help_text())
    elif name == "--version":
        print(f"lff {lff.__version__}")
    elif name not in MODULES:
        raise BadInputError("command", name, "one that lff --help lists", nearest(name, [*MODULES]))
    elif name in RAW:
        find_command(name)(words)
    else:
        import tyro

        tyro.cli(find_command(name), prog=f"lff {name}", args=words)


def help_text() -> str:
    """Return the list of all commands."""
    lines = ["usage: lff COMMAND ...", "", "Learned Fourier features for reinforcement learning."]
    for title, group in COMMANDS.items():
        lines += ["", f"{title}:"]
        lines += [f"  {name:11s} {line}" for name, (_, line) in group.items()]
    lines += ["", "lff COMMAND --help lists a command's options."]
    return "\n".join([*lines, "--path DIR, with any command: a folder with modules of your own."])


def find_command(name: str) -> Callable[..., Any]:
    """Return the function of a command."""
    module = importlib.import_module(f"lff.cli.{MODULES[name]}")
    found: Callable[..., Any] = getattr(module, f"{name}_command")
    return found
