"""TorchRL: actor, critics and value network for its losses of SAC and PPO.

In short::

    net = lff.NetConfig(lff.Fourier(fourier_dim=256, sigma=0.01), lff.MLPTrunk((256, 256)))
    actor = make_actor(net, env.action_spec, obs_dim=3)
    loss = SACLoss(actor, make_critics(net, obs_dim=3, action_dim=1), num_qvalue_nets=2)

The critics are a list, each drawn separately: given one module, TorchRL's losses draw every
parameter of its copies anew, uniformly between its smallest and largest entry, and σ is gone.  The
losses run the critics under ``vmap`` and may be compiled; the layer does not branch on values.
"""

import copy
import math
from typing import Any, Literal, get_args

import torch
from torch import nn

from lff.auditing import Parts
from lff.auditing.layers import join
from lff.core.checks import check_choice, check_size
from lff.nn.fourier import BasisLayer
from lff.nn.net import NetConfig
from lff.plugins import missing_host

try:
    from tensordict.nn import TensorDictModule
    from torchrl.modules import NormalParamExtractor, ProbabilisticActor, TanhNormal, ValueOperator
    from torchrl.objectives.common import LossModule
except ModuleNotFoundError as error:
    raise missing_host("torchrl", "torchrl") from error

Use = Literal["sac", "ppo"]


def make_actor(
    net: NetConfig,
    action_spec: Any,
    *,
    obs_dim: int,
    use: Use = "sac",
    obs_key: str = "observation",
    generator: torch.Generator | None = None,
) -> ProbabilisticActor:
    """Return a tanh-squashed Gaussian actor whose network is ``net``.

    Args:
        net: front and trunk, as everywhere in this package.
        action_spec: of a bounded, continuous action, as ``env.action_spec`` gives it.
        obs_dim: width of the observation.
        use: "ppo" lets the actor return the log-probability of its actions, which PPO collects.
        obs_key: the observation's name in the tensordict.
        generator: source of randomness; torch's global one if None.
    """
    check_choice("use", use, get_args(Use))
    network = net.build(obs_dim, 2 * int(action_spec.shape[-1]), generator=generator)
    module = TensorDictModule(
        nn.Sequential(network, NormalParamExtractor()), in_keys=[obs_key], out_keys=["loc", "scale"]
    )
    return ProbabilisticActor(
        module=module,
        in_keys=["loc", "scale"],
        spec=action_spec,
        distribution_class=TanhNormal,
        distribution_kwargs={"low": action_spec.space.low, "high": action_spec.space.high},
        return_log_prob=use == "ppo",
    )


def make_critics(
    net: NetConfig,
    *,
    obs_dim: int,
    action_dim: int,
    count: int = 2,
    obs_key: str = "observation",
    action_key: str = "action",
    generator: torch.Generator | None = None,
) -> list[ValueOperator]:
    """Return ``count`` critics q(s, a) for ``SACLoss(qvalue_network=…, num_qvalue_nets=count)``.

    Each embeds (s, a) together by a separate B; a list, so that the loss stacks them as they are.
    """
    width = check_size("obs_dim", obs_dim) + check_size("action_dim", action_dim)
    return [
        ValueOperator(
            net.build(width, 1, generator=generator),
            in_keys=[obs_key, action_key],
            out_keys=["state_action_value"],
        )
        for _ in range(check_size("count", count))
    ]


def make_value(
    net: NetConfig,
    *,
    obs_dim: int,
    obs_key: str = "observation",
    generator: torch.Generator | None = None,
) -> ValueOperator:
    """Return a value network v(s) for ``ClipPPOLoss(critic_network=…)``."""
    return ValueOperator(net.build(obs_dim, 1, generator=generator), in_keys=[obs_key])


def unpack_host(loss: Any) -> Parts | None:
    """Give the layers of a loss the parameters that it trains, which it keeps apart from them."""
    if not isinstance(loss, LossModule):
        return None
    parts = Parts()
    templates = {n: part for n, part in vars(loss).items() if f"{n}_params" in loss._modules}
    for name, template in templates.items():
        for path in (name, f"target_{name}"):
            params = loss._modules.get(f"{path}_params")
            if params is not None:
                parts.modules |= _layers(path, template, params)
    actor, critic = (templates.get(f"{name}_network") for name in ("actor", "qvalue"))
    if actor is not None and critic is not None and loss.tensor_keys.action in critic.in_keys:
        entrances = (m for m in actor.modules() if isinstance(m, BasisLayer | nn.Linear))
        width = next((entrance.in_features for entrance in entrances), math.inf)
        # a critic's B reads the action if it is wider than the observation
        parts.critics["qvalue_network"] = {
            name: layer.in_features > width
            for name, layer in critic.named_modules()
            if isinstance(layer, BasisLayer) and width < math.inf
        }
    return parts


def _layers(path: str, template: nn.Module, params: Any) -> dict[str, nn.Module]:
    held = {
        name: params.get((*name.split("."), "B") if name else "B")
        for name, layer in template.named_modules()
        if isinstance(layer, BasisLayer)
    }
    if all(template.get_submodule(name).B is B for name, B in held.items()):
        return {path: template}  # neither copied nor expanded: the network itself
    layers: dict[str, nn.Module] = {}
    for name, B in held.items():
        layers[join(path, name)] = view = copy.deepcopy(template.get_submodule(name))
        del view.B
        if isinstance(B, nn.Parameter):
            view.B = B  # the very tensor, so that optimizers know it
        else:  # of a target
            view.register_buffer("B", B)
    return layers
