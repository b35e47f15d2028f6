"""Figure 1 (right): does σ set how fine a detail the network fits?

Sixteen noisy points of a slow wave on [-1, 1], fitted by networks that differ in σ alone; twenty
draws of the noise.  Expected: a larger σ fits the points better and its curve swings more.
"""

import torch
from fitting import fit, parse_arguments, save_table

from lff import Fourier, MLPTrunk, NetConfig
from lff.figures import color_of, new_figure, save_figure
from lff.stats import Row
from lff.stats.claims import judge_fig1

SIGMAS, SEEDS, POINTS, STEPS = (0.01, 0.1, 1.0), 20, 16, 2000

arguments = parse_arguments(__doc__, name="fig1", steps=STEPS)
rng = torch.Generator().manual_seed(0)
x = torch.linspace(-1, 1, POINTS)[:, None]
dense = torch.linspace(-1, 1, 401)[:, None]
truth = (torch.pi * dense).sin()
targets = (torch.pi * x).sin() + 0.3 * torch.randn(SEEDS, POINTS, 1, generator=rng)

trunk = MLPTrunk(hidden=(256, 256))
configs = {
    f"LFF σ={sigma:g}": NetConfig(Fourier(fourier_dim=256, sigma=sigma), trunk) for sigma in SIGMAS
}
everywhere = torch.cat((x, dense))
rows, names, shown = [], list(configs), {}
for name in names:

    def watch(step, curves, name=name):
        curves, fitted = curves[:, POINTS:, 0], curves[:, :POINTS]
        measured = {
            "train error": (fitted - targets).square().mean(dim=(1, 2)),
            "total variation": curves.diff(dim=1).abs().sum(dim=1),
            "error to truth": (curves - truth[:, 0]).square().mean(dim=1),
        }
        for metric, values in measured.items():
            for seed, value in enumerate(values.tolist()):
                rows.append(Row("fig1", name, "sine", seed, step, metric, value))
        shown[name, step] = curves[0]
        print(f"\r{name:12s} {step:4d}/{arguments.steps}", end="", flush=True)

    schedule = {"steps": arguments.steps, "every": 100}
    fit(configs[name], x, targets, **schedule, watch=watch, look_at=everywhere)
    print()

figure, axes = new_figure(len(SIGMAS), width=10, height=2.8)
for axis, name in zip(axes, names, strict=True):
    axis.plot(dense, truth, color="#bbbbbb", label="truth")
    for step, style in ((min(100, arguments.steps), ":"), (arguments.steps, "-")):
        color = color_of(name, names)
        axis.plot(dense, shown[name, step], style, color=color, label=f"after {step} steps")
    axis.plot(x, targets[0], "k.", label="noisy points")
    axis.set(title=name, ylim=(-2, 2))
axes[0].legend(frameon=False, fontsize=8)

save_table(arguments, "fig1", rows, configs=configs, seeds=SEEDS)
print("all σ:", judge_fig1(rows))
print("the two larger σ:", judge_fig1(rows, above=0.1))
print("picture:", save_figure(figure, arguments.out / "fig1.png"))
