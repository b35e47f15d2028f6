"""Stable-Baselines3: its policies with learned Fourier features before the first layer.

In short::

    from stable_baselines3 import SAC
    from lff.plugins.sb3 import LFFSACPolicy

    model = SAC(LFFSACPolicy, "Pendulum-v1")  # policy_kwargs=dict(fourier=dict(sigma=...))

A features extractor alone is not the paper here: SB3's critic appends the raw action behind it.
These policies let SB3 build its networks and put the front before the first Linear of each, so
that every q(s, a) embeds (s, a) together by a separate B, before any optimizer exists.  PPO's
orthogonal initialisation draws every Linear and Conv2d anew and cannot touch B, which is neither.
The policies of TD3 serve DDPG, too, those of PPO serve A2C.

Dictionary observations, HerReplayBuffer's among them, need nothing more: SB3 concatenates their
features, and the front stands before all of them and the action.
"""

import copy
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar, get_args

import torch
from gymnasium import spaces
from torch import Tensor, nn

from lff.auditing import Parts, insert_front, layer_inputs, reads_action
from lff.core.checks import check_choice
from lff.core.errors import BadInputError
from lff.nn.fourier import Fourier, Fourier2d
from lff.plugins import Networks, buffered, check_algorithm, fourier_config, missing_host

try:
    from stable_baselines3.common.base_class import BaseAlgorithm
except ModuleNotFoundError as error:
    raise missing_host("sb3", "stable_baselines3") from error
from stable_baselines3.common.policies import ActorCriticPolicy, ContinuousCritic
from stable_baselines3.common.preprocessing import get_action_dim, is_image_space
from stable_baselines3.common.torch_layers import (
    BaseFeaturesExtractor,
    CombinedExtractor,
    NatureCNN,
)
from stable_baselines3.common.utils import obs_as_tensor
from stable_baselines3.dqn.policies import DQNPolicy, QNetwork
from stable_baselines3.sac.policies import SACPolicy
from stable_baselines3.td3.policies import TD3Policy


class _Policy(nn.Module):
    """A base before the host's class."""

    separate: ClassVar[bool] = False
    """Whether the critics must have a separate encoder."""

    def __init__(self, observation_space: Any, *rest: Any, **host: Any) -> None:
        check_algorithm(self, POLICIES)
        shared = host.get("share_features_extractor")
        if self.separate and shared:
            remedy = "SB3 trains a shared one by the actor's loss alone"
            raise BadInputError("share_features_extractor", shared, "False", remedy)
        extractor = host.get("features_extractor_class")
        scaled = not host.get("normalize_images", True)
        image = is_image_space(observation_space, normalized_image=scaled)
        if image and extractor is None:
            remedy = "use the policy with Cnn in its name, whose front is per pixel"
            raise BadInputError("the observation", "an image", "a vector or a dict", remedy)
        if not image and extractor is FourierNatureCNN:
            remedy = "use the policy without Cnn in its name"
            raise BadInputError("the observation", observation_space, "an image", remedy)
        if isinstance(observation_space, spaces.Dict):
            host.setdefault("features_extractor_class", CombinedExtractor)
        super().__init__(observation_space, *rest, **host)


class _WithFront(_Policy):
    """Constructor of the policies with a front."""

    default: ClassVar[Networks] = "both"
    """The networks that get the front unless the user chooses."""

    def __init__(
        self,
        observation_space: Any,
        action_space: Any,
        lr_schedule: Any,
        *,
        fourier: Fourier | Mapping[str, Any] | None = None,
        networks: Networks | None = None,
        **host: Any,
    ) -> None:
        # set before the host's constructor, which builds the networks
        self.networks: Any = networks or self.default
        check_choice("networks", self.networks, get_args(Networks))
        self.fourier: Any = asdict(fourier_config(Fourier, fourier))
        super().__init__(observation_space, action_space, lr_schedule, **host)

    def _embed(self, role: Networks, network: nn.Sequential, what: str) -> None:
        """Put the front before the first Linear of one of the host's networks, in place."""
        if self.networks not in (role, "both"):
            return
        if not any(isinstance(layer, nn.Linear) for layer in network):
            raise BadInputError(what, [], "one layer or more behind the front", "use [256], say")
        insert_front(network, fourier_config(Fourier, self.fourier))

    def _get_constructor_parameters(self) -> dict[str, Any]:
        host: dict[str, Any] = super()._get_constructor_parameters()  # type: ignore[misc]
        return host | {"fourier": self.fourier, "networks": self.networks}


