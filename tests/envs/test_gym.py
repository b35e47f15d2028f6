"""Gymnasium's environments and a user's own, through the adapter."""

import math

import gymnasium
import mujoco
import numpy as np
import pytest

from lff.core import BadInputError
from lff.envs import gym, make
from tests.envs.rollout import actions_for, assert_plain, assert_same, play

MUJOCO = (
    "gym/Ant-v5",
    "gym/HalfCheetah-v5",
    "gym/Hopper-v5",
    "gym/Humanoid-v5",
    "gym/HumanoidStandup-v5",
    "gym/InvertedDoublePendulum-v5",
    "gym/InvertedPendulum-v5",
    "gym/Pusher-v5",
    "gym/Reacher-v5",
    "gym/Swimmer-v5",
    "gym/Walker2d-v5",
)


@pytest.mark.parametrize("task", [*MUJOCO, "tests.envs.homemade:saved"])
def test_restored_environment_continues_bit_for_bit(task):
    first, second = make(task, seed=1), make(task, seed=99)
    assert first.can_save_state
    first.reset()
    actions = actions_for(first, 80)
    play(first, actions[:7])
    state = first.get_state()
    assert_plain(state)
    second.set_state(state)
    assert_same(play(second, actions), play(first, actions))
    np.testing.assert_array_equal(first.reset()[0], second.reset()[0])
    assert_same(play(second, actions), play(first, actions))
    np.testing.assert_array_equal(first.action_space.sample(), second.action_space.sample())


def test_time_limit_is_part_of_the_state():
    first, second = make("gym/HalfCheetah-v5", seed=0), make("gym/HalfCheetah-v5", seed=1)
    first.reset()
    play(first, np.zeros((990, 6)))
    second.set_state(first.get_state())
    rows = play(second, np.zeros((10, 6)))
    assert [row[2:] for row in rows] == [(False, False)] * 9 + [(False, True)]
    assert_same(rows, play(first, np.zeros((10, 6))))


def test_state_before_the_first_episode():
    env, fresh = make("gym/Reacher-v5", seed=1), make("gym/Reacher-v5", seed=2)
    expected = make("gym/Reacher-v5", seed=1).reset()[0]
    fresh.set_state(env.get_state())
    np.testing.assert_array_equal(env.reset()[0], expected)
    np.testing.assert_array_equal(fresh.reset()[0], expected)


@pytest.mark.parametrize("task", ["gym/Pendulum-v1", "tests.envs.homemade:plain"])
def test_other_environments_say_that_they_cannot_be_saved(task):
    env = make(task, seed=0)
    assert not env.can_save_state
    with pytest.raises(BadInputError, match="check can_save_state first"):
        env.get_state()
    with pytest.raises(BadInputError, match="check can_save_state first"):
        env.set_state({})


def test_unknown_wrapper_may_keep_state_and_is_not_trusted():
    assert not make("tests.envs.homemade:wrapped", seed=0).can_save_state


def test_equals_gymnasium_with_rescaled_actions():
    ours, theirs = make("gym/Humanoid-v5", seed=4), gymnasium.make("Humanoid-v5")
    expected, _ = theirs.reset(seed=4)
    obs, _ = ours.reset()
    np.testing.assert_array_equal(obs, expected.astype(np.float32))
    for action in actions_for(ours, 15):
        obs, reward, terminated, _, _ = ours.step(action)
        inside = (0.4 * action.astype(np.float64)).astype(np.float32)
        expected, their_reward, their_end, _, _ = theirs.step(inside)
        np.testing.assert_allclose(obs, expected, rtol=1e-4, atol=1e-5)
        assert reward == pytest.approx(their_reward, rel=1e-5)
        assert terminated == their_end


def test_action_repeat_equals_the_loop_by_hand():
    plain, repeated = make("gym/Hopper-v5", seed=0), make("gym/Hopper-v5", seed=0, action_repeat=4)
    plain.reset()
    repeated.reset()
    for action in actions_for(plain, 50):
        total = 0.0
        for frames in (1, 2, 3, 4):  # noqa: B007
            obs, reward, terminated, _, _ = plain.step(action)
            total += reward
            if terminated:
                break
        seen, sum_, end, _, info = repeated.step(action)
        np.testing.assert_array_equal(seen, obs)
        assert (sum_, end, info["frames"]) == (total, terminated, frames)
        if terminated:
            return
    pytest.fail("the hopper should have fallen")


def test_seeds():
    starts = [make("gym/HalfCheetah-v5", seed=seed).reset()[0] for seed in (0, 1, 0)]
    np.testing.assert_array_equal(starts[0], starts[2])
    assert not np.array_equal(starts[0], starts[1])
    env = make("gym/HalfCheetah-v5", seed=9)
    np.testing.assert_array_equal(env.reset(seed=1)[0], starts[1])
    assert not np.array_equal(env.reset()[0], starts[1])


def test_homemade_is_flattened_and_rescaled():
    env = make("tests.envs.homemade:plain", seed=0, action_repeat=3)
    obs, _ = env.reset()
    assert (obs.shape, obs.dtype) == ((4,), np.float32)
    rewards = [env.step(np.array([a]))[1] for a in (-1.0, 0.0, 1.0, 5.0)]
    assert rewards == [0.0, 15.0, 30.0, 30.0]


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("gym/HalfCheeta-v5", "did you mean .*gym/HalfCheetah-v5"),
        ("gym/CartPole-v1", "bounded Box.*Pendulum"),
        ("gym/Blackjack-v1", "bounded Box"),
        ("tests.envs.homemade:dictionary", "FlattenObservation"),
        ("tests.envs.homemade:unbounded", "bounded Box"),
        ("tests.envs.homemade:nothing", "gymnasium.Env"),
        ("tests.envs.homemade:plan", "did you mean plain"),
        ("tests.envs.homemade:NO_FUNCTION", "a function in tests.envs.homemade"),
        ("tests.envs.no_such_file:plain", "install it"),
        ("no_such_package.file:plain", "install it"),
    ],
)
def test_bad_task_gets_a_remedy(task, message):
    with pytest.raises(BadInputError, match=message):
        make(task, seed=0)


def test_homemade_without_pictures():
    with pytest.raises(BadInputError, match="rgb_array"):
        make("tests.envs.homemade:plain", seed=0, render=True)


def test_a_simulator_starts_without_a_word(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make("gym/HalfCheetah-v5", seed=0).close()
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_other_notices_of_the_simulator_become_warnings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qacc[:] = data.qpos[:] = math.nan
    before = mujoco.get_mju_user_warning()  # dm_control has one, if it is loaded
    with gym.known_notice_left_out(), pytest.warns(RuntimeWarning, match="MuJoCo: .*unstable"):
        mujoco.mj_step(model, data)
    assert mujoco.get_mju_user_warning() is before
