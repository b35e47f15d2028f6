"""Our training loop at this commit against the same loop at another one, in turns.

    git worktree add ../before COMMIT
    python benchmarks/commits.py ../before sac [--rounds 12] [--seconds 3]

    sac      HalfCheetah-v5, two hidden layers of 256, batch 256, two threads
    ppo      HalfCheetah-v5, as in ppo_peers.py, one thread
    laptop   preset ``laptop``, cheetah-run, LFF, one thread

Each loop runs in a process of its own with the source of its tree.  A ratio is the rate of this
commit over that of the other in the same round.  The last line is one JSON object.
"""

import argparse
import json
from pathlib import Path

from turns import Contender, median_and_quartiles

HERE = Path(__file__).parents[1]
LOOPS = {
    "sac": (2, "sac_peers.py --child lff --threads 2 --sizes 256"),
    "ppo": (1, "ppo_peers.py --child lff --threads 1"),
    "laptop": (1, "side_by_side.py --child 0"),
}


def contender(tree: Path, loop: str) -> Contender:
    threads, command = LOOPS[loop]
    script, *flags = command.split()
    path = tree / "benchmarks" / script
    if "--sizes" in flags and "--sizes" not in path.read_text():  # 0.1 has this size alone
        flags = flags[: flags.index("--sizes")]
    return Contender(str(tree), [str(path), *flags], threads=threads, source=tree / "src")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, help="a work tree of the other commit")
    parser.add_argument("loops", nargs="+", choices=tuple(LOOPS))
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=3.0)
    arguments = parser.parse_args()
    ratios, spread = {}, {}
    for loop in arguments.loops:
        both = [contender(HERE, loop), contender(arguments.before.resolve(), loop)]
        for turn in range(arguments.rounds):
            for one in both if turn % 2 else reversed(both):
                one.start(arguments.seconds)
                one.finish()
        for one in both:
            one.stop()
        speeds = [a / b for a, b in zip(both[0].rates, both[1].rates, strict=True)]
        middle, spread[loop] = median_and_quartiles(speeds)
        ratios[loop] = round(middle, 3)
        print(f"  {loop:8s} {middle:5.2f}x  quartiles {spread[loop]}", flush=True)
    print(json.dumps({"ratios": ratios, "spread": spread, "rounds": arguments.rounds}))


if __name__ == "__main__":
    main()
