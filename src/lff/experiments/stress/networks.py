"""The network under test: from a name of ours, a ``package.module:function``, or a callable.

It is tried before any work is done: what cannot be stressed is refused in one line.
"""

import copy
import hashlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn

from lff.core.config import digest, tag_of
from lff.core.errors import BadInputError, BadTypeError
from lff.core.imports import check_module, child_can_import
from lff.experiments.jobs.stress_fits import own_randomness
from lff.experiments.jobs.stress_sac import SPACES
from lff.nn import NetConfig, num_parameters
from lff.nn.called import CalledTrunk, Maker, called_trunk
from lff.nn.net import evaluating
from lff.nn.parts import TRUNKS
from lff.regularizers import LayerNorm, Regularizer
from lff.tabular.learner import Learner
from lff.training.networks import Sizes

SIGMA, FOURIER_DIM, HIDDEN_DIM = 0.01, 128, 128
"""Of our own networks, as in the preset laptop."""
INPUTS, OUTPUTS = SPACES.obs_dim + SPACES.action, 1
ROWS, TRIES = 8, 20
"""Rows of the batch that a network is tried with, and gradient steps on it."""
WHAT = "network"
Made = TypeVar("Made")


@dataclass(frozen=True)
class Subject:
    """A network under test."""

    name: str
    net: NetConfig
    regularizers: tuple[Regularizer, ...] = ()
    is_local: bool = False
    """Whether only this process can make it."""

    @property
    def parameters(self) -> int:
        """Trained numbers of one critic of the SAC stress."""
        learner = _learner(self, INPUTS, OUTPUTS)
        return num_parameters(learner.networks)


def ours(
    name: str,
    *,
    sigma: float = SIGMA,
    fourier_dim: int = FOURIER_DIM,
    regularizers: Sequence[Regularizer] = (),
) -> Subject:
    """Return a network of ours by its name in ``lff train --net``, widths as in preset laptop."""
    sizes = Sizes(hidden_dim=HIDDEN_DIM, fourier_dim=fourier_dim, sigma=sigma)
    net = sizes.net(name)
    title = name.upper() if name in ("lff", "mlp", "mlp-2", "ffn") else name
    if getattr(net.front, "sigma", None) is not None:
        title += f", sigma {sigma:g}"
    if fourier_dim != FOURIER_DIM:
        title += f", F {fourier_dim}"
    title += "".join(f" + {_words(one)}" for one in regularizers)
    return Subject(title, net, tuple(regularizers))


def _words(regularizer: Regularizer) -> str:
    usual: Any = type(regularizer)()
    own = [
        f"{field.name} {getattr(regularizer, field.name)}"
        for field in fields(cast(Any, regularizer))
        if getattr(regularizer, field.name) != getattr(usual, field.name)
    ]
    return " ".join([tag_of(type(regularizer)).replace("-", " "), *own])


REFERENCES: dict[str, Subject] = {
    "MLP": ours("mlp"),
    "MLP + layer norm": ours("mlp", regularizers=(LayerNorm(),)),
    "LFF": ours("lff"),
}
"""The networks that a card compares with."""


def find_network(name: str) -> Subject:
    """Return the network of a ``package.module:function`` that the user has named."""
    check_module(WHAT, name)
    package = name.partition(".")[0].partition(":")[0]
    if ":" not in name:
        remedy = "write package.module:function, or --net for one of ours"
        raise BadInputError(WHAT, name, "a function in a module", remedy)
    try:
        kind: Any = TRUNKS.find(name, trust=(package,))
    except BadInputError as error:
        raise _said(name, error) from None
    except Exception as error:  # noqa: BLE001  a user's module may raise anything
        remedy = f"fix its import: {_line(error)}"
        raise BadInputError(WHAT, name, "importable", remedy) from None
    if not issubclass(kind, CalledTrunk):
        remedy = "write a function (in_features, out_features) -> nn.Module that builds it"
        raise BadInputError(WHAT, name, "a function that makes networks", remedy)
    return _with_fingerprint(Subject(name, NetConfig(trunk=kind())))


def _said(name: str, error: BadInputError) -> BadInputError:
    """Return an error of the registry in the words of this command."""
    text = str(error)
    if "importable" in text:
        remedy = text.partition("; ")[2]
        return BadInputError(WHAT, name, "importable", remedy)
    module, _, function = name.partition(":")
    remedy = f"define {function} in {module}: (in_features, out_features) -> nn.Module"
    return BadInputError(WHAT, name, "the name of a callable", remedy)


def as_subject(network: Maker | str | Subject) -> Subject:
    """Return the network of whatever :func:`lff.stress` was given."""
    if isinstance(network, Subject):
        return network
    if isinstance(network, str):
        return find_network(network) if ":" in network else ours(network)
    if isinstance(network, nn.Module) or not callable(network):
        remedy = "pass a function (in_features, out_features) -> nn.Module, or its name"
        raise BadTypeError(WHAT, type(network).__name__, "a callable that makes networks", remedy)
    home = _home(network)
    if home is not None:
        return find_network(home)
    name = getattr(network, "__qualname__", type(network).__qualname__)
    make: Maker = network

    def call(inputs: int, outputs: int) -> nn.Module:  # hashable, whatever the callable is
        return make(inputs, outputs)

    trunk = called_trunk(f"local.{name}".replace("<", "").replace(">", "") + ":made", call)
    return _with_fingerprint(Subject(name, NetConfig(trunk=trunk()), is_local=True))


