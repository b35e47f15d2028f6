import errno
import fcntl
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lff.core import CorruptError, StorageError
from lff.store import RunLock, read_json, write_bytes, write_json
from lff.store.atomic import read_bytes, remove_temporaries, write_new


@given(st.binary(max_size=2000), st.binary(max_size=2000))
def test_content_is_replaced(tmp_path_factory, old, new):
    path = tmp_path_factory.mktemp("atomic") / "file"
    for data in (old, new):
        write_bytes(path, data)
        assert read_bytes(path) == data
    assert [*path.parent.iterdir()] == [path]


def test_short_writes_are_continued(tmp_path, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data)[:7]))
    write_bytes(tmp_path / "file", b"0123456789" * 10)
    assert (tmp_path / "file").read_bytes() == b"0123456789" * 10


def test_others_may_read_what_the_umask_lets_them(tmp_path):
    before = os.umask(0o022)
    try:
        write_bytes(tmp_path / "file", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644


def test_only_our_temporaries_are_removed(tmp_path):
    (tmp_path / ".file.0123456789ab.tmp-lff").touch()
    (tmp_path / "thesis.tmp").touch()
    (tmp_path / ".hidden").touch()
    remove_temporaries(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".hidden", "thesis.tmp"]


def test_a_new_file_must_be_new(tmp_path):
    write_new(tmp_path / "file", b"one")
    with pytest.raises(StorageError, match="File exists"):
        write_new(tmp_path / "file", b"two")
    assert (tmp_path / "file").read_bytes() == b"one"


def test_too_large_a_file_is_not_read(tmp_path):
    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(2**40)  # sparse: takes no room
    with pytest.raises(CorruptError, match=r"huge\.json has 1099511627776 bytes"):
        read_json(tmp_path / "huge.json")


def test_json_round_trip(tmp_path):
    write_json(tmp_path / "a.json", {"b": (1, 2.5), "a": None})
    assert (tmp_path / "a.json").read_text().startswith('{\n  "a": null')
    assert read_json(tmp_path / "a.json") == {"a": None, "b": [1, 2.5]}


def test_missing_folder_is_one_line(tmp_path):
    with pytest.raises(StorageError) as caught:
        write_bytes(tmp_path / "gone" / "file", b"abc")
    what = f"cannot write {tmp_path / 'gone' / 'file'} (3 bytes): no such file or folder; "
    assert str(caught.value).startswith(what)
    assert "\n" not in str(caught.value)


def test_a_file_system_without_locks_is_refused(tmp_path, monkeypatch):
    def refuse(fd, flags):
        raise OSError(errno.ENOSYS, "not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StorageError, match="local disk"), RunLock(tmp_path):
        pass
    monkeypatch.undo()
    with RunLock(tmp_path):
        pass
