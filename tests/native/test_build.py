import os
import subprocess
import sys

import pytest

from lff.core import BadInputError
from lff.native import BuildError, NativeSAC, build
from lff.native.shape import describe
from tests.native.test_update import LFF

RACE = """
from tests.native.test_update import LFF
from lff.native import NativeSAC
print(NativeSAC(LFF.build()).origin.key)
"""


def header():
    return describe(LFF.build()).header()


def test_two_processes_that_build_at_once_both_succeed(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    broken = build.checked_cache_dir() / f"{build.origin_of(header()).key}.so"
    broken.write_bytes(b"half a library")  # which both find first
    command = [sys.executable, "-c", RACE]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    keys = {child.communicate()[0].strip() for child in children}
    assert [child.returncode for child in children] == [0, 0]
    (key,) = keys
    assert [path.name for path in (tmp_path / "lff" / "native").iterdir()] == [f"{key}.so"]


def test_a_library_is_built_once():
    first = NativeSAC(LFF.build())
    library = build.cache_dir() / f"{first.origin.key}.so"
    built = library.stat().st_mtime_ns
    assert NativeSAC(LFF.build()).origin.key == first.origin.key
    assert library.stat().st_mtime_ns == built


def test_the_key_covers_sizes_flags_target_and_sources(monkeypatch):
    here = build.origin_of(header())
    keys = {here.key, build.origin_of(header() + " ").key}
    keys.add(build.origin_of(header(), "x86-64-v3").key)
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, "-g"))
    keys.add(build.origin_of(header()).key)
    monkeypatch.setattr(build, "sources", lambda: {"sac.cpp": ""})
    keys.add(build.origin_of(header()).key)
    assert len(keys) == 5
    assert here.target == "native"


@pytest.mark.parametrize("mode", [0o770, 0o702])
def test_a_cache_that_others_can_write_is_refused(tmp_path, monkeypatch, mode):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "lff" / "native"
    folder.mkdir(parents=True)
    folder.chmod(mode)
    with pytest.raises(BadInputError, match="writable by you alone"):
        build.build(header())


def test_a_new_cache_is_ones_own_whatever_the_umask(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = os.umask(0o002)
    try:
        assert build.checked_cache_dir().parent.stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)


def test_a_library_that_others_can_write_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    key = build.origin_of(header()).key
    folder = build.checked_cache_dir()
    library = folder / f"{key}.so"
    library.write_bytes(b"")
    library.chmod(0o777)
    with pytest.raises(BadInputError, match="writable by you alone"):
        build.build(header())


def test_a_compiler_that_fails_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(BuildError, match="the native update does not compile"):
        build.build("#error not a shape")
    assert list((tmp_path / "lff" / "native").iterdir()) == []


def test_an_unknown_target_is_refused():
    with pytest.raises(BadInputError, match="x86-64-v3"):
        build.origin_of(header(), "z80")


def test_a_library_shows_nothing_but_its_interface():
    """Two libraries in one process have structs of the same names, which must not be shared."""
    library = build.cache_dir() / f"{NativeSAC(LFF.build()).origin.key}.so"
    symbols = subprocess.run(
        ["nm", "--dynamic", "--defined-only", str(library)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    names = set(symbols[2::3])
    assert {"lff_new", "lff_update", "lff_act"} <= names
    assert all(name.startswith("lff_") for name in names), names
