"""Pages of experiments and runs in a real browser: policy, hostile names, phone, light and dark."""

import base64

import numpy as np
import pytest
from PIL import Image

from lff.report import Entry, run_page, write_page, write_site
from lff.report.style import dark_of
from lff.runs.read import read_run
from tests.report import tables
from tests.report.runs import make_run
from tests.system.browser import Browser

pytestmark = pytest.mark.system

PHONE = 390


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page of an experiment, of two runs with hostile names, and the index of a site."""
    folder = tmp_path_factory.mktemp("pages")
    made, rows = tables.experiment(), tables.rows()
    hostile = tables.rows(tasks=(tables.HOSTILE,), variants={tables.HOSTILE: 50.0, "LFF": 100.0})
    verdicts = tables.verdicts(made, rows)
    given = {"scale": "laptop", "provenance": tables.PROVENANCE, "verdicts": verdicts}
    bad = tables.experiment(
        title=tables.HOSTILE, source=tables.HOSTILE, notes=tables.HOSTILE, sentences={}
    )
    said = {"scale": "smoke", "provenance": {tables.HOSTILE: tables.HOSTILE}, "verdicts": {}}
    runs = [
        read_run(make_run(folder / "run"), name="good run"),
        read_run(make_run(folder / "other", seed=1, env=tables.HOSTILE), name=tables.HOSTILE),
    ]
    found = {
        "experiment": Entry(experiment=made, rows=rows, **given).page(),
        "hostile": Entry(experiment=bad, rows=hostile, **said).page(),
        "runs": run_page(runs),
    }
    for name, text in found.items():
        write_page(folder / f"{name}.html", text)
    entries = [
        Entry(experiment=made, rows=rows, **given),
        Entry(experiment=tables.experiment(name="fig9", title=tables.HOSTILE)),
    ]
    write_site(folder / "site", entries)
    paths = {name: folder / f"{name}.html" for name in found}
    return paths | {"index": folder / "site/index.html", "linked": folder / "site/fig8.html"}


NAMES = ("experiment", "hostile", "runs", "index", "linked")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_runs_loads_or_complains(name, pages, browser):
    browser.open(pages[name])
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []
    assert browser.evaluate("document.title") != "owned"
    assert browser.evaluate("document.scripts.length") == 0
    assert browser.evaluate("document.querySelectorAll('iframe,object,[style]').length") == 0
    sources = browser.evaluate("[...document.images].map(i => i.currentSrc)")
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)


@pytest.mark.parametrize("name", ["hostile", "runs", "index"])
def test_a_hostile_name_is_shown_as_it_is(name, pages, browser):
    browser.open(pages[name])
    assert browser.evaluate("document.title") != "owned"
    assert tables.HOSTILE in browser.evaluate("document.body.textContent")


def test_the_policy_stops_what_escaping_would_let_through(pages, browser, tmp_path):
    """The second wall: a script and a style that somehow got into the page do nothing."""
    text = pages["experiment"].read_text()
    script = "<script>document.title='owned'</script><h1 style='color:red'>x</h1>"
    broken = tmp_path / "broken.html"
    broken.write_text(text.replace("<main>", f"<main>{script}"))
    browser.open(broken)
    assert browser.evaluate("document.title").startswith("fig8")
    assert len([words for words in browser.complaints if "Content Security Policy" in words]) == 2


@pytest.mark.parametrize("name", NAMES)
def test_a_phone_need_not_scroll_sideways(name, pages, browser):
    browser.open(pages[name], width=PHONE, height=844)
    assert browser.evaluate("innerWidth") == PHONE
    assert browser.evaluate("document.documentElement.scrollWidth") <= PHONE
    widest = "Math.max(...[...document.querySelectorAll('figure,.scroll,h1,.card')]"
    assert browser.evaluate(f"{widest}.map(e => e.getBoundingClientRect().right))") <= PHONE
    scales = "[...document.images].map(i => i.getBoundingClientRect().width / i.naturalWidth)"
    if name in ("experiment", "runs"):
        tick = 8 * 4 / 3  # pixels of 8 points
        assert tick * min(browser.evaluate(scales)) > 9  # ticks can be read


def test_figures_have_their_lines(pages, browser):
    browser.open(pages["experiment"])
    widths = "[...document.images].map(i => i.naturalWidth && i.getBoundingClientRect().width)"
    assert [width > 250 for width in browser.evaluate(widths)] == [True] * 10  # 5 panels, 2 tasks
    drawn = "getComputedStyle(document.querySelector('.legend path.s0')).stroke"
    assert browser.evaluate(drawn) == "rgb(107, 114, 128)"  # the first variant, a baseline
    for dark, color in ((False, "#0b6bcb"), (True, dark_of("#0b6bcb"))):
        browser.open(pages["experiment"], dark=dark)
        source = browser.evaluate("document.images[0].currentSrc")
        assert color in base64.b64decode(source.partition(",")[2]).decode()


@pytest.mark.parametrize("width", [1280, PHONE])
@pytest.mark.parametrize("name", ["experiment", "index"])
def test_verdicts_are_a_forest_plot_below_the_figure(name, width, pages, browser):
    browser.open(pages[name], width=width)
    bars = browser.evaluate(_BARS)
    assert len(bars) == 3  # of four claims one has no interval
    for bar in bars:
        assert bar["left"] >= bar["frame"][0] - 0.5
        assert bar["right"] <= bar["frame"][1] + 0.5
        assert bar["left"] < bar["dot"] < bar["right"]
    middles = [bar["bound"] for bar in bars]
    assert max(middles) - min(middles) < 1  # what was asked for is at one place
    assert bars[0]["left"] > bars[0]["bound"]  # supported: right of it
    assert bars[1]["right"] < bars[1]["bound"]  # contradicted: left of it
    assert bars[2]["left"] < bars[2]["bound"] < bars[2]["right"]
    shown = "document.querySelector('.verdict .because').checkVisibility()"
    assert browser.evaluate(shown) is False
    browser.evaluate("document.querySelector('.verdict summary').click()")
    assert browser.evaluate(shown) is True
    if name == "experiment":
        tops = "[...document.querySelectorAll('picture,.forest')].map(e => e.className || 'figure')"
        assert browser.evaluate(tops)[:5] == ["figure"] * 4 + ["forest"]


_BARS = """
[...document.querySelectorAll('.bars')].map(svg => {
  const frame = svg.getBoundingClientRect();
  const line = svg.querySelector('.range line').getBoundingClientRect();
  const dot = svg.querySelector('circle').getBoundingClientRect();
  const bound = svg.querySelector('.bound').getBoundingClientRect();
  return {frame: [frame.left, frame.right], left: line.left, right: line.right,
          dot: (dot.left + dot.right) / 2, bound: (bound.left + bound.right) / 2};
})
"""


@pytest.mark.parametrize("name", ["experiment", "runs", "index"])
@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark_can_be_read(name, dark, pages, browser, tmp_path):
    browser.open(pages[name], dark=dark)
    with Image.open(browser.screenshot(tmp_path / f"{name}.png")) as image:
        grey = np.asarray(image.convert("L"), dtype=float)
    ground = np.median(grey)
    assert (ground < 40) if dark else (ground > 235)
    ink = grey.max() if dark else grey.min()
    assert abs(ink - ground) > 180
    colors = browser.evaluate(_CONTRASTS)
    assert min(colors) >= 4.5, colors  # what the accessibility guidelines ask for


_CONTRASTS = """
(() => {
  const light = rgb => {
    const [r, g, b] = rgb.match(/[\\d.]+/g).slice(0, 3)
      .map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = e => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor;
      if (c !== "rgba(0, 0, 0, 0)") return c;
    }
    return "rgb(255, 255, 255)";
  };
  const words = "h1,p,th,td,.chip,.mark,.says,.value,a,figcaption,li,code";
  return [...document.querySelectorAll(words)].map(e => {
    const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  });
})()
"""
