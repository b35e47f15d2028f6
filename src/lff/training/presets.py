"""Named set-ups: the sizes and rates of SAC that the sources give, and one for a laptop.

paper-table     Table 1                          paper-text   section 5
authors-readme  the authors' command lines        laptop       what two cores can do in an hour
"""

import dataclasses
from dataclasses import dataclass
from typing import Literal, get_args

from lff.algos import LearnedAlpha, SACConfig
from lff.core.checks import check_choice
from lff.core.errors import BadInputError
from lff.nn import (
    FFN,
    ConstantControl,
    Fourier,
    Front,
    LinearControl,
    LogUniformFourier,
    MatchedLayers,
    MatchedMLP,
    MatchRule,
    MLPTrunk,
    NetConfig,
    count,
)

PresetName = Literal["paper-table", "paper-text", "authors-readme", "laptop"]
SOURCES: dict[PresetName, str] = {
    "laptop": "what two cores can do in an hour",
    "paper-table": "Table 1 of the paper",
    "paper-text": "section 5 of the paper",
    "authors-readme": "the command lines of the authors' code",
}
"""Where each preset comes from."""
NetName = Literal[
    "lff", "mlp", "fixed-b", "no-concat", "log-uniform", "mlp-concat", "linear", "constant", "ffn"
]


@dataclass(frozen=True, kw_only=True)
class Preset:
    """Sizes, rates and schedule of one source, for one task.

    No source states the schedule; the authors' code has it, and the poster the number of steps.
    """

    hidden_dim: int
    """Width of the hidden layers."""
    fourier_dim: int
    """Number of Fourier features F."""
    sigma: float
    """Standard deviation of B at the start."""
    lr: float
    """Learning rate of actor and critics."""
    batch_size: int
    """Transitions per update."""
    mlp_width: MatchRule
    """How wide the MLP's first layer is: of equal size, or as a source says."""
    alpha_lr: float = 1e-4
    """Learning rate of the temperature."""
    steps: int = 1_000_000
    """Environment steps of a run."""
    warmup_steps: int = 5_000
    """Steps with uniform random actions before the first update."""
    replay_capacity: int = 1_000_000
    """Transitions kept."""
    updates_per_step: int = 1
    """Updates per agent step."""
    action_repeat: int = 1
    """Frames that each action is played for."""
    eval_every: int = 10_000
    """Steps between two evaluations."""
    eval_episodes: int = 10
    """Episodes of an evaluation."""

    def net(self, name: NetName, in_features: int, out_features: int) -> NetConfig:
        """Return a network of this preset by the name it has in the paper's figures."""
        check_choice("net", name, get_args(NetName))
        trunk = MLPTrunk(hidden=(self.hidden_dim, self.hidden_dim))
        size, sigma = self.fourier_dim, self.sigma
        lff = NetConfig(Fourier(fourier_dim=size, sigma=sigma), trunk)
        fronts: dict[str, Front] = {
            "fixed-b": Fourier(fourier_dim=size, sigma=sigma, trainable=False),
            "no-concat": Fourier(fourier_dim=size, sigma=sigma, concat_input=False),
            "log-uniform": LogUniformFourier(fourier_dim=size),
            "linear": LinearControl(fourier_dim=size, sigma=sigma),
            "constant": ConstantControl(fourier_dim=size),
            "ffn": FFN(),
        }
        if name == "lff":
            return lff
        if name in fronts:
            return NetConfig(fronts[name], trunk)
        layers: MatchedLayers = "plain" if name == "mlp" else "concat"
        mlp = NetConfig(trunk=MatchedMLP(like=lff, rule=self.mlp_width, layers=layers))
        return mlp.resolve(in_features, out_features)


def preset(name: PresetName, task: str) -> Preset:
    """Return the preset for a task; the paper sets σ, F and the number of steps by domain."""
    check_choice("preset", name, get_args(PresetName))
    domain = task.partition("/")[2].partition("-")[0]
    if name == "laptop":
        return Preset(
            hidden_dim=128,
            fourier_dim=128,
            sigma=0.01,
            lr=3e-4,
            batch_size=128,
            mlp_width="exact",
            steps=100_000,
        )
    readme = Preset(
        hidden_dim=1024,
        fourier_dim=1024,
        sigma=0.001,
        lr=3e-4,
        batch_size=1024,
        mlp_width="readme",
        steps=2_000_000 if domain == "humanoid" else 1_000_000,
    )
    if name == "authors-readme":
        return readme
    if name == "paper-text":
        sigma = 0.001 if domain in ("cheetah", "walker", "hopper") else 0.01
        return dataclasses.replace(readme, sigma=sigma, lr=1e-4, mlp_width="paper")
    table = dataclasses.replace(readme, lr=1e-4, mlp_width="exact")
    if domain == "cheetah":
        return dataclasses.replace(table, fourier_dim=64, sigma=0.003)
    return table


@dataclass(frozen=True)
class NetSize:
    """A network of a preset, in numbers."""

    hidden: tuple[int, ...]
    """Widths of the hidden layers."""
    parameters: int
    """Exact number of parameters of one network; SAC has two critics and their targets."""


def net_sizes(chosen: Preset, *, obs_dim: int, action_dim: int) -> dict[str, NetSize]:
    """Return the size of LFF and of its baseline, in actor and critic, for a task's dimensions."""
    sizes = {}
    names: tuple[NetName, ...] = ("lff", "mlp")
    for role, shape in (
        ("actor", (obs_dim, 2 * action_dim)),
        ("critic", (obs_dim + action_dim, 1)),
    ):
        for name in names:
            net = chosen.net(name, *shape)
            sizes[f"{role} {name}"] = NetSize(net.hidden(*shape), count(net, *shape))
    return sizes


def sac_config(
    chosen: Preset,
    *,
    actor: NetName,
    critic: NetName,
    obs_dim: int,
    action_dim: int,
    actor_sigma: float | None = None,
    critic_sigma: float | None = None,
) -> SACConfig:
    """Return SAC as a preset has it, with these networks (and σ, if given) in actor and critic."""
    if obs_dim < 1 or action_dim < 1:
        raise BadInputError("dimensions", (obs_dim, action_dim), "positive", "look at the task")
    return SACConfig(
        actor=_with_sigma(chosen, actor_sigma).net(actor, obs_dim, 2 * action_dim),
        critic=_with_sigma(chosen, critic_sigma).net(critic, obs_dim + action_dim, 1),
        batch_size=chosen.batch_size,
        actor_lr=chosen.lr,
        critic_lr=chosen.lr,
        alpha=LearnedAlpha(lr=chosen.alpha_lr),
    )


def _with_sigma(chosen: Preset, sigma: float | None) -> Preset:
    return chosen if sigma is None else dataclasses.replace(chosen, sigma=sigma)
