"""The verdicts in README and on the pages are the ones that the committed tables give."""

import re
from html import escape
from pathlib import Path

import numpy as np
import pytest

from lff.cli.report import entry_of
from lff.experiments import find_experiment, list_experiments, load
from lff.experiments.results import find_table, need_table
from lff.report.site import claims_page
from lff.stats import read_table

ROOT = Path(__file__).parents[1]
HOSTS = {"sb3": "sb3", "sbx": "flax", "torchrl": "torchrl", "tianshou": "tianshou"}  # and its page


STUDIES = (
    *("peer-sb3", "peer-sb3-ppo", "peer-sb3-td3", "peer-sb3-td3-long", "cheetah-first"),
    *(f"host-{host}" for host in HOSTS),
)


def verdict_of(name):
    (verdict,) = load(name, "laptop", results=ROOT / "results").verdicts.values()
    return verdict


@pytest.mark.parametrize("name", STUDIES)
def test_readme_states_the_computed_verdict(name):
    verdict = verdict_of(name)
    lines = (ROOT / "README.md").read_text().splitlines()
    numbers = verdict.because.split(": ")[-1].partition(", margin")[0].strip("()")
    matching = [
        line for line in lines if numbers in line and f"`lff experiment run {name}`" in line
    ]
    assert len(matching) == 1, numbers
    assert f"**{verdict.outcome}**" in matching[0]


@pytest.mark.parametrize(("host", "page"), HOSTS.items())
def test_the_page_of_a_plug_in_states_the_computed_verdict(host, page):
    verdict = verdict_of(f"host-{host}")
    text = " ".join((ROOT / "docs" / "plugins" / f"{page}.md").read_text().split())
    numbers = verdict.because.split(": ")[-1].partition(", margin")[0]
    assert f"{numbers}, **{verdict.outcome}**" in text
    assert f"images/host_{host}.png" in text
    assert f"`lff experiment run host-{host}`" in text


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        ("fig1", "C-1a"),
        ("fig1", "C-1c"),
        ("fig2", "C-2a"),
        ("fig2", "C-2b"),
        ("fig6", "C-6a"),
        ("fig8", "C-8a"),
        ("fig8", "C-8b"),
        ("fig11", "C-11a"),
        ("fig11-sac", "C-11e"),
        ("fig13", "C-13a"),
        ("fig13", "C-13b"),
        ("fig16", "C-16a"),
    ],
)
def test_readme_states_the_verdict_of_an_experiment(name, claim):
    rows = need_table(ROOT / "results", name, "laptop").rows
    (found,) = (c for c in find_experiment(name).claims if c.name == claim)
    verdict = found.judge(rows)
    lines = (ROOT / "README.md").read_text().splitlines()
    (line,) = (line for line in lines if f"{claim}:" in line)
    assert f"**{verdict.outcome}**" in line
    assert f"`lff experiment run {name}`" in line
    numbers = verdict.because.split(": ")[-1].partition(", margin")[0]
    assert numbers in line.replace("\\|", "|")


def test_the_page_on_ppo_states_how_it_compares_with_sb3():
    verdict = verdict_of("peer-sb3-ppo")
    page = (ROOT / "docs" / "ppo.md").read_text().splitlines()
    assert len(verdict.details) == 2
    for detail in verdict.details:
        task, numbers = re.search(
            r"gym/(\S+): .*: (\S+ \[[^]]+\], n=5, margin \S+)\)", detail
        ).groups()
        (line,) = (line for line in page if line.startswith(f"| {task} |"))
        assert numbers in line
        assert line.endswith(f"| **{detail.split(': ')[1].split(' (')[0]}** |")


@pytest.mark.parametrize(
    ("name", "task", "suffix"),
    [
        ("peer-sb3-td3", "Pendulum-v1", ""),
        ("peer-sb3-td3-long", "Pendulum-v1, 30,000 steps", ", long"),
    ],
)
def test_the_page_on_td3_states_how_it_compares_with_sb3(name, task, suffix):
    result = load(name, "laptop", results=ROOT / "results")
    (verdict,) = result.verdicts.values()
    numbers = re.search(r": (\S+ \[[^]]+\], n=5, margin ±[\d.]+)", verdict.because)[1]
    page = (ROOT / "docs" / "td3.md").read_text().splitlines()
    (line,) = (line for line in page if line.startswith(f"| {task} |"))
    assert line.endswith(f"| {numbers} | **{verdict.outcome}** |")
    for variant, title in (("lff", "ours"), ("sb3", "theirs")):
        rows = [r for r in result.table if r.variant == variant and r.metric == "return"]
        steps = sorted({row.step for row in rows if row.step})
        means = (np.mean([row.value for row in rows if row.step == step]) for step in steps)
        assert f"| {title}{suffix} | {' | '.join(f'{mean:.0f}' for mean in means)} |" in page


@pytest.mark.parametrize(
    ("name", "claim"),
    [*(("fig11", f"C-11{letter}") for letter in "abcd"), ("fig11-sac", "C-11e")],
)
def test_the_page_on_ppo_states_the_verdict_and_the_numbers_of_each_task(name, claim):
    rows = need_table(ROOT / "results", name, "laptop").rows
    (found,) = (c for c in find_experiment(name).claims if c.name == claim)
    verdict = found.judge(rows)
    page = (ROOT / "docs" / "ppo.md").read_text().splitlines()
    (line,) = (line for line in page if line.startswith(f"| {claim}:"))
    assert line.endswith(f"| **{verdict.outcome}** |")
    assert verdict.details
    for detail in verdict.details:
        assert re.search(r": (\S+ \[[^]]+\], n=5)", detail)[1] in line


def test_the_page_of_claims_is_what_the_tables_give():
    names = [name for name in list_experiments() if find_table(ROOT / "results", name)]
    computed = claims_page(entry_of(name, ROOT / "results", None) for name in names)
    assert (ROOT / "docs" / "claims.md").read_text() == computed, "make claims writes it anew"


def test_the_committed_page_states_the_computed_verdicts():
    page = (ROOT / "results" / "laptop" / "fig8.html").read_text()
    rows = read_table(ROOT / "results" / "laptop" / "fig8.csv")
    for claim in find_experiment("fig8").claims:
        verdict = claim.judge(rows)
        assert escape(verdict.because) in page
        assert all(escape(line) in page for line in verdict.details)


THEORY = ("lem1", "lem2", "lem3", "thm1", "fig3a", "fig3bc", "fig4-left", "fig4-right", "new-t1")
SENTENCES = ("claim-quadratic", "claim-concat", "claim-lazy")


@pytest.mark.parametrize("name", [*THEORY, *SENTENCES])
def test_the_page_on_theory_states_every_verdict(name):
    rows = need_table(ROOT / "results", name, "laptop").rows
    page = (ROOT / "docs" / "theory.md").read_text().splitlines()
    for claim in find_experiment(name).claims:
        line = f"| `{name}` | {claim.name}: {claim.text} | **{claim.judge(rows).outcome}** |"
        assert line in page
