"""What launchers cost: a trivial job, the driver's memory, and what a second worker brings.

Each launcher runs in a process of its own, so that memory is the driver's.  A job is compared with
an interpreter that imports torch and stops; two workers with one, in turns.

    python benchmarks/launchers.py --jobs 1000
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

from turns import median_and_quartiles

COST, GAIN, FLAT = 1.5, 1.8, 1.2
"""At most this many bare interpreters a job; at least this gain; memory at most so many times."""
EARLY = 100
"""Jobs after which the driver's memory is noted first."""


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000, help="trivial jobs")
    parser.add_argument("--rounds", type=int, default=5, help="turns of one worker and of two")
    parser.add_argument("--steps", type=int, default=3000, help="steps of a training job")
    parser.add_argument("--launchers", nargs="+", default=["local", "ray"])
    parser.add_argument("--child", choices=["local", "ray"])
    parser.add_argument("--many", type=int, default=1, help="the child's workers")
    return parser.parse_args()


def resident() -> float:
    """Return the megabytes of memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def run_child(launcher: str, count: int, workers: int) -> None:
    """Run trivial jobs; print seconds per job, and the driver's memory early and at the end."""
    from lff.experiments.jobs.pause import PauseJob
    from lff.launch.local import launch
    from lff.launch.ray import launch_on_ray

    jobs = [PauseJob(number=number) for number in range(count)]
    first: list[tuple[float, int]] = []
    memory: list[float] = []
    early = min(EARLY, count // 2)

    def show(tasks) -> None:
        done = sum(task.state == "done" for task in tasks)
        if done and not first:
            first.append((time.perf_counter(), done))
        if done >= early:
            memory.append(resident())

    with tempfile.TemporaryDirectory() as root:
        start = time.perf_counter()
        run = launch if launcher == "local" else launch_on_ray
        tasks = run(jobs, Path(root), workers=workers, show=show)
        seconds = time.perf_counter() - start
    assert all(task.state == "done" for task in tasks)
    begun, some = first[0]
    rest = (start + seconds - begun) / max(1, count - some)  # Ray's own end included
    print(
        json.dumps(
            {
                "seconds": seconds,
                "per_job": seconds / count,
                "per_job_after_the_first": rest,
                "memory_early": memory[0],
                "memory_at_the_end": memory[-1],
            }
        )
    )


def measure_trivial(launcher: str, count: int, workers: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", launcher]
    command += ["--jobs", str(count), "--many", str(workers)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    print(
        f"  {launcher}, {workers} at a time: {1e3 * found['per_job']:.1f} ms a job, driver "
        f"{found['memory_early']:.0f} MB early and {found['memory_at_the_end']:.0f} MB at the end"
    )
    return found


def bare_interpreter() -> float:
    """Return the seconds of an interpreter that imports torch."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import torch"], check=True)
    return time.perf_counter() - start


def training_jobs(steps: int, first_seed: int) -> list[object]:
    from lff.algos import SACConfig
    from lff.experiments.jobs.training import TrainJob
    from lff.nn import Fourier, MLPTrunk, NetConfig
    from lff.training import RunConfig, Schedule

    net = NetConfig(Fourier(fourier_dim=32, sigma=0.1), MLPTrunk((64, 64)))
    algo = SACConfig(actor=net, critic=net, batch_size=64, warmup_steps=min(500, steps))
    schedule = Schedule(eval_every=steps, eval_episodes=1, checkpoint_every=steps)
    return [
        TrainJob(
            RunConfig(
                env="dmc/cartpole-swingup",
                algo=algo,
                steps=steps,
                seed=first_seed + number,
                schedule=schedule,
            ),
            reference_episodes=1,
        )
        for number in range(4)
    ]


def jobs_per_hour(jobs: list[object], workers: int) -> float:
    from lff.launch.local import launch

    with tempfile.TemporaryDirectory() as root:
        start = time.perf_counter()
        launch(jobs, Path(root), workers=workers)
        return 3600 * len(jobs) / (time.perf_counter() - start)


def measure_gain(rounds: int, steps: int) -> tuple[list[float], dict[str, float]]:
    """Let one worker and two take turns with the same kind of jobs."""
    one, two = [], []
    for number in range(rounds):
        jobs = training_jobs(steps, 4 * number)
        one.append(jobs_per_hour(jobs, 1))
        two.append(jobs_per_hour(jobs, 2))
    rates = {"one": round(statistics.median(one), 1), "two": round(statistics.median(two), 1)}
    return [b / a for a, b in zip(one, two, strict=True)], rates


def main() -> None:
    arguments = parse_arguments()
    if arguments.child:
        run_child(arguments.child, arguments.jobs, arguments.many)
        return
    print(f"  load of the machine before: {os.getloadavg()[0]:.1f}")
    bare = [bare_interpreter() for _ in range(max(2, arguments.rounds))]
    found = {name: measure_trivial(name, arguments.jobs, 1) for name in arguments.launchers}
    alone = measure_trivial("local", 1, 1)
    bare += [bare_interpreter() for _ in range(max(2, arguments.rounds))]
    interpreter = statistics.median(bare)
    print(f"  a bare interpreter that imports torch: {interpreter:.2f} s")
    gains, rates = measure_gain(arguments.rounds, arguments.steps)
    gain, spread = median_and_quartiles(gains)
    print(f"  two workers: {gain:.2f} times the jobs of one, quartiles {spread}")
    ratios: dict[str, float] = {"two_workers": gain, "job_alone": alone["seconds"] / interpreter}
    met: dict[str, bool] = {"two_workers": gain >= GAIN}
    for name, one in found.items():
        ratios[f"job_{name}"] = one["per_job"] / interpreter
        ratios[f"memory_{name}"] = one["memory_at_the_end"] / one["memory_early"]
        met[f"job_{name}"] = ratios[f"job_{name}"] <= COST
        met[f"memory_{name}"] = ratios[f"memory_{name}"] <= FLAT
    rounded = {name: round(value, 3) for name, value in ratios.items()}
    figures = {name: {k: round(v, 4) for k, v in one.items()} for name, one in found.items()}
    result = {"ratios": rounded, "spread": {"two_workers": spread}, "jobs_per_hour": rates}
    print(json.dumps({**result, "launchers": figures, "interpreter": interpreter, "met": met}))


if __name__ == "__main__":
    main()
