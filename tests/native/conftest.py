import pytest

from lff.native.build import find_compiler


@pytest.fixture(scope="session")
def native_cache(tmp_path_factory):
    """A build cache for all native tests of a session: each library takes seconds to build."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _native_cache(monkeypatch, native_cache):
    monkeypatch.setenv("XDG_CACHE_HOME", str(native_cache))
    if find_compiler() is None:
        pytest.skip("a C++ compiler is missing")
