"""Disks, damage and bad numbers, met by the real trainer: what is kept, and how it goes on."""

import json
import math
import pickle
import shutil

import numpy as np
import pytest
import torch

from lff.algos import off_policy, sac
from lff.core.errors import NonFiniteError
from lff.store import load_latest, read_rows
from lff.training import train
from tests.faults import commands
from tests.faults.test_damage import Bomb, forge
from tests.faults.test_disk import remount, small_disk
from tests.training.runs import NET, small


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A run killed on its way, with two checkpoints or more behind it."""
    folder = tmp_path_factory.mktemp("stopped")
    process = commands.start(folder, commands.train_words("saved"))
    commands.wait_for_rows(process, folder, 8)
    process.kill()
    process.join()
    return folder


def newest(folder):
    return sorted((folder / "run/checkpoints").glob("step-*[0-9]"))[-1]


def flip(folder):
    path = newest(folder) / "tensors.safetensors"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    return path


def truncate(folder):
    path = newest(folder) / "meta.json"
    path.write_bytes(path.read_bytes()[:100])
    return path


def lose_segment(folder):
    meta = json.loads((newest(folder) / "meta.json").read_text())
    number = meta["counters"]["segments"][-1]["segment"]
    path = folder / f"run/replay/segment-{number:09d}.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    return path


def put_pickle(folder):
    forge(newest(folder), tensors=pickle.dumps(Bomb(folder / "canary")))
    return newest(folder) / "tensors.safetensors"


def put_zip(folder):
    torch.save({"w": Bomb(folder / "canary")}, folder / "evil.pt")
    forge(newest(folder), tensors=(folder / "evil.pt").read_bytes())
    return newest(folder) / "tensors.safetensors"


def put_header(folder):
    forge(newest(folder), tensors=(2**62).to_bytes(8, "little") + b"{}")
    return newest(folder) / "tensors.safetensors"


@pytest.mark.parametrize("damage", [flip, truncate, lose_segment, put_pickle, put_zip, put_header])
def test_the_checkpoint_before_is_taken_and_the_end_is_the_same(damage, stopped, tmp_path, whole):
    folder = tmp_path / "copy"
    shutil.copytree(stopped, folder)
    path = damage(folder)
    code, errors = commands.lff(folder, commands.train_words("saved"))
    assert code == 0, errors
    assert "passing over a damaged checkpoint" in errors
    assert str(path.relative_to(folder)) in errors
    assert commands.results(folder) == whole("saved")
    assert not (folder / "canary").exists()


def test_if_no_checkpoint_is_good_it_says_so(stopped, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(stopped, folder)
    for path in (folder / "run/checkpoints").glob("*/tensors.safetensors"):
        path.write_bytes(b"")
    code, errors = commands.lff(folder, commands.train_words("saved"))
    assert code == 74
    assert "no checkpoint in run is good" in errors
    assert "Traceback" not in errors


def test_a_size_limit_stops_the_run_and_without_it_the_run_goes_on(tmp_path, whole):
    words = commands.train_words("saved")
    code, errors = commands.lff(tmp_path, words, limit=commands.LIMIT)
    assert code == 74, errors
    assert "the file would pass the size limit" in errors
    assert "run/checkpoints/step-000000040" in errors
    code, errors = commands.lff(tmp_path, words)
    assert code == 0, errors
    assert commands.results(tmp_path) == whole("saved")


def test_a_full_then_a_read_only_disk(tmp_path, whole):
    words = commands.train_words("saved", "--dir", "disk/run")
    with small_disk(tmp_path / "disk", size="2m") as disk:
        code, errors = commands.lff(tmp_path, words)
        assert code == 74, errors
        assert "the disk is full; free some space" in errors
        assert "disk/run/" in errors
        remount(disk, "size=30m")
        code, errors = commands.lff(tmp_path, words)
        assert code == 0, errors
        assert commands.results(disk) == whole("saved")
        remount(disk, "ro")
        code, errors = commands.lff(tmp_path, words)
        assert code == 74
        assert "read-only" in errors


@pytest.mark.parametrize(
    ("env", "says"),
    [
        ("bad_observation", "non-finite observation at step 149"),
        ("bad_reward", "non-finite reward at step 149"),
        ("float32_overflow", "non-finite reward at step 149"),
        ("huge_reward", "first in adam/critic/"),
    ],
)
def test_bad_numbers_exit_with_70_and_keep_the_last_good_checkpoint(env, says, tmp_path):
    words = commands.train_words(env)
    code, errors = commands.lff(tmp_path, words)
    assert code == 70, errors
    assert says in errors
    assert "Traceback" not in errors
    kept = load_latest(tmp_path / "run")
    assert kept.step == 140
    assert all(np.isfinite(a).all() for a in kept.arrays.values() if a.dtype.kind == "f")


@pytest.mark.parametrize("part", ["critic", "actor"])
def test_a_bad_gradient_is_caught_though_the_loss_is_finite(part, tmp_path, monkeypatch):
    """√0 has an infinite slope, and 0 · ∞ is no number; the value is 0."""
    home = {"critic": off_policy, "actor": sac}[part]
    real = getattr(home, f"{part}_loss")
    armed = []

    def spoiled(q, *rest):
        loss = real(q, *rest)
        return loss + (0 * q).sum().sqrt() if armed else loss

    def watch(run, event):
        if event == "step" and run.progress.env_step == 149:  # the update of step 150 is spoiled
            armed.append(True)

    monkeypatch.setattr(home, f"{part}_loss", spoiled)
    config = small("probe/action", steps=400, checkpoint_every=50)
    with pytest.raises(NonFiniteError, match=rf"at step 150, first in adam/{part}/first/"):
        train(config, directory=tmp_path / "run", watch=watch)
    assert load_latest(tmp_path / "run").step == 100  # the one of step 150 was not written


def test_a_learning_rate_too_high_stops_the_run(tmp_path):
    algo = sac.SACConfig(actor=NET, critic=NET, batch_size=16, critic_lr=1e20)
    with pytest.raises(NonFiniteError, match=r"at step 10\d, first in"):
        train(small("probe/action", algo=algo, steps=400), directory=tmp_path / "run")
    rows = [*read_rows(tmp_path / "run/metrics.jsonl")]
    assert not [row for row in rows if "train/critic_loss" in row]
    assert not any(isinstance(v, float) and math.isnan(v) for row in rows for v in row.values())
