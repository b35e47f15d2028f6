"""Speed of the layer, the networks and the ensemble against plain peers, in one interleaved run.

    python benchmarks/layer.py [--threads 2] [--rounds 31]

Forward and backward every time.  "speed" is the peer's time over ours: above 1 we are faster.
The last line is one JSON object.
"""

import json
import math

import torch
import torch.nn.functional as F
from interleaved import measure, ratio, set_up
from torch import nn

from lff import LFF, MLP, Ensemble, LearnedFourierFeatures, match_width

IN = 24
BATCHES, FOURIER_DIMS = (1, 32, 256, 1024), (64, 256, 1024)
EAGER_GOAL, COMPILED_GOAL, NETWORK_GOAL = 0.95, 1.5, 1.15


def plain(x, B):
    """The peer: what anybody would write."""
    p = 2 * math.pi * F.linear(x, B)
    return torch.cat([torch.sin(p), torch.cos(p), x], dim=-1)


def backward_of(function, x, width):
    gradient = torch.randn(*function(x).shape[:-1], width)
    return lambda: function(x).backward(gradient)


def layer_speeds(rounds):
    """Yield (mode, batch, F, speed against the plain expression in eager mode)."""
    for batch in BATCHES:
        for fourier_dim in FOURIER_DIMS:
            torch.compiler.reset()  # every size is a new program: no limit on recompilations
            layer = LearnedFourierFeatures(IN, fourier_dim, sigma=0.01)
            B = nn.Parameter(layer.B.detach().clone())
            x, width = torch.randn(batch, IN), layer.out_features
            runs = {
                "plain": backward_of(lambda x, B=B: plain(x, B), x, width),
                "eager": backward_of(layer, x, width),
                "compiled": backward_of(
                    torch.compile(layer, fullgraph=True, dynamic=False), x, width
                ),
            }
            times = measure(runs, rounds=rounds, seconds=0.04)
            for mode in ("eager", "compiled"):
                yield mode, batch, fourier_dim, ratio(times, "plain", mode)


def network_costs(rounds):
    """Yield (mode, width, time of LFF over time of the parameter-matched MLP)."""
    for width in (256, 1024):
        torch.compiler.reset()
        lff = LFF(IN, 1, n_hidden=2, hidden_dim=width, sigma=0.01, fourier_dim=width)
        mlp = MLP(IN, 1, n_hidden=3, hidden_dim=width, first_dim=match_width(lff))
        x = torch.randn(width, IN)
        for mode in ("eager", "compiled"):
            make = (lambda m: m) if mode == "eager" else torch.compile
            runs = {name: backward_of(make(m), x, 1) for name, m in (("lff", lff), ("mlp", mlp))}
            yield mode, width, ratio(measure(runs, rounds=rounds, seconds=0.1), "lff", "mlp")


def ensemble_speeds(rounds):
    """Yield (mode, width, speed of two stacked critics against the loop over them)."""
    for width in (128, 256, 1024):
        torch.compiler.reset()
        sizes = {"n_hidden": 2, "hidden_dim": width, "sigma": 0.01, "fourier_dim": width}
        members = nn.ModuleList(LFF(IN, 1, **sizes) for _ in range(2))
        ensemble = Ensemble(list(members))
        x = torch.randn(width, IN)

        def loop(x, members=members):
            return torch.stack([member(x) for member in members])

        for mode in ("eager", "compiled"):
            wrap = (lambda m: m) if mode == "eager" else torch.compile
            runs = {
                "loop": backward_of(wrap(loop), x, 1),
                "ensemble": backward_of(wrap(ensemble), x, 1),
            }
            times = measure(runs, rounds=rounds, seconds=0.1)
            yield mode, width, ratio(times, "loop", "ensemble")


def main():
    arguments = set_up(__doc__)
    ratios = {}
    print("layer, speed against cat([sin(p), cos(p), x])")
    for mode, batch, fourier_dim, speed in layer_speeds(arguments.rounds):
        ratios[f"layer_{mode}_b{batch}_F{fourier_dim}"] = round(speed, 3)
        print(f"  {mode:8s} batch {batch:4d}  F {fourier_dim:4d}  {speed:5.2f}x", flush=True)
    print("network, time of LFF over time of the matched MLP (batch = width = F)")
    for mode, width, cost in network_costs(arguments.rounds):
        ratios[f"network_{mode}_{width}"] = round(cost, 3)
        print(f"  {mode:8s} width {width:4d}  {cost:5.2f}x", flush=True)
    print("two critics, speed of the ensemble against the loop (batch = width = F)")
    for mode, width, speed in ensemble_speeds(arguments.rounds):
        ratios[f"ensemble_{mode}_{width}"] = round(speed, 3)
        print(f"  {mode:8s} width {width:4d}  {speed:5.2f}x", flush=True)
    eager = [v for k, v in ratios.items() if k.startswith("layer_eager")]
    met = {
        "layer_eager": min(eager) >= EAGER_GOAL,
        "layer_compiled": ratios["layer_compiled_b1024_F1024"] >= COMPILED_GOAL,
        "network_compiled": max(ratios[f"network_compiled_{w}"] for w in (256, 1024))
        <= NETWORK_GOAL,
    }
    print(json.dumps({"ratios": ratios, "met": met, "threads": arguments.threads}))


if __name__ == "__main__":
    main()
