"""Insertion of a Fourier front before the first layer of an existing network."""

import contextlib
from typing import Any

import torch
from torch import Tensor, nn

from lff.core.errors import BadInputError, BadTypeError
from lff.nn.net import evaluating
from lff.nn.parts import Front, PixelFront
from lff.nn.trunks import uniform_


def insert_front(
    module: nn.Module,
    front: Front | PixelFront,
    *,
    example: Tensor | tuple[Tensor, ...] | None = None,
    generator: torch.Generator | None = None,
) -> nn.Module:
    """Put ``front`` before the first Linear or Conv2d of ``module``, in place, and return it.

    That layer is replaced by ``Sequential(front, wider layer)``; the wider layer is freshly drawn
    from torch's default law, so re-apply your own initialisation if you have one (it cannot touch
    B).  Do it before you create the optimizer, which must hold the new parameters.

    "First" is the order in which layers were registered.  If your forward uses them in another
    order, pass ``example``, an input (or tuple of inputs) to run the module on: then it is the
    first layer that is really called.

    >>> from lff.nn import Fourier
    >>> net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
    >>> insert_front(net, Fourier(fourier_dim=64, sigma=0.01))[0]
    Sequential(
      (0): LearnedFourierFeatures(in=3, F=64, sigma=0.01, trainable=True, concat_input=True)
      (1): Linear(in_features=67, out_features=32, bias=True)
    )
    """
    if not isinstance(module, nn.Module):
        raise BadTypeError("module", module, "a torch module", "pass your network")
    layer = _first_layer(module, example)
    _check_plain(module, layer)
    wide = _widened(layer, front, generator)
    wide.train(layer.training)
    for parameter in wide[1].parameters():
        parameter.requires_grad_(layer.weight.requires_grad)
    if module is layer:
        return wide
    for name, child_module in list(module.named_modules(remove_duplicate=False)):
        if child_module is layer:  # at every location, if it is tied
            parent, _, child = name.rpartition(".")
            setattr(module.get_submodule(parent), child, wide)
    return module


def _first_layer(
    module: nn.Module, example: Tensor | tuple[Tensor, ...] | None
) -> nn.Linear | nn.Conv2d:
    layers = [m for m in module.modules() if isinstance(m, nn.Linear | nn.Conv2d)]
    if not layers:
        constraint = "a network with a Linear or Conv2d"
        raise BadInputError("module", type(module).__name__, constraint, "put the front in by hand")
    if example is None:
        return layers[0]
    called: list[nn.Linear | nn.Conv2d] = []
    with contextlib.ExitStack() as hooks, evaluating(module), torch.no_grad():
        for layer in layers:
            hook = layer.register_forward_pre_hook(lambda layer, _: called.append(layer))
            hooks.enter_context(hook)
        module(*(example if isinstance(example, tuple) else (example,)))
    if not called:
        remedy = "pass an input that reaches one"
        raise BadInputError("example", "no layer", "an input that calls a Linear or Conv2d", remedy)
    return called[0]


def _check_plain(module: nn.Module, layer: nn.Linear | nn.Conv2d) -> None:
    """Refuse a layer that cannot be replaced without losing something."""
    kind = type(layer).__name__
    if isinstance(layer, nn.modules.lazy.LazyModuleMixin):
        remedy = "run the network once first"
        raise BadInputError("the first layer", kind, "initialised", remedy)
    if type(layer) not in (nn.Linear, nn.Conv2d):
        remedy = "put the front in by hand, or before you parametrize the layer"
        raise BadInputError("the first layer", kind, "a plain Linear or Conv2d", remedy)
    owners = [m for m in module.modules() if any(child is layer for child in m.children())]
    if any(isinstance(owner, nn.MultiheadAttention) for owner in owners):
        remedy = "put the front before the whole module"
        raise BadInputError("the first layer", kind, "outside an attention module", remedy)


def _widened(
    layer: nn.Linear | nn.Conv2d, front: Front | PixelFront, generator: torch.Generator | None
) -> nn.Sequential:
    """Return the front followed by a layer of the same kind that takes its output."""
    options: dict[str, Any] = {"device": layer.weight.device, "dtype": layer.weight.dtype}
    bias = layer.bias is not None
    wide: nn.Linear | nn.Conv2d
    if isinstance(layer, nn.Linear):
        if not isinstance(front, Front):
            constraint = "a dense front, since the first layer is a Linear"
            raise BadTypeError("front", front, constraint, "pass lff.nn.Fourier(...)")
        embed = front.build(layer.in_features, generator=generator)
        width = getattr(embed, "out_features", layer.in_features)
        wide = nn.Linear(width, layer.out_features, bias=bias, **options)
    else:
        if not isinstance(front, PixelFront):
            constraint = "a pixel front, since the first layer is a Conv2d"
            raise BadTypeError("front", front, constraint, "pass lff.nn.Fourier2d(...)")
        if layer.groups != 1:
            remedy = "put the front in by hand"
            raise BadInputError("groups", layer.groups, "1 for the first Conv2d", remedy)
        front = front.resolve(layer.in_channels, num_filters=layer.out_channels)
        embed = front.build(layer.in_channels, generator=generator)
        width = getattr(embed, "out_channels", layer.in_channels)
        names = ("kernel_size", "stride", "padding", "dilation", "padding_mode")
        kept: dict[str, Any] = {name: getattr(layer, name) for name in names}
        wide = nn.Conv2d(width, layer.out_channels, bias=bias, **kept, **options)
    return nn.Sequential(embed.to(**options), uniform_(wide, generator=generator))
