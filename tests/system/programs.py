"""System programs that tests need; one that is missing is a failure that says what to install."""

import shutil

import pytest

from lff.core import BadInputError
from lff.envs import rendering


def require(program, *, package):
    """Return the program's path, or fail with the line that installs it."""
    path = shutil.which(program)
    if path is None:
        pytest.fail(f"{program} is not installed; install it with: apt-get install {package}")
    return path


def require_opengl():
    """Fail, with the line that installs it, unless pictures can be drawn here."""
    try:
        rendering.choose_backend()
    except BadInputError as error:
        pytest.fail(str(error))
