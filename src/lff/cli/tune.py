"""``lff tune``: search σ, Fourier dimension and learning rate over several seeds each."""

import os
from pathlib import Path

from rich.console import Console

from lff.cli.experiment import bars
from lff.cli.output import print_table
from lff.core.errors import BadInputError, require_extra
from lff.envs import has_pixels
from lff.experiments.engine import launch_jobs
from lff.experiments.grids import Size
from lff.experiments.tuning import Space, Trial, tune
from lff.store import csv_bytes, write_bytes
from lff.training.networks import NetName

WITH_SIGMA = ("lff", "fixed-b", "no-concat", "linear")
WITH_SIZE = (*WITH_SIGMA, "log-uniform", "constant")
SHOWN = 10


def tune_command(
    *,
    env: str,
    dir: Path,
    net: NetName = "lff",
    trials: int = 20,
    seeds: int = 3,
    steps: int = 20_000,
    sigma: tuple[float, float] = (1e-4, 1.0),
    fourier_dim: tuple[int, ...] = (64, 128, 256),
    lr: tuple[float, float] = (1e-4, 1e-3),
    seed: int = 0,
    workers: int | None = None,
    ray: str | None = None,
) -> None:
    """Search the hyper-parameters of a network; the same command continues where it stopped.

    Every setting is tried with several seeds, and judged by the mean return over the curve.

    Args:
        env: the task.
        dir: where jobs and the table of trials go.
        net: the network; an MLP has a learning rate alone.
        trials: settings to try.
        seeds: runs of each setting.
        steps: environment steps of a run, preset laptop.
        sigma: smallest and largest σ.
        fourier_dim: Fourier dimensions to choose from.
        lr: smallest and largest learning rate.
        seed: of the search.
        workers: jobs at a time; as many as there are cores if not given.
        ray: run the jobs on Ray: "here", or a cluster's address.
    """
    if steps < 100 or trials < 1 or seeds < 1:
        remedy = "use 100 steps or more, 1 trial and seed or more"
        raise BadInputError("steps, trials, seeds", (steps, trials, seeds), "positive", remedy)
    if has_pixels(env):
        remedy = "tune from state, or compare runs of lff train with --sigma and --fourier-dim"
        raise BadInputError("env", env, "a task that observes numbers", remedy)
    require_extra("tune", "optuna", purpose="lff tune")

    space = Space(
        sigma=sigma if net in WITH_SIGMA else None,
        fourier_dim=fourier_dim if net in WITH_SIZE else None,
        lr=lr,
    )
    change = {"steps": steps, "warmup_steps": min(5_000, steps // 2), "eval_episodes": 3}
    size = Size(algo="sac", preset="laptop", tasks=(env,), seeds=seeds, change=change)
    cores = workers or len(os.sched_getaffinity(0))
    say = Console(highlight=False).print
    say(f"{trials} settings of {net} on {env}, {seeds} seeds each: {trials * seeds} jobs")
    with bars(dir) as show:
        found = tune(
            lambda fields: size.job(env, net=net, **fields),
            space,
            lambda part: launch_jobs(
                part, dir, workers=cores, ray=ray, show=lambda tasks: show(tasks, "")
            ),
            root=dir,
            trials=trials,
            seeds=seeds,
            batch=max(1, cores // seeds),
            seed=seed,
        )
    names = sorted({name for trial in found for name in trial.fields})
    write_trials(dir / "trials.csv", names, found)
    rows = [[*(f"{t.fields[n]:g}" for n in names), t.interval] for t in found[:SHOWN]]
    print_table((*names, "mean return over the curve"), rows)
    best = " ".join(f"--{k.replace('_', '-')} {v:g}" for k, v in found[0].fields.items())
    say(f"the best: lff train sac --env {env} --net {net} {best} --dir runs/NAME")
    say(f"chosen as the best of {trials}, so its own score flatters it: run it on fresh seeds")


def write_trials(path: Path, names: list[str], found: list[Trial]) -> None:
    """Write what was tried, the best first, one line a run."""
    rows = [
        [place, *(f"{trial.fields.get(name, ''):g}" for name in names), seed, repr(score)]
        for place, trial in enumerate(found)
        for seed, score in enumerate(trial.scores)
    ]
    write_bytes(path, csv_bytes(["place", *names, "seed", "score"], rows))
