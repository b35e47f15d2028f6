"""N networks as one batched computation: twin critics, or any ensemble.

Each leaf of the members (Linear, a basis B, LayerNorm) is replaced by one that holds all members'
weights and maps ``(member, batch, in)`` to ``(member, batch, out)`` with a single batched product.
Forward and gradient equal those of a loop over the members, and it is faster at the widths where
SAC runs on a CPU (``benchmarks/layer.py``).  Other modules are batched by ``torch.func.vmap``.
"""

import copy
import functools
from collections.abc import Iterator, Sequence
from typing import TypeVar, cast

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import functional_call, vmap

from lff.core.checks import check_size
from lff.core.errors import BadInputError, BadTypeError
from lff.nn.fourier import BasisLayer
from lff.nn.fronts import ConstantFeatures
from lff.nn.net import LFF, MLP, NetConfig, Network
from lff.nn.parts import Rng
from lff.nn.trunks import Residual, Sine, SineCosine, SkipBody

Value = TypeVar("Value", bound=Tensor)
# Containers whose forward works on any leading axes as soon as their leaves do.
CONTAINERS = (nn.Sequential, nn.ModuleList, Network, LFF, MLP, Residual, SkipBody)
_OF_TORCH = (nn.ReLU, nn.Tanh, nn.ELU, nn.GELU, nn.LeakyReLU, nn.Sigmoid, nn.SiLU, nn.Softplus)
NONLINEARITIES = (*_OF_TORCH, Sine, SineCosine)
# Leaves without weights that work entry by entry, or on the last axis alone.
ELEMENTWISE = (*NONLINEARITIES, nn.Identity, nn.Dropout, ConstantFeatures)


class Ensemble(nn.Module):
    """Several networks of one architecture; ``(*batch, in)`` -> ``(member, *batch, out)``.

    >>> from lff.nn import Fourier, MLPTrunk
    >>> config = NetConfig(front=Fourier(fourier_dim=64, sigma=0.01), trunk=MLPTrunk((32, 32)))
    >>> critics = Ensemble.build(config, 2, in_features=30, out_features=1)
    >>> critics(torch.zeros(8, 24), torch.zeros(8, 6)).shape
    torch.Size([2, 8, 1])
    """

    def __init__(self, members: Sequence[nn.Module]) -> None:
        super().__init__()
        if not members:
            raise BadInputError("members", members, "one network or more", "pass [net1, net2]")
        for other in members[1:]:
            _check_alike(members[0], other)
        self.size = len(members)
        self.stacked = stack(members)
        self.train(members[0].training)

    @classmethod
    def build(
        cls,
        config: NetConfig,
        size: int,
        *,
        in_features: int,
        out_features: int,
        generator: Rng = None,
    ) -> "Ensemble":
        """Build ``size`` networks from one config, each with its own draw, and stack them."""
        members = range(check_size("size", size))
        return cls([config.build(in_features, out_features, generator=generator) for _ in members])

    def forward(self, *xs: Tensor) -> Float[Tensor, "member *batch_and_out"]:
        if isinstance(self.stacked, StackedByVmap):
            return self.stacked.forward(*xs, axis=None)
        x = xs[0] if len(xs) == 1 else torch.cat(xs, dim=-1)
        flat = x.reshape(-1, x.shape[-1])
        output: Tensor = self.stacked(flat.expand(self.size, *flat.shape))
        return output.reshape(self.size, *x.shape[:-1], output.shape[-1])

    def member(self, index: int) -> nn.Module:
        """Return a copy of one member as an ordinary network, for export or inspection."""
        if not 0 <= index < self.size:
            raise BadInputError("index", index, f"from 0 to {self.size - 1}", "count from 0")
        return unstack(self.stacked, index)

    def extra_repr(self) -> str:
        return f"members={self.size}"


