"""The edge of the command line: its words before a command, one line for whatever goes wrong."""

import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from lff.core.errors import BadInputError, ExitCode, RunError, exit_code, printable
from lff.core.imports import GIVEN_PATH

TRACEBACK = "LFF_TRACEBACK"  # set this variable to see where an error came from


@contextmanager
def boundary() -> Iterator[None]:
    """Turn every error into one line and an exit code of ``docs/run-directory.md``."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader, as in `lff ... | head`, has had enough
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(ExitCode.FAILED)
    except KeyboardInterrupt:
        _stop("interrupted; run the same command again", ExitCode.INTERRUPTED)
    except (BadInputError, RunError) as error:
        _stop(str(error), exit_code(error), detail=getattr(error, "detail", ""))
    except Exception as error:  # noqa: BLE001 - whatever it is, a stored file may have caused it
        what = " ".join(str(error).split())[:200]
        remedy = f"{TRACEBACK}=1 shows where it came from"
        _stop(f"{type(error).__name__}: {what or 'no message'}; {remedy}", exit_code(error))


def _stop(line: str, code: ExitCode, *, detail: str = "") -> None:
    with suppress(OSError):
        if os.environ.get(TRACEBACK):
            traceback.print_exc()
        print(f"lff: {printable(line)}", file=sys.stderr)
        for below in detail.splitlines():  # the traceback of a user's environment
            print(printable(below), file=sys.stderr)
    sys.exit(code)


def take_paths(words: Sequence[str]) -> list[str]:
    """Add the folder of every ``--path DIR`` to where modules are found; return the other words.

    These folders come last, so that no file in them stands in for a module that is installed.
    """
    left: list[str] = []
    given = iter(words)
    for word in given:
        if printable(word) != word:  # parts of it would be printed
            raise BadInputError("argument", word, "free of control characters", "rename it")
        option, equals, value = word.partition("=")
        if option != "--path":
            left.append(word)
            continue
        folder = value if equals else next(given, "")
        if not folder or not Path(folder).is_dir():
            remedy = "name the folder that holds your module"
            raise BadInputError("--path", folder, "a folder", remedy)
        sys.path.append(str(Path(folder).resolve()))
        before = os.environ.get(GIVEN_PATH)
        os.environ[GIVEN_PATH] = os.pathsep.join(filter(None, (before, sys.path[-1])))
    return left
