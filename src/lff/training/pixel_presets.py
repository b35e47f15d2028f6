"""Named set-ups of SAC + RAD from pixels: what the sources give, and one for a laptop.

paper-table     Table 2                          authors-readme  the authors' command lines
laptop          smaller pictures, networks and batches, for one core

The sources differ in learning rate and batch size (Table 2 gives 1e-4 and 512, the command lines
1e-3 and 128), and the command lines' CNN has a quarter of LFF's parameters before its second layer.
"""

import dataclasses
from dataclasses import dataclass
from typing import Literal, get_args

import torch

from lff.algos import LearnedAlpha, PolyakTarget, SACConfig
from lff.core.checks import check_choice
from lff.data import Augmentation, NoAugmentation, RandomCrop, RandomTranslate
from lff.envs.views import PixelView
from lff.nn import (
    AUTHORS_UNMATCHED_FRONT,
    Fourier2d,
    MLPTrunk,
    NetConfig,
    NoFront,
    PixelEncoderConfig,
    PixelMaps,
    count,
    count_entrance,
    matched_cnn,
    num_parameters,
)

PixelPresetName = Literal["paper-table", "authors-readme", "laptop"]
PixelNetName = Literal[
    "lff", "cnn", "cnn-vanilla", "cnn-readme", "fixed-b", "no-concat", "per-frame"
]
PIXEL_SOURCES: dict[PixelPresetName, str] = {
    "laptop": "smaller pictures, networks and batches, for one core",
    "paper-table": "Table 2 of the paper",
    "authors-readme": "the command lines of the authors' code",
}
"""Where each preset comes from."""
AugmentationName = Literal["crop", "translate", "none"]
ENCODER_TAU, CRITIC_TAU = 0.05, 0.01
LOG_STD_MIN = -10.0
ALPHA_BETA1 = 0.5
EVERY_SECOND = 2
"""Actor, temperature and targets move at every second update of the critics."""
REPEATS = {"cartpole": 8, "finger": 2, "walker": 2}
"""Repeats of an action that are usual for a domain; 4 for the others.  The paper has 4 for all."""


@dataclass(frozen=True, kw_only=True)
class PixelPreset:
    """Sizes, rates and schedule of one source, for one task."""

    size: int = 100
    """Side of the stored pictures."""
    render_size: int | None = None
    """Side of the drawn ones, if they are cut."""
    augmentation: AugmentationName = "crop"
    """How a batch is changed: cut a window, or put the picture on a black one."""
    seen_size: int = 84
    """Side of what the networks see: the window, or the black picture."""
    frame_stack: int = 3
    """Pictures per observation."""
    fast_render: bool = False
    """Draw without multisampling, shadows and reflections."""
    num_filters: int = 32
    """Channels of each convolution."""
    num_layers: int = 4
    """Number of convolutions."""
    feature_dim: int = 50
    """Width of the encoder's output."""
    hidden_dim: int = 1024
    """Width of the two hidden layers of actor and critics."""
    fourier_dim: int = 64
    """Number of Fourier features F at a pixel."""
    sigma: float = 0.1
    """Standard deviation of B at the start."""
    cnn: Literal["exact", "readme"] = "exact"
    """The 1x1 convolution of the net ``cnn``: of LFF's size, or the authors' 32 channels."""
    lr: float = 1e-4
    """Learning rate of actor and critics."""
    batch_size: int = 512
    """Transitions per update."""
    initial_alpha: float = 0.1
    """Temperature at the start."""
    alpha_lr: float = 1e-4
    """Learning rate of the temperature."""
    steps: int = 4_000_000
    """Environment steps: a million actions of four."""
    warmup_steps: int = 4_000
    """Steps with uniform random actions before the first update."""
    replay_capacity: int = 100_000
    """Transitions kept."""
    updates_per_step: int = 1
    """Updates per action."""
    action_repeat: int = 4
    """Frames that each action is played for."""
    eval_every: int = 40_000
    """Steps between two evaluations."""
    eval_episodes: int = 10
    """Episodes of an evaluation."""

    @property
    def view(self) -> PixelView:
        """What the environment draws."""
        return PixelView(
            size=self.size,
            frame_stack=self.frame_stack,
            render_size=self.render_size,
            fast_render=self.fast_render,
        )

    def augment(self) -> Augmentation:
        """Return how batches are changed."""
        check_choice("augmentation", self.augmentation, get_args(AugmentationName))
        if self.augmentation == "crop":
            return RandomCrop(size=self.seen_size)
        if self.augmentation == "translate":
            return RandomTranslate(size=self.seen_size)
        return NoAugmentation()

    def encoder(self, name: PixelNetName) -> PixelEncoderConfig:
        """Return the encoder by the name of its front."""
        check_choice("net", name, get_args(PixelNetName))
        front = Fourier2d(
            fourier_dim=self.fourier_dim,
            sigma=self.sigma,
            trainable=name != "fixed-b",
            concat_input=name != "no-concat",
            per_frame=name == "per-frame",
        )
        lff = PixelEncoderConfig(
            front=front,
            feature_dim=self.feature_dim,
            num_layers=self.num_layers,
            num_filters=self.num_filters,
        )
        if name == "cnn-vanilla":
            return dataclasses.replace(lff, front=NoFront())
        if name == "cnn-readme" or (name == "cnn" and self.cnn == "readme"):
            return dataclasses.replace(lff, front=AUTHORS_UNMATCHED_FRONT)
        if name == "cnn":
            return matched_cnn(lff, 3 * self.frame_stack)
        return lff

    def agent(self, name: PixelNetName) -> SACConfig:
        """Return SAC + RAD with this encoder."""
        net = NetConfig(trunk=MLPTrunk(hidden=(self.hidden_dim, self.hidden_dim)))
        return SACConfig(
            actor=net,
            critic=net,
            encoder=self.encoder(name),
            augmentation=self.augment(),
            batch_size=self.batch_size,
            actor_lr=self.lr,
            critic_lr=self.lr,
            alpha=LearnedAlpha(initial=self.initial_alpha, lr=self.alpha_lr, beta1=ALPHA_BETA1),
            target=PolyakTarget(tau=CRITIC_TAU, encoder_tau=ENCODER_TAU, period=EVERY_SECOND),
            actor_period=EVERY_SECOND,
            log_std_min=LOG_STD_MIN,
        )