class _OffPolicy(_WithFront):
    """Networks of the policies of SAC and TD3."""

    separate = True
    actor_layers: ClassVar[str]
    """Name of the layers of SB3's actor."""

    def make_actor(self, features_extractor: BaseFeaturesExtractor | None = None) -> nn.Module:
        actor: nn.Module = super().make_actor(features_extractor)  # type: ignore[misc]
        self._embed("actor", getattr(actor, self.actor_layers), "net_arch of the actor")
        return actor

    def make_critic(
        self, features_extractor: BaseFeaturesExtractor | None = None
    ) -> ContinuousCritic:
        critic: ContinuousCritic = super().make_critic(features_extractor)  # type: ignore[misc]
        for network in critic.q_networks:
            self._embed("critic", network, "net_arch of the critic")  # type: ignore[arg-type]
        return critic


class LFFSACPolicy(_OffPolicy, SACPolicy):  # type: ignore[misc]
    """SAC's policy: B acts on s in the actor and on (s, a) in each critic.

    ``policy_kwargs`` are SB3's and ``fourier``, a dict of the fields of :class:`lff.Fourier`, and
    ``networks``: those with the front ("both", "critic", "actor").
    """

    actor_layers = "latent_pi"


class LFFTD3Policy(_OffPolicy, TD3Policy):  # type: ignore[misc]
    """TD3's and DDPG's policy: B acts on s in the actor and on (s, a) in each critic.

    ``policy_kwargs`` as for :class:`LFFSACPolicy`.
    """

    actor_layers = "mu"


class LFFPPOPolicy(_WithFront, ActorCriticPolicy):
    """PPO's and A2C's policy; the front in the value network alone, as in the authors' code.

    ``policy_kwargs`` as for :class:`LFFSACPolicy`; here ``networks`` is "critic" by default.
    """

    default = "critic"

    def _build_mlp_extractor(self) -> None:
        super()._build_mlp_extractor()
        self._embed("critic", self.mlp_extractor.value_net, "net_arch['vf']")
        self._embed("actor", self.mlp_extractor.policy_net, "net_arch['pi']")


class LFFDQNPolicy(_WithFront, DQNPolicy):
    """DQN's policy: B acts on s; each action has an output."""

    def make_q_net(self) -> QNetwork:
        network = super().make_q_net()
        self._embed("critic", network.q_net, "net_arch")
        return network


class FourierNatureCNN(NatureCNN):
    """SB3's convolutions with learned Fourier features of every pixel before the first.

    SB3 has already divided images by 255.  For the ``features_extractor_class`` of any CnnPolicy;
    with it SB3 chooses the ``net_arch`` of a policy without images, so pass one, or use the
    policies below, which keep that of SB3's CnnPolicy.
    """

    def __init__(
        self,
        observation_space: Any,
        features_dim: int = 512,
        *,
        fourier: Fourier2d | Mapping[str, Any] | None = None,
        normalized_image: bool = False,
    ) -> None:
        super().__init__(observation_space, features_dim, normalized_image)
        insert_front(self.cnn, fourier_config(Fourier2d, fourier))


