"""Real pictures as observations: what they show, in which order, and that they come back."""

import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_env_sb3

from lff.core import BadInputError
from lff.envs import PAPER_PIXEL_TASKS, PixelView, make, rendering
from tests.envs.rollout import actions_for, assert_plain, assert_same, play
from tests.envs.test_dmc import shorten
from tests.system.programs import require_opengl

pytestmark = pytest.mark.system

FAST = PixelView(size=40, fast_render=True)
# dm_control keeps the backend that it found when it was imported, hence processes of their own
EQUALS_DM_CONTROL = """
import numpy as np
from lff.envs import PixelView, make
for task, camera in (("cheetah-run", None), ("quadruped-run", 2)):
    view = PixelView(size=60, frame_stack=1, camera=camera)
    env = make(f"dmc-pixels/{task}", seed=0, view=view)
    env.reset()
    obs, *_ = env.step(np.ones(env.action_space.shape))
    expected = env._env.physics.render(60, 60, camera_id=camera or 0)
    np.testing.assert_array_equal(obs, expected.transpose(2, 0, 1), err_msg=task)
    assert expected.std() > 5
"""
SAVE_AND_RESTORE = """
import sys
import numpy as np
from lff.envs import PixelView, make
from tests.envs.rollout import actions_for, play
deed, folder = sys.argv[1:]
for task in ("cheetah-run", "quadruped-escape"):
    view = PixelView(size=40, fast_render=True, camera=0)
    env = make(f"dmc-pixels/{task}", seed=len(deed), action_repeat=2, view=view)
    actions = actions_for(env, 6)
    env._env._step_limit = 17  # the time limit comes within the test
    if deed == "save":
        env.reset()
        play(env, actions[:5])
        np.savez(f"{folder}/{task}.npz", **env.get_state())
        np.save(f"{folder}/{task}.npy", np.stack([row[0] for row in play(env, actions)]))
        continue
    with np.load(f"{folder}/{task}.npz") as state:
        env.set_state(state)
    actual = np.stack([row[0] for row in play(env, actions)])
    np.testing.assert_array_equal(actual, np.load(f"{folder}/{task}.npy"), err_msg=task)
    assert not np.array_equal(actual[-1], actual[0])
"""


@pytest.fixture(scope="module", autouse=True)
def _backend():
    require_opengl()


@pytest.fixture
def made():
    """``make`` whose environments are closed after the test."""
    envs = []

    def make_(task, **options):
        envs.append(make(f"dmc-pixels/{task}", **{"seed": 0, "view": FAST, **options}))
        return envs[-1]

    yield make_
    for env in envs:
        env.close()


def run(code, *arguments):
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Exception ignored" not in done.stderr


def look(env, *, camera=0, size=40, fast=True):
    """Draw the moment with a camera of our own: 3 x size x size."""
    with closing(eye(env, camera=camera, size=size, fast=fast)) as own:
        return picture(own, env)


def eye(env, *, camera=0, size=40, fast=True):
    model = env._env.physics.model.ptr
    return rendering.Camera(model, size=size, camera=camera, fast=fast)


def picture(camera, env):
    return camera.render(env._env.physics.data.ptr).transpose(2, 0, 1)


def test_pictures_equal_dm_controls():
    run(EQUALS_DM_CONTROL)


def test_restored_environment_continues_in_a_fresh_process(tmp_path):
    run(SAVE_AND_RESTORE, "save", str(tmp_path))
    run(SAVE_AND_RESTORE, "restore", str(tmp_path))


@pytest.mark.parametrize("task", PAPER_PIXEL_TASKS)
def test_fast_pictures_of_the_papers_tasks_show_what_camera_zero_sees(task, made):
    """Less shade and softness, but everything in its place."""
    env = made(task.partition("/")[2], view=PixelView(size=84, fast_render=True))
    assert (str(env), env.can_save_state, env.view.camera_id) == (task, True, 0)
    obs, info = env.reset()
    assert (obs.shape, obs.dtype, info) == ((9, 84, 84), np.uint8, {})
    assert env.observation_space.contains(obs)
    fast, faithful = obs[:3].astype(int), look(env, size=84, fast=False).astype(int)
    difference = np.abs(fast - faithful).mean()
    assert 0.1 < difference < 8
    assert np.corrcoef(fast.ravel(), faithful.ravel())[0, 1] > 0.95
    assert np.abs(fast[:, :, 4:] - faithful[:, :, :-4]).mean() > 1.2 * difference


def test_spin_is_offered_too(made):
    obs, _ = made("finger-spin").reset()
    assert obs.std() > 5


def test_first_frame_fills_the_stack_and_the_newest_is_last(made):
    env = made("cheetah-run", action_repeat=2)
    own = eye(env)
    for _ in range(2):
        obs, _ = env.reset()
        seen = [picture(own, env)] * 3
        np.testing.assert_array_equal(obs, np.concatenate(seen))
        for action in actions_for(env, 4):
            obs, *_ = env.step(action)
            seen.append(picture(own, env))
            np.testing.assert_array_equal(obs, np.concatenate(seen[-3:]))
    assert len({frame.tobytes() for frame in seen}) == 5
    own.close()


