"""The choice of a backend, with the attempts replaced; real pictures are in tests/system."""

import pytest

from lff.core import BadInputError
from lff.envs import rendering


@pytest.fixture(autouse=True)
def _unset(monkeypatch):
    monkeypatch.setenv(rendering.VARIABLE, "")


def only(*working):
    return lambda backend, **_: backend in working


def test_first_that_works_is_left_in_the_variable(monkeypatch):
    monkeypatch.setattr(rendering, "works", only("osmesa", "glfw"))
    assert rendering.choose_backend() == "osmesa"
    assert rendering.os.environ["MUJOCO_GL"] == "osmesa"


def test_the_users_choice_is_obeyed(monkeypatch):
    monkeypatch.setenv(rendering.VARIABLE, "glfw")
    monkeypatch.setattr(rendering, "works", only("egl", "glfw"))
    assert rendering.choose_backend() == "glfw"
    monkeypatch.setattr(rendering, "works", only("egl"))
    with pytest.raises(BadInputError, match="apt-get install libglfw3"):
        rendering.choose_backend()
    monkeypatch.setenv(rendering.VARIABLE, "elg")
    with pytest.raises(BadInputError, match="did you mean egl"):
        rendering.choose_backend()


def test_none_works_names_the_packages(monkeypatch):
    monkeypatch.setattr(rendering, "works", only())
    with pytest.raises(BadInputError, match=r"apt-get install libegl1 .* or libosmesa6$"):
        rendering.choose_backend()


def test_attempt_that_hangs_or_dies_does_not_work(monkeypatch):
    rendering.works.cache_clear()
    monkeypatch.setattr(rendering, "_ATTEMPT", "import time; time.sleep(60) # {backend}")
    assert not rendering.works("egl", timeout=0.2)
    monkeypatch.setattr(rendering, "_ATTEMPT", "import os; os.abort() # {backend}")
    assert not rendering.works("egl", timeout=30.0)
    rendering.works.cache_clear()
