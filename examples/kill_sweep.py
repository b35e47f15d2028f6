"""Kill workers and launchers of a sweep with SIGKILL, start it again, compare every byte.

Sixteen short training runs go through the pool of processes, or, with --ray, through Ray.  Workers
are killed at random while they work, the launcher itself a few times; then it is started again by
the same command.  With --power-cuts some jobs have begun before, in a process that lost its power
(simulated, see power_loss.py).  In the end every table must be that of an undisturbed sweep.  Exit
code 1 if one byte differs.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path

from power_loss import cut_code, take_state

from lff.algos import SACConfig
from lff.core import digest
from lff.core.config import to_dict
from lff.experiments.jobs.training import TrainJob
from lff.launch.local import THREADS, launch
from lff.launch.ray import launch_on_ray
from lff.nn import Fourier, MLPTrunk, NetConfig
from lff.training import RunConfig, Schedule

CALLS = 150
"""Calls that change the disk before a power cut, at most; about five checkpoints."""
WORK = "import sys; from lff.launch.worker import run_request; run_request(sys.stdin.read())"
NET = NetConfig(Fourier(fourier_dim=16, sigma=0.01), MLPTrunk(hidden=(16, 16)))


def jobs(count: int, steps: int) -> list[TrainJob]:
    algo = SACConfig(actor=NET, critic=NET, batch_size=32, warmup_steps=200)
    schedule = Schedule(log_every=200, eval_every=500, checkpoint_every=300, eval_episodes=1)
    return [
        TrainJob(
            RunConfig(
                env="dmc/cartpole-swingup", algo=algo, steps=steps, seed=seed, schedule=schedule
            ),
            reference_episodes=1,
        )
        for seed in range(count)
    ]


def workers_of(launcher: int, *, ray: bool) -> list[int]:
    """Return the launcher's workers; Ray's are children of its own processes."""
    try:
        children = Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
        below = (
            [pid for child in children for pid in workers_of(int(child), ray=ray)] if ray else []
        )
        named = [int(pid) for pid in children if not ray or _command(pid).startswith(b"ray::run")]
    except OSError:
        return []
    return named + below


def _command(pid: str) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--steps", type=int, default=2_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--worker-kills", type=int, default=20)
    parser.add_argument("--launcher-kills", type=int, default=3)
    parser.add_argument("--power-cuts", type=int, default=0)
    parser.add_argument("--ray", action="store_true", help="a Ray cluster, started here")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--launch", type=Path, help="be the launcher, in this folder")
    arguments = parser.parse_args()
    sweep = jobs(arguments.jobs, arguments.steps)
    if arguments.launch:
        run = launch_on_ray if arguments.ray else launch
        tasks = run(sweep, arguments.launch, workers=arguments.workers)
        sys.exit(any(task.state != "done" for task in tasks))
    with tempfile.TemporaryDirectory() as folder:
        whole, killed = Path(folder) / "whole", Path(folder) / "killed"
        launch(sweep, whole, workers=arguments.workers)
        counts = cut_jobs(sweep, killed, arguments) | torment(arguments, killed)
        tables = [digest(job) for job in sweep]
        differing = [d for d in tables if table(whole, d) != table(killed, d)]
        doubled = [d for d in tables if has_doubles(table(killed, d))]
    print(json.dumps({**counts, "jobs": len(sweep), "differ": differing, "doubled": doubled}))
    sys.exit(bool(differing or doubled))


def cut_jobs(sweep: list[TrainJob], root: Path, arguments) -> dict[str, int]:
    """Begin jobs in processes that lose their power; return how many."""
    rng, count = random.Random(arguments.seed), arguments.power_cuts
    root.mkdir()
    for job in rng.sample(sweep, min(count, len(sweep))):
        request = {"job": to_dict(job), "folder": str(root / "jobs" / digest(job)), "trust": []}
        first = cut_code(root, rng.randrange(1, CALLS), rng.randrange(2**32))
        path = os.pathsep.join((str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")))
        ended = subprocess.run(
            [sys.executable, "-c", f"{first}\n{WORK}"],
            input=json.dumps(request),
            env={**os.environ, **THREADS, "PYTHONPATH": path},
            text=True,
            check=False,
        )
        if ended.returncode != -signal.SIGKILL:
            sys.exit(f"a job ended with {ended.returncode}")
        left = take_state(root)
        print(f"power cut of a job, {left['mode']}, saved at {left['floor']}", file=sys.stderr)
    return {"power cuts": min(count, len(sweep))}


def torment(arguments, root: Path) -> dict[str, int]:
    """Run the sweep to its end under fire; return how often what was hit."""
    rng = random.Random(arguments.seed)
    command = [sys.executable, __file__, *sys.argv[1:], "--launch", str(root)]
    left = {"worker": arguments.worker_kills, "launcher": arguments.launcher_kills}
    hit = dict.fromkeys(left, 0)
    launcher = subprocess.Popen(command)
    while launcher.poll() is None or sum(left.values()):
        if launcher.poll() is not None:
            break  # all done before all shots were fired
        time.sleep(rng.uniform(0.5, 4.0))
        kinds = [kind for kind, count in left.items() for _ in range(count)]
        victim = rng.choice(kinds) if kinds else None
        if victim == "worker":
            alive = workers_of(launcher.pid, ray=arguments.ray)
            if alive:
                os.kill(rng.choice(alive), signal.SIGKILL)
                left[victim], hit[victim] = left[victim] - 1, hit[victim] + 1
        elif victim == "launcher" and launcher.poll() is None:
            launcher.kill()
            launcher.wait()
            left[victim], hit[victim] = left[victim] - 1, hit[victim] + 1
            launcher = subprocess.Popen(command)
        if len(kinds) > sum(left.values()):
            print(f"killed a {victim}, {sum(left.values())} to go", file=sys.stderr)
    if launcher.wait():
        sys.exit(f"the sweep ended with {launcher.returncode}")
    return {f"{kind} kills": count for kind, count in hit.items()}


def table(root: Path, name: str) -> bytes:
    return (root / "jobs" / name / "table.csv").read_bytes()


def has_doubles(content: bytes) -> bool:
    keys = [line.rpartition(b",")[0] for line in content.splitlines()]
    return len(keys) != len(set(keys))


if __name__ == "__main__":
    main()
