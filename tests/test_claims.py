"""The verdicts in README and on the pages are the ones that the committed tables give."""

import functools
import math
import re
from pathlib import Path

import numpy as np
import pytest

from lff.algos import Spaces
from lff.cli.power import power
from lff.cli.presets import net_sizes
from lff.cli.report import entry_of
from lff.experiments import find_experiment, list_experiments, load
from lff.experiments.results import find_table
from lff.report.site import claims_page
from lff.stats import contrast
from lff.training.presets import preset

ROOT = Path(__file__).parents[1]
HOSTS = {"sb3": "sb3", "sbx": "flax", "torchrl": "torchrl", "tianshou": "tianshou"}  # and its page
HEADLINES = {
    ("fig5", "C-5"): "",
    ("fig5", "C-5a/Walker2d-v5"): "",
    ("fig8-first", "C-8a/first"): "",
    ("fig8-first", "C-8f/first"): "dmc/cheetah-run",
    ("fig2", "C-2a"): "",
    ("fig11", "C-11a"): "",
}
"""Claims in README's table, in its order; with a task the row gives the estimate of that task."""


@functools.cache
def verdicts_of(name):
    return load(name, "laptop", results=ROOT / "results").verdicts


def verdict_of(name):
    (verdict,) = verdicts_of(name).values()
    return verdict


def lines_of(page):
    return (ROOT / page).read_text().splitlines()


def numbers_of(verdict):
    """Return estimate, interval and n of what decided."""
    return re.search(r"\S+ \[[^]]+\], n=\d+", verdict.because)[0]


def test_readme_states_the_computed_verdicts():
    rows = [
        line for line in lines_of("README.md") if "`lff experiment run " in line and line[0] == "|"
    ]
    for row, ((name, claim), task) in zip(rows, HEADLINES.items(), strict=True):
        verdict = verdicts_of(name)[claim]
        told = next((d for d in verdict.details if d.startswith(f"{task}: ")), verdict.because)
        fisher = r"difference \S+ \[[^]]+\], Fisher p = \S+"
        estimate = re.search(rf"(?:: |tasks: )(\S+ \[[^]]+\], n=\d+)|({fisher})", told)
        numbers = estimate[1] or estimate[2].replace("Fisher ", "")
        outcome = told.split(" (")[0].removeprefix(f"{task}: ") if task else verdict.outcome
        assert f"| {numbers} | **{outcome}** | `lff experiment run {name}` |" in row
        assert outcome == verdict.outcome == verdict.adjusted


@pytest.mark.parametrize(("host", "page"), HOSTS.items())
def test_the_page_of_a_plug_in_states_the_computed_verdict(host, page):
    verdict = verdict_of(f"host-{host}")
    text = " ".join((ROOT / "docs" / "plugins" / f"{page}.md").read_text().split())
    assert f"{numbers_of(verdict)}, **{verdict.outcome}**" in text
    assert f"images/host-{host}.png" in text
    assert f"`lff experiment run host-{host}`" in text


def test_the_page_on_sigma_states_its_evidence():
    page = " ".join((ROOT / "docs/sigma.md").read_text().split())
    for name, claim, words in (
        ("cheetah-first", "F-1", "mean return over the curve {} higher | five seeds"),
        ("fig2", "C-2f", "the error at σ = 1 is {} times that at 0.01 | five seeds"),
        ("fig16", "C-16c", "the error of σ = 0.01 is {} times larger when fitting"),
        ("fig16b", "C-16g", "{} times by fitted Q-iteration"),
    ):
        verdict = verdicts_of(name)[claim]
        assert verdict.outcome == "supported here"
        assert words.format(numbers_of(verdict).removesuffix(", n=5")) in page
    assert verdicts_of("new-t1")["N-T1c"].outcome == "supported here"
    assert all(verdict_of(f"host-{host}").outcome == "supported here" for host in HOSTS)
    assert f"({numbers_of(verdict_of('host-sb3')).removesuffix(', n=5')})" in page
    (transfer,) = verdicts_of("fig11-sac").values()
    means = re.findall(r"SAC LFF ([\d.]+); SAC MLP ([\d.]+)", " ".join(transfer.details))
    cheetah, walker = ([round(float(mean)) for mean in pair] for pair in means)
    assert "mean return of {} with LFF and {} with the MLP".format(*walker) in page
    assert "on HalfCheetah-v5 {} and {}".format(*cheetah) in page
    complete = [find_table(ROOT / "results", name, "laptop") for name in ("fig14", "fig17")]
    assert ("have no complete table yet" in page) == (complete == [None, None])
    rows = load("cheetah-first", "laptop", results=ROOT / "results").table
    spreads = {
        step: np.mean([r.value for r in rows if (r.metric, r.step) == ("std of B", step)])
        for step in (5_000, 10_000, 60_000)
    }
    assert (
        "is {:.3f} at 5,000 steps, {:.3f} at 10,000 and {:.3f} at 60,000".format(*spreads.values())
        in page
    )


