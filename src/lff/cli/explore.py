"""``lff explore``: a page to play with, to see what σ does."""

from pathlib import Path

from lff.core.errors import BadInputError


def explore(*, out: Path = Path("explore.html"), force: bool = False) -> None:
    """Write a page with sliders: kernel, spectrum, learning times and a fit, for any σ.

    One file without network; open it in a browser.  Everything is computed there.

    Args:
        out: the page.
        force: also replace a file that is no such page.
    """
    try:
        from lff.report import check_replaceable, write_page
        from lff.report.explorer import explorer_page
    except ImportError:
        remedy = "pip install 'learned-fourier-features[figures]'"
        raise BadInputError("explore", "no matplotlib", "with matplotlib", remedy) from None
    check_replaceable(out, force=force)
    write_page(out, explorer_page())
    print(f"{out}: open it in a browser")  # noqa: T201
