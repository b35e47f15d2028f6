"""Frames as the bytes of an MP4 or GIF file; only encoded frames stay in memory."""

import importlib.util
import io
import math
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lff.core.errors import BadInputError

PACKAGES = {".mp4": "av", ".gif": "PIL"}
"""The package that writes a kind of file."""
FASTEST = 50.0
"""Frames per second at most: a GIF counts in hundredths of a second, players not below two."""
Frame = NDArray[np.uint8]


class Video(Protocol):
    """A video that is being written."""

    def add(self, frame: Frame) -> None:
        """Take the next frame, height x width x 3."""

    def finish(self) -> bytes:
        """Return the file's bytes."""


def require_writer(path: Path) -> None:
    """Raise, before anything is played, unless a file of this name can be written."""
    if path.suffix not in PACKAGES:
        raise BadInputError("video", str(path), "a .mp4 or .gif file", "use play.mp4, say")
    package = PACKAGES[path.suffix]
    if importlib.util.find_spec(package) is None:
        remedy = "pip install 'learned-fourier-features[video]'"
        raise BadInputError("video", f"no module {package}", "written by it", remedy)


def stride(fps: float) -> int:
    """Return how many steps one frame stands for, so that at most 50 come in a second."""
    return max(1, math.ceil(fps / FASTEST))


def new_video(path: Path, *, fps: float) -> Video:
    """Return a video of the kind that the file's name says."""
    return Gif(fps) if path.suffix == ".gif" else Mp4(fps)


class Mp4:
    """H.264, encoded as the frames come."""

    def __init__(self, fps: float) -> None:
        import av

        self._av = av
        self._file = io.BytesIO()
        self._container = av.open(self._file, "w", format="mp4")
        rate = Fraction(fps).limit_denominator(1000)
        self._stream: Any = self._container.add_stream("libx264", rate=rate)
        self._stream.pix_fmt = "yuv420p"
        self._begun = False

    def add(self, frame: Frame) -> None:
        """Encode one frame; an odd side loses its last row: H.264 needs even ones."""
        height, width = (side // 2 * 2 for side in frame.shape[:2])
        if not self._begun:
            self._stream.width, self._stream.height, self._begun = width, height, True
        cut = np.ascontiguousarray(frame[:height, :width])
        encoded = self._av.VideoFrame.from_ndarray(cut, format="rgb24")
        self._container.mux(self._stream.encode(encoded))

    def finish(self) -> bytes:
        """Close the file and return its bytes."""
        self._container.mux(self._stream.encode())
        self._container.close()
        return self._file.getvalue()


class Gif:
    """A GIF that repeats; each frame has its own palette."""

    def __init__(self, fps: float) -> None:
        from PIL import Image

        self._image = Image
        self._fps = fps
        self._frames: list[Any] = []

    def add(self, frame: Frame) -> None:
        """Keep one frame, in 256 colours."""
        self._frames.append(self._image.fromarray(frame).quantize())

    def finish(self) -> bytes:
        """Return the file's bytes."""
        file = io.BytesIO()
        first, *rest = self._frames
        duration = 10 * max(2, round(100 / self._fps))
        first.save(file, format="GIF", save_all=True, append_images=rest, duration=duration, loop=0)
        return file.getvalue()
