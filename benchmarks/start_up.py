"""How long the command line takes to start, as ratios to Python's own start.

    python benchmarks/start_up.py [--rounds 5] [--only help]

``help``: ``lff --help`` over ``python -c "import argparse"``.  ``cold`` and ``warm``: from
``lff train sac`` to its first update over ``python -c "import torch"``; Pendulum-v1, 100 steps of
warm-up, the laptop preset; cold with an empty folder for native code, warm with what the cold
start built.  All in turns.  The last line is one JSON object.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GOALS = {"help": 15.0, "cold": 12.0, "warm": 4.0}
PEERS = {"help": "argparse", "cold": "torch", "warm": "torch"}
"""What Python imports in the run that each is a ratio to."""
HELP_TURNS = 4
"""Starts of ``lff --help`` in a round: they take tenths of a second."""
OPTIONS = ("--warmup-steps", "100", "--reference-episodes", "0")
WORDS = ("train", "sac", "--env", "gym/Pendulum-v1", *OPTIONS, "--dir")
CHILD = """
import sys
from lff.native import NativeSAC
update = NativeSAC.update

def first(self, *arguments, **options):
    update(self, *arguments, **options)
    raise SystemExit(0)

NativeSAC.update = first
from lff.cli.main import main
main()
raise SystemExit("there was no native update")
"""


def seconds(*command: str, cache: Path) -> float:
    """Run a command; return the time it took."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, *command], env=environment, stdout=subprocess.DEVNULL, check=True
    )
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=GOALS, default=[*GOALS])
    options = parser.parse_args()
    names = [name for name in GOALS if name in options.only]
    times: dict[str, list[float]] = {name: [] for name in (*names, *map(PEERS.get, names))}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(options.rounds):
            cache = Path(folder) / f"cache-{turn}"
            for _ in range(HELP_TURNS * ("help" in names)):
                times["argparse"].append(seconds("-c", "import argparse", cache=cache))
                times["help"].append(seconds("-m", "lff", "--help", cache=cache))
            if "torch" in times:
                times["torch"].append(seconds("-c", "import torch", cache=cache))
            for name in [name for name in names if name != "help"]:
                run = f"{folder}/{name}-{turn}"
                times[name].append(seconds("-c", CHILD, *WORDS, run, cache=cache))
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratios = {name: round(medians[name] / medians[PEERS[name]], 2) for name in names}
    for name, ratio in ratios.items():
        print(f"  {name}: {medians[name]:.2f} s, {ratio:.2f} times import {PEERS[name]}")
    met = {name: ratio <= GOALS[name] for name, ratio in ratios.items()}
    data = {"ratios": ratios, "seconds": medians, "rounds": options.rounds, "met": met}
    print(json.dumps(data))


if __name__ == "__main__":
    main()
