"""Run jobs of an experiment again and compare their rows with the committed ones, byte for byte.

    python examples/rerun_jobs.py fig5 --random 2 [--seed 0] [--also "LFF,dmc/cheetah-run,18"]

Takes jobs at random, and those that ``--also`` names by variant, task and seed.  Rows are equal on
the processor target and compiler that the record names.  Exits with 1 if any differ.
"""

import random
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path

from lff.experiments import find_experiment
from lff.experiments.results import RESULTS, record_path
from lff.launch.local import launch
from lff.launch.records import read_job_table, read_record, table_bytes


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("experiment")
    parser.add_argument("--scale", default="laptop")
    parser.add_argument("--random", type=int, default=2, help="jobs to draw")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--also", nargs="*", default=[], metavar="VARIANT,TASK,SEED")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    cells = {
        f"{cell.variant},{cell.task},{cell.seed}": cell
        for cell in find_experiment(arguments.experiment).cells(arguments.scale)
    }
    drawn = random.Random(arguments.seed).sample(sorted(cells), arguments.random)
    chosen = {name: cells[name] for name in (*arguments.also, *drawn)}
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        launch([cell.job for cell in chosen.values()], root, workers=arguments.workers)
        for name, cell in chosen.items():
            record = read_record(record_path(RESULTS, cell.digest))
            made = table_bytes(read_job_table(root / "jobs" / cell.digest))
            same = made == table_bytes(record.rows)
            different += not same
            print(f"{name}: {len(record.rows)} rows, {'the same bytes' if same else 'DIFFERENT'}")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
