"""The Control Suite: equal to another wrapper, seeded, restorable bit for bit."""

import numpy as np
import pytest
from dm_control import suite
from shimmy import DmControlCompatibilityV0

from lff.core import BadInputError
from lff.envs import PAPER_TASKS, make
from tests.envs.rollout import actions_for, assert_plain, assert_same, play

# targets in the model, drawn gains and stiffness, fields of the task, an end with discount 0
MORE_TASKS = (
    "dmc/ball_in_cup-catch",
    "dmc/dog-fetch",
    "dmc/fish-swim",
    "dmc/lqr-lqr_2_1",
    "dmc/manipulator-insert_peg",
    "dmc/point_mass-hard",
    "dmc/quadruped-fetch",
    "dmc/reacher-easy",
    "dmc/stacker-stack_2",
    "dmc/swimmer-swimmer6",
)


def split(task):
    return task.removeprefix("dmc/").split("-")


def shorten(env, steps):
    """Move the time limit, so that a test crosses it."""
    env._env._step_limit = steps


@pytest.mark.parametrize("task", PAPER_TASKS)
def test_trajectory_equals_shimmys(task):
    ours = make(task, seed=3)
    domain, name = split(task)
    theirs = DmControlCompatibilityV0(suite.load(domain, name))
    for seed in (3, None):
        obs, _ = ours.reset()
        expected, _ = theirs.reset(seed=seed)
        np.testing.assert_array_equal(obs, flat(expected))
        for action in actions_for(ours, 40):
            obs, reward, terminated, truncated, _ = ours.step(action)
            expected, their_reward, *ends, _ = theirs.step(rescaled(action, theirs.action_space))
            np.testing.assert_array_equal(obs, flat(expected))
            assert (reward, terminated, truncated) == (their_reward, *ends)


def rescaled(action, space):
    """Map [-1, 1] to the simulator's own range (the quadruped's is another one)."""
    unit = action.astype(np.float64)
    if (space.low == -1).all() and (space.high == 1).all():
        return unit
    return space.low + (unit + 1) / 2 * (space.high - space.low)


def flat(observation):
    return np.concatenate([np.ravel(v) for v in observation.values()]).astype(np.float32)


@pytest.mark.parametrize("task", [*PAPER_TASKS, *MORE_TASKS])
def test_restored_environment_continues_bit_for_bit(task):
    first = make(task, seed=1)
    first.reset()
    actions = actions_for(first, 40)
    shorten(first, 45)
    play(first, actions[:15])
    state = first.get_state()
    assert_plain(state)
    second = make(task, seed=99)
    shorten(second, 45)
    second.set_state(state)
    expected = play(first, actions) + play(first, actions)
    actual = play(second, actions) + play(second, actions)
    assert any(truncated or terminated for *_, terminated, truncated in expected)
    assert_same(actual, expected)
    np.testing.assert_array_equal(first.action_space.sample(), second.action_space.sample())


def test_state_after_the_last_frame_and_before_the_first_episode():
    env, fresh = make("dmc/finger-turn_hard", seed=1), make("dmc/finger-turn_hard", seed=2)
    fresh.set_state(env.get_state())
    np.testing.assert_array_equal(fresh.reset()[0], env.reset()[0])
    shorten(env, 2)
    play(env, actions_for(env, 2))
    fresh.set_state(env.get_state())
    with pytest.raises(BadInputError, match="call reset"):
        fresh.step(fresh.action_space.sample())
    np.testing.assert_array_equal(fresh.reset()[0], env.reset()[0])


def test_saving_changes_nothing():
    quiet, watched = (make("dmc/hopper-hop", seed=5) for _ in range(2))
    quiet.reset()
    watched.reset()
    for action in actions_for(quiet, 30):
        watched.get_state()
        assert_same(play(quiet, [action]), play(watched, [action]))


