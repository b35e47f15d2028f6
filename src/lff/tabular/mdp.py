"""Finite Markov decision processes, and their exact solution by dynamic programming.

    Q(s, a) = R(s, a) + γ Σ_k p(s, a, k) V(next(s, a, k))
    Q* = R + γ P max_a Q*          soft:  Q = R + γ P α logsumexp(Q / α)

Transitions are lists of successors: a gridworld has a handful per state and action, so a 64x64 grid
with five actions takes a megabyte, and one Bellman backup is one gather and one sum.

Every solution is iterated until its distance from the fixed point is known to be below a tolerance:
the backup is a γ-contraction, so an update smaller than ε leaves an error below ε γ / (1 - γ).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from lff.core.checks import Interval, check_positive, check_scale, check_size
from lff.core.errors import BadInputError, BadTypeError

ROUNDING = 1e-6
"""Largest distance of a row's sum from one."""
TOLERANCE = 1e-10
Returns = Float[np.ndarray, "*batch"]
Values = Float[np.ndarray, "*batch state"]
ActionValues = Float[np.ndarray, "*batch state action"]
Policy = Float[np.ndarray, "*batch state action"]


@dataclass(frozen=True, eq=False)
class Transitions:
    """Successors of every state and action, with their probabilities; padded with probability 0."""

    next_state: Int[np.ndarray, "state action k"]
    probability: Float[np.ndarray, "state action k"]

    def __post_init__(self) -> None:
        object.__setattr__(self, "next_state", np.asarray(self.next_state))
        object.__setattr__(self, "probability", np.asarray(self.probability, dtype=np.float64))
        shape = self.next_state.shape
        if len(shape) != 3 or shape != self.probability.shape:
            both = f"{shape} and {self.probability.shape}"
            remedy = "pass next_state and probability of one shape"
            raise BadTypeError("the shapes of transitions", both, "(state, action, k)", remedy)
        _check_distributions(self.probability)
        outside = self.next_state[(self.next_state < 0) | (self.next_state >= shape[0])]
        if outside.size:
            constraint = f"from 0 to {shape[0] - 1}"
            raise BadInputError("a successor", int(outside[0]), constraint, "count states from 0")

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
        Interval("[0, 1]", "use 0.2 for 20 %")("share", share)
        states, actions, _ = self.next_state.shape
        spread = (self.next_state, share / actions * self.probability)
        others, chance = (np.repeat(x.reshape(states, 1, -1), actions, axis=1) for x in spread)
        following = np.concatenate([self.next_state, others], axis=-1)
        total = np.concatenate([(1 - share) * self.probability, chance], axis=-1)
        return Transitions(following, total).merged()

    def merged(self) -> "Transitions":
        """Add up equal successors and drop those of probability 0; successors are sorted."""
        order = np.argsort(self.next_state, axis=-1, kind="stable")
        following = np.take_along_axis(self.next_state, order, axis=-1)
        chance = np.take_along_axis(self.probability, order, axis=-1)
        new = np.ones(following.shape, dtype=bool)
        new[..., 1:] = following[..., 1:] != following[..., :-1]
        slot = np.cumsum(new, axis=-1) - 1
        place = (*np.indices(slot.shape)[:2], slot)
        merged = np.zeros((*slot.shape[:2], int(slot.max()) + 1), dtype=np.int64)
        total = np.zeros(merged.shape)
        merged[place] = following
        np.add.at(total, place, chance)
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
        P = self.P if isinstance(self.P, Transitions) else Transitions.from_matrix(self.P)
        states, actions, _ = P.next_state.shape
        R = np.asarray(self.R, dtype=np.float64)
        R = np.repeat(R[:, None], actions, axis=1) if R.ndim == 1 else R
        if R.shape != (states, actions):
            needed = f"({states}, {actions}) or ({states},)"
            raise BadTypeError("the shape of R", R.shape, needed, "as many as P has")
        if not np.isfinite(R).all():
            raise BadInputError("R", "a value that is not finite", "finite", "check the rewards")
        Interval("[0, 1)", "use 0.99")("gamma", self.gamma)
        start = np.full(states, 1 / states) if self.start is None else np.asarray(self.start)
        if start.shape != (states,):
            raise BadTypeError("the shape of start", start.shape, f"({states},)", "one per state")
        _check_distributions(start, name="start")
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

    def backup(self, V: Values) -> ActionValues:
        """Return R + γ P V."""
        return np.asarray(self.R + self.gamma * self.expect(V))

    def expect(self, V: Values) -> ActionValues:
        """Return P V, the mean of V over the successors."""
        following = V[..., self.P.next_state]
        return np.asarray(np.einsum("...sak,sak->...sa", following, self.P.probability))


