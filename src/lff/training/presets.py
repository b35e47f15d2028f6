"""Named set-ups: the sizes and rates of SAC that the sources give, and one for a laptop.

paper-table     Table 1                          paper-text   section 5
authors-readme  the authors' command lines        laptop       what two cores can do in an hour
"""

from dataclasses import dataclass
from typing import Literal, get_args

from lff.algos import LearnedAlpha, SACConfig
from lff.core.checks import check_choice
from lff.core.errors import BadInputError
from lff.nn import (
    FFN,
    ConcatMLPTrunk,
    ConstantControl,
    Fourier,
    FrontConfig,
    LinearControl,
    LogUniformFourier,
    MLPTrunk,
    NetConfig,
    matched_mlp,
)
from lff.nn.width import WidthChoice

PresetName = Literal["paper-table", "paper-text", "authors-readme", "laptop"]
NetName = Literal[
    "lff", "mlp", "fixed-b", "no-concat", "log-uniform", "mlp-concat", "linear", "constant", "ffn"
]


@dataclass(frozen=True, kw_only=True)
class Preset:
    """Sizes and rates of one source, for one task."""

    hidden_dim: int
    fourier_dim: int
    sigma: float
    lr: float
    batch_size: int
    mlp_width: WidthChoice
    """How wide the MLP's first layer is: of equal size, or as a source says."""
    alpha_lr: float = 1e-4

    def net(self, name: NetName, in_features: int, out_features: int) -> NetConfig:
        """Return a network of this preset by the name it has in the paper's figures."""
        check_choice("net", name, get_args(NetName))
        trunk = MLPTrunk(hidden=(self.hidden_dim, self.hidden_dim))
        size, sigma = self.fourier_dim, self.sigma
        lff = NetConfig(Fourier(fourier_dim=size, sigma=sigma), trunk)
        fronts: dict[str, FrontConfig] = {
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
        mlp = matched_mlp(lff, in_features, out_features, choice=self.mlp_width)
        if name == "mlp":
            return mlp
        return NetConfig(trunk=ConcatMLPTrunk(hidden=mlp.trunk.hidden))


def preset(name: PresetName, task: str) -> Preset:
    """Return the preset for a task; the paper sets σ and F by domain."""
    check_choice("preset", name, get_args(PresetName))
    domain = task.partition("/")[2].partition("-")[0]
    cheetah = domain == "cheetah"
    if name == "laptop":
        return Preset(
            hidden_dim=128, fourier_dim=128, sigma=0.01, lr=3e-4, batch_size=128, mlp_width="exact"
        )
    if name == "paper-table":
        return Preset(
            hidden_dim=1024,
            fourier_dim=64 if cheetah else 1024,
            sigma=0.003 if cheetah else 0.001,
            lr=1e-4,
            batch_size=1024,
            mlp_width="exact",
        )
    if name == "paper-text":
        smooth = domain in ("cheetah", "walker", "hopper")
        return Preset(
            hidden_dim=1024,
            fourier_dim=1024,
            sigma=0.001 if smooth else 0.01,
            lr=1e-4,
            batch_size=1024,
            mlp_width="paper",
        )
    return Preset(
        hidden_dim=1024,
        fourier_dim=1024,
        sigma=0.001,
        lr=3e-4,
        batch_size=1024,
        mlp_width="readme",
    )


def sac_config(
    chosen: Preset, *, actor: NetName, critic: NetName, obs_dim: int, action_dim: int
) -> SACConfig:
    """Return SAC as a preset has it, with these networks in actor and critic."""
    if obs_dim < 1 or action_dim < 1:
        raise BadInputError("dimensions", (obs_dim, action_dim), "positive", "look at the task")
    return SACConfig(
        actor=chosen.net(actor, obs_dim, 2 * action_dim),
        critic=chosen.net(critic, obs_dim + action_dim, 1),
        batch_size=chosen.batch_size,
        actor_lr=chosen.lr,
        critic_lr=chosen.lr,
        alpha=LearnedAlpha(lr=chosen.alpha_lr),
    )
