"""The tangent kernel of a network of finite width, exact: K_ij = ∂f(x_i)/∂θ · ∂f(x_j)/∂θ.

A Linear layer z = Wy + b has ∂f/∂W = d yᵀ with d = ∂f/∂z, so its share of the kernel is
(Y₁Y₂ᵀ) ∘ (D₁D₂ᵀ), and (D₁D₂ᵀ) for the bias: one forward and one backward pass and two matrix
products instead of a Jacobian row per point.  A basis layer with phase 2πBx is such a layer too.
Networks made of these alone go this way; any other module by ``torch.func`` Jacobians in blocks.

With several outputs K is the mean over them.  Modules are taken in evaluation mode.
"""

import contextlib
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.func import functional_call, jacrev, jvp, vjp, vmap

from lff.core.checks import check_size
from lff.core.errors import BadInputError
from lff.nn import BasisLayer, LearnedFourierFeatures, LinearFeatures, LogUniformFourierFeatures
from lff.nn.fourier import TWO_PI
from lff.nn.net import evaluating
from lff.ntk.closed_form import SplitKernel, as_pair, as_points

MAX_BYTES = 2**30
"""Memory for intermediate results: the Jacobians of a block, or the products of some rows."""
Probe = Callable[[Tensor, Tensor], Tensor]
LINEAR_PHASE = (LearnedFourierFeatures, LinearFeatures, LogUniformFourierFeatures)


def empirical_ntk(
    module: nn.Module,
    x1: Tensor,
    x2: Tensor | None = None,
    *,
    max_bytes: int = MAX_BYTES,
    structured: bool | None = None,
) -> SplitKernel:
    """Return the exact kernel of a module that maps ``(points, in)`` to ``(points, out)``.

    Args:
        module: the network.  If any of its parameters requires a gradient, those that do not are
            left out; if none does (an agent trained by ``torch.func``), all count.
        x1: points, one a row.
        x2: other points of the same width; x1 itself if None.
        max_bytes: memory to use beside the kernel itself and the activations.
        structured: True or False to insist on one of the two ways; None takes the fast one where
            it is exact.
    """
    first, second = as_pair(x1, x2)
    names = _counted(module)
    dtype = dict(module.named_parameters())[names[0]].dtype
    first, second = first.to(dtype), second.to(dtype)
    check_size("max_bytes", max_bytes)
    with evaluating(module):
        layers = None if structured is False else _linear_layers(module, names, first)
        if layers is None and structured:
            remedy = "leave structured out: Jacobians serve any module"
            raise BadInputError("module", type(module).__name__, "of Linear and B alone", remedy)
        if layers is not None:
            return _structured(module, layers, names, first, second, max_bytes)
        return _by_jacobians(module, names, first, second, max_bytes)


def ntk_vector_product(module: nn.Module, x: Tensor, vector: Tensor) -> Tensor:
    """Return K v without K: one pass back, one pass forward.

    >>> net = nn.Linear(2, 1)
    >>> x, v = torch.randn(5, 2), torch.randn(5)
    >>> kernel = empirical_ntk(net, x).ntk
    >>> torch.allclose(ntk_vector_product(net, x, v), kernel @ v, atol=1e-4)
    True
    """
    names = _counted(module)
    own = {n: p.detach() for n, p in module.named_parameters()}
    moved = {n: own[n] for n in names}
    points = as_points("x", x).to(moved[names[0]].dtype)
    if vector.shape != (len(points),):
        raise BadInputError("vector", tuple(vector.shape), f"of {len(points)} numbers", "one each")

    def outputs(parameters: dict[str, Tensor]) -> Tensor:
        result: Tensor = functional_call(module, own | parameters, (points,))
        return result

    with evaluating(module):
        value, pull, *_ = vjp(outputs, moved)
        total = value.new_zeros(len(points))
        for k in range(value.shape[1]):
            weights = torch.zeros_like(value)
            weights[:, k] = vector.to(value.dtype)
            (direction,) = pull(weights)
            total += jvp(outputs, (moved,), (direction,))[1][:, k]
    result: Tensor = total / value.shape[1]
    return result


def _counted(module: nn.Module) -> list[str]:
    all_of_them = dict(module.named_parameters())
    if not all_of_them:
        remedy = "a fixed basis is a buffer; build a layer that trains"
        raise BadInputError("module", type(module).__name__, "with parameters", remedy)
    trained = [name for name, p in all_of_them.items() if p.requires_grad]
    return trained or [*all_of_them]


def _linear_layers(module: nn.Module, names: list[str], x: Tensor) -> list[str] | None:
    """Return the layers if all counted parameters live in Linear or basis layers used once."""
    owners = {name.rpartition(".")[0] for name in names}
    layers = {name: module.get_submodule(name) for name in owners}
    if not all(type(layer) in (nn.Linear, *LINEAR_PHASE) for layer in layers.values()):
        return None
    uses: list[tuple[int, int]] = []
    hooks = [
        layer.register_forward_pre_hook(lambda m, args: uses.append((id(m), args[0].ndim)))
        for layer in layers.values()
    ]
    try:
        with torch.no_grad():
            output = module(x[:1])
    finally:
        for hook in hooks:
            hook.remove()
    once = sorted(key for key, _ in uses) == sorted(id(layer) for layer in layers.values())
    flat = all(ndim == 2 for _, ndim in uses)
    shaped = isinstance(output, Tensor) and output.ndim == 2
    # a sum over all points of one output must see each point alone: no mixing layers
    mixing = any(isinstance(m, nn.modules.batchnorm._BatchNorm) for m in module.modules())
    return sorted(layers) if once and flat and shaped and not mixing else None


