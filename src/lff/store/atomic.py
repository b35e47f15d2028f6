"""Atomic writes: after a crash of program or machine a file is complete or absent.

The order is what makes it so: data to a temporary file in the same folder, fsync, read back,
rename, fsync of the folder.  They hold JSON, or arrays as safetensors: exact bits, and nothing that
could execute.
"""

import contextlib
import errno
import hashlib
import json
import math
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as _load
from safetensors.numpy import save as _save

from lff.core.errors import (
    BadInputError,
    BadTypeError,
    CorruptError,
    RunError,
    StorageError,
    one_line,
    printable,
)
from lff.core.memory import available_memory

Arrays = Mapping[str, np.ndarray]
TEMPORARY = ".tmp-lff"
"""Suffix of temporary files."""
SEAL = "sha256"
"""The key under which a JSON object holds the SHA-256 of all its other keys."""
LARGEST = 64 * 2**20
"""Bytes of JSON; nothing of ours comes near, so that a larger file is not ours."""
LARGEST_HEADER = 100_000_000
"""Bytes, as in the format's own reader."""
DTYPES = tuple(
    np.dtype(name)
    for name in (
        *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64"),
    )
)

_REMEDIES = {
    errno.ENOSPC: ("the disk is full", "free some space and start again"),
    errno.EDQUOT: ("the quota is used up", "free some space and start again"),
    errno.EFBIG: ("the file would pass the size limit", "raise the limit (ulimit -f)"),
    errno.EROFS: ("the file system is read-only", "use another --dir, or mount it for writing"),
    errno.EACCES: ("permission denied", "use another --dir, or change its owner or mode"),
    errno.EPERM: ("not permitted", "use another --dir, or change its owner or mode"),
    errno.ENOENT: ("no such file or folder", "was it moved or deleted? check the path"),
    errno.ENOTDIR: ("a part of the path is not a folder", "check the path"),
    errno.EISDIR: ("a folder stands in its place", "move it away"),
    errno.ENAMETOOLONG: ("the name is too long", "use a shorter --dir"),
    errno.EMFILE: ("too many files are open", "raise the limit (ulimit -n)"),
    errno.ENOSYS: ("the file system cannot do that", "use another --dir, on a local disk"),
    errno.EIO: ("the device failed", "check the disk"),
}


@contextlib.contextmanager
def reported(action: str, path: Path, *, size: int | None = None) -> Iterator[None]:
    """Turn an OSError into one line that names the file, the cause and the remedy."""
    try:
        yield
    except OSError as error:
        number = error.errno or errno.EIO
        why, remedy = _REMEDIES.get(number, (os.strerror(number), "check the disk and the path"))
        what = f"cannot {action} {path}" + (f" ({size} bytes)" if size is not None else "")
        raise StorageError(f"{what}: {why}; {remedy}") from error


_ODD = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError)


@contextlib.contextmanager
def understood(path: Path | str) -> Iterator[None]:
    """Turn what data of other types and sizes than ours causes into one line on their folder."""
    try:
        yield
    except (BadInputError, RunError):
        raise
    except (*_ODD, MemoryError) as error:
        why = one_line(f"{type(error).__name__}: {error}")[:120]
        raise CorruptError(f"{path} holds what lff does not write ({why}); restore it") from error


