"""The presets from pixels against the numbers of their sources."""

import dataclasses
import math
from typing import get_args

import pytest
import torch

from lff.algos import Spaces
from lff.core import BadInputError, from_dict, to_dict
from lff.data import NoAugmentation, RandomCrop, RandomTranslate
from lff.envs import PAPER_PIXEL_TASKS, PixelView
from lff.nn import (
    AUTHORS_UNMATCHED_FRONT,
    Conv1x1,
    Fourier2d,
    NoFront,
    PixelCritic,
    PixelEncoderConfig,
    PixelHead,
    count_entrance,
    num_parameters,
)
from lff.training import RunConfig
from lff.training.networks import PixelNetName
from lff.training.presets import SOURCES, pixel_sizes, preset

NAMES = ("paper-table", "authors-readme", "laptop")
TASKS = (*PAPER_PIXEL_TASKS, "dmc-pixels/finger-spin", "dmc-pixels/cartpole-swingup")
EVERY = [pytest.param(n, t, id=f"{n}-{t.partition('/')[2]}") for n in NAMES for t in TASKS]


@pytest.mark.parametrize("task", PAPER_PIXEL_TASKS)
def test_table_2(task):
    chosen = preset("paper-table", task)
    config, sizes = chosen.config(), chosen.sizes
    algo = config.algo
    domain = task.partition("/")[2].partition("-")[0]
    assert config.view == PixelView(size=100, frame_stack=3, fast_render=False)
    assert (config.action_repeat, algo.replay_capacity) == (4, 100_000)
    assert (algo.actor_lr, algo.critic_lr, algo.alpha.lr) == (1e-4, 1e-4, 1e-4)
    assert (algo.batch_size, algo.actor.trunk.hidden) == (512, (1024, 1024))
    encoder = algo.encoder
    assert (encoder.num_layers, encoder.num_filters, encoder.feature_dim) == (4, 32, 50)
    assert sizes.fourier_dim == {"hopper": 128}.get(domain, 64)
    assert sizes.sigma == {"finger": 0.01, "quadruped": 0.01}.get(domain, 0.1)
    translates = domain == "cheetah"
    expected = RandomTranslate(size=108) if translates else RandomCrop(size=84)
    assert algo.augmentation == expected
    # a thousand random actions, a million in all, evaluated every 10,000
    assert algo.warmup_steps == 1_000 * 4
    assert (config.steps, config.schedule.eval_every) == (1_000_000 * 4, 10_000 * 4)


@pytest.mark.parametrize("task", PAPER_PIXEL_TASKS)
def test_what_the_command_lines_have_otherwise(task):
    table, readme = (preset(n, task).values() for n in NAMES[:2])
    differ = {n: (table[n], readme[n]) for n in table if table[n] != readme[n]}
    rates = dict.fromkeys(("actor_lr", "critic_lr"), (1e-4, 1e-3))
    expected = rates | {"batch_size": (512, 128), "cnn": ("exact", "readme")}
    if "cheetah" in task:  # drawn at 108, cut to 100, put on 108
        expected["render_size"] = (None, 108)
    assert differ == expected


@pytest.mark.parametrize(("name", "task"), EVERY)
def test_the_rest_is_the_code_bases_of_rad(name, task):
    agent = preset(name, task).config().algo
    assert (agent.target.tau, agent.target.encoder_tau, agent.target.period) == (0.01, 0.05, 2)
    assert (agent.actor_period, agent.log_std_min, agent.num_critics) == (2, -10.0, 2)
    assert (agent.alpha.beta1, agent.gamma) == (0.5, 0.99)
    alpha = (0.01, 1e-3) if name == "laptop" else (0.1, 1e-4)
    assert (agent.alpha.initial, agent.alpha.lr) == alpha
    assert agent.actor_lr == agent.critic_lr


@pytest.mark.parametrize(("name", "task"), EVERY)
def test_the_cnn_is_of_equal_size(name, task):
    """B5: theirs has a quarter of LFF's parameters, and a factor of 2π before its ReLU."""
    chosen = preset(name, task).replace(cnn="exact").sizes
    lff, cnn = chosen.encoder("lff"), chosen.encoder("cnn")
    channels = 3 * chosen.frame_stack
    side = chosen.augment().out_size(chosen.size)
    front = cnn.resolve(channels).front
    assert isinstance(front, Conv1x1)
    assert front.scale == 1.0
    assert count_entrance(cnn, channels) == pytest.approx(count_entrance(lff, channels), rel=0.01)
    with torch.device("meta"):
        one, other = (num_parameters(e.build((channels, side, side))) for e in (lff, cnn))
    assert other == pytest.approx(one, rel=0.01)