def test_other_cameras_sizes_and_stacks(made):
    view = PixelView(size=21, frame_stack=2, camera=2, render_size=40, fast_render=True)
    env = made("quadruped-run", view=view)
    obs, _ = env.reset()
    expected = look(env, camera=2)[:, 9:30, 9:30]
    np.testing.assert_array_equal(obs, np.concatenate([expected, expected]))


def test_observations_are_copies(made):
    env = made("cheetah-run")
    first, _ = env.reset()
    before = first.copy()
    second, *_ = env.step(np.ones(6))
    np.testing.assert_array_equal(first, before)
    kept = second.copy()
    second[:] = 0
    third, *_ = env.step(np.ones(6))
    np.testing.assert_array_equal(third[:6], kept[3:])


def test_a_step_draws_once_however_often_it_repeats(made, monkeypatch):
    drawn = []
    real = rendering.Camera.render
    monkeypatch.setattr(
        rendering.Camera, "render", lambda camera, data: drawn.append(1) or real(camera, data)
    )
    env = made("finger-turn_hard", action_repeat=4)
    env.reset()
    assert len(drawn) == 1
    for action in actions_for(env, 3):
        *_, info = env.step(action)
        assert info == {"frames": 4}
    assert len(drawn) == 4


def test_the_same_episodes_as_from_state(made):
    env, state = made("hopper-hop", seed=3), make("dmc/hopper-hop", seed=3)
    env.reset()
    np.testing.assert_array_equal(env.state_obs, state.reset()[0])
    for action in actions_for(env, 5):
        _, *actual = env.step(action)
        obs, *expected = state.step(action)
        assert actual == expected
        np.testing.assert_array_equal(env.state_obs, obs)


def test_seeds_give_different_episodes(made):
    first, second = (made("finger-turn_hard", seed=seed) for seed in (0, 1))
    start = first.reset()[0]
    assert not np.array_equal(second.reset()[0], start)
    np.testing.assert_array_equal(second.reset(seed=0)[0], start)
    assert not np.array_equal(second.reset()[0], start)


def test_time_limit_truncates_after_1000_frames(made):
    env = made("cheetah-run", action_repeat=8, view=PixelView(size=8, fast_render=True))
    env.reset()
    rows = play(env, actions_for(env, 125))
    assert [row[2:] for row in rows] == [(False, False)] * 124 + [(False, True)]


def test_restored_environment_continues_bit_for_bit(made):
    first, second = (made("finger-turn_hard", seed=s, action_repeat=4) for s in (1, 99))
    first.reset()
    second.reset()
    second.step(np.ones(2))  # its camera has drawn another episode
    actions = actions_for(first, 10)
    shorten(first, 60)
    shorten(second, 60)
    play(first, actions[:4])
    state = first.get_state()
    assert_plain(state)
    assert state["frames"].shape == (9, 40, 40)
    second.set_state(state)
    expected = play(first, actions) + play(first, actions)
    assert any(row[3] for row in expected)
    assert_same(play(second, actions) + play(second, actions), expected)


def test_state_of_another_view_is_refused(made):
    small = made("cheetah-run", view=PixelView(size=20, fast_render=True))
    with pytest.raises(BadInputError, match=r"state\['frames'\] must be of shape"):
        small.set_state(made("cheetah-run").get_state())


def test_environments_that_take_turns_draw_what_each_draws_alone(made):
    """Evaluation on an environment of its own leaves the one in training as it was."""
    views = {"hopper-hop": FAST, "cheetah-run": PixelView(size=30)}

    def start(task):
        env = made(task, seed=2, view=views[task], render=True)
        env.reset()
        return env

    alone = {task: play(env := start(task), actions_for(env, 4)) for task in views}
    together = {task: start(task) for task in views}
    rows = {task: [] for task in views}
    evaluation = start("hopper-hop")
    assert made("hopper-hop").render() is None  # not asked for
    for step in range(4):
        for task, env in together.items():
            rows[task] += play(env, [actions_for(env, 4)[step]])
            play(evaluation, [evaluation.action_space.sample()])
        if step % 2:
            evaluation.reset()
            assert together["hopper-hop"].render().shape == (480, 480, 3)  # a camera more
    for task in views:
        assert_same(rows[task], alone[task])


def test_a_fast_camera_leaves_the_model_as_it_was(made):
    env = made("cheetah-run")
    quality = env._env.physics.model.ptr.vis.quality
    before = quality.offsamples, quality.shadowsize
    env.reset()
    assert (quality.offsamples, quality.shadowsize) == before
    assert min(before) > 0


def test_checkers_accept(made):
    check_env(made("cheetah-run"), skip_render_check=True)
    check_env_sb3(made("cheetah-run"))
