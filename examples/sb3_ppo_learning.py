"""Does our PPO learn as well as Stable-Baselines3's?  Same task, episodes, sizes, rates, schedule.

Initial weights and order of minibatches are each one's own; the value loss is not clipped in either
(the two clip it in different ways).  A seed that is done is not run again.
"""

import json
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path

import torch
from sb3_ppo import PPOPeer
from study import save_table

from lff.envs.dimensions import dimensions
from lff.stats import AsGood, Row, read_table, write_table
from lff.training import PPOTrainConfig, train
from lff.training.ppo_presets import ppo_config, ppo_preset

NAME = "sb3_ppo_learning"
CLAIM = AsGood(name=NAME, text="Ours learns as well as theirs.", arm="lff", than="sb3")
parser = ArgumentParser(description=__doc__)
parser.add_argument("--out", type=Path, default=Path("runs") / NAME, help="folder to write to")
parser.add_argument("--tasks", nargs="+", default=["gym/HalfCheetah-v5", "gym/Hopper-v5"])
parser.add_argument("--seeds", type=int, default=5)
parser.add_argument("--steps", type=int, default=300_000)
parser.add_argument("--eval-every", type=int, default=25_000)
parser.add_argument("--eval-episodes", type=int, default=5)
arguments = parser.parse_args()


def configure(task, seed):
    obs_dim, action_dim = dimensions(task)
    algo = ppo_config(ppo_preset("laptop"), net="mlp", obs_dim=obs_dim, action_dim=action_dim)
    steps, every = arguments.steps, arguments.eval_every
    schedule = {"eval_every": every, "eval_episodes": arguments.eval_episodes, "log_every": every}
    config = PPOTrainConfig(
        env=task, algo=replace(algo, value_clip=None), steps=steps, seed=seed, **schedule
    )
    return replace(config, compile=config.worth_compiling)


def run(variant, task, seed):
    name = f"{variant}-{task.partition('/')[2]}-{seed}"
    path = arguments.out / f"{name}.csv"
    if not path.exists() or read_table(path)[-1].step != arguments.steps:
        if variant == "lff":
            metrics = train(configure(task, seed), directory=arguments.out / name).metrics_file
            found = [json.loads(line) for line in metrics.read_text().splitlines()]
            curve = [(r["env_step"], r["eval/return"]) for r in found if "eval/return" in r]
        else:
            curve = PPOPeer(configure(task, seed)).curve()
        rows = [Row(NAME, variant, task, seed, step, "return", value) for step, value in curve]
        write_table(path, rows, provenance={"steps": arguments.steps})
    rows = read_table(path)
    print(f"{name:24s}" + " ".join(f"{row.value:7.1f}" for row in rows), flush=True)
    return rows


torch.set_num_threads(1)
torch.set_flush_denormal(True)
arguments.out.mkdir(parents=True, exist_ok=True)
jobs = [(v, t, s) for t in arguments.tasks for s in range(arguments.seeds) for v in ("sb3", "lff")]
rows = [row for job in jobs for row in run(*job)]
save_table(arguments, NAME, rows, seeds=arguments.seeds)
print(CLAIM.judge(rows))
