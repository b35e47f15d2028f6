"""Environments in worker processes: as :class:`~lff.envs.vector.InProcess`, in parallel.

A worker is ``python -m lff.envs.worker``, with a socket to it over which plain bytes go: arrays as
they lie in memory, states as numpy's ``.npz``.  Nothing is pickled.  A worker ends when its socket
does, so that none outlives a run that was killed.
"""

import io
import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lff.core.errors import RunError
from lff.envs.base import State
from lff.envs.vector import Vector, VectorStep

STEP, RESET, GET, SET = b"s", b"r", b"g", b"w"
FAILED = b"!"


class Subprocesses(Vector):
    """``num_envs`` environments of a task by name, spread over some workers."""

    can_resume = True

    def __init__(
        self, task: str, *, seed: int, num_envs: int, action_repeat: int = 1, workers: int = 0
    ) -> None:
        """Start the workers, at most one for each processor unless ``workers`` is given."""
        self.num_envs = num_envs
        workers = min(num_envs, workers or max(1, len(os.sched_getaffinity(0))))
        self._parts = [part.tolist() for part in np.array_split(np.arange(num_envs), workers)]
        self._children: list[subprocess.Popen[bytes]] = []
        self._pipes: list[Any] = []
        for part in self._parts:
            self._start({"task": task, "seed": seed, "index": part, "repeat": action_repeat})
        sizes = [json.loads(self._receive(i)) for i in range(workers)]
        self.obs_dim, self.action_dim = sizes[0]["obs"], sizes[0]["action"]
        self._valid = np.ones(num_envs, bool)

    def reset(self) -> NDArray[np.float32]:
        """Begin the first episode of each; return the observations."""
        self._send_all([RESET] * len(self._parts))
        rows = [np.frombuffer(data, np.float32) for data in self._receive_all()]
        return np.concatenate(rows).reshape(self.num_envs, self.obs_dim)

    def step(self, action: NDArray[np.float32]) -> VectorStep:
        """Play one action in each; an episode that ends is followed by the next."""
        rows = np.ascontiguousarray(action, np.float32)
        self._send_all([STEP + rows[part[0] : part[-1] + 1].tobytes() for part in self._parts])
        # a row: both observations and the five numbers, as float64, which holds them all
        found = [np.frombuffer(data, np.float64) for data in self._receive_all()]
        table = np.concatenate(found).reshape(self.num_envs, 2 * self.obs_dim + 4)
        obs, led_to = (
            table[:, i * self.obs_dim : (i + 1) * self.obs_dim].astype(np.float32) for i in (0, 1)
        )
        reward, terminated, truncated, frames = table[:, 2 * self.obs_dim :].T
        return VectorStep(
            obs,
            led_to,
            reward.copy(),
            terminated.astype(bool),
            truncated.astype(bool),
            self._valid,
            frames.astype(np.int64),
        )

    def get_state(self) -> State:
        """Return the state of every environment, under its number."""
        self._send_all([GET] * len(self._parts))
        found = [unpack(data) for data in self._receive_all()]
        return {
            f"{part[int(name.partition('/')[0])]}/{name.partition('/')[2]}": value
            for part, state in zip(self._parts, found, strict=True)
            for name, value in state.items()
        }

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue where :meth:`get_state` was called."""
        messages = []
        for part in self._parts:
            place = {str(index): i for i, index in enumerate(part)}
            own = {
                f"{place[number]}/{rest}": value
                for name, value in state.items()
                for number, _, rest in (name.partition("/"),)
                if number in place
            }
            messages.append(SET + pack(own))
        self._send_all(messages)
        for _ in self._receive_all():
            pass

    def close(self) -> None:
        """Let the workers end and wait for them."""
        for pipe in self._pipes:
            pipe.close()
        for child in self._children:
            child.wait()
        self._pipes, self._children = [], []

    def __del__(self) -> None:
        for pipe in getattr(self, "_pipes", ()):
            pipe.close()

    def _start(self, what: Mapping[str, Any]) -> None:
        ours, theirs = multiprocessing.Pipe()
        number = theirs.fileno()
        command = [sys.executable, "-m", "lff.envs.worker", str(number), json.dumps(what)]
        # it finds the same modules: an environment of the user's own may lie anywhere
        found = os.pathsep.join(path or os.curdir for path in sys.path)
        environment = {**os.environ, "PYTHONPATH": found}
        child = subprocess.Popen(
            command, pass_fds=(number,), env=environment, stdin=subprocess.DEVNULL
        )
        theirs.close()
        self._children.append(child)
        self._pipes.append(ours)

    def _send_all(self, messages: list[bytes]) -> None:
        for i, message in enumerate(messages):
            try:
                self._pipes[i].send_bytes(message)
            except OSError:
                raise self._gone(i) from None

    def _receive_all(self) -> list[bytes]:
        return [self._receive(i) for i in range(len(self._pipes))]

    def _receive(self, worker: int) -> bytes:
        try:
            data: bytes = self._pipes[worker].recv_bytes()
        except (EOFError, OSError):
            raise self._gone(worker) from None
        if data.startswith(FAILED):
            text = data[1:].decode()
            raise RunError(f"an environment failed in a process of its own: {text}")
        return data[1:]

    def _gone(self, worker: int) -> RunError:
        code = self._children[worker].wait()
        numbers = self._parts[worker]
        return RunError(
            f"the process of environments {numbers[0]} to {numbers[-1]} ended with exit code "
            f"{code}; run the same command to go on"
        )


def pack(state: State) -> bytes:
    """Return a state as bytes."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **{name.replace("/", "|"): v for name, v in state.items()})
    return file.getvalue()


def unpack(data: bytes) -> State:
    """Return the state that :func:`pack` was given."""
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return {name.replace("|", "/"): arrays[name] for name in arrays.files}
