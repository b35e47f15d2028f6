import pytest

from lff.core import (
    BadInputError,
    BadTypeError,
    BusyError,
    CorruptError,
    ExitCode,
    InterruptedRunError,
    NonFiniteError,
    RunError,
    StorageError,
    exit_code,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RuntimeError("x"), 1),
        (RunError("x"), 1),
        (BadInputError("sigma", -1, "positive", "use 1"), 2),
        (BadTypeError("sigma", "x", "a number", "use 1"), 2),
        (BusyError("x"), 3),
        (NonFiniteError("x"), 70),
        (StorageError("x"), 74),
        (CorruptError("x"), 74),
        (InterruptedRunError("x"), 75),
    ],
)
def test_every_error_carries_its_code(error, code):
    assert exit_code(error) == code


def test_the_codes_are_those_of_the_page():
    assert {code.name: code.value for code in ExitCode} == {
        "OK": 0,
        "FAILED": 1,
        "USAGE": 2,
        "BUSY": 3,
        "NON_FINITE": 70,
        "IO": 74,
        "INTERRUPTED": 75,
    }
