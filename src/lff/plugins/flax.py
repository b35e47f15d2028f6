"""Flax: the layer as a module of JAX, and actor and critics for the SAC of SBX.

In short::

    from sbx import SAC
    from lff.plugins.flax import LFFSACPolicy

    fourier = dict(fourier_dim=256, sigma=0.01)
    model = SAC(LFFSACPolicy, "Pendulum-v1", policy_kwargs=dict(fourier=fourier))

:class:`FourierFeatures` has the same B, (F/2, in), and the same order, sin, cos, x, as the layer of
torch: with equal B both give equal values and gradients.  It acts on the last axis, so on images
of JAX's order (height, width, channels) it is the layer per pixel.

A B that is not trained is a parameter behind ``stop_gradient``, since Flax hands everything to the
optimizer: Adam leaves it alone, but weight decay shrinks it.  Use :func:`adamw_sparing_b`; the
audit reports it.
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

import torch

from lff.auditing import Parts
from lff.core.checks import check_choice
from lff.nn.fourier import Fourier, LearnedFourierFeatures
from lff.plugins import (
    Networks,
    buffered,
    check_algorithm,
    common_fields,
    fourier_config,
    missing_host,
)

try:
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import numpy as np
    import optax
    from gymnasium import spaces
    from sbx.common.policies import BaseJaxPolicy, ContinuousCritic, SquashedGaussianActor
    from sbx.sac.policies import SACPolicy
except ModuleNotFoundError as error:
    raise missing_host("flax", error.name or "flax") from error


class FourierFeatures(nn.Module):
    """x -> [sin(2πBx), cos(2πBx), x] with B_ij ~ N(0, σ²) learned; on the last axis of x."""

    fourier_dim: int
    """Number of Fourier features F, even."""
    sigma: float
    """Standard deviation of B at the start."""
    trainable: bool = True
    """Train B; if not, no gradient reaches it."""
    concat_input: bool = True
    """Append x."""

    def __post_init__(self) -> None:
        Fourier(**common_fields(self, Fourier))
        super().__post_init__()

    @nn.compact
    def __call__(self, x: Any) -> Any:
        shape = (self.fourier_dim // 2, x.shape[-1])
        B = self.param("B", nn.initializers.normal(self.sigma), shape)
        B = B if self.trainable else jax.lax.stop_gradient(B)
        # never in reduced precision: a phase of many radians would lose its sine
        phase = jnp.matmul(2 * math.pi * x, B.T, precision=jax.lax.Precision.HIGHEST)
        waves = (jnp.sin(phase), jnp.cos(phase))
        return jnp.concatenate((*waves, x) if self.concat_input else waves, axis=-1)


class FourierCritic(nn.Module):
    """SBX's q(s, a) behind Fourier features of (s, a)."""

    fourier: Fourier
    net_arch: Sequence[int]
    use_layer_norm: bool = False
    dropout_rate: float | None = None
    activation_fn: Callable[[Any], Any] = nn.relu
    output_dim: int = 1

    @nn.compact
    def __call__(self, x: Any, action: Any) -> Any:
        joint = jnp.concatenate([x.reshape(len(x), -1), action], axis=-1)
        features = FourierFeatures(**vars(self.fourier))(joint)
        critic = ContinuousCritic(**common_fields(self, ContinuousCritic))
        return critic(features, action[:, :0])  # the features have the action in them


class FourierVectorCritic(FourierCritic):
    """SBX's vector of critics, each with separate B and weights."""

    n_critics: int = 2

    @nn.compact
    def __call__(self, obs: Any, action: Any) -> Any:
        critics = nn.vmap(
            FourierCritic,
            variable_axes={"params": 0},
            split_rngs={"params": True, "dropout": True},
            in_axes=None,
            out_axes=0,
            axis_size=self.n_critics,
        )(**common_fields(self, FourierCritic))
        return critics(obs, action)


class FourierActor(nn.Module):
    """SBX's squashed Gaussian actor behind Fourier features of s."""

    fourier: Fourier
    net_arch: Sequence[int]
    action_dim: int
    log_std_min: float = -20
    log_std_max: float = 2
    activation_fn: Callable[[Any], Any] = nn.relu

    def get_std(self) -> Any:
        """Zero, as the host's actor has it for gSDE."""
        return jnp.array(0.0)

    @nn.compact
    def __call__(self, x: Any) -> Any:
        features = FourierFeatures(**vars(self.fourier))(x.reshape(len(x), -1))
        return SquashedGaussianActor(**common_fields(self, SquashedGaussianActor))(features)


class LFFSACPolicy(SACPolicy):
    """SBX's policy of SAC: B acts on s in the actor and on (s, a) in each critic.

    ``policy_kwargs`` are SBX's and ``fourier``, a dict of the fields of :class:`lff.Fourier`, and
    ``networks``: those with the front ("both", "critic", "actor").
    """

    def __init__(
        self,
        observation_space: Any,
        action_space: Any,
        lr_schedule: Any,
        *,
        fourier: Fourier | Mapping[str, Any] | None = None,
        networks: Networks = "both",
        **host: Any,
    ) -> None:
        check_algorithm(self, (LFFSACPolicy,))
        check_choice("networks", networks, get_args(Networks))
        front = fourier_config(Fourier, fourier)
        if networks != "actor":
            host["vector_critic_class"] = functools.partial(FourierVectorCritic, fourier=front)
        if networks != "critic":
            host["actor_class"] = functools.partial(FourierActor, fourier=front)
        super().__init__(observation_space, action_space, lr_schedule, **host)


