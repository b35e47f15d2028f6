"""Speed of one SAC update with LFF, and what checkpoints and finite checks cost a run.

    python benchmarks/sac_update.py [--threads 2] [--rounds 15]

"speed" is the time of an update written as in the paper's starting code base over ours.  "peak" is
the share of the machine's matrix-product rate, measured in the same rounds, that our update reaches
if only the products that SAC cannot do without are counted.  The last line is one JSON object.
"""

import argparse
import json
import math
import tempfile
import time
import timeit
from collections.abc import Callable

import numpy as np
import torch
from authors_style import Agent
from interleaved import measure, ratio
from turns import median_and_quartiles

from lff.algos import SAC, SACConfig, Spaces
from lff.data import Batch
from lff.nn import Fourier, MLPTrunk, NetConfig
from lff.training import Compute, Loop, train
from lff.training.compile import compile_update
from lff.training.presets import preset

OBS, ACTION = 17, 6
SPEED_GOAL, PEAK_GOALS, OVERHEAD_GOAL = 2.5, {256: 0.6, 1024: 0.8}, 0.02
PRODUCT_SIZES = (512, 1024, 2048)
METRICS = 7
"""Of one update."""


def lff_config(size: int) -> SACConfig:
    net = NetConfig(Fourier(fourier_dim=size, sigma=0.01), MLPTrunk(hidden=(size, size)))
    return SACConfig(actor=net, critic=net, batch_size=size)


def draw_batch(size: int, g: torch.Generator) -> Batch:
    return Batch(
        obs=torch.randn(size, OBS, generator=g),
        action=2 * torch.rand(size, ACTION, generator=g) - 1,
        reward=torch.rand(size, generator=g),
        next_obs=torch.randn(size, OBS, generator=g),
        terminated=torch.zeros(size, dtype=torch.bool),
    )


def least_work(agent: SAC, batch: int) -> int:
    """Return the floating-point operations of the products that one update needs.

    Critics: forward, two backward, target forward, and forward and input gradient for the actor;
    actor: forward for the next action, forward, two backward.  Biases do not count.
    """
    critic, actor = (
        sum(p.numel() for name, p in net.named_parameters() if "bias" not in name)
        for net in (agent.networks["critic"], agent.networks["actor"])
    )
    return 2 * batch * (6 * critic + 4 * actor)


def product(n: int) -> Callable[[], object]:
    a, b, out = torch.randn(n, n), torch.randn(n, n), torch.empty(n, n)
    return lambda: torch.mm(a, b, out=out)


def update_speeds(size: int, *, rounds: int, compiled: bool) -> dict[str, float]:
    """Return speed against the authors' form, GFLOP/s and share of the peak."""
    torch.compiler.reset()
    g = torch.Generator().manual_seed(0)
    config = lff_config(size)
    ours = config.build(Spaces((OBS,), ACTION), generator=g)
    theirs = Agent(config, OBS, ACTION)
    batch, noise = draw_batch(size, g), ours.draw(g, size)
    update = compile_update(ours.update) if compiled else ours.update
    runs = {"ours": lambda: update(batch, noise), "theirs": lambda: theirs.update(batch, noise)}
    runs |= {f"product {n}": product(n) for n in PRODUCT_SIZES}
    times = measure(runs, rounds=rounds, seconds=0.2)
    peaks = [max(2 * n**3 / times[f"product {n}"][r] for n in PRODUCT_SIZES) for r in range(rounds)]
    rates = [least_work(ours, size) / t for t in times["ours"]]
    share, _ = median_and_quartiles([a / b for a, b in zip(rates, peaks, strict=True)])
    return {
        "speed": ratio(times, "theirs", "ours"),
        "gflops": median_and_quartiles(rates)[0] / 1e9,
        "peak_gflops": median_and_quartiles(peaks)[0] / 1e9,
        "share_of_peak": share,
        "ms": 1e3 * median_and_quartiles(times["ours"])[0],
    }


class Clock:
    """Seconds spent in methods of a run, measured in place."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    def time(self, owner: object, name: str) -> None:
        """Replace a method by itself with a clock around it."""
        inner = getattr(owner, name)
        self.spent[name] = 0.0

        def timed(*args: object, **kwargs: object) -> object:
            start = time.perf_counter()
            result = inner(*args, **kwargs)
            self.spent[name] += time.perf_counter() - start
            return result

        setattr(owner, name, timed)


def overhead(*, steps: int, compiled: bool) -> dict[str, float]:
    """Return the shares of checkpoints and finite checks in a run of the preset ``laptop``.

    The run lasts one period of its checkpoints, so that the one measured holds what a real one
    does.  Shares refer to steps with an update: those before the first are cheap.
    """
    laptop = preset("laptop", "dmc/cheetah-run").replace(
        steps=steps + 1,
        warmup_steps=steps // 2,
        checkpoint_every=steps,
        eval_episodes=1,
        compute=Compute(compile="graph" if compiled else "off"),
    )
    config = laptop.config()
    clock, begin, last = Clock(), steps // 2 + 50, dict[str, float]()

    def watch(run: Loop, event: str) -> None:
        if event != "step":
            return
        if run.progress.env_step == begin:
            for name in ("_save", "_check_finite"):
                clock.time(run, name)
            last["start"] = time.perf_counter()
        elif run.progress.env_step == steps:
            seconds = time.perf_counter() - last["start"] - clock.spent["_save"]
            last["step"] = seconds / (steps - begin)
            last["checkpoint"] = clock.spent["_save"]
            last["checks"] = clock.spent["_check_finite"] / (steps - begin) + loss_check()

    with tempfile.TemporaryDirectory() as folder:
        train(config, directory=folder, watch=watch)
    return {
        "checkpoint_share": last["checkpoint"] / (steps * last["step"]),
        "check_share": last["checks"] / last["step"],
        "checkpoint_ms": 1e3 * last["checkpoint"],
    }


def loss_check() -> float:
    """Return the seconds that looking at the losses and the action takes each step."""
    metrics, action = [torch.zeros(()) for _ in range(METRICS)], np.zeros(ACTION, np.float32)

    def look() -> bool:
        values = torch.stack(metrics).tolist()
        return all(map(math.isfinite, values)) and bool(np.isfinite(action).all())

    return min(timeit.repeat(look, number=200, repeat=5)) / 200


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 1024])
    parser.add_argument("--steps", type=int, default=10_000, help="of the run for the overhead")
    parser.add_argument("--eager", action="store_true", help="ours uncompiled")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    compiled = not arguments.eager
    ratios, met = {}, {}
    for size in arguments.sizes:
        torch.set_num_threads(arguments.threads)
        for name, value in update_speeds(size, rounds=arguments.rounds, compiled=compiled).items():
            ratios[f"{name}_{size}"] = round(value, 3)
            print(f"  H = F = batch = {size:4d}  {name:14s} {value:8.2f}", flush=True)
        if size in PEAK_GOALS:
            met[f"share_of_peak_{size}"] = ratios[f"share_of_peak_{size}"] >= PEAK_GOALS[size]
        if size == 256:
            met["speed_256"] = ratios["speed_256"] >= SPEED_GOAL
    for name, value in overhead(steps=arguments.steps, compiled=compiled).items():
        ratios[name] = round(value, 5)
        print(f"  {name:18s} {value:8.4f}", flush=True)
    ratios["overhead"] = round(ratios["checkpoint_share"] + ratios["check_share"], 5)
    met["overhead"] = ratios["overhead"] <= OVERHEAD_GOAL
    print(json.dumps({"ratios": ratios, "met": met, "threads": arguments.threads}))


if __name__ == "__main__":
    main()
