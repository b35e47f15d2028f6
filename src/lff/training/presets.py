"""Presets: ready configs with the sizes, rates and schedules that the sources give.

default         for your own tasks               laptop       what two cores can do in an hour
paper-table     Tables 1 to 3                    paper-text   section 5 and the appendix on PPO
authors-readme  the authors' command lines

A preset is chosen by its name and by the kind of the algorithm: one that learns from a replay
memory, from state or from pixels, or one that learns from rollouts.  Its values go to the fields
of the same name of the algorithm's config, so that a new algorithm has presets at once.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import torch

from lff.algos.base import ALGORITHMS
from lff.algos.off_policy import NoTarget, PolyakTarget
from lff.algos.sac import LearnedAlpha
from lff.core.checks import check_choice, nearest
from lff.core.config import tag_of
from lff.core.errors import BadInputError
from lff.envs import has_pixels
from lff.nn import PixelMaps, count, count_entrance, num_parameters
from lff.training.networks import NetName, PixelNetName, PixelSizes, Sizes
from lff.training.run import RunConfig, Schedule

PresetName = Literal["default", "laptop", "paper-table", "paper-text", "authors-readme"]
Kind = Literal["state", "pixels", "rollout"]
SOURCES: dict[Kind, dict[PresetName, str]] = {
    "state": {
        "default": "usual sizes and rates of SAC, for your own tasks",
        "laptop": "what two cores can do in an hour",
        "paper-table": "Table 1 of the paper",
        "paper-text": "section 5 of the paper",
        "authors-readme": "the command lines of the authors' code",
    },
    "pixels": {
        "default": "the same as laptop",
        "laptop": "smaller images, networks and batches, for one core",
        "paper-table": "Table 2 of the paper",
        "authors-readme": "the command lines of the authors' code",
    },
    "rollout": {
        "default": "the same as laptop",
        "laptop": "small networks, as PPO has them elsewhere",
        "paper-table": "Table 3 of the paper",
        "paper-text": "the appendix on on-policy results",
        "authors-readme": "the command lines of the authors' code",
    },
}
"""Where each preset comes from."""
REPEATS = {"cartpole": 8, "finger": 2, "walker": 2}
"""Repeats of an action that are usual for a domain; 4 for the others.  The paper has 4 for all."""
RATES = ("lr", "actor_lr", "critic_lr")
"""Fields that a common learning rate sets."""
RUN_FIELDS = ("steps", "seed", "num_envs", "action_repeat", "view", "compute")


@dataclass(frozen=True, kw_only=True)
class Preset:
    """Sizes, rates and schedule of one source, for one task and one algorithm."""

    algo: type
    """Config class of the algorithm."""
    env: str
    sizes: Sizes | PixelSizes
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Values for the algorithm's config, by name of the field."""
    run: Mapping[str, Any] = field(default_factory=dict)
    """Values for the run's config."""
    schedule: Schedule = Schedule()  # noqa: RUF009  frozen
    actor: NetName | None = None
    """The network that the source has in the actor, whatever the critic has."""

    def replace(self, **values: Any) -> "Preset":
        """Return the preset with other values, by the name of any field of its parts.

        ``lr`` stands for the learning rates of all networks.
        """
        known = self.names()
        if "lr" in values:
            rates = [name for name in RATES if name in known["fields"]]
            values = dict.fromkeys(rates, values.pop("lr")) | values
        parts = {part: {n: values.pop(n) for n in ns if n in values} for part, ns in known.items()}
        for name in values:
            every = [n for names in known.values() for n in names]
            wanted = f"the name of a field of {tag_of(self.algo)}"
            raise BadInputError("preset", name, wanted, nearest(name, every))
        return dataclasses.replace(
            self,
            sizes=dataclasses.replace(self.sizes, **parts["sizes"]),
            schedule=dataclasses.replace(self.schedule, **parts["schedule"]),
            run={**self.run, **parts["run"]},
            fields={**self.fields, **parts["fields"]},
        )

    def names(self) -> dict[str, Sequence[str]]:
        """Return the names of the values, by part."""
        sizes, schedule = field_names(self.sizes), field_names(Schedule)
        fields = field_names(self.algo)
        return {"sizes": sizes, "schedule": schedule, "run": RUN_FIELDS, "fields": fields}

    def values(self) -> dict[str, Any]:
        """Return every value by name, for tables."""
        flat = dataclasses.asdict(self.sizes)
        for name, value in (*self.fields.items(), *self.run.items()):
            inner = dataclasses.asdict(value) if dataclasses.is_dataclass(value) else None  # type: ignore[arg-type]
            flat |= {name: value} if inner is None else {f"{name}.{n}": v for n, v in inner.items()}
        return flat | dataclasses.asdict(self.schedule) | {"actor_net": self.actor}

    def config(
        self,
        net: str = "lff",
        *,
        actor: str | None = None,
        critic: str | None = None,
        actor_sigma: float | None = None,
        critic_sigma: float | None = None,
    ) -> RunConfig:
        """Return the run with these networks by name (and σ, if given) in actor and critic."""
        if isinstance(self.sizes, PixelSizes):
            for name, value in {"actor": actor, "critic": critic}.items():
                if value is not None:
                    remedy = "drop it: actor and critics share one encoder"
                    raise BadInputError(f"{name} net", value, f"left out for {self.env}", remedy)
            behind = self.sizes.behind()
            parts: dict[str, Any] = {"actor": behind, "critic": behind}
            parts |= {"encoder": self.sizes.encoder(net), "augmentation": self.sizes.augment()}
            run = {"view": self.sizes.view, **self.run}
        else:
            names = {"actor": actor or self.actor or net, "critic": critic or net}
            given = {"actor": actor_sigma, "critic": critic_sigma}
            sigmas = {r: self.sizes.sigma if s is None else s for r, s in given.items()}
            both = {r: dataclasses.replace(self.sizes, sigma=s) for r, s in sigmas.items()}
            parts = {role: both[role].net(name) for role, name in names.items()}
            run = dict(self.run)
        return RunConfig(
            env=self.env, algo=self.algo(**parts, **self.fields), schedule=self.schedule, **run
        )


