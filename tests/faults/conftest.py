import pytest

from tests.faults import commands


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """Results of uninterrupted runs, by environment, each trained when first asked for."""
    found = {}

    def ask(env, *more):
        if (env, *more) not in found:
            folder = tmp_path_factory.mktemp("whole")
            code, errors = commands.lff(folder, commands.train_words(env, *more))
            assert code == 0, errors
            found[env, *more] = commands.results(folder)
        return found[env, *more]

    return ask
