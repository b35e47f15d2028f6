"""Pages of stress reports in a real browser: phone, policy, light and dark."""

import pytest

from lff.report import write_comparison, write_stress_page
from tests.report import stresses, tables
from tests.system.browser import Browser
from tests.system.test_report import _CONTRASTS, PHONE

pytestmark = pytest.mark.system

NAMES = ("card", "hostile", "comparison")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    paths = {name: folder / f"{name}.html" for name in NAMES}
    write_stress_page(stresses.report(), paths["card"])
    name = "x" * 200 + tables.HOSTILE
    hostile = stresses.report(name, keys=["noise", "rank"], is_quick=True, summary=name)
    write_stress_page(hostile, paths["hostile"])
    made = [stresses.report(f"network {i}", factor=1 + i / 5) for i in range(7)]
    write_comparison([*made, hostile], paths["comparison"])
    return paths


@pytest.mark.parametrize("name", NAMES)
def test_nothing_runs_loads_or_complains(name, pages, browser):
    browser.open(pages[name])
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []
    assert browser.evaluate("document.title") != "owned"
    assert browser.evaluate("document.scripts.length") == 0
    broken = "[...document.images].filter(i => !i.naturalWidth).length"
    assert browser.evaluate(broken) == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_phone_need_not_scroll_sideways(name, pages, browser):
    browser.open(pages[name], width=PHONE, height=844)
    assert browser.evaluate("document.documentElement.scrollWidth") <= PHONE
    ends = "[...document.querySelectorAll('h1,h2,p,figure,.strips>li>*,.scroll,.legend li')]"
    assert (
        browser.evaluate(f"Math.max(...{ends}.map(e => e.getBoundingClientRect().right))") <= PHONE
    )
    words = "[...document.querySelectorAll('.what,.result,.chip')]"
    cut = f"{words}.filter(e => e.clientWidth && e.scrollWidth > e.clientWidth + 1).length"
    assert browser.evaluate(cut) == 0


def test_the_top_fits_one_screen_and_marks_do_not_touch(pages, browser):
    browser.open(pages["card"], width=1280, height=800)
    bottom = "document.querySelector('.strips').getBoundingClientRect().bottom"
    assert browser.evaluate(bottom) <= 800
    for row in browser.evaluate(_MARKS):
        assert row["tested"] == 1
        assert len(row["dots"]) == 3
        for i, (x, y) in enumerate(row["dots"]):
            for other_x, other_y in row["dots"][:i]:
                assert abs(x - other_x) > 10 or abs(y - other_y) > 10
        assert all(row["frame"][0] <= x <= row["frame"][1] for x, _ in row["dots"])


_MARKS = """
[...document.querySelectorAll('.strip')].map(strip => {
  const frame = strip.getBoundingClientRect();
  const dots = [...strip.querySelectorAll('.hollow')].map(e => e.getBoundingClientRect());
  return {frame: [frame.left, frame.right],
          tested: strip.querySelectorAll('.f0').length,
          dots: dots.map(r => [(r.left + r.right) / 2, (r.top + r.bottom) / 2])};
})
"""


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["card", "comparison"])
def test_light_and_dark_can_be_read(name, dark, pages, browser):
    browser.open(pages[name], dark=dark)
    colors = browser.evaluate(_CONTRASTS.replace(".chip", ".chip,.cell,.what,.result"))
    assert min(colors) >= 4.5, colors
