"""How much memory is free, and whether something large fits before it is asked for."""

from pathlib import Path

from lff.core.errors import BadInputError


def available_memory(
    info: Path = Path("/proc/meminfo"), group: Path = Path("/sys/fs/cgroup")
) -> int | None:
    """Return the free bytes, by the kernel and by the control group, the smaller one.

    What the group holds as a cache of files is free, too: the kernel gives it up when asked.
    """
    found = [1024 * size for size in _numbers(info, "MemAvailable:")]
    limit, used = (
        system_file(group / "memory.max").strip(),
        system_file(group / "memory.current").strip(),
    )
    if limit.isdigit() and used.isdigit():
        cached = sum(_numbers(group / "memory.stat", "inactive_file"))
        found.append(max(0, int(limit) - max(0, int(used) - cached)))
    return min(found, default=None)


def check_memory(
    needed: int, available: int | None, *, what: str = "this", remedy: str = "free some"
) -> None:
    """Raise unless ``needed`` bytes are available; unknown (None) passes.

    >>> check_memory(3_061_920_000, 2_000_000_000, what="the replay")
    Traceback (most recent call last):
        ...
    lff.core.errors.BadInputError: GB of memory for the replay must be at most the 2.0 that are \
free, got 3.06; free some
    """
    if available is not None and needed > available:
        constraint = f"at most the {round(available / 1e9, 2)} that are free"
        raise BadInputError(f"GB of memory for {what}", round(needed / 1e9, 2), constraint, remedy)


def _numbers(path: Path, label: str) -> list[int]:
    lines = (line.split() for line in system_file(path).splitlines())
    return [int(words[1]) for words in lines if len(words) > 1 and words[0] == label]


def system_file(path: Path) -> str:
    """Return the text of a file by which the system describes itself; empty if it lacks one."""
    try:
        return path.read_text()
    except OSError:
        return ""