def test_equal_runs_save_equal_states():
    states = []
    for _ in range(2):
        env = make("dmc/walker-run", seed=5)
        env.reset()
        play(env, actions_for(env, 10))
        states.append(env.get_state())
    for name, value in states[0].items():
        np.testing.assert_array_equal(value, states[1][name], err_msg=name)


def test_state_of_another_task_is_refused():
    with pytest.raises(BadInputError, match="restore it into the task"):
        make("dmc/walker-run", seed=0).set_state(make("dmc/hopper-hop", seed=0).get_state())


@pytest.mark.parametrize("task", PAPER_TASKS)
def test_seeds_reach_the_simulator(task):
    starts = [make(task, seed=seed).reset()[0] for seed in (0, 1, 2, 0)]
    np.testing.assert_array_equal(starts[0], starts[3])
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert not np.array_equal(starts[a], starts[b])
    env = make(task, seed=7)
    np.testing.assert_array_equal(env.reset(seed=1)[0], starts[1])
    assert not np.array_equal(env.reset()[0], starts[1])


def test_action_repeat_equals_the_loop_by_hand():
    plain, repeated = (
        make("dmc/cheetah-run", seed=0),
        make("dmc/cheetah-run", seed=0, action_repeat=3),
    )
    plain.reset()
    repeated.reset()
    shorten(plain, 32)
    shorten(repeated, 32)
    for number, action in enumerate(actions_for(plain, 11)):
        total = 0.0
        for frames in (1, 2, 3):  # noqa: B007
            obs, reward, terminated, truncated, _ = plain.step(action)
            total += reward
            if truncated:
                break
        seen, sum_, *ends, info = repeated.step(action)
        np.testing.assert_array_equal(seen, obs)
        assert (sum_, *ends) == (total, terminated, truncated)
        assert info["frames"] == frames == (2 if number == 10 else 3)
    assert truncated


def test_time_limit_truncates_after_1000_frames():
    env = make("dmc/cheetah-run", seed=0, action_repeat=8)
    env.reset()
    rows = play(env, actions_for(env, 125))
    assert [row[2:] for row in rows] == [(False, False)] * 124 + [(False, True)]
    with pytest.raises(BadInputError, match="call reset"):
        env.step(np.zeros(6))


def test_terminates_where_the_task_ends_with_discount_zero():
    env = make("dmc/lqr-lqr_2_1", seed=0)
    env.reset()
    env._env.task.get_termination = lambda _: 0.0
    *_, terminated, truncated, _ = env.step(np.zeros(1))
    assert (terminated, truncated) == (True, False)


def test_actions_are_rescaled_and_clipped():
    env = make("dmc/quadruped-run", seed=0)
    spec = env._env.action_spec()
    assert not (spec.maximum == 1).all()
    for action, expected in ((-9.0, spec.minimum), (9.0, spec.maximum)):
        env.reset()
        env.step(np.full(12, action))
        np.testing.assert_allclose(env._env.physics.control(), expected, rtol=1e-15)


def test_motors_without_limits_keep_their_unit():
    env = make("dmc/lqr-lqr_2_1", seed=0)
    env.reset()
    env.step(np.array([0.25]))
    assert env._env.physics.control() == [0.25]


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("dmc/cheeta-run", "did you mean dmc/cheetah-run"),
        ("dmc/finger-turnhard", "dmc/finger-turn_hard"),
        ("dmc/zzz", "use dmc/acrobot-swingup"),
    ],
)
def test_unknown_task_names_the_nearest(task, message):
    with pytest.raises(BadInputError, match=message):
        make(task, seed=0)


@pytest.mark.parametrize("action", [np.zeros(5), np.zeros((1, 6)), 0.0])
def test_action_of_the_wrong_shape(action):
    env = make("dmc/cheetah-run", seed=0)
    env.reset()
    with pytest.raises(BadInputError, match=r"action must be an array of shape \(6,\)"):
        env.step(action)
