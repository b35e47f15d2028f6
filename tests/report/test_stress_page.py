"""Pages of stress reports as text: their numbers, their order, and names that are hostile."""

import dataclasses
import json
import math
import re

import pytest

from lff.core import BadInputError
from lff.report import write_comparison, write_stress_page
from lff.report.stress_page import comparison_page, draw_lines, interval, short, stress_page
from lff.report.strip import Scale
from lff.stats.stress import Line, Measured, StressReport
from tests.report import stresses, tables
from tests.report.test_pages import Seen, check_safe, images

NAN, INF = math.nan, math.inf


@pytest.fixture(scope="module")
def text():
    return stress_page(stresses.report())


def changed(report, key, **changes):
    """Return the report with one stress changed."""
    found = [dataclasses.replace(s, **changes) if s.key == key else s for s in report.stresses]
    return dataclasses.replace(report, stresses=tuple(found))


def rows(text):
    """Return the lines of the strip plots, without those that are headings."""
    return re.findall(r"<li><span class=\"chip.*?</li>", text, flags=re.S)


def test_the_top_has_name_summary_and_one_line_per_stress_in_order(text):
    seen = check_safe(text)
    assert "my_<wbr>package.<wbr>nets:<wbr>make_<wbr>critic</h1>" in text
    words = ("✓ 2 good", "~ 3 fair", "✗ 5 poor", "learning rate 0.0003", "73,985 parameters")
    assert all(word in seen.text for word in words)
    found = rows(text)
    titles = [re.search(r'href="#[\w-]+">(.*?)</a>', row)[1] for row in found]
    assert titles == [row[1].replace("'", "&#39;") for row in stresses.TABLE]
    grades = [Seen(row).text.split()[1] for row in found]
    assert grades == [row[8] for row in stresses.TABLE]
    assert text.index("normalise the hidden layers or add") < text.index(found[0])
    assert text.index(found[-1]) < text.index("<h2>")


def test_numbers_intervals_and_references_are_those_of_the_report(text):
    noise = stresses.report().stresses[0]
    low, high = noise.measured.low, noise.measured.high
    assert f"<b>46 %</b> <span>[{low:.3g}, {high:.3g}]</span>" in rows(text)[0]
    said = re.search(r'aria-label="(.*?)"', rows(text)[0])[1]
    assert said.startswith("46 % [42.1, 49.9]; MLP 61 % [")
    assert "LFF 12 % [8.07, 15.9]" in said
    section = Seen(text[text.index('<section id="noise">') : text.index('<section id="fqi">')]).text
    for words in ("this network 46 %", "MLP 61 %", "MLP + layer norm 38 %", "LFF 12 %"):
        assert words in section
    assert noise.question in section
    assert "Lower is better." in section
    assert "What to do. Put a Fourier layer" in section


def test_advice_is_for_what_is_not_good():
    report = changed(stresses.report(keys=["rank"]), "rank", advice="Train less.")
    assert "What to do." not in stress_page(report)
    assert "Train less." in stress_page(changed(report, "rank", grade="fair"))


def test_references_that_overlap_are_said_to(text):
    found = {
        re.search(r'href="#([\w-]+)"', row)[1]: "references overlap" in row for row in rows(text)
    }
    assert found == {row[0]: False for row in stresses.TABLE}
    wide = {name: stresses.measured(70.0, 30.0) for name in stresses.REFERENCES}
    report = changed(stresses.report(keys=["rank"]), "rank", references=wide)
    assert "<small>references overlap</small>" in stress_page(report)
    assert "the worst reference overlap, so" in comparison_page([report])


def test_curves_on_one_level_have_an_axis():
    flat = Line((1.0, 2.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0))
    one = dataclasses.replace(
        stresses.stress("fqi"), lines=dict.fromkeys(stresses.REFERENCES, flat)
    )
    (axis,) = draw_lines(one, "", keys_of(one)).axes
    assert axis.get_ylim() == (-0.05, 1.0)


