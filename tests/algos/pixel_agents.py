"""Small agents with an encoder, and random images for them."""

import torch

from lff.algos import LearnedAlpha, PixelSACConfig, PolyakTarget, Spaces
from lff.data import Batch, RandomCrop, RandomTranslate
from lff.nn import Fourier2d, MLPTrunk, NetConfig, PixelEncoderConfig

SIDE, ACT, SIZE = 20, 2, 4
OBS = (6, SIDE, SIDE)
CROP, TRANSLATE = RandomCrop(size=17), RandomTranslate(size=23)
NET = NetConfig(trunk=MLPTrunk((12, 10)))
LFF = Fourier2d(fourier_dim=6, sigma=0.1)
TARGET = PolyakTarget(tau=0.01, encoder_tau=0.05, period=2)


def make_pixel_agent(*regularizers, front=LFF, seed=0, **options):
    """Return an agent with two 3x3 convolutions of three filters and five features."""
    encoder = PixelEncoderConfig(front=front, feature_dim=5, num_layers=2, num_filters=3)
    options = {"augmentation": CROP, "target": TARGET, "log_std_min": -10.0} | options
    config = PixelSACConfig(
        actor=NET,
        critic=NET,
        encoder=encoder,
        batch_size=SIZE,
        actor_lr=2e-3,
        critic_lr=3e-3,
        alpha=LearnedAlpha(lr=1e-2, beta1=0.5),
        regularizers=regularizers,
        **options,
    )
    return config.build(Spaces(OBS, ACT), generator=torch.Generator().manual_seed(seed))


def draw_images(seed=0, *, side=CROP.size, size=SIZE):
    """Return a batch as replay gives it: augmented already."""
    g = torch.Generator().manual_seed(seed)
    obs, next_obs = torch.randint(
        256, (2, size, OBS[0], side, side), generator=g, dtype=torch.uint8
    )
    return Batch(
        obs=obs,
        action=2 * torch.rand(size, ACT, generator=g) - 1,
        reward=torch.randn(size, generator=g),
        next_obs=next_obs,
        terminated=torch.rand(size, generator=g) < 0.3,
    )


def advance(agent, updates=1, seed=1, **how):
    """Do updates with fixed batches and noise."""
    g = torch.Generator().manual_seed(seed)
    side = agent.config.augmentation.out_size(SIDE)
    for i in range(updates):
        metrics = agent.update(draw_images(i, side=side), agent.draw(g, SIZE), **how)
    return metrics


def snapshot(agent):
    return {name: value.clone() for name, value in agent.state().items()}


def changed(before, agent):
    """Return the names of the tensors that moved."""
    return {name for name, value in agent.state().items() if not torch.equal(value, before[name])}
