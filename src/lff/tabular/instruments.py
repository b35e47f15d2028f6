"""Measurements while Q is fitted: Q against Q*, the return, the rank of the features.

Each instrument gives one number for each seed and changes nothing.
"""

from collections.abc import Sequence
from typing import cast

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from lff.nn import effective_rank
from lff.regularizers import SingularValuePenalty
from lff.tabular.fqi import FQI, QTables
from lff.tabular.mdp import ReturnScale, greedy

STATES = 2_048
"""States of the buffer whose features are looked at, as Kumar et al. do."""
TOLERANCE = 1e-3
"""Of a return that is looked at on the way."""


class Instruments:
    """Measurements of one fitted Q-iteration."""

    def __init__(self, fqi: FQI) -> None:
        self.fqi = fqi
        best = dict(zip(fqi.tasks, fqi.q_star, strict=True))  # equal tasks have equal Q*
        scales = {
            task: ReturnScale.of(task.mdp, greedy(q), task.horizon) for task, q in best.items()
        }
        self._scales = [scales[task] for task in fqi.tasks]

    def look(self, *, features: bool = True) -> dict[str, Float[np.ndarray, "seed"]]:
        """Return all numbers; without the features, whose singular values take longest."""
        q = self.fqi.q_table()
        found = self.values(q) | {"return": greedy_returns(self._scales, q)}
        return found | self.singular_values() if features else found

    def values(self, q: QTables) -> dict[str, Float[np.ndarray, "seed"]]:
        """Q and targets on the transitions that batches are drawn from, and Q against Q*."""
        state, action, target = self.fqi.transitions(q)
        members = np.arange(len(q))[:, None]
        here, true = q[members, state, action], self.fqi.q_star[members, state, action]
        cells = members, self.fqi.free
        return {
            "mean Q": here.mean(axis=-1),
            "mean target": target.mean(axis=-1),
            "mean Q*": true.mean(axis=-1),
            "magnitude of Q over Q*": magnitude(self.fqi, q),
            "error to Q*": np.square(q[cells] - self.fqi.q_star[cells]).mean(axis=(1, 2)),
        }

    def singular_values(self) -> dict[str, Float[np.ndarray, "seed"]]:
        """Effective rank, largest and smallest singular value of the features of visited states."""
        fqi = self.fqi
        counts = self._states()
        with torch.no_grad():
            features, _ = fqi.features(fqi.parameters, fqi.obs)
        # n equal rows have the singular values of one row, times the root of n
        rows = features.double() * torch.from_numpy(counts).sqrt()[..., None]
        values = torch.linalg.svdvals(rows)
        full = values.shape[-1] == features.shape[-1]
        smallest = values[:, -1] if full else values.new_zeros(len(values))
        return {
            "effective rank": effective_rank(rows).double().numpy(),
            "largest singular value": values[:, 0].numpy(),
            "smallest singular value": smallest.numpy(),
            "difference of penalties": difference_of_penalties(rows).numpy(),
        }

    def _states(self) -> Float[np.ndarray, "seed state"]:
        """Return how often each state is among the states of the buffer that are looked at."""
        met = self.fqi.met[0] if self.fqi.met.shape[-1] else self.fqi.free
        # the same places of the buffer at every look of this length: nothing is drawn
        places = np.linspace(0, met.shape[1] - 1, min(STATES, met.shape[1])).round().astype(int)
        states = self.fqi.obs.shape[1]
        counts = [np.bincount(row, minlength=states) for row in met[:, places]]
        return np.stack(counts).astype(float)


def magnitude(fqi: FQI, q: QTables) -> Float[np.ndarray, "seed"]:
    """Return how many orders of magnitude Q is above the true Q, by means over the transitions."""
    state, action, _ = fqi.transitions(q)
    members = np.arange(len(q))[:, None]
    here, true = (np.abs(table[members, state, action]).mean(axis=-1) for table in (q, fqi.q_star))
    return np.asarray(np.log10(here / true + 1e-12))  # finite where the sum is zero


def greedy_returns(scales: Sequence[ReturnScale], q: QTables) -> Float[np.ndarray, "seed"]:
    """Return of the greedy policies: 0 for the uniform policy, 1 for the optimal one."""
    pairs = zip(scales, q, strict=True)
    return np.array([scale.measure(greedy(table), tolerance=TOLERANCE) for scale, table in pairs])


def difference_of_penalties(features: Float[Tensor, "seed batch width"]) -> Float[Tensor, "seed"]:
    """Compare the gradients of σ_max² - σ_min² and of σ_max², relative to the second.

    Zero where σ_min is zero: then the penalty of Kumar et al. is one on the largest alone.
    """
    gradients = []
    for smallest in (True, False):
        penalty = SingularValuePenalty(coefficient=1.0, smallest=smallest)
        leaf = features.detach().clone().requires_grad_()
        gradients.append(torch.autograd.grad(penalty.feature_penalty(leaf), leaf)[0])
    both, largest = gradients
    norm = largest.flatten(1).norm(dim=1).clamp_min(1e-300)
    return cast(Tensor, (both - largest).flatten(1).norm(dim=1) / norm)
