"""Code blocks of README and docs are tests: each page runs top to bottom in one namespace.

Blocks of Python are executed.  Blocks marked ``console`` hold commands after ``$ `` and what they
print, which must be what they print now; ``...`` stands for anything.  They run in a folder of the
page's own, where ``results`` is that of the repository.
"""

import contextlib
import doctest
import io
import shlex
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser


def make_folder(namespace: dict[str, Any]) -> None:
    """Give a page its folder."""
    namespace["_folder"] = tempfile.TemporaryDirectory()
    results = Path(namespace["_folder"].name) / "results"
    results.symlink_to(Path(__file__).parent / "results")


def remove_folder(namespace: dict[str, Any]) -> None:
    """Remove it, with what the commands wrote."""
    namespace["_folder"].cleanup()


def check_console(example: Example) -> None:
    """Run the commands of a block and compare what they print with what the page shows."""
    from lff.cli.main import main

    for block in f"\n{example.parsed}".split("\n$ ")[1:]:
        command, _, expected = block.partition("\n")
        out = io.StringIO()
        with (
            contextlib.chdir(example.namespace["_folder"].name),
            contextlib.redirect_stdout(out),
            mock.patch("sys.argv", shlex.split(command, comments=True)),
        ):
            main()
        printed = "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"
        same = doctest.OutputChecker().check_output(
            expected.rstrip() + "\n", printed, doctest.ELLIPSIS
        )
        assert same, f"$ {command}\n{printed}\nis not what the page shows:\n{expected}"


pytest_collect_file = Sybil(
    parsers=[
        PythonCodeBlockParser(),
        CodeBlockParser(language="console", evaluator=check_console),
        SkipParser(),
    ],
    patterns=["*.md"],
    setup=make_folder,
    teardown=remove_folder,
).pytest()