class StackedLinear(nn.Module):
    """Linear layers of all members at once.

    The weight is ``(member, in, out)``, transposed against ``nn.Linear``: the batched product runs
    faster so.
    """

    weight: Tensor
    bias: Tensor | None

    def __init__(self, layers: Sequence[nn.Linear]) -> None:
        super().__init__()
        _put(self, "weight", _stacked([m.weight.mT for m in layers], like=layers[0].weight))
        self.bias = None
        if layers[0].bias is not None:
            _put(self, "bias", _stacked([m.bias[None] for m in layers], like=layers[0].bias))

    def forward(self, x: Float[Tensor, "member batch in"]) -> Float[Tensor, "member batch out"]:
        if self.bias is None:
            return torch.bmm(x, self.weight)
        if torch.compiler.is_compiling():  # an addition that becomes part of what follows
            return torch.bmm(x, self.weight) + self.bias
        return torch.baddbmm(self.bias, x, self.weight)

    def multiply_apart(
        self, waves: Float[Tensor, "member batch waves"], x: Float[Tensor, "member batch in"]
    ) -> Float[Tensor, "member batch out"]:
        """Return the same for the input waves ‖ x (see ``lff.nn.net``)."""
        by_waves, by_x = torch.split(self.weight, [waves.shape[-1], x.shape[-1]], dim=1)
        rest = torch.bmm(x, by_x)
        return torch.bmm(waves, by_waves) + (rest if self.bias is None else rest + self.bias)

    def extra_repr(self) -> str:
        members, width, out = self.weight.shape
        return f"members={members}, in_features={width}, out_features={out}"

    def member(self, index: int) -> nn.Linear:
        _, width, out = self.weight.shape
        with torch.device("meta"):
            layer = nn.Linear(width, out, bias=self.bias is not None, dtype=self.weight.dtype)
        _put(layer, "weight", _like(self.weight, self.weight[index].mT))
        if self.bias is not None:
            _put(layer, "bias", _like(self.bias, self.bias[index, 0]))
        return layer


class StackedLayerNorm(nn.Module):
    """Layer norms of all members at once: one statistic per row, one scale per member."""

    weight: Tensor
    bias: Tensor

    def __init__(self, layers: Sequence[nn.LayerNorm]) -> None:
        super().__init__()
        (self.width,) = layers[0].normalized_shape
        self.eps = layers[0].eps
        _put(self, "weight", _stacked([x.weight[None] for x in layers], like=layers[0].weight))
        _put(self, "bias", _stacked([x.bias[None] for x in layers], like=layers[0].bias))

    def forward(
        self, x: Float[Tensor, "member batch width"]
    ) -> Float[Tensor, "member batch width"]:
        normal = F.layer_norm(x, (self.width,), eps=self.eps)
        return torch.addcmul(self.bias, normal, self.weight)

    def member(self, index: int) -> nn.LayerNorm:
        layer = nn.LayerNorm(self.width, eps=self.eps)
        _put(layer, "weight", _like(self.weight, self.weight[index, 0]))
        _put(layer, "bias", _like(self.bias, self.bias[index, 0]))
        return layer


class StackedByVmap(nn.Module):
    """Any other module, batched by vmap: slower than the layers above, with equal results."""

    def __init__(self, modules: Sequence[nn.Module]) -> None:
        super().__init__()
        states = [dict((*m.named_parameters(), *m.named_buffers())) for m in modules]
        self._names = {name: name.replace(".", "__") for name in states[0]}
        for name, mangled in self._names.items():
            stacked = _stacked([state[name] for state in states], like=states[0][name])
            if isinstance(stacked, nn.Parameter):
                self.register_parameter(mangled, stacked)
            else:
                self.register_buffer(mangled, stacked)
        # in a partial, where neither torch nor the audit finds its meaningless weights
        self._call = functools.partial(functional_call, copy.deepcopy(modules[0]).to("meta"))

    @property
    def _template(self) -> nn.Module:
        return cast(nn.Module, self._call.args[0])

    def _state(self) -> dict[str, Tensor]:
        return {name: getattr(self, mangled) for name, mangled in self._names.items()}

    def forward(self, *xs: Tensor, axis: int | None = 0) -> Float[Tensor, "member ..."]:
        """Apply each member to its slice of the inputs along an axis, or to the whole if None."""
        self._template.train(self.training)
        run = vmap(
            lambda state, *xs: self._call(state, xs),
            in_dims=(0, *(axis for _ in xs)),
            randomness="different",
        )
        output: Tensor = run(self._state(), *xs)
        return output

    def member(self, index: int) -> nn.Module:
        """Return one member as the module it was."""
        module = copy.deepcopy(self._template)
        state = {name: value[index].detach().clone() for name, value in self._state().items()}
        module.load_state_dict(state, assign=True, strict=False)
        for name, parameter in module.named_parameters():
            parameter.requires_grad_(getattr(self, self._names[name]).requires_grad)
        return module.train(self.training)

    def basis_layers(self) -> Iterator[tuple[str, BasisLayer]]:
        """Yield the basis layers inside, each holding the stacked B, for the audit."""
        for name, layer in self._template.named_modules():
            if isinstance(layer, BasisLayer):
                view = copy.deepcopy(layer)
                for key in layer.state_dict():
                    value = self._state()[f"{name}.{key}" if name else key]
                    setattr(view, key, value)  # the tensor itself, which optimizers hold
                yield name, view


