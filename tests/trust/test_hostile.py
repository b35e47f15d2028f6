"""Hostile run directories and results folders, given to every command that reads one.

A seeded sample; ``python -m tests.trust.feed`` gives all kinds to all readers.
"""

import os
import random
import sys

import pytest

from tests.system.browser import Browser
from tests.trust import kinds
from tests.trust.feed import RESULT_READERS, RUN_READERS, SLOW, Feeder
from tests.trust.result_kinds import RESULTS

EVERY = [*kinds.RUNS, *RESULTS]
FAST = [one for one in (*RUN_READERS, *RESULT_READERS) if one not in SLOW]
STARTS = ("module: ", "link: ", "temporary", "fifo: ")
DANGEROUS = [name for name in EVERY if name.startswith(STARTS)]


def sample(count, seed):
    return random.Random(seed).sample([name for name in EVERY if name not in DANGEROUS], count)


@pytest.fixture(scope="module")
def feeder(tmp_path_factory):
    paths, here = [*sys.path], os.getcwd()  # noqa: PTH109 - to go back to
    yield Feeder(tmp_path_factory.mktemp("feed"))
    sys.path[:] = paths
    os.chdir(here)


def test_the_corpus_is_large():
    assert len(EVERY) > 400
    assert len({*kinds.RUNS}) + len({*RESULTS}) == len(EVERY)


def test_hostile_folders_run_nothing_delete_nothing_and_end_in_one_line(feeder):
    names = [*DANGEROUS, *sample(28, seed=0)]
    assert len(names) >= 60
    assert [line for name in names for line in feeder.feed(name, FAST)] == []


@pytest.mark.system
def test_slow_readers_end_likewise(feeder):
    found = [line for name in sample(15, seed=1) for line in feeder.feed(name, SLOW)]
    assert found == []


@pytest.mark.system
def test_no_script_runs_in_a_page_of_a_hostile_folder(feeder, tmp_path):
    names = [name for name in EVERY if name.startswith("HTML")]
    browser = Browser(tmp_path / "profile")
    page, opened = feeder.folder / "out" / "page.html", 0
    try:
        for name in names:
            assert feeder.feed(name, ["report"]) == []
            if page.exists():
                opened += 1
                browser.open(page)
                assert browser.evaluate("document.title") != "owned", name
                assert browser.evaluate("document.scripts.length") == 0, name
                assert [u for u in browser.requests if not u.startswith(("file:", "data:"))] == []
    finally:
        browser.close()
    assert opened >= 10
