from tests.cli.conftest import cli as cli
