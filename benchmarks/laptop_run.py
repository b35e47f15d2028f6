"""A whole run of ``lff train`` at this commit against one at another, in turns.

    python benchmarks/laptop_run.py b776620 [--steps 20000] [--rounds 3]

Preset ``laptop``, cheetah-run, LFF, one thread: whole processes, with start, compilation (from a
cache that a first run filled), evaluations and checkpoints.  The last line is one JSON object.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from commits import HERE, check_out
from turns import median_and_quartiles

MAIN = "from lff.cli.main import main; main()"


def run(tree: Path, steps: int, folder: Path) -> float:
    """Return the steps per second of a whole process."""
    flags = f"--env dmc/cheetah-run --net lff --seed 0 --steps {steps} --threads 1 --dir {folder}"
    processors = sorted(os.sched_getaffinity(0))[:1]
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", MAIN, "train", "sac", *flags.split()],
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        preexec_fn=lambda: os.sched_setaffinity(0, processors),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return steps / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", help="the other commit")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trees = {"now": HERE, "before": check_out(arguments.before, folder)}
        rates = {tree: [] for tree in trees}
        for turn in range(arguments.rounds + 1):
            for which, tree in trees.items():
                rate = run(tree, arguments.steps, folder / f"{which}-{turn}")
                print(f"  {which:6s} {rate:7.1f} steps/s", flush=True)
                rates[which] += [rate] * (turn > 0)
    speeds = [a / b for a, b in zip(rates["now"], rates["before"], strict=True)]
    middle, quartiles = median_and_quartiles(speeds)
    print(json.dumps({"ratio": round(middle, 3), "quartiles": quartiles, "rates": rates}))


if __name__ == "__main__":
    main()
