import functools
from dataclasses import replace

import pytest
import torch

from lff import LFF, MLP, match_width
from lff.core import BadInputError, BadTypeError, from_dict, to_dict
from lff.nn import (
    AUTHORS_UNMATCHED_FRONT,
    ConcatMLPTrunk,
    ConstantControl,
    Conv1x1,
    DeepFourierTrunk,
    Ensemble,
    Fourier,
    Fourier2d,
    Identity,
    MatchedConv1x1,
    MatchedMLP,
    MLPTrunk,
    NetConfig,
    NoFront,
    PixelEncoderConfig,
    SimBaTrunk,
    TanhControl,
    count,
    count_entrance,
    num_parameters,
)
from tests.nn.architectures import fronts, trunks

MLPS = sum(not isinstance(trunk, SimBaTrunk) for trunk in trunks(2))
"""Trunks of the list that an MLP can be matched to layer by layer; they come first."""


def matched_mlp(like, in_features, out_features, rule="exact"):
    """The matched MLP with its widths stated."""
    return NetConfig(trunk=MatchedMLP(like=like, rule=rule)).resolve(in_features, out_features)


# observation plus action dimensions of the paper's eight tasks (two share 90)
CRITIC_INPUTS = (7, 23, 14, 19, 88, 90, 30)


@pytest.mark.parametrize("d", CRITIC_INPUTS)
def test_paper_networks_match_by_the_closed_form(d):
    """w = (d·F/2 + H(F + d)) / (d + 1 + H), from equating the two counts by hand."""
    F = H = 1024
    net = LFF(d, 1, n_hidden=2, hidden_dim=H, sigma=0.001, fourier_dim=F)
    assert match_width(net) == round((d * F / 2 + H * (F + d)) / (d + 1 + H))


def test_the_papers_width_is_1026_to_1064_never_1100():
    networks = [
        LFF(d, 1, n_hidden=2, hidden_dim=1024, sigma=0.001, fourier_dim=1024) for d in CRITIC_INPUTS
    ]
    widths = [match_width(net) for net in networks]
    assert (min(widths), max(widths)) == (1026, 1064)


@pytest.mark.parametrize("size", [256, 1024])
@pytest.mark.parametrize("d", [7, 90])
@pytest.mark.parametrize("front", range(len(fronts(2))))
@pytest.mark.parametrize("trunk", range(MLPS))
def test_counts_match_within_half_a_percent_for_every_front_and_trunk(front, trunk, d, size):
    config = NetConfig(fronts(size)[front], trunks(size, size)[trunk])
    baseline = matched_mlp(config, d, 1)
    assert count(baseline, d, 1) == pytest.approx(count(config, d, 1), rel=0.005)
    hidden = baseline.trunk.hidden
    assert len(hidden) == len(config.trunk.hidden) + (not isinstance(config.front, Identity))
    assert hidden[0] == max(hidden), "the first layer is never a bottleneck"
    if len(set(hidden)) > 1:
        assert hidden == (match_width(config, d, 1), *config.trunk.hidden[-len(hidden) + 1 :])
    else:
        assert hidden[0] <= size, "all widths moved together"


@pytest.mark.parametrize("trunk", range(MLPS))
@pytest.mark.parametrize("front", range(len(fronts(2))))
@pytest.mark.parametrize(("d", "size"), [(7, 128), (90, 1024)])
def test_a_shallow_mlp_has_the_size_and_depth_of_the_network(front, trunk, d, size):
    """With and without a front of its own: within 0.5 %, or one unit of width."""
    like = NetConfig(fronts(size)[front], trunks(size, size)[trunk])
    for own in (
        Identity(),
        ConstantControl(fourier_dim=size),
        TanhControl(fourier_dim=8, sigma=1.0),
    ):
        net = NetConfig(own, MatchedMLP(like=like, layers="shallow"))
        first, second = net.hidden(d, 1)
        assert first == second
        off = abs(count(net, d, 1) - count(like, d, 1))
        wider = count(NetConfig(own, MLPTrunk((first + 1,) * 2)), d, 1) - count(net, d, 1)
        assert off <= max(0.005 * count(like, d, 1), wider)
        assert from_dict(NetConfig, to_dict(net)) == net
        assert num_parameters(net.build(d, 1)) == count(net, d, 1)


