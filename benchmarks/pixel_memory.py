"""The highest resident memory of two updates, in a process of its own."""

import ctypes
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pixel_loops import Ours, Rad, Setting, random_batch

MIB = 2**20


def peak_of_update(setting: Setting, kind: str) -> float:
    """Return by how many MiB two updates, one with the actor, rise above the memory before them.

    Two others came first: weights, moments, compiled code are there, and what was freed has been
    given back to the system.
    """
    batch = random_batch(setting)
    if kind == "rad":
        loop = Rad(setting)
        batch = loop.as_batch(batch)
    else:
        loop = Ours(setting, compiled=kind == "ours")
    loop.update_pair(batch)
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the highest value is counted anew from here
    before = _resident("VmRSS")
    loop.update_pair(batch)
    return round((_resident("VmHWM") - before) / MIB, 1)


def peaks(command: Sequence[str], kinds: Sequence[str]) -> dict[str, float]:
    """Return the peak of each kind, measured one after another by children of this process."""
    found = {}
    for kind in kinds:
        done = subprocess.run(
            [sys.executable, *command, "--child", kind], capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(done.stderr)
        found[kind] = float(done.stdout.split()[-1])
        print(f"  peak of an update, {kind:6s} {found[kind]:8.0f} MiB", flush=True)
    return found


def _resident(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return 1024 * int(line.split()[1])
    raise ValueError(f"no {name} here: the memory is measured on Linux alone")
