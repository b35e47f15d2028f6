"""Figure 5 in small: does LFF learn cheetah-run faster than an MLP of equal size?

Preset ``laptop``, five seeds each, nothing tuned.  A run that is done is not run again, and an
interrupted one goes on.
"""

from argparse import ArgumentParser
from pathlib import Path

from running import read_metrics, train_all
from study import save_table

from lff.report import draw_curves, new_figure, save_figure
from lff.stats import Row
from lff.stats.claims import judge_learning

NETS = {"MLP": "mlp", "LFF": "lff"}
METRICS = {"eval/return": "return", "train/q_mean": "mean Q", "lff/critic_B_std": "std of B"}

parser = ArgumentParser(description=__doc__)
parser.add_argument("--out", type=Path, default=Path("runs/cheetah"), help="folder to write to")
parser.add_argument("--env", default="dmc/cheetah-run", help="another task")
parser.add_argument("--steps", type=int, default=60_000, help="environment steps per run")
parser.add_argument("--seeds", type=int, default=5)
parser.add_argument("--episodes", type=int, default=5, help="episodes of an evaluation")
arguments = parser.parse_args()
if arguments.steps < 240 or arguments.seeds < 2:
    parser.error("--steps must be 240 or more and --seeds 2 or more; leave them out for 60,000, 5")

options = [
    "--env",
    arguments.env,
    "--eval-every",
    str(arguments.steps // 12),
    "--eval-episodes",
    str(arguments.episodes),
]
options += ["--warmup-steps", str(min(5_000, arguments.steps // 2))]
options += ["--checkpoint-every", str(arguments.steps // 3)]
runs = {
    (name, seed): arguments.out / f"{net}-{seed}"
    for seed in range(arguments.seeds)
    for name, net in NETS.items()
}
train_all(
    {
        folder: ["--net", NETS[name], "--seed", str(seed), *options]
        for (name, seed), folder in runs.items()
    },
    steps=arguments.steps,
)
rows = [
    Row("cheetah", name, arguments.env, seed, row["env_step"], title, row[metric])
    for (name, seed), folder in runs.items()
    for row in read_metrics(folder)
    for metric, title in METRICS.items()
    if row.get(metric) is not None and row["env_step"] % (arguments.steps // 12) == 0
]
save_table(arguments, "cheetah", rows, seeds=arguments.seeds)
figure, axes = new_figure(3, width=11, height=3.0)
for axis, title in zip(axes, METRICS.values(), strict=True):
    names = list(NETS) if title != "std of B" else ["LFF"]
    draw_curves(axis, rows, metric=title, variants=names, as_paper=True)
    axis.locator_params(axis="x", nbins=4)
    axis.set(xlabel="environment steps", title=f"{arguments.env}, {arguments.seeds} seeds")
print(judge_learning(rows, arm="LFF", rival="MLP"))
print("picture:", save_figure(figure, arguments.out / "cheetah.png"))
