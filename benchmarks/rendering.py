"""Frames per second of the fast rendering against the faithful one, in one run.

    python benchmarks/rendering.py [--rounds 7] [--sizes 84 100] [--tasks cheetah-run ...]

Both draw the same moment of one of the paper's tasks, 20 random actions after its start, through
the same camera; they take turns.  A ratio is the time of the faithful one over that of the fast
one; "difference" is the mean of |fast - faithful| over the image, of 255.  The last line is one
JSON object.
"""

import argparse
import json
import statistics

import numpy as np
from interleaved import measure, ratio

from lff.envs import PAPER_PIXEL_TASKS, PixelView, make

GOAL = 4.0
KINDS = {"fast": True, "faithful": False}


def environments(task, size):
    """Return the two at the same moment of the same episode, and how their images differ."""
    envs = {
        kind: make(
            f"dmc-pixels/{task}", seed=0, view=PixelView(size=size, frame_stack=1, fast_render=fast)
        )
        for kind, fast in KINDS.items()
    }
    for env in envs.values():
        env.reset()
    for action in np.random.default_rng(0).uniform(-1, 1, (20, *env.action_space.shape)):
        images = {kind: env.step(action)[0].astype(float) for kind, env in envs.items()}
    return envs, float(np.abs(images["fast"] - images["faithful"]).mean())


def main():
    names = [task.partition("/")[2] for task in PAPER_PIXEL_TASKS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sizes", type=int, nargs="+", default=[84, 100])
    parser.add_argument("--tasks", nargs="+", default=names)
    arguments = parser.parse_args()
    ratios, rates, differences = {}, {}, {}
    for task in arguments.tasks:
        for size in arguments.sizes:
            envs, differences[f"{task}_{size}"] = environments(task, size)
            runs = {kind: env.frame for kind, env in envs.items()}
            times = measure(runs, rounds=arguments.rounds, seconds=0.1)
            name = f"{task}_{size}"
            ratios[name] = ratio(times, "faithful", "fast")
            rates[name] = {kind: 1 / statistics.median(times[kind]) for kind in KINDS}
            told = ", ".join(f"{kind} {rate:.0f}/s" for kind, rate in rates[name].items())
            print(f"{task} at {size}: {told}, {ratios[name]:.1f}x", flush=True)
            for env in envs.values():
                env.close()
    result = {
        "ratios": {name: round(value, 2) for name, value in ratios.items()},
        "frames_per_second": rates,
        "difference": {name: round(value, 3) for name, value in differences.items()},
        "met": {name: value >= GOAL for name, value in ratios.items()},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