def stack(
    modules: Sequence[nn.Module], memo: dict[tuple[int, ...], nn.Module] | None = None
) -> nn.Module:
    """Return one module that computes all of ``modules``, of one structure, along a leading axis.

    A module with two names is stacked once (``memo``).
    """
    memo = {} if memo is None else memo
    key = tuple(map(id, modules))
    if key not in memo:
        memo[key] = _stack(modules, memo)
    return memo[key]


def _stack(modules: Sequence[nn.Module], memo: dict[tuple[int, ...], nn.Module]) -> nn.Module:
    first = modules[0]
    if type(first) in ELEMENTWISE:
        return copy.deepcopy(first)
    if isinstance(first, BasisLayer):
        return _stack_basis(modules)
    if type(first) is nn.Linear:
        return StackedLinear(modules)  # type: ignore[arg-type]
    if type(first) is nn.LayerNorm and len(first.normalized_shape) == 1 and first.bias is not None:
        return StackedLayerNorm(modules)  # type: ignore[arg-type]
    if type(first) in CONTAINERS:
        whole = copy.deepcopy(first)
        for name in first._modules:
            whole.add_module(name, stack([m.get_submodule(name) for m in modules], memo))
        return whole
    return StackedByVmap(modules)


def _check_alike(first: nn.Module, other: nn.Module) -> None:
    """Raise unless two networks differ in their weights alone."""
    ones, others = (dict(module.named_modules(remove_duplicate=False)) for module in (first, other))
    for name in {**ones, **others}:
        pair = ones.get(name), others.get(name)
        one, two = ("nothing" if module is None else _signature(module) for module in pair)
        if one != two:
            where = f" at {name}" if name else ""
            remedy = "build all members from one config"
            raise BadTypeError(f"members{where}", two, f"alike ({one})", remedy)


def _signature(module: nn.Module) -> str:
    """Return a description of a module without its weights.

    By the class's name: torch makes a separate class for every parametrized layer.
    """
    tensors = (*module.named_parameters(recurse=False), *module.named_buffers(recurse=False))
    shapes = {name: (type(value).__name__, tuple(value.shape)) for name, value in tensors}
    return f"{type(module).__name__}({module.extra_repr()}) {shapes or ''}".strip()


def unstack(module: nn.Module, index: int) -> nn.Module:
    """Return member ``index`` of a stacked module as an ordinary one."""
    take = getattr(module, "member", None)
    if take is not None:  # a stacked leaf, of this file or of another
        member: nn.Module = take(index)
        return member
    one = copy.deepcopy(module)
    if isinstance(module, BasisLayer):
        for name, value in module.state_dict().items():
            part = value[index] if name == "B" else value[index, 0]
            setattr(one, name, _like(getattr(module, name), part))
    memo: dict[int, nn.Module] = {}
    for name, child in module._modules.items():
        if child is not None:
            memo[id(child)] = memo.get(id(child)) or unstack(child, index)
            one.add_module(name, memo[id(child)])
    return one


def _stack_basis(layers: Sequence[nn.Module]) -> nn.Module:
    """Stack B to (member, rows, in); anything else (a bias) gets an axis of one for the batch."""
    whole = copy.deepcopy(layers[0])
    for name in layers[0].state_dict():
        parts = [getattr(layer, name) for layer in layers]
        stacked = _stacked([p if name == "B" else p[None] for p in parts], like=parts[0])
        setattr(whole, name, stacked)
    return whole


def _put(module: nn.Module, name: str, value: Tensor) -> None:
    """Set a parameter, or a buffer in its place: a weight that is frozen for good."""
    if isinstance(value, nn.Parameter):
        setattr(module, name, value)
    else:
        if hasattr(module, name):
            delattr(module, name)
        module.register_buffer(name, value)


def _stacked(parts: Sequence[Tensor], *, like: Value) -> Value:
    return _like(like, torch.stack([part.detach() for part in parts]).contiguous())


def _like(old: Value, new: Tensor) -> Value:
    """Return a copy of a tensor: a parameter, trained or not, if the old one is; else a buffer."""
    copied = new.detach().clone()
    if isinstance(old, nn.Parameter):
        copied = nn.Parameter(copied, requires_grad=old.requires_grad)
    return cast(Value, copied)
