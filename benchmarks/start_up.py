"""Time from ``lff train sac`` to its first update, over that of ``python -c "import torch"``.

    python benchmarks/start_up.py [--rounds 5]

Pendulum-v1, 100 steps of warm-up, the laptop preset, in turns: cold, with an empty folder for
native code, and warm, with what the cold start built.  The last line is one JSON object.
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

GOALS = {"cold": 12.0, "warm": 4.0}
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
    rounds = parser.parse_args().rounds
    times: dict[str, list[float]] = {"torch": [], "cold": [], "warm": []}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(rounds):
            cache = Path(folder) / f"cache-{turn}"
            times["torch"].append(seconds("-c", "import torch", cache=cache))
            for name in ("cold", "warm"):
                run = f"{folder}/{name}-{turn}"
                times[name].append(seconds("-c", CHILD, *WORDS, run, cache=cache))
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratios = {name: round(medians[name] / medians["torch"], 2) for name in GOALS}
    for name, ratio in ratios.items():
        print(f"  {name}: {medians[name]:.2f} s, {ratio:.2f} times import torch")
    met = {name: ratio < GOALS[name] for name, ratio in ratios.items()}
    print(json.dumps({"ratios": ratios, "seconds": medians, "rounds": rounds, "met": met}))


if __name__ == "__main__":
    main()
