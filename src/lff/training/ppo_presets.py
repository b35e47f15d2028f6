"""Named set-ups of PPO: what the sources give, and one for a laptop.

paper-table     Table 3, its variance taken at its word: σ = √0.01       paper-text   appendix D
authors-readme  the authors' command lines: Fourier features in the critic alone, a layer more than
                the MLP has                                              laptop       small networks
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import Literal, get_args

from lff.algos import PPOConfig
from lff.algos.ppo_config import AdvantageNorm
from lff.core.checks import check_choice
from lff.core.errors import BadInputError
from lff.nn import (
    FFN,
    ConcatMLPTrunk,
    ConstantControl,
    Fourier,
    Front,
    LinearControl,
    LogUniformFourier,
    MLPTrunk,
    NetConfig,
    count,
    matched_mlp,
)
from lff.training.presets import NetName, NetSize, PresetName

SOURCES: dict[PresetName, str] = {
    "laptop": "small networks, as PPO has them elsewhere",
    "paper-table": "Table 3 of the paper",
    "paper-text": "the appendix on on-policy results",
    "authors-readme": "the command lines of the authors' code",
}
"""Where each preset comes from."""


@dataclass(frozen=True, kw_only=True)
class PPOPreset:
    """Sizes, rates and schedule of one source; all tasks have the same.

    What no source states (advantages, gains, number of environments) is that of the code base which
    the authors started from.
    """

    hidden_dim: int = 256
    """Width of the hidden layers."""
    lff_layers: int = 2
    """Hidden layers behind Fourier features."""
    mlp_width: Literal["exact", "hidden"] = "exact"
    """How wide the first of the MLP's three hidden layers is: of equal size, or as the others."""
    fourier_dim: int = 64
    """Number of Fourier features F."""
    sigma: float = 0.1
    """Standard deviation of B at the start; observations are normalised."""
    actor: NetName | None = None
    """The network that the source has in the actor, whatever the critic has."""
    lr: float = 3e-4
    """Learning rate, falling linearly to 0."""
    rollout_steps: int = 2048
    """Actions between two optimizations."""
    epochs: int = 10
    """How often each of them is used."""
    batch_size: int = 64
    """Actions per update."""
    advantage_norm: AdvantageNorm = "rollout"
    """Over what advantages are normalised."""
    actor_gain: float = 1.0
    """Gain of the actor's output layer."""
    critic_gain: float = math.sqrt(2)
    """Gain of the critic's output layer."""
    num_envs: int = 1
    """Environments side by side."""
    steps: int = 1_000_000
    """Environment steps of a run."""
    eval_every: int = 20_000
    """Steps between two evaluations."""
    eval_episodes: int = 10
    """Episodes of an evaluation."""

    def net(self, name: NetName, in_features: int, out_features: int) -> NetConfig:
        """Return a network of this preset by the name it has in the paper's figures."""
        check_choice("net", name, get_args(NetName))
        hidden = (self.hidden_dim,)
        trunk = MLPTrunk(hidden=hidden * self.lff_layers, activation="tanh")
        size, sigma = self.fourier_dim, self.sigma
        fronts: dict[str, Front] = {
            "lff": Fourier(fourier_dim=size, sigma=sigma),
            "fixed-b": Fourier(fourier_dim=size, sigma=sigma, trainable=False),
            "no-concat": Fourier(fourier_dim=size, sigma=sigma, concat_input=False),
            "log-uniform": LogUniformFourier(fourier_dim=size),
            "linear": LinearControl(fourier_dim=size, sigma=sigma),
            "constant": ConstantControl(fourier_dim=size),
            "ffn": FFN(),
        }
        if name in fronts:
            return NetConfig(fronts[name], trunk)
        mlp = NetConfig(trunk=MLPTrunk(hidden=hidden * 3, activation="tanh"))
        if self.mlp_width == "exact":
            mlp = matched_mlp(NetConfig(fronts["lff"], trunk), in_features, out_features)
        if name == "mlp":
            return mlp
        widths = mlp.hidden(in_features, out_features)
        return NetConfig(trunk=ConcatMLPTrunk(hidden=widths, activation="tanh"))


def ppo_preset(name: PresetName) -> PPOPreset:
    """Return a preset."""
    check_choice("preset", name, get_args(PresetName))
    if name == "laptop":
        return PPOPreset(
            hidden_dim=64,
            sigma=0.01,
            advantage_norm="minibatch",
            actor_gain=0.01,
            critic_gain=1.0,
            steps=300_000,
            eval_episodes=5,
        )
    if name == "paper-table":
        return PPOPreset()
    if name == "paper-text":
        return PPOPreset(fourier_dim=1024, sigma=0.001)
    return PPOPreset(sigma=0.01, lff_layers=3, mlp_width="hidden", actor="mlp")


def ppo_config(
    chosen: PPOPreset,
    *,
    net: NetName = "lff",
    actor: NetName | None = None,
    critic: NetName | None = None,
    obs_dim: int,
    action_dim: int,
    actor_sigma: float | None = None,
    critic_sigma: float | None = None,
) -> PPOConfig:
    """Return PPO as a preset has it, with these networks (and σ, if given) in actor and critic.

    Where the actor is not named, a preset whose source has one network there (``actor``) has it.
    """
    if obs_dim < 1 or action_dim < 1:
        raise BadInputError("dimensions", (obs_dim, action_dim), "positive", "look at the task")
    of_actor = actor or chosen.actor or net
    return PPOConfig(
        actor=_with_sigma(chosen, actor_sigma).net(of_actor, obs_dim, action_dim),
        critic=_with_sigma(chosen, critic_sigma).net(critic or net, obs_dim, 1),
        lr=chosen.lr,
        rollout_steps=chosen.rollout_steps,
        epochs=chosen.epochs,
        batch_size=chosen.batch_size,
        advantage_norm=chosen.advantage_norm,
        actor_gain=chosen.actor_gain,
        critic_gain=chosen.critic_gain,
    )


def ppo_net_sizes(chosen: PPOPreset, *, obs_dim: int, action_dim: int) -> dict[str, NetSize]:
    """Return the size of LFF and of its baseline, in actor and critic, for a task's dimensions."""
    sizes = {}
    names: tuple[NetName, ...] = ("lff", "mlp")
    for role, shape in (("actor", (obs_dim, action_dim)), ("critic", (obs_dim, 1))):
        for name in names:
            net = chosen.net(name, *shape)
            sizes[f"{role} {name}"] = NetSize(net.hidden(*shape), count(net, *shape))
    return sizes


def _with_sigma(chosen: PPOPreset, sigma: float | None) -> PPOPreset:
    return chosen if sigma is None else dataclasses.replace(chosen, sigma=sigma)
