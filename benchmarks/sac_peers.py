"""Environment steps per second of whole SAC training loops, ours and the peers', in one run.

    python benchmarks/sac_peers.py [--sizes 64 128 256] [--threads 1] [--rounds 12] [--clock cpu]

    size 64     Pendulum-v1      two hidden layers of 64, batch 100, one thread
    size 128    HalfCheetah-v5   two hidden layers of 128, batch 128, one thread
    size 256    HalfCheetah-v5   two hidden layers of 256, batch 256, two threads

One critic, actor and temperature update a step; Gymnasium's passive checker is off for all; the
rest as each one has it by default.  Compilation and warm-up are not counted.  A ratio is our rate
over the peer's in the same round, under ``peer_size``.  RLtools needs the extra ``rltools`` and
g++; it is left out if it is not installed.  The last line is one JSON object.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import gymnasium
from turns import CLOCKS, Contender, median_and_quartiles, take_turns, turns

PEERS = ("rltools", "sb3", "sbx", "cleanrl", "leanrl")
GOALS = {
    "rltools_64": 0.95,
    "rltools_128": 1.25,
    "rltools_256": 1.3,
    "sb3_256": 2.8,
    "sbx_256": 1.7,
    "cleanrl_256": 2.8,
    "leanrl_256": 2.6,
}


class Size(NamedTuple):
    """Task, network and batch of a race."""

    task: str
    width: int
    batch: int
    threads: int


SIZES = {
    64: Size("Pendulum-v1", 64, 100, threads=1),
    128: Size("HalfCheetah-v5", 128, 128, threads=1),
    256: Size("HalfCheetah-v5", 256, 256, threads=2),
}


def make_env(task: str) -> gymnasium.Env[Any, Any]:
    """Return a task whose actions are in [-1, 1]."""
    env = gymnasium.make(task, disable_env_checker=True)
    if (env.action_space.high != 1).any():
        return gymnasium.wrappers.RescaleAction(env, -1, 1)
    return env


def run_lff(
    size: Size, start: Callable[..., Callable[[], None]], *, how: Any, processor: Any
) -> None:
    """Train as ``lff train`` does: checkpoints, metrics, finite checks and all."""
    from lff.algos import SACConfig
    from lff.nn import MLPTrunk, NetConfig
    from lff.training import Compute, RunConfig, Schedule, train

    net = NetConfig(trunk=MLPTrunk(hidden=(size.width, size.width)))
    rates = {"actor_lr": 3e-4, "critic_lr": 3e-4}
    config = RunConfig(
        env=f"gym/{size.task}",
        algo=SACConfig(actor=net, critic=net, batch_size=size.batch, **rates),
        steps=1_000_000,
        schedule=Schedule(eval_every=1_000_000),  # the peers do not evaluate
        compute=Compute(compile=how, threads=size.threads, processor=processor),
    )
    tick = start(ready_after=config.algo.warmup_steps + 50)
    with tempfile.TemporaryDirectory() as folder:
        train(config, directory=folder, watch=lambda _run, event: event == "step" and tick())


def run_rltools(size: Size, start: Callable[..., Callable[[], None]]) -> None:
    """Train with RLtools, compiled for this size (it keeps what it compiled)."""
    os.environ["MKL_NUM_THREADS"] = str(size.threads)
    from rltools import SAC

    module = SAC(
        lambda: make_env(size.task),
        enable_evaluation=False,
        interface_name=f"lff_{size.width}",
        ACTOR_HIDDEN_DIM=size.width,
        CRITIC_HIDDEN_DIM=size.width,
        ACTOR_NUM_LAYERS=3,  # with the output layer
        CRITIC_NUM_LAYERS=3,
        ACTOR_BATCH_SIZE=size.batch,
        CRITIC_BATCH_SIZE=size.batch,
        STEP_LIMIT=1_000_000,
        N_WARMUP_STEPS=1_000,
        OPTIMIZER_ALPHA=3e-4,
    )
    state = module.State(0)
    tick = start(ready_after=1_050)
    while True:
        state.step()
        tick()


def run_baselines(module: str, size: Size, start: Callable[..., Callable[[], None]]) -> None:
    """Train with Stable-Baselines3, or with SBX, which has its interface."""
    from importlib import import_module

    from stable_baselines3.common.callbacks import BaseCallback

    tick = start(ready_after=200)

    class Tick(BaseCallback):
        def _on_step(self) -> bool:
            tick()
            return True

    model = import_module(module).SAC(
        "MlpPolicy",
        make_env(size.task),
        batch_size=size.batch,
        policy_kwargs={"net_arch": [size.width, size.width]},
    )
    model.learn(1_000_000, callback=Tick())


def run_child(arguments: argparse.Namespace) -> None:
    """Run one loop, a slice whenever it is told to."""
    name = arguments.child
    (number,) = arguments.sizes
    size = SIZES[number]._replace(threads=arguments.threads or SIZES[number].threads)
    if name not in ("sbx", "rltools"):  # RLtools' MKL and torch do not load side by side
        import torch

        torch.set_num_threads(size.threads)

    def start(*, ready_after: int) -> Callable[[], None]:
        return turns(ready_after=ready_after, clock=CLOCKS[arguments.clock])

    if name == "lff":
        run_lff(size, start, how=arguments.compile, processor=arguments.processor)
    elif name == "rltools":
        run_rltools(size, start)
    elif name in ("sb3", "sbx"):
        run_baselines({"sb3": "stable_baselines3", "sbx": "sbx"}[name], size, start)
    else:
        from cleanrl_style import STARTS, train

        train(
            start(ready_after=STARTS + 50),
            compiled=name == "leanrl",
            make_env=lambda: make_env(size.task),
            width=size.width,
            batch=size.batch,
        )


def race(number: int, arguments: argparse.Namespace) -> dict[str, list[float]]:
    """Let all loops of one size take turns; return the rates of each, round by round."""
    threads = arguments.threads or SIZES[number].threads
    flags = ["--sizes", str(number), "--threads", str(threads), "--clock", arguments.clock]
    flags += ["--compile", arguments.compile, "--processor", arguments.processor]
    contenders = []
    for name in ("lff", *arguments.peers):
        command = [__file__, "--child", name, *flags]
        contenders.append(Contender(name, command, threads=threads))
        print(f"  {name}_{number} is warm", flush=True)
    take_turns(contenders, rounds=arguments.rounds, seconds=arguments.seconds)
    return {f"{one.name}_{number}": one.rates for one in contenders}


def main() -> None:
    arguments = parse_arguments()
    if arguments.child:
        run_child(arguments)
        return
    ratios, spread, rates = {}, {}, {}
    for number in arguments.sizes:
        found = race(number, arguments)
        ours = found[f"lff_{number}"]
        for name, values in found.items():
            rates[name] = round(median_and_quartiles(values)[0], 1)
            if values is not ours:
                speeds = [a / b for a, b in zip(ours, values, strict=True)]
                middle, spread[name] = median_and_quartiles(speeds)
                ratios[name] = round(middle, 3)
                print(f"  {name:12s} {middle:5.2f}x  quartiles {spread[name]}", flush=True)
    met = {name: speed >= GOALS[name] for name, speed in ratios.items() if name in GOALS}
    met = {} if arguments.threads else met  # goals are for each size's own threads
    result = {"ratios": ratios, "spread": spread, "steps_per_second": rates, "met": met}
    threads = {str(n): arguments.threads or SIZES[n].threads for n in arguments.sizes}
    how = {"threads": threads, "rounds": arguments.rounds, "clock": arguments.clock}
    how |= {"compile": arguments.compile, "processor": arguments.processor}
    print(json.dumps({**result, **how}))


def parse_arguments() -> argparse.Namespace:
    here = [peer for peer in PEERS if peer != "rltools" or find_spec("rltools")]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", choices=tuple(SIZES), default=list(SIZES))
    parser.add_argument("--threads", type=int, help="for all sizes, instead of each one's own")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=2.5, help="least length of a slice")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=here)
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall", help="what a rate is by")
    ways = ("native", "graph", "off")
    parser.add_argument("--processor", choices=("native", "x86-64-v3"), default="native")
    parser.add_argument("--compile", choices=ways, default="native", help="how ours is computed")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