def test_the_widths_of_table_1_do_not_make_a_bottleneck():
    """F = 64 before layers of 1024: the first layer alone would shrink to 86 units."""
    like = NetConfig(Fourier(fourier_dim=64, sigma=0.003), MLPTrunk((1024, 1024)))
    assert match_width(like, 23, 1) == 86
    assert matched_mlp(like, 23, 1).trunk.hidden == (749, 749, 749)
    laptop = NetConfig(Fourier(fourier_dim=128, sigma=0.01), MLPTrunk((128, 128)))
    assert matched_mlp(laptop, 23, 1).trunk.hidden == (137, 128, 128)


def test_a_network_smaller_than_the_layers_behind_it_lacks_a_first_width():
    tiny = NetConfig(Fourier(fourier_dim=8, sigma=0.1), DeepFourierTrunk((64, 64)))
    with pytest.raises(BadInputError, match="MatchedMLP"):
        match_width(tiny, 7, 1)


@pytest.mark.parametrize("d", [1, 3, 24])
@pytest.mark.parametrize("F", [8, 32, 256])
@pytest.mark.parametrize("H", [16, 64, 256])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_recipe_of_the_readme_is_never_off_by_more_than_half_a_unit(d, F, H, n):
    """Small networks cannot be matched to 0.5 %: one unit more or less is the best there is."""
    net = LFF(d, 1, n_hidden=n, hidden_dim=H, fourier_dim=F, sigma=0.01)
    mlp = MLP(d, 1, n_hidden=n + 1, hidden_dim=H, first_dim=match_width(net))
    unit = d + 1 + H
    assert abs(num_parameters(mlp) - num_parameters(net)) <= unit / 2


def test_counting_equals_building():
    config = NetConfig(Fourier(fourier_dim=64, sigma=0.1), MLPTrunk((32, 16)))
    assert count(config, 5, 2) == num_parameters(config.build(5, 2))


def test_nearest_integer_is_chosen():
    config = NetConfig(Fourier(fourier_dim=64, sigma=0.1), MLPTrunk((32, 32)))
    best = matched_mlp(config, 5, 2)
    first, *later = best.trunk.hidden
    goal = count(config, 5, 2)

    def error(w):
        return abs(count(NetConfig(trunk=MLPTrunk((w, *later))), 5, 2) - goal)

    assert error(first) <= min(error(first - 1), error(first + 1))


def test_named_choices():
    net = LFF(23, 1, n_hidden=2, hidden_dim=1024, sigma=0.001, fourier_dim=1024)
    assert match_width(net, choice="paper") == 1100
    assert match_width(net, choice="readme") == 1024
    assert matched_mlp(net.config, 23, 1, rule="paper").trunk.hidden == (1100, 1024, 1024)


@pytest.mark.parametrize("front", range(len(fronts(2))))
@pytest.mark.parametrize("trunk", range(MLPS))
def test_matched_mlp_is_resolved_when_built(front, trunk):
    """The trunk gives the widths and, from the same generator, the weights of the stated MLP."""
    like = NetConfig(fronts(64)[front], trunks(48, 32)[trunk])
    stated = matched_mlp(like, 5, 2)
    matched = NetConfig(trunk=MatchedMLP(like=like))
    assert isinstance(stated.trunk, MLPTrunk)
    assert matched.hidden(5, 2) == stated.trunk.hidden
    assert match_width(matched, 5, 2) == match_width(stated, 5, 2)
    one, two = (
        c.build(5, 2, generator=torch.Generator().manual_seed(3)) for c in (matched, stated)
    )
    for name, value in two.state_dict().items():
        assert torch.equal(one.state_dict()[name], value)
    assert from_dict(NetConfig, to_dict(matched)) == matched


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_other_layers_have_the_widths_of_the_matched_mlp(activation):
    trunk = MLPTrunk((32, 32), activation=activation)
    like = NetConfig(Fourier(fourier_dim=60, sigma=0.1), trunk)
    widths = matched_mlp(like, 5, 2).trunk.hidden
    assert widths == (59, 32, 32)
    concat = MatchedMLP(like=like, layers="concat").resolve(5, 2)
    assert concat == ConcatMLPTrunk(widths, activation=activation)
    deep = MatchedMLP(like=like, layers="deep-fourier").resolve(5, 2)
    assert deep == DeepFourierTrunk((60, 32, 32))