def test_both_places_and_versions_are_at_the_bottom(text):
    bottom = Seen(text[text.index("<h2>How it was made") :]).text
    assert "what this network references date 2026-11-18 2026-11-17" in bottom
    assert "command lff stress my_package.nets:make_critic lff stress --net mlp" in bottom


def test_a_quick_run_is_marked(text):
    assert "Quick run" not in text
    quick = stress_page(stresses.report(keys=["noise"], is_quick=True, seeds=2))
    assert quick.index("<b>Quick run</b>") < quick.index('class="strips"')
    both = [stresses.report("a", keys=["noise"], is_quick=True), stresses.report("b", keys=["fqi"])]
    assert "<b>Quick runs</b>: a. Few" in comparison_page(both)


def test_better_is_to_the_right_for_lower_and_for_higher():
    for key in ("noise", "no-target", "q-max"):
        stress = stresses.stress(key)
        numbers = [stress.measured, *stress.references.values()]
        scale = Scale.of(numbers, better=stress.better, log=stress.log)
        mlp, _, lff = scale.marks(stress.references)
        assert mlp.dot < scale.mark("", stress.measured).dot < lff.dot


def test_a_scale_is_linear_or_logarithmic_and_holds_intervals():
    ends = [Measured(value, value, value, (value,)) for value in (1.0, 100.0)]
    linear, log = (Scale.of(ends, better="higher", log=log) for log in (False, True))
    assert linear.place(50.5) == pytest.approx(50.0)
    assert log.place(10.0) == pytest.approx(50.0)
    wide = Measured(50.0, -1e6, 60.0, (1.0, 99.0))
    mark = Scale.of([*ends, wide], better="higher").mark("", wide)
    assert mark.is_cut == (True, False)
    assert 0 < mark.left < mark.dot < mark.right < 100


def test_equal_numbers_share_a_place_in_lanes():
    same = {name: Measured(0.0, 0.0, 0.0, (0.0, 0.0)) for name in stresses.REFERENCES}
    marks = Scale.of(same.values(), better="lower").marks(same)
    assert [mark.dot for mark in marks] == [50.0] * 3
    assert [mark.lane for mark in marks] == [0, 1, 2]


@pytest.mark.parametrize("value", [NAN, INF, -INF])
@pytest.mark.parametrize("key", ["noise", "q-max"])
def test_a_number_that_is_not_finite_is_said_to_be(key, value):
    lost = Measured(value, NAN, NAN, (1.0, value))
    curve = Line((1.0, 2.0, 3.0), (1.0, value, 2.0), (0.5, NAN, 1.0), (2.0, INF, 3.0))
    report = stresses.report(keys=[key])
    drawn = {**report.stresses[0].lines, report.name: curve}
    report = changed(report, key, measured=lost, grade="poor", lines=drawn)
    text = stress_page(report)
    (row,) = rows(text)
    assert "<b>not finite</b> <span></span>" in row
    assert "this network not finite – 2, 1 not finite" in check_safe(text).text
    assert not re.search(r"\b(nan|inf)\b", re.sub(r'"data:[^"]*"', "", text))
    assert "✗ not finite" in Seen(comparison_page([report, stresses.report(keys=[key])])).text


def test_all_numbers_may_be_lost():
    lost = Measured(NAN, NAN, NAN, (NAN, NAN))
    dead = Line((0.0, 1.0), (NAN, NAN), (NAN, NAN), (NAN, NAN))
    report = stresses.report(keys=["q-max"])
    names = stresses.REFERENCES
    given = {"references": dict.fromkeys(names, lost), "lines": dict.fromkeys(names, dead)}
    text = stress_page(changed(report, "q-max", measured=lost, **given))
    assert check_safe(text).text.count("not finite") > 4


