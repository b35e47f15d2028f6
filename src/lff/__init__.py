"""Learned Fourier features for reinforcement learning (Li and Pathak, NeurIPS 2021).

The names below are the public ones.  They are imported when first used, so that the rooms that
draw figures and compute verdicts from tables can be used without torch.
"""

import importlib
import pkgutil
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lff.auditing.audit import audit as audit
    from lff.auditing.insert import insert_front as insert_front
    from lff.cli.from_python import train as train
    from lff.experiments.stress.run import stress as stress
    from lff.nn.ensemble import Ensemble as Ensemble
    from lff.nn.fourier import Fourier as Fourier
    from lff.nn.fourier import LearnedFourierFeatures as LearnedFourierFeatures
    from lff.nn.fourier import LearnedFourierFeatures2d as LearnedFourierFeatures2d
    from lff.nn.matched import match_width as match_width
    from lff.nn.net import LFF as LFF
    from lff.nn.net import MLP as MLP
    from lff.nn.net import NetConfig as NetConfig
    from lff.nn.trunks import MLPTrunk as MLPTrunk
    from lff.runs.load import load as load

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
    del sys.path[0]  # the working directory: python -m lff does not import what lies there

__version__ = "0.2.0"

_HOMES = {
    "Ensemble": "lff.nn.ensemble",
    "Fourier": "lff.nn.fourier",
    "LFF": "lff.nn.net",
    "LearnedFourierFeatures": "lff.nn.fourier",
    "LearnedFourierFeatures2d": "lff.nn.fourier",
    "MLP": "lff.nn.net",
    "MLPTrunk": "lff.nn.trunks",
    "NetConfig": "lff.nn.net",
    "audit": "lff.auditing.audit",
    "insert_front": "lff.auditing.insert",
    "load": "lff.runs.load",
    "match_width": "lff.nn.matched",
    "stress": "lff.experiments.stress.run",
    "train": "lff.cli.from_python",
}
_ROOMS = [room.name for room in pkgutil.iter_modules(__path__) if room.name != "__main__"]

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return importlib.import_module(f"lff.{name}")
    raise AttributeError(f"module 'lff' has no attribute {name!r}; it has {', '.join(_HOMES)}")


def __dir__() -> list[str]:
    return sorted((*globals(), *_HOMES, *_ROOMS))
