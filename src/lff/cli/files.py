"""Checks of files that a command will write, and of the packages that draw them."""

from pathlib import Path

from lff.core.errors import BadInputError


def check_out(out: Path, *, force: bool, suffix: str = "") -> None:
    """Raise, before any work is done, if a file cannot or must not be written."""
    if suffix and out.suffix != suffix:
        raise BadInputError("file", str(out), f"a {suffix} file", f"use curves{suffix}, say")
    if out.is_dir():
        raise BadInputError("file", str(out), "a file, not a folder", "name a file in it")
    if out.exists() and not force:
        raise BadInputError("file", str(out), "a new file", "use another name, or --force")
    if not out.parent.is_dir():
        raise BadInputError("file", str(out), "in a folder that is there", "make the folder first")


def require_figures(what: str) -> None:
    """Raise unless the packages of the extra ``figures`` are installed."""
    try:
        import lff.report  # noqa: F401
    except ImportError as error:
        remedy = "pip install 'learned-fourier-features[figures]'"
        raise BadInputError(what, f"no {error.name}", "drawn by matplotlib", remedy) from None
