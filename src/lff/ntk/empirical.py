"""The tangent kernel of a network of finite width, exact: K_ij = ∂f(x_i)/∂θ · ∂f(x_j)/∂θ.

A Linear layer z = Wy + b has ∂f/∂W = d yᵀ with d = ∂f/∂z, so its share of the kernel is
(Y₁Y₂ᵀ) ∘ (D₁D₂ᵀ), and (D₁D₂ᵀ) for the bias: one forward and one backward pass and two matrix
products instead of a Jacobian row per point.  A basis layer with phase 2πBx is such a layer too.
Networks made of these alone go this way; any other module by ``torch.func`` Jacobians in blocks.

With several outputs K is the mean over them.  Modules are taken in evaluation mode.
"""

import contextlib
from typing import Any, cast

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

    If any of its parameters requires a gradient, those that do not are left out; if none does (an
    agent trained by ``torch.func``), all count.  ``x2=None`` stands for x1; ``max_bytes`` is the
    memory to use beside the kernel itself and the activations; ``structured`` is True or False to
    insist on one of the two ways, None to take the fast one where it is exact.
    """
    first, second = as_pair(x1, x2)
    counted = _counted(module)
    dtype = next(iter(counted.values())).dtype
    first, second = first.to(dtype), second.to(dtype)
    check_size("max_bytes", max_bytes)
    with evaluating(module):
        layers = None if structured is False else _linear_layers(module, counted, first)
        if layers is not None:
            return _structured(module, layers, counted, first, second, max_bytes)
        if structured:
            remedy = "leave structured out: Jacobians serve any module"
            raise BadInputError("module", type(module).__name__, "of Linear and B alone", remedy)
        return _by_jacobians(module, counted, first, second, max_bytes)


def ntk_vector_product(module: nn.Module, x: Tensor, vector: Tensor) -> Tensor:
    """Return K v without K: one pass back, one pass forward.

    >>> net = nn.Linear(2, 1)
    >>> x, v = torch.randn(5, 2), torch.randn(5)
    >>> kernel = empirical_ntk(net, x).ntk
    >>> torch.allclose(ntk_vector_product(net, x, v), kernel @ v, atol=1e-4)
    True
    """
    counted = _counted(module)
    points = as_points("x", x).to(next(iter(counted.values())).dtype)
    if vector.shape != (len(points),):
        raise BadInputError("vector", tuple(vector.shape), f"of {len(points)} numbers", "one each")

    def outputs(parameters: dict[str, Tensor]) -> Tensor:
        return cast(Tensor, functional_call(module, parameters, (points,)))

    with evaluating(module):
        value, pull, *_ = vjp(outputs, counted)
        total = value.new_zeros(len(points))
        for k in range(value.shape[1]):
            weights = torch.zeros_like(value)
            weights[:, k] = vector.to(value.dtype)
            (direction,) = pull(weights)
            total += jvp(outputs, (counted,), (direction,))[1][:, k]
    return cast(Tensor, total / value.shape[1])


def _counted(module: nn.Module) -> dict[str, Tensor]:
    """Return the parameters by which gradients are taken."""
    all_of_them = dict(module.named_parameters())
    if not all_of_them:
        remedy = "a fixed basis is a buffer; build a layer that trains"
        raise BadInputError("module", type(module).__name__, "with parameters", remedy)
    trained = {name: p for name, p in all_of_them.items() if p.requires_grad}
    return {name: p.detach() for name, p in (trained or all_of_them).items()}


def _linear_layers(module: nn.Module, counted: dict[str, Tensor], x: Tensor) -> list[str] | None:
    """Return the layers if all counted parameters live in Linear or basis layers used once."""
    owners = {name.rpartition(".")[0] for name in counted}
    layers = {name: module.get_submodule(name) for name in owners}
    if not all(type(layer) in (nn.Linear, *LINEAR_PHASE) for layer in layers.values()):
        return None
    uses: list[tuple[int, int]] = []

    def used(layer: nn.Module, args: tuple[Any, ...]) -> None:
        uses.append((id(layer), args[0].ndim))

    with contextlib.ExitStack() as stack, torch.no_grad():
        for layer in layers.values():
            stack.callback(layer.register_forward_pre_hook(used).remove)
        output = module(x[:1])
    once = sorted(key for key, _ in uses) == sorted(id(layer) for layer in layers.values())
    flat = all(ndim == 2 for _, ndim in uses)
    shaped = isinstance(output, Tensor) and output.ndim == 2
    # a sum over all points of one output must see each point alone: no mixing layers
    mixing = any(isinstance(m, nn.modules.batchnorm._BatchNorm) for m in module.modules())
    return sorted(layers) if once and flat and shaped and not mixing else None


def _structured(
    module: nn.Module,
    layers: list[str],
    counted: dict[str, Tensor],
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
        own = {name.rpartition(".")[2] for name in counted if name.rpartition(".")[0] == layer}
        (y1, d1), (y2, d2) = one[layer], two[layer]
        for start in range(0, len(x1), rows):
            part = slice(start, start + rows)
            meet = torch.stack([a[part] @ b.mT for a, b in zip(d1, d2, strict=True)]).mean(dim=0)
            kernel = kernels["basis" if is_basis else "rest"][part]
            if own - {"bias"}:
                kernel.addcmul_(y1[part] @ y2.mT, meet)
            if "bias" in own:
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
            layer: Any = module.get_submodule(name)
            if isinstance(layer, BasisLayer):
                # an attribute of the instance hides the method until it is deleted
                object.__setattr__(
                    layer, "phase", lambda x, own=layer.phase, n=name: probed(n, TWO_PI, x, own(x))
                )
                stack.callback(object.__delattr__, layer, "phase")
            else:
                hook = layer.register_forward_hook(
                    lambda _, args, z, n=name: probed(n, 1.0, args[0], z)
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


def _by_jacobians(
    module: nn.Module, counted: dict[str, Tensor], x1: Tensor, x2: Tensor, max_bytes: int
) -> SplitKernel:
    count = sum(p.numel() for p in counted.values())
    with torch.no_grad():
        outputs = module(x1[:1]).shape[1]
    size = max(1, max_bytes // (4 * count * outputs * x1.element_size()))
    kernels = {group: x1.new_zeros(len(x1), len(x2)) for group in ("basis", "rest")}
    for i in range(0, len(x1), size):
        one = _jacobian(module, counted, x1[i : i + size])
        for j in range(0, len(x2), size):
            same = x1 is x2 and i == j
            two = one if same else _jacobian(module, counted, x2[j : j + size])
            for group, rows in one.items():
                block = torch.einsum("nop,mop->nm", rows, two[group]) / outputs
                kernels[group][i : i + size, j : j + size] = block
    return SplitKernel(**kernels)


def _jacobian(module: nn.Module, counted: dict[str, Tensor], x: Tensor) -> dict[str, Tensor]:
    """Return ∂f/∂θ by group, each ``(points, outputs, parameters)``."""

    def output(parameters: dict[str, Tensor], point: Tensor) -> Tensor:
        return cast(Tensor, functional_call(module, parameters, (point[None],))[0])

    try:
        rows = vmap(jacrev(output), (None, 0))(counted, x)
    except RuntimeError:  # something in it that vmap cannot do: point by point
        single = [jacrev(output)(counted, point) for point in x]
        rows = {n: torch.stack([row[n] for row in single]) for n in counted}
    groups: dict[str, list[Tensor]] = {}
    for n, row in rows.items():
        owner, _, last = n.rpartition(".")
        is_basis = last == "B" and isinstance(module.get_submodule(owner), BasisLayer)
        groups.setdefault("basis" if is_basis else "rest", []).append(row.flatten(start_dim=2))
    return {group: torch.cat(parts, dim=2) for group, parts in groups.items()}
