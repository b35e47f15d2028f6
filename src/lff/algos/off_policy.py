"""Fields that every algorithm with a replay memory and critics shares."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from lff.algos.base import Spaces
from lff.algos.target import NoTarget, PolyakTarget
from lff.core.checks import Config, Interval, Scale, Size, validate
from lff.core.errors import BadInputError
from lff.data import Memory, Replay
from lff.nn import NetConfig
from lff.regularizers import FunctionalRegularization, RegularizerConfig, check_combination


@dataclass(frozen=True, kw_only=True)
class OffPolicyConfig(Config):
    """Actor, critics and their training from replayed transitions."""

    learns_from: ClassVar[Literal["replay"]] = "replay"
    actor: NetConfig
    """Network of the policy."""
    critic: NetConfig
    """Network of each critic: observation and action -> Q."""
    num_critics: Size = 2
    """Critics whose minimum is used."""
    gamma: Annotated[float, Interval("[0, 1)", "use 0.99")] = 0.99
    """Discount γ."""
    batch_size: Size = 1024
    """Transitions per update (Table 1)."""
    actor_lr: Scale = 1e-4
    """Learning rate of the actor (Table 1; the authors' command uses 3e-4)."""
    critic_lr: Scale = 1e-4
    """Learning rate of the critics."""
    target: PolyakTarget | NoTarget = PolyakTarget()  # noqa: RUF009  frozen
    """Source of the bootstrap."""
    target_noise: Scale = 0.0
    """Standard deviation of Gaussian noise on y, one draw per transition and update (Fig. 7)."""
    regularizers: tuple[RegularizerConfig, ...] = ()
    """Any of ``lff.regularizers``, one of a kind per network; their order does not matter."""
    normalize_obs: bool = False
    """Normalise observations by running statistics."""
    actor_period: Size = 1
    """Critic updates between two updates of the actor."""
    warmup_steps: Size = 5_000
    """Environment steps with uniform random actions before the first update."""
    replay_capacity: Size = 1_000_000
    """Transitions kept."""
    updates_per_step: Size = 1
    """Updates per action."""

    def __post_init__(self) -> None:
        """Check the values before anything is built."""
        validate(self)
        check_combination(self.regularizers)
        if any(one.penalizes_features for one in self.regularizers):
            remedy = "leave it out; it is for fitted Q-iteration"
            raise BadInputError(
                "regularizers", self.regularizers, "without feature penalty", remedy
            )
        tau = getattr(self.target, "encoder_tau", None)
        if tau is not None and not hasattr(self, "encoder"):
            remedy = "drop it, or use an algorithm with an encoder"
            raise BadInputError("encoder_tau", tau, "left out without an encoder", remedy)
        if self.functional and self.target != type(self).target:
            why = "left as it is with functional regularization, which replaces it"
            raise BadInputError("target", self.target, why, "drop one of the two")

    @property
    def functional(self) -> FunctionalRegularization | None:
        """The functional regularization among the regularizers."""
        kinds = (r for r in self.regularizers if isinstance(r, FunctionalRegularization))
        return next(kinds, None)

    def memory(self, spaces: Spaces, capacity: int) -> Memory:
        """Return the replay memory."""
        return Replay(capacity, obs_dim=spaces.obs_dim, action_dim=spaces.action)
