"""Train the critics of the explorer's last panel: a lava maze, an MLP and LFF with six σ.

    python examples/explorer_critics.py [--out src/lff/report/explorer/critics.json]

Fitted Q-iteration over all states and actions with expected targets, as in experiment fig16b, but
on a small maze with small networks of equal size; about a minute.  The file holds the map, Q*, and
the weights as float32 in base64: the page computes Q from them.
"""

import base64
import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lff.experiments.jobs.gridworlds import maze
from lff.nn import Fourier, MatchedMLP, MLPTrunk, NetConfig
from lff.tabular import FQI, FQIConfig, Instruments

SIGMAS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0)
OUT = Path(__file__).parents[1] / "src/lff/report/explorer/critics.json"

parser = ArgumentParser(description=__doc__)
parser.add_argument("--out", type=Path, default=OUT, help="the file to write")
parser.add_argument("--size", type=int, default=16, help="cells along a side of the maze")
parser.add_argument("--width", type=int, default=32, help="F, and units of both hidden layers")
parser.add_argument("--iterations", type=int, default=60)
parser.add_argument("--steps", type=int, default=60, help="gradient steps an iteration")
arguments = parser.parse_args()


def packed(values: Tensor | np.ndarray) -> str:
    """Return numbers as float32, little-endian, in base64."""
    return base64.b64encode(np.asarray(values, dtype="<f4").tobytes()).decode()


torch.set_num_threads(1)
task = maze(arguments.size, 0)
trunk = MLPTrunk((arguments.width, arguments.width))
nets = {
    f"LFF σ={s:g}": NetConfig(Fourier(fourier_dim=arguments.width, sigma=s), trunk) for s in SIGMAS
}
nets = {"MLP": NetConfig(trunk=MatchedMLP(like=nets[f"LFF σ={SIGMAS[0]:g}"])), **nets}
critics: list[dict[str, Any]] = []
for name, net in nets.items():
    settings: dict[str, Any] = {"data": "full", "batch_size": 512, "lr": 3e-3}
    fqi = FQI(task, FQIConfig(net=net, gradient_steps=arguments.steps, **settings))
    for _ in range(arguments.iterations):
        fqi.iterate()
    weights = {key: value[0] for key, value in fqi.parameters.items()}
    basis = [value for key, value in weights.items() if key.endswith("B")]
    dense = [value for key, value in weights.items() if not key.endswith("B")]
    found = Instruments(fqi).look(features=False)
    error, earned = (round(float(found[key][0]), 4) for key in ("error to Q*", "return"))
    critics.append(
        {
            "name": name,
            "sigma": getattr(net.front, "sigma", None),
            "basis": packed(basis[0]) if basis else None,
            "shapes": [[*value.shape] for value in dense],
            "weights": [packed(value) for value in dense],
            "error": error,
            "return": earned,
        }
    )
    count = sum(value.numel() for value in weights.values())
    print(f"{name}: {count} parameters, error to Q* {error:g}, normalised return {earned:g}")
made = {"tiles": task.grid.tiles, "actions": task.mdp.actions, "optimal": packed(fqi.q_star[0])}
text = json.dumps(made | {"critics": critics}, indent=0, ensure_ascii=False)
arguments.out.write_text(f"{text}\n", encoding="utf-8")
print(f"{arguments.out}: {arguments.out.stat().st_size / 1e3:.0f} kB")
