"""Figure 2: does LFF filter noise from a Q-function that an MLP of equal size overfits?

A ridge over 64 states x 64 actions, seen through smooth noise (std 0.25, correlation 4.5 cells).
Every arm has the same optimizer, batches and steps, the MLP as many parameters as LFF; none is
tuned.  The control has LFF's waves replaced by their linear limit.
"""

import math

import torch
from fitting import fit, parse_arguments, save_table

from lff import Fourier, MLPTrunk, NetConfig
from lff.figures import draw_curves, draw_grids, new_figure, save_figure
from lff.nn import LinearControl, matched_mlp
from lff.stats import Row
from lff.stats.claims import judge_fig2, judge_fig2_control, judge_fig2_early_stopping

N, SEEDS, STEPS = 64, 5, 600
TRUNK = MLPTrunk(hidden=(256, 256))
LFF = {f"LFF σ={s:g}": NetConfig(Fourier(fourier_dim=256, sigma=s), TRUNK) for s in (0.01, 0.1, 1)}
ARMS = {"MLP": matched_mlp(LFF["LFF σ=0.01"], 2, 1)} | LFF
ARMS["linear control"] = NetConfig(LinearControl(fourier_dim=256, sigma=0.01), TRUNK)

arguments = parse_arguments(__doc__, name="fig2", steps=STEPS)
rng = torch.Generator().manual_seed(0)
state, action = torch.meshgrid(*[torch.linspace(-1, 1, N)] * 2, indexing="ij")
clean = 0.5 * torch.exp(-(((action - 0.6 + 1.2 * state**2) / 0.35) ** 2))
# white noise smoothed by a Gaussian of 2.25 cells is correlated to 1/e at 4.5 cells
frequency = torch.fft.fftfreq(N)
kernel = torch.exp(-2 * (2.25 * math.pi) ** 2 * (frequency[:, None] ** 2 + frequency**2))
noise = torch.fft.ifft2(torch.fft.fft2(torch.randn(SEEDS, N, N, generator=rng)) * kernel).real
noisy = clean + 0.25 * noise / noise.std(dim=(1, 2), keepdim=True)
inputs = torch.stack((state, action), dim=-1).reshape(-1, 2)

rows, surfaces = [], {"true Q": clean, "noisy targets": noisy[0]}
for name, config in ARMS.items():

    def watch(step, outputs, name=name):
        surfaces[name] = outputs[0].reshape(N, N)
        for metric, target in (("error to true Q", clean), ("error to targets", noisy)):
            errors = (outputs.reshape(-1, N, N) - target).square().mean(dim=(1, 2)).tolist()
            rows.extend(
                Row("fig2", name, "ridge", i, step, metric, e) for i, e in enumerate(errors)
            )
        print(
            f"\r{name:15s} {step:4d}/{arguments.steps}  train error {errors[0]:.4f}",
            end="",
            flush=True,
        )

    targets = noisy.reshape(SEEDS, -1, 1)
    fit(config, inputs, targets, steps=arguments.steps, batch=512, every=50, watch=watch)
    print()

save_table(arguments, "fig2", rows, configs=ARMS, seeds=SEEDS)
figure, axes = new_figure(5, width=14, height=2.8, ratios=(1, 1, 1, 1, 1.5))
shown = ("true Q", "noisy targets", "MLP", "LFF σ=0.01")
draw_grids(axes[:4], {title: surfaces[title] for title in shown}, low=-0.3, high=0.9)
draw_curves(axes[4], rows, metric="error to true Q", as_paper=True)
axes[4].set(xlabel="gradient steps", ylim=(0, 0.13))
print("equal training:", judge_fig2(rows))
print("each at its best:", judge_fig2_early_stopping(rows))
print("linear control:", judge_fig2_control(rows))
print("picture:", save_figure(figure, arguments.out / "fig2.png"))
