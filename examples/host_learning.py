"""Does it learn inside other people's trainers?  A host's SAC on Pendulum-v1, LFF beside its MLP.

    python examples/host_learning.py --host sb3

The same host, rates and seeds; the MLP is the host's own, of equal size.  Every --eval-every steps
the mean action plays five episodes.  A seed that is done is not run again.
"""

from argparse import ArgumentParser
from pathlib import Path

import gymnasium
import numpy as np
import torch
from hosts import HOSTS, TASK
from hosts import run as train
from study import save_table

from lff.report import draw_curves, new_figure, save_figure
from lff.stats import Row, read_table, write_table
from lff.stats.claims import judge_learning
from lff.stats.curves import RANDOM

EPISODES = 5


def play(act):
    """Return the mean return of five episodes that always start alike."""
    env, total = gymnasium.make(TASK), 0.0
    for episode in range(EPISODES):
        obs, _ = env.reset(seed=1000 + episode)
        over = False
        while not over:
            obs, reward, terminated, truncated, _ = env.step(act(obs))
            total, over = total + float(reward), terminated or truncated
    return total / EPISODES


def run(host, variant, seed):
    """Return the rows of one seed, from its table if there is one."""
    path = arguments.out / f"{variant.lower()}-{seed}.csv"
    if not path.exists() or read_table(path)[-1].step != arguments.steps:
        curve = train(host, variant, seed, steps=arguments.steps, every=arguments.eval_every)
        values = [(step, play(act)) for step, act in curve]
        rows = [Row(name, variant, TASK, seed, step, "return", value) for step, value in values]
        write_table(path, rows, provenance={"steps": arguments.steps})
    rows = read_table(path)
    print(f"{variant:4s} seed {seed}  " + " ".join(f"{r.value:7.0f}" for r in rows), flush=True)
    return rows


parser = ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--host", choices=HOSTS, default="sb3", help="whose trainer")
parser.add_argument("--out", type=Path, help="folder to write to")
parser.add_argument("--seeds", type=int, default=5)
parser.add_argument("--steps", type=int, default=3000, help="environment steps per run")
parser.add_argument("--eval-every", type=int, default=500)
arguments = parser.parse_args()
if arguments.seeds < 2:
    parser.error(f"--seeds must be 2 or more, got {arguments.seeds}: an interval needs two")
name = f"host_{arguments.host}"
arguments.out = arguments.out or Path("runs") / name
torch.set_num_threads(1)
arms = [(variant, seed) for seed in range(arguments.seeds) for variant in ("MLP", "LFF")]
rows = [row for variant, seed in arms for row in run(arguments.host, variant, seed)]
for seed in range(5):
    draws = np.random.default_rng(seed)
    value = play(lambda _, draws=draws: draws.uniform(-2, 2, size=1).astype(np.float32))
    rows.append(Row(name, RANDOM, TASK, seed, 0, "return", value))
options = f"--host {arguments.host} "
save_table(arguments, name, rows, seeds=arguments.seeds, options=options)
print(judge_learning(rows, arm="LFF", rival="MLP"))
figure, axes = new_figure(1, width=5, height=3)
draw_curves(axes[0], [row for row in rows if row.variant != RANDOM], metric="return", as_paper=True)
title = f"SAC of {arguments.host}, {TASK}, {arguments.seeds} seeds"
axes[0].set(xlabel="environment steps", title=title)
print("picture:", save_figure(figure, arguments.out / f"{name}.png"))
