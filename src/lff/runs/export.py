"""A trained policy as a file that needs no part of this package: ONNX, or torch's own archive.

What is written is traced from ``agent.act`` itself, so that whatever the agent does to an
observation is in it; the result is played against the agent before it is handed out.
"""

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn

from lff.core.checks import check_choice
from lff.core.errors import RunError, require_extra
from lff.runs.load import Policy

Format = Literal["onnx", "pt2"]
TOLERANCE = 1e-6  # largest difference to the agent's own actions, in units of half the action range
_NEEDED = ("onnx", "onnxscript", "onnxruntime")


class MeanPolicy(nn.Module):
    """Observations in, mean actions out: ``agent.act`` of a policy as a module.

    ``native`` rescales from [-1, 1] to the simulator's own range.
    """

    middle: Tensor
    half_width: Tensor

    def __init__(self, policy: Policy, *, native: bool = False) -> None:
        super().__init__()
        self.actor = policy.agent.networks["actor"]  # its weights then have names in the file
        self._act, self._native = policy.agent.act, native
        if native:
            low, high = policy.action_range
            self.register_buffer("middle", torch.from_numpy((low + high) / 2).float())
            self.register_buffer("half_width", torch.from_numpy((high - low) / 2).float())

    def forward(self, obs: Tensor) -> Tensor:
        """Return ``(batch, action)`` for ``(batch, obs)``."""
        action = self._act(obs)
        return self.middle + action * self.half_width if self._native else action


def export(policy: Policy, kind: Format, *, native: bool = False) -> bytes:
    """Return the file's bytes; its input ``obs`` has a batch of any size.

    Args:
        policy: from :func:`lff.load`.
        kind: ``onnx``, which needs the extra ``export``, or ``pt2`` for ``torch.export.load``.
        native: actions in the simulator's own range instead of [-1, 1].
    """
    check_choice("format", kind, get_args(Format))
    if kind == "onnx":
        require_extra("export", *_NEEDED, purpose="export to .onnx")
    module = MeanPolicy(policy, native=native).eval()
    g, shape = torch.Generator().manual_seed(0), (5, *policy.agent.spaces.obs)
    if len(shape) == 2:
        example = torch.randn(shape, generator=g)
    else:
        example = torch.randint(0, 256, shape, generator=g, dtype=torch.uint8)
    with _quiet():
        data, found = (_onnx if kind == "onnx" else _pt2)(module, example)
    expected = policy.act(example.numpy(), native=native)
    scale = np.maximum(module.half_width.numpy(), 1.0) if native else np.ones(1)
    error = float(np.max(np.abs(found - expected) / scale))
    if not error <= TOLERANCE:
        text = f"the exported policy differs from the agent by {error:.2g}"
        raise RunError(f"{text}; nothing written")
    return data


def _program(module: nn.Module, example: Tensor) -> Any:
    shapes = {"obs": {0: torch.export.Dim("batch")}}
    program = torch.export.export(module, (example,), dynamic_shapes=shapes)
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)  # paths of this machine
    return program


def _pt2(module: nn.Module, example: Tensor) -> tuple[bytes, Any]:
    """Return the file, and the actions of the example that it gives."""
    file = io.BytesIO()
    torch.export.save(_program(module, example), file)
    with torch.inference_mode():
        played = torch.export.load(io.BytesIO(file.getvalue())).module()(example).numpy()
    return file.getvalue(), played


def _onnx(module: nn.Module, example: Tensor) -> tuple[bytes, Any]:
    import onnxruntime

    program = torch.onnx.export(
        _program(module, example),
        dynamo=True,
        verbose=False,
        input_names=["obs"],
        output_names=["action"],
    )
    if program is None:
        raise RunError("torch made no ONNX program; write a .pt2 instead")
    proto = program.model_proto
    for node in (*proto.graph.node, *(n for f in proto.functions for n in f.node)):
        del node.metadata_props[:]
    for value in (*proto.graph.input, *proto.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    del proto.graph.value_info[:]  # shapes in between, under the old name of the batch
    data = bytes(proto.SerializeToString())
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    return data, session.run(["action"], {"obs": example.numpy()})[0]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep torch's remarks about its own deprecations and absent optional parts to itself."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
