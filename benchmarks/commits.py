"""Our training loop at several commits, and the peers, in turns: the ladder of speed.

    python benchmarks/commits.py sac --rows b776620="0.1" 4363e16="one config" HEAD="native update"
    python benchmarks/commits.py sac --rows ... --peers rltools sb3 --write results/speed

    sac      HalfCheetah-v5, two hidden layers of 256, batch 256, two threads
    ppo      HalfCheetah-v5, as in ppo_peers.py, one thread
    laptop   preset ``laptop``, cheetah-run, LFF, one thread

Each loop runs in a process of its own with the source of its commit, checked out for the purpose.
A ratio is taken round by round; ``to_before`` is a row's rate over that of the row above it.
``--write`` keeps the JSON and draws docs/images/speed-LOOP.svg; without ``--rows`` it draws the
JSON that is there.  The last line is one JSON object.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

from turns import Contender, median_and_quartiles, take_turns

HERE = Path(__file__).parents[1]
LOOPS = {
    "sac": (2, "sac_peers.py --threads 2 --sizes 256"),
    "ppo": (1, "ppo_peers.py --threads 1"),
    "laptop": (1, "side_by_side.py"),
}


def check_out(commit: str, folder: Path) -> Path:
    """Return a tree with the files of a commit."""
    tree = folder / commit
    tree.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=HERE, capture_output=True, check=True)
    subprocess.run(["tar", "x"], input=archive.stdout, cwd=tree, check=True)
    return tree


def contender(tree: Path, loop: str, name: str = "lff") -> Contender:
    threads, command = LOOPS[loop]
    script, *flags = command.split()
    path = tree / "benchmarks" / script
    if "--sizes" in flags and "--sizes" not in path.read_text():  # 0.1 has this size alone
        flags = flags[: flags.index("--sizes")]
    child = ["--child", "0" if loop == "laptop" else name]
    return Contender(name, [str(path), *child, *flags], threads=threads, source=tree / "src")


def compare(ours: list[float], others: list[float]) -> dict[str, object]:
    speeds = [a / b for a, b in zip(ours, others, strict=True)]
    middle, quartiles = median_and_quartiles(speeds)
    return {"ratio": round(middle, 3), "quartiles": quartiles}


def draw(result: dict, path: Path) -> None:
    """Draw the speed of every row, and of the peers in grey, over the first row's."""
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "lff"  # the same JSON gives the same file
    rows = result["rows"]
    newest = rows[-1]["to_first"]["ratio"]
    peers = {name: newest / found["ratio"] for name, found in rows[-1]["to_peers"].items()}
    labels = [*sorted(peers, key=peers.get), *(f"{r['change']} ({r['commit']})" for r in rows)]
    figure, axes = plt.subplots(figsize=(6.5, 0.32 * len(labels) + 0.8), layout="constrained")
    for place, name in enumerate(labels[: len(peers)]):
        axes.barh(place, peers[name], color="#6b7280", height=0.7)
    for place, row in enumerate(rows, len(peers)):
        axes.barh(place, row["to_first"]["ratio"], color="#0b6bcb", height=0.7)
        axes.plot(row["to_first"]["quartiles"], [place, place], color="black", lw=1.2)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_xlabel(f"environment steps per second, over those of {rows[0]['commit']}")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, **({"metadata": {"Date": None}} if path.suffix == ".svg" else {}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("loop", choices=tuple(LOOPS))
    parser.add_argument("--rows", nargs="+", default=[], help="COMMIT=what changed")
    parser.add_argument("--peers", nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=2.5, help="least length of a slice")
    parser.add_argument("--write", type=Path, help="folder of the JSON")
    arguments = parser.parse_args()
    image = HERE / "docs" / "images" / f"speed-{arguments.loop}.svg"
    if not arguments.rows:
        if arguments.write is None:
            parser.error("--rows must name commits, or --write the folder of a JSON to draw")
        draw(json.loads((arguments.write / f"{arguments.loop}.json").read_text()), image)
        return
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for text in arguments.rows:
            name, _, change = text.partition("=")
            commit = subprocess.check_output(
                ["git", "rev-parse", "--short=7", name], cwd=HERE, text=True
            ).strip()
            tree = check_out(commit, Path(folder))
            rows.append((commit, change, contender(tree, arguments.loop)))
            print(f"  {commit} is warm", flush=True)
        peers = [contender(HERE, arguments.loop, peer) for peer in arguments.peers]
        everyone = [one for *_, one in rows] + peers
        take_turns(everyone, rounds=arguments.rounds, seconds=arguments.seconds)
    result = {
        "loop": arguments.loop,
        "rounds": arguments.rounds,
        "rows": [
            {
                "commit": commit,
                "change": change,
                "to_before": compare(one.rates, rows[max(0, place - 1)][2].rates),
                "to_first": compare(one.rates, rows[0][2].rates),
                "to_peers": {peer.name: compare(one.rates, peer.rates) for peer in peers},
            }
            for place, (commit, change, one) in enumerate(rows)
        ],
    }
    if arguments.write:
        arguments.write.mkdir(parents=True, exist_ok=True)
        text = json.dumps(result, indent=1) + "\n"
        (arguments.write / f"{arguments.loop}.json").write_text(text)
        draw(result, image)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
