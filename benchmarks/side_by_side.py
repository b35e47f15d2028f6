"""Do two single-thread runs side by side double the steps per second of one?

    python benchmarks/side_by_side.py [--rounds 7] [--seconds 4]

Preset ``laptop``, cheetah-run, LFF.  In each round the first run goes alone, then both together,
then the second alone.  The last line is one JSON object.
"""

import argparse
import json
import statistics
import tempfile

from turns import Contender, median_and_quartiles, turns

GOAL = 1.8


def run_child(seed: int, *, compiled: bool) -> None:
    from lff.training import Compute, train
    from lff.training.presets import preset

    laptop = preset("laptop", "dmc/cheetah-run")
    compute = Compute(compile="native" if compiled else "off")
    steps = 1_000_000
    config = laptop.replace(steps=steps, seed=seed, eval_every=steps, compute=compute).config()
    tick = turns(ready_after=config.algo.warmup_steps + 50)
    with tempfile.TemporaryDirectory() as folder:
        train(config, directory=folder, watch=lambda _run, event: event == "step" and tick())


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=4.0, help="length of a slice")
    parser.add_argument("--eager", action="store_true", help="uncompiled")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    if arguments.child is not None:
        run_child(arguments.child, compiled=not arguments.eager)
        return
    flags = ["--eager"] if arguments.eager else []
    # both may use all processors: where a thread runs is the system's choice, as in real life
    first, second = (
        Contender(f"run {seed}", [__file__, "--child", str(seed), *flags]) for seed in range(2)
    )
    gains, alone, together = [], [], []
    for _ in range(arguments.rounds):
        before = slice_of([first], arguments.seconds)
        both = slice_of([first, second], arguments.seconds)
        after = slice_of([second], arguments.seconds)
        alone.append((before + after) / 2)
        together.append(both)
        gains.append(both / alone[-1])
    for contender in (first, second):
        contender.stop()
    gain, spread = median_and_quartiles(gains)
    print(f"  side by side {gain:.2f}x of one alone, quartiles {spread}")
    rates = {
        "alone": round(statistics.median(alone), 1),
        "together": round(statistics.median(together), 1),
    }
    result = {"ratios": {"side_by_side": round(gain, 3)}, "spread": {"side_by_side": spread}}
    met = {"side_by_side": gain >= GOAL}
    print(json.dumps({**result, "steps_per_second": rates, "met": met}))


def slice_of(contenders: list[Contender], seconds: float) -> float:
    """Let some run at the same time; return their steps per second together."""
    for contender in contenders:
        contender.start(seconds)
    return sum(contender.finish() for contender in contenders)


if __name__ == "__main__":
    main()
