"""System programs that tests need; one that is missing is a failure that says what to install."""

import shutil

import pytest


def require(program, *, package):
    """Return the program's path, or fail with the line that installs it."""
    path = shutil.which(program)
    if path is None:
        pytest.fail(f"{program} is not installed; install it with: apt-get install {package}")
    return path
