"""What makes up an agent of soft actor-critic, as data."""

from dataclasses import dataclass, field

from lff.algos.alpha import FixedAlpha, LearnedAlpha
from lff.algos.squashed import LOG_STD_MAX, LOG_STD_MIN
from lff.algos.target import NoTarget, PolyakTarget
from lff.core.checks import check_flag, check_number, check_scale, check_size
from lff.core.config import LATER
from lff.core.errors import BadInputError
from lff.data.augment import Augmentation, NoAugmentation
from lff.nn import NetConfig, PixelEncoderConfig
from lff.regularizers import FunctionalRegularization, RegularizerConfig, check_combination


@dataclass(frozen=True, kw_only=True)
class SACConfig:
    """Soft actor-critic; actor and critic are separate networks, so each variant is data."""

    actor: NetConfig
    """Network of the policy: observation -> mean and log-std."""
    critic: NetConfig
    """Network of each critic: observation and action -> Q."""
    num_critics: int = 2
    """Critics whose minimum is used."""
    gamma: float = 0.99
    """Discount γ."""
    batch_size: int = 1024
    """Transitions per update (Table 1)."""
    actor_lr: float = 1e-4
    """Learning rate of the actor (Table 1; the authors' command uses 3e-4)."""
    critic_lr: float = 1e-4
    """Learning rate of the critics."""
    alpha: LearnedAlpha | FixedAlpha = LearnedAlpha()  # noqa: RUF009  frozen
    """The temperature."""
    target: PolyakTarget | NoTarget = PolyakTarget()  # noqa: RUF009  frozen
    """What the bootstrap is taken from."""
    target_noise: float = 0.0
    """Standard deviation of Gaussian noise on y, one draw per transition and update (Fig. 7)."""
    regularizers: tuple[RegularizerConfig, ...] = field(default=(), metadata=LATER)
    """Any of ``lff.regularizers``, one of a kind per network; their order does not matter."""
    normalize_obs: bool = field(default=False, metadata=LATER)
    """Normalise observations by running statistics."""
    encoder: PixelEncoderConfig | None = field(default=None, metadata=LATER)
    """What turns images into features, for both networks; None if observations are vectors."""
    augmentation: Augmentation = field(default=NoAugmentation(), metadata=LATER)
    """How images of a batch are changed at random; acting uses its deterministic form."""
    actor_period: int = field(default=1, metadata=LATER)
    """Critic updates between two updates of actor and temperature."""
    log_std_min: float = field(default=LOG_STD_MIN, metadata=LATER)
    """The lower end of log σ_π."""

    def __post_init__(self) -> None:
        """Check the values before anything is built."""
        check_size("num_critics", self.num_critics)
        check_size("batch_size", self.batch_size)
        if not 0 <= check_number("gamma", self.gamma) < 1:
            raise BadInputError("gamma", self.gamma, "in [0, 1)", "use 0.99")
        for name in ("actor_lr", "critic_lr"):
            check_scale(name, getattr(self, name), remedy="use 1e-4")
        check_scale("target_noise", self.target_noise, remedy="use 0 for none")
        check_flag("normalize_obs", self.normalize_obs)
        check_size("actor_period", self.actor_period)
        if not check_number("log_std_min", self.log_std_min) < LOG_STD_MAX:
            raise BadInputError("log_std_min", self.log_std_min, f"< {LOG_STD_MAX:g}", "use -5")
        self._check_pixels()
        check_combination(self.regularizers)
        if any(one.penalizes_features for one in self.regularizers):
            remedy = "leave it out; it is for fitted Q-iteration"
            raise BadInputError(
                "regularizers", self.regularizers, "without feature penalty", remedy
            )
        if self.functional and self.target != PolyakTarget():
            why = "left as it is with functional regularization, which takes its place"
            raise BadInputError("target", self.target, why, "drop one of the two")

    def _check_pixels(self) -> None:
        if self.encoder is None:
            if not isinstance(self.augmentation, NoAugmentation):
                remedy = "leave it out: it is for images"
                raise BadInputError("augmentation", self.augmentation, "with an encoder", remedy)
            tau = getattr(self.target, "encoder_tau", None)
            if tau is not None:
                remedy = "use tau: there is no encoder"
                raise BadInputError("encoder_tau", tau, "left out without an encoder", remedy)
        elif self.normalize_obs:
            remedy = "leave it out: the encoder scales bytes by 1/255"
            raise BadInputError(
                "normalize_obs", value=True, constraint="off for images", remedy=remedy
            )

    @property
    def functional(self) -> FunctionalRegularization | None:
        """The functional regularization among the regularizers."""
        kinds = (r for r in self.regularizers if isinstance(r, FunctionalRegularization))
        return next(kinds, None)