def write_bytes(path: Path, data: bytes) -> None:
    """Replace a file's content, durably: readers see the old or the new, never a part."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}{TEMPORARY}")
    with reported("write", path, size=len(data)):
        try:
            write_new(temporary, data, shown=path)
            os.replace(temporary, path)  # noqa: PTH105 - every call to the system in one style
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108
            raise
        sync_folder(path.parent)


def write_new(path: Path, data: bytes, *, shown: Path | None = None) -> None:
    """Write a file that is not there yet, durably, and read it back.

    Not atomic: a crash may leave a part.  For files that something else publishes, under the name
    ``shown``.
    """
    shown = shown or path
    with reported("write", shown, size=len(data)):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
            if hasattr(os, "posix_fadvise"):  # so that the disk is read, not the page cache
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)
    if read_bytes(path) != data:
        raise CorruptError(f"{shown} reads back different from what was written; check the disk")


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte: the system may take fewer at a time."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def read_bytes(path: Path, *, limit: int | None = None) -> bytes:
    """Read a regular file: no link is followed, no pipe waited for, no more than ``limit`` read.

    Without a limit, no more than fits into memory.
    """
    with reported("read", path):
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise CorruptError(f"{path} is not a regular file; move it away")
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(path, flags), "rb") as file:  # noqa: PTH123
            size = os.fstat(file.fileno()).st_size
            refuse_size(path, size, limit=limit)
            return file.read()


def refuse_size(path: Path, size: int, *, limit: int | None = None) -> None:
    """Raise if a file has more bytes than its kind can have, or than fit into memory."""
    for most in (limit, available_memory() if size > LARGEST else None):
        if most is not None and size > most:
            raise CorruptError(
                f"{path} has {size} bytes, {most} at most; it was not written by lff"
            )


def read_lines(path: Path) -> list[str]:
    """Read the lines of a text file, without control characters."""
    try:
        return [*map(printable, read_bytes(path, limit=LARGEST).decode().splitlines())]
    except UnicodeDecodeError as error:
        raise CorruptError(f"{path} is not a text ({error.reason}); restore it") from None


def refuse_link(path: Path) -> None:
    """Raise if a link is there: what is written or deleted through it lies somewhere else."""
    if path.is_symlink():
        raise CorruptError(f"{path} is a link; move it away")


def make_folder(folder: Path) -> None:
    """Make a folder and those above it durably: each is synced into its parent before the next.

    So a killed process leaves at most one that is not synced, the deepest: that one is synced here.
    """
    with reported("create", folder):
        missing = [path for path in (folder, *folder.parents) if not path.is_dir()]
        there = missing[-1].parent if missing else folder
        with contextlib.suppress(PermissionError):  # it is not ours, so it was not made by us
            _sync_folder(there.parent)
        for path in reversed(missing):
            path.mkdir(exist_ok=True)
            _sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames and removals in a folder durable."""
    with reported("sync", folder):
        _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some network file systems sync no folders
            raise
    finally:
        os.close(descriptor)


def remove(paths: Iterable[Path]) -> None:
    """Delete files, ignoring those that do not exist."""
    for path in paths:
        with reported("remove", path):
            path.unlink(missing_ok=True)


def remove_temporaries(folder: Path) -> None:
    """Delete what a killed process left half-written; only the holder of the lock may call it."""
    remove([*folder.glob(f".*{TEMPORARY}")])


def dumps(name: str, data: Any, *, indent: int | None = None) -> bytes:
    """Return the one text of this data, or raise an error that names the part that is not JSON."""
    _check(name, data)
    separators = (",", ":") if indent is None else (",", ": ")
    style: dict[str, Any] = {"indent": indent, "separators": separators, "default": dict}
    return json.dumps(data, sort_keys=True, allow_nan=False, **style).encode() + b"\n"


def read_json(path: Path, *, limit: int = LARGEST) -> dict[str, Any]:
    """Read a JSON object, without control characters, or raise an error that names the file."""
    found: dict[str, Any] = shown(loads(read_bytes(path, limit=limit), path))
    return found


def read_sealed(path: Path, required: Callable[[Mapping[str, Any]], bool]) -> dict[str, Any]:
    """Read the same from a sealed object; its hash is that of the text as it was written."""
    data = loads(read_bytes(path, limit=LARGEST), path)
    found: dict[str, Any] = shown(unseal(data, path, required=required(data)))
    return found


