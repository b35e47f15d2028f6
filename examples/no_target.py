"""Figure 8 in small: SAC on cheetah-run without a target network, an MLP beside LFF.

Do the MLP's Q-values explode while LFF's stay?  Preset ``laptop``, one seed each: a demonstration,
not a verdict.  Run again, it draws the figure from the finished runs.
"""

import math
from argparse import ArgumentParser
from pathlib import Path

import lff.experiments
from lff.experiments.grids import Training
from lff.experiments.measured import Q_MAX, RETURN
from lff.experiments.spec import Experiment, Panel, baseline, ours
from lff.report import save_figure

BOUND = 100.0  # rewards of the Control Suite are at most 1, and 1 / (1 - γ) = 100

parser = ArgumentParser(description=__doc__)
parser.add_argument("--out", type=Path, default=Path("runs/no_target"), help="folder to write to")
parser.add_argument("--steps", type=int, default=15_000, help="environment steps per run")
parser.add_argument("--env", default="dmc/cheetah-run")
arguments = parser.parse_args()
if arguments.steps < 400:
    parser.error(f"--steps must be 400 or more, got {arguments.steps}; leave it out for 15,000")

demo = Experiment(
    name="no_target",
    title="Do the MLP's Q-values explode while LFF's stay?",
    source="Figure 8",
    arms={"MLP": baseline(net="mlp", target="none"), "LFF": ours(target="none")},
    grid=Training(laptop=(arguments.env,), steps=arguments.steps, seeds=1, episodes=2, looks=30),
    metrics=(RETURN, Q_MAX),
    panels=(Panel(Q_MAX, log=True, line=BOUND, line_label="1/(1-γ)"), Panel(RETURN)),
)
result = lff.experiments.run(demo, dir=arguments.out / "jobs", results=arguments.out)
last = {(row.variant, row.metric): row for row in result.table}
q = {name: last[name, Q_MAX.title] for name in demo.arms}
for name, row in q.items():
    earned = last[name, RETURN.title].value
    print(f"{name}: largest |Q| {row.value:.3g}, return {earned:.1f} at step {row.step:,}")
orders = math.log10(q["MLP"].value / q["LFF"].value)
than = "above" if orders > 0 else "below"
print(f"The MLP's |Q| ends {abs(orders):.1f} orders of magnitude {than} LFF's.")
for name, row in q.items():
    verb = "has left" if row.value > BOUND else "stays within"
    print(f"{name} {verb} what the rewards can give, {BOUND:g}.")
print("figure:", save_figure(result.figure(), arguments.out / "no_target.png"))
