"""Grids: the jobs of an experiment's arms at three scales, of one kind or of training runs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lff.core.config import parse_part
from lff.experiments.spec import Arm, Cell, ScaleName
from lff.launch.job import JOBS

if TYPE_CHECKING:  # a listing of experiments needs neither torch nor a simulator
    from lff.experiments.jobs.training import TrainJob
    from lff.training import RunConfig
    from lff.training.presets import PresetName

SMOKE_TASK = "dmc/cartpole-swingup"
PIXEL_TASK = "dmc-pixels/cheetah-run"
"""Of the paper's four the one whose rewards are dense: small sizes learn something of it."""
FEWEST_PIXEL_UPDATES = 2_000
"""Compiling costs a minute or two of CPU, and saves about a third of every update from pixels."""
LAPTOP_ONLY = ("steps", "looks")
"""Fields of an arm that the paper's scale does not take: its runs are as long as the paper's."""
NETS = ("net", "actor", "critic", "actor_sigma", "critic_sigma")
STUDY: dict[str, Any] = {"steps": 60_000, "seeds": 5, "first_seed": 10, "looks": 24, "episodes": 5}
"""Fields of the registered studies at laptop scale; their first seeds were looked at before."""
SMALL: dict[str, Any] = {"hidden_dim": 16, "fourier_dim": 16, "eval_episodes": 1}
TINY: dict[str, dict[str, Any]] = {
    "state": {**SMALL, "batch_size": 16, "steps": 60, "warmup_steps": 30},
    "pixels": {
        **SMALL,
        **{"size": 36, "cropped_size": 32, "num_filters": 4, "fourier_dim": 8, "batch_size": 4},
        **{"steps": 160, "warmup_steps": 80, "eval_every": 160},
    },
    "rollout": {**SMALL, "rollout_steps": 64, "batch_size": 32, "epochs": 2, "steps": 128},
}
"""The smoke scale of each kind of algorithm; an arm cannot override it: it is for speed."""


