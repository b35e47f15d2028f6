"""Agents for the audit to look at."""

from types import SimpleNamespace

import torch

from lff import LFF


def make(sigma=0.01, width=6, seed=0, **options):
    rng = torch.Generator().manual_seed(seed)
    return LFF(width, 1, sigma=sigma, fourier_dim=128, hidden_dim=16, generator=rng, **options)


def agent(**parts):
    trained = [p for part in parts.values() for p in part.parameters()]
    return SimpleNamespace(**parts, optimizer=torch.optim.Adam(trained))


def problems(report):
    return [(finding.check, finding.layer) for finding in report.findings if finding.problem]


def train(owner, steps, *, width=6):
    for _ in range(steps):
        owner.q(torch.randn(32, width)).square().mean().backward()
        owner.optimizer.step()
