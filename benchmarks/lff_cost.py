"""What a training step with LFF costs over one with the parameter-matched MLP, in turns.

    python benchmarks/lff_cost.py [--rounds 12] [--seconds 2]

Preset ``laptop``, cheetah-run (LFF: F = 128, 128-128; MLP: 137-128-128; batch 128), one thread,
whole steps and updates alone, by processor time.  The last line is one JSON object.
"""

import argparse
import json
import tempfile
import time

from turns import Contender, median_and_quartiles, take_turns, turns

LOOPS = {"lff": ("lff", "native"), "mlp": ("mlp", "native"), "mlp-graph": ("mlp", "graph")}
GOALS = {"lff_over_mlp": 1.15, "graph_over_native": 1.5}


def run_child(name: str, *, updates: bool) -> None:
    import torch

    from lff.training import Compute, train
    from lff.training.presets import preset

    torch.set_num_threads(1)
    net, how = LOOPS[name]
    steps = 1_000_000
    laptop = preset("laptop", "dmc/cheetah-run").replace(steps=steps, eval_every=steps)
    config = laptop.replace(compute=Compute(compile=how), warmup_steps=1_000).config(net)
    tick = turns(ready_after=1_050, clock=time.process_time)

    def watch(loop: object, event: str) -> None:
        if event != "step":
            return
        tick()
        while updates and loop.progress.env_step == 1_050:  # from here on it only learns
            loop._learn()
            tick()

    with tempfile.TemporaryDirectory() as folder:
        train(config, directory=folder, watch=watch)


def race(rounds: int, seconds: float, flags: list[str]) -> dict[str, list[float]]:
    everyone = [Contender(n, [__file__, "--child", n, *flags], threads=1) for n in LOOPS]
    take_turns(everyone, rounds=rounds, seconds=seconds)
    return {one.name: one.rates for one in everyone}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=2.0, help="least length of a slice")
    parser.add_argument("--child", choices=tuple(LOOPS), help=argparse.SUPPRESS)
    parser.add_argument("--updates", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        run_child(arguments.child, updates=arguments.updates)
        return
    ratios, spread = {}, {}
    for what, flags in (("step", []), ("update", ["--updates"])):
        rates = race(arguments.rounds, arguments.seconds, flags)
        for key, above, below in (
            ("lff_over_mlp", "mlp", "lff"),
            ("graph_over_native", "mlp", "mlp-graph"),
        ):
            found = [a / b for a, b in zip(rates[above], rates[below], strict=True)]
            middle, spread[f"{key}_{what}"] = median_and_quartiles(found)
            ratios[f"{key}_{what}"] = round(middle, 3)
            print(f"  {key}_{what}: {middle:.3f}  {spread[f'{key}_{what}']}", flush=True)
    print(json.dumps({"ratios": ratios, "spread": spread, "goals": GOALS}))


if __name__ == "__main__":
    main()
