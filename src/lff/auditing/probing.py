"""Probe runs of a network: its input layers, and the inputs that reach its Fourier layers.

A run changes nothing: it is in evaluation mode, without gradients of the network, and random
numbers are drawn from a copy of torch's stream.
"""

import contextlib
import functools
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.modules.lazy import LazyModuleMixin

from lff.auditing.layers import join
from lff.nn.fourier import BasisLayer, LearnedFourierFeatures2d
from lff.nn.net import evaluating

ACTION = re.compile(r"(^|_)(a|u|act|action|actions|acts)($|_)")
"""Names of the input of a critic that is the action."""
MOST_ACTIONS = 64
MOST_WIDTHS = 8
SIDES = (84, 64, 100, 36)  # sides of the images that are tried


def input_names(network: nn.Module) -> list[str]:
    """Return the names of the inputs that a network's forward needs."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(network.forward).parameters.values()
    return [p.name for p in parameters if p.kind in kinds and p.default is p.empty]


def guess_inputs(network: nn.Module) -> tuple[Tensor, ...] | None:
    """Return inputs that a network runs on, one point each, by the widths of its layers.

    None if it runs on nothing that was tried, or has layers without a width yet.
    """
    like = next(network.parameters(), None)
    if like is None or any(isinstance(m, LazyModuleMixin) for m in network.modules()):
        return None
    options: dict[str, Any] = {"device": like.device, "dtype": like.dtype}
    for shapes in _shapes(network, count=max(1, len(input_names(network)))):
        inputs = tuple(torch.ones(1, *shape, **options) for shape in shapes)
        if runs_on(network, inputs):
            return inputs
    return None


def runs_on(network: nn.Module, inputs: tuple[Any, ...]) -> bool:
    """Return whether a network takes these inputs."""
    try:
        with _quietly(network), torch.no_grad():
            network(*inputs)
    except Exception:  # noqa: BLE001 - somebody's forward raises anything
        return False
    return True


def input_layers(
    network: nn.Module, inputs: tuple[Any, ...], kinds: tuple[type[nn.Module], ...]
) -> list[nn.Module]:
    """Return the layers of these kinds whose input is not computed by another of them."""
    found: list[nn.Module] = []

    def before(layer: nn.Module, given: tuple[Any, ...]) -> None:
        if given and not given[0].requires_grad and all(layer is not one for one in found):
            found.append(layer)

    def after(_: nn.Module, __: Any, output: Tensor) -> Tensor:
        return output.detach().requires_grad_().clone()  # marks what is computed from it

    weights = {name: p.detach() for name, p in network.named_parameters()}
    given = tuple(x.detach() if isinstance(x, Tensor) else x for x in inputs)
    with contextlib.ExitStack() as hooks, _quietly(network), torch.enable_grad():
        for layer in network.modules():
            if isinstance(layer, kinds):
                hooks.enter_context(layer.register_forward_pre_hook(before))
                hooks.enter_context(layer.register_forward_hook(after))
        functional_call(network, weights, given)
    return found


def layer_inputs(network: nn.Module, run: Callable[[], object]) -> dict[str, Tensor]:
    """Return the input that each Fourier layer of a network had last while ``run()`` was called."""
    inputs: dict[str, Tensor] = {}

    def hook(name: str) -> Callable[[nn.Module, tuple[Tensor, ...]], None]:
        return lambda _, given: inputs.update({name: given[0].detach().clone()})

    with contextlib.ExitStack() as hooks, _quietly(network), torch.no_grad():
        for name, layer in network.named_modules():
            if isinstance(layer, BasisLayer):
                hooks.enter_context(layer.register_forward_pre_hook(hook(name)))
        run()
    return inputs


def reads_action(
    critic: nn.Module, action: Tensor, run: Callable[[Tensor], object]
) -> dict[str, bool]:
    """Return for every dense Fourier layer of a critic whether its input changes with the action.

    ``run`` puts an action through the critic.  Layers of pixels, whose input is never one, are left
    out.
    """
    other = action + 0.5 if action.is_floating_point() else (action == 0).to(action.dtype)
    one, two = (layer_inputs(critic, functools.partial(run, a)) for a in (action, other))
    return {
        name: name not in two or not torch.equal(x, two[name])
        for name, x in one.items()
        if not isinstance(critic.get_submodule(name), LearnedFourierFeatures2d)
    }


def find_critics(
    modules: Mapping[str, nn.Module], batch: tuple[Tensor, ...]
) -> Iterator[tuple[str, dict[str, bool] | None]]:
    """Yield the path of every q(s, a) with Fourier layers, and which of them read the action.

    A critic is a network whose forward needs two inputs, one of them named like an action, or that
    runs on ``batch``, (obs, action).  Without a batch it is run on inputs of the widths of its
    layers; None if that fails.
    """
    known: set[int] = set()
    for path, module in modules.items():
        for name, network in module.named_modules():
            inner = {id(m): m for m in network.modules()}
            if known & inner.keys() or not any(isinstance(m, BasisLayer) for m in inner.values()):
                continue
            names = input_names(network)
            if len(names) != 2:
                continue
            places = [place for place, each in enumerate(names) if ACTION.search(each)]
            first = places == [0]
            inputs = _critic_inputs(network, batch[::-1] if first else batch, named=bool(places))
            if inputs is None and not places:
                continue
            known |= inner.keys()
            reads = None if inputs is None else _reads(network, inputs, action_first=first)
            yield join(path, name), reads


def _critic_inputs(
    network: nn.Module, batch: tuple[Tensor, ...], *, named: bool
) -> tuple[Tensor, ...] | None:
    if batch and runs_on(network, batch):
        return batch
    return guess_inputs(network) if named else None


def _reads(
    network: nn.Module, inputs: tuple[Tensor, ...], *, action_first: bool
) -> dict[str, bool]:
    if action_first:
        return reads_action(network, inputs[0], lambda action: network(action, inputs[1]))
    return reads_action(network, inputs[1], lambda action: network(inputs[0], action))


def _shapes(network: nn.Module, *, count: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield shapes to try: one input, or an observation and an action in any order."""
    layers = [m for m in network.modules() if isinstance(m, nn.Linear | nn.Conv2d | BasisLayer)]
    dense = [m.in_features for m in layers if not isinstance(m, nn.Conv2d)]
    widths = [*dict.fromkeys(dense)][:MOST_WIDTHS]
    if count == 1:
        yield from (((width,),) for width in widths)
        channels = [m.in_channels for m in layers if isinstance(m, nn.Conv2d)][:1]
        yield from (((c, side, side),) for c in channels for side in SIDES)
    elif count == 2:
        for width, action in itertools.product(widths, range(1, MOST_ACTIONS + 1)):
            yield from (((obs,), (action,)) for obs in (width - action, width) if obs > 0)
            yield (action,), (width,)


@contextlib.contextmanager
def _quietly(network: nn.Module) -> Iterator[None]:
    """Run a network without leaving a trace: evaluation mode, and a copy of the random stream."""
    with evaluating(network), torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        yield