def loads(text: bytes, path: Path, *, kind: type = dict) -> Any:
    """Parse a JSON object, or a list, that was read from ``path``."""
    try:
        data = json.loads(text.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        why = type(error).__name__ if isinstance(error, RecursionError) else str(error)
        raise CorruptError(f"{path} is not JSON ({why[:80]}); restore or remove it") from None
    if not isinstance(data, kind):
        what = "a JSON object" if kind is dict else "a JSON list"
        raise CorruptError(f"{path} is not {what}; restore or remove it")
    return data


def shown(data: Any) -> Any:
    """Return data without control characters: whatever of it is printed shows what it is."""
    if isinstance(data, str):
        return data if data.isprintable() else printable(data)
    if isinstance(data, list):
        return [shown(value) for value in data]
    return {shown(k): shown(v) for k, v in data.items()} if isinstance(data, dict) else data


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a JSON object for people and programs, atomically."""
    write_bytes(path, dumps(path.name, data, indent=2))


def sha256(data: bytes) -> str:
    """Return the SHA-256 in hex digits."""
    return hashlib.sha256(data).hexdigest()


def seal(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON object with the hash of its content."""
    return {**data, SEAL: sha256(dumps("data", data))}


def unseal(data: Mapping[str, Any], path: Path, *, required: bool = True) -> dict[str, Any]:
    """Return a sealed object without its hash; raise an error that names the file if it differs."""
    content = {name: value for name, value in data.items() if name != SEAL}
    if (required or SEAL in data) and data.get(SEAL) != sha256(dumps("data", content)):
        raise CorruptError(f"{path} is not what was written; restore or remove it")
    return content


def flat(data: Any, prefix: str = "") -> dict[str, Any]:
    """Return nested data under dotted names.

    >>> flat({"algo": {"gamma": 0.99, "hidden": [8, 8]}, "seed": 0})
    {'algo.gamma': 0.99, 'algo.hidden': [8, 8], 'seed': 0}
    """
    if not isinstance(data, Mapping) or not data:
        return {prefix: data} if prefix else {}
    items = [flat(value, f"{prefix}.{key}" if prefix else str(key)) for key, value in data.items()]
    return {name: value for item in items for name, value in item.items()}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _check(name: str, data: Any) -> None:
    if isinstance(data, Mapping):
        for key, value in data.items():
            if not isinstance(key, str):
                # json would make "0" of 0, and the reader would look for 0
                raise BadTypeError(f"{name}'s key", key, "a string", "use str(key)")
            _check(f"{name}.{key}", value)
    elif isinstance(data, list | tuple):
        for index, value in enumerate(data):
            _check(f"{name}[{index}]", value)
    elif isinstance(data, float):
        if not math.isfinite(data):
            raise BadInputError(name, data, "finite (JSON lacks NaN)", "use None")
    elif not (data is None or isinstance(data, str | int)):
        raise BadTypeError(name, data, "plain JSON data", "store arrays as tensors")


def encode(arrays: Arrays) -> bytes:
    """Return the file's bytes: sorted by alignment and name, so equal arrays give equal bytes."""
    return bytes(_save({name: _storable(name, array) for name, array in arrays.items()}))


def decode(data: bytes, path: object) -> dict[str, np.ndarray]:
    """Return the arrays of a file's bytes, writable; raise an error that names the file."""
    header = int.from_bytes(data[:8], "little")
    if len(data) < 8 or header > min(LARGEST_HEADER, len(data) - 8):
        raise CorruptError(f"{path} is not a safetensors file; restore or remove it")
    try:
        return dict(_load(data))
    except (SafetensorError, AssertionError, LookupError, ValueError, TypeError, RuntimeError) as e:
        why = printable(one_line(e)[:80])
        raise CorruptError(
            f"{path} is not a safetensors file ({why}); restore or remove it"
        ) from None


def _storable(name: str, array: np.ndarray) -> np.ndarray:
    if not isinstance(name, str):
        raise BadTypeError("an array's name", name, "a string", "use str(name)")
    if not isinstance(array, np.ndarray | np.generic):
        raise BadTypeError(name, array, "a numpy array", "put plain values in meta")
    if array.dtype.newbyteorder("=") not in DTYPES:
        kinds = "an array of numbers or bools, of a storable dtype"
        raise BadTypeError(name, array.dtype, kinds, "convert it, for example with astype")
    return np.asarray(array, order="C")  # keeps an array without axes as it is
