"""Vocabulary shared by every room: configs as data, checks, errors.  Needs nothing but Python."""

from lff.core.config import digest, from_dict, from_json, to_dict, to_json
from lff.core.errors import (
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
