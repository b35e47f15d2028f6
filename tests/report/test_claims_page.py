"""The page of claims has every claim once, with the verdict that its table gives."""

from lff.report import Entry
from lff.report.site import claims_page
from lff.stats.verdicts import Verdict
from tests.report.tables import experiment


def test_a_page_counts_outcomes_and_escapes_what_would_end_a_cell():
    own = experiment()
    outcomes = ["confirmed", *["refuted"] * (len(own.claims) - 1)]
    verdicts = [Verdict(outcome, f"|Q| {i}") for i, outcome in enumerate(outcomes)]
    page = claims_page(
        [
            Entry(experiment=own, scale="laptop", verdicts=verdicts),
            Entry(experiment=own),  # not run: not on the page
        ]
    )
    shown = (
        f"{len(own.claims)} claims of 1 experiments: {len(own.claims) - 1} refuted, 1 confirmed."
    )
    assert shown in page
    rows = [line for line in page.splitlines() if line.startswith(f"| {own.claims[0].name} ")]
    assert rows == [f"| {own.claims[0].name} | {own.claims[0].text} | **confirmed** | \\|Q\\| 0 |"]
    assert page.count("## ") == 1
