"""Soft actor-critic's update and acting, compiled for one agent and run on its own tensors.

Single steps agree with :meth:`lff.algos.SAC.update` to rounding; tests hold them to it.
"""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32, Int64
from torch import Tensor

from lff.algos.sac import SAC, SACConfig
from lff.core.checks import check_size
from lff.core.errors import BadInputError
from lff.data import Batch
from lff.native.binding import checked, table
from lff.native.build import Target, load
from lff.native.shape import UnsupportedError, describe, network_gap

CRITIC_METRICS = ("critic_loss", "alpha", "q_mean", "q_max", "target_q_mean")
ACTOR_METRICS = ("actor_loss", "entropy")
METRICS = tuple(f"train/{name}" for name in (*CRITIC_METRICS, *ACTOR_METRICS))
"""In the order of ``Metric`` in ``sac.cpp``."""
BETA1 = 0.9


class _Replay(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in Batch._fields),
        ("rows", ctypes.c_int64),
    ]


class _Noise(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("action", "next_action", "target")]


def supports(agent: Any, *, widest: int | None = None) -> str | None:
    """Return what keeps this agent from the native update, in a few words; None if nothing does.

    ``widest``: hidden layers wider than this count as not covered.
    """
    reason = _why_not(agent)
    if reason is not None:
        return reason
    try:
        shape = describe(agent)
    except UnsupportedError as error:
        return str(error)
    if widest is not None and max(*shape.actor.hidden, *shape.critic.hidden) > widest:
        return f"layers wider than {widest}"
    return None


def config_gap(algo: Any, widest: int) -> str | None:
    """Return the same by an algorithm's config, without building the agent."""
    if type(algo) is not SACConfig:
        return f"an algorithm other than SAC: {algo.tag}"
    reasons = (network_gap(net, widest) for net in (algo.actor, algo.critic))
    return _not_covered(algo.regularizers) or next(filter(None, reasons), None)


def _why_not(agent: Any) -> str | None:
    """Return what keeps an agent from the native update by its settings; None if nothing does."""
    if type(agent) is not SAC:
        return f"an agent of type {type(agent).__name__}"
    if any(value.device.type != "cpu" for value in agent.state().values()):
        return "a device other than the CPU"
    adams = (agent.optimizers["actor"], agent.optimizers["critic"])
    if any(rule.beta1 != BETA1 for adam in adams for rule in adam.rules.values()):
        return f"a beta1 other than {BETA1:g}"
    return _not_covered(agent.config.regularizers)


def _not_covered(regularizers: Sequence[Any]) -> str | None:
    """Return the first regularizer that the native update leaves out."""
    for regularizer in regularizers:
        if regularizer.penalizes or type(regularizer).__name__ in ("Dropout", "SpectralNorm"):
            return f"the regularizer {type(regularizer).__name__}"
    return None


def paying_threads(agent: Any, threads: int) -> int:
    """Return one thread for layers narrower than 256: waiting would cost more.  The bits stay."""
    return threads if supports(agent, widest=255) else 1


def _check_like(name: str, tensor: Tensor, own: Tensor) -> None:
    """Refuse a tensor that native code would read beyond its end."""
    if checked(tensor, own.dtype).shape != own.shape:
        raise BadInputError(name, (*tensor.shape,), f"of shape {(*own.shape,)}", "draw it again")


