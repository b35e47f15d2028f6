"""The committed cards of ``examples/stress_cards.py``, and what the pages say of them."""

import sys
from pathlib import Path

import pytest

from lff.experiments.stress.grading import grade
from lff.experiments.stress.plan import DEFAULT, references
from lff.experiments.stress.score import KINDS
from lff.stats.stress import references_overlap

ROOT = Path(__file__).parents[3]
CARDS = ROOT / "results" / "stress" / "cards"


@pytest.fixture(scope="module")
def example():
    sys.path.insert(0, str(ROOT / "examples"))
    import stress_cards

    yield stress_cards
    sys.path.remove(str(ROOT / "examples"))


@pytest.fixture(scope="module")
def cards(example):
    return {card.name: card for card in example.read_cards(CARDS)}


def test_cards_are_graded_by_todays_rule(cards):
    assert len(cards) >= 5
    for card in cards.values():
        assert not card.is_quick
        assert [one.key for one in card.stresses] == [kind.key for kind in KINDS]
        for one in card.stresses:
            others = [*one.references.values()]
            assert {*one.references} == {*references(DEFAULT).arms}
            assert one.grade == grade(one.measured, others, one.better, log=one.log)


def test_the_guide_has_the_numbers_of_the_cards(example, cards):
    assert example.markdown([*cards.values()]) in (ROOT / "docs/stress.md").read_text()


def test_findings_state_what_the_references_teach(cards):
    page = " ".join((ROOT / "docs/findings.md").read_text().split())
    numbers = {one.key: one for one in cards["MLP"].stresses}
    for key, words in {
        "noise": "{:.0f} % of the noise's variance against {:.0f} % (LFF) and {:.0f} % (MLP)",
        "q": "|Q| at {:.2f} of what rewards allow, against {:.2f} (LFF) and {:.2f} (MLP)",
        "scale": "{:.1f} times with layer norm, {:.1f} times with LFF and {:.1f} times with "
        "the MLP",
    }.items():
        own = numbers[key].references
        values = [own[name].estimate for name in ("MLP + layer norm", "LFF", "MLP")]
        assert words.format(*values) in page
        assert not references_overlap(own)
