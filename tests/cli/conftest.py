import sys
from typing import NamedTuple

import pytest

from lff.cli.main import main


class Ended(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def cli(monkeypatch, capsys, tmp_path):
    """Run a command line in this process, in an empty folder: no second start of torch."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["lff", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        return Ended(code, *capsys.readouterr())

    return run
