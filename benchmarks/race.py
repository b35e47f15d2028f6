"""A race of training loops against ours: command line, rounds, ratios, and one JSON object."""

import argparse
import json
from collections.abc import Callable, Mapping

from turns import Contender, median_and_quartiles, take_turns


def race(
    script: str,
    run_child: Callable[..., None],
    *,
    goals: Mapping[str, float],
    about: str | None,
    threads: int,
    seconds: float,
    steps_per_tick: int = 1,
) -> None:
    """Let ours and the peers take turns, and print our rate over each peer's.

    Args:
        script: the file that was started; each child is it again with ``--child NAME``.
        run_child: runs the loop of a name, with ``threads`` and, if ours, ``compiled``.
        goals: the peers, and how many times as fast as each ours is meant to be.
        about: the text of ``--help``.
        threads: threads of each loop unless ``--threads`` says otherwise.
        seconds: length of a slice unless ``--seconds`` says otherwise.
        steps_per_tick: environment steps between two looks at the clock.
    """
    arguments = _parse(about, goals, threads=threads, seconds=seconds)
    if arguments.child:
        run_child(arguments.child, threads=arguments.threads, compiled=not arguments.eager)
        return
    flags = ["--threads", str(arguments.threads), *(["--eager"] if arguments.eager else [])]
    contenders = []
    for name in ("lff", *arguments.peers):
        command = [script, "--child", name, *flags]
        contenders.append(Contender(name, command, threads=arguments.threads))
        print(f"  {name} is warm", flush=True)
    take_turns(contenders, rounds=arguments.rounds, seconds=arguments.seconds)
    ours, *peers = contenders
    ratios, spread, rates = {}, {}, {}
    for contender in contenders:
        rate = median_and_quartiles(contender.rates)[0]
        rates[contender.name] = round(steps_per_tick * rate, 1)
    for peer in peers:
        speeds = [a / b for a, b in zip(ours.rates, peer.rates, strict=True)]
        middle, spread[peer.name] = median_and_quartiles(speeds)
        ratios[peer.name] = round(middle, 3)
        print(f"  {peer.name:8s} {middle:5.2f}x  quartiles {spread[peer.name]}")
    met = {name: speed >= goals[name] for name, speed in ratios.items()}
    result = {"ratios": ratios, "spread": spread, "steps_per_second": rates, "met": met}
    print(json.dumps({**result, "threads": arguments.threads, "rounds": arguments.rounds}))


def _parse(
    about: str | None, goals: Mapping[str, float], *, threads: int, seconds: float
) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--threads", type=int, default=threads)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=seconds, help="least length of a slice")
    parser.add_argument("--peers", nargs="+", choices=tuple(goals), default=list(goals))
    parser.add_argument("--eager", action="store_true", help="ours uncompiled")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()
