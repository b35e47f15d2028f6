"""SAC from pixels against a RAD-style loop: the update, the whole step, and where time goes.

    python benchmarks/pixel_peers.py [--threads 1] [--rounds 9] [--settings 84 28] [--parts ...]

update     two updates, one of them with actor and temperature, on one batch
step       two steps: act, four frames of cheetah-run and an image, store, sample, augment, update;
           ``fast_render`` on both sides
breakdown  shares of our step, and of one forward and backward pass of the critics
memory     the highest resident memory of two updates above what was there before them

"84" has the paper's sizes (84 x 84 cut from 100 x 100, F = 64, 32 filters, 1024 units) and the
batches of its code, 128; "28" is the preset ``laptop``.  Both start from the same weights, in one
process, and take turns; compilation and warm-up are not counted.  A ratio is their time over ours:
``ratios`` by the wall's clock, ``cpu`` by processor time, which other programs disturb less.  The
last line is one JSON object.
"""

import argparse
import json
import statistics

import torch
from pixel_loops import Ours, Rad, Setting, fill, random_batch
from pixel_memory import peak_of_update, peaks
from pixel_shares import pass_shares, step_shares
from pixel_turns import Clocks, take_turns
from turns import median_and_quartiles

GOALS = {"update_84": 1.5, "step_84": 1.4}
PARTS = ("update", "step", "breakdown", "memory")
FILLED = 2
"""Batches in the replay before the first step."""


def compare(
    name: str, times: dict[str, list[Clocks]], peer: str = "rad"
) -> dict[str, dict[str, object]]:
    """Return and print median and quartiles of their time over each of ours."""
    found: dict[str, dict[str, object]] = {"ratios": {}, "spread": {}, "cpu": {}, "seconds": {}}
    for who, own in times.items():
        found["seconds"][f"{name}_{who}"] = round(statistics.median(t.cpu for t in own), 4)
        if who == peer:
            continue
        key = name if who == "ours" else f"{name}_{who}"
        pairs = list(zip(times[peer], own, strict=True))
        wall, found["spread"][key] = median_and_quartiles([a.wall / b.wall for a, b in pairs])
        cpu, quartiles = median_and_quartiles([a.cpu / b.cpu for a, b in pairs])
        found["ratios"][key], found["cpu"][key] = round(wall, 3), [round(cpu, 3), *quartiles]
        spread = found["spread"][key]
        print(f"  {key:18s} {wall:5.2f}x {spread}, by cpu time {cpu:5.2f}x {quartiles}", flush=True)
    return found


def update_times(setting: Setting, *, rounds: int, compiled: bool) -> dict[str, list[Clocks]]:
    ours, rad = Ours(setting, compiled=compiled), Rad(setting)
    rad.agent.load(ours.agent)
    batch = random_batch(setting)
    theirs = rad.as_batch(batch)
    runs = {"ours": lambda: ours.update_pair(batch), "rad": lambda: rad.update_pair(theirs)}
    if compiled:
        eager = Ours(setting, compiled=False)
        runs["eager"] = lambda: eager.update_pair(batch)
    return take_turns(runs, rounds=rounds)


def loops(setting: Setting, *, compiled: bool) -> tuple[Ours, Rad]:
    """Return both with environment and filled replay."""
    ours, rad = Ours(setting, compiled=compiled), Rad(setting)
    rad.agent.load(ours.agent)
    for loop in (ours, rad):
        fill(loop, FILLED * setting.run.algo.batch_size)
    return ours, rad


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--settings", nargs="+", choices=("84", "28", "20"), default=["84", "28"])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=[*PARTS])
    parser.add_argument("--task", default="cheetah-run")
    parser.add_argument("--eager", action="store_true", help="ours uncompiled")
    parser.add_argument("--child", choices=("ours", "eager", "rad"), help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    compiled, rounds = not arguments.eager, arguments.rounds
    if arguments.child:
        setting = Setting.of(arguments.settings[0], arguments.task)
        print(peak_of_update(setting, arguments.child))
        return
    result: dict[str, dict[str, object]] = {}
    for name in arguments.settings:
        setting = Setting.of(name, arguments.task)
        found: list[dict[str, dict[str, object]]] = []
        if "update" in arguments.parts:
            times = update_times(setting, rounds=rounds, compiled=compiled)
            found.append(compare(f"update_{name}", times))
        if {"step", "breakdown"} & {*arguments.parts}:
            ours, rad = loops(setting, compiled=compiled)
            times = take_turns({"ours": ours.step_pair, "rad": rad.step_pair}, rounds=rounds)
            found.append(compare(f"step_{name}", times))
            if "breakdown" in arguments.parts:
                found.append({"shares": {f"step_{name}": step_shares(ours, rad)}})
                found.append({"shares": {f"pass_{name}": pass_shares(ours, rounds=rounds)}})
            ours.close()
            rad.close()
        if "memory" in arguments.parts:
            kinds = ("ours", "eager", "rad") if compiled else ("eager", "rad")
            command = [__file__, "--settings", name, "--threads", str(arguments.threads)]
            command += ["--task", arguments.task]
            found.append({"peak_mib": {name: peaks(command, kinds)}})
        for part in found:
            for key, values in part.items():
                result.setdefault(key, {}).update(values)
    ratios = result.get("ratios", {})
    met = {key: ratios[key] >= goal for key, goal in GOALS.items() if key in ratios}
    print(json.dumps({**result, "met": met, "threads": arguments.threads, "rounds": rounds}))


if __name__ == "__main__":
    main()
