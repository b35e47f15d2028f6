import json
import math
import os
import signal

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import lff
from lff.auditing import audit
from lff.core.config import from_dict, to_dict
from lff.core.errors import BadInputError, InterruptedRunError, NonFiniteError
from lff.runs.export import export
from lff.runs.load import replay_sample
from lff.runs.spectra import read_spectra
from lff.store import RunDir, load_latest, read_rows
from lff.training import RunConfig, train
from tests.envs.timed import chain
from tests.training.runs import MLP, small, small_ppo


class Stopped(BaseException):
    pass


def run(folder, config, *, stop_at=(), **options):
    """Train; leave without a word at some steps, and go on from the last checkpoint."""
    for step in (*stop_at, None):

        def watch(loop, event, step=step):
            if event == "step" and step is not None and loop.progress.env_step >= step:
                raise Stopped

        try:
            train(config, directory=folder, watch=watch, **options)
        except Stopped:
            continue
    return RunDir(folder)


def assert_equal(one, other):
    assert one.metrics_file.read_bytes() == other.metrics_file.read_bytes()
    here, there = load_latest(one.path).arrays, load_latest(other.path).arrays
    assert here.keys() == there.keys()
    for name, value in here.items():
        assert np.array_equal(value, there[name]), name


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return run(tmp_path_factory.mktemp("ppo") / "run", small_ppo(num_envs=2))


def test_what_a_run_measures(finished):
    rows = [*read_rows(finished.metrics_file)]
    last = [row for row in rows if "train/critic_loss" in row][-1]
    for name in ("explained_variance", "value_error", "value_max", "kl", "clip_share", "entropy"):
        assert math.isfinite(last[f"train/{name}"]), name
    assert 0 <= last["train/clip_share"] <= 1
    assert last["train/explained_variance"] <= 1
    assert {"net/critic_effective_rank", "lff/critic_B_std", "train/episode_return"} <= last.keys()
    # 5 rollouts of 120; the rate of the last is that of 4 done of 5
    assert last["updates"] == 5 * 2 * 3
    assert last["train/lr"] == pytest.approx(1e-3 * (1 - 4 / 5))
    assert [row["env_step"] for row in rows if "eval/return" in row] == [300, 600]


def test_the_checkpoint_holds_the_statistics_of_what_was_seen(finished):
    tensors = load_latest(finished.path).arrays
    # the first observation of each environment, then one each step
    assert tensors["agent/norm/count"].item() == 602
    assert tensors["agent/reward/count"].item() == 600
    assert (tensors["agent/norm/squares"] > 0).all()
    policy = lff.load(finished.path)
    obs = np.random.default_rng(0).normal(size=(5, 11)).astype(np.float32)
    shift, scale = (tensors[f"agent/norm/{name}"] for name in ("shift", "scale"))
    seen = torch.from_numpy(np.clip((obs - shift) * scale, -10, 10))
    np.testing.assert_allclose(
        policy.act(obs), policy.agent.networks["actor"](seen).clamp(-1, 1).numpy(), atol=1e-6
    )
    unit = 1 / tensors["agent/reward/scale"].item()
    np.testing.assert_allclose(
        policy.value(obs),
        unit * policy.agent.networks["critic"](seen)[:, 0].numpy(),
        rtol=1e-5,
        atol=1e-6,
    )


def test_the_tools_that_read_runs(finished):
    policy = lff.load(finished.path)
    assert policy.act(np.zeros(11)).shape == (3,)
    assert policy.act(np.zeros((2, 11)), sample=True, seed=1).shape == (2, 3)
    with pytest.raises(BadInputError, match="use value"):
        policy.q(np.zeros(11), np.zeros(3))
    obs, action = replay_sample(policy)
    assert (obs.shape, action.shape) == ((120, 11), (120, 3))
    assert audit(policy.agent, obs, show=False).ok
    assert len(export(policy, "pt2")) > 1000
    spectra = read_spectra(finished.path, points=32, lines=8)
    assert [s.step for s in spectra][0::2] == [0, 600]


def test_configs_of_every_algorithm_travel():
    for config in (small_ppo(), small()):
        stored = json.loads(json.dumps(to_dict(config)))
        assert stored["algo"]["type"] == type(config.algo).tag
        assert from_dict(RunConfig, stored) == config