def test_the_unmatched_cnn_is_the_authors_and_is_called_so():
    """B5: 32 channels times 2π, whatever LFF's size; ``cnn`` only in the preset of their lines."""
    for name in NAMES:
        chosen = preset(name, "dmc-pixels/hopper-hop").sizes
        assert chosen.encoder("cnn-readme").front == AUTHORS_UNMATCHED_FRONT
        same = chosen.encoder("cnn").front == AUTHORS_UNMATCHED_FRONT
        assert same == (name == "authors-readme")
    assert Conv1x1(channels=32, scale=2 * math.pi, bias=False) == AUTHORS_UNMATCHED_FRONT
    lff = preset("authors-readme", "dmc-pixels/hopper-hop").sizes.encoder("lff")
    theirs = dataclasses.replace(lff, front=AUTHORS_UNMATCHED_FRONT)
    # 1x1: 9·32; first 3x3: 32·32·9 + 32, against 64·9 and 137·32·9 + 32
    assert count_entrance(theirs, 9) == 288 + 9_248
    assert count_entrance(lff, 9) == 576 + 39_488


def test_every_encoder_by_name():
    chosen = preset("paper-table", "dmc-pixels/finger-spin").sizes
    fronts = {name: chosen.encoder(name).front for name in get_args(PixelNetName)}
    lff = Fourier2d(fourier_dim=64, sigma=0.01)
    assert fronts["lff"] == lff
    assert fronts["fixed-b"] == dataclasses.replace(lff, trainable=False)
    assert fronts["no-concat"] == dataclasses.replace(lff, concat_input=False)
    assert fronts["per-frame"] == dataclasses.replace(lff, per_frame=True)
    assert fronts["cnn-vanilla"] == NoFront()
    with pytest.raises(BadInputError, match="net"):
        chosen.encoder("mlp")


def test_parameters_are_those_of_the_built_networks():
    chosen = preset("laptop", "dmc-pixels/cartpole-swingup")
    sizes = pixel_sizes(chosen, action_dim=1)
    for name in ("lff", "cnn", "cnn-vanilla", "per-frame"):
        agent = chosen.config(name).algo
        critics = PixelCritic(agent.encoder, agent.critic, 2, obs_shape=(9, 28, 28), action_dim=1)
        assert sizes[f"{name} encoder"] == num_parameters(critics.encoder)
        assert sizes["critics"] == num_parameters(critics.head)
    net = agent.actor.build(agent.encoder.feature_dim, 2)
    actor = PixelHead(agent.encoder, critics.encoder.maps_width, net)
    assert sizes["actor"] == num_parameters(actor)


def test_the_laptops_is_small_and_draws_fast():
    chosen = preset("laptop", "dmc-pixels/cartpole-swingup")
    config = chosen.config()
    assert config.view.fast_render
    assert config.algo.augmentation == RandomCrop(size=28)
    assert (config.steps, config.action_repeat, config.algo.batch_size) == (64_000, 8, 64)
    assert preset("laptop", "dmc-pixels/finger-spin").config().action_repeat == 2
    assert {*SOURCES["pixels"]} == {*NAMES, "default"}
    none = chosen.replace(augmentation="none").config().algo.augmentation
    assert none == NoAugmentation()


def test_section_5_says_nothing_of_pixels():
    with pytest.raises(BadInputError, match="preset for sac-pixels") as told:
        preset("paper-text", "dmc-pixels/cheetah-run")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(("name", "task"), EVERY[::5])
def test_configs_travel(name, task):
    config = preset(name, task).config()
    assert from_dict(RunConfig, to_dict(config)) == config
    with pytest.raises(BadInputError, match="pixel observations"):
        dataclasses.replace(config, env="dmc/cheetah-run")
    assert isinstance(config.algo.encoder, PixelEncoderConfig)


def test_vectors_and_images_are_not_mixed_up(tmp_path):
    sac = preset("laptop", "dmc/cheetah-run").config().algo
    seeing = preset("laptop", "dmc-pixels/cheetah-run").config().algo
    with pytest.raises(BadInputError, match="a vector"):
        sac.build(Spaces((9, 32, 32), 6))
    with pytest.raises(BadInputError, match="channels, height, width"):
        seeing.build(Spaces((17,), 6))
