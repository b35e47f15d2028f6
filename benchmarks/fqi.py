"""How much faster are five seeds of fitted Q-iteration in one batch than one after another?

    python benchmarks/fqi.py [--rounds 9] [--steps 200] [--eager]

The same code trains five seeds together and five learners of one seed each in turn, on Grid16, one
thread, at widths 64 and 256, for MLP and LFF.  Rounds take turns, so that both see the same
machine.  The last line is one JSON object.
"""

import argparse
import json
import statistics
import time
from collections.abc import Sequence

import torch
from turns import median_and_quartiles

from lff import Fourier, MLPTrunk, NetConfig
from lff.nn import MatchedMLP
from lff.tabular import FQI, FQIConfig, grid16_smooth
from lff.training.compile import compile_update

GOAL, SEEDS = 2.5, range(5)


def learner(config: FQIConfig, seeds: Sequence[int], *, compiled: bool) -> FQI:
    fqi = FQI(TASK, config, seeds=seeds)
    if compiled:
        fqi.step = compile_update(fqi.update)
    fqi.iterate()  # warm-up: compiles, and fills the buffer
    return fqi


def seconds(learners: Sequence[FQI]) -> float:
    """Return what one iteration of all learners takes, data collection included."""
    start = time.perf_counter()
    for fqi in learners:
        fqi.iterate()
    return time.perf_counter() - start


def measure(net: NetConfig, arguments: argparse.Namespace) -> tuple[float, list[float], float]:
    config = FQIConfig(net=net, gradient_steps=arguments.steps)
    compiled = not arguments.eager
    together = [learner(config, SEEDS, compiled=compiled)]
    alone = [learner(config, (seed,), compiled=compiled) for seed in SEEDS]
    ratios, times = [], []
    for _ in range(arguments.rounds):
        batched = seconds(together)
        ratios.append(seconds(alone) / batched)
        times.append(batched / arguments.steps)
    ratio, spread = median_and_quartiles(ratios)
    return ratio, spread, 1e6 * statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=200, help="gradient steps in an iteration")
    parser.add_argument("--widths", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--eager", action="store_true", help="uncompiled")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    ratios, spreads, times = {}, {}, {}
    for width in arguments.widths:
        waves = NetConfig(Fourier(fourier_dim=width, sigma=0.1), MLPTrunk((width, width)))
        for name, net in (("mlp", NetConfig(trunk=MatchedMLP(like=waves))), ("lff", waves)):
            key = f"{name}_{width}"
            ratio, spreads[key], times[key] = measure(net, arguments)
            ratios[key] = round(ratio, 3)
            print(
                f"  {name}, width {width}: five seeds together {ratio:.2f}x of one at a time, "
                f"quartiles {spreads[key]}; {times[key]:.0f} µs a step"
            )
    met = {key: value >= GOAL for key, value in ratios.items() if key.endswith("_64")}
    result = {"ratios": ratios, "spread": spreads, "met": met, "compiled": not arguments.eager}
    print(json.dumps(result))


TASK = grid16_smooth()

if __name__ == "__main__":
    main()
