"""Episodes of a run's policy on its task, as rewards and as MP4 or GIF files."""

import io
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lff.core.checks import check_size
from lff.core.errors import BadInputError, require_extra
from lff.core.seeding import env_seed, stream_seed
from lff.runs.load import Policy

DEFAULT_FPS = 30.0  # for environments that do not say how fast they are
FASTEST = 50.0
"""Frames per second at most: a GIF counts in hundredths of a second, players not below two."""
Frame = NDArray[np.uint8]


class Player:
    """Plays a policy; equal seeds give equal episodes, and the run is only read."""

    def __init__(
        self, policy: Policy, *, seed: int = 0, sample: bool = False, render: bool = False
    ) -> None:
        self.policy, self.seed, self.sample = policy, seed, sample
        first, repeat = env_seed(seed, "play"), policy.config.action_repeat
        self.env = policy.make_env(seed=first, action_repeat=repeat, render=render)
        self.fps = float(self.env.metadata.get("render_fps") or DEFAULT_FPS) / repeat

    def episode(
        self, number: int, *, film: Callable[[Frame], None] | None = None, every: int = 1
    ) -> Iterator[float]:
        """Play one episode and yield its rewards; ``film`` takes every so-many-th frame."""
        obs, _ = self.env.reset(seed=env_seed(self.seed, f"play/{number}"))
        for step in itertools.count():
            if film is not None and step % every == 0:
                film(self._frame())
            draw = stream_seed(self.seed, f"action/{number}/{step}") if self.sample else None
            action = self.policy.act(obs, sample=self.sample, seed=draw)
            obs, reward, terminated, truncated, _ = self.env.step(action)
            yield reward
            if terminated or truncated:
                return

    def close(self) -> None:
        """Close the task."""
        self.env.close()

    def _frame(self) -> Frame:
        try:
            return np.asarray(self.env.render(), np.uint8)
        except (ImportError, gymnasium.error.Error) as error:  # a library of the task is missing
            constraint, remedy = "of a task that can be drawn here", " ".join(str(error).split())
            raise BadInputError("video", str(self.env), constraint, remedy) from None


@dataclass(frozen=True)
class Played:
    """Returns and lengths of episodes."""

    returns: tuple[float, ...]
    lengths: tuple[int, ...]

    @classmethod
    def of(cls, rewards: Sequence[Sequence[float]]) -> "Played":
        """Return the sums and numbers of the rewards of each episode."""
        return cls(tuple(map(sum, rewards)), tuple(map(len, rewards)))

    @property
    def mean(self) -> float:
        """Mean return."""
        return float(np.mean(self.returns))

    @property
    def std(self) -> float:
        """Standard deviation of the returns."""
        return float(np.std(self.returns))

    def __str__(self) -> str:
        count = len(self.returns)
        episodes = f"{count} episode{'' if count == 1 else 's'}"
        return f"mean {self.mean:.1f} ± {self.std:.1f} over {episodes}"


def play(policy: Policy, *, episodes: int, seed: int = 0, sample: bool = False) -> Played:
    """Play episodes, those of ``lff play --episodes --seed``."""
    check_size("episodes", episodes)
    with closing(Player(policy, seed=seed, sample=sample)) as player:
        rewards = [[*player.episode(number)] for number in range(episodes)]
    return Played.of(rewards)


def require_writer(path: Path) -> None:
    """Raise, before anything is played, unless a file of this name can be written."""
    if path.suffix not in (".mp4", ".gif"):
        raise BadInputError("video", str(path), "a .mp4 or .gif file", "use for example play.mp4")
    if path.suffix == ".mp4":
        require_extra("video", "av", purpose="an .mp4 video")


def stride(fps: float) -> int:
    """Return how many steps one frame stands for, so that at most 50 come in a second."""
    return max(1, math.ceil(fps / FASTEST))


def new_video(path: Path, *, fps: float) -> "Mp4 | Gif":
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

    def add(self, frame: Frame) -> None:
        """Encode one frame; an odd side loses its last row: H.264 needs even ones."""
        height, width = (side // 2 * 2 for side in frame.shape[:2])
        if not self._stream.codec_context.is_open:
            self._stream.width, self._stream.height = width, height
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
        self._fps = fps
        self._frames: list[Any] = []

    def add(self, frame: Frame) -> None:
        """Keep one frame, in 256 colours."""
        self._frames.append(Image.fromarray(frame).quantize())

    def finish(self) -> bytes:
        """Return the file's bytes."""
        file = io.BytesIO()
        first, *rest = self._frames
        duration = 10 * max(2, round(100 / self._fps))
        first.save(file, format="GIF", save_all=True, append_images=rest, duration=duration, loop=0)
        return file.getvalue()
