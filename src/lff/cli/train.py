"""``lff train ALGO``: train an agent in a run directory; the same command resumes.

The command line is read in two phases.  The first takes the options of :class:`TrainFlags` and
makes a ready config from a preset; the second has a flag for every field of that config.
"""

import dataclasses
import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lff.algos import ALGORITHMS, NoTarget, PolyakTarget
from lff.cli.show import describe_compute, print_networks, print_summary
from lff.core.config import TYPE_KEY, from_dict, parse_part, parse_values, tag_of, to_dict
from lff.core.errors import BadInputError
from lff.regularizers import REGULARIZERS
from lff.store import RunDir
from lff.training import Compute, Loop, RunConfig, train
from lff.training.loop import Watch
from lff.training.presets import PresetName, preset
from lff.training.run import check_device, choose_compilation, why_not_native
from lff.training.trackers import Trackers, tracked

REDRAW_EVERY = 50  # steps between two updates of the bar


@dataclass(frozen=True, kw_only=True)
class NetworkFlags:
    """Networks and their sizes, instead of the preset's."""

    net: str = "lff"
    """of actor and critic: lff, mlp, fixed-b, no-concat, log-uniform, mlp-concat, linear, constant,
    tanh, ffn; from pixels the encoder: lff, cnn, cnn-vanilla, cnn-readme, fixed-b, no-concat,
    per-frame."""
    actor_net: str | None = None
    """network of the actor alone."""
    critic_net: str | None = None
    """network of the critic, or critics, alone."""
    sigma: float | None = None
    """standard deviation of B at initialization."""
    actor_sigma: float | None = None
    """the same for the actor alone."""
    critic_sigma: float | None = None
    """the same for the critic, or critics, alone."""
    fourier_dim: int | None = None
    """number of Fourier features."""
    hidden_dim: int | None = None
    """width of the hidden layers."""
    size: Annotated[tuple[str, ...], tyro.conf.arg(metavar="KEY=VALUE")] = ()
    """further sizes of the preset; from pixels size, cropped_size, frame_stack, camera,
    fast_render, augmentation, num_filters."""


@dataclass(frozen=True, kw_only=True)
class LearningFlags:
    """Learning, instead of the preset's."""

    lr: float | None = None
    """learning rate of all networks."""
    target: Literal["polyak", "none"] | None = None
    """bootstrap from a target network, or from the critics themselves."""
    with_: Annotated[
        tuple[str, ...], tyro.conf.arg(name="with", metavar="NAME[:KEY=VALUE,...]")
    ] = ()
    """regularizers: weight-decay, dropout, layer-norm, spectral-norm, functional, basis; with
    values as in --with dropout:p=0.1,where=critic layer-norm."""
    compile: Literal["auto", "native", "graph", "off"] = "auto"
    """run the update as native code, as one compiled graph, or eagerly; auto takes the fastest that
    covers the agent, if the run is long enough."""


@dataclass(frozen=True, kw_only=True)
class TrainFlags:
    """Train an agent; the same command again resumes, or does nothing if the run is finished.

    These options make a config from a preset. Every field of that config, from --batch-size to
    --critic.front.sigma, is an option too: --help-all lists them.
    """

    env: str
    """dmc/<domain>-<task>, dmc-pixels/<domain>-<task>, gym/<id>, gym-pixels/<id>, probe/<name> or
    package.module:make_env."""
    dir: Path
    """the run directory."""
    preset: PresetName = "default"
    """sizes, rates and schedule; lff presets lists them."""
    steps: int | None = None
    """environment steps, action repeat included, instead of the preset's."""
    seed: int = 0
    """the one seed of everything random."""
    reference_episodes: int = 3
    """episodes of the random and of the zero policy, played once; 0 for none."""
    trust: tuple[str, ...] = ()
    """packages of yours whose classes may be named in options."""
    networks: Annotated[NetworkFlags, tyro.conf.arg(name="")] = NetworkFlags()
    learning: Annotated[LearningFlags, tyro.conf.arg(name="")] = LearningFlags()
    trackers: Annotated[Trackers, tyro.conf.arg(name="")] = field(default_factory=Trackers)


def train_command(args: Sequence[str]) -> None:
    """Train an agent, or resume its training: lff train sac --help."""
    config, flags = parse_words(args)
    run_to_end(config, flags.dir, flags.trackers, reference_episodes=flags.reference_episodes)


