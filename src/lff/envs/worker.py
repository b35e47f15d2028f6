"""The other end of :mod:`lff.envs.processes`: ``python -m lff.envs.worker SOCKET WHAT``."""

import json
import signal
import sys
from multiprocessing.connection import Connection

import numpy as np

from lff.envs import Env, make
from lff.envs.processes import FAILED, GET, RESET, SET, STEP, pack, unpack
from lff.envs.vector import EnvSlot, InProcess

OK = b"."


def serve(pipe: Connection, what: dict[str, object]) -> None:
    """Make the environments and do what is asked until the socket ends."""
    task, seed, repeat = str(what["task"]), int(str(what["seed"])), int(str(what["repeat"]))
    indices = what["index"]
    assert isinstance(indices, list)

    def make_env(seed: int) -> Env:
        return make(task, seed=seed, action_repeat=repeat)

    envs = InProcess([EnvSlot(make_env, seed=seed, index=int(index)) for index in indices])
    sizes = {"obs": envs.obs_dim, "action": envs.action_dim}
    pipe.send_bytes(OK + json.dumps(sizes).encode())
    while True:
        message = pipe.recv_bytes()
        pipe.send_bytes(OK + answer(envs, message[:1], message[1:]))


def answer(envs: InProcess, order: bytes, data: bytes) -> bytes:
    """Return the reply to one message."""
    if order == STEP:
        action = np.frombuffer(data, np.float32).reshape(envs.num_envs, envs.action_dim)
        step = envs.step(action)
        ends = (step.terminated, step.truncated)
        numbers = np.stack([step.reward, *ends, step.frames], axis=1)
        return np.concatenate([step.obs, step.next_obs, numbers], axis=1).tobytes()
    if order == RESET:
        return envs.reset().tobytes()
    if order == GET:
        return pack(envs.get_state())
    if order == SET:
        envs.set_state(unpack(data))
        return b""
    raise ValueError(f"no such order: {order!r}")


def main() -> None:
    """Serve until the socket ends; signals are the business of the run that started this."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    pipe = Connection(int(sys.argv[1]))
    try:
        serve(pipe, json.loads(sys.argv[2]))
    except EOFError:
        return
    except Exception as error:  # noqa: BLE001 - whatever an environment raises is sent back
        try:
            pipe.send_bytes(FAILED + " ".join(f"{type(error).__name__}: {error}".split()).encode())
        except OSError:
            return


if __name__ == "__main__":
    main()
