"""The page of claims has every claim once, with the verdict that its table gives."""

import pytest

from lff.report import Entry
from lff.report.site import claims_page
from lff.stats import Better, Metric, Verdict
from tests.report.tables import experiment

M = Metric("m")
SENTENCES = {
    "C-1: A | B is first.": Better("A", than="B", metric=M, primary=True),
    "C-2: It is ours.": Better("A", than="B", metric=M, whose="ours"),
    "C-3: It holds.": Better("A", than="B", metric=M, whose="paper, mathematical"),
    "C-4: Nothing was run.": Better("A", than="B", metric=M),
}
VERDICTS = {
    "C-1": Verdict("supported here", "|Q| 1", p=0.01, adjusted="supported here", marks=("one",)),
    "C-2": Verdict("contradicted here", "2", p=0.04, adjusted="undecided here", marks=("a", "b")),
    "C-3": Verdict("holds", "3", adjusted="holds"),
    "C-4": Verdict("not run", "4", adjusted="not run"),
}


@pytest.fixture(scope="module")
def page():
    own = experiment(sentences=SENTENCES, quote="Figure 8: |Q|")
    other = experiment(name="fig9", sentences={"C-9: Another.": SENTENCES["C-4: Nothing was run."]})
    return claims_page(
        [
            Entry(experiment=own, scale="laptop", verdicts=VERDICTS),
            Entry(
                experiment=other,
                scale="laptop",
                verdicts={"C-9": Verdict("undecided here", "9", p=0.03)},
            ),
            Entry(experiment=own),  # not run: not on the page
        ]
    )


def row(page, name):
    (line,) = (x for x in page.splitlines() if x.startswith((f"| {name} ", f"| *{name}* ")))
    return line


def test_claims_are_counted_by_whose_they_are(page):
    lines = page.splitlines()
    outcomes = (
        "| whose claim | supported here | not run | undecided here | holds | contradicted here | "
    )
    assert outcomes in lines
    assert "| paper, empirical | 1 | 1 | 1 | 0 | 0 | " in lines
    assert "| paper, mathematical | 0 | 0 | 0 | 1 | 0 | " in lines
    assert "| ours | 0 | 0 | 0 | 0 | 1 | " in lines


def test_a_row_has_whose_quote_verdict_correction_and_marks_and_escapes_bars(page):
    """q: of p = 0.01, 0.03 and 0.04, three tested claims: 0.03, 0.04, 0.04."""
    assert row(page, "C-1") == (
        "| *C-1* | paper, empirical. Figure 8: \\|Q\\| | A \\| B is first. | **supported here** | "
        "supported here | \\|Q\\| 1, q = 0.03 | one |"
    )
    assert row(page, "C-2") == (
        "| C-2 | ours | It is ours. | **contradicted here** | undecided here | 2, q = 0.04 | a; b |"
    )
    assert ", q = 0.04 |" in row(page, "C-9")


def test_what_is_not_tested_has_no_q(page):
    assert "q = " not in row(page, "C-3")
    assert "q = " not in row(page, "C-4")
    assert page.count("## ") == 2