def preset(name: PresetName, env: str, *, algo: str | type = "sac") -> Preset:
    """Return the preset for a task; the paper sets σ, F and the number of steps by domain.

    ``algo`` is the tag of an algorithm of ours, or the config class of any.
    """
    cls = algorithm_for(ALGORITHMS[algo] if isinstance(algo, str) else algo, env)
    kind = kind_of(cls)
    check_choice(f"preset for {tag_of(cls)}", name, [*SOURCES[kind]])
    domain = env.partition("/")[2].partition("-")[0]
    make = {"state": _state, "pixels": _pixels, "rollout": _rollout}[kind]
    sizes, values = make(name, domain)
    if env.startswith("gym-pixels/"):  # whose tasks draw themselves
        values["fast_render"] = False
    if isinstance(getattr(cls, "target", None), NoTarget):  # CrossQ: a preset's target is SAC's
        values.pop("target", None)
    chosen = Preset(algo=cls, env=env, sizes=sizes, actor=values.pop("source_actor", None))
    known = {"lr"}.union(*chosen.names().values())
    return chosen.replace(**{name: value for name, value in values.items() if name in known})


def pixel_sizes(chosen: Preset, *, action_dim: int) -> dict[str, int]:
    """Return exact numbers of parameters, by part.

    entrance   front and first convolution: what a fair comparison keeps equal
    encoder    front and all convolutions
    actor, critics   projection, layer norm and network of the actor; of both critics
    """
    sizes = chosen.sizes
    assert isinstance(sizes, PixelSizes)
    channels = 3 * sizes.frame_stack
    side = sizes.augment().out_size(sizes.size)
    found: dict[str, int] = {}
    for name in get_args(PixelNetName):
        encoder = sizes.encoder(name)
        with torch.device("meta"):
            maps = PixelMaps(encoder, (channels, side, side))
        found[f"{name} entrance"] = count_entrance(encoder, channels)
        found[f"{name} encoder"] = num_parameters(maps)
    width = sizes.feature_dim
    projection = (maps.maps_width + 1) * width + 2 * width
    algo: Any = chosen.config().algo
    found["actor"] = projection + count(algo.actor, width, 2 * action_dim)
    critics = algo.num_critics * count(algo.critic, width + action_dim, 1)
    found["critics"] = projection + critics
    return found


def algorithm_for(cls: type, env: str) -> type:
    """Return the class for a task: that of ``sac`` from pixels is ``sac-pixels``."""
    pixels = f"{tag_of(cls)}-pixels"
    found: type = ALGORITHMS[pixels] if has_pixels(env) and pixels in ALGORITHMS else cls
    return found


def kind_of(cls: Any) -> Kind:
    """Return which presets an algorithm has."""
    if cls.learns_from == "rollout":
        return "rollout"
    return "pixels" if "encoder" in field_names(cls) else "state"