def parse_words(args: Sequence[str]) -> tuple[RunConfig, TrainFlags]:
    """Return the run that the words of a command line ask for, and the options around it."""
    algo, *rest = args or ["--help"]
    if algo in ("-h", "--help", "--help-all"):
        algo, rest = "sac", [algo]
    if algo.startswith("-"):
        names = ", ".join(ALGORITHMS)
        wanted = f"the first word: {names}"
        raise BadInputError("algorithm", algo, wanted, "lff train sac --env ...")
    cls = ALGORITHMS.find(algo, trust=(algo.partition(":")[0],))  # named on the command line
    prog = f"lff train {algo}"
    everything = "--help-all" in rest
    if everything:
        rest = [word for word in rest if word not in ("--help", "--help-all")]
        rest = ["--env", "dmc/cheetah-run", "--dir", "runs/example", *rest]
    flags, unknown = _flags(prog, rest)
    unknown += ["--help"] * everything
    config = parse_fields(flagged_config(cls, flags), unknown, prog=prog)
    return dataclasses.replace(config, compute=compiled(config, flags)), flags


def _flags(prog: str, args: Sequence[str]) -> tuple[TrainFlags, list[str]]:
    return tyro.cli(TrainFlags, prog=prog, args=args, return_unknown_args=True)


def flagged_config(cls: type, flags: TrainFlags) -> RunConfig:
    """Return the config that the options of the first phase ask for."""
    chosen = preset(flags.preset, flags.env, algo=cls)
    nets, learning = flags.networks, flags.learning
    values = {name: getattr(nets, name) for name in ("sigma", "fourier_dim", "hidden_dim")}
    values |= {"lr": learning.lr, "steps": flags.steps, "seed": flags.seed}
    values = {name: value for name, value in values.items() if value is not None}
    values |= parse_values(nets.size)
    parts: dict[str, Any] = {"actor": nets.actor_net, "critic": nets.critic_net}
    parts |= {"actor_sigma": nets.actor_sigma, "critic_sigma": nets.critic_sigma}
    config = chosen.replace(**values).config(nets.net, **parts)
    algo: Any = config.algo
    changes: dict[str, Any] = {}
    if learning.target is not None:
        if not hasattr(algo, "target"):
            raise BadInputError("--target", learning.target, f"left out for {algo.tag}", "drop it")
        changes["target"] = NoTarget() if learning.target == "none" else PolyakTarget()
    if learning.with_:
        found = tuple(_regularizer(text, algo, flags) for text in learning.with_)
        changes["regularizers"] = (*algo.regularizers, *found)
        if any(one.penalizes for one in found):
            changes.setdefault("target", type(algo).target)  # the lagging copy replaces it
    return dataclasses.replace(config, algo=dataclasses.replace(algo, **changes))


def _regularizer(text: str, algo: Any, flags: TrainFlags) -> Any:
    name, values = parse_part(text)
    cls = REGULARIZERS.find(name, trust=flags.trust)
    found = from_dict(cls, {TYPE_KEY: tag_of(cls), **values})
    if name == "basis" and not _trains_basis(algo, found):
        wanted = "used with a network that trains its B"
        raise BadInputError("--with", text, wanted, "use --net lff, or drop it")
    return found


def _trains_basis(algo: Any, rule: Any) -> bool:
    """Return whether a network that the rule works on trains its B."""
    encoder = getattr(algo, "encoder", None)
    fronts = [getattr(algo, role).front for role in ("actor", "critic") if rule.works_on(role)]
    if encoder is not None:  # the critics train it
        fronts = [encoder.front] if rule.works_on("critic") else []
    return any(front.trains_basis for front in fronts)


def compiled(config: RunConfig, flags: TrainFlags) -> Compute:
    """Return how to compute: as asked, else as the run began, else by its length."""
    wanted = flags.learning.compile
    if wanted == "auto":
        run = RunDir(flags.dir)
        stored = run.config.get("compute", {}) if run.status != "empty" else {}
        wanted = stored.get("compile") or choose_compilation(config)
    return dataclasses.replace(config.compute, compile=wanted)