@pytest.mark.parametrize("env", ["gym/Hopper-v5", "tests.faults.environments:swing"])
@pytest.mark.parametrize("num_envs", [1, 3])
def test_left_anywhere_and_resumed_is_byte_for_byte(tmp_path, env, num_envs):
    # within a rollout, at its end, before the first checkpoint; Hopper falls in between
    config = small_ppo(env, num_envs=num_envs, agent={"critic": MLP}, steps=390)
    whole = run(tmp_path / "whole", config)
    parts = run(tmp_path / "parts", config, stop_at=(50, 240, 317))
    assert_equal(whole, parts)


def test_processes_and_this_process_train_alike(tmp_path):
    one = run(tmp_path / "inside", small_ppo(num_envs=4, steps=240))
    config = small_ppo(num_envs=4, steps=240, envs="processes")
    other = run(tmp_path / "processes", config, stop_at=(170,))
    assert_equal(one, other)


def test_dropout_and_its_masks_are_resumed_too(tmp_path):
    from lff.regularizers import Dropout, LayerNorm, SpectralNorm

    extra = (Dropout(p=0.2, when_acting=True), LayerNorm(), SpectralNorm())
    config = small_ppo("probe/two-step", agent={"regularizers": extra}, steps=300)
    assert_equal(run(tmp_path / "a", config), run(tmp_path / "b", config, stop_at=(130,)))


def test_a_signal_stops_within_a_rollout(tmp_path):
    config = small_ppo("probe/two-step", checkpoint_every=10_000)

    def watch(loop, event):
        if event == "step" and loop.progress.env_step == 150:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(InterruptedRunError, match="stopped at step 15"):
        train(config, directory=tmp_path / "a", watch=watch)
    train(config, directory=tmp_path / "a")
    assert_equal(RunDir(tmp_path / "a"), run(tmp_path / "b", config))


@pytest.mark.parametrize("mode", [*AutoresetMode])
def test_gymnasiums_vectors_train_and_resume_with_new_episodes(tmp_path, mode):
    def vector(seed):
        return SyncVectorEnv([lambda: chain(seed=0)] * 2, autoreset_mode=mode)

    told = []
    config = small_ppo("tests.envs.timed:chain", num_envs=2, steps=300)
    for stop in (200, None):

        def watch(loop, event, stop=stop):
            told.extend([loop.warning] if event == "warning" else [])
            if event == "step" and stop and loop.progress.env_step >= stop:
                raise Stopped

        try:
            train(config, directory=tmp_path / "run", vector_fn=vector, watch=watch)
        except Stopped:
            continue
    assert len(told) == 1
    assert "new episodes begin" in told[0]
    assert RunDir(tmp_path / "run").status == "finished"


def test_bad_numbers_of_an_environment_are_told(tmp_path):
    for name, what in (("bad_observation", "observation"), ("bad_reward", "reward")):
        config = small_ppo(f"tests.faults.environments:{name}")
        with pytest.raises(NonFiniteError, match=f"non-finite {what}"):
            train(config, directory=tmp_path / name)


def test_numbers_that_leave_the_finite_ones_are_told(tmp_path):
    config = small_ppo("probe/action", agent={"lr": 1e30, "lr_decay": False})
    with pytest.raises(NonFiniteError, match="non-finite numbers at step"):
        train(config, directory=tmp_path / "run")


def test_what_cannot_be_is_refused_and_nothing_written(tmp_path):
    with pytest.raises(BadInputError, match="a divisor of 120"):
        train(small_ppo(num_envs=7), directory=tmp_path / "run")
    with pytest.raises(BadInputError, match="1 with a replay memory"):
        small(num_envs=2)
    with pytest.raises(BadInputError, match="envs"):
        small_ppo(envs="threads")
    folder = tmp_path / "run"
    with pytest.raises(BadInputError, match="left out with processes"):
        train(small_ppo(envs="processes"), directory=folder, env_fn=lambda _: chain(seed=0))
    with pytest.raises(BadInputError, match="on-policy algorithms only"):
        train(small("probe/action"), directory=folder, vector_fn=lambda _: None)
    assert not folder.exists()
