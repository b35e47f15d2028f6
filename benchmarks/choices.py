"""The alternatives that were tried and not taken, against what stands, in one interleaved run.

    python benchmarks/choices.py [--threads 2] [--rounds 31]

Forward and backward; "speed" is the alternative's time over ours: above 1 ours is faster.
The last line is one JSON object.
"""

import copy
import json
import math

import torch
import torch.nn.functional as F
from interleaved import measure, ratio, set_up
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

from lff import LFF, Ensemble

IN, TWO_PI = 24, 2 * math.pi


def features(phase, x):
    return torch.cat((phase.sin(), phase.cos(), x), dim=-1)


def factor_speeds(rounds):
    """Where 2π goes: on the phase, on B, inside the product; ours: on x."""
    for batch, fourier_dim in ((1, 256), (256, 256), (1024, 1024)):
        B = nn.Parameter(0.01 * torch.randn(fourier_dim // 2, IN))
        x, gradient = torch.randn(batch, IN), torch.randn(batch, fourier_dim + IN)
        forms = {
            "on_x": lambda x, B=B: F.linear(TWO_PI * x, B),
            "on_phase": lambda x, B=B: TWO_PI * F.linear(x, B),
            "on_B": lambda x, B=B: F.linear(x, TWO_PI * B),
            "in_addmm": lambda x, B=B: torch.addmm(x.new_zeros(()), x, B.T, beta=0, alpha=TWO_PI),
        }
        runs = {
            name: (lambda f=f, x=x, g=gradient: features(f(x), x).backward(g))
            for name, f in forms.items()
        }
        times = measure(runs, rounds=rounds)
        for name in list(forms)[1:]:
            yield f"factor_{name}_b{batch}_F{fourier_dim}", ratio(times, name, "on_x")


def ensemble_speeds(rounds):
    """Two critics by vmap over stacked parameters, and with weights as nn.Linear has them."""
    for width in (128, 256):
        sizes = {"n_hidden": 2, "hidden_dim": width, "sigma": 0.01, "fourier_dim": width}
        members = [LFF(IN, 1, **sizes) for _ in range(2)]
        ensemble = Ensemble(members)
        state, _ = stack_module_state(members)
        state = {name: nn.Parameter(value.detach()) for name, value in state.items()}
        template = copy.deepcopy(members[0]).to("meta")
        x = torch.randn(width, IN)

        def by_vmap(x, state=state, template=template):
            return vmap(lambda s: functional_call(template, s, (x,)))(state)

        def by_loop(x, members=members):
            return torch.stack([member(x) for member in members])

        weight = nn.Parameter(torch.randn(2, width, width))
        bias, y = nn.Parameter(torch.zeros(2, 1, width)), torch.randn(2, width, width)
        runs = {
            "ensemble": lambda e=ensemble, x=x: e(x).sum().backward(),
            "vmap": lambda f=by_vmap, x=x: f(x).sum().backward(),
            "loop": lambda f=by_loop, x=x: f(x).sum().backward(),
            "in_out": lambda w=weight, b=bias, y=y: torch.baddbmm(b, y, w).sum().backward(),
            "out_in": lambda w=weight, b=bias, y=y: torch.baddbmm(b, y, w.mT).sum().backward(),
        }
        times = measure(runs, rounds=rounds)
        yield f"critics_vmap_{width}", ratio(times, "vmap", "ensemble")
        yield f"critics_loop_{width}", ratio(times, "loop", "ensemble")
        yield f"weights_out_in_{width}", ratio(times, "out_in", "in_out")


def main():
    arguments = set_up(__doc__)
    ratios = {}
    for part in (factor_speeds, ensemble_speeds):
        for name, speed in part(arguments.rounds):
            ratios[name] = round(speed, 3)
            print(f"  {name:30s} {speed:5.2f}x", flush=True)
    print(json.dumps({"ratios": ratios, "threads": arguments.threads}))


if __name__ == "__main__":
    main()