def test_members_of_an_ensemble_are_matched_alike():
    like = NetConfig(Fourier(fourier_dim=64, sigma=0.1), MLPTrunk((32, 32)))
    build = functools.partial(Ensemble.build, size=2, in_features=5, out_features=2)
    one, two = (
        build(config, generator=torch.Generator().manual_seed(1))
        for config in (NetConfig(trunk=MatchedMLP(like=like)), matched_mlp(like, 5, 2))
    )
    x = torch.ones(3, 5)
    assert torch.equal(one(x), two(x))


def test_matched_convolution_is_resolved_when_built():
    ours = PixelEncoderConfig(front=Fourier2d(fourier_dim=16, sigma=0.1), num_filters=4)
    matched = replace(ours, front=MatchedConv1x1(like=ours.front))
    stated = matched.resolve(9)
    assert stated.front == Conv1x1(channels=match_width(ours, 9))
    one, two = (
        c.build((9, 21, 21), generator=torch.Generator().manual_seed(3)) for c in (matched, stated)
    )
    for name, value in two.state_dict().items():
        assert torch.equal(one.state_dict()[name], value)
    assert from_dict(PixelEncoderConfig, to_dict(matched)) == matched


@pytest.mark.parametrize("F", [64, 128])
@pytest.mark.parametrize("per_frame", [False, True])
def test_pixel_entrance_matches_within_one_percent(F, per_frame):
    config = PixelEncoderConfig(front=Fourier2d(fourier_dim=F, sigma=0.1, per_frame=per_frame))
    baseline = replace(config, front=MatchedConv1x1(like=config.front)).resolve(9)
    assert count_entrance(baseline, 9) == pytest.approx(count_entrance(config, 9), rel=0.01)
    assert match_width(config, 9) == baseline.front.channels


def test_authors_command_is_unmatched_as_counted():
    """First convolution 9,248 against 39,488 parameters at F = 128; fault 16: 9 · 32 before it."""
    ours = PixelEncoderConfig(front=Fourier2d(fourier_dim=128, sigma=0.1))
    theirs = PixelEncoderConfig(front=AUTHORS_UNMATCHED_FRONT)
    assert num_parameters(theirs.build_entrance(9)[0]) == 288
    assert num_parameters(theirs.build_entrance(9)[1]) == 9_248
    assert count_entrance(theirs, 9) == 9_536
    assert num_parameters(ours.build_entrance(9)[1]) == 39_488
    assert match_width(ours, 9, choice="readme") == AUTHORS_UNMATCHED_FRONT.channels


def test_encoder_module_knows_its_channels():
    config = PixelEncoderConfig(front=Fourier2d(fourier_dim=64, sigma=0.1), num_filters=4)
    assert match_width(config.build((9, 21, 21))) == match_width(config, 9)


@pytest.mark.usefixtures("unchecked")
def test_bad_input():
    config = NetConfig(Fourier(fourier_dim=64, sigma=0.1))
    with pytest.raises(BadInputError, match="in_features must be an integer, got None"):
        match_width(config)
    with pytest.raises(BadInputError, match="did you mean exact"):
        match_width(config, 3, 1, choice="exakt")
    with pytest.raises(BadInputError, match="pass an encoder with a Fourier2d front"):
        match_width(PixelEncoderConfig(), 9)
    with pytest.raises(BadInputError, match="choice for pixels"):
        match_width(PixelEncoderConfig(front=Fourier2d(fourier_dim=8, sigma=1)), 9, choice="paper")
    with pytest.raises(BadInputError, match="Identity before a MatchedMLP"):
        NetConfig(Fourier(fourier_dim=8, sigma=1), MatchedMLP(like=config))
    with pytest.raises(BadTypeError, match="like must be of type NetConfig"):
        MatchedMLP(like=MLPTrunk())
    with pytest.raises(BadInputError, match="something to match"):
        MatchedConv1x1(like=NoFront())
    with pytest.raises(BadTypeError, match=r"pass for example lff\.LFF"):
        match_width("LFF", 3, 1)