def adamw_sparing_b(
    learning_rate: float,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 1e-4,
) -> optax.GradientTransformation:
    """AdamW that decays every parameter but B.  For ``policy_kwargs=dict(optimizer_class=...)``."""

    def mask(params: Any) -> Any:
        return jax.tree_util.tree_map_with_path(
            lambda path, _: getattr(path[-1], "key", None) != "B", params
        )

    return optax.adamw(learning_rate, b1=b1, b2=b2, eps=eps, weight_decay=weight_decay, mask=mask)


def torch_layers(
    module: nn.Module, variables: Any, *inputs: Any
) -> dict[str, LearnedFourierFeatures]:
    """Return the Fourier layers of a Flax module as layers of torch, by name; for the audit.

    ``inputs`` are those of the module's call.  Of layers under ``nn.vmap``, B is stacked.
    """
    modules: dict[tuple[str, ...], FourierFeatures] = {}

    def watch(call: Any, args: Any, kwargs: Any, context: Any) -> Any:
        if isinstance(context.module, FourierFeatures):
            modules[context.module.path] = context.module
        return call(*args, **kwargs)

    def apply(variables: Any) -> None:  # returns nothing: a distribution lacks a shape
        nn.Module.apply(module, variables, *inputs, rngs={"dropout": jax.random.key(0)})

    with nn.intercept_methods(watch):
        jax.eval_shape(apply, variables)
    layers = {}
    for path, features in modules.items():
        B = torch.tensor(np.asarray(_at(variables["params"], path)))
        layer = LearnedFourierFeatures(B.shape[-1], **common_fields(features, Fourier))
        layer.B = torch.nn.Parameter(B) if features.trainable else B
        layers[".".join(path)] = layer
    return layers


def _at(tree: Any, path: Sequence[str]) -> Any:
    return functools.reduce(lambda inner, key: inner[key], path, tree)["B"]


def unpack_host(value: Any) -> Parts | None:
    """Mirror actor, critics and targets of SBX in torch, for the audit; a model has a buffer."""
    policy = getattr(value, "policy", value)
    if not isinstance(policy, BaseJaxPolicy) or not hasattr(policy, "qf_state"):
        return None
    prefix, data = "" if policy is value else "policy.", _flat(buffered(value))
    obs = jnp.zeros((1, spaces.flatdim(policy.observation_space)))
    action = jnp.zeros((1, spaces.flatdim(policy.action_space)))
    actor, critic = policy.actor_state, policy.qf_state
    parts = Parts()
    for name, module, params, inputs in (
        (f"{prefix}actor", policy.actor, actor.params, (obs,)),
        (f"{prefix}critic", policy.qf, critic.params, (obs, action)),
        (f"{prefix}critic_target", policy.qf, critic.target_params, (obs, action)),
    ):
        layers = torch_layers(module, params, *inputs)
        width = sum(x.shape[-1] for x in inputs)
        parts.modules |= {f"{name}.{path}": layer for path, layer in layers.items()}
        if data is not None:
            parts.inputs |= {f"{name}.{path}": data[:, :width] for path in layers}
        if layers and not name.endswith("target"):
            state = actor if module is policy.actor else critic
            parts.optimizers[f"{name}_state"] = _optimizer(state, layers)
        if name.endswith("critic"):
            reads = {path: layer.in_features == width for path, layer in layers.items()}
            parts.critics[name] = reads
    return parts


def _flat(batch: tuple[Any, Any] | None) -> torch.Tensor | None:
    """Return observations, as SBX concatenates those of a dict, and actions side by side."""
    if batch is None:
        return None
    obs = [*batch[0].values()] if isinstance(batch[0], Mapping) else [batch[0]]
    flat = [np.asarray(x, np.float32).reshape(len(x), -1) for x in (*obs, batch[1])]
    return torch.from_numpy(np.concatenate(flat, axis=1))


def _optimizer(state: Any, layers: Mapping[str, LearnedFourierFeatures]) -> torch.optim.Optimizer:
    """Return an Adam of torch that holds the mirrored B's, with the host's count, rate and decay.

    Decay is what an update does to B without any gradient: no setting need be read for it.
    """
    rate = float(getattr(state.opt_state, "hyperparams", {}).get("learning_rate", 1.0))
    nothing = jax.tree_util.tree_map(jnp.zeros_like, state.params)
    updates, _ = state.tx.update(nothing, state.tx.init(state.params), state.params)
    groups = []
    for path, layer in layers.items():
        update = _at(updates["params"], path.split("."))
        largest = layer.B.detach().abs().max().item()
        decay = float(jnp.abs(update).max()) / (rate * largest) if rate * largest else 0.0
        groups.append({"params": [layer.B], "lr": rate, "weight_decay": decay})
    optimizer = torch.optim.Adam(groups)
    for layer in layers.values():
        optimizer.state[layer.B] = {"step": torch.tensor(float(state.step))}
    return optimizer
