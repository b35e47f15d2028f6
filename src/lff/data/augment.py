"""Augmentation of images as in RAD (Laskin et al. 2020), on uint8, a whole batch at once.

A transform has a random form for training and a deterministic one, :meth:`center`, for acting and
evaluation; both give images of the same side, so that an agent never sees another size than the
one it was trained on.

    >>> crop = RandomCrop(size=84)
    >>> crop.out_size(100)
    84
    >>> crop.center(np.zeros((9, 100, 100), dtype=np.uint8)).shape
    (9, 84, 84)

Images are gathered from where they are stored, frame by frame, and only the window is copied:
at 100 to 84 several times faster than to copy whole observations and to crop these.
"""

from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from jaxtyping import Int64, UInt8
from numpy.lib.stride_tricks import sliding_window_view
from torch import Tensor

from lff.core.checks import Config, Size
from lff.core.errors import BadInputError

Images = TypeVar("Images", np.ndarray, Tensor)
Sides = tuple[int, int]
Frames = UInt8[np.ndarray, "row channel height width"]
Stacked = UInt8[np.ndarray, "batch channels out_height out_width"]
Rows = Int64[np.ndarray, "batch stack"]
At = Int64[np.ndarray, "2 batch"]
"""Upper left corners: rows of y and of x."""


class Corners(NamedTuple):
    """Upper left corners of a batch's windows."""

    obs: At
    next_obs: At


@dataclass(frozen=True, kw_only=True)
class RandomCrop(Config):
    """A window of the image, anywhere in it; observation and next observation apart."""

    size: Size = 84
    """Side of the window in pixels; the paper cuts 84 from 100."""

    def out_size(self, size: int) -> int:
        """Return the side of a transformed image of side ``size``."""
        if size < self.size:
            remedy = f"use a crop of {size} or less, or larger images"
            raise BadInputError("crop", self.size, f"at most the image's side {size}", remedy)
        return self.size

    def draw(self, count: int, sides: Sides, generator: torch.Generator) -> Corners:
        """Draw corners for ``count`` transitions, uniform over all placements."""
        rooms = [side - self.out_size(side) for side in sides]
        return Corners(*_draw(2, count, rooms, generator))

    def gather(self, frames: Frames, rows: Rows, corners: At) -> Stacked:
        """Return the windows of stacked frames; one corner for all frames of an observation."""
        windows = sliding_window_view(frames, (self.size, self.size), axis=(2, 3))
        y, x = corners[:, :, None]
        return _stacked(windows[rows, :, y, x])

    def center(self, obs: Images) -> Images:
        """Return the windows in the middle of images (..., height, width)."""
        y, x = ((side - self.out_size(side)) // 2 for side in obs.shape[-2:])
        return _copy(obs[..., y : y + self.size, x : x + self.size])


@dataclass(frozen=True, kw_only=True)
class RandomTranslate(Config):
    """Place the image at random on a larger black one, equally for obs and next_obs."""

    size: Size = 108
    """Side of the black image in pixels; the paper puts 100 on 108."""

    def out_size(self, size: int) -> int:
        if size > self.size:
            remedy = f"translate on {size} or more, or use smaller images"
            raise BadInputError("translate", self.size, f"at least the image's {size}", remedy)
        return self.size

    def draw(self, count: int, sides: Sides, generator: torch.Generator) -> Corners:
        rooms = [self.out_size(side) - side for side in sides]
        (corners,) = _draw(1, count, rooms, generator)
        return Corners(corners, corners)

    def gather(self, frames: Frames, rows: Rows, corners: At) -> Stacked:
        """Return stacked frames on black; one corner for all frames of an observation."""
        canvas = np.zeros((*rows.shape, frames.shape[1], self.size, self.size), frames.dtype)
        windows = sliding_window_view(canvas, frames.shape[2:], axis=(3, 4), writeable=True)
        y, x = corners[:, :, None]
        batch, stack = np.ogrid[: rows.shape[0], : rows.shape[1]]
        windows[batch, stack, :, y, x] = frames[rows]
        return _stacked(canvas)

    def center(self, obs: Images) -> Images:
        """Return images (..., height, width) in the middle of black ones."""
        height, width = obs.shape[-2:]
        y, x = ((self.out_size(side) - side) // 2 for side in (height, width))
        shape = (*obs.shape[:-2], self.size, self.size)
        canvas = obs.new_zeros(shape) if isinstance(obs, Tensor) else np.zeros(shape, obs.dtype)
        canvas[..., y : y + height, x : x + width] = obs
        return canvas


@dataclass(frozen=True, kw_only=True)
class NoAugmentation:
    """Unchanged images."""

    def out_size(self, size: int) -> int:
        return size

    def draw(self, count: int, sides: Sides, generator: torch.Generator) -> Corners:  # noqa: ARG002
        zeros = np.zeros((2, count), dtype=np.int64)
        return Corners(zeros, zeros)

    def gather(self, frames: Frames, rows: Rows, corners: At) -> Stacked:  # noqa: ARG002
        return _stacked(frames.take(rows, axis=0))

    def center(self, obs: Images) -> Images:
        return _copy(obs)


Augmentation = RandomCrop | RandomTranslate | NoAugmentation


def augment(
    augmentation: Augmentation, obs: Images, next_obs: Images, generator: torch.Generator
) -> tuple[Images, Images]:
    """Transform stored observations (batch, channel, height, width) of transitions."""
    height, width = obs.shape[-2:]
    corners = augmentation.draw(len(obs), (height, width), generator)
    rows = np.arange(len(obs))[:, None]
    pairs = zip((obs, next_obs), corners, strict=True)
    one, other = (augmentation.gather(np.asarray(x), rows, at) for x, at in pairs)
    if isinstance(obs, Tensor):
        return torch.from_numpy(one), torch.from_numpy(other)
    return one, other


def _draw(
    sets: int, count: int, rooms: list[int], generator: torch.Generator
) -> Int64[np.ndarray, "sets 2 batch"]:
    axes = [torch.randint(room + 1, (sets, count), generator=generator) for room in rooms]
    return torch.stack(axes, dim=1).numpy()


def _stacked(frames: UInt8[np.ndarray, "batch stack channel height width"]) -> Stacked:
    batch, stack, channels, *sides = frames.shape
    return np.ascontiguousarray(frames).reshape(batch, stack * channels, *sides)


def _copy(images: Images) -> Images:
    if isinstance(images, Tensor):
        return images.clone(memory_format=torch.contiguous_format)
    return np.array(images, order="C")