def _structured(
    module: nn.Module,
    layers: list[str],
    names: list[str],
    x1: Tensor,
    x2: Tensor,
    max_bytes: int,
) -> SplitKernel:
    one = _factors(module, layers, x1)
    two = one if x1 is x2 else _factors(module, layers, x2)
    kernels = {group: x1.new_zeros(len(x1), len(x2)) for group in ("basis", "rest")}
    outputs = len(next(iter(one.values()))[1])
    rows = max(1, max_bytes // ((2 + outputs) * len(x2) * x1.element_size()))
    for layer in layers:
        is_basis = isinstance(module.get_submodule(layer), BasisLayer)
        weight, bias = (_join(layer, n) in names for n in ("B" if is_basis else "weight", "bias"))
        (y1, d1), (y2, d2) = one[layer], two[layer]
        for start in range(0, len(x1), rows):
            part = slice(start, start + rows)
            meet = torch.stack([a[part] @ b.mT for a, b in zip(d1, d2, strict=True)]).mean(dim=0)
            kernel = kernels["basis" if is_basis else "rest"][part]
            if weight:
                kernel.addcmul_(y1[part] @ y2.mT, meet)
            if bias:
                kernel += meet
    return SplitKernel(**kernels)


def _factors(module: nn.Module, layers: list[str], x: Tensor) -> dict[str, tuple[Tensor, Tensor]]:
    """Return for each layer its input (points, in) and ∂f/∂z as (output, points, width)."""
    inputs: dict[str, Tensor] = {}
    probes: dict[str, Tensor] = {}

    def probed(name: str, factor: float, y: Tensor, z: Tensor) -> Tensor:
        """Add a zero whose gradient is that of z."""
        inputs[name] = factor * y.detach()
        probes[name] = torch.zeros_like(z, requires_grad=True)
        return z + probes[name]

    with contextlib.ExitStack() as stack, torch.enable_grad():
        for name in layers:
            layer = module.get_submodule(name)
            if isinstance(layer, BasisLayer):
                # an attribute of the instance hides the method until it is deleted
                phase = partial(_probed_phase, partial(probed, name, TWO_PI), layer.phase)
                object.__setattr__(layer, "phase", phase)
                stack.callback(object.__delattr__, layer, "phase")
            else:
                hook = layer.register_forward_hook(
                    lambda _m, args, z, name=name: probed(name, 1.0, args[0], z)
                )
                stack.callback(hook.remove)
        output: Tensor = module(x)
        slopes = [
            torch.autograd.grad(output[:, k].sum(), [probes[n] for n in layers], retain_graph=True)
            for k in range(output.shape[1])
        ]
    return {
        name: (inputs[name], torch.stack([slope[i] for slope in slopes]))
        for i, name in enumerate(layers)
    }


def _probed_phase(probed: Probe, phase: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    return probed(x, phase(x))


def _by_jacobians(
    module: nn.Module, names: list[str], x1: Tensor, x2: Tensor, max_bytes: int
) -> SplitKernel:
    own = {n: p.detach() for n, p in module.named_parameters()}
    count = sum(own[n].numel() for n in names)
    with torch.no_grad():
        outputs = module(x1[:1]).shape[1]
    size = max(1, max_bytes // (4 * count * outputs * x1.element_size()))
    basis = {_join(place, "B") for place, m in module.named_modules() if isinstance(m, BasisLayer)}
    kernels = {group: x1.new_zeros(len(x1), len(x2)) for group in ("basis", "rest")}
    for i in range(0, len(x1), size):
        one = _jacobian(module, own, names, basis, x1[i : i + size])
        for j in range(0, len(x2), size):
            same = x1 is x2 and i == j
            two = one if same else _jacobian(module, own, names, basis, x2[j : j + size])
            for group, rows in one.items():
                block = torch.einsum("nop,mop->nm", rows, two[group]) / outputs
                kernels[group][i : i + size, j : j + size] = block
    return SplitKernel(**kernels)


def _jacobian(
    module: nn.Module, own: dict[str, Tensor], names: list[str], basis: set[str], x: Tensor
) -> dict[str, Tensor]:
    """Return ∂f/∂θ by group, each ``(points, outputs, parameters)``."""
    moved = {n: own[n] for n in names}

    def output(parameters: dict[str, Tensor], point: Tensor) -> Tensor:
        result: Tensor = functional_call(module, own | parameters, (point[None],))
        return result[0]

    try:
        rows = vmap(jacrev(output), (None, 0))(moved, x)
    except RuntimeError:  # something in it that vmap cannot do: point by point
        single = [jacrev(output)(moved, point) for point in x]
        rows = {n: torch.stack([row[n] for row in single]) for n in names}
    groups: dict[str, list[Tensor]] = {}
    for n in names:
        group = groups.setdefault("basis" if n in basis else "rest", [])
        group.append(rows[n].flatten(start_dim=2))
    return {group: torch.cat(parts, dim=2) for group, parts in groups.items()}


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
