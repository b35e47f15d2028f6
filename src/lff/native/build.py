"""Builds the native update with the C++ compiler, once, and keeps it in the user's cache.

A library is named by a digest of everything that decides its code: sources, sizes, flags, compiler,
and what the compiler makes of this processor.  It is written under another name and then renamed,
so that two processes that build the same one both succeed.  Libraries are loaded from this folder
alone, never from a run directory, and not if anyone else could have written there.
"""

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from lff.core.checks import check_choice
from lff.core.errors import BadInputError, RunError

Target = Literal["native", "x86-64-v3"]
Main = Literal["sac.cpp", "policy.cpp"]
SOURCES = Path(__file__).parent
FLAGS = (
    "-std=c++20",
    "-O3",
    "-fPIC",
    "-shared",
    "-pthread",
    "-fno-math-errno",
    "-ffp-contract=fast",
    "-fvisibility=hidden",
    "-Wno-psabi",
)
"""No -ffast-math: NaN and infinity must come through.  Symbols are hidden because two libraries in
one process have structs of the same names and other sizes."""
OTHERS_MAY_WRITE = 0o022
LONGEST_BUILD = 600


class BuildError(RunError):
    """The compiler refused, which is a bug in our sources or in the compiler."""


@dataclass(frozen=True)
class Origin:
    """The origin of a library: equal origins give the same bits."""

    key: str
    """A digest of all that decides the bits: sources, sizes, flags, compiler, processor."""
    target: Target
    compiler: str


def find_compiler() -> str | None:
    """Return the path of the C++ compiler (``$CXX``, else g++), None if there is none."""
    default = "clang++" if sys.platform == "darwin" else "g++"
    return shutil.which(os.environ.get("CXX") or default)


def need_compiler(wanted: str = "native") -> str:
    """Return the path of the C++ compiler, or refuse to compile."""
    compiler = find_compiler()
    if compiler is None:
        remedy = "install g++, or use --compile off"
        raise BadInputError("compile", wanted, "possible here: no C++ compiler found", remedy)
    return compiler


def machine_flags(target: Target) -> tuple[str, ...]:
    """Return the flags that choose a processor."""
    check_choice("target", target, get_args(Target))
    return ("-march=native",) if target == "native" else ("-march=x86-64-v3", "-mtune=generic")


@cache
def compiler_identity(compiler: str, target: Target) -> tuple[str, str]:
    """Return the compiler's version, and a digest of it with what it makes of the processor."""
    command = [compiler, *machine_flags(target), "-v", "-E", "-x", "c++", os.devnull]
    plain = {**os.environ, "LC_ALL": "C"}  # a translated line would not be found
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60, env=plain
    )
    lines = done.stderr.splitlines()
    if done.returncode:
        reason = lines[-1] if lines else "no message"
        raise BuildError(f"{compiler} cannot build for {target}: {reason}")
    version = next((line for line in lines if " version " in line), "unknown version")
    inner = [line for line in lines if "cc1plus" in line or "-cc1" in line]
    text = "\n".join([version, *inner])
    return version.strip(), hashlib.sha256(text.encode()).hexdigest()


def sources() -> dict[str, str]:
    """Return the C++ sources by name."""
    files = sorted(SOURCES.glob("*.[ch]pp"))
    return {file.name: file.read_text(encoding="utf-8") for file in files}


def origin_of(header: str, target: Target = "native", main: Main = "sac.cpp") -> Origin:
    """Return what a library for these sizes would be made by, without building it."""
    version, identity = compiler_identity(need_compiler(), target)
    digest = hashlib.sha256()
    flags = " ".join((*FLAGS, *machine_flags(target)))
    for text in (flags, identity, main, header, *(f"{n}\0{code}" for n, code in sources().items())):
        digest.update(f"{len(text)}\0{text}".encode())
    return Origin(key=digest.hexdigest()[:32], target=target, compiler=version)


def cache_dir(kind: str = "native") -> Path:
    """Return where libraries, or another kind of compiled code, are kept."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "lff" / kind


def make_cache_dir(kind: str = "native") -> Path:
    """Return the folder, made if need be, for the user alone."""
    folder = cache_dir(kind)
    for place in (folder.parent, folder):  # one by one: parents would be made by the umask
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def checked_cache_dir() -> Path:
    """Return the folder of libraries, made if need be, or raise if others can write to it."""
    try:
        folder = make_cache_dir()
    except OSError as error:
        remedy = "set XDG_CACHE_HOME to a folder of your own"
        raise BadInputError("the build cache", str(cache_dir()), "writable", remedy) from error
    for place in (folder.parent, folder):
        _check_own(place)
    return folder


def _check_own(place: Path) -> None:
    """Refuse a file or folder that someone else could have written."""
    status = place.stat()
    if status.st_uid != os.getuid() or status.st_mode & OTHERS_MAY_WRITE:
        remedy = f"run: chmod go-w '{place}', or set XDG_CACHE_HOME to a folder of your own"
        raise BadInputError("the build cache", str(place), "writable by you alone", remedy)


def build(header: str, target: Target = "native", main: Main = "sac.cpp") -> tuple[Path, Origin]:
    """Return the library for these sizes, built if it is not in the cache."""
    origin = origin_of(header, target, main)
    folder = checked_cache_dir()
    library = folder / f"{origin.key}.so"
    if not library.exists():
        compile_to(library, {**sources(), "shape.hpp": header}, target, main)
    _check_own(library)
    return library, origin


def compile_to(library: Path, files: Mapping[str, str], target: Target, main: Main) -> None:
    """Compile the sources into a folder of their own, then move the library into its place."""
    with tempfile.TemporaryDirectory(dir=library.parent, prefix=".build-") as place:
        folder = Path(place)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        made = folder / "made.so"
        command = [need_compiler(), *FLAGS, *machine_flags(target), "-o", str(made)]
        command.append(str(folder / main))
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=LONGEST_BUILD
            )
        except subprocess.TimeoutExpired as error:
            raise BuildError(f"the compiler took more than {LONGEST_BUILD} s") from error
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error" in line]
            reason = (errors or done.stderr.splitlines() or ["no message"])[0]
            raise BuildError(f"the native update does not compile: {reason}")
        made.chmod(0o700)
        with made.open("rb") as stream:  # whole on disk before it gets its name
            os.fsync(stream.fileno())
        made.replace(library)


def load(
    header: str, target: Target = "native", main: Main = "sac.cpp"
) -> tuple[ctypes.CDLL, Origin]:
    """Return the library for these sizes, ready to be called; a broken file is built again."""
    library, origin = build(header, target, main)
    try:
        return ctypes.CDLL(str(library)), origin
    except OSError:
        library.unlink(missing_ok=True)
    library, origin = build(header, target, main)
    return ctypes.CDLL(str(library)), origin
