"""Tianshou 2: preprocessing networks with the layer, and factories for its high-level interface.

In short::

    sizes = dict(hidden_sizes=(256, 256), fourier=lff.Fourier(fourier_dim=256, sigma=0.01))
    net = FourierNet(state_shape=3, action_shape=1, concat=True, **sizes)
    critic = ContinuousCritic(preprocess_net=net)

Tianshou's critic joins s and a before its preprocessing network, so a front there is the paper's
q(s, a); not so with ``apply_preprocess_net_to_obs_only=True``.  Give SAC both critics: without a
second one it copies the first, its B included.
"""

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from lff.auditing import Parts, insert_front, reads_action
from lff.core.checks import Sizes, checked
from lff.nn.fourier import Fourier
from lff.plugins import fourier_config, missing_host

try:
    from tianshou.algorithm import Algorithm
except ModuleNotFoundError as error:
    raise missing_host("tianshou", "tianshou") from error
from tianshou.algorithm.modelfree.ddpg import ActorCriticOffPolicyAlgorithm
from tianshou.highlevel.module.actor import ActorFactory
from tianshou.highlevel.module.core import init_linear_orthogonal
from tianshou.highlevel.module.critic import CriticFactory, CriticFactoryDefault
from tianshou.utils.net.common import Net
from tianshou.utils.net.continuous import ContinuousActorProbabilistic


class FourierNet(Net):
    """Tianshou's ``Net`` with learned Fourier features before its first layer.

    For the ``preprocess_net`` of an actor, or, with ``concat=True`` and the action's shape, of a
    critic.  Put all hidden layers here: given ``hidden_sizes``, a probabilistic actor builds them
    twice, for mean and spread.
    """

    def __init__(
        self,
        *,
        state_shape: int | Sequence[int],
        fourier: Fourier,
        hidden_sizes: Sequence[int],
        action_shape: int | Sequence[int] = 0,
        concat: bool = False,
        activation: type[nn.Module] = nn.ReLU,
    ) -> None:
        super().__init__(
            state_shape=state_shape,
            action_shape=action_shape,
            hidden_sizes=checked(Sizes, "hidden_sizes", hidden_sizes),
            concat=concat,
            activation=activation,
        )
        insert_front(self, fourier_config(Fourier, fourier))


class FourierActorFactory(ActorFactory):
    """Puts the front into the actor that another factory makes; for ``with_actor_factory``."""

    def __init__(self, fourier: Fourier, inner: ActorFactory) -> None:
        self.fourier, self.inner = fourier_config(Fourier, fourier), inner

    def create_module(self, envs: Any, device: Any) -> Any:
        """Return the actor; a Gaussian one has Tianshou's orthogonal initialisation again."""
        actor = self.inner.create_module(envs, device)
        insert_front(actor.get_preprocess_net(), self.fourier)
        if isinstance(actor, ContinuousActorProbabilistic):
            self._init_linear(actor)
        return actor

    def create_dist_fn(self, envs: Any) -> Any:
        return self.inner.create_dist_fn(envs)


class FourierCriticFactory(CriticFactory):
    """Tianshou's default critics behind the front, on (s, a) where they take actions.

    For ``with_critic_factory`` or ``with_common_critic_factory``; each critic gets a separate B.
    """

    def __init__(
        self,
        fourier: Fourier,
        hidden_sizes: Sequence[int] = CriticFactoryDefault.DEFAULT_HIDDEN_SIZES,
        *,
        activation: type[nn.Module] = nn.ReLU,
    ) -> None:
        self.fourier = fourier_config(Fourier, fourier)
        self.hidden_sizes = checked(Sizes, "hidden_sizes", hidden_sizes)
        self.activation = activation

    def create_module(
        self,
        envs: Any,
        device: Any,
        use_action: bool,  # noqa: FBT001
        discrete_last_size_use_action_shape: bool = False,  # noqa: FBT001, FBT002
    ) -> nn.Module:
        """Return a critic with Tianshou's orthogonal initialisation, which leaves B alone."""
        default = CriticFactoryDefault(self.hidden_sizes, self.activation)
        critic: Any = default.create_module(
            envs, device, use_action, discrete_last_size_use_action_shape
        )
        insert_front(critic.preprocess, self.fourier)
        init_linear_orthogonal(critic)
        return critic  # type: ignore[no-any-return]


def unpack_host(algorithm: Any) -> Parts | None:
    """Return the networks and optimizers of an algorithm, for the audit."""
    if not isinstance(algorithm, Algorithm):
        return None
    parts = Parts(modules=dict(algorithm.named_children()))
    optimizers = enumerate(algorithm._optimizers)
    parts.optimizers = {f"optimizers.{i}": wrapped._optim for i, wrapped in optimizers}
    policy: Any = algorithm.policy
    space = policy.observation_space
    if isinstance(algorithm, ActorCriticOffPolicyAlgorithm) and space is not None:
        obs, action = torch.zeros(1, *space.shape), torch.zeros(1, *policy.action_space.shape)
        for name in ("critic", "critic2"):
            critic = parts.modules.get(name)
            if critic is not None:
                parts.critics[name] = reads_action(critic, action, functools.partial(critic, obs))
    return parts
