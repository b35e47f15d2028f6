"""Seeded samples of the campaigns of examples/: power cuts, errors of the disk, corruption."""

import random
import sys
from pathlib import Path

import pytest

from lff.store import atomic

ROOT = Path(__file__).parents[2]


@pytest.fixture
def example(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    monkeypatch.chdir(tmp_path)
    yield lambda name: __import__(name)
    for name in ("small_runs", "simulated_disk", "power_cut", "io_errors", "corruption"):
        sys.modules.pop(name, None)


def test_no_power_cut_loses_a_run(example, tmp_path):
    counts, wrong = example("power_cut").campaign(64, 1, tmp_path / "cuts")
    assert wrong == []
    assert counts["states"] == 64
    assert len(counts["calls"]) == 8
    assert counts["calls"]["fresh run"] > 150
    assert len(counts["modes"]) == 6


def old_make_folder(folder):
    folder.mkdir(parents=True, exist_ok=True)
    atomic.sync_folder(folder.parent)


def problems(scenario, most):
    """Cut the power up to so many times, as far as the caller looks; yield what is wrong."""
    rng = random.Random(0)
    return (problem for problem, _ in (scenario.cut(rng) for _ in range(most)) if problem)


def test_the_simulator_finds_folders_that_are_not_synced(example, tmp_path, monkeypatch):
    power_cut = example("power_cut")
    monkeypatch.setattr(atomic, "make_folder", old_make_folder)
    scenario = power_cut.Scenario("fresh run", tmp_path / "cuts")
    expected = "went on from step 0, though the checkpoint at"
    assert any(expected in problem for problem in problems(scenario, 30))


def test_the_simulator_finds_data_that_is_not_synced(example, tmp_path, monkeypatch):
    """Without the sync of the metrics a checkpoint may know rows that are gone."""
    power_cut = example("power_cut")
    monkeypatch.setattr("lff.store.metrics.MetricsFile.sync", lambda _: None)
    scenario = power_cut.Scenario("fresh run", tmp_path / "cuts")
    assert any(problems(scenario, 30))


def test_a_simulated_disk_keeps_what_was_synced_and_nothing_else_for_sure(example, tmp_path):
    power_cut = example("power_cut")
    folder = tmp_path / "disk"
    folder.mkdir()
    disk = power_cut.Disk(folder)
    disk.do(("create", 0, "a", 1, b""))
    disk.do(("write", 1, 0, b"abc"))
    disk.do(("sync", 1))
    disk.do(("write", 1, 3, b"def"))
    rng = random.Random(0)
    folders = {str(disk.nodes[0].after_cut("any", rng)) for _ in range(50)}
    assert folders == {"{}", "{'a': 1}"}  # the file was synced, its name was not
    contents = {disk.nodes[1].after_cut("any", rng) for _ in range(200)}
    assert {b"abc", b"abcd", b"abcdef", b"abc\0\0\0", b"abcd\0\0"} <= contents
    assert all(content.startswith(b"abc") for content in contents)
    disk.do(("sync", 0))
    disk.do(("rename", 0, "a", 0, "b"))
    names = {str(disk.nodes[0].after_cut("any", rng)) for _ in range(50)}
    assert names == {"{'a': 1}", "{'b': 1}"}  # never both, never neither


def test_an_error_of_the_disk_ends_with_74_and_loses_nothing(example, tmp_path):
    counts, wrong = example("io_errors").campaign(tmp_path, sample=20, seed=1)
    assert wrong == []
    assert counts["errors"] == 20
    assert counts["exit code 74"] > 10


def test_no_corruption_is_silent(example, tmp_path):
    counts, wrong = example("corruption").campaign(60, 1, tmp_path / "bases")
    assert wrong == []
    assert counts["silent"] == counts["traceback"] == 0
    assert counts["detected"] > 40
    assert len(counts["kinds"]) > 25
