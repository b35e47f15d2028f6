"""Put a Fourier front before the first layer of somebody's own network."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from lff.core.errors import BadInputError, BadTypeError
from lff.nn.net import FrontConfig
from lff.nn.pixels import PixelFrontConfig


def insert_front(
    module: nn.Module,
    front: FrontConfig | PixelFrontConfig,
    *,
    example: Tensor | tuple[Tensor, ...] | None = None,
    generator: torch.Generator | None = None,
) -> nn.Module:
    """Put ``front`` before the first Linear or Conv2d of ``module``, in place, and return it.

    That layer is replaced by ``Sequential(front, wider layer)``; the wider layer is freshly drawn
    from torch's default law, so re-apply your own initialisation if you have one (it cannot touch
    B).  Do it before you create the optimizer, which must see the new parameters.

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
    name, layer = _first_layer(module, example)
    wide = _widened(layer, front, generator)
    if not name:
        return wide
    parent, _, child = name.rpartition(".")
    setattr(module.get_submodule(parent), child, wide)
    return module


def _first_layer(
    module: nn.Module, example: Tensor | tuple[Tensor, ...] | None
) -> tuple[str, nn.Linear | nn.Conv2d]:
    layers = {
        name: layer
        for name, layer in module.named_modules()
        if isinstance(layer, nn.Linear | nn.Conv2d)
    }
    if not layers:
        remedy = "initialise lazy layers first, or put the front in by hand"
        raise BadInputError(
            "module", type(module).__name__, "a network with a Linear or Conv2d", remedy
        )
    if example is None:
        return next(iter(layers.items()))
    called: list[str] = []

    def hook(name: str) -> Callable[..., None]:
        return lambda *_: called.append(name)

    handles = [layer.register_forward_pre_hook(hook(name)) for name, layer in layers.items()]
    try:
        with torch.no_grad():
            module(*(example if isinstance(example, tuple) else (example,)))
    finally:
        for handle in handles:
            handle.remove()
    if not called:
        remedy = "pass an input that reaches one"
        raise BadInputError("example", "no layer", "an input that calls a Linear or Conv2d", remedy)
    return called[0], layers[called[0]]


def _widened(
    layer: nn.Linear | nn.Conv2d,
    front: FrontConfig | PixelFrontConfig,
    generator: torch.Generator | None,
) -> nn.Sequential:
    """Return the front followed by a layer of the same kind that takes its output."""
    place: dict[str, Any] = {"device": layer.weight.device, "dtype": layer.weight.dtype}
    bias = layer.bias is not None
    if isinstance(layer, nn.Linear):
        _expect(front, FrontConfig, "a dense front, since the first layer is a Linear", "Fourier")
        embed = front.build(layer.in_features, generator=generator)
        width = getattr(embed, "out_features", layer.in_features)
        wide: nn.Module = nn.Linear(width, layer.out_features, bias=bias, **place)
        return nn.Sequential(embed.to(**place), wide)
    _expect(
        front, PixelFrontConfig, "a pixel front, since the first layer is a Conv2d", "Fourier2d"
    )
    if layer.groups != 1:
        remedy = "put the front in by hand"
        raise BadInputError("groups", layer.groups, "1 for the first Conv2d", remedy)
    embed = front.build(layer.in_channels, generator=generator)
    wide = nn.Conv2d(
        getattr(embed, "out_channels", layer.in_channels),
        layer.out_channels,
        layer.kernel_size,  # type: ignore[arg-type]
        stride=layer.stride,  # type: ignore[arg-type]
        padding=layer.padding,  # type: ignore[arg-type]
        dilation=layer.dilation,  # type: ignore[arg-type]
        padding_mode=layer.padding_mode,
        bias=bias,
        **place,
    )
    return nn.Sequential(embed.to(**place), wide)


def _expect(front: object, kinds: Any, constraint: str, example: str) -> None:
    if not isinstance(front, kinds):
        raise BadTypeError("front", front, constraint, f"pass lff.nn.{example}(...)")