def _check_distributions(rows: np.ndarray, *, name: str = "P") -> None:
    bad = rows[~((rows >= 0) & np.isfinite(rows))]
    if bad.size:
        raise BadInputError(name, float(bad[0]), "probabilities of 0 or more", "check its entries")
    sums = rows.sum(axis=-1)
    off = np.argwhere(np.abs(sums - 1) > ROUNDING)
    if len(off):
        where = off[0].tolist()
        remedy = "divide each row by its sum"
        raise BadInputError(f"the sum of {name}{where or ''}", float(sums[*where]), "1", remedy)


def solve(mdp: MDP, *, entropy: float = 0.0, tolerance: float = TOLERANCE) -> ActionValues:
    """Return Q* by Q-iteration; with an entropy bonus α, the soft-optimal Q.

    >>> mdp = MDP([[[0, 1], [1, 0]], [[0, 1], [0, 1]]], [0.0, 1.0], 0.5)
    >>> solve(mdp).round(6).tolist()
    [[1.0, 0.5], [2.0, 2.0]]
    """
    alpha = check_scale("entropy", entropy, remedy="use 0 for the hard maximum")
    start = np.zeros(mdp.R.shape)
    return _fixed_point(lambda Q: mdp.backup(state_values(Q, entropy=alpha)), mdp, tolerance, start)


def state_values(Q: ActionValues, *, entropy: float = 0.0) -> Values:
    """Return max_a Q(s, a), or its soft version α log Σ_a exp(Q / α)."""
    best: np.ndarray = Q.max(axis=-1)
    if entropy == 0:
        return best
    rest = np.exp((Q - best[..., None]) / entropy).sum(axis=-1)
    return np.asarray(best + entropy * np.log(rest))


def greedy(Q: ActionValues) -> Policy:
    """Return the policy that takes the first of the best actions."""
    return np.asarray(np.eye(Q.shape[-1])[Q.argmax(axis=-1)])


def uniform_policy(mdp: MDP) -> Policy:
    """Return the uniform random policy."""
    return np.full((mdp.states, mdp.actions), 1 / mdp.actions)


def evaluate(mdp: MDP, policy: Policy, *, tolerance: float = TOLERANCE) -> ActionValues:
    """Return Q of a policy, or of several at once along leading axes."""
    policy = _check_policy(mdp, policy)
    start = np.zeros(policy.shape)
    return _fixed_point(lambda Q: mdp.backup((policy * Q).sum(axis=-1)), mdp, tolerance, start)


def policy_return(
    mdp: MDP, policy: Policy, *, horizon: int | None = None, tolerance: float = TOLERANCE
) -> Returns:
    """Return the expected return of episodes from the start.

    Discounted and without end unless a horizon is given; then the plain sum of that many rewards,
    as an environment with a time limit pays it.
    """
    policy = _check_policy(mdp, policy)
    if horizon is None:
        values = (policy * evaluate(mdp, policy, tolerance=tolerance)).sum(axis=-1)
    else:
        reward = (policy * mdp.R).sum(axis=-1)
        values = np.zeros(policy.shape[:-1])
        for _ in range(check_size("horizon", horizon)):
            values = reward + (policy * mdp.expect(values)).sum(axis=-1)
    return np.asarray(values @ mdp.start)


@dataclass(frozen=True, eq=False)
class ReturnScale:
    """A measure of returns in one MDP: 0 for the uniform policy, 1 for the best."""

    mdp: MDP
    low: float
    high: float
    horizon: int | None = None

    @classmethod
    def of(cls, mdp: MDP, best: Policy, horizon: int | None = None) -> "ReturnScale":
        """Compute both ends once."""
        both = np.stack([uniform_policy(mdp), best])
        low, high = map(float, policy_return(mdp, both, horizon=horizon))
        if not high > low:
            remedy = "there is nothing to gain in this MDP; check its rewards"
            raise BadInputError("the optimal return", high, f"above {low:g}", remedy)
        return cls(mdp, low, high, horizon)

    def measure(self, policy: Policy, *, tolerance: float = TOLERANCE) -> Returns:
        """Return the scaled return of one policy or several."""
        reached = policy_return(self.mdp, policy, horizon=self.horizon, tolerance=tolerance)
        return np.asarray((reached - self.low) / (self.high - self.low))


def _fixed_point(
    backup: Callable[[np.ndarray], np.ndarray], mdp: MDP, tolerance: float, Q: np.ndarray
) -> np.ndarray:
    check_positive("tolerance", tolerance, remedy="use 1e-10")
    while True:
        new = backup(Q)
        change = float(np.abs(new - Q).max(initial=0.0))
        Q = new
        rounding = 4 * float(np.spacing(np.abs(Q).max(initial=0.0)))
        if change * mdp.gamma <= tolerance * (1 - mdp.gamma) or change <= rounding:
            return Q


def _check_policy(mdp: MDP, policy: Policy) -> Policy:
    policy = np.asarray(policy, dtype=np.float64)
    if policy.shape[-2:] != (mdp.states, mdp.actions):
        needed = f"(…, {mdp.states}, {mdp.actions})"
        raise BadTypeError("the shape of the policy", policy.shape, needed, "π[s, a]")
    _check_distributions(policy, name="π")
    return policy
