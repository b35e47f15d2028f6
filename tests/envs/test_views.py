"""What can be said of pictures without drawing one: the view, shapes, the choice of OpenGL."""

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest

from lff.core import BadInputError, BadTypeError
from lff.core.config import from_dict, from_json, to_dict, to_json
from lff.envs import PAPER_PIXEL_TASKS, PixelView, make, rendering, shapes

OTHER = PixelView(size=84, frame_stack=4, camera=2, render_size=92, fast_render=True)


@pytest.mark.parametrize("view", [PixelView(), OTHER, PixelView(camera=0)])
def test_view_travels_as_data(view):
    assert from_dict(PixelView, to_dict(view)) == view
    assert from_json(PixelView, to_json(view)) == view


def test_view_of_numpys_numbers_is_written_alike():
    view = PixelView(size=np.int64(84), camera=np.int64(0), render_size=np.int32(92))
    assert to_json(view) == to_json(PixelView(size=84, camera=0, render_size=92))


def test_view_derives_shape_and_camera():
    assert (PixelView().shape, PixelView().drawn_size) == ((9, 100, 100), 100)
    assert (OTHER.shape, OTHER.drawn_size) == ((12, 84, 84), 92)
    assert (PixelView().camera_id, OTHER.camera_id) == (0, 2)


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"size": 0}, BadInputError, r"size must be in \[1, 1024\]"),
        ({"size": 2000}, BadInputError, r"size must be in \[1, 1024\]"),
        ({"size": 84.0}, BadTypeError, "size must be an integer"),
        ({"frame_stack": 0}, BadInputError, "frame_stack must be"),
        ({"camera": -1}, BadInputError, "camera must be 0 or more"),
        ({"camera": "back"}, BadTypeError, "camera must be an integer"),
        ({"camera": False}, BadTypeError, "camera must be an integer"),
        ({"render_size": 84}, BadInputError, "render_size must be size=100 or more"),
        ({"fast_render": 1}, BadTypeError, "fast_render must be True or False"),
    ],
)
def test_bad_views(fields, error, message):
    with pytest.raises(error, match=message):
        PixelView(**fields)


def test_view_needs_no_simulator():
    code = "import lff.envs.views, sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(run.stdout.split()) & {"mujoco", "dm_control", "OpenGL"}


def only(*working):
    return lambda backend, **_: backend in working


@pytest.fixture
def no_opengl(monkeypatch):
    monkeypatch.setenv(rendering.VARIABLE, "")
    monkeypatch.setattr(rendering, "works", only())


@pytest.mark.usefixtures("no_opengl")
def test_shapes_need_no_opengl():
    actions = {task: shapes(task)[1] for task in PAPER_PIXEL_TASKS}
    assert list(actions.values()) == [6, 2, 4, 12]
    assert shapes("dmc-pixels/cheetah-run") == ((9, 100, 100), 6)
    assert shapes("dmc-pixels/quadruped-run", OTHER) == ((12, 84, 84), 12)
    assert shapes("dmc/cheetah-run") == ((17,), 6)
    assert shapes("dmc/cheetah-run") == ((17,), 6)


@pytest.mark.usefixtures("no_opengl")
def test_without_opengl_the_error_names_the_packages():
    with pytest.raises(BadInputError, match=r"apt-get install libegl1 .* or libosmesa6$"):
        make("dmc-pixels/cheetah-run", seed=0)


@pytest.mark.parametrize("backend", ["egl", "osmesa"])
def test_backend_is_chosen_when_the_environment_is_made(monkeypatch, backend):
    monkeypatch.setenv(rendering.VARIABLE, "")
    monkeypatch.setattr(rendering, "works", only(backend))
    make("dmc-pixels/cheetah-run", seed=0).close()
    assert os.environ[rendering.VARIABLE] == backend


@pytest.mark.parametrize(
    "task", ["dmc/cheetah-run", "gym/Pendulum-v1", "tests.envs.homemade:plain"]
)
def test_view_of_a_task_without_pictures_is_refused(task):
    with pytest.raises(BadInputError, match=r"view must be None for .*use dmc-pixels/"):
        make(task, seed=0, view=PixelView())
    with pytest.raises(BadInputError, match="view must be None"):
        shapes(task, PixelView())


def test_unknown_tasks_and_cameras_are_refused(monkeypatch):
    monkeypatch.setattr(rendering, "choose_backend", lambda: "egl")
    with pytest.raises(BadInputError, match="did you mean dmc-pixels/cheetah-run"):
        make("dmc-pixels/cheeta-run", seed=0)
    with pytest.raises(
        BadInputError, match=r"camera of cheetah-run, got 2; use 0 \(side\), 1 \(back\)"
    ):
        make("dmc-pixels/cheetah-run", seed=0, view=PixelView(camera=2))
    with pytest.raises(BadInputError, match="camera of cheetah-run"):
        shapes("dmc-pixels/cheetah-run", PixelView(camera=2))
    with pytest.raises(BadInputError, match="seed must be"):
        make("dmc-pixels/cheetah-run", seed=-1)
    make("dmc-pixels/quadruped-run", seed=0, view=dataclasses.replace(OTHER)).close()
