import math

import pytest
import torch
from torch import nn

from lff import LearnedFourierFeatures2d
from lff.core import BadInputError, BadTypeError
from lff.nn import (
    AUTHORS_UNMATCHED_FRONT,
    Conv1x1,
    Fourier,
    Fourier2d,
    NoFront,
    PixelEncoderConfig,
    PixelMaps,
)

FRONTS = [
    NoFront(),
    Conv1x1(channels=12),
    AUTHORS_UNMATCHED_FRONT,
    Fourier2d(fourier_dim=8, sigma=0.1),
    Fourier2d(fourier_dim=8, sigma=0.1, per_frame=True),
    Fourier2d(fourier_dim=8, sigma=0.1, concat_input=False, trainable=False),
]


@pytest.mark.parametrize("front", FRONTS, ids=repr)
def test_every_front_fits_its_slot(front):
    encoder = PixelEncoderConfig(front=front, num_filters=4).build((9, 21, 25))
    obs = torch.randint(256, (2, 3, 9, 21, 25), dtype=torch.uint8)
    features = encoder(obs)
    assert features.shape == (2, 3, 50)
    features.sum().backward()
    assert all(p.grad is not None for p in encoder.parameters())


def test_encoder_is_the_published_one():
    encoder = PixelEncoderConfig().build((9, 84, 84))
    convolutions = [m for m in encoder.convolutions if isinstance(m, nn.Conv2d)]
    assert [c.stride for c in convolutions] == [(2, 2), (1, 1), (1, 1), (1, 1)]
    assert all(c.kernel_size == (3, 3) and c.out_channels == 32 for c in convolutions)
    assert encoder.head.project.in_features == 32 * 35 * 35
    assert isinstance(encoder.head.norm, nn.LayerNorm)
    assert isinstance(encoder.head.output, nn.Identity)


def test_encoder_by_hand(rng):
    config = PixelEncoderConfig(front=Fourier2d(fourier_dim=4, sigma=0.5), num_filters=3)
    encoder = config.build((9, 21, 21), generator=rng)
    obs = torch.randint(256, (2, 9, 21, 21), dtype=torch.uint8)
    x = obs / 255
    phase = 2 * math.pi * torch.einsum("fc,nchw->nfhw", encoder.front.B, x)
    y = torch.cat([phase.sin(), phase.cos(), x], dim=1)
    for layer in encoder.convolutions:
        y = layer(y)
    expected = encoder.head.norm(encoder.head.project(y.flatten(1)))
    torch.testing.assert_close(encoder(obs), expected)


def test_dtype_decides_scaling_not_values(rng):
    """A dark uint8 batch (all values <= 1) is scaled like any other; floats never are."""
    encoder = PixelEncoderConfig(num_filters=4).build((3, 21, 21), generator=rng)
    dark = torch.ones(1, 3, 21, 21, dtype=torch.uint8)
    torch.testing.assert_close(encoder(dark), encoder(torch.full((1, 3, 21, 21), 1 / 255)))
    bright = torch.full((1, 3, 21, 21), 200.0)
    maps = PixelMaps.forward(encoder, bright)
    torch.testing.assert_close(maps, encoder.convolutions(bright).flatten(1))


def test_output_tanh_is_an_option():
    encoder = PixelEncoderConfig(num_filters=4, output_tanh=True).build((3, 21, 21))
    assert encoder(torch.rand(5, 3, 21, 21)).abs().max() < 1


def test_conv_front_written_out():
    front = Conv1x1(channels=5, scale=2 * math.pi).build(3)
    x = torch.rand(2, 3, 4, 4)
    weight, bias = front.conv.weight[:, :, 0, 0], front.conv.bias
    linear = torch.einsum("oc,nchw->nohw", weight, x) + bias[:, None, None]
    torch.testing.assert_close(front(x), torch.relu(2 * math.pi * linear))


def test_basis_keeps_its_law_inside_the_encoder():
    encoder = PixelEncoderConfig(front=Fourier2d(fourier_dim=512, sigma=0.1)).build((9, 84, 84))
    assert isinstance(encoder.front, LearnedFourierFeatures2d)
    assert encoder.front.B.std().item() == pytest.approx(0.1, rel=0.1)
    assert "sigma=0.1" in repr(encoder)
    assert "parameters=" in repr(encoder)


def test_an_empty_batch_gives_empty_features():
    for front in FRONTS:
        encoder = PixelEncoderConfig(front=front, num_filters=4).build((9, 21, 21))
        assert encoder(torch.zeros(0, 9, 21, 21)).shape == (0, 50)


def test_the_weights_dtype_is_the_images():
    encoder = PixelEncoderConfig(num_filters=4).build((3, 21, 21)).double()
    assert encoder(torch.zeros(1, 3, 21, 21, dtype=torch.uint8)).dtype == torch.double


def test_grey_frames_can_be_embedded_one_by_one():
    front = Fourier2d(fourier_dim=8, sigma=0.1, per_frame=True, frame_channels=1)
    encoder = PixelEncoderConfig(front=front, num_filters=4).build((4, 21, 21))
    assert encoder.front.B.shape == (4, 1)
    assert encoder.front.out_channels == 4 * 8 + 4


@pytest.mark.usefixtures("unchecked")
def test_a_dense_front_is_refused():
    with pytest.raises(BadTypeError, match="fourier-2d"):
        PixelEncoderConfig(front=Fourier(fourier_dim=8, sigma=0.1))


@pytest.mark.usefixtures("unchecked")
def test_bad_images():
    config = PixelEncoderConfig(num_filters=4)
    with pytest.raises(BadInputError, match="at least 15 pixels"):
        config.build((3, 14, 84))
    assert config.build((3, 15, 15))(torch.rand(1, 3, 15, 15)).shape == (1, 50)
    encoder = config.build((3, 21, 21))
    with pytest.raises(BadInputError, match="in_channels=9"):
        encoder(torch.rand(1, 9, 21, 21))
    with pytest.raises(BadInputError, match="21 x 21 pixels"):
        encoder(torch.rand(1, 3, 22, 21))
    with pytest.raises(BadInputError, match=r"\(channels, height, width\)"):
        config.build((84, 84))
    with pytest.raises(BadTypeError, match="floating point"):
        encoder(torch.zeros(1, 3, 21, 21, dtype=torch.int64))
    with pytest.raises(BadInputError, match="channels"):
        Conv1x1(channels=0)