def run_to_end(
    config: RunConfig,
    folder: Path,
    trackers: Trackers,
    *,
    may_differ: tuple[str, ...] = (),
    reference_episodes: int = 0,
    command: list[str] | None = None,
) -> None:
    """Train with a progress bar, then print a summary."""
    compute = config.compute
    check_device(compute.device)
    with tracked(trackers, folder) as track:
        how = describe_compute(
            {
                "by": compute.compile,
                "not_native": why_not_native(config),
                "acts_alone": config.algo.learns_from == "rollout",
            }
        )
        size = f"{config.steps:,} steps, seed {config.seed}"
        print(f"{config.env}, {size}, {compute.device}, {how}")
        print_networks(to_dict(config.algo))
        with progress(folder.name, config.steps, track) as watch:
            train(
                config,
                directory=folder,
                watch=watch,
                command=command or sys.argv,
                may_differ=may_differ,
                reference_episodes=reference_episodes,
            )
    print_summary(folder)


@contextmanager
def progress(label: str, steps: int, track: Watch) -> Iterator[Watch]:
    """Show a bar with steps, return, |Q| and time left; where no terminal is, lines instead."""
    console, lines = Console(file=sys.stderr), None if sys.stdout.isatty() else EvaluationLines()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
        TextColumn("return {task.fields[returns]}  |Q| {task.fields[q]}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(label, total=steps, returns="-", q="-", speed="")

        def watch(loop: Loop, event: str) -> None:
            track(loop, event)
            if lines is not None:
                lines.watch(loop, event)
            if event == "warning":
                console.print(f"[yellow]warning:[/] {loop.warning}", highlight=False)
            if event == "step" and loop.progress.agent_step % REDRAW_EVERY:
                return
            speed = bar.tasks[0].speed
            shown: dict[str, Any] = {
                "returns": "-" if loop.last_return is None else f"{loop.last_return:.1f}",
                "q": f"{loop.progress.value_max:.3g}",
                "speed": "" if speed is None else f"{speed:.0f} steps/s",
            }
            bar.update(task, completed=min(loop.progress.env_step, steps), **shown)

        yield watch


class EvaluationLines:
    """One line for each evaluation, for logs."""

    def __init__(self) -> None:
        self.start: tuple[float, int] | None = None
        self.largest = 0.0

    def watch(self, loop: Loop, event: str) -> None:
        """Print a line on each evaluation; speed and time left are those of this start."""
        now, step = time.perf_counter(), loop.progress.env_step
        if self.start is None:
            self.start = now, step
        latest = loop.last.get(loop.agent.value_max) or 0.0  # a row of metrics resets the maximum
        self.largest = max(self.largest, loop.progress.value_max, latest)
        if event != "eval":
            return
        rate = (step - self.start[1]) / max(now - self.start[0], 1e-9)
        left = max(loop.config.steps - step, 0) / rate if rate else math.nan
        words = "unknown time" if math.isnan(left) else str(timedelta(seconds=round(left)))
        largest = f"{self.largest:.3g}" if loop.progress.updates else "-"
        value = f"largest |{loop.agent.value_letter}| {largest}"
        print(
            f"step {step:,} of {loop.config.steps:,}: return {loop.last_return:.1f}, {value}, "
            f"{rate:,.0f} steps/s, {words} left",
            flush=True,
        )
        self.largest = 0.0


FLAT = ("algo", "schedule", "compute")  # parts of a run whose fields are flags without a prefix


def parse_fields(config: RunConfig, args: Sequence[str], *, prog: str) -> RunConfig:
    """Return the config with the values of these flags.

    Fields of the run, the algorithm, the schedule and the compute part have one flat name each;
    networks and other nested parts keep their path (``--critic.front.sigma``).  The class of a
    part is fixed by the config, so that its fields are flags, not subcommands.
    """
    if not args:
        return config
    flat = tyro.conf.arg(name="")
    kinds: dict[str, Any] = {n: Annotated[type(getattr(config, n)), flat] for n in FLAT}
    kinds["env"] = tyro.conf.Suppress[str]  # an option of the first phase
    if config.view is not None:
        kinds["view"] = type(config.view)
    fields = dataclasses.make_dataclass(
        "Fields", kinds.items(), bases=(RunConfig,), frozen=True, kw_only=True
    )
    values = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    parsed = tyro.cli(
        tyro.conf.AvoidSubcommands[fields],  # type: ignore[valid-type,misc]
        prog=prog,
        description=f"Every field of {prog}, beside the options that {prog} --help lists.",
        args=args,
        default=fields(**values),
    )
    return RunConfig(**{name: getattr(parsed, name) for name in values})