def test_hostile_names_stay_names():
    report = stresses.report(tables.HOSTILE, keys=["noise"], summary=tables.HOSTILE)
    theirs = {tables.HOSTILE: report.stresses[0].measured}
    report = changed(report, "noise", references=theirs, title=tables.HOSTILE, lines={})
    report = dataclasses.replace(report, made={tables.HOSTILE: tables.HOSTILE})
    for text in (stress_page(report), comparison_page([report, report])):
        assert check_safe(text).text.count("<script>document.title='owned'</script>") > 3
        assert "<script>" not in text


def test_a_figure_has_each_network_with_its_own_line(text):
    dark, light = images(text)[:2]
    assert light != dark
    for color in ("#111111", "#6b7280", "#0f9d6e", "#0b6bcb"):  # tested, MLP, layer norm, LFF
        assert f"stroke: {color}" in light
        assert f"stroke: {color}" not in dark
    stress = stresses.stress("q-max")
    (axis,) = draw_lines(stress, "my_package.nets:make_critic", keys_of(stress)).axes
    assert axis.get_yscale() == "log"
    assert len({line.get_linestyle() + str(line._dash_pattern) for line in axis.lines}) == 4
    assert axis.lines[-1].get_color() == "#111111"  # above the others
    assert axis.lines[-1].get_ydata()[-1] == pytest.approx(850.0)


def keys_of(stress):
    from lff.report.stress_page import _keys

    return _keys([stress])


def test_eight_networks_on_one_page(tmp_path):
    names = [f"network {i}" for i in range(7)] + ["LFF, sigma 0.01"]
    made = [stresses.report(name, factor=1 + i / 10) for i, name in enumerate(names)]
    write_comparison(made, tmp_path / "deep/all.html")
    text = (tmp_path / "deep/all.html").read_text()
    seen = check_safe(text)
    assert seen.tags.count("tr") == 1 + 8 + 1 + 8
    assert len(rows(text)) == 8 * len(stresses.TABLE)
    matrix = Seen(text[text.index("<tbody>") : text.index("</tbody>")]).text
    assert re.findall(r"network \d|LFF, sigma 0.01", matrix) == names
    assert "network 1 ~ 50.6 ✗ 44 " in matrix
    assert "do not all have the same references" not in text


def test_a_network_without_a_stress_and_with_other_references():
    first, second = (
        stresses.report("a", keys=["noise", "rank"]),
        stresses.report("b", keys=["rank"]),
    )
    other = {"MLP": Measured(1.0, 0.9, 1.1, (0.9, 1.1))}
    text = comparison_page([first, changed(second, "rank", references=other)])
    assert "b – ✓ 71" in Seen(text).text
    assert text.count("do not all have the same references") == 1


def test_the_same_report_gives_the_same_bytes(text, tmp_path):
    write_stress_page(stresses.report(), tmp_path / "card.html")
    assert (tmp_path / "card.html").read_text() == text


def test_numbers_are_short():
    assert [short(v) for v in (0.00012345, 1234.5, -0.5, 3e9)] == [
        "0.000123",
        "1,230",
        "−0.5",
        "3e9",
    ]
    assert interval(Measured(1.0, 0.5, INF, (1.0,))) == ""


def test_a_report_comes_back_from_its_json():
    report = stresses.report(keys=["noise", "cost"])
    again = StressReport.from_json(json.loads(json.dumps(report.to_json())))
    assert again == report
    assert comparison_page([again]) == comparison_page([report])


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2},
        {"stresses": [{}]},
        {"stresses": None},
        {"more": 1},
        {"stresses": [{**stresses.report(keys=["noise"]).to_json()["stresses"][0], "grade": "x"}]},
    ],
)
def test_other_json_is_refused(change):
    data = {**stresses.report(keys=["noise"]).to_json(), **change}
    with pytest.raises(BadInputError, match="must be a stress report, got 'dict'; write it with"):
        StressReport.from_json(data)
    with pytest.raises(BadInputError, match="got 'list'"):
        StressReport.from_json([])