class NativeSAC:
    """The update and the policy of one agent as native code.

    The agent's tensors are bound by address: their values may change at any time, and do so here,
    but the tensors themselves must stay the same, as they do in ``load_state``.
    """

    def __init__(self, agent: Any, *, target: Target = "native", threads: int = 1) -> None:
        """Build the library, or take it from the cache, and bind the agent's tensors."""
        reason = supports(agent)
        if reason is not None:
            remedy = "use --compile graph"
            raise BadInputError("the agent", reason, "covered by the native update", remedy)
        self.shape = describe(agent, threads=check_size("threads", threads))
        self._library, self.origin = load(self.shape.header(), target)
        self._tensors, numbers = table(agent, self.shape)  # held, so that their memory stays
        self._handle = self._make(numbers)
        batch, actions = self.shape.batch, self.shape.actions
        self._pair = torch.empty(2, batch, actions)
        self._own_noise = (self._pair[0], self._pair[1], torch.empty(batch))
        self._index = torch.empty(batch, dtype=torch.int64)
        self._metrics = np.zeros(len(METRICS), np.float32)
        self._metrics_at = self._metrics.ctypes.data
        self._one = [np.empty(n, np.float32) for n in (self.shape.observations, actions, actions)]
        self._one_at = [array.ctypes.data for array in self._one]
        self._columns: Batch | None = None
        self._replay = _Replay()
        self._noise = _Noise()
        self._bound_noise: tuple[Tensor, ...] | None = None

    def _make(self, settings: list[float]) -> ctypes.c_void_p:
        library, tensors = self._library, self._tensors
        counts = (ctypes.c_int * 2)()
        library.lff_expects(counts)
        if list(counts) != [len(tensors), len(settings)]:
            raise RuntimeError(f"the library expects {list(counts)} pointers and numbers")
        library.lff_new.restype = ctypes.c_void_p
        library.lff_free.argtypes = [ctypes.c_void_p]
        library.lff_update.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int, ctypes.c_void_p]
        library.lff_act.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int]
        where = (0 if tensor is None else tensor.data_ptr() for tensor in tensors)
        addresses = (ctypes.c_void_p * len(tensors))(*where)
        numbers = (ctypes.c_double * len(settings))(*settings)
        handle = library.lff_new(addresses, numbers)
        if not handle:
            raise MemoryError("there is no memory for the native update")
        return ctypes.c_void_p(handle)

    def __del__(self) -> None:
        """Free the buffers and end the threads."""
        handle = getattr(self, "_handle", None)
        if handle is not None:
            self._library.lff_free(handle)

    def draw_index(self, rows: int, generator: torch.Generator) -> Int64[Tensor, " batch"]:
        """Draw the rows of a replay for one update, as ``Replay.sample`` does, into a buffer."""
        size = (self.shape.batch,)
        return torch.randint(rows, size, generator=generator, out=self._index)

    def draw_noise(self, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Draw the noise of one update, as ``SAC.draw`` does, into buffers."""
        torch.randn(self._pair.shape, generator=generator, out=self._pair)
        torch.randn(self._own_noise[2].shape, generator=generator, out=self._own_noise[2])
        return self._own_noise

    def update(
        self,
        columns: Batch,
        index: Int64[Tensor, " batch"],
        noise: tuple[Tensor, ...],
        *,
        actor: bool = True,
    ) -> dict[str, float]:
        """Do one update on rows of a replay, in place; return its metrics.

        Args:
            columns: whole columns of a replay, or a batch.
            index: the rows to learn from.
            noise: of the actions, the next actions and the targets, as ``draw_noise`` gives it.
            actor: update actor and temperature too.
        """
        if columns is not self._columns:
            self._bind(columns)
        if index is not self._index:
            _check_like("index", index, self._index)
        place = self._noise
        if noise is not self._bound_noise:
            for part, own in zip(noise[:3], self._own_noise, strict=True):
                _check_like("noise", part, own)
            place.action, place.next_action, place.target = (part.data_ptr() for part in noise[:3])
            self._bound_noise = noise
        replay, rows = ctypes.addressof(self._replay), index.data_ptr()
        drawn, out = ctypes.addressof(place), self._metrics_at
        if self._library.lff_update(self._handle, replay, rows, drawn, actor, out):
            raise BadInputError("index", "a row", f"below {self._replay.rows}", "draw it again")
        names = METRICS if actor else METRICS[: len(CRITIC_METRICS)]
        return dict(zip(names, self._metrics.tolist(), strict=False))

    def _bind(self, columns: Batch) -> None:
        self._columns = None  # what is refused half way must not be used the next time
        obs, action = (self.shape.observations,), (self.shape.actions,)
        for (name, column), width in zip(
            columns._asdict().items(), (obs, action, (), obs, ()), strict=True
        ):
            checked(column, torch.bool if name == "terminated" else torch.float32)
            if column.shape != (len(columns.reward), *width):
                raise BadInputError(name, (*column.shape,), "like the agent's", "use a Replay")
            setattr(self._replay, name, column.data_ptr())
        self._replay.rows = len(columns.reward)
        self._columns = columns

    def act(
        self, obs: Float32[np.ndarray, " obs"], noise: Float32[Tensor, " act"] | None = None
    ) -> Float32[np.ndarray, " act"]:
        """Return the mean action of one observation, or a sample if noise is given."""
        own, out, buffer = self._one
        own[:] = obs
        where = 0
        if noise is not None:
            buffer[:] = noise.numpy()
            where = self._one_at[2]
        self._library.lff_act(self._handle, self._one_at[0], where, self._one_at[1], 1)
        return out.copy()

    def act_batch(
        self,
        obs: Float32[np.ndarray, "batch obs"],
        noise: Float32[np.ndarray, "batch act"] | None = None,
    ) -> Float32[np.ndarray, "batch act"]:
        """Return the actions of several observations; each equals what :meth:`act` gives."""
        rows = np.ascontiguousarray(obs, dtype=np.float32)
        if rows.ndim != 2 or rows.shape[1] != self.shape.observations:
            width = self.shape.observations
            raise BadInputError("obs", rows.shape, f"(rows, {width})", "stack observations")
        eps = None if noise is None else np.ascontiguousarray(noise, dtype=np.float32)
        out = np.empty((len(rows), self.shape.actions), np.float32)
        where = 0 if eps is None else eps.ctypes.data
        data = rows.ctypes.data, where, out.ctypes.data
        self._library.lff_act(self._handle, *data, len(rows))
        return out
