"""Inputs of the theory room: checked, as float64 matrices with one point a row."""

import math

import torch
from torch import Tensor

from lff.core.checks import check_size
from lff.core.errors import BadInputError, BadTypeError


def as_points(name: str, x: object) -> Tensor:
    """Return points as a float64 matrix ``(points, dim)``; a vector is refused as ambiguous."""
    try:
        points = torch.as_tensor(x)
    except (TypeError, ValueError, RuntimeError):
        raise BadTypeError(name, x, "a tensor or array", "pass points x dimensions") from None
    if points.ndim != 2:
        shape = tuple(points.shape)
        raise BadInputError(name, shape, "of shape (points, dim)", "use x[:, None] for one column")
    points = points.detach().double()
    if not bool(points.isfinite().all()):
        bad = int((~points.isfinite()).any(dim=1).nonzero()[0])
        raise BadInputError(f"{name}[{bad}]", points[bad].tolist(), "finite", "drop such points")
    return points


def as_pair(x1: object, x2: object | None) -> tuple[Tensor, Tensor]:
    """Return two checked sets of points of one width; the second is the first if None."""
    first = as_points("x1", x1)
    second = first if x2 is None else as_points("x2", x2)
    if first.shape[1] != second.shape[1]:
        widths = (first.shape[1], second.shape[1])
        raise BadInputError("widths of x1 and x2", widths, "equal", "pass points of one space")
    return first, second


def circle(points: int, *, radius: float = 1.0) -> Tensor:
    """Return evenly spaced points on a circle, the only sphere where a kernel is circulant."""
    angle = 2 * math.pi * torch.arange(check_size("points", points), dtype=torch.float64) / points
    return radius * torch.stack((angle.cos(), angle.sin()), dim=1)
