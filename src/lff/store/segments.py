"""Append-only replay: a checkpoint costs only what is new since the last one.

Each ``append`` writes one safetensors file, once.  A checkpoint's meta holds references, plain
JSON, with the SHA-256 that ``read`` checks.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from lff.core.errors import BadInputError, CorruptError
from lff.store import atomic

_NAME = re.compile(r"segment-(\d{9,15})\.safetensors")


@dataclass(frozen=True)
class SegmentRef:
    """One segment: its number, how many rows it holds, and the SHA-256 of its file."""

    segment: int
    count: int
    sha256: str

    @property
    def name(self) -> str:
        """The file's name."""
        return f"segment-{self.segment:09d}.safetensors"

    def to_json(self) -> dict[str, Any]:
        """Return plain data for a checkpoint's meta."""
        return {"segment": self.segment, "count": self.count, "sha256": self.sha256}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Rebuild a reference from a checkpoint's meta."""
        if not _is_ref(data):
            raise CorruptError(
                f"no reference to a segment: {str(data)[:80]!r}; it was not written by lff"
            )
        return cls(data["segment"], data["count"], data["sha256"])


def find_refs(meta: Any) -> Iterator[SegmentRef]:
    """Yield every reference in a checkpoint's meta, wherever the caller put it."""
    if _is_ref(meta):
        yield SegmentRef.from_json(meta)
    elif isinstance(meta, Mapping | list | tuple):
        for value in meta.values() if isinstance(meta, Mapping) else meta:
            yield from find_refs(value)


class SegmentStore:
    """The segments of one run, numbered from 0 in the order of writing.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = SegmentStore(Path(folder.name))
    >>> refs = [store.append({"reward": np.ones(3)}), store.append({"reward": np.zeros(2)})]
    >>> store.read(refs)["reward"]
    array([1., 1., 1., 0., 0.])
    >>> folder.cleanup()
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        atomic.refuse_link(self.folder)
        with atomic.reported("open", self.folder):
            self.folder.mkdir(exist_ok=True)
            self._next = max((number for number, _ in self._files()), default=-1) + 1

    def append(self, arrays: atomic.Arrays) -> SegmentRef:
        """Write rows (equal first axis) as a new segment, durably, and return its reference."""
        counts = {name: len(array) if np.ndim(array) else None for name, array in arrays.items()}
        if len({*counts.values()}) != 1 or None in counts.values():
            remedy = "give every array the same number of rows"
            raise BadInputError("arrays", counts, "rows along an equal first axis", remedy)
        data = atomic.encode(arrays)
        count = next(iter(counts.values())) or 0
        ref = SegmentRef(self._next, count, atomic.sha256(data))
        atomic.write_bytes(self.folder / ref.name, data)
        self._next += 1
        return ref

    def read(self, refs: Sequence[SegmentRef]) -> dict[str, np.ndarray]:
        """Return the rows of these segments in order, every file checked against its hash."""
        parts = [*self.each(refs)]
        kinds = [{n: (x.dtype, x.shape[1:]) for n, x in part.items()} for part in parts]
        for ref, kind in zip(refs, kinds, strict=True):
            if kind != kinds[0]:
                raise CorruptError(f"{self.folder / ref.name} has other arrays than the first")
        names = kinds[0] if kinds else ()
        return {name: np.concatenate([part[name] for part in parts]) for name in names}

    def each(self, refs: Iterable[SegmentRef]) -> Iterator[dict[str, np.ndarray]]:
        """Yield the arrays of each segment, for a replay that fills its own memory."""
        for ref in refs:
            path = self.folder / ref.name
            data = atomic.read_bytes(path)
            if atomic.sha256(data) != ref.sha256:
                raise CorruptError(f"{path} is not what was written; restore it from a backup")
            arrays = atomic.decode(data, path)
            if any(array.ndim == 0 or len(array) != ref.count for array in arrays.values()):
                raise CorruptError(f"{path} lacks the {ref.count} rows of its reference")
            yield arrays

    def rewind(self, refs: Iterable[SegmentRef], *, protected: Iterable[SegmentRef] = ()) -> int:
        """Delete what was written after these (by a run that was killed); return how many.

        The next segment then gets the number it would have had without the interruption.
        """
        atomic.remove_temporaries(self.folder)
        last = max((ref.segment for ref in refs), default=-1)
        removed = self._remove({n for n, _ in self._files() if n > last}, protected)
        self._next = max(last, *(number for number, _ in self._files()), -1) + 1
        return removed

    def drop_before(self, first: SegmentRef, *, protected: Iterable[SegmentRef]) -> int:
        """Delete segments older than ``first`` except the protected ones; return how many.

        A bounded replay needs nothing before ``first``; kept checkpoints may: pass their
        references, which :func:`find_refs` finds in their metas.
        """
        return self._remove({n for n, _ in self._files() if n < first.segment}, protected)

    def _remove(self, numbers: set[int], protected: Iterable[SegmentRef]) -> int:
        doomed = numbers - {ref.segment for ref in protected}
        atomic.remove(path for number, path in self._files() if number in doomed)
        if doomed:
            atomic.sync_folder(self.folder)
        return len(doomed)

    def _files(self) -> list[tuple[int, Path]]:
        with atomic.reported("read", self.folder):
            matches = [(_NAME.fullmatch(path.name), path) for path in self.folder.iterdir()]
        return sorted((int(match[1]), path) for match, path in matches if match)


def _is_ref(data: Any) -> bool:
    return (
        isinstance(data, Mapping)
        and data.keys() == {"segment", "count", "sha256"}
        and type(data["segment"]) is int
        and 0 <= data["segment"] < 10**15
        and type(data["count"]) is int
        and data["count"] >= 0
        and isinstance(data["sha256"], str)
    )
