"""Figure 8 in small: SAC on cheetah-run without a target network, an MLP beside LFF.

Do the MLP's Q-values explode while LFF's stay?  Preset ``laptop``, one seed each: a demonstration,
not a verdict.  Run again, it draws the picture from what is there.
"""

import math
from argparse import ArgumentParser
from pathlib import Path

from running import read_metrics, train_all

from lff.report import new_figure, save_figure, variant_colors

NETS = {"MLP": "mlp", "LFF": "lff"}

parser = ArgumentParser(description=__doc__)
parser.add_argument("--out", type=Path, default=Path("runs/no_target"), help="folder to write to")
parser.add_argument("--steps", type=int, default=15_000, help="environment steps per run")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--env", default="dmc/cheetah-run")
arguments = parser.parse_args()
if arguments.steps < 400:
    parser.error(f"--steps must be 400 or more, got {arguments.steps}; leave it out for 15,000")

options = ["--env", arguments.env, "--target", "none", "--seed", str(arguments.seed)]
options += ["--warmup-steps", str(min(5_000, arguments.steps // 2)), "--log-every", "100"]
options += ["--eval-every", str(max(1, arguments.steps // 5)), "--eval-episodes", "2"]
folders = {name: arguments.out / net for name, net in NETS.items()}
train_all(
    {folder: ["--net", NETS[name], *options] for name, folder in folders.items()},
    steps=arguments.steps,
)

figure, (left, right) = new_figure(2, width=9, height=3.2)
last_q = {}
for name, folder in folders.items():
    rows = read_metrics(folder)
    color = variant_colors(NETS)[name]
    q = [(r["env_step"], r["train/q_max"]) for r in rows if r.get("train/q_max") is not None]
    left.semilogy(*zip(*q, strict=True), color=color, label=name)
    returns = [(r["env_step"], r["eval/return"]) for r in rows if "eval/return" in r]
    right.plot(*zip(*returns, strict=True), color=color, label=name, marker=".")
    (step, last_q[name]), (_, last_return) = q[-1], returns[-1]
    print(f"{name}: largest |Q| {last_q[name]:.3g}, return {last_return:.1f} at step {step:,}")
BOUND = 100.0  # rewards of the Control Suite are at most 1, and 1 / (1 - γ) = 100
left.axhline(BOUND, color="black", linewidth=0.8, linestyle=":", label="1/(1-γ)")
left.set(title="largest |Q|, no target network", xlabel="environment steps")
right.set(title="return", xlabel="environment steps")
left.legend(frameon=False, fontsize=8)

orders = math.log10(last_q["MLP"] / last_q["LFF"])
than = "above" if orders > 0 else "below"
print(f"The MLP's |Q| ends {abs(orders):.1f} orders of magnitude {than} LFF's.")
for name, value in last_q.items():
    verb = "has left" if value > BOUND else "stays within"
    print(f"{name} {verb} what the rewards can give, {BOUND:g}.")
print("picture:", save_figure(figure, arguments.out / "no_target.png"))