def _home(network: Maker) -> str | None:
    """Return the name by which a worker can import a function; None if there is none."""
    module, name = (getattr(network, key, None) for key in ("__module__", "__qualname__"))
    if not module or not name or module == "__main__" or "<" in name:
        return None
    if not child_can_import(module):
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}:{name}" if found is network else None


def check(subject: Subject) -> None:
    """Refuse a network that cannot be stressed: one line with value, constraint and remedy."""
    x = torch.randn(ROWS, INPUTS, generator=torch.Generator().manual_seed(0))
    for inputs, outputs in ((INPUTS, OUTPUTS), (2, 4)):  # other sizes, as the fits have
        _check_output(subject, x[:, :inputs], outputs)
    with own_randomness("stress check"):
        _try_training(subject, _learner(subject, INPUTS, OUTPUTS), x)


def _check_output(subject: Subject, x: Tensor, width: int) -> None:
    stream = torch.Generator().manual_seed(0)
    inputs = x.shape[1]
    network = _made(
        subject, lambda: subject.net.build(inputs, width, generator=stream), inputs, width
    )
    if not num_parameters(network):
        remedy = "return a module whose parameters require gradients"
        raise BadInputError(WHAT, subject.name, "one with trained parameters", remedy)
    output = _outputs(subject, network, x)
    what, wanted = f"output of {subject.name}", (len(x), width)
    if not isinstance(output, Tensor) or output.shape != wanted:
        got = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
        remedy = f"map {tuple(x.shape)}, observation and action side by side, to {wanted}"
        raise BadInputError(what, got, f"a tensor of shape {wanted}", remedy)
    if not bool(output.isfinite().all()):
        remedy = "check its initialization: it is not trained yet"
        raise BadInputError(what, "NaN or infinity", "finite", remedy)
    try:  # kernels and ranks are computed in double precision
        copy.deepcopy(network).double()(x.double())
    except Exception as error:  # noqa: BLE001
        remedy = f"register constant tensors by register_buffer; it said: {_line(error)}"
        raise BadInputError(WHAT, subject.name, "one that runs in float64", remedy) from None


def _try_training(subject: Subject, learner: Learner, x: Tensor) -> None:
    """Train on targets that the action decides; the output must come to depend on it."""
    target = x[None, :, -1:].clone()
    moved = x.clone()
    moved[:, -SPACES.action :] += 1.0
    try:
        for _ in range(TRIES):
            learner.update(x[None], (target,), learner.draw_masks(ROWS))
    except Exception as error:  # noqa: BLE001
        remedy = "see lff.nn.called for what a module may do; it said: " + _line(error)
        raise BadInputError(WHAT, subject.name, "trainable by torch.func", remedy) from None
    here, there = (_evaluated(subject, learner, one) for one in (x, moved))
    if bool(here.isfinite().all()) and torch.equal(here, there):
        what, wanted = f"output of {subject.name}", "a function of the action too"
        remedy = f"use the action: the last of its {INPUTS} inputs is one"
        raise BadInputError(what, "equal for different actions", wanted, remedy)


def _evaluated(subject: Subject, learner: Learner, x: Tensor) -> Tensor:
    with evaluating(learner.networks):
        output: Tensor = _outputs(subject, learner.networks, x)
    return output


def _learner(subject: Subject, inputs: int, outputs: int) -> Learner:
    def make() -> Learner:
        return Learner(
            subject.net,
            in_features=inputs,
            out_features=outputs,
            seeds=(0,),
            lr=1e-3,
            regularizers=subject.regularizers,
        )

    return _made(subject, make, inputs, outputs)


def _made(subject: Subject, make: Callable[[], Made], inputs: int, outputs: int) -> Made:
    try:
        return make()
    except BadInputError:
        raise
    except Exception as error:  # noqa: BLE001  a user's function may raise anything
        remedy = f"it is called with ({inputs}, {outputs}) and said: {_line(error)}"
        raise BadInputError(WHAT, subject.name, "one that can be made", remedy) from None


def _outputs(subject: Subject, network: nn.Module, x: Tensor) -> Any:
    try:
        with torch.no_grad():
            return network(x)
    except BadInputError:
        raise
    except Exception as error:  # noqa: BLE001
        remedy = f"it is given {tuple(x.shape)} and said: {_line(error)}"
        raise BadInputError(WHAT, subject.name, "one that runs", remedy) from None


def _line(error: Exception) -> str:
    """Return what an error says, in one short line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:160]


def _with_fingerprint(subject: Subject) -> Subject:
    check(subject)
    trunk = cast(CalledTrunk, subject.net.trunk)
    return replace(subject, net=NetConfig(trunk=replace(trunk, fingerprint=fingerprint(subject))))


def fingerprint(subject: Subject) -> str:
    """Return a digest of a network's structure and of how it starts and learns.

    Its layers, its output for a fixed input before and after some gradient steps, to three digits.
    """
    x = torch.randn(ROWS, INPUTS, generator=torch.Generator().manual_seed(1))
    learner = _learner(subject, INPUTS, OUTPUTS)
    parts = [str(subject.net.build(INPUTS, OUTPUTS, generator=torch.Generator().manual_seed(0)))]
    with own_randomness("stress fingerprint"):
        for _ in range(2):
            outputs = _evaluated(subject, learner, x).flatten()
            parts.append(" ".join(f"{value:.3g}" for value in outputs.tolist()))
            for _ in range(3):
                learner.update(x[None], (x[None, :, :1],), learner.draw_masks(ROWS))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def identity(subject: Subject, lr: float) -> str:
    """Return a short name for files: equal networks at equal rates have equal names."""
    return digest(subject.net) + f"-{lr:g}" + "".join(f"-{digest(r)}" for r in subject.regularizers)
