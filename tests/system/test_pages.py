"""The documentation as a reader sees it: built, and opened in a real browser."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.programs import require

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "-b",
        "html",
        str(ROOT / "docs"),
        str(folder),
    ]
    subprocess.run(command, check=True)
    return folder


def open_page(page, profile, *, script=""):
    """Return the page's document after the browser has laid it out and run ``script``."""
    browser = require("chromium", package="chromium")
    if script:
        html = page.read_text().replace("</body>", f"<script>{script}</script></body>")
        page = page.with_name(f"probe-{page.name}")
        page.write_text(html)
    command = [browser, *QUIET, f"--user-data-dir={profile}", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


def test_equations_are_drawn_without_script_or_network(site, tmp_path):
    script = """
    const drawn = [...document.querySelectorAll("math")]
        .map(m => m.getBoundingClientRect()).filter(r => r.width > 5 && r.height > 5).length;
    document.body.dataset.drawn = drawn + " of " + document.querySelectorAll("math").length;
    """
    dom = open_page(site / "api" / "layer.html", tmp_path, script=script)
    drawn, total = map(int, re.search(r'data-drawn="(\d+) of (\d+)"', dom).groups())
    assert drawn == total >= 4


def test_pictures_are_loaded(site, tmp_path):
    script = """
    document.body.dataset.widths =
        [...document.querySelectorAll("article img")].map(i => i.naturalWidth).join(" ");
    """
    dom = open_page(site / "paper-map.html", tmp_path, script=script)
    widths = re.search(r'data-widths="([\d ]+)"', dom).group(1).split()
    assert len(widths) == (ROOT / "docs/paper-map.md").read_text().count("![")
    assert all(int(width) > 300 for width in widths)


def test_pages_load_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        sources = re.findall(r'<(?:script|img|iframe)[^>]*src="([^"]+)"', page.read_text())
        sources += re.findall(r'<link[^>]*rel="stylesheet"[^>]*href="([^"]+)"', page.read_text())
        assert not [s for s in sources if s.startswith(("http:", "https:", "//"))], page.name


def test_no_equation_is_left_as_source(site):
    """A bar inside a table's equation ends the cell, and the rest of it shows as dollars."""
    for page in site.rglob("*.html"):
        text = re.sub(r"<(pre|code|script|style).*?</\1>", "", page.read_text(), flags=re.S)
        assert "$" not in text, page.name


def test_api_names_every_public_name(site):
    import lff

    text = "".join(page.read_text() for page in (site / "api").glob("*.html"))
    for name in lff.__all__:
        assert re.search(rf'id="lff\.{name}"', text), name


def test_search_works_on_pages_that_are_opened_as_files(site, tmp_path):
    """Results are listed without a server, guides before names of the API."""
    browser = require("chromium", package="chromium")
    address = f"{(site / 'search.html').as_uri()}?q=sigma"
    command = [browser, *QUIET, f"--user-data-dir={tmp_path}", "--virtual-time-budget=20000"]
    done = subprocess.run(
        [*command, "--dump-dom", address], capture_output=True, text=True, timeout=120, check=True
    )
    links = re.findall(r'<a href="([^"]+)" data-score', done.stdout)
    assert links[0].startswith("sigma.html")
    assert any("lff.auditing.advise_sigma" in link for link in links)
