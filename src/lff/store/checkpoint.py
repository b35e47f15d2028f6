"""Checkpoints: a folder of safetensors and JSON that is complete when its manifest is there.

``checkpoints/step-000012345/`` holds ``tensors.safetensors``, ``meta.json`` and, written last,
``manifest.json`` with the size and SHA-256 of both.  All of it is written beside, as
``step-000012345.new``, and renamed when it has been read back; what leaves is first renamed to
``….old``.  So a plain name that is damaged was damaged later, and is reported; a half of a ``.new``
or ``.old`` is what a killed process leaves, and is ignored.
"""

import dataclasses
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lff.core.errors import BadInputError, CorruptError, StorageError
from lff.store import atomic

CHECKPOINTS = "checkpoints"
LAYOUT = 3
"""Version of the files of a run directory; lff 0.1 wrote 1."""
UNSEALED = 2
"""The layout before hashes of everything, which is read without them."""
KEPT = 2
TENSORS, META, MANIFEST = "tensors.safetensors", "meta.json", "manifest.json"
NEW, OLD = ".new", ".old"
_NAME = re.compile(r"(?P<plain>step-(?P<step>\d{9,15})|final)(?P<suffix>\.new|\.old)?")
_LARGEST_STEP = 10**15 - 1

logger = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """The state that was saved at one step, bit for bit."""

    step: int
    arrays: dict[str, np.ndarray] = dataclasses.field(repr=False)
    meta: dict[str, Any] = dataclasses.field(repr=False)
    path: Path
    passed_over: tuple[str, ...] = ()
    """Newer checkpoints that were damaged, one line each."""


class _Manifest(NamedTuple):
    step: int
    files: dict[str, tuple[int, str]]  # size and SHA-256 by name


def save(
    folder: Path, step: int, arrays: atomic.Arrays, meta: Mapping[str, Any], *, final: bool = False
) -> Path:
    """Write a checkpoint of a run, verify it, then drop all but the last two; return its folder.

    ``final`` writes to ``checkpoints/final/``, which is kept until the next final one.  Only the
    holder of the run's lock may call this.
    """
    if not 0 <= step <= _LARGEST_STEP:
        raise BadInputError("step", step, f"from 0 to {_LARGEST_STEP}", "count environment steps")
    contents = {TENSORS: atomic.encode(arrays), META: atomic.dumps("meta", meta)}
    home = Path(folder) / CHECKPOINTS
    target = home / ("final" if final else f"step-{step:09d}")
    staged = target.with_name(target.name + NEW)
    with atomic.reported("save", target, size=sum(map(len, contents.values()))):
        if not home.is_dir():
            home.mkdir()
            atomic.sync_folder(home.parent)
        adopt(folder)
        try:
            _remove(staged)
            _write(staged, step, contents)
        except BaseException:
            shutil.rmtree(staged, ignore_errors=True)
            raise
        _publish(staged, target)
    prune(folder, step)
    return target


def load_latest(
    folder: Path, *, check: Callable[[Checkpoint], None] | None = None
) -> Checkpoint | None:
    """Return the newest good checkpoint, or None if none was ever completed.

    A damaged one is passed over with a warning that names its file; so is one that ``check``, which
    may look at what it refers to, refuses with a StorageError.

    Raises:
        CorruptError: there are checkpoints, and all of them are damaged.
    """
    problems: list[str] = []
    vanished = False
    for path in _newest_first(Path(folder) / CHECKPOINTS):
        try:
            checkpoint = load(path)
            if check:
                check(checkpoint)
        except StorageError as error:
            if not os.path.lexists(path):
                vanished = True
            elif not path.suffix:
                problems.append(str(error))
                logger.warning("passing over a damaged checkpoint: %s", error)
            continue
        return dataclasses.replace(checkpoint, passed_over=tuple(problems))
    if vanished:  # a reader without the lock, overtaken by the run: there are newer ones now
        return load_latest(folder, check=check)
    if problems:
        many = f"no checkpoint in {folder} is good: {' | '.join(problems)}"
        raise CorruptError(f"{many}; restore one from a backup, or start in another --dir")
    return None


def load(path: Path) -> Checkpoint:
    """Read one checkpoint folder, every byte checked against its manifest."""
    manifest = _read_manifest(path)
    contents = {}
    for name, (size, sha256) in manifest.files.items():
        data = atomic.read_bytes(path / name, limit=size)
        if len(data) != size or atomic.sha256(data) != sha256:
            raise CorruptError(f"{path / name} is not what was written; restore or remove {path}")
        contents[name] = data
    arrays = atomic.decode(contents[TENSORS], path / TENSORS)
    meta = atomic.loads(contents[META], path / META)
    return Checkpoint(manifest.step, arrays, meta, path)