def pixel_preset(name: str, task: str) -> PixelPreset:
    """Return the preset for a task; the paper sets augmentation, σ and F by domain."""
    check_choice("preset for pixels", name, get_args(PixelPresetName))
    domain = task.partition("/")[2].partition("-")[0]
    if name == "laptop":
        repeat = REPEATS.get(domain, 4)
        return PixelPreset(
            size=32,
            seen_size=28,
            fast_render=True,
            num_filters=16,
            hidden_dim=256,
            fourier_dim=32,
            lr=1e-3,
            batch_size=64,
            initial_alpha=0.01,
            alpha_lr=1e-3,
            steps=8_000 * repeat,
            warmup_steps=500 * repeat,
            action_repeat=repeat,
            eval_every=800 * repeat,
            eval_episodes=5,
        )
    table = PixelPreset(
        fourier_dim=128 if domain == "hopper" else 64,
        sigma=0.01 if domain in ("finger", "quadruped") else 0.1,
    )
    if domain == "cheetah":
        table = dataclasses.replace(table, augmentation="translate", seen_size=108)
    if name == "paper-table":
        return table
    drawn = 108 if domain == "cheetah" else None
    return dataclasses.replace(table, lr=1e-3, batch_size=128, cnn="readme", render_size=drawn)


def pixel_sizes(chosen: PixelPreset, *, action_dim: int) -> dict[str, int]:
    """Return exact numbers of parameters, by what has them.

    entrance   front and first convolution: what a fair comparison keeps equal
    eyes       front and all convolutions
    actor, critics   projection, layer norm and network of the actor; of both critics
    """
    channels = 3 * chosen.frame_stack
    side = chosen.augment().out_size(chosen.size)
    sizes: dict[str, int] = {}
    for name in get_args(PixelNetName):
        encoder = chosen.encoder(name)
        with torch.device("meta"):
            eyes = PixelMaps(encoder, (channels, side, side))
        sizes[f"{name} entrance"] = count_entrance(encoder, channels)
        sizes[f"{name} eyes"] = num_parameters(eyes)
    width = chosen.feature_dim
    projection = (eyes.maps_width + 1) * width + 2 * width
    agent = chosen.agent("lff")
    sizes["actor"] = projection + count(agent.actor, width, 2 * action_dim)
    critics = agent.num_critics * count(agent.critic, width + action_dim, 1)
    sizes["critics"] = projection + critics
    return sizes