def field_names(cls: Any) -> list[str]:
    """Return the names of the fields of a config, or of its class."""
    return [f.name for f in dataclasses.fields(cls)]


Parts = tuple[Sizes | PixelSizes, dict[str, Any]]


def _state(name: PresetName, domain: str) -> Parts:
    """Return the presets of Q-learning from state.

    No source states the schedule; the authors' code has it, and the poster the number of steps.
    """
    if name in ("default", "laptop"):
        width = 256 if name == "default" else 128
        values: dict[str, Any] = {"lr": 3e-4, "batch_size": width, "steps": 100_000}
        if name == "default":
            values |= {"target": PolyakTarget(period=1), "alpha": LearnedAlpha(lr=3e-4)}
            values["warmup_steps"] = 1_000
        return Sizes(hidden_dim=width, fourier_dim=width, sigma=0.01), values
    steps = 2_000_000 if domain == "humanoid" else 1_000_000
    values = {"lr": 1e-4, "batch_size": 1024, "steps": steps}
    if name == "authors-readme":
        values |= {"lr": 3e-4, "mlp": "readme"}
    if name == "paper-text":
        values["mlp"] = "paper"
        if domain not in ("cheetah", "walker", "hopper"):
            values["sigma"] = 0.01
    if name == "paper-table" and domain == "cheetah":
        values |= {"fourier_dim": 64, "sigma": 0.003}
    return Sizes(hidden_dim=1024, fourier_dim=1024, sigma=0.001), values


def _pixels(name: PresetName, domain: str) -> Parts:
    """Return the presets from pixels.

    The sources differ in learning rate and batch size (Table 2 gives 1e-4 and 512, the command
    lines 1e-3 and 128), and the command lines' CNN has a quarter of LFF's parameters before its
    second layer.  Actor, temperature and targets move at every second update of the critics.
    """
    values: dict[str, Any] = {
        "lr": 1e-4,
        "batch_size": 512,
        "target": PolyakTarget(tau=0.01, encoder_tau=0.05, period=2),
        "actor_period": 2,
        "log_std_min": -10.0,
        "warmup_steps": 4_000,
        "replay_capacity": 100_000,
    }
    alpha = LearnedAlpha(beta1=0.5)
    if name in ("default", "laptop"):
        repeat = REPEATS.get(domain, 4)
        values |= {"lr": 1e-3, "batch_size": 64, "warmup_steps": 500 * repeat}
        values |= {"alpha": dataclasses.replace(alpha, initial=0.01, lr=1e-3)}
        values |= {"steps": 8_000 * repeat, "action_repeat": repeat}
        values |= {"eval_every": 800 * repeat, "eval_episodes": 5}
        small = PixelSizes(size=32, cropped_size=28, fast_render=True, num_filters=16)
        return dataclasses.replace(small, hidden_dim=256, fourier_dim=32), values
    values |= {"alpha": alpha, "steps": 4_000_000, "action_repeat": 4, "eval_every": 40_000}
    values["fourier_dim"] = 128 if domain == "hopper" else 64
    values["sigma"] = 0.01 if domain in ("finger", "quadruped") else 0.1
    if domain == "cheetah":
        values |= {"augmentation": "translate", "cropped_size": 108}
    if name == "authors-readme":
        values |= {"cnn": "readme", "lr": 1e-3, "batch_size": 128}
        values["render_size"] = 108 if domain == "cheetah" else None
    return PixelSizes(), values


def _rollout(name: PresetName, domain: str) -> Parts:  # noqa: ARG001  all tasks have the same
    """Return the presets of on-policy algorithms.

    What no source states (advantages, gains, number of environments) is that of the code base
    which the authors started from.
    """
    values: dict[str, Any] = {"log_every": 2_000, "eval_every": 20_000}
    if name in ("default", "laptop"):
        values |= {"steps": 300_000, "eval_episodes": 5}
        return Sizes(hidden_dim=64, fourier_dim=64, sigma=0.01, activation="tanh"), values
    values |= {"steps": 1_000_000, "advantage_norm": "rollout"}
    values |= {"actor_gain": 1.0, "critic_gain": math.sqrt(2)}
    if name == "paper-text":
        values |= {"fourier_dim": 1024, "sigma": 0.001}
    if name == "authors-readme":
        values |= {"sigma": 0.01, "layers": 3, "mlp": "hidden", "source_actor": "mlp"}
    return Sizes(hidden_dim=256, fourier_dim=64, sigma=0.1, activation="tanh"), values
