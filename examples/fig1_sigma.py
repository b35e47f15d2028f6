"""Figure 1 (right): does σ set how fine a detail the network fits?

Sixteen noisy points of a slow wave on [-1, 1], fitted by networks that differ in σ alone; twenty
draws of the noise.  The experiment is ``lff experiment run fig1``; this runs it, then draws it.
"""

import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

parser = ArgumentParser(description=__doc__)
parser.add_argument("--out", type=Path, default=Path("runs/fig1"), help="folder to write to")
parser.add_argument("--scale", choices=("smoke", "laptop"), default="laptop")
arguments = parser.parse_args()

place = ["--results", str(arguments.out), "--scale", arguments.scale]
picture = arguments.out / "fig1.png"
for command in (
    ["run", "--dir", str(arguments.out / "jobs"), *place],
    ["plot", "--out", str(picture), *place],
):
    subprocess.run(
        [sys.executable, "-m", "lff", "experiment", command[0], "fig1", *command[1:]], check=True
    )
print("picture:", picture)
