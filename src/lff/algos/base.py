"""The interface of an algorithm: a frozen config that builds an agent, which acts and updates.

Loops, evaluation, the audit and the tools for finished runs know agents by what is here alone.  A
new algorithm is one file of this room and one line in :data:`ALGORITHMS`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypedDict, Unpack, cast

import numpy as np
import torch
from jaxtyping import Float, Int, Shaped
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call

from lff.algos.moments import Moments, RewardScale
from lff.core.config import Registry
from lff.core.errors import BadInputError
from lff.data.rollout import Rollout
from lff.nn import Network
from lff.nn.parts import Rng
from lff.optim import EPS, Adam, Rule, Tensors
from lff.regularizers import Dropout, RegularizerConfig, layers, rules, wrap
from lff.regularizers.base import Role, linears

ALGORITHMS = Registry(
    "algorithm",
    {
        "sac": "lff.algos.sac:SACConfig",
        "sac-pixels": "lff.algos.sac_pixels:PixelSACConfig",
        "ppo": "lff.algos.ppo:PPOConfig",
        "td3": "lff.algos.td3:TD3Config",
        "crossq": "lff.algos.crossq:CrossQConfig",
    },
)
"""Every algorithm of ours, by its name on disk and on the command line."""
Metrics = dict[str, Float[Tensor, ""]]
Masks = Mapping[str, Tensors]
"""Dropout masks by pass and by the buffer that they go into."""


class Spaces(NamedTuple):
    """Shapes of observations and actions; stored in every checkpoint."""

    obs: tuple[int, ...]
    """``(width,)`` of a vector, ``(channels, height, width)`` of an image."""
    action: int
    """Number of action components."""

    @property
    def obs_dim(self) -> int:
        """Number of entries of an observation."""
        return math.prod(self.obs)

    @classmethod
    def of(cls, env: Any) -> "Spaces":
        """Return the spaces of a Gymnasium environment, single or vector."""
        obs = getattr(env, "single_observation_space", None) or env.observation_space
        action = getattr(env, "single_action_space", None) or env.action_space
        return cls(tuple(int(n) for n in obs.shape), int(np.prod(action.shape)))


class Exploration(NamedTuple):
    """The random numbers of acting, drawn outside :meth:`Agent.act`."""

    noise: Tensor | None = None
    """Standard normal, ``(*batch, action)``; None for the mean action."""
    masks: Tensors = {}  # noqa: RUF012  never changed
    """Dropout masks of the actor, for those who drop while acting."""


GREEDY = Exploration()


class Probe(NamedTuple):
    """A network and the inputs to evaluate it on, for diagnostics."""

    role: str
    network: nn.Module
    inputs: tuple[Tensor, ...]


class Trained:
    """A network, the Adam that trains it, and the hooks of its regularizers.

    Its parameters do not require gradients, which come from ``torch.func``; they change in place.
    """

    def __init__(
        self,
        network: nn.Module,
        regularizers: Sequence[RegularizerConfig],
        role: Role,
        *,
        lr: float,
        device: torch.device,
        generator: Rng,
        extra: Tensors | None = None,
        eps: float = EPS,
        share: Tensor | None = None,
    ) -> None:
        """Wrap and move the network; ``extra`` parameters are trained together with its own."""
        wrap(network, regularizers, role, generator=generator)
        self.device = device
        self.network = network.to(device).requires_grad_(requires_grad=False)
        self.parameters: dict[str, Tensor] = {**dict(network.named_parameters()), **(extra or {})}
        self.vectors = layers.spectral_vectors(network)
        """Singular vectors of spectral normalisation."""
        active = (one for one in regularizers if one.works_on(role))
        self.dropout = next((one for one in active if isinstance(one, Dropout)), None)
        own = {name: Rule(lr) for name in extra or {}}
        own |= rules(network, regularizers, role, lr=lr)
        self.adam = Adam(self.parameters, own, eps=eps, share=share)

    def __call__(
        self, *inputs: Tensor, parameters: Tensors | None = None, masks: Tensors | None = None
    ) -> Tensor:
        """Return the output under these parameters (its own by default) and dropout masks."""
        tensors = {**(parameters or {}), **(masks or {})}
        if not tensors:
            return cast(Tensor, self.network(*inputs))
        return cast(Tensor, functional_call(self.network, tensors, inputs))

    def normalize_spectra(self, parameters: Tensors | None = None) -> None:
        """Do one power step of spectral normalisation, in place; nothing without it."""
        if self.vectors:
            tensors = self.parameters | self.vectors if parameters is None else dict(parameters)
            layers.power_steps(self.network, tensors)

    def masks(self, generator: torch.Generator, rows: tuple[int, ...]) -> dict[str, Tensor]:
        """Draw the dropout masks of one pass, on the CPU, and move them to the device."""
        drawn = layers.draw_masks(self.network, generator, batch=rows)
        return {name: mask.to(self.device) for name, mask in drawn.items()}

    def state(self) -> dict[str, Tensor]:
        """Return parameters and persistent buffers, as the live tensors."""
        kept = self.network.state_dict()
        buffers = {name: x for name, x in self.network.named_buffers() if name in kept}
        return {**self.parameters, **buffers}


class Agent(ABC):
    """Networks, optimizers and one update.

    The tensors of :meth:`state` change in place and are never replaced: compiled code and
    checkpoints rely on it.
    """

    value_max: ClassVar[str]
    """The metric that holds the largest magnitude of Q (or V) of an update."""
    value_letter: ClassVar[str] = "Q"
    config: Any
    spaces: Spaces
    device: torch.device
    actor: Trained
    critic: Trained
    trained: Mapping[Role, Trained]
    """Both, by role."""
    norm: Moments | None
    """Observation statistics."""
    networks: dict[str, nn.Module]
    """By role; targets included, as modules that share the memory of :meth:`state`."""
    optimizers: dict[str, Adam]
    """By the role of the network that each one trains."""

    def __init__(self, config: Any, spaces: Spaces, *, device: torch.device | str = "cpu") -> None:
        self.config, self.spaces, self.device = config, spaces, torch.device(device)
        self.norm = Moments(spaces.obs_dim) if config.normalize_obs else None

    def _hold(self, actor: Trained, critic: Trained) -> None:
        self.actor, self.critic = actor, critic
        self.trained = {"actor": actor, "critic": critic}
        self.networks = {role: one.network for role, one in self.trained.items()}
        self.optimizers = {role: one.adam for role, one in self.trained.items()}

    def normalized(self, obs: Tensor) -> Tensor:
        """Return observations, moved to the device and normalised if the agent does so."""
        x = obs.to(self.device)
        return x if self.norm is None else self.norm.normalize_tensor(x)

    def observe(self, obs: NDArray[Any]) -> None:
        """Update the observation statistics, if there are any, with rows of observations."""
        if self.norm is not None:
            self.norm.observe(obs.reshape(-1, self.spaces.obs_dim))

    @abstractmethod
    def act(self, obs: Shaped[Tensor, "..."], exploration: Exploration = GREEDY) -> Tensor:
        """Return actions in [-1, 1], on the CPU; the mean actions by default."""

    def explore(
        self, generator: torch.Generator, rows: tuple[int, ...] = (), *, greedy: bool = False
    ) -> Exploration:
        """Draw the noise and dropout masks of acting on ``rows`` observations."""
        noise = None if greedy else torch.randn(*rows, self.spaces.action, generator=generator)
        dropout = self.actor.dropout
        if dropout is None or not dropout.when_acting:
            return Exploration(noise)
        return Exploration(noise, self.actor.masks(generator, rows))

    @abstractmethod
    def value(
        self, obs: Shaped[Tensor, "..."], action: Float[Tensor, "*batch act"]
    ) -> Float[Tensor, "*batch"]:
        """Return the expected return, in the task's own units, on the CPU."""

    @abstractmethod
    def draw(self, generator: torch.Generator, size: int) -> Any:
        """Draw the random numbers of one update, on the CPU, and move them to the device."""

    @abstractmethod
    def update(self, batch: Any, noise: Any, *, actor: bool = True) -> Metrics:
        """Update the networks in place; pure in its tensors, one graph for the compiler."""

    @abstractmethod
    def inputs(self, batch: Any) -> Sequence[Probe]:
        """Return each network with its inputs for a batch."""

    def value_limit(self, reward: float) -> float:
        """Return the largest magnitude that a value can have with rewards up to ``reward``."""
        gamma: float = self.config.gamma
        return reward / (1 - gamma) if gamma < 1 else math.inf

    def parts(self) -> dict[str, Tensors]:
        """Return every tensor of the agent by part and name."""
        parts: dict[str, Tensors] = {}
        for role, one in reversed([*self.trained.items()]):  # the critic's numbers break first
            parts |= {f"adam/{role}": one.adam.state(), role: one.state()}
        return parts | {"norm": {} if self.norm is None else self.norm.state()}

    def preview(self, memory: Any, generator: torch.Generator) -> dict[str, list[NDArray[Any]]]:  # noqa: ARG002
        """Return rows of images that show what the agent observes; none for vectors."""
        return {}

    def state(self) -> dict[str, Tensor]:
        """Return every tensor of the agent by name, as a checkpoint holds them."""
        return {
            f"{part}/{n}": x for part, tensors in self.parts().items() for n, x in tensors.items()
        }

    def load_state(self, tensors: Tensors) -> None:
        """Copy a checkpoint's tensors into the agent, in place."""
        state = self.state()
        ours, theirs = ({n: x.shape for n, x in one.items()} for one in (state, tensors))
        if ours != theirs:
            odd = sorted(n for n in ours.keys() | theirs.keys() if ours.get(n) != theirs.get(n))
            raise BadInputError("checkpoint", odd[:3], "of this agent", "use the run's own config")
        with torch.no_grad():
            for name, value in state.items():
                value.copy_(tensors[name])


