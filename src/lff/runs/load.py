"""A trained policy from its run directory: ``lff.load(RUN).act(obs)``.

Reading only: no lock is taken and nothing is written, so that a run can be looked at while it goes
on.  The networks are rebuilt from the stored config and filled from a checkpoint; the environment
is not needed.
"""

import functools
from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lff.algos.base import Agent, Exploration, Spaces
from lff.core.config import from_dict
from lff.core.errors import BadInputError, BadTypeError, CorruptError, StorageError
from lff.core.imports import check_stored_env
from lff.core.seeding import stream_seed
from lff.data import Batch
from lff.envs import Env, make
from lff.store import Checkpoint, RunDir, SegmentRef, SegmentStore, find_refs, find_run, load_latest
from lff.store import load as load_checkpoint
from lff.store.atomic import understood
from lff.training import RunConfig
from lff.training.loop import to_tensors

if TYPE_CHECKING:
    from lff.runs.play import Played

AGENT = "agent/"  # how the names of the agent's tensors begin in a checkpoint
IMAGE_AXES = 3
Array = NDArray[np.float32]


class Policy:
    """The trained policy of a run; actions are in [-1, 1], as ``lff.envs`` takes them."""

    def __init__(
        self, run: RunDir, config: RunConfig, checkpoint: Checkpoint, trust: Collection[str] = ()
    ) -> None:
        self.run, self.config, self.checkpoint = run, config, checkpoint
        self._trust = trust
        self.agent = rebuild(config, checkpoint)
        self._generator = torch.Generator()
        self._generator.seed()

    @property
    def step(self) -> int:
        """Environment steps that the run had made at the checkpoint."""
        return self.checkpoint.step

    @property
    def passed_over(self) -> tuple[str, ...]:
        """Newer checkpoints that were damaged, one line each."""
        return self.checkpoint.passed_over

    @functools.cached_property
    def action_range(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The simulator's own range of actions, (low, high); makes the environment once."""
        with closing(self.make_env(seed=0)) as env:
            low, high = env.control_range
        return low, high

    def make_env(self, **options: Any) -> Env:
        """Make the run's environment; one of a module of your own only if it is trusted."""
        check_stored_env(self.config.env, self._trust)
        return make(self.config.env, view=self.config.view, **options)

    def act(
        self, obs: ArrayLike, *, sample: bool = False, seed: int | None = None, native: bool = False
    ) -> Array:
        """Return the action for one observation, or one for each row of a batch.

        Args:
            obs: shape ``(obs,)`` or ``(*batch, obs)``; images are uint8 ``(*batch, channels,
                height, width)``, as the environment gives them.
            sample: draw from the policy, instead of its mean action.
            seed: of the draw; without one, draws go on from an unseeded stream.
            native: in the simulator's own range, for an environment that ``lff.envs`` did not make.
        """
        spaces = self.agent.spaces
        x = self._tensor("obs", obs, spaces.obs)
        noise = None
        if sample:
            generator = self._generator
            if seed is not None:
                generator = torch.Generator().manual_seed(stream_seed(seed, "act"))
            rows = x.shape[: x.ndim - len(spaces.obs)]
            noise = torch.randn(*rows, spaces.action, generator=generator)
        action: Array = self.agent.act(x, Exploration(noise)).numpy().copy()
        if native:
            low, high = self.action_range
            action = (low + (action.astype(float) + 1) * 0.5 * (high - low)).astype(np.float32)
        return action

    def q(self, obs: ArrayLike, action: ArrayLike) -> Array:
        """Return every critic's value, shape ``(critic, *batch)``; SAC uses ``.min(axis=0)``.

        The action is in [-1, 1].  An on-policy algorithm learns V: its runs have :meth:`value`.
        """
        values = getattr(self.agent, "values", None)
        if values is None:
            raise BadInputError("run", str(self.run.path), "one with critics Q", "use value(obs)")
        x = self._tensor("obs", obs, self.agent.spaces.obs)
        a = self._tensor("action", action, (self.agent.spaces.action,))
        if x.shape[: x.ndim - len(self.agent.spaces.obs)] != a.shape[:-1]:
            shapes = tuple(x.shape), tuple(a.shape)
            remedy = "give one action for each observation"
            raise BadInputError("obs and action", shapes, "of one batch shape", remedy)
        found: Array = values(x, a).numpy().copy()
        return found

    def value(self, obs: ArrayLike) -> Array:
        """Return the expected return, in the task's own rewards, shape ``(*batch,)``.

        V of PPO; else the smallest Q_i of the mean action.
        """
        x = self._tensor("obs", obs, self.agent.spaces.obs)
        values: Array = self.agent.value(x, self.agent.act(x)).numpy().copy()
        return values

    def evaluate(self, *, episodes: int = 10, seed: int = 0, sample: bool = False) -> "Played":
        """Play episodes of the run's task, those of ``lff play``, and return their returns.

        Args:
            episodes: how many.
            seed: of the episodes' starts (and of the actions with ``sample``).
            sample: draw the actions from the policy, instead of its mean action.
        """
        from lff.runs.play import play

        return play(self, episodes=episodes, seed=seed, sample=sample)

    def __repr__(self) -> str:
        return f"Policy({str(self.run.path)!r}, env={self.config.env!r}, step={self.step})"

    def _tensor(self, name: str, value: ArrayLike, shape: tuple[int, ...]) -> Tensor:
        try:
            array = np.array(value, dtype=np.uint8 if len(shape) == IMAGE_AXES else np.float32)
        except (TypeError, ValueError):
            remedy = "pass a numpy array"
            raise BadTypeError(name, type(value).__name__, "an array of numbers", remedy) from None
        if array.shape[-len(shape) :] != shape:
            remedy = f"use an observation of {self.config.env}" if name == "obs" else "use act"
            wanted = f"{shape[0]} wide on its last axis" if len(shape) == 1 else f"(..., {shape})"
            raise BadInputError(name, array.shape, wanted, remedy)
        return torch.from_numpy(array)


def load(
    run: Path | str, *, checkpoint: int | str = "latest", trust: Collection[str] = ()
) -> Policy:
    """Return the policy of a run, finished or still going on; nothing is written.

    Args:
        run: the run directory.
        checkpoint: ``"latest"`` (if it is damaged, the one before, with a warning that names the
            file), ``"final"``, or the step of a checkpoint that is kept.
        trust: packages of yours whose classes and environments the run's config may name.
    """
    with understood(run):
        return _load(run, checkpoint, trust)


def _load(run: Path | str, checkpoint: int | str, trust: Collection[str]) -> Policy:
    folder = find_run(run)
    config = from_dict(RunConfig, folder.config, trust=trust)
    if checkpoint == "latest":
        newest = load_latest(folder.path)
        if newest is None:
            every = f"{config.schedule.checkpoint_every:,} steps"
            remedy = f"wait for the first; one is made every {every}"
            raise BadInputError("run", str(run), "a run with a checkpoint", remedy)
        return Policy(folder, config, newest, trust)
    name = checkpoint if isinstance(checkpoint, str) else f"step-{checkpoint:09d}"
    found = sorted(path.name for path in folder.checkpoints.glob("*") if not path.suffix)
    kept = [n for n in found if n == "final" or (n[:5] == "step-" and n[5:].isdecimal())]
    if name not in kept:
        names = ", ".join("final" if n == "final" else str(int(n[5:])) for n in kept) or "none"
        raise BadInputError("checkpoint", checkpoint, "latest or one that is kept", f"use {names}")
    return Policy(folder, config, load_checkpoint(folder.checkpoints / name), trust)


def read_config(run: RunDir, *, trust: Collection[str] = ()) -> RunConfig:
    """Return the config of a run that is to be trained: its environment will be made."""
    with understood(run.path):
        config = from_dict(RunConfig, run.config, trust=trust)
    check_stored_env(config.env, trust)
    return config


def rebuild(config: RunConfig, checkpoint: Checkpoint) -> Agent:
    """Return the agent that a checkpoint holds; its spaces are in the manifest."""
    tensors = to_tensors(checkpoint.arrays, AGENT)
    spaces = stored_spaces(checkpoint)
    weights = torch.Generator().manual_seed(stream_seed(config.seed, "weights"))
    agent = config.algo.build(spaces, num_envs=config.num_envs, generator=weights)
    try:
        agent.load_state(tensors)
    except BadInputError as error:
        raise CorruptError(f"{checkpoint.path} is of another config: {error}") from None
    return agent


def stored_spaces(checkpoint: Checkpoint) -> Spaces:
    """Return the spaces in a checkpoint's manifest."""
    match checkpoint.meta.get("spaces"):
        case {"obs": [*obs], "action": int(action)} if all(isinstance(n, int) for n in obs):
            return Spaces(tuple(obs), action)
    raise CorruptError(f"{checkpoint.path} does not say the sizes of observations and actions")


def replay_sample(policy: Policy, rows: int = 2048) -> tuple[Tensor, Tensor] | None:
    """Return the last stored observations, as the networks are given them, and actions of the run.

    None if they are gone, or images.  Of on-policy runs, those of the last rollout.
    """
    if policy.config.algo.learns_from == "rollout":
        return _last_rollout(policy.checkpoint, rows)
    batch = last_transitions(policy, rows)
    if batch is None:
        return None
    inputs = policy.agent.inputs(batch)
    return next(probe.inputs[0] for probe in inputs if probe.role == "actor"), batch.action


def last_transitions(policy: Policy, rows: int) -> Batch | None:
    """Return the last stored transitions of a run with a replay; None if gone, or of images."""
    if len(policy.agent.spaces.obs) == IMAGE_AXES:
        return None
    refs: list[SegmentRef] = []
    for ref in reversed([*find_refs(policy.checkpoint.meta)]):
        refs.insert(0, ref)
        if sum(r.count for r in refs) >= rows:
            break
    if not refs or not policy.run.replay.is_dir():
        return None
    try:
        with understood(policy.run.replay):
            arrays = SegmentStore(policy.run.replay).read(refs)
    except StorageError:
        return None  # copied without its replay, or overtaken by a run that goes on
    return Batch(*(torch.from_numpy(arrays[name][-rows:]) for name in Batch._fields))


def _last_rollout(checkpoint: Checkpoint, rows: int) -> tuple[Tensor, Tensor] | None:
    """Return observations, as the networks were given them, and actions; None before any."""
    counters = checkpoint.meta["counters"]
    filled = None if counters["rollouts"] else int(counters["filled"])  # None: all of it
    if filled == 0:
        return None
    parts = [torch.from_numpy(checkpoint.arrays[f"rollout/{name}"]) for name in ("obs", "action")]
    obs, action = (part[:filled].flatten(0, 1)[-rows:] for part in parts)
    return obs, action
