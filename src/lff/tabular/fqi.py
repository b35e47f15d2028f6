"""Fitted Q-iteration on an exact MDP, all seeds at once, with measurements against Q*.

One iteration fixes the targets y = R(s, a) + γ max_a' Q(s', a') by the networks as they are, then
takes T gradient steps on (Q(s, a) - y)² over batches of transitions.  They come from a buffer that
grows by what the ε-greedy policy meets, or from all states and actions, with expected targets.

After Fu et al. (2019) and Kumar et al. (2021).  Not stated there, ours: ε, one running episode per
seed that goes on from iteration to iteration, moments of Adam that are kept.
"""

import dataclasses
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from lff.core.checks import Config, Interval, NonNegative, Positive, Size
from lff.core.errors import BadInputError
from lff.core.seeding import stream_seed
from lff.nn import NetConfig
from lff.regularizers import RegularizerConfig, feature_penalty, penalty
from lff.tabular.gridworld import WALL, ObservedMDP
from lff.tabular.learner import Learner, Tensors, check_seeds
from lff.tabular.mdp import solve, state_values

QTables = Float[np.ndarray, "seed state action"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class FQIConfig(Config):
    """How Q is fitted; the defaults are those of the studies that Figure 13 follows."""

    net: NetConfig = NetConfig()  # noqa: RUF009  frozen, hence shareable
    """The network, observation in, one Q-value per action out."""
    regularizers: tuple[RegularizerConfig, ...] = ()
    """Dropout, weight decay, layer norm, …; functional regularization holds Q near the Q of the
    targets."""
    gradient_steps: Size = 50
    """T, steps in an iteration."""
    lr: Annotated[float, Positive("use 5e-3")] = 5e-3
    """Adam's learning rate."""
    batch_size: Size = 128
    """Transitions in a batch."""
    data: Literal["buffer", "full"] = "buffer"
    """Transitions that were met, or all states and actions with expected targets."""
    samples: Size = 128
    """New transitions per iteration, for the buffer."""
    explore: Annotated[float, Interval("[0, 1]", "use 0.1")] = 0.1
    """ε, the chance of an action drawn uniformly."""
    entropy: Annotated[float, NonNegative("use 0 for the hard maximum")] = 0.0
    """α of the soft maximum in the targets, and in Q*; 0 is the hard maximum."""
    clip: Annotated[float, Positive("use 1e5")] = 1e5
    """Targets are clipped to ± this, so that a diverging Q stays a number."""


def td_loss(
    q: Float[Tensor, "seed batch action"],
    action: Int[Tensor, "seed batch"],
    target: Float[Tensor, "seed batch"],
) -> Float[Tensor, "seed"]:
    """Return mean (Q(s, a) - y)² of each seed."""
    return (chosen(q, action) - target).square().mean(dim=-1)


def chosen(
    q: Float[Tensor, "seed batch action"], action: Int[Tensor, "seed batch"]
) -> Float[Tensor, "seed batch"]:
    """Return Q of the actions that were taken."""
    return q.gather(-1, action[..., None])[..., 0]


class FQI(Learner):
    """The networks of all seeds, their buffers, and the iteration."""

    def __init__(
        self,
        task: ObservedMDP | Sequence[ObservedMDP],
        config: FQIConfig,
        *,
        seeds: Sequence[int] = (0,),
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.tasks = _one_for_each(task, len(check_seeds(seeds)))
        first = self.tasks[0]
        super().__init__(
            config.net,
            in_features=first.obs.shape[1],
            out_features=first.mdp.actions,
            seeds=seeds,
            lr=config.lr,
            regularizers=config.regularizers,
            dtype=dtype,
        )
        self.config = config
        self.obs = torch.from_numpy(np.stack([one.obs for one in self.tasks])).to(dtype)
        solved = {one: solve(one.mdp, entropy=config.entropy) for one in {*self.tasks}}
        self.q_star = np.stack([solved[one] for one in self.tasks])
        self.free = np.stack([np.flatnonzero(~one.grid.at(WALL)) for one in self.tasks])
        """The cells that are not walls, (seed, cell)."""
        self.iteration = 0
        self._features = any(r.penalizes_features for r in self.regularizers)
        if self._features:
            _ = self.readable  # refuses networks whose features cannot be read
        self._walkers = [_Walker(*both) for both in zip(self.tasks, self.seeds, strict=True)]
        # states, actions and successors that each seed has met
        self.met = np.zeros((3, len(self.seeds), 0), dtype=np.int64)

    @torch.no_grad()
    def q_table(self) -> QTables:
        """Return every seed's Q for all states, in float64."""
        return np.asarray(self.outputs(self.parameters, self.obs).double())

    def iterate(self) -> None:
        """Collect, fix the targets, take T gradient steps."""
        q = self.q_table()
        if self.config.data == "buffer":
            new = [
                walker.walk(best, self.config.samples, self.config.explore)
                for walker, best in zip(self._walkers, q.argmax(axis=-1), strict=True)
            ]
            self.met = np.concatenate([self.met, np.stack(new, axis=1)], axis=-1)
        self._project(q)
        self.iteration += 1

    def transitions(
        self, q: QTables
    ) -> tuple[Int[np.ndarray, "seed n"], Int[np.ndarray, "seed n"], Float[np.ndarray, "seed n"]]:
        """Return states, actions and targets of all that a batch may be drawn from.

        Before anything was met these are all cells and actions, with expected targets.
        """
        limit = self.config.clip
        values = np.clip(state_values(q, entropy=self.config.entropy), -limit, limit)
        members = np.arange(len(q))[:, None]
        if self.config.data == "full" or not self.met.size:
            actions = self.tasks[0].mdp.actions
            state = np.repeat(self.free, actions, axis=-1)
            action = np.tile(np.arange(actions), self.free.shape)
            backups = [one.mdp.backup(v) for one, v in zip(self.tasks, values, strict=True)]
            target = np.stack(backups)[members, state, action]
        else:
            state, action, following = self.met
            reward = np.stack([one.mdp.R for one in self.tasks])[members, state, action]
            gamma = np.array([[one.mdp.gamma] for one in self.tasks])
            target = reward + gamma * values[members, following]
        return state, action, np.clip(target, -limit, limit)

    def _project(self, q: QTables) -> None:
        state, action, target = (torch.from_numpy(x) for x in self.transitions(q))
        steps, batch = self.config.gradient_steps, self.config.batch_size
        drawn = self.draw_indices(state.shape[1], steps=steps, batch=batch)
        members = torch.arange(len(self.seeds))[None, :, None]
        states, actions = state[members, drawn], action[members, drawn]
        targets = target[members, drawn].to(self.obs.dtype)
        x = self.obs[members, states]
        lagged = torch.from_numpy(q).to(self.obs.dtype)[members, states, actions]
        for step in range(steps):
            given = (actions[step], targets[step], lagged[step])
            self.step(x[step], given, self.draw_masks(batch))

    def _total(
        self, parameters: Tensors, x: Tensor, given: tuple[Tensor, ...], masks: Tensors
    ) -> tuple[Tensor, Tensor]:
        action, target, lagged_q = given
        if self._features:
            features, q = self.features(parameters, x, masks)
            extra = feature_penalty(self.regularizers, features)
        else:
            q = self.outputs(parameters, x, masks)
            extra = q.new_zeros(())
        losses = td_loss(q, action, target)
        extra = extra + penalty(self.regularizers, chosen(q, action), lagged_q)
        return losses.sum() + extra, losses

    def state(self) -> dict[str, Tensor]:
        """Return everything that the next iterations depend on."""
        walkers = np.stack([walker.state() for walker in self._walkers])
        extra = {"met": self.met, "walkers": walkers, "iteration": np.array(self.iteration)}
        return super().state() | {n: torch.from_numpy(x.copy()) for n, x in extra.items()}

    def restore(self, state: Tensors) -> None:
        """Restore a state that :meth:`state` returned."""
        super().restore(state)
        self.met = state["met"].numpy().copy()
        self.iteration = int(state["iteration"])
        for walker, kept in zip(self._walkers, state["walkers"].numpy(), strict=True):
            walker.restore(kept)


def _one_for_each(task: ObservedMDP | Sequence[ObservedMDP], count: int) -> tuple[ObservedMDP, ...]:
    tasks = (task,) * count if isinstance(task, ObservedMDP) else tuple(task)
    if len(tasks) != count:
        raise BadInputError("the number of tasks", len(tasks), f"one, or {count}", "one per seed")
    shapes = {(one.obs.shape, one.mdp.R.shape, int(one.grid.at(WALL).sum())) for one in tasks}
    if len(shapes) > 1:
        remedy = "take grids of one size with as many walls"
        raise BadInputError("the tasks", sorted(shapes), "of one shape", remedy)
    return tasks


class _Walker:
    """One seed's running episode."""

    def __init__(self, task: ObservedMDP, seed: int) -> None:
        self._task = task
        self._ends = _cumulated(task.sampled.probability)
        self._first = _cumulated(task.mdp.start)
        self._seed = seed
        self._at = self._time = self._blocks = 0

    def walk(
        self, best: Int[np.ndarray, "state"], steps: int, explore: float
    ) -> Int[np.ndarray, "3 step"]:
        """Take some steps; return states, actions and successors."""
        name = f"walk/{self._blocks}"  # a stream for each block: no generator's state to keep
        rng = np.random.default_rng(stream_seed(self._seed, name))
        self._blocks += 1
        chance = rng.random((steps, 4))
        met = np.empty((3, steps), dtype=np.int64)
        actions = self._task.mdp.actions
        for i, (first, wanders, other, outcome) in enumerate(chance):
            if self._time == 0:
                self._at = int(self._first.searchsorted(first, side="right"))
            action = int(other * actions) if wanders < explore else int(best[self._at])
            slot = self._ends[self._at, action].searchsorted(outcome, side="right")
            following = int(self._task.sampled.next_state[self._at, action, slot])
            met[:, i] = self._at, action, following
            self._at, self._time = following, self._time + 1
            if self._task.horizon is not None and self._time >= self._task.horizon:
                self._time = 0
        return met

    def state(self) -> Int[np.ndarray, "3"]:
        return np.array([self._at, self._time, self._blocks])

    def restore(self, state: Int[np.ndarray, "3"]) -> None:
        self._at, self._time, self._blocks = map(int, state)


def _cumulated(chances: Float[np.ndarray, "*rows k"]) -> Float[np.ndarray, "*rows k"]:
    """Return sums from the left that end in one exactly, so that padding is never picked."""
    ends = np.cumsum(chances, axis=-1)
    return np.asarray(ends / ends[..., -1:])