@dataclass(frozen=True)
class Each:
    """A grid of one job for each task and arm; each job makes all its seeds.

    Fields of a job are those of task, arm and size; at the smoke scale also those of ``small``, the
    arm's or else the grid's.  Besides its own a job may have: ``hidden_dim``, the width of a
    network, with ``net``, its name in the presets, and ``sigma``; ``regularize``, as for ``lff
    train --with``; ``job``, another kind than the grid's.
    """

    job: str | Callable[..., Any] = ""
    """The tag of a kind; or a function, called with the scale and the fields."""
    tasks: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"circle": {}})
    """Tasks by name, with their fields."""
    size: Mapping[str, Any] = field(default_factory=dict)
    """Fields of all jobs."""
    small: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the smoke scale."""
    smoke: tuple[str, ...] = ()
    """The tasks of the smoke scale; all if empty."""
    largest: ScaleName = "laptop"
    """The scale above which the jobs do not grow."""

    def __call__(self, arms: Mapping[str, Arm], scale: ScaleName) -> tuple[Cell, ...]:
        """Return the cells, task by task."""
        shown = (scale == "smoke" and self.smoke) or self.tasks
        return tuple(
            Cell(name, task, self._job(scale, {**fields, **arm.fields, **self.size}))
            for task, fields in self.tasks.items()
            if task in shown
            for name, arm in arms.items()
        )

    def _job(self, scale: ScaleName, fields: dict[str, Any]) -> Any:
        small = fields.pop("small", self.small)
        fields |= small if scale == "smoke" else {}
        job = fields.pop("job", self.job)
        if not isinstance(job, str):
            return job(scale, **fields)
        if "hidden_dim" in fields:
            sizes = {n: fields.pop(n) for n in ("hidden_dim", "net", "sigma") if n in fields}
            fields["net"] = network(**sizes)
        if "regularize" in fields:
            fields["regularizers"] = regularizers(fields.pop("regularize"))
        return JOBS[job](**fields)


def network(hidden_dim: int, net: str = "lff", sigma: float = 0.01) -> Any:
    """Return a network of the presets, or a SIREN; its layers and features are equally many."""
    from lff.nn import NetConfig, SIRENTrunk
    from lff.training.networks import Sizes

    if net == "siren":
        return NetConfig(trunk=SIRENTrunk((hidden_dim,) * 3))
    return Sizes(hidden_dim=hidden_dim, fourier_dim=hidden_dim, sigma=sigma).net(net)


def regularizers(words: Iterable[str]) -> tuple[Any, ...]:
    """Return the regularizers of ``name`` or ``name:field=value,field=value``."""
    from lff.regularizers import REGULARIZERS

    return tuple(REGULARIZERS[name](**values) for name, values in map(parse_part, words))


@dataclass(frozen=True, kw_only=True)
class Size:
    """One algorithm at one scale."""

    algo: str
    """Tag of the algorithm."""
    preset: "PresetName"
    tasks: tuple[str, ...]
    seeds: int
    change: Mapping[str, Any] = field(default_factory=dict)
    """Values of the preset that the scale sets."""
    fixed: bool = False
    """Whether an arm's values cannot override those of the scale."""
    looks: int | None = 12
    """Evaluations of a run; as often as the preset says if None."""
    actions: int | None = None
    """Actions of a run from pixels; the preset's if None."""
    native: bool = True
    """Compute natively where that is possible."""

    def config(self, task: str, **fields: Any) -> "RunConfig":
        """Return the run of an arm with seed 0, with the evaluations of a grid."""
        from lff.training.presets import preset

        chosen = preset(self.preset, task, algo=self.algo)
        nets = {name: fields.pop(name) for name in NETS if name in fields}
        looks = fields.pop("looks", self.looks)
        deep = nets.get("net") == "deep-fourier"
        if deep:
            nets["net"] = "mlp"
        own = {k: v for k, v in _parsed(fields).items() if not (self.fixed and k in self.change)}
        change = {**self.change, **own}
        if self.actions is not None:
            frames = self.actions * chosen.run["action_repeat"]
            change |= {"steps": frames, "eval_every": frames // (looks or 12)}
        config = chosen.replace(**change).config(**nets)
        if deep:
            config = replace(config, algo=deep_fourier(config.algo))
        return scheduled(config, looks=looks, native=self.native)

    def job(self, task: str, **fields: Any) -> "TrainJob":
        """Return the training job of an arm with seed 0."""
        from lff.experiments.jobs.training import TrainJob

        own = {k: v for k, v in fields.items() if k not in ("algo", "then", "advised")}
        config, advised = self.config(task, **own), fields.get("advised", False)
        episodes = min(3, config.schedule.eval_episodes)
        return TrainJob(config, reference_episodes=episodes, advised=advised)


@dataclass(frozen=True)
class Around:
    """Makes a job of another kind out of a training job, as for what is done after training."""

    kind: str
    """Its tag."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    small: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the smoke scale."""

    def __call__(self, job: "TrainJob", scale: ScaleName) -> Any:
        """Return the job."""
        small = self.small if scale == "smoke" else {}
        return JOBS[self.kind](job, **{**self.fields, **small})


@dataclass(frozen=True, kw_only=True)
class Training:
    """Every arm on every task and seed; seeds come last, so that arms keep pace.

    Fields of an arm: ``algo`` (sac, ppo, ... or pixels); ``net``, or ``actor`` and ``critic``, by
    their names in the presets; ``actor_sigma``, ``critic_sigma``; ``advised`` for the σ that the
    advisor finds; ``regularize``, as for ``lff train --with``; ``target="none"``; and every other
    value of the preset, the algorithm or the run by its name.
    """

    laptop: tuple[str, ...] = ()
    """Tasks at laptop scale; from pixels ``PIXEL_TASK`` if empty."""
    paper: tuple[str, ...] = ()
    """Tasks at paper scale; all of the paper's if empty."""
    skip: str = ""
    """Leaves out the tasks at paper scale that have this word in their name."""
    steps: int = 40_000
    """Environment steps from state at laptop scale, for algorithms with a replay memory."""
    actions: int | None = None
    """Actions from pixels at laptop scale; the preset's if None."""
    seeds: int = 5
    """Seeds at laptop scale."""
    first_seed: int = 0
    episodes: int = 3
    """Episodes of an evaluation at laptop scale."""
    looks: int = 12
    """Evaluations of a run at laptop scale."""
    preset: "PresetName" = "laptop"
    """Preset at laptop scale, from state."""
    native: bool = True
    """Compute natively where that is possible.  Digests of jobs cover it: a grid whose table was
    made by the graph says False."""
    largest: ScaleName = "paper"
    """The scale above which the grid does not grow."""
    then: Callable[[Any, ScaleName], Any] | None = None
    """Makes the job out of the training job, as for what is done after training; an arm's field of
    the same name comes first."""

    def __call__(self, arms: Mapping[str, Arm], scale: ScaleName) -> tuple[Cell, ...]:
        """Return the cells, one algorithm after the other."""
        scale = self.largest if scale == "paper" else scale
        algos = dict.fromkeys(arm.fields.get("algo", "sac") for arm in arms.values())
        return tuple(cell for algo in algos for cell in self._cells(algo, arms, scale))

    def _cells(self, algo: str, arms: Mapping[str, Arm], scale: ScaleName) -> list[Cell]:
        size = self.size(algo, scale)
        names = [name for name, arm in arms.items() if arm.fields.get("algo", "sac") == algo]
        left_out = LAPTOP_ONLY if scale == "paper" else ()
        fields = {n: {k: v for k, v in arms[n].fields.items() if k not in left_out} for n in names}
        jobs = {(n, t): size.job(t, **fields[n]) for t in size.tasks for n in names}
        cells = []
        for seed in range(self.first_seed, self.first_seed + size.seeds):
            for (name, task), job in jobs.items():
                seeded = replace(job, config=replace(job.config, seed=seed))
                then = arms[name].fields.get("then", self.then)
                whole = then(seeded, scale) if then else seeded
                cells.append(Cell(name, task, whole, seed=seed))
        return cells

    def size(self, algo: str, scale: ScaleName) -> Size:
        """Return an algorithm's part of the grid at a scale."""
        from lff.algos import ALGORITHMS
        from lff.envs import PAPER_TASKS
        from lff.training.presets import kind_of

        if algo == "pixels":
            size = pixel_size(scale)
            if scale != "laptop" or self.actions is None:
                return size
            return replace(
                size, tasks=self.laptop, seeds=self.seeds, actions=self.actions, looks=self.looks
            )
        kind = kind_of(ALGORITHMS[algo])
        both: dict[str, Any] = {"algo": algo, "native": self.native}
        if scale == "smoke":
            return tiny(algo, SMOKE_TASK, kind)
        if scale == "laptop":
            change = {"eval_episodes": self.episodes}
            change |= {"steps": self.steps} if kind == "state" else {}
            sizes: dict[str, Any] = {"seeds": self.seeds, "looks": self.looks, "change": change}
            return Size(preset=self.preset, tasks=self.laptop, **sizes, **both)
        paper = tuple(t for t in self.paper or PAPER_TASKS if not self.skip or self.skip not in t)
        return Size(preset="paper-table", tasks=paper, seeds=5, looks=None, **both)


def tiny(algo: str, task: str, kind: str) -> Size:
    """Return an algorithm at the smoke scale."""
    change = TINY[kind]
    return Size(algo=algo, preset="laptop", tasks=(task,), seeds=2, change=change, fixed=True)


def pixel_size(scale: ScaleName) -> Size:
    """Return SAC from pixels at a scale."""
    from lff.envs import PAPER_PIXEL_TASKS

    if scale == "paper":
        return Size(algo="sac", preset="paper-table", tasks=PAPER_PIXEL_TASKS, seeds=5)
    if scale == "laptop":
        return Size(algo="sac", preset="laptop", tasks=(PIXEL_TASK,), seeds=5)
    return tiny("sac", PIXEL_TASK, "pixels")


def _parsed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return an arm's fields with targets and regularizers as configs."""
    from lff.algos import NoTarget

    values = dict(fields)
    if values.get("target") == "none":
        values["target"] = NoTarget()
    if "regularize" in values:
        values["regularizers"] = regularizers(values.pop("regularize"))
    return values


def deep_fourier(algo: Any) -> Any:
    """Return the algorithm with sine and cosine in every layer of both MLPs, as wide as before."""
    from lff.nn import NetConfig

    trunks = {role: getattr(algo, role).trunk for role in ("actor", "critic")}
    deep = {r: NetConfig(trunk=replace(t, layers="deep-fourier")) for r, t in trunks.items()}
    return replace(algo, **deep)


def scheduled(config: "RunConfig", *, looks: int | None, native: bool = True) -> "RunConfig":
    """Return the run with a grid's evaluations and checkpoints, compiled if that pays."""
    from lff.training.run import native_gap, worth_compiling

    algo: Any = config.algo
    steps, schedule = config.steps, config.schedule
    if hasattr(algo, "encoder"):
        every, logs = schedule.eval_every, 2
        updates = (steps - algo.warmup_steps) // config.action_repeat
        compiled = updates >= FEWEST_PIXEL_UPDATES
    else:
        every, logs = min(steps, schedule.eval_every), 4
        if looks is not None:
            every = max(1, steps // looks) if steps > 1_000 else steps
        if hasattr(algo, "warmup_steps"):  # a short run learns in its second half
            algo = replace(algo, warmup_steps=min(algo.warmup_steps, steps // 2))
            config = replace(config, algo=algo)
        compiled = worth_compiling(config)
    schedule = replace(
        schedule,
        eval_every=every,
        log_every=max(1, every // logs),
        checkpoint_every=max(1, steps // 4),
    )
    compute = replace(config.compute, compile="graph" if compiled else "off")
    # another machine gives the same rows; a rollout's update is a graph, whose rows it does not
    if native and algo.learns_from == "replay" and native_gap(config) is None:
        compute = replace(compute, compile="native", processor="x86-64-v3")
    return replace(config, schedule=schedule, compute=compute)
