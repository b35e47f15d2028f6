"""Finite Markov decision processes: transitions as lists of successors, rewards, a discount.

    Q(s, a) = R(s, a) + γ Σ_k p(s, a, k) V(next(s, a, k))

A gridworld has a handful of successors per state and action, so a 64x64 grid with five actions
takes a megabyte, and one Bellman backup is one gather and one sum.
"""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from lff.core.errors import BadInputError, BadTypeError

ROUNDING = 1e-6
"""Largest distance of a row's sum from one."""


@dataclass(frozen=True, eq=False)
class Transitions:
    """Successors of every state and action, with their probabilities; padded with probability 0."""

    next_state: Int[np.ndarray, "state action k"]
    probability: Float[np.ndarray, "state action k"]

    def __post_init__(self) -> None:
        """Check that every row is a distribution over states."""
        object.__setattr__(self, "next_state", np.asarray(self.next_state))
        object.__setattr__(self, "probability", np.asarray(self.probability, dtype=np.float64))
        shape = self.next_state.shape
        if len(shape) != 3 or shape != self.probability.shape:
            both = f"{shape} and {self.probability.shape}"
            remedy = "pass next_state and probability of one shape"
            raise BadTypeError("the shapes of transitions", both, "(state, action, k)", remedy)
        _check_distributions(self.probability)
        if self.next_state.size and not 0 <= self.next_state.min() <= self.next_state.max() < len(
            self.next_state
        ):
            worst = int(self.next_state[(self.next_state < 0) | (self.next_state >= shape[0])][0])
            remedy = "count states from 0"
            raise BadInputError("a successor", worst, f"from 0 to {shape[0] - 1}", remedy)

    @classmethod
    def from_matrix(cls, P: Float[np.ndarray, "state action next"]) -> "Transitions":
        """Take the successors of a dense matrix that have a probability above zero."""
        P = np.asarray(P, dtype=np.float64)
        if P.ndim != 3 or P.shape[0] != P.shape[2]:
            remedy = "P[s, a, s'] is the chance of s' after a in s"
            raise BadTypeError("the shape of P", P.shape, "(state, action, state)", remedy)
        _check_distributions(P)
        most = int(max(1, (P > 0).sum(axis=-1).max(initial=1)))
        order = np.argsort(-P, axis=-1, kind="stable")[..., :most]
        return cls(order, np.take_along_axis(P, order, axis=-1))

    def matrix(self) -> Float[np.ndarray, "state action next"]:
        """Return them as a dense matrix: states² x actions numbers."""
        states, actions, _ = self.next_state.shape
        P = np.zeros((states, actions, states))
        np.add.at(P, (*np.indices(self.next_state.shape)[:2], self.next_state), self.probability)
        return P

    def mixed(self, share: float) -> "Transitions":
        """Return those where, with this chance, the action is replaced by one drawn uniformly."""
        _check_share("share", share)
        states, actions, k = self.next_state.shape
        others = np.broadcast_to(
            self.next_state.reshape(states, 1, actions * k), (states, actions, actions * k)
        )
        chance = np.broadcast_to(
            share / actions * self.probability.reshape(states, 1, -1), others.shape
        )
        own = (1 - share) * self.probability
        return Transitions(
            np.concatenate([self.next_state, others], axis=-1),
            np.concatenate([own, chance], axis=-1),
        ).merged()

    def merged(self) -> "Transitions":
        """Add up equal successors and drop those with no chance; successors are sorted."""
        states, actions, k = self.next_state.shape
        order = np.argsort(self.next_state, axis=-1, kind="stable")
        following = np.take_along_axis(self.next_state, order, axis=-1)
        chance = np.take_along_axis(self.probability, order, axis=-1)
        new = np.ones(following.shape, dtype=bool)
        new[..., 1:] = following[..., 1:] != following[..., :-1]
        slot = np.cumsum(new, axis=-1) - 1
        width = int(slot.max()) + 1
        merged = np.zeros((states, actions, width), dtype=np.int64)
        total = np.zeros((states, actions, width))
        rows = np.indices((states, actions, k))[:2]
        merged[(*rows, slot)] = following
        np.add.at(total, (*rows, slot), chance)
        return Transitions(merged, total)


@dataclass(frozen=True, eq=False)
class MDP:
    """States, actions, rewards of the current state and action, a discount, where episodes start.

    >>> chain = MDP([[[0, 1]], [[0, 1]]], [[0.0], [1.0]], 0.5)
    >>> chain.backup(np.array([1.0, 2.0])).tolist()
    [[1.0], [2.0]]
    """

    P: Transitions
    """Or a dense array (state, action, state), which becomes one."""
    R: Float[np.ndarray, "state action"]
    """Or (state,), the same for all actions."""
    gamma: float
    """The discount, in [0, 1)."""
    start: Float[np.ndarray, "state"] = field(default=None)  # type: ignore[arg-type]
    """Distribution of the first state; uniform by default."""

    def __post_init__(self) -> None:
        """Check that the parts fit together."""
        P = self.P if isinstance(self.P, Transitions) else Transitions.from_matrix(self.P)
        states, actions, _ = P.next_state.shape
        R = np.asarray(self.R, dtype=np.float64)
        R = np.repeat(R[:, None], actions, axis=1) if R.ndim == 1 else R
        if R.shape != (states, actions):
            needed = f"({states}, {actions}) or ({states},)"
            raise BadTypeError("the shape of R", R.shape, needed, "as many as P has")
        if not np.isfinite(R).all():
            raise BadInputError("R", "a value that is not finite", "finite", "check the rewards")
        if not 0 <= self.gamma < 1:
            raise BadInputError("gamma", self.gamma, "in [0, 1)", "use 0.99")
        start = np.full(states, 1 / states) if self.start is None else np.asarray(self.start)
        if start.shape != (states,):
            raise BadTypeError("the shape of start", start.shape, f"({states},)", "one per state")
        _check_distributions(start[None, None], name="start")
        for name, value in (("P", P), ("R", R), ("start", start)):
            object.__setattr__(self, name, value)

    @property
    def states(self) -> int:
        """Number of states."""
        return int(self.R.shape[0])

    @property
    def actions(self) -> int:
        """Number of actions."""
        return int(self.R.shape[1])

    def backup(
        self, V: Float[np.ndarray, "*batch state"]
    ) -> Float[np.ndarray, "*batch state action"]:
        """Return R + γ P V."""
        backed_up: np.ndarray = self.R + self.gamma * self.expect(V)
        return backed_up

    def expect(
        self, V: Float[np.ndarray, "*batch state"]
    ) -> Float[np.ndarray, "*batch state action"]:
        """Return P V, the mean of V over the successors."""
        mean: np.ndarray = np.einsum(
            "...sak,sak->...sa", V[..., self.P.next_state], self.P.probability
        )
        return mean


def _check_distributions(rows: np.ndarray, *, name: str = "P") -> None:
    if rows.size and not (np.isfinite(rows).all() and rows.min() >= 0):
        worst = rows[~(rows >= 0)]
        value = float(worst[0]) if worst.size else "a value that is not finite"
        raise BadInputError(name, value, "probabilities of 0 or more", "check its entries")
    sums = rows.sum(axis=-1)
    off = np.abs(sums - 1) > ROUNDING
    if off.any():
        where = tuple(int(i) for i in np.argwhere(off)[0])
        row = name if name != "P" else f"P[{where[0]}, {where[1]}]"
        remedy = "divide each row by its sum"
        raise BadInputError(f"the sum of {row}", float(sums[where]), "1", remedy)


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise BadInputError(name, value, "in [0, 1]", "use 0.2 for 20 %")
