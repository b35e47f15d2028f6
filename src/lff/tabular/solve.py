"""Exact dynamic programming: optimal, soft-optimal and given policies.

    Q* = R + γ P max_a Q*          soft:  Q = R + γ P α logsumexp(Q / α)

Every solution is iterated until its distance from the fixed point is known to be below a tolerance:
the backup is a γ-contraction, so an update smaller than ε leaves an error below ε γ / (1 - γ).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from lff.core.checks import check_scale, check_size
from lff.core.errors import BadInputError, BadTypeError
from lff.tabular.mdp import MDP

TOLERANCE = 1e-10
Values = Float[np.ndarray, "*batch state"]
ActionValues = Float[np.ndarray, "*batch state action"]
Policy = Float[np.ndarray, "*batch state action"]


def solve(mdp: MDP, *, entropy: float = 0.0, tolerance: float = TOLERANCE) -> ActionValues:
    """Return Q* by Q-iteration; with an entropy bonus α, the soft-optimal Q.

    >>> mdp = MDP([[[0, 1], [1, 0]], [[0, 1], [0, 1]]], [0.0, 1.0], 0.5)
    >>> solve(mdp).round(6).tolist()
    [[1.0, 0.5], [2.0, 2.0]]
    """
    alpha = check_scale("entropy", entropy, remedy="use 0 for the hard maximum")
    return _fixed_point(lambda Q: mdp.backup(state_values(Q, entropy=alpha)), mdp, tolerance)


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
    """Return the policy that draws every action alike."""
    return np.full((mdp.states, mdp.actions), 1 / mdp.actions)


def evaluate(mdp: MDP, policy: Policy, *, tolerance: float = TOLERANCE) -> ActionValues:
    """Return Q of a policy, or of several at once along leading axes."""
    policy = _check_policy(mdp, policy)
    return _fixed_point(
        lambda Q: mdp.backup((policy * Q).sum(axis=-1)), mdp, tolerance, batch=policy.shape[:-2]
    )


def policy_return(
    mdp: MDP, policy: Policy, *, horizon: int | None = None, tolerance: float = TOLERANCE
) -> Float[np.ndarray, "*batch"]:
    """Return the expected return of episodes from the start.

    Discounted and without end if there is no horizon; else the plain sum of that many rewards, as
    an environment with a time limit pays it.
    """
    policy = _check_policy(mdp, policy)
    if horizon is None:
        values = (policy * evaluate(mdp, policy, tolerance=tolerance)).sum(axis=-1)
        return np.asarray(values @ mdp.start)
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
    def of(cls, mdp: MDP, best: Policy, *, horizon: int | None = None) -> "ReturnScale":
        """Work out both ends once."""
        both = np.stack([uniform_policy(mdp), best])
        low, high = map(float, policy_return(mdp, both, horizon=horizon))
        if not high > low:
            remedy = "there is nothing to gain in this MDP; check its rewards"
            raise BadInputError("the optimal return", high, f"above {low:g}", remedy)
        return cls(mdp, low, high, horizon)

    def measure(
        self, policy: Policy, *, tolerance: float = TOLERANCE
    ) -> Float[np.ndarray, "*batch"]:
        """Return where a policy, or several, stands on it."""
        reached = policy_return(self.mdp, policy, horizon=self.horizon, tolerance=tolerance)
        return np.asarray((reached - self.low) / (self.high - self.low))


def _fixed_point(
    backup: Callable[[np.ndarray], np.ndarray],
    mdp: MDP,
    tolerance: float,
    *,
    batch: tuple[int, ...] = (),
) -> np.ndarray:
    if tolerance <= 0:
        raise BadInputError("tolerance", tolerance, "above 0", "use 1e-10")
    Q = np.zeros((*batch, mdp.states, mdp.actions))
    while True:
        new = backup(Q)
        change = float(np.abs(new - Q).max(initial=0.0))
        Q = new
        if change * mdp.gamma <= tolerance * (1 - mdp.gamma) or change <= _rounding(Q):
            return Q


def _rounding(Q: np.ndarray) -> float:
    """Return the change below which nothing but rounding is left."""
    return 4 * float(np.spacing(np.abs(Q).max(initial=0.0)))


def _check_policy(mdp: MDP, policy: Policy) -> Policy:
    policy = np.asarray(policy, dtype=np.float64)
    if policy.shape[-2:] != (mdp.states, mdp.actions):
        needed = f"(…, {mdp.states}, {mdp.actions})"
        raise BadTypeError("the shape of the policy", policy.shape, needed, "π[s, a]")
    if not (policy.min() >= 0 and np.allclose(policy.sum(axis=-1), 1)):
        worst = float(policy.sum(axis=-1).ravel()[np.abs(policy.sum(axis=-1) - 1).argmax()])
        raise BadInputError("the sum of π(·|s)", worst, "1, of parts >= 0", "use greedy(Q)")
    return policy
