"""Insertion of a Fourier front before the input layer of an existing network."""

from typing import Any

import torch
from torch import Tensor, nn

from lff.auditing.probing import guess_inputs, input_layers, input_names
from lff.core.checks import nearest
from lff.core.errors import BadInputError, BadTypeError
from lff.nn.fourier import BasisLayer
from lff.nn.parts import Front, PixelFront
from lff.nn.trunks import uniform_


def insert_front(
    module: nn.Module,
    front: Front | PixelFront,
    *,
    layer: str | None = None,
    example: Tensor | tuple[Tensor, ...] | None = None,
    generator: torch.Generator | None = None,
) -> nn.Module:
    """Put ``front`` before the input layer of ``module``, in place, and return it.

    That Linear or Conv2d is replaced by ``Sequential(front, wider layer)``; the wider layer is
    freshly drawn from torch's default law, so re-apply your own initialisation if you have one (it
    cannot touch B).  Do it before you create the optimizer, which must hold the new parameters.

    The module is run once on ``example``, an input or a tuple of inputs, or else on inputs of the
    widths of its layers, to find its input layer.  A module with several of them is refused: name
    one by ``layer``, as in ``named_modules``.  One that cannot be run and takes one input has the
    front before the layer that was registered first.

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
    found = _input_layer(module, layer, example)
    _check_plain(module, found)
    wide = _widened(found, front, generator)
    wide.train(found.training)
    for parameter in wide[1].parameters():
        parameter.requires_grad_(found.weight.requires_grad)
    if module is found:
        return wide
    for name, child_module in list(module.named_modules(remove_duplicate=False)):
        if child_module is found:  # at every location, if it is tied
            parent, _, child = name.rpartition(".")
            setattr(module.get_submodule(parent), child, wide)
    return module


def _input_layer(
    module: nn.Module, wanted: str | None, example: Tensor | tuple[Tensor, ...] | None
) -> nn.Linear | nn.Conv2d:
    layers = {n: m for n, m in module.named_modules() if isinstance(m, nn.Linear | nn.Conv2d)}
    if not layers:
        constraint = "a network with a Linear or Conv2d"
        raise BadInputError("module", type(module).__name__, constraint, "put the front in by hand")
    if wanted is not None and wanted not in layers:
        raise BadInputError("layer", wanted, "a Linear or Conv2d", nearest(wanted, [*layers]))
    inputs = example if isinstance(example, tuple) or example is None else (example,)
    inputs = guess_inputs(module) if inputs is None else inputs
    if inputs is None:
        return _unseen_layer(module, layers, wanted)
    entrances = input_layers(module, inputs, (nn.Linear, nn.Conv2d))
    names = [name for name, layer in layers.items() if any(layer is e for e in entrances)]
    if not names:
        remedy = "pass an input that reaches one"
        raise BadInputError("example", "no layer", "an input that calls a Linear or Conv2d", remedy)
    if wanted is None and len(names) > 1:
        remedy = f"name one, layer={names[0]!r}, or join the inputs before one layer"
        raise BadInputError("the input layers of the network", names, "a single one", remedy)
    name = names[0] if wanted is None else wanted
    free = input_layers(module, inputs, (nn.Linear, nn.Conv2d, BasisLayer))
    if name in names and not any(layers[name] is layer for layer in free):
        raise _second_front(name)
    return layers[name]


def _unseen_layer(
    module: nn.Module, layers: dict[str, nn.Linear | nn.Conv2d], wanted: str | None
) -> nn.Linear | nn.Conv2d:
    """Return the named or the first layer of a module that could not be run."""
    if wanted is not None:
        return layers[wanted]
    first = next(iter(layers))
    if any(isinstance(m, BasisLayer) for m in module.modules()):
        raise _second_front(first)
    if len(input_names(module)) > 1:
        remedy = f"pass example=, a tuple of them, or name a layer, layer={first!r}"
        taken = ", ".join(input_names(module))
        raise BadInputError("the inputs of the network", taken, "one, or known", remedy)
    return layers[first]


def _second_front(name: str) -> BadInputError:
    remedy = "leave the first as it is, or build the network anew"
    return BadInputError("the layer", name, "without a Fourier front before it", remedy)


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