def test_the_page_on_ppo_states_how_it_compares_with_sb3():
    verdict = verdict_of("peer-sb3-ppo")
    page = lines_of("docs/ppo.md")
    assert len(verdict.details) == 2
    for detail in verdict.details:
        task, outcome, numbers, margin, ours, theirs = re.search(
            r"gym/(\S+): ([a-z ]+) \(.*: (\S+ \[[^]]+\], n=5), asked for > -(\d+) and .*"
            r"; lff (\S+); sb3 (\S+);",
            detail,
        ).groups()
        means = f"{float(ours):.0f} | {float(theirs):.0f}"
        assert f"| {task} | {means} | {numbers} | ±{margin} | **{outcome}** |" in page
    mean = f"| mean of both, as shares of the span | | | {numbers_of(verdict)} | ±0.2 | "
    assert f"{mean}**{verdict.outcome}** |" in page


@pytest.mark.parametrize(
    ("name", "task", "suffix"),
    [
        ("peer-sb3-td3", "Pendulum-v1", ""),
        ("peer-sb3-td3-long", "Pendulum-v1, 30,000 steps", ", long"),
    ],
)
def test_the_page_on_td3_states_how_it_compares_with_sb3(name, task, suffix):
    result = load(name, "laptop", results=ROOT / "results")
    verdict = verdict_of(name)
    means = {d.split()[0]: float(d.split()[1]) for d in verdict.details if d[:3] in ("lff", "sb3")}
    page = lines_of("docs/td3.md")
    assert "asked for > -200 and < 200" in verdict.because
    numbers = f"{means['lff']:.0f} | {means['sb3']:.0f} | {numbers_of(verdict)} | ±200"
    assert f"| {task} | {numbers} | **{verdict.outcome}** |" in page
    for variant, title in (("lff", "ours"), ("sb3", "theirs")):
        rows = [r for r in result.table if r.variant == variant and r.metric == "return"]
        steps = sorted({row.step for row in rows if row.step})
        curve = (np.mean([row.value for row in rows if row.step == step]) for step in steps)
        assert f"| {title}{suffix} | {' | '.join(f'{mean:.0f}' for mean in curve)} |" in page


@pytest.mark.parametrize(
    ("name", "claim"),
    [*(("fig11", f"C-11{letter}") for letter in "abcd"), ("fig11-sac", "C-11e")],
)
def test_the_page_on_ppo_states_the_verdict_and_the_numbers_of_each_task(name, claim):
    verdict = verdicts_of(name)[claim]
    (line,) = (line for line in lines_of("docs/ppo.md") if line.startswith(f"| {claim}:"))
    assert line.endswith(f"| **{verdict.outcome}** |")
    assert numbers_of(verdict) in line
    by_task = [detail for detail in verdict.details if detail.startswith("gym/")]
    assert len(by_task) == (0 if claim in ("C-11b", "C-11c") else 2)
    for detail in by_task:
        assert re.search(r": (\S+ \[[^]]+\], n=5)", detail)[1] in line


def test_the_page_of_claims_is_what_the_tables_give():
    names = [name for name in list_experiments() if find_table(ROOT / "results", name)]
    computed = claims_page(entry_of(name, ROOT / "results", None) for name in names)
    assert (ROOT / "docs" / "claims.md").read_text() == computed, "make claims writes it anew"


def test_the_page_of_power_is_what_the_tables_give(capsys):
    power(all=True, markdown=True, results=ROOT / "results")
    computed = capsys.readouterr().out
    assert (ROOT / "docs" / "power.md").read_text() == computed, "make claims writes it anew"


THEORY = ("lem1", "lem2", "lem3", "thm1", "fig3a", "fig3bc", "fig4-left", "fig4-right", "new-t1")
SENTENCES = ("claim-quadratic", "claim-concat", "claim-lazy")


