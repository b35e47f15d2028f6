"""``lff explore``: an interactive page on what σ does."""

from pathlib import Path

from lff.cli.files import require_figures


def explore(*, out: Path = Path("explore.html"), force: bool = False) -> None:
    """Write a page with sliders: kernel, spectrum, learning times and a fit, for any σ.

    One file without network; open it in a browser.  Everything is computed there.

    Args:
        out: the page.
        force: also replace a file that is not such a page.
    """
    require_figures("explore")
    from lff.report import check_replaceable, write_page
    from lff.report.explorer import explorer_page

    check_replaceable(out, force=force)
    write_page(out, explorer_page())
    print(f"{out}: open it in a browser")  # noqa: T201
