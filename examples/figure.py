"""Shared by the scripts of single figures: run the experiment, then draw it."""

import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path


def run_and_draw(name: str, description: str) -> None:
    parser = ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, default=Path("runs") / name, help="folder to write to")
    parser.add_argument("--scale", choices=("smoke", "laptop"), default="laptop")
    arguments = parser.parse_args()
    place = ["--results", str(arguments.out), "--scale", arguments.scale]
    picture = arguments.out / f"{name}.png"
    for command in (
        ["run", name, "--dir", str(arguments.out / "jobs"), *place],
        ["plot", name, "--out", str(picture), *place],
    ):
        subprocess.run([sys.executable, "-m", "lff", "experiment", *command], check=True)
    print("picture:", picture)
