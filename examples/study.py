"""Run an experiment and draw it: ours by name, or one of these examples.

    python examples/study.py fig1
    python examples/study.py hosts:host-sb3 --scale smoke

The same as ``lff experiment run`` and ``plot``, from Python.  Finished jobs are not run again.
"""

from argparse import ArgumentParser
from pathlib import Path

import lff.experiments
from lff.report import save_figure

if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="as in lff experiment list, or module:NAME")
    parser.add_argument("--scale", choices=("smoke", "laptop", "paper"), default="laptop")
    parser.add_argument("--out", type=Path, default=Path("runs/studies"), help="folder to write to")
    parser.add_argument("--workers", type=int, help="jobs at a time")
    arguments = parser.parse_args()
    result = lff.experiments.run(
        arguments.name,
        scale=arguments.scale,
        workers=arguments.workers,
        dir=arguments.out / "jobs",
        results=arguments.out,
    )
    for name, verdict in result.verdicts.items():
        print(f"{name}: {verdict}")
    path = arguments.out / f"{result.experiment.name}.png"
    print("figure:", save_figure(result.figure(as_paper=True), path))
