"""The presets from pixels against the numbers of their sources."""

import dataclasses
import math
from typing import get_args

import pytest
import torch

from lff.algos import PolyakTarget
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
    count_entrance,
    num_parameters,
    pixel_actor,
)
from lff.training import TrainConfig
from lff.training.pixel_presets import (
    PIXEL_SOURCES,
    PixelNetName,
    PixelPresetName,
    pixel_preset,
    pixel_sizes,
)

NAMES = get_args(PixelPresetName)
TASKS = (*PAPER_PIXEL_TASKS, "dmc-pixels/finger-spin", "dmc-pixels/cartpole-swingup")
EVERY = [pytest.param(n, t, id=f"{n}-{t.partition('/')[2]}") for n in NAMES for t in TASKS]


@pytest.mark.parametrize("task", PAPER_PIXEL_TASKS)
def test_table_2(task):
    chosen = pixel_preset("paper-table", task)
    domain = task.partition("/")[2].partition("-")[0]
    assert chosen.view == PixelView(size=100, frame_stack=3, fast_render=False)
    assert (chosen.action_repeat, chosen.replay_capacity) == (4, 100_000)
    assert (chosen.lr, chosen.alpha_lr, chosen.batch_size, chosen.hidden_dim) == (
        1e-4, 1e-4, 512, 1024,
    )  # fmt: skip
    assert (chosen.num_layers, chosen.num_filters, chosen.feature_dim) == (4, 32, 50)
    assert chosen.fourier_dim == {"hopper": 128}.get(domain, 64)
    assert chosen.sigma == {"finger": 0.01, "quadruped": 0.01}.get(domain, 0.1)
    translates = domain == "cheetah"
    expected = RandomTranslate(size=108) if translates else RandomCrop(size=84)
    assert chosen.augment() == expected
    # a thousand random actions, a million in all, evaluated every 10,000
    assert chosen.warmup_steps == 1_000 * 4
    assert (chosen.steps, chosen.eval_every) == (1_000_000 * 4, 10_000 * 4)


@pytest.mark.parametrize("task", PAPER_PIXEL_TASKS)
def test_what_the_command_lines_have_otherwise(task):
    table, readme = (dataclasses.asdict(pixel_preset(n, task)) for n in NAMES[:2])
    differ = {n: (table[n], readme[n]) for n in table if table[n] != readme[n]}
    expected = {"lr": (1e-4, 1e-3), "batch_size": (512, 128), "cnn": ("exact", "readme")}
    if "cheetah" in task:  # drawn at 108, cut to 100, put on 108
        expected["render_size"] = (None, 108)
    assert differ == expected


@pytest.mark.parametrize(("name", "task"), EVERY)
def test_the_rest_is_the_code_bases_of_rad(name, task):
    agent = pixel_preset(name, task).agent("lff")
    assert (agent.target.tau, agent.target.encoder_tau, agent.target.period) == (0.01, 0.05, 2)
    assert (agent.actor_period, agent.log_std_min, agent.num_critics) == (2, -10.0, 2)
    assert (agent.alpha.beta1, agent.gamma) == (0.5, 0.99)
    alpha = (0.01, 1e-3) if name == "laptop" else (0.1, 1e-4)
    assert (agent.alpha.initial, agent.alpha.lr) == alpha
    assert agent.actor_lr == agent.critic_lr


@pytest.mark.parametrize(("name", "task"), EVERY)
def test_the_cnn_is_of_equal_size(name, task):
    """B5: theirs has a quarter of LFF's parameters, and a factor of 2π before its ReLU."""
    chosen = dataclasses.replace(pixel_preset(name, task), cnn="exact")
    lff, cnn = chosen.encoder("lff"), chosen.encoder("cnn")
    channels = 3 * chosen.frame_stack
    side = chosen.augment().out_size(chosen.size)
    assert isinstance(cnn.front, Conv1x1)
    assert cnn.front.scale == 1.0
    assert count_entrance(cnn, channels) == pytest.approx(count_entrance(lff, channels), rel=0.01)
    with torch.device("meta"):
        one, other = (num_parameters(e.build((channels, side, side))) for e in (lff, cnn))
    assert other == pytest.approx(one, rel=0.01)


def test_the_unmatched_cnn_is_the_authors_and_is_called_so():
    """B5: 32 channels times 2π, whatever LFF's size; ``cnn`` only in the preset of their lines."""
    for name in NAMES:
        chosen = pixel_preset(name, "dmc-pixels/hopper-hop")
        assert chosen.encoder("cnn-readme").front == AUTHORS_UNMATCHED_FRONT
        same = chosen.encoder("cnn").front == AUTHORS_UNMATCHED_FRONT
        assert same == (name == "authors-readme")
    assert Conv1x1(channels=32, scale=2 * math.pi) == AUTHORS_UNMATCHED_FRONT
    lff = pixel_preset("authors-readme", "dmc-pixels/hopper-hop").encoder("lff")
    theirs = dataclasses.replace(lff, front=AUTHORS_UNMATCHED_FRONT)
    # 1x1: 9·32 + 32; first 3x3: 32·32·9 + 32, against 64·9 and 137·32·9 + 32
    assert count_entrance(theirs, 9) == 320 + 9_248
    assert count_entrance(lff, 9) == 576 + 39_488


def test_every_encoder_by_name():
    chosen = pixel_preset("paper-table", "dmc-pixels/finger-spin")
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
    chosen = pixel_preset("laptop", "dmc-pixels/cartpole-swingup")
    sizes = pixel_sizes(chosen, action_dim=1)
    for name in ("lff", "cnn", "cnn-vanilla", "per-frame"):
        agent = chosen.agent(name)
        critics = PixelCritic(agent.encoder, agent.critic, 2, obs_shape=(9, 28, 28), action_dim=1)
        assert sizes[f"{name} eyes"] == num_parameters(critics.encoder)
        assert sizes["critics"] == num_parameters(critics.head)
    width = critics.encoder.maps_width
    actor = pixel_actor(agent.encoder, agent.actor, maps_width=width, action_dim=1)
    assert sizes["actor"] == num_parameters(actor)


def test_the_laptops_is_small_and_draws_fast():
    chosen = pixel_preset("laptop", "dmc-pixels/cartpole-swingup")
    assert chosen.fast_render
    assert chosen.augment() == RandomCrop(size=28)
    assert (chosen.steps, chosen.action_repeat, chosen.batch_size) == (64_000, 8, 64)
    assert pixel_preset("laptop", "dmc-pixels/finger-spin").action_repeat == 2
    assert {*PIXEL_SOURCES} == {*NAMES}
    none = dataclasses.replace(chosen, augmentation="none").augment()
    assert none == NoAugmentation()


def test_section_5_says_nothing_of_pixels():
    with pytest.raises(BadInputError, match="preset for pixels") as told:
        pixel_preset("paper-text", "dmc-pixels/cheetah-run")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(("name", "task"), EVERY[::5])
def test_configs_travel(name, task):
    chosen = pixel_preset(name, task)
    config = TrainConfig(env=task, algo=chosen.agent("lff"), steps=100, view=chosen.view)
    assert from_dict(TrainConfig, to_dict(config)) == config
    none = {"encoder": None, "augmentation": NoAugmentation(), "target": PolyakTarget()}
    bare = dataclasses.replace(config.algo, **none)
    with pytest.raises(BadInputError, match="encoder"):
        dataclasses.replace(config, algo=bare)
    with pytest.raises(BadInputError, match="camera"):
        dataclasses.replace(config, env="dmc/cheetah-run")
    assert isinstance(config.algo.encoder, PixelEncoderConfig)
