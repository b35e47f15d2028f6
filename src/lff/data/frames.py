"""A ring of transitions between stacked frames, in which every frame is stored once.

An observation is the last ``stack`` frames of its episode, and two observations of a transition
share all but one; stored as they are, a frame would be kept twice ``stack`` times.  Here a *row* is
one frame with what led to it (action, reward, terminated), and its age in the episode.  Row r of an
episode that began at row e is the transition

    s  = frames max(e, r - stack), ..., max(e, r - 1)
    s' = frames max(e, r - stack + 1), ..., max(e, r)

since the first observation of an episode is its first frame repeated.  Row e itself, of age 0, is
no transition.  Batches equal those of a ring of stacked observations bit for bit.
"""

from typing import Any

import numpy as np
import torch

from lff.core.checks import check_size
from lff.core.errors import BadInputError
from lff.core.memory import available_memory, check_memory
from lff.data.augment import Augmentation, NoAugmentation
from lff.data.replay import Array, Batch, Memory


class FrameReplay(Memory):
    """The last ``capacity`` transitions of images, uint8.

    ``rows`` counts all rows ever written; number n stands in place n % ``row_capacity``, so that a
    ring restored from the same rows gives the same samples.  Rows are a little more than
    transitions, one for each episode.  ``row_capacity`` has room for episodes of 50 steps and
    longer; with shorter ones the oldest transitions leave before ``capacity`` is reached.
    """

    def __init__(
        self,
        capacity: int,
        *,
        obs_shape: tuple[int, int, int] = (9, 100, 100),
        action_dim: int,
        frame_channels: int = 3,
        augmentation: Augmentation = NoAugmentation(),  # noqa: B008  frozen
    ) -> None:
        sizes: dict[str, Any] = {"obs_shape": obs_shape, "action_dim": action_dim}
        needed = self.bytes_needed(capacity, **sizes, frame_channels=frame_channels)
        remedy = "use a smaller --replay-capacity or a smaller image"
        check_memory(needed, available_memory(), what="the replay", remedy=remedy)
        self.capacity, self.row_capacity = capacity, _row_capacity(capacity)
        self.obs_shape, self.frame_channels = obs_shape, frame_channels
        self.augmentation = augmentation
        self.stack = obs_shape[0] // frame_channels
        self.rows = 0
        self.total = 0
        row = _row((frame_channels, *obs_shape[1:]), action_dim)
        self._columns = {
            name: np.empty((self.row_capacity, *row[name].shape), row[name].base)
            for name in row.names or ()
        }
        # row numbers of transitions: number n stands in place n % capacity, as in Replay
        self._transitions = np.empty(capacity, dtype=np.int64)
        self._first = 0  # number of the oldest transition whose frames are all there

    @staticmethod
    def bytes_needed(
        capacity: int,
        *,
        obs_shape: tuple[int, int, int] = (9, 100, 100),
        action_dim: int,
        frame_channels: int = 3,
    ) -> int:
        """Return the bytes of a full ring, to be known before it is asked for.

        >>> FrameReplay.bytes_needed(100_000, action_dim=6) < 3.3e9
        True
        """
        check_size("capacity", capacity)
        check_size("frame_channels", frame_channels)
        for name, side in zip(("channels", "height", "width"), obs_shape, strict=True):
            check_size(name, side)
        if obs_shape[0] % frame_channels:
            remedy = "stack whole frames"
            constraint = f"a multiple of the {frame_channels} of a frame"
            raise BadInputError("channels", obs_shape[0], constraint, remedy)
        row = _row((frame_channels, *obs_shape[1:]), check_size("action_dim", action_dim))
        return _row_capacity(capacity) * row.itemsize + 8 * capacity

    def __len__(self) -> int:
        return self.total - self._first

    def begin(self, obs: np.ndarray) -> None:
        """Store the first frame of an episode; call it after every reset.

        Again, with the same frame, it changes nothing: a run that goes on from a checkpoint at an
        episode's start may reset once more.
        """
        self._check(obs)
        frame = self._newest(obs)
        if not (obs.reshape(self.stack, *frame.shape) == frame).all():
            remedy = "fill the stack with the first frame at reset"
            raise BadInputError("obs", "frames that differ", "one frame repeated", remedy)
        if self.rows and not self._last("age") and np.array_equal(self._last("frame"), frame):
            return
        self._write(frame, 0.0, 0.0, terminated=False, age=0)

    def add(
        self, obs: Array, action: Array, reward: float, next_obs: Array, *, terminated: bool
    ) -> None:
        self._check(next_obs)
        if not self.rows or self._last("terminated"):
            raise BadInputError("episode", "none", "under way", "call begin(obs) at every reset")
        if not np.array_equal(self._newest(obs), self._last("frame")):
            remedy = "call begin(obs) at every reset, and add every step"
            raise BadInputError("obs", "another image", "the next_obs before", remedy)
        if not np.array_equal(next_obs[: -self.frame_channels], obs[self.frame_channels :]):
            remedy = "append the newest frame last, and let the oldest go"
            raise BadInputError("next_obs", "another stack", "obs, one frame later", remedy)
        age = int(self._last("age")) + 1
        self._write(self._newest(next_obs), action, reward, terminated=terminated, age=age)

    def sample(self, size: int, generator: torch.Generator) -> Batch:
        """Return ``size`` transitions drawn uniformly with replacement, augmented.

        The images are uint8 (batch, channel, height, width); the draws of the augmentation follow
        that of the transitions.
        """
        return self._sample(size, generator, self.augmentation)

    def peek(self, size: int, generator: torch.Generator) -> Batch:
        return self._sample(size, generator, NoAugmentation())

    def _sample(self, size: int, generator: torch.Generator, transform: Augmentation) -> Batch:
        index = self._draw(size, generator).numpy()
        if self._first > max(0, self.total - self.capacity):  # some have left early
            index = (self._first + index) % self.capacity
        numbers = self._transitions[index]
        places = numbers % self.row_capacity
        columns, frames = self._columns, self._columns["frame"]
        start = numbers - columns["age"][places]
        window = np.maximum(numbers[:, None] + np.arange(-self.stack, 1), start[:, None])
        window %= self.row_capacity
        corners = transform.draw(size, self.obs_shape[1:], generator)
        found = (
            transform.gather(frames, window[:, :-1], corners.obs),
            columns["action"][places],
            columns["reward"][places],
            transform.gather(frames, window[:, 1:], corners.next_obs),
            columns["terminated"][places],
        )
        return Batch(*map(torch.from_numpy, found))

    def _count(self, total: int) -> None:
        self.rows = total
        kept = self.kept_rows
        # number the transitions of the kept rows as they were numbered when they were added
        numbers = np.arange(self.rows - kept, self.rows)
        places = numbers % self.row_capacity
        is_transition = self._columns["age"][places] > 0
        self.total = int(self._last("total")) if kept else 0
        held = numbers[is_transition][-self.capacity :]
        order = np.arange(self.total - len(held), self.total) % self.capacity
        self._transitions[order] = held
        self._first = self.total - len(held)
        self._let_go()

    def _write(
        self, frame: Array, action: Array | float, reward: float, *, terminated: bool, age: int
    ) -> None:
        place = self.rows % self.row_capacity
        values = (frame, action, reward, terminated, age, self.total + bool(age))
        for column, value in zip(self._columns.values(), values, strict=True):
            column[place] = value
        if age:
            self._transitions[self.total % self.capacity] = self.rows
            self.total += 1
        self.rows += 1
        self._let_go()

    def _let_go(self) -> None:
        """Give up the oldest transitions while one of their frames has been overwritten."""
        self._first = max(self._first, self.total - self.capacity)
        oldest = self.rows - self.row_capacity
        while oldest > 0 and self._first < self.total:
            number = int(self._transitions[self._first % self.capacity])
            # below the oldest row its age is overwritten, but then it is lost anyway
            age = int(self._columns["age"][number % self.row_capacity])
            if number >= oldest and number - min(age, self.stack) >= oldest:
                return
            self._first += 1

    def _last(self, name: str) -> Any:
        """Return an entry of the newest row."""
        return self._columns[name][(self.rows - 1) % self.row_capacity]

    def _newest(self, obs: np.ndarray) -> np.ndarray:
        return obs[-self.frame_channels :]

    def _check(self, obs: np.ndarray) -> None:
        if obs.shape != self.obs_shape or obs.dtype != np.uint8:
            remedy = "give the replay the environment's own images"
            constraint = f"uint8 of shape {self.obs_shape}"
            raise BadInputError("obs", f"{obs.dtype} of {obs.shape}", constraint, remedy)


def _row_capacity(capacity: int) -> int:
    """Rows beside the transitions: one for each episode, and the frames before the oldest."""
    return capacity + capacity // 50 + 64


def _row(frame: tuple[int, ...], action_dim: int) -> "np.dtype[np.void]":
    return np.dtype(
        [
            ("frame", np.uint8, frame),
            ("action", np.float32, (action_dim,)),
            ("reward", np.float32),
            ("terminated", np.bool_),
            ("age", np.int32),  # rows since the episode's first
            ("total", np.int64),  # transitions ever added, this one included
        ]
    )
