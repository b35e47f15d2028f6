"""Environment steps per second of whole training loops, ours and the peers', in one run.

    python benchmarks/sac_peers.py [--threads 2] [--rounds 8] [--seconds 2.5]

HalfCheetah-v5, two hidden layers of 256, batch 256; one critic, actor and temperature update a
step; everything else as each one has it by default.  Compilation and warm-up are not counted.
"speed" is our rate over the peer's in the same round.  The last line is one JSON object.
"""

import argparse
import json
import tempfile

from turns import Contender, median_and_quartiles, turns

GOALS = {"sb3": 2.0, "sbx": 1.3, "cleanrl": 2.0, "leanrl": 1.2}
TASK = "HalfCheetah-v5"


def run_lff(*, threads: int, compiled: bool) -> None:
    """Train as ``lff train`` does: checkpoints, metrics, finite checks and all."""
    from lff.algos import SACConfig
    from lff.nn import MLPTrunk, NetConfig
    from lff.training import TrainConfig, train

    net = NetConfig(trunk=MLPTrunk(hidden=(256, 256)))
    config = TrainConfig(
        env=f"gym/{TASK}",
        algo=SACConfig(actor=net, critic=net, batch_size=256, actor_lr=3e-4, critic_lr=3e-4),
        steps=1_000_000,
        compile=compiled,
        threads=threads,
        eval_every=1_000_000,  # the peers do not evaluate
    )
    tick = turns(ready_after=config.warmup_steps + 50)
    with tempfile.TemporaryDirectory() as folder:
        train(config, directory=folder, watch=lambda _run, event: event == "step" and tick())


def run_baselines(module: str) -> None:
    """Train with Stable-Baselines3, or with SBX, which has its interface."""
    from importlib import import_module

    from stable_baselines3.common.callbacks import BaseCallback

    tick = turns(ready_after=200)

    class Tick(BaseCallback):
        def _on_step(self) -> bool:
            tick()
            return True

    model = import_module(module).SAC("MlpPolicy", TASK)
    model.learn(1_000_000, callback=Tick())


def run_child(name: str, *, threads: int, compiled: bool) -> None:
    if name != "sbx":
        import torch

        torch.set_num_threads(threads)
    if name == "lff":
        run_lff(threads=threads, compiled=compiled)
    elif name in ("sb3", "sbx"):
        run_baselines({"sb3": "stable_baselines3", "sbx": "sbx"}[name])
    else:
        from cleanrl_style import STARTS, train

        train(turns(ready_after=STARTS + 50), compiled=name == "leanrl")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=2.5, help="length of a slice")
    parser.add_argument("--peers", nargs="+", choices=tuple(GOALS), default=list(GOALS))
    parser.add_argument("--eager", action="store_true", help="ours uncompiled")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    if arguments.child:
        run_child(arguments.child, threads=arguments.threads, compiled=not arguments.eager)
        return
    flags = ["--threads", str(arguments.threads), *(["--eager"] if arguments.eager else [])]
    contenders = []
    for name in ("lff", *arguments.peers):
        contenders.append(
            Contender(name, [__file__, "--child", name, *flags], threads=arguments.threads)
        )
        print(f"  {name} is warm", flush=True)
    for number in range(arguments.rounds):
        shift = number % len(contenders)  # nobody always follows the same one
        for contender in contenders[shift:] + contenders[:shift]:
            contender.start(arguments.seconds)
            contender.finish()
    ours, *peers = contenders
    ratios, spread, rates = {}, {}, {}
    for contender in contenders:
        contender.stop()
        rates[contender.name] = round(median_and_quartiles(contender.rates)[0], 1)
    for peer in peers:
        speeds = [a / b for a, b in zip(ours.rates, peer.rates, strict=True)]
        middle, spread[peer.name] = median_and_quartiles(speeds)
        ratios[peer.name] = round(middle, 3)
        print(f"  {peer.name:8s} {middle:5.2f}x  quartiles {spread[peer.name]}")
    met = {name: speed >= GOALS[name] for name, speed in ratios.items()}
    result = {"ratios": ratios, "spread": spread, "steps_per_second": rates, "met": met}
    print(json.dumps({**result, "threads": arguments.threads, "rounds": arguments.rounds}))


if __name__ == "__main__":
    main()