def kept_metas(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the meta of every checkpoint that :func:`load_latest` might return."""
    for path in _newest_first(Path(folder) / CHECKPOINTS):
        try:
            _read_manifest(path)
            yield atomic.read_json(path / META)
        except StorageError:
            continue  # damaged: it will never be loaded


def plain(folder: Path) -> list[Path]:
    """Return the folders of complete checkpoints, newest first."""
    return [path for path in _newest_first(Path(folder) / CHECKPOINTS) if not path.suffix]


def final_step(folder: Path) -> int | None:
    """Return the step of ``checkpoints/final/`` if that is the newest checkpoint, else None."""
    newest = next(iter(_newest_first(Path(folder) / CHECKPOINTS)), None)
    return _stored_step(newest) if newest is not None and newest.name == "final" else None


def reopen(folder: Path) -> None:
    """Make the final checkpoint an ordinary one, so that a finished run can be continued."""
    final = Path(folder) / CHECKPOINTS / "final"
    step = _stored_step(final)
    if step is not None:  # else there is none, or a damaged one that load_latest will name
        target = final.with_name(f"step-{step:09d}")
        with atomic.reported("rename", final):
            _publish(final, target)
        _remove(target.with_name(target.name + OLD))


def adopt(folder: Path) -> None:
    """Give the plain name to what a killed :func:`save` had completed but not yet renamed."""
    home = Path(folder) / CHECKPOINTS
    for path in sorted(_newest_first(home), key=lambda path: path.suffix):  # .new before .old
        plain = path.with_suffix("")
        if path.suffix and not os.path.lexists(plain) and _is_good(path):
            with atomic.reported("rename", path):
                path.rename(plain)
                atomic.sync_folder(home)


def prune(folder: Path, step: int) -> None:
    """Remove what is no longer needed, now that the checkpoint at ``step`` is complete."""
    home = Path(folder) / CHECKPOINTS
    older = KEPT
    for path in _newest_first(home):
        keep = not path.suffix and (path.name == "final" or _is_whole(path, newer_than=step))
        if keep and _step(path) <= step:
            keep = older > 0 or path.name == "final"
            older -= 1
        if not keep:
            _remove(path)
    atomic.sync_folder(home)


def _write(staged: Path, step: int, contents: Mapping[str, bytes]) -> None:
    staged.mkdir()
    for name, data in contents.items():
        atomic.write_new(staged / name, data)
    atomic.sync_folder(staged)
    files = {
        name: {"bytes": len(data), "sha256": atomic.sha256(data)} for name, data in contents.items()
    }
    manifest = atomic.seal({"layout": LAYOUT, "step": step, "files": files})
    atomic.write_new(staged / MANIFEST, atomic.dumps(MANIFEST, manifest, indent=2))
    atomic.sync_folder(staged)


def _publish(staged: Path, target: Path) -> None:
    """Give a complete checkpoint its plain name; at every moment one of the two is readable."""
    if os.path.lexists(target):
        old = target.with_name(target.name + OLD)
        _remove(old)
        target.rename(old)
    staged.rename(target)
    atomic.sync_folder(target.parent)


def _remove(path: Path) -> None:
    """Delete a checkpoint so that no moment shows a damaged one under a plain name."""
    with atomic.reported("remove", path):
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.exists():
            if not path.suffix:
                old = path.with_name(path.name + OLD)
                _remove(old)
                path = path.rename(old)
            (path / MANIFEST).unlink(missing_ok=True)
            shutil.rmtree(path)


def _newest_first(home: Path) -> list[Path]:
    """List what has a checkpoint's name; of equal steps the plain name first."""
    atomic.refuse_link(home)
    with atomic.reported("read", home):
        if not home.is_dir():
            return []
        found = [path for path in home.iterdir() if _NAME.fullmatch(path.name)]
    return sorted(
        found, key=lambda path: (_step(path), path.name == "final", not path.suffix), reverse=True
    )


def _step(path: Path) -> int:
    """Return the step a name stands for; a final one that cannot say comes first, and is seen."""
    match = _NAME.fullmatch(path.name)
    step = int(match["step"]) if match and match["step"] else _stored_step(path)
    return _LARGEST_STEP + 1 if step is None else step


def _stored_step(path: Path) -> int | None:
    try:
        return _read_manifest(path).step
    except StorageError:
        return None


def _is_good(path: Path) -> bool:
    try:
        load(path)
    except StorageError:
        return False
    return True


def _is_whole(path: Path, *, newer_than: int) -> bool:
    """Sizes fit; and, for one that is ahead of the run (it was passed over), hashes too."""
    try:
        if _step(path) > newer_than and not _is_good(path):
            return False
        files = _read_manifest(path).files
        return all((path / name).stat().st_size == size for name, (size, _) in files.items())
    except (StorageError, OSError):
        return False


def check_layout(path: Path, layout: object) -> None:
    """Raise unless the files are of this version's layout; the message names one that reads them.

    >>> check_layout(Path("runs/old"), 1)
    Traceback (most recent call last):
    lff.core.errors.StorageError: runs/old was written by lff 0.1; version 0.1 reads it: \
pip install 'learned-fourier-features==0.1.*'
    """
    if layout == 1:
        remedy = "version 0.1 reads it: pip install 'learned-fourier-features==0.1.*'"
        raise StorageError(f"{path} was written by lff 0.1; {remedy}")
    if layout not in (UNSEALED, LAYOUT):
        found = repr(str(layout)[:20])
        raise CorruptError(f"{path} has layout {found}; this version of lff reads layout {LAYOUT}")


def _read_manifest(path: Path) -> _Manifest:
    where = path / MANIFEST
    atomic.refuse_link(path)
    data = atomic.read_json(where, limit=2**20)
    check_layout(where, data.get("layout", data.get("format")))
    try:
        step = data["step"]
        files = {name: (entry["bytes"], entry["sha256"]) for name, entry in data["files"].items()}
        sizes_are_ints = all(type(size) is int and size >= 0 for size, _ in files.values())
    except (LookupError, TypeError, AttributeError):
        raise CorruptError(f"{where} lacks fields; restore or remove {path}") from None
    # two known names and no other: no "../", no absolute path, nothing unlisted
    if {*files} != {TENSORS, META} or not sizes_are_ints or type(step) is not int:
        raise CorruptError(f"{where} names files that are not ours; remove {path}")
    match = _NAME.fullmatch(path.name)
    if step < 0 or (match and match["step"] and int(match["step"]) != step):
        raise CorruptError(f"{where} is of another step than its folder; remove {path}")
    atomic.unseal(data, where, required=data.get("layout") != UNSEALED)
    return _Manifest(step, files)
