"""Where the time goes: parts of a step, and parts of a pass through the critics."""

import math
import statistics
from collections.abc import Callable

import torch
from pixel_loops import Loop, Ours, random_batch
from pixel_turns import take_turns
from torch import Tensor
from torch.func import functional_call, grad

from lff.algos.off_policy import critic_loss


def step_shares(*loops: Loop) -> dict[str, dict[str, float]]:
    """Return milliseconds of processor time of the parts of a step, by loop."""
    found = {}
    for loop in loops:
        name = type(loop).__name__.lower()
        found[name] = {
            part: round(1e3 * statistics.mean(t.cpu for t in times[2:]), 2)
            for part, times in loop.spent.items()
        }
        text = ", ".join(f"{part} {ms:.1f}" for part, ms in found[name].items())
        print(f"  ms of a step, {name}: {text}", flush=True)
    return found


def pass_shares(loop: Ours, *, rounds: int) -> dict[str, float]:
    """Return milliseconds that each stage adds to one forward and backward pass of the critics.

    Uncompiled: a compiled pass has no such seams.  "optimizer" is Adam of the critics and the
    target's move.
    """
    agent, batch = loop.agent, random_batch(loop.setting)
    critics = agent.critics
    encoder = critics.encoder
    first, *later = encoder.convolutions
    stages: dict[str, Callable[[Tensor], Tensor]] = {"embedding": encoder.front}
    stages["first convolution"] = lambda x: first(encoder.front(x))
    stages["later convolutions"] = lambda x: _run(later, first(encoder.front(x)))
    scaled = encoder._scale(batch.obs)
    parameters = dict(critics.named_parameters())

    def gradient(stage: Callable[[Tensor], Tensor]) -> Callable[[], object]:
        class Whole(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.critic = critics

            def forward(self) -> Tensor:
                return stage(scaled).mean()

        whole = Whole()
        names = {f"critic.{name}": p for name, p in parameters.items()}
        return lambda: grad(lambda p: functional_call(whole, p, ()))(names)

    runs = {name: gradient(stage) for name, stage in stages.items()}
    target_q = torch.zeros(len(batch.reward))

    def all_of_it(p: dict[str, Tensor]) -> Tensor:
        q = functional_call(critics, p, (scaled, batch.action))
        return critic_loss(q.squeeze(-1), target_q)

    runs["heads"] = lambda: grad(all_of_it)(parameters)
    slopes = {name: torch.zeros_like(p) for name, p in parameters.items()}

    def optimize() -> None:
        agent.critic.adam.step(slopes)
        for average in agent._averages.values():
            average.move()

    runs["optimizer"] = optimize
    with torch.no_grad():
        times = take_turns(runs, rounds=rounds)
    found, before = {}, 0.0
    for name, clocks in times.items():
        total = 1e3 * statistics.median(t.cpu for t in clocks)
        found[name] = round(total if name == "optimizer" else total - before, 2)
        before = total
    whole = math.fsum(found.values())
    text = ", ".join(f"{name} {ms:.1f} ({ms / whole:.0%})" for name, ms in found.items())
    print(f"  ms of a pass, eager: {text}", flush=True)
    return found


def _run(layers: list[torch.nn.Module], x: Tensor) -> Tensor:
    for layer in layers:
        x = layer(x)
    return x
