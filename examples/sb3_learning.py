"""Does it learn as well as it runs?  cheetah-run: our MLP beside Stable-Baselines3's SAC.

Same task, episodes, sizes, rates, schedule and evaluations; initial weights and the form of the
losses are each one's own.  A seed that is done is not run again.
"""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path

import torch
from sb3_peer import Peer
from study import save_table

from lff.envs import make
from lff.stats import Row, read_table, write_table
from lff.stats.claims import judge_learning
from lff.training import TrainConfig, preset, sac_config, train

NAME, TASK = "sb3_learning", "dmc/cheetah-run"


def parse_arguments():
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs") / NAME, help="folder to write to")
    parser.add_argument("--ours", type=Path, help="folder that has our runs mlp-SEED already")
    parser.add_argument("--arm", choices=("both", "lff", "sb3"), default="both")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--eval-every", type=int, default=5_000)
    parser.add_argument("--eval-episodes", type=int, default=5)
    return parser.parse_args()


def configure(seed):
    env = make(TASK, seed=0)
    sizes = {"obs_dim": env.observation_space.shape[0], "action_dim": env.action_space.shape[0]}
    return TrainConfig(
        env=TASK,
        algo=sac_config(preset("laptop", TASK), actor="mlp", critic="mlp", **sizes),
        steps=arguments.steps,
        seed=seed,
        warmup_steps=min(5_000, arguments.steps // 2),
        eval_every=arguments.eval_every,
        eval_episodes=arguments.eval_episodes,
        compile=arguments.steps >= 20_000,
    )


def ours(seed):
    folder = (arguments.ours or arguments.out) / f"mlp-{seed}"
    if not arguments.ours:
        train(configure(seed), directory=folder)
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [(r["env_step"], r["eval/return"]) for r in rows if "eval/return" in r]


def run(variant, seed):
    """Return the rows of one seed of one arm, from its table if there is one."""
    path = arguments.out / f"{variant}-{seed}.csv"
    if not path.exists() or read_table(path)[-1].step != arguments.steps:
        curve = ours(seed) if variant == "lff" else Peer(configure(seed)).curve()
        curve = [(step, value) for step, value in curve if step <= arguments.steps]
        if not curve or curve[-1][0] != arguments.steps:
            sys.exit(f"seed {seed} of {variant} has not reached {arguments.steps:,} steps")
        rows = [Row(NAME, variant, TASK, seed, step, "return", value) for step, value in curve]
        write_table(path, rows, provenance={"steps": arguments.steps})
    rows = read_table(path)
    print(f"{variant:4s} seed {seed}  " + " ".join(f"{row.value:6.1f}" for row in rows), flush=True)
    return rows


arguments = parse_arguments()
torch.set_num_threads(1)
torch.set_flush_denormal(True)
arms = ("sb3", "lff") if arguments.arm == "both" else (arguments.arm,)
rows = [row for arm in arms for seed in range(arguments.seeds) for row in run(arm, seed)]
if arguments.arm == "both":
    save_table(arguments, NAME, rows, seeds=arguments.seeds)
    print(judge_learning(rows, arm="lff", rival="sb3"))
