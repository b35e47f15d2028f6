"""Figure 2: does LFF filter noise from a Q-function that an MLP of equal size overfits?

A ridge over 64 states x 64 actions and the exact Q* of a maze, seen through white and correlated
noise.  The experiment is ``lff experiment run fig2``; this runs it, then draws it.
"""

import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

parser = ArgumentParser(description=__doc__)
parser.add_argument("--out", type=Path, default=Path("runs/fig2"), help="folder to write to")
parser.add_argument("--scale", choices=("smoke", "laptop"), default="laptop")
arguments = parser.parse_args()

place = ["--results", str(arguments.out), "--scale", arguments.scale]
picture = arguments.out / "fig2.png"
for command in (
    ["run", "--dir", str(arguments.out / "jobs"), *place],
    ["plot", "--out", str(picture), *place],
):
    subprocess.run(
        [sys.executable, "-m", "lff", "experiment", command[0], "fig2", *command[1:]], check=True
    )
print("picture:", picture)
