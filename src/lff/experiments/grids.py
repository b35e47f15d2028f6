"""Grids of training runs: arms, tasks and seeds at three scales, for SAC, pixels and PPO."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lff.experiments.spec import Arm, Cell, ScaleName

PRESET_FIELDS = ("sigma", "fourier_dim", "lr")
RUN_FIELDS = ("updates_per_step",)
NET_FIELDS = ("net", "actor", "critic", "actor_sigma", "critic_sigma")


@dataclass(frozen=True, kw_only=True)
class Training:
    """Every arm on every task and seed; seeds come last, so that arms keep pace.

    Fields of an arm: ``algo`` (sac, ppo or pixels); ``net``, or ``actor`` and ``critic``, by their
    names in the presets; ``sigma`` (or ``actor_sigma``, ``critic_sigma``), ``fourier_dim``, ``lr``;
    ``regularize``, as for ``lff train --with``; other fields of the algorithm and of the run.
    """

    laptop: tuple[str, ...] = ()
    """Tasks at laptop scale; those of the pixel preset if empty."""
    paper: tuple[str, ...] = ()
    """Tasks at paper scale; all of the paper's if empty."""
    skip: str = ""
    """Leaves out the tasks at paper scale that have this word in their name."""
    steps: int = 40_000
    """Environment steps of SAC at laptop scale."""
    seeds: int = 5
    """Seeds at laptop scale."""
    episodes: int = 3
    """Episodes of an evaluation at laptop scale."""
    looks: int = 12
    """Evaluations of a run of SAC."""
    largest: ScaleName = "paper"
    """The scale above which the grid does not grow."""
    then: Callable[[Any, ScaleName], Any] | None = None
    """Makes the job out of the training job, as for what is done after training; an arm's field of
    the same name comes first."""

    def __call__(self, arms: Mapping[str, Arm], scale: ScaleName) -> tuple[Cell, ...]:
        """Return the cells, one algorithm after the other."""
        scale = self.largest if scale == "paper" else scale
        algos = dict.fromkeys(arm.fields.get("algo", "sac") for arm in arms.values())
        cells: list[Cell] = []
        for algo in algos:
            fields = {
                name: {k: v for k, v in arm.fields.items() if k not in ("algo", "then")}
                for name, arm in arms.items()
                if arm.fields.get("algo", "sac") == algo
            }
            cells += MAKERS[algo](self, fields, scale)
        return tuple(
            replace(cell, job=self._job(cell, arms, scale), seed=cell.job.config.seed)
            for cell in cells
        )

    def _job(self, cell: Cell, arms: Mapping[str, Arm], scale: ScaleName) -> Any:
        then = arms[cell.variant].fields.get("then", self.then)
        return then(cell.job, scale) if then else cell.job


def _sac(grid: Training, arms: Mapping[str, dict[str, Any]], scale: ScaleName) -> tuple[Cell, ...]:
    from lff.envs import PAPER_TASKS
    from lff.experiments.state import sizes, train_grid

    paper = grid.paper or PAPER_TASKS
    size = sizes(
        scale,
        laptop_tasks=grid.laptop,
        laptop_steps=grid.steps,
        paper_tasks=tuple(task for task in paper if not grid.skip or grid.skip not in task),
    )
    if scale == "laptop":
        size = replace(size, seeds=grid.seeds, episodes=grid.episodes, looks=grid.looks)
    plain = {name: _variant(f) for name, f in arms.items() if not f.get("advised")}
    cells = train_grid(size, plain)
    for name, fields in arms.items():
        if fields.get("advised"):
            cells += _advised(size, name)
    return cells


def _advised(size: Any, name: str) -> tuple[Cell, ...]:
    from lff.experiments.advised import advised_sigmas
    from lff.experiments.state import Variant, train_grid

    cells: tuple[Cell, ...] = ()
    for task in size.tasks:
        actor, critic = advised_sigmas(task)
        own = {name: Variant(actor_sigma=actor, critic_sigma=critic)}
        cells += train_grid(size.only(task), own)
    return cells


def _variant(fields: Mapping[str, Any]) -> Any:
    from lff.algos import NoTarget
    from lff.experiments.state import Variant, deep_fourier

    rest = dict(fields)
    deep = rest.get("net") == "deep-fourier"
    if deep:
        rest["net"] = "mlp"
    own = {name: rest.pop(name) for name in NET_FIELDS if name in rest}
    preset = {name: rest.pop(name) for name in PRESET_FIELDS if name in rest}
    run = {name: rest.pop(name) for name in RUN_FIELDS if name in rest}
    return Variant(
        **own,
        preset=preset,
        run=run,
        agent=_agent(rest, NoTarget),
        change=deep_fourier if deep else None,
    )


def _agent(rest: dict[str, Any], no_target: Any) -> dict[str, Any]:
    if rest.pop("target", "") == "none":
        rest["target"] = no_target()
    if "regularize" in rest:
        rest["regularizers"] = tuple(regularizer(text) for text in rest.pop("regularize"))
    return rest


def regularizer(text: str) -> Any:
    """Return the regularizer of ``name`` or ``name:field=value,field=value``."""
    import lff.regularizers as room

    kinds = {
        "weight-decay": room.WeightDecay,
        "dropout": room.Dropout,
        "functional": room.FunctionalRegularization,
        "spectral-norm": room.SpectralNorm,
        "layer-norm": room.LayerNorm,
        "basis": room.BasisRule,
    }
    name, _, fields = text.partition(":")
    pairs = (pair.partition("=") for pair in fields.split(",") if pair)
    return kinds[name](**{key: _value(value) for key, _, value in pairs})


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _ppo(grid: Training, arms: Mapping[str, dict[str, Any]], scale: ScaleName) -> tuple[Cell, ...]:
    from lff.experiments.jobs.ppo import PPOArm, ppo_grid, ppo_size

    size = ppo_size(scale, laptop_tasks=grid.laptop, paper_tasks=grid.paper)
    if scale == "laptop":
        size = replace(size, seeds=grid.seeds, change={"eval_episodes": grid.episodes})
    return ppo_grid(size, {name: PPOArm(**fields) for name, fields in arms.items()})


def _pixels(
    grid: Training, arms: Mapping[str, dict[str, Any]], scale: ScaleName
) -> tuple[Cell, ...]:
    from lff.experiments.pixels import pixel_grid, pixel_size

    del grid
    return pixel_grid(pixel_size(scale), {name: pixel_arm(**f) for name, f in arms.items()})


def pixel_arm(net: str = "lff", **fields: Any) -> Any:
    """Return an arm that learns from pixels."""
    from lff.experiments.pixels import Seer

    preset = {name: fields.pop(name) for name in PRESET_FIELDS if name in fields}
    return Seer(net=net, preset=preset, agent=_agent(fields, None))  # type: ignore[arg-type]


MAKERS = {"sac": _sac, "ppo": _ppo, "pixels": _pixels}
