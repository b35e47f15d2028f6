"""Gymnasium's environments that observe images: as frames, or refused as vectors."""

from contextlib import closing

import numpy as np
import pytest
from PIL import Image

import lff.envs
from lff.core.errors import BadInputError, EnvCrashError, RunError
from lff.envs import PixelView, has_pixels, make, shapes
from lff.envs.processes import Subprocesses
from lff.training.presets import preset
from tests.envs import images
from tests.envs.rollout import actions_for, assert_same, play
from tests.faults import commands

TASK = "gym-pixels/tests.envs.images:Square-v0"
VIEW = PixelView(size=12)


def frame(place, *, size=12):
    env = images.Square()
    env.place = place
    shrunk = Image.fromarray(env._draw()).resize((size, size), Image.Resampling.BOX)
    return np.asarray(shrunk).transpose(2, 0, 1)


def test_frames_are_resized_and_stacked_the_newest_last():
    env = make(TASK, seed=0, view=VIEW)
    assert has_pixels(TASK)
    assert shapes(TASK, VIEW) == ((9, 12, 12), 1)
    obs, _ = env.reset()
    places = [env._env.unwrapped.place]
    np.testing.assert_array_equal(obs, np.tile(frame(places[0]), (3, 1, 1)))
    for action in (1.0, -0.5):  # in [-1, 1]; the environment's own range is [-2, 2]
        obs, *_ = env.step(np.array([action]))
        places.append(places[-1] + 2 * action)
    np.testing.assert_array_equal(obs, np.concatenate([frame(place) for place in places]))
    assert env.observation_space.contains(obs)


def test_one_frame_is_taken_per_step_however_often_the_action_is_repeated():
    env = make(TASK, seed=0, action_repeat=4, view=VIEW)
    first, _ = env.reset()
    place = env._env.unwrapped.place
    obs, reward, _, _, info = env.step(np.array([0.25]))
    np.testing.assert_array_equal(obs[3:6], first[:3])
    np.testing.assert_array_equal(obs[6:], frame(place + 4 * 0.5))
    assert info["frames"] == 4
    assert reward == pytest.approx(sum(-abs(place + n * 0.5 - 10) for n in range(1, 5)))


def test_grey_becomes_three_channels_and_a_larger_drawing_is_cut():
    grey, _ = make(TASK.replace("Square", "Grey"), seed=0, view=VIEW).reset()
    colour, _ = make(TASK, seed=0, view=VIEW).reset()
    np.testing.assert_array_equal(grey, colour)
    env = make(TASK, seed=0, view=PixelView(size=12, render_size=16, frame_stack=1))
    obs, _ = env.reset()
    np.testing.assert_array_equal(obs, frame(env._env.unwrapped.place, size=16)[:, 2:14, 2:14])


def test_a_restored_environment_continues_bit_for_bit():
    env = make(TASK, seed=0, action_repeat=2, view=VIEW)
    env.reset()
    play(env, actions_for(env, 4))
    twin = make(TASK, seed=5, action_repeat=2, view=VIEW)
    twin.set_state(env.get_state())
    actions = actions_for(env, 12)
    assert_same(play(env, actions), play(twin, actions))


def test_images_are_refused_as_vectors():
    with pytest.raises(BadInputError) as raised:
        make("gym/tests.envs.images:Square-v0", seed=0)
    assert str(raised.value) == (
        "the observations of gym/tests.envs.images:Square-v0 must be vectors, not images, "
        "got Box(0, 255, (12, 24, 3), uint8); use gym-pixels/tests.envs.images:Square-v0"
    )
    with pytest.raises(BadInputError, match="use gym-pixels/module:Id, after you have registered"):
        make("tests.envs.images:square", seed=0)


@pytest.mark.parametrize(
    ("task", "view", "words"),
    [
        (
            "Pendulum-v1",
            VIEW,
            r"uint8 \(height, width, 1 or 3\), got Box\(.*use gym/Pendulum-v1, or",
        ),
        ("tests.envs.images:Stacked-v0", VIEW, "leave its own stacking or reordering of frames"),
        (
            "tests.envs.images:Square-v0",
            PixelView(camera=1),
            "camera and fast_render must be unset",
        ),
        ("tests.envs.images:Square-v0", PixelView(fast_render=True), "of dmc-pixels/ alone"),
        (
            "CarRacin-v3",
            VIEW,
            "gym-pixels/CarRacing-v3.* registers is gym-pixels/module:CarRacin-v3",
        ),
        ("tests.envs.images:Squre-v0", VIEW, "did you mean gym-pixels/tests.envs.images:Square-v0"),
        ("no_such_module:Square-v0", VIEW, "No module named 'no_such_module'"),
    ],
)
def test_what_cannot_be_made_is_told_in_one_line(task, view, words):
    with pytest.raises(BadInputError, match=words) as raised:
        make(f"gym-pixels/{task}", seed=0, view=view)
    assert "\n" not in str(raised.value)


def test_the_error_for_an_unknown_id_names_the_form_with_a_module():
    with pytest.raises(BadInputError) as raised:
        make("gym/MyRobot-v0", seed=0)
    assert str(raised.value).endswith(
        "An id that another package registers is gym/module:MyRobot-v0"
    )


def test_presets_draw_as_the_environment_does():
    assert not preset("laptop", TASK).config().view.fast_render
    assert preset("laptop", "dmc-pixels/cheetah-run").config().view.fast_render
    assert preset("laptop", TASK).config().algo.encoder.front.fourier_dim == 32


def roll(task):
    env = make(task, seed=0)
    env.reset()
    play(env, actions_for(env, 10))


@pytest.mark.parametrize(
    ("task", "doing"),
    [
        ("tests.envs.images:broken", "step"),
        ("gym-pixels/tests.envs.images:Broken-v0", "step"),
        ("fails_at_import:make", "the import of its module"),
    ],
)
def test_a_crash_inside_an_environment_has_its_own_traceback(task, doing, tmp_path, monkeypatch):
    (tmp_path / "fails_at_import.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EnvCrashError) as raised:
        roll(task)
    assert str(raised.value) == f"{task} failed in {doing}: ZeroDivisionError: division by zero"
    lines = raised.value.detail.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert lff.envs.__path__[0] not in raised.value.detail


def test_so_has_one_in_a_process_of_its_own():
    envs = Subprocesses("tests.envs.images:broken", seed=0, num_envs=1, workers=1)
    with closing(envs):
        envs.reset()
        action = np.zeros((1, 1), np.float32)
        for _ in range(6):
            envs.step(action)
        with pytest.raises(RunError) as raised:
            envs.step(action)
    assert str(raised.value) == (
        "an environment failed in a process of its own: tests.envs.images:broken failed in step: "
        "ZeroDivisionError: division by zero"
    )
    assert raised.value.detail.startswith("Traceback (most recent call last):\n")
    assert raised.value.detail.endswith("ZeroDivisionError: division by zero\n")


def test_the_command_line_prints_one_line_and_that_traceback(tmp_path):
    words = "train sac --env tests.envs.images:broken --preset laptop --steps 50 --dir run"
    code, errors = commands.lff(tmp_path, [*words.split(), "--reference-episodes", "0"])
    assert code == 1
    first, *traceback = errors.splitlines()
    task = "tests.envs.images:broken"
    assert first == f"lff: {task} failed in step: ZeroDivisionError: division by zero"
    assert traceback[0] == "Traceback (most recent call last):"
    assert traceback[-1] == "ZeroDivisionError: division by zero"
    assert any("images.py" in line for line in traceback)
    assert not any("src/lff" in line for line in traceback)
