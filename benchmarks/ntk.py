"""Speed and memory of ``empirical_ntk`` against the loop over per-sample Jacobians, in one run.

    python benchmarks/ntk.py [--threads 2] [--rounds 3] [--points 256] [--width 1024]

The loop is what anybody would write: the gradient of every output, flattened, a row each, and J Jᵀ.
"speed" is its time over ours: above 1 we are faster.  Memory is what the process grew by.  The last
line is one JSON object.
"""

import argparse
import json
import resource
import statistics
import time

import torch
from torch import nn

from lff import LFF
from lff.nn import D2RLTrunk, Fourier, NetConfig
from lff.ntk import empirical_ntk

IN = 24
GOAL = 20.0
OTHERS_GOAL = 1.0
BUDGET = 2**30


class Tied(nn.Module):
    """One layer used twice: no structure to use."""

    def __init__(self, width):
        super().__init__()
        self.enter, self.again = nn.Linear(IN, width), nn.Linear(width, width)
        self.leave = nn.Linear(width, 1)

    def forward(self, x):
        hidden = torch.relu(self.again(torch.relu(self.enter(x))))
        return self.leave(torch.relu(self.again(hidden)))


def lff(width):
    return LFF(IN, 1, n_hidden=2, hidden_dim=width, sigma=0.01, fourier_dim=width)


def other_modules(width):
    """Return modules that are not made of Linear and Fourier layers alone, or not plainly."""
    hidden = max(8, width // 4)
    d2rl = NetConfig(Fourier(fourier_dim=hidden, sigma=0.01), D2RLTrunk(hidden=(hidden, hidden)))
    return {
        "layer norm": nn.Sequential(
            nn.Linear(IN, hidden),
            nn.LayerNorm(hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.LayerNorm(hidden),
            nn.ReLU(),
            nn.Linear(hidden, 1),
        ),
        "tied weights": Tied(hidden),
        "convolution": nn.Sequential(
            nn.Unflatten(1, (1, 4, 6)),
            nn.Conv2d(1, 32, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 32, 3, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(32 * IN, 1),
        ),
        "d2rl": d2rl.build(IN, 1),
        "four outputs": nn.Sequential(nn.Linear(IN, hidden), nn.Tanh(), nn.Linear(hidden, 4)),
    }


def loop(module, x):
    """The peer."""
    parameters = [p for p in module.parameters() if p.requires_grad]
    rows = []
    for point in x:
        output = module(point[None])[0]
        grads = [torch.autograd.grad(y, parameters, retain_graph=True) for y in output]
        rows.append(torch.stack([torch.cat([g.flatten() for g in one]) for one in grads]))
    jacobian = torch.stack(rows)
    total = sum(jacobian[:, i] @ jacobian[:, i].mT for i in range(jacobian.shape[1]))
    return total / jacobian.shape[1]


def seconds(run, rounds):
    """Return the time of each round, after one to warm up."""
    run()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return times


def speed(module, x, rounds):
    """Return time of the loop over ours, the two taking turns, and the largest difference."""
    ours, theirs = empirical_ntk(module, x).ntk, loop(module, x)
    gap = ((ours - theirs).abs().max() / theirs.abs().max()).item()
    ratios = []
    for _ in range(rounds):
        mine = statistics.median(seconds(lambda: empirical_ntk(module, x), 3))
        start = time.perf_counter()
        loop(module, x)
        ratios.append((time.perf_counter() - start) / mine)
    return statistics.median(ratios), gap


def grown(run):
    """Return by how many bytes the peak memory of this process grows."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--points", type=int, default=256)
    parser.add_argument("--width", type=int, default=1024)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    points, width, rounds = arguments.points, arguments.width, arguments.rounds
    net, x = lff(width), torch.randn(points, IN)
    many = torch.randn(16 * points, IN)
    empirical_ntk(net, x[:2])  # what is imported and allocated once is no part of it
    memory = {
        "ours": grown(lambda: empirical_ntk(net, x)),
        f"ours, {len(many)} points": grown(lambda: empirical_ntk(net, many, max_bytes=BUDGET)),
        "loop": grown(lambda: loop(net, x)),
    }
    ratios, gaps = {}, {}
    ratios["lff"], gaps["lff"] = speed(net, x, rounds)
    print(f"LFF 2x{width}, {points} points: {ratios['lff']:.1f}x the loop", flush=True)
    for name, module in other_modules(width).items():
        ratios[name], gaps[name] = speed(module, x[: max(2, points // 4)], rounds)
        print(f"{name}: {ratios[name]:.2f}x the loop", flush=True)
    nets = {w: lff(w) for w in (width // 8, width // 4, width // 2, width, 2 * width)}
    curves = {
        "points": {
            n: statistics.median(seconds(lambda n=n: empirical_ntk(net, many[:n]), rounds))
            for n in (points // 4, points, 4 * points, 16 * points)
        },
        "width": {
            w: statistics.median(seconds(lambda net=net: empirical_ntk(net, x), rounds))
            for w, net in nets.items()
        },
    }
    for axis, curve in curves.items():
        told = ", ".join(f"{size}: {1000 * cost:.0f} ms" for size, cost in curve.items())
        print(f"time by {axis}: {told}")
    for name, size in memory.items():
        print(f"memory, {name}: {size / 2**20:.0f} MiB")
    others = [value for name, value in ratios.items() if name != "lff"]
    met = {"lff": ratios["lff"] >= GOAL, "others": min(others) >= OTHERS_GOAL}
    result = {
        "ratios": {name: round(value, 3) for name, value in ratios.items()},
        "largest_difference": max(gaps.values()),
        "seconds": curves,
        "memory": memory,
        "met": met,
        "threads": arguments.threads,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
