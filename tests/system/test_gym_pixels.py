"""A real environment that observes images, Gymnasium's Reacher: train, kill, resume, play."""

import os
import signal

import numpy as np
import pytest
from PIL import Image

from lff import load
from lff.envs import PixelView, make
from tests.envs.rollout import actions_for, assert_same, play
from tests.faults import commands
from tests.system.programs import require_opengl

pytestmark = pytest.mark.system

TASK = "gym-pixels/tests.envs.images:ReacherPixels-v0"
SIZES = "--size size=36 cropped_size=32 num_filters=4 --hidden-dim 16 --fourier-dim 8"
SCHEDULE = "--batch-size 4 --steps 240 --warmup-steps 80 --eval-every 120 --eval-episodes 1"
WORDS = ["train", "sac", "--env", TASK, *SIZES.split(), *SCHEDULE.split(), "--dir", "run"]
WORDS += ["--log-every", "40", "--checkpoint-every", "64", "--reference-episodes", "1"]


@pytest.fixture(scope="module", autouse=True)
def _backend():
    require_opengl()


def test_a_restored_environment_continues_bit_for_bit():
    view = PixelView(size=36)
    env = make(TASK, seed=0, action_repeat=2, view=view)
    first, _ = env.reset()
    assert first.std() > 5
    play(env, actions_for(env, 4))
    twin = make(TASK, seed=3, action_repeat=2, view=view)
    assert twin.can_save_state
    twin.set_state(env.get_state())
    actions = actions_for(env, 14)  # beyond the time limit of 25 frames
    assert_same(play(env, actions), play(twin, actions))


def test_it_trains_resumes_byte_for_byte_after_a_kill_evaluates_and_plays(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
    code, errors = commands.lff(whole, WORDS)
    assert code == 0, errors
    process = commands.start(killed, WORDS)
    commands.wait_for_rows(process, killed, 3)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    code, errors = commands.lff(killed, WORDS)
    assert code == 0, errors
    assert commands.results(killed) == commands.results(whole)
    policy = load(whole / "run")
    assert policy.act(np.zeros((9, 36, 36), np.uint8)).shape == (2,)
    words = ["play", "run", "--episodes", "1", "--video", "run.gif"]
    code, errors = commands.lff(whole, words)
    assert code == 2
    assert "add --trust tests.envs.images" in errors
    code, errors = commands.lff(whole, [*words, "--trust", "tests.envs.images"])
    assert code == 0, errors
    with Image.open(whole / "run.gif") as film:
        assert (film.size, film.n_frames) == ((48, 40), 7)