@pytest.mark.parametrize("name", [*THEORY, *SENTENCES])
def test_the_page_on_theory_states_every_verdict(name):
    experiment, verdicts = find_experiment(name), verdicts_of(name)
    stated = [line for line in lines_of("docs/theory.md") if line.startswith(f"| `{name}` |")]
    assert stated == [
        f"| `{name}` | {claim.name}: {claim.text} | {claim.whose} "
        f"| **{verdicts[claim.name].outcome}** |"
        for claim in experiment.claims
    ]
    assert all(verdict.adjusted == verdict.outcome for verdict in verdicts.values())


def stated_experiments():
    """Return (page, name) of every experiment that a page gives a command for."""
    pages = [ROOT / "README.md", ROOT / "Makefile", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for words in re.findall(
            r"lff experiment (?:run|plot|verdict)((?: [\w.:-]+)+)", page.read_text()
        ):
            for word in words.split():
                if word.startswith("-"):
                    break
                if ":" not in word and word not in ("NAME", "N"):
                    yield page.relative_to(ROOT), word


def test_the_pages_name_experiments_that_exist():
    stated = [*stated_experiments()]
    assert len(stated) > 100
    unknown = [(str(page), name) for page, name in stated if name not in list_experiments()]
    assert unknown == []


def test_the_makefile_runs_experiments_that_have_tables():
    (line,) = (line for line in lines_of("Makefile") if line.startswith("STUDIES := "))
    for name in line.split()[2:]:
        assert find_table(ROOT / "results", name, "laptop") is not None, name


def test_every_table_has_its_figure():
    """If not: make figures."""
    images = {path.stem for path in (ROOT / "docs/images").glob("*.png")}
    renamed = {"cheetah-first": "cheetah"}
    tables = {path.stem for path in (ROOT / "results/laptop").glob("*.csv")}
    assert {renamed.get(name, name) for name in tables} <= images


def test_the_page_on_networks_has_their_sizes():
    sizes = net_sizes(preset("laptop", "dmc/cheetah-run"), Spaces((17,), 6))
    rows = [line.split(" | ") for line in lines_of("docs/networks.md") if line.startswith("| `")]
    stated = {row[0].strip("| `"): row[2:5] for row in rows if "(" not in row[0]}
    names = [key.split()[1] for key in sizes if key.startswith("critic") and "hidden" in key]
    assert len(names) == 14
    goal = sizes["critic lff parameters"]
    for name in names:
        actor, critic, matched = stated[name]
        assert actor == f"{sizes[f'actor {name} parameters']:,}"
        assert critic == f"{sizes[f'critic {name} parameters']:,}"
        near = abs(sizes[f"critic {name} parameters"] / goal - 1) < 0.005
        assert matched.strip(" |").startswith("yes") == near, name


def test_the_page_on_statistics_has_the_power_of_equivalence():
    page = lines_of("docs/statistics.md")
    (runs,) = (line for line in page if line.startswith("| runs of each arm |"))
    (shares,) = (line for line in page if line.startswith("| share of studies |"))
    generator, margin = np.random.default_rng(1), math.log(1.2)
    for n, share in zip(runs.split("|")[2:-1], shares.split("|")[2:-1], strict=True):
        found = 0
        for first, second in 1 + 0.18 * generator.standard_normal((800, 2, int(n))):
            ratio = contrast([(1.0, first), (-1.0, second)], "ratio")
            found += max(ratio.above(-margin), ratio.below(margin)) <= 0.025
        assert found / 800 == pytest.approx(float(share), abs=0.05)


FINDING = r"\(`([\w-]+)`, (\S+): ([^()]+?), \*\*([a-z ]+)\*\*"


def test_the_page_of_findings_states_the_computed_verdicts():
    page = " ".join((ROOT / "docs/findings.md").read_text().split())
    findings = re.findall(FINDING, page)
    assert len(findings) == page.count("**supported here**") + page.count(
        "**contradicted here**"
    ) + page.count("**undecided here**") + page.count("**holds**")
    assert len(findings) > 15
    for name, claim, numbers, outcome in findings:
        verdict = verdicts_of(name)[claim]
        assert (verdict.outcome, verdict.adjusted) == (outcome, outcome), claim
        assert numbers in verdict.because, claim
