"""Environments in worker processes: as :class:`~lff.envs.vector.InProcess`, in parallel.

A worker is this file, ``python -m lff.envs.processes SOCKET WHAT``; plain bytes go over the socket:
arrays as they lie in memory, states as safetensors.  Nothing is pickled.  A worker ends when
its socket does, so that none outlives a run that was killed.
"""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lff.core.errors import EnvCrashError, RunError, one_line
from lff.core.imports import child_imports
from lff.envs import Env, make
from lff.envs.base import Saved, State
from lff.envs.vector import EnvSlot, InProcess, Vector, VectorStep
from lff.store.atomic import decode, encode

STEP, RESET, GET, SET = b"s", b"r", b"g", b"w"
OK, FAILED = b".", b"!"


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

    def reset(self) -> NDArray[np.float32]:
        rows = [np.frombuffer(data, np.float32) for data in self._ask([RESET] * len(self._parts))]
        return np.concatenate(rows).reshape(self.num_envs, self.obs_dim)

    def step(self, action: NDArray[np.float32]) -> VectorStep:
        rows = np.ascontiguousarray(action, np.float32)
        messages = [STEP + rows[part[0] : part[-1] + 1].tobytes() for part in self._parts]
        # a row: both observations and the four numbers, as float64, which holds them all
        found = [np.frombuffer(data, np.float64) for data in self._ask(messages)]
        table = np.concatenate(found).reshape(self.num_envs, 2 * self.obs_dim + 4)
        obs, led_to, numbers = np.split(table, [self.obs_dim, 2 * self.obs_dim], axis=1)
        return VectorStep.of(obs, led_to, *numbers.T)

    def get_state(self) -> State:
        state: State = {}
        for data in self._ask([GET] * len(self._parts)):
            state |= decode(data, "a worker's answer")
        return state

    def set_state(self, state: Saved) -> None:
        items = [(int(name.partition("/")[0]), name, value) for name, value in state.items()]
        own = [{name: x for index, name, x in items if index in part} for part in self._parts]
        self._ask([SET + encode(arrays) for arrays in own])

    def close(self) -> None:
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
        command = [sys.executable, "-m", "lff.envs.processes", str(number), json.dumps(what)]
        environment = {**os.environ, **child_imports()}
        options: dict[str, Any] = {"env": environment, "stdin": subprocess.DEVNULL}
        self._children.append(subprocess.Popen(command, pass_fds=(number,), **options))
        theirs.close()
        self._pipes.append(ours)

    def _ask(self, messages: list[bytes]) -> list[bytes]:
        for i, message in enumerate(messages):
            try:
                self._pipes[i].send_bytes(message)
            except OSError:
                raise self._gone(i) from None
        return [self._receive(i) for i in range(len(self._pipes))]

    def _receive(self, worker: int) -> bytes:
        try:
            data: bytes = self._pipes[worker].recv_bytes()
        except (EOFError, OSError):
            raise self._gone(worker) from None
        if data.startswith(FAILED):
            line, _, detail = data[1:].decode().partition("\n")
            failure = RunError(f"an environment failed in a process of its own: {line}")
            failure.detail = detail
            raise failure
        return data[1:]

    def _gone(self, worker: int) -> RunError:
        code = self._children[worker].wait()
        numbers = self._parts[worker]
        return RunError(
            f"the process of environments {numbers[0]} to {numbers[-1]} ended with exit code "
            f"{code}; run the same command to continue"
        )


def serve(pipe: Connection, task: str, *, index: list[int], seed: int, repeat: int) -> None:
    """Make the environments and do what is asked until the socket ends."""

    def make_env(seed: int) -> Env:
        return make(task, seed=seed, action_repeat=repeat)

    envs = InProcess([EnvSlot(make_env, seed=seed, index=one) for one in index])
    pipe.send_bytes(OK + json.dumps({"obs": envs.obs_dim, "action": envs.action_dim}).encode())
    while True:
        message = pipe.recv_bytes()
        pipe.send_bytes(OK + _answer(envs, message[:1], message[1:]))


def _answer(envs: InProcess, order: bytes, data: bytes) -> bytes:
    if order == STEP:
        action = np.frombuffer(data, np.float32).reshape(envs.num_envs, envs.action_dim)
        step = envs.step(action)
        numbers = np.stack([step.reward, step.terminated, step.truncated, step.frames], axis=1)
        return np.concatenate([step.obs, step.next_obs, numbers], axis=1).tobytes()
    if order == RESET:
        return envs.reset().tobytes()
    if order == GET:
        return encode(envs.get_state())
    envs.set_state(decode(data, "a request"))
    return b""


def main() -> None:
    """Serve until the socket ends; signals are the business of the run that started this."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    pipe = Connection(int(sys.argv[1]))
    try:
        serve(pipe, **json.loads(sys.argv[2]))
    except EOFError:
        return
    except Exception as error:  # noqa: BLE001 - whatever an environment raises is sent back
        line = one_line(f"{type(error).__name__}: {error}")
        if isinstance(error, EnvCrashError):
            line = f"{error}\n{error.detail}"
        with suppress(OSError):
            pipe.send_bytes(FAILED + line.encode())


if __name__ == "__main__":
    main()