class _OnPixels(_Policy):
    """Constructor of the policies from images."""

    hidden: ClassVar[tuple[int, ...]] = ()
    """Layers of SB3's CnnPolicy behind its convolutions."""

    def __init__(
        self,
        observation_space: Any,
        action_space: Any,
        lr_schedule: Any,
        *,
        fourier: Fourier2d | Mapping[str, Any] | None = None,
        net_arch: Any = None,
        features_extractor_kwargs: Mapping[str, Any] | None = None,
        **host: Any,
    ) -> None:
        extractor = dict(features_extractor_kwargs or {})  # policy.load has our front in it
        if fourier is not None or "fourier" not in extractor:
            extractor["fourier"] = asdict(fourier_config(Fourier2d, fourier))
        host = {"features_extractor_class": FourierNatureCNN, **host}
        host["features_extractor_kwargs"] = extractor
        host["net_arch"] = [*self.hidden] if net_arch is None else net_arch
        super().__init__(observation_space, action_space, lr_schedule, **host)


class _OffPolicyOnPixels(_OnPixels):
    hidden = (256, 256)
    separate = True


class LFFSACCnnPolicy(_OffPolicyOnPixels, SACPolicy):
    """SAC from images: ``fourier`` has the fields of :class:`lff.nn.Fourier2d`, per pixel."""


class LFFTD3CnnPolicy(_OffPolicyOnPixels, TD3Policy):
    """TD3 and DDPG from images; ``fourier`` as for :class:`LFFSACCnnPolicy`."""


class LFFPPOCnnPolicy(_OnPixels, ActorCriticPolicy):
    """PPO and A2C from images, one encoder for both; ``fourier`` as above."""


class LFFDQNCnnPolicy(_OnPixels, DQNPolicy):
    """DQN from images; ``fourier`` as for :class:`LFFSACCnnPolicy`."""


POLICIES = (
    *(LFFSACPolicy, LFFTD3Policy, LFFPPOPolicy, LFFDQNPolicy),
    *(LFFSACCnnPolicy, LFFTD3CnnPolicy, LFFPPOCnnPolicy, LFFDQNCnnPolicy),
)


def unpack_host(value: Any) -> Parts | None:
    """Return the parts of a model or of an off-policy policy, for the audit."""
    if isinstance(value, BaseAlgorithm) and isinstance(value.policy, nn.Module):
        optimizer = getattr(value, "ent_coef_optimizer", None)
        optimizers = {} if optimizer is None else {"ent_coef_optimizer": optimizer}
        parts = Parts(modules={"policy": value.policy}, optimizers=optimizers)
        inputs = _inputs(value.policy, buffered(value))
        parts.inputs = {f"policy.{name}": x for name, x in inputs.items()}
        return parts
    critic = getattr(value, "critic", None)
    if not (isinstance(value, nn.Module) and isinstance(critic, ContinuousCritic)):
        return None
    names = ("actor", "actor_target", "critic", "critic_target")
    modules = {name: getattr(value, name) for name in names if hasattr(value, name)}
    return Parts(modules=modules, critics={"critic": _reads(value)})


def _inputs(policy: Any, batch: tuple[Any, Any] | None) -> dict[str, Tensor]:
    """Return the inputs of all Fourier layers of a policy on a batch of its buffer."""
    if batch is None:
        return {}
    obs, action = obs_as_tensor(batch[0], policy.device), torch.as_tensor(batch[1])

    def run() -> None:
        for name, network in policy.named_children():
            if name in ("actor", "actor_target", "q_net", "q_net_target"):
                network(obs)
            elif isinstance(network, ContinuousCritic):
                network(obs, action.to(policy.device))
        if isinstance(policy, ActorCriticPolicy):
            policy(obs)

    return layer_inputs(policy, run)


def _reads(policy: Any) -> dict[str, bool]:
    obs, _ = policy.obs_to_tensor(copy.deepcopy(policy.observation_space).sample())
    action: Tensor = torch.zeros(1, get_action_dim(policy.action_space), device=policy.device)
    return reads_action(policy.critic, action, lambda action: policy.critic(obs, action))
