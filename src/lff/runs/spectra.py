"""Spectra of a run's critic: of its tangent kernel, and of Q along lines.

The kernel is the exact empirical one of the first critic, on points of the run's own replay.  A
run keeps its last checkpoints only, so that "over training" means: at the start (rebuilt from the
seed), at the checkpoints that are kept, and at the end.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from lff.algos.base import Agent
from lff.core.checks import check_size
from lff.core.errors import BadInputError
from lff.core.seeding import stream_seed
from lff.nn import Ensemble
from lff.ntk import empirical_ntk, spectrum
from lff.ntk.spectrum import frequency
from lff.runs.load import Policy, load, replay_sample

HEAD = 16  # eigenvalues that count as the head of a spectrum
ALONG = 128  # points on a line
HIGH = 4  # waves along a line, from one replayed point to another, from which on they count as many

ROUNDING = 1e-12  # rounding that is left when a straight line is subtracted, relative to Q


@dataclass(frozen=True)
class Snapshot:
    """A critic at one step."""

    step: int
    shares: tuple[float, ...]
    """Eigenvalues of its kernel, largest first, as shares of their sum."""
    tail: float
    """Share beyond the first sixteen."""
    frequency: float
    """Mean frequency of the eigenvectors, in cycles per unit of the input, by eigenvalue."""
    waves: tuple[float, ...]
    """Energy of Q along lines between replayed points, by number of waves, from 1 on."""
    high: float
    """Share of that energy in four waves or more."""


def read_spectra(path: Path | str, *, points: int = 256, lines: int = 64) -> list[Snapshot]:
    """Return the run's critic at the start, at the checkpoints that are kept, and at the end."""
    if check_size("points", points) <= HEAD:
        raise BadInputError("points", points, f"more than {HEAD}", "use 256")
    check_size("lines", lines)
    policy = load(path)
    first_critic(policy.agent)  # refuses an agent from pixels
    sample = replay_sample(policy, points)
    if sample is None or len(sample[0]) <= HEAD:
        remedy = "keep its folder replay/"
        raise BadInputError("run", str(path), f"with {HEAD + 1} replayed points or more", remedy)
    critic_inputs = sample if policy.config.algo.learns_from == "replay" else sample[:1]
    x = torch.cat(critic_inputs, dim=-1).double()
    return [look(step, first_critic(agent), x, lines=lines) for step, agent in _agents(policy)]


def look(step: int, critic: nn.Module, x: Tensor, *, lines: int = 64) -> Snapshot:
    """Return the spectra of one critic on these points."""
    found = spectrum(empirical_ntk(critic, x).ntk)
    values = found.eigenvalues.clamp_min(0)
    shares = values / values.sum()
    rough = line_energy(critic, x, lines=lines)
    return Snapshot(
        step=step,
        shares=tuple(shares.tolist()),
        tail=float(shares[HEAD:].sum()),
        frequency=float((shares * frequency(x, found.eigenvectors)).sum()),
        waves=tuple(rough.tolist()),
        high=float(rough[HIGH - 1 :].sum()),
    )


def line_energy(critic: nn.Module, x: Tensor, *, lines: int) -> Tensor:
    """Return the share of Q's energy by number of waves along random lines, mean over the lines.

    A line runs from one point to another; the straight part of Q between its ends is taken off, or
    every slope would count as waves.
    """
    g = torch.Generator().manual_seed(stream_seed(0, "lines"))
    ends = torch.randint(len(x), (2, lines), generator=g)
    t = torch.linspace(0, 1, ALONG, dtype=x.dtype)[:, None, None]
    with torch.no_grad():
        q = critic((1 - t) * x[ends[0]] + t * x[ends[1]])[..., 0]
    size = q.abs().amax(dim=0)
    q = q - (1 - t[..., 0]) * q[:1] - t[..., 0] * q[-1:]
    q = torch.where(q.abs() > ROUNDING * size, q, 0.0)
    power = torch.fft.rfft(q[:-1], dim=0).abs().square()[1:]
    shares: Tensor = (power / power.sum(dim=0).clamp_min(1e-300)).mean(dim=1)
    return shares


def first_critic(agent: Agent) -> nn.Module:
    """Return a copy of the first critic in float64, as an ordinary network."""
    critic = agent.networks["critic"]
    if len(agent.spaces.obs) != 1:
        remedy = "use a run from state: the spectrum along lines of pixels says little"
        raise BadInputError("run", agent.spaces.obs, "one with vectors for input", remedy)
    return (critic.member(0) if isinstance(critic, Ensemble) else copy.deepcopy(critic)).double()


def untrained(agent: Agent, seed: int) -> Agent:
    """Return the agent as it was before its first update."""
    weights = torch.Generator().manual_seed(stream_seed(seed, "weights"))
    untouched: Agent = agent.config.build(agent.spaces, generator=weights)
    return untouched


def _agents(last: Policy) -> Iterator[tuple[int, Agent]]:
    yield 0, untrained(last.agent, last.config.seed)
    for folder in sorted(last.run.checkpoints.glob("step-*")):
        step = int(folder.name.removeprefix("step-")) if not folder.suffix else last.step
        if step < last.step:
            yield step, load(last.run.path, checkpoint=step).agent
    yield last.step, last.agent
