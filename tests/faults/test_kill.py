"""SIGKILL at random moments, and at every call to the system: nothing lost, nothing repeated."""

import os
import random
import signal
import time

import numpy as np
import pytest

from lff.store import RunDir, find_refs, load_latest, read_rows
from tests.faults import children
from tests.faults.configs import Config


def check(path, *, at_least=-1):
    """Open a killed run again: all of it must be that of an uninterrupted one up to a step."""
    with RunDir(path).start(Config(), info={}) as run:
        found = run.resume()
        step = found.step if found else -1
        assert step >= at_least
        assert [*read_rows(run.metrics_file)] == [children.rows_of(i) for i in range(step + 1)]
        if found:
            assert not found.passed_over
            for name, tensor in children.state_of(step).items():
                assert np.array_equal(found.arrays[name], tensor)
            refs = [*find_refs(found.meta)]
            assert refs[-1].segment == step
            replay = run.segments.read(refs)
            for name, array in children.segment_of(step).items():
                np.testing.assert_array_equal(replay[name][-3:], array)
        temporaries = [*path.rglob("*tmp-lff")]
        assert not temporaries
    return step


def seconds_to_a_checkpoint(path):
    """Kill a run when its first checkpoint is there: on a busy machine it takes longer."""
    child, pipe = children.start(children.run_until_killed, path, Config())
    assert pipe.recv() == "started"
    begun = time.perf_counter()
    while not [*path.glob("checkpoints/step-*/manifest.json")]:
        time.sleep(0.001)
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    return time.perf_counter() - begun


@pytest.mark.parametrize("kills", [20, pytest.param(60, marks=pytest.mark.system)])
def test_killed_at_random_moments(kills, tmp_path):
    moments = random.Random(0)
    longest = 3 * seconds_to_a_checkpoint(tmp_path)
    step, steps = -1, []
    for _ in range(kills):
        child, pipe = children.start(children.run_until_killed, tmp_path, Config())
        if moments.random() < 0.9:
            assert pipe.recv() == "started"
        time.sleep(moments.uniform(0, longest))
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        step = check(tmp_path, at_least=step)
        steps.append(step)
    assert len({*steps}) > kills / 4  # it did get on between the kills
    assert len([*(tmp_path / "checkpoints").iterdir()]) <= 4
    assert len([*(tmp_path / "replay").iterdir()]) <= 6


STEPS = 3


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The bytes of a run that nobody killed, and the number of calls it made."""
    path = tmp_path_factory.mktemp("whole") / "run"
    child, pipe = children.start(children.run_and_die_at, path, Config(), STEPS, -1)
    calls = pipe.recv()
    child.join()
    return contents(path), calls


def contents(path):
    files = [p for p in path.rglob("*") if p.is_file() and p.name not in VARYING]
    return {str(p.relative_to(path)): p.read_bytes() for p in files}


VARYING = ("timing.jsonl", "run.json", "meta.json", "manifest.json", ".lock-holder.json")


@pytest.mark.parametrize("part", range(4))
def test_killed_at_every_call_to_the_system(tmp_path, uninterrupted, part):
    """Open, half a write, fsync, rename, mkdir, unlink, rmdir: the end is byte for byte the same.

    Only the files that hold the clock differ (meta and manifest: the length of timing.jsonl).
    """
    expected, calls = uninterrupted
    assert calls > 100
    for call in range(part, calls, 4):
        path = tmp_path / str(call)
        child, pipe = children.start(children.run_and_die_at, path, Config(), STEPS, call)
        child.join()
        pipe.close()
        assert child.exitcode == -signal.SIGKILL
        check(path)
        with RunDir(path).start(Config(), info={}) as run:
            children.train(run, STEPS)
        assert run.status == "finished"
        assert contents(path) == expected, call
        assert load_latest(path).step == STEPS - 1
