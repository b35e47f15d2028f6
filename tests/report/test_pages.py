"""Pages as text: escaped, the same on every call, with the numbers of the table."""

import base64
import dataclasses
import hashlib
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from lff.core import BadInputError, CorruptError
from lff.experiments.spec import Panel
from lff.report import (
    Entry,
    draw_experiment,
    run_page,
    write_page,
    write_site,
)
from lff.report.html import number, render
from lff.report.site import diagnostics, summarize
from lff.report.style import dark_of, run_colors, variant_colors
from lff.runs.read import names_of, read_run
from lff.stats import RETURN, Published, Verdict, t_interval
from lff.store import RunDir
from lff.training.contact_sheet import FILE, draw_sheet
from tests.report import tables
from tests.report.runs import make_run

ROLES = dict(zip(tables.VARIANTS, tables.ROLES, strict=True))


class Seen(HTMLParser):
    """What a parser makes of a page: its tags, their attributes, its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []
        self.feed(text)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.words.append(data)


def check_safe(text):
    """No script, no handler, no address that leaves the page, no style but the one allowed."""
    seen = Seen(text)
    assert not {"script", "iframe", "object", "base", "form"} & set(seen.tags)
    names = {name for name, _ in seen.attributes}
    assert not [name for name in names if name.startswith("on") or name == "style"]
    for name, value in seen.attributes:
        if name in ("href", "src", "srcset"):
            inside = r"data:,|data:image/(png|svg\+xml);base64,[\w+/=]+|[a-z0-9-]+\.html|#[\w-]+"
            assert re.fullmatch(inside, value), value
    for image in images(text):
        check_image(image)
    (style,) = re.findall(r"<style>(.*?)</style>", text, flags=re.S)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert "http-equiv" in names
    assert text.index("Content-Security-Policy") < text.index("<style>")
    expected = f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'"
    assert expected in text
    assert "http://" not in text
    assert "https://" not in text
    return seen


def images(text):
    """Return the figures of a page as SVG, light and dark in turn as they come."""
    found = re.findall(r'"data:image/svg\+xml;base64,([^"]*)"', text)
    return [base64.b64decode(data).decode() for data in found]


def check_image(svg):
    """No script, no handler, nothing from elsewhere; names are text."""
    seen = Seen(svg)
    assert not {"script", "foreignobject", "a", "iframe"} & set(seen.tags)
    for name, value in seen.attributes:
        assert not name.startswith("on")
        if name.endswith("href"):
            assert re.fullmatch(r"#\w+|data:image/png;base64,[\w+/=\s]+", value), value


@pytest.fixture(scope="module")
def made():
    return tables.experiment(), tables.rows()


@pytest.fixture(scope="module")
def small():
    experiment = tables.experiment(metrics=(RETURN,), panels=(), sentences={})
    return experiment, [
        row for row in tables.rows(tasks=tables.TASKS[:1]) if row.metric == "return"
    ]


def make_page(experiment, rows, **changes):
    verdicts = tables.verdicts(experiment, rows)
    given = {"scale": "laptop", "provenance": tables.PROVENANCE, "verdicts": verdicts}
    return Entry(experiment=experiment, rows=rows, **(given | changes)).page()


@pytest.fixture(scope="module")
def text(made):
    return make_page(*made)


def test_strings_are_escaped_as_text_and_as_attribute():
    given = {"run": [], "waiting": [], "groups": {}}
    text = render(
        "index.html", title=tables.HOSTILE, home="index.html", small=tables.HOSTILE, **given
    )
    assert check_safe(text).text.count(tables.HOSTILE) == 2
    text = render("index.html", title="x", home=tables.HOSTILE, small="", **given)
    assert ("href", tables.HOSTILE) in Seen(text).attributes
    assert "<script" not in text


def test_the_page_tells_question_verdicts_and_origin(text):
    seen = check_safe(text)
    for words in (
        "Does LFF learn without a target network, where an MLP diverges?",
        "Source: Figure 8.",
        "Small scale, not the paper's numbers",
        "✓ supported here",
        "✗ contradicted here",
        "? undecided here",
        "– no signal",
        "paper, empirical",
        "MLPs consistently fail to learn",
        "dmc/cheetah-run: 12.3 [10.1, 14.5], n=5",
        "lff experiment run fig8 --scale laptop",
        "2.13.0+cpu",
        "Two of the paper's four tasks",
    ):
        assert words in seen.text, words


def test_the_paper_scale_carries_no_warning(small):
    assert "Small scale" in make_page(*small, scale="smoke")
    assert "Small scale" not in make_page(*small, scale="paper")


def test_numbers_are_those_of_the_table(made, text):
    _, rows = made
    wanted = ("LFF, no target", "dmc/walker-run", "return", 24_000)
    values = [r.value for r in rows if (r.variant, r.task, r.metric, r.step) == wanted]
    assert len(values) == 5
    interval = t_interval(values)
    shown = [
        f"{np.mean(values):.4g}",
        f"[{interval.low:.4g}, {interval.high:.4g}]",
        f"{np.mean(sorted(values)[1:-1]):.4g}",
        f"{min(values):.4g}",
        f"{max(values):.4g}",
        "5",
    ]
    cells = "".join(f'<td class="number">{value}</td>' for value in shown)
    assert f'<th scope="row">LFF, no target</th>{cells}</tr>' in text


def test_a_seed_that_diverged_is_told(text):
    assert "5, 1 not finite" in text
    assert summarize([1.0, 2.0, np.inf, 3.0]) == ["∞", "–", "2.5", "1", "∞", "4, 1 not finite"]
    assert number(-np.inf) == "−∞"


def test_the_same_table_gives_the_same_bytes(made, text):
    assert make_page(*made) == text


def test_each_figure_has_a_light_and_a_dark_image(text):
    drawn = images(text)
    assert text.count('class="plot"') == text.count("<picture>") == 10
    assert len(drawn) == 20
    for dark, light in zip(drawn[::2], drawn[1::2], strict=True):
        colors = [
            color for color in variant_colors(tables.VARIANTS, ROLES).values() if color in light
        ]
        assert len(colors) >= 2
        assert all(dark_of(color) in dark and color not in dark for color in colors)
        assert dark.startswith(light[: light.index("<svg ")])
        assert f'<svg fill="{dark_of("#000000")}" ' in dark  # text, which has no colour of its own


def test_hostile_names_stay_names():
    rows = tables.rows(tasks=(tables.HOSTILE,), variants={tables.HOSTILE: 50.0, "LFF": 100.0})
    words = {"title": tables.HOSTILE, "source": tables.HOSTILE, "notes": tables.HOSTILE}
    bad = tables.Given(
        Verdict(tables.HOSTILE, tables.HOSTILE, (tables.HOSTILE,), marks=(tables.HOSTILE,)),
        quote=tables.HOSTILE,
    )
    experiment = tables.experiment(
        sentences={f"{tables.HOSTILE}: {tables.HOSTILE}": bad}, panels=(Panel(RETURN),), **words
    )
    provenance = {tables.HOSTILE: {tables.HOSTILE: tables.HOSTILE}}
    seen = check_safe(make_page(experiment, rows, provenance=provenance))
    descriptions = [value for name, value in seen.attributes if name == "alt"]
    assert all(tables.HOSTILE in words for words in descriptions)
    assert len(descriptions) == 5
    assert seen.text.count(tables.HOSTILE) >= 15


def test_diagnostics_are_what_no_panel_shows(made):
    experiment, rows = made
    assert diagnostics(experiment, rows) == [
        Panel(tables.Q_ERROR),
        Panel(tables.B_STD, log=True),
        Panel(tables.B_BINS, kind="histogram"),
    ]


def test_published_scores_have_their_sources(small):
    score = Published(
        task="cheetah-run", algorithm="SAC", env_steps=10**6, score=777.0, spread=None, seeds=3,
        source=tables.HOSTILE,
    )  # fmt: skip
    seen = check_safe(make_page(*small, published=[score]))
    assert "SAC" in seen.text
    assert "1,000,000" in seen.text
    assert tables.HOSTILE in seen.text


def test_an_experiment_is_drawn_as_rows_of_panels_and_columns_of_tasks(made):
    experiment, rows = made
    figure = draw_experiment(experiment, rows)
    assert len(figure.axes) == 4
    returns, _, sizes, _ = figure.axes
    assert [axis.get_title() for axis in figure.axes[:2]] == list(tables.TASKS)
    assert [line.get_label() for line in returns.lines[:5]] == list(tables.VARIANTS)
    floor = [r.value for r in rows if (r.variant, r.task) == ("random policy", tables.TASKS[0])]
    assert returns.lines[5].get_ydata()[0] == pytest.approx(np.mean(floor))
    assert sizes.get_yscale() == "log"
    paper = draw_experiment(experiment, rows, as_paper=True).axes[0]
    widths = [
        np.ptp(axis.collections[1].get_paths()[0].vertices[:, 1]) for axis in (returns, paper)
    ]
    assert widths[1] < widths[0]


def test_without_rows_nothing_is_drawn():
    with pytest.raises(BadInputError, match="lff experiment run fig8"):
        draw_experiment(tables.experiment(), [])


def test_a_site_has_an_index_and_the_pages_that_were_run(small, tmp_path):
    experiment, rows = small
    waiting = tables.experiment(name="fig9", title=tables.HOSTILE)
    run = Entry(
        experiment=experiment, scale="laptop", rows=rows, verdicts=tables.verdicts(experiment, rows)
    )
    paths = write_site(tmp_path / "site", [run, Entry(experiment=waiting)])
    assert [path.name for path in paths] == ["fig8.html", "index.html"]
    index = check_safe(paths[1].read_text())
    assert ("href", "fig8.html") in index.attributes
    assert "lff experiment run fig9 --scale laptop" in index.text
    assert "1 of 2 experiments have been run" in index.text
    assert "not run yet : fig9" in index.text
    assert "The paper's experiments · 4 not run" in index.text
    assert ("href", "index.html") in check_safe(paths[0].read_text()).attributes
    with pytest.raises(BadInputError, match="lower-case"):
        write_site(tmp_path, [Entry(experiment=tables.experiment(name="../x"), scale="laptop")])


def test_the_index_is_a_forest_plot_of_all_claims_by_whose_they_are(made, tmp_path):
    experiment, rows = made
    claims = experiment.sentences | {"C-8x: Ours.": tables.above(tables.LFF, "MLP, no target")}
    claims["C-8x: Ours."] = dataclasses.replace(claims["C-8x: Ours."], whose="ours")
    experiment = dataclasses.replace(experiment, sentences=claims, panels=(), metrics=(RETURN,))
    verdicts = tables.verdicts(experiment, rows)
    run = Entry(experiment=experiment, scale="laptop", rows=rows, verdicts=verdicts)
    text = write_site(tmp_path, [run])[-1].read_text()
    index = check_safe(text)
    headings = re.findall(r"<h2>([^<]*)</h2>", text)
    assert headings == ["The paper&#39;s experiments", "Ours"]
    papers, ours = text.split("<h2>")[1:]
    assert re.findall(r"<b>(C-8\w)</b>", papers) == ["C-8a", "C-8b", "C-8c", "C-8d"]
    assert re.findall(r"<b>(C-8\w)</b>", ours) == ["C-8x"]
    assert papers.count('class="bars"') == 3  # the fourth has no interval
    assert str(verdicts["C-8x"].interval) in index.text
    assert verdicts["C-8x"].because in index.text  # unfolded on demand
    assert "<details" in ours


def test_the_figure_comes_before_the_verdicts_and_details_are_folded(text):
    places = [text.index(words) for words in ("<picture>", "<h2>Verdicts", "<h2>More curves")]
    assert places == sorted(places)
    folded = text[places[-1] :]
    assert folded.index("<details>") < folded.index("std of B")
    assert text[: places[1]].count("<picture>") == 4
    assert folded.count("<picture>") == 6
    assert "Lines: mean of 5 seeds, band: 95 % interval" in text


def test_runs_have_the_colours_of_their_roles(tmp_path):
    fronts = {"mlp": "identity", "lff": "fourier", "placebo": "linear-control", "other": "ffn"}
    runs = [read_run(make_run(tmp_path / name, front=front)) for name, front in fronts.items()]
    assert [run.role for run in runs] == ["baseline", "ours", "control", "rival"]
    assert run_colors(runs) == {
        "mlp": "#6b7280",
        "lff": "#0b6bcb",
        "placebo": "#d97706",
        "other": "#0f9d6e",
    }
    text = run_page(runs)
    assert "--c0:#6b7280;--c1:#0b6bcb;" in text
    assert all(color in images(text)[1] for color in run_colors(runs).values())


def test_a_file_that_is_no_page_stays(tmp_path):
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(BadInputError, match="use --force"):
        write_site(tmp_path, [])
    assert (tmp_path / "index.html").read_text() == "mine"
    write_site(tmp_path, [], force=True)
    write_site(tmp_path, [])  # ours may be replaced
    assert "0 of 0 experiments" in (tmp_path / "index.html").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


def test_one_run(tmp_path):
    run = read_run(make_run(tmp_path / "mine"))
    text = run_page([run])
    seen = check_safe(text)
    for words in (
        "mine",
        "not finished",
        "algo.critic.front.sigma",
        "lff train sac --env dmc/cheetah-run",
        "lff rerun mine --dir mine-again",
        "largest |Q|",
    ):
        assert words in seen.text, words
    assert '<th scope="row">last return</th><td>100</td>' in text
    assert '<th scope="row">random policy</th><td>12</td>' in text
    assert '<th scope="row">largest |Q|</th><td>42</td>' in text
    assert text.count('class="plot"') == 17  # of 18 charts: no training episode has ended
    assert run_page([read_run(tmp_path / "mine")]) == text


def test_a_run_from_pixels_shows_its_contact_sheet(tmp_path):
    folder = make_run(tmp_path / "seen", env="dmc-pixels/cheetah-run")
    rows = {"raw": [np.full((9, 9, 3), 7, np.uint8)] * 3}
    (folder / FILE).write_bytes(draw_sheet(rows))
    assert RunDir(folder).sheet_file.name == FILE
    text = run_page([read_run(folder)])
    seen = check_safe(text)
    assert "First observations" in seen.text
    (source,) = re.findall(r'src="data:image/png;base64,([^"]*)"', text)
    assert base64.b64decode(source) == (folder / FILE).read_bytes()
    (folder / FILE).write_bytes(b"<script>no picture</script>")
    assert "First observations" not in check_safe(run_page([read_run(folder)])).text


def test_several_runs_and_where_they_differ(tmp_path):
    folders = [make_run(tmp_path / "a/run"), make_run(tmp_path / "b/run", sigma=0.5, seed=1)]
    assert names_of(folders) == [str(folder) for folder in folders]
    runs = [read_run(folders[0], name="one"), read_run(folders[1], name=tables.HOSTILE)]
    text = run_page(runs)
    seen = check_safe(text)
    assert "2 fields differ" in seen.text
    marked = re.findall(r'<tr class="marked"><th scope="row">([^<]+)</th>', text)
    assert sorted(marked) == ["algo.critic.front.sigma", "seed"]
    assert tables.HOSTILE in seen.text


def test_runs_of_different_tasks_are_said_not_to_compare(tmp_path):
    made = [make_run(tmp_path / "a"), make_run(tmp_path / "b", env=tables.HOSTILE)]
    seen = check_safe(run_page([read_run(folder) for folder in made]))
    assert "their returns do not compare" in seen.text


def test_a_run_that_has_just_begun_has_a_page(tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "new/config.json").write_text('{"env": "dmc/cheetah-run", "seed": 0}')
    assert "None yet" in check_safe(run_page([read_run(tmp_path / "new")])).text


def test_not_finite_is_said_and_half_a_row_is_no_row(tmp_path):
    folder = make_run(tmp_path / "run")
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"env_step": 6500, "train/q_max": null}\n{"env_step": 70')
    run = read_run(folder)
    assert run.curve("train/q_max")[-1] == (6500, np.inf)
    assert "not finite at some step: train/q_max" in Seen(run_page([run])).text


def test_what_is_no_run_or_damaged_is_told_by_name(tmp_path):
    with pytest.raises(BadInputError, match="a run directory"):
        read_run(tmp_path)
    folder = make_run(tmp_path / "run")
    (folder / "metrics.jsonl").write_text("[1]\n")
    with pytest.raises(CorruptError, match=r"metrics.jsonl, line 1"):
        read_run(folder)
    (folder / "config.json").write_text("[")
    with pytest.raises(CorruptError, match=r"config.json is not JSON"):
        read_run(folder)


def test_a_page_is_written_whole(tmp_path):
    write_page(tmp_path / "new/folder/page.html", "ä")
    assert (tmp_path / "new/folder/page.html").read_bytes() == "ä".encode()