class Minibatch(NamedTuple):
    """Rows of a rollout that :meth:`OnPolicyAgent.prepare` returned."""

    sample: Any
    rows: Int[Tensor, " batch"]


class OnPolicyAgent(Agent):
    """An agent that learns from a rollout of its own Gaussian policy."""

    log_std: Tensor
    lr_share: Tensor
    """Share of the learning rate that a schedule leaves; changed in place."""
    reward_scale: RewardScale | None

    def normalize(self, obs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return rows of observations as the networks expect them."""
        return obs if self.norm is None else self.norm.normalize(obs)

    def choose(
        self, obs: Float[Tensor, "*batch obs"], exploration: Exploration = GREEDY
    ) -> Float[Tensor, "*batch act"]:
        """Return actions before clipping, for observations as the networks expect them."""
        noise, masks = exploration
        mean = self.actor(obs, masks=masks)
        return mean if noise is None else mean + self.log_std.exp() * noise.to(self.device)

    def scale_reward(
        self, reward: NDArray[Any], ended: NDArray[Any], valid: NDArray[Any] | None = None
    ) -> NDArray[np.float32]:
        """Update the reward statistics; return the rewards that are learned from."""
        if self.reward_scale is None:
            return reward.astype(np.float32)
        return self.reward_scale(reward, ended, valid)

    @abstractmethod
    def prepare(self, rollout: Rollout) -> tuple[Any, Metrics]:
        """Return a complete rollout as rows for the updates, and metrics of the value function."""


class Options(TypedDict, total=False):
    """Keyword arguments of :meth:`Algorithm.build`."""

    num_envs: int
    """Environments that are stepped together, 1 by default."""
    generator: Rng
    """Source of the weights; the same state gives the same weights on every device."""
    device: torch.device | str
    """Where the networks live, the CPU by default."""


class Algorithm(Protocol):
    """A frozen config that builds an agent; also the discount ``gamma`` and the ``batch_size``.

    With a replay memory it has the fields of :class:`~lff.algos.off_policy.OffPolicyConfig` that
    say when to update, and ``memory``; with rollouts ``rollout_steps``, ``epochs``, ``lr_decay``.
    """

    tag: ClassVar[str]
    """Its name on disk and on the command line."""
    learns_from: ClassVar[Literal["replay", "rollout"]]
    """Which training loop it runs in."""

    def build(self, spaces: Spaces, **options: Unpack[Options]) -> Agent:
        """Return the agent."""
        ...


def scale_orthogonal_(network: Network, *, hidden: float, output: float) -> None:
    """Scale the Linear layers of an orthogonally initialized trunk by these gains, in place.

    A gain is a factor, so that nothing is drawn again; other initializations stay.
    """
    trunk = network.config.resolve(network.in_features, network.out_features).trunk
    if getattr(trunk, "init", None) != "orthogonal":
        return
    *inner, last = [place.module for place in linears(network)]
    with torch.no_grad():
        for layer in inner:
            layer.get_parameter("weight").mul_(hidden)
        last.get_parameter("weight").mul_(output)


def check_vectors(spaces: Spaces) -> None:
    """Refuse images for an algorithm whose networks take vectors."""
    if len(spaces.obs) != 1:
        remedy = "use lff train sac on a task of dmc-pixels/, or PixelSACConfig"
        raise BadInputError("the observation", spaces.obs, "a vector", remedy)
