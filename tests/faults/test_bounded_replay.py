"""A replay smaller than the run: the disk stays bounded, and resume is bit for bit all the same."""

import signal

import numpy as np
import pytest

from lff.core.errors import InterruptedRunError
from lff.store import load_latest
from lff.training import train
from tests.training.runs import small

CAPACITY, STEPS, EVERY = 60, 180, 20


def test_old_segments_go_and_both_checkpoints_can_be_resumed(tmp_path):
    config = small(
        "probe/action",
        steps=STEPS,
        warmup_steps=EVERY,
        log_every=EVERY,
        replay_capacity=CAPACITY,
        checkpoint_every=EVERY,
        eval_every=STEPS,
    )
    held = []

    def count(run, event):
        if event == "step" and run.progress.env_step % EVERY == 1:
            held.append(len([*run.run.replay.glob("*.safetensors")]))

    train(config, directory=tmp_path / "whole", watch=count)
    # three segments fill the ring, a fourth for the checkpoint before, which is kept too
    assert max(held) == CAPACITY // EVERY + 1

    def stop_at(step):
        def watch(run, event):
            if event == "step" and run.progress.env_step == step:
                signal.raise_signal(signal.SIGTERM)

        return watch

    parts = tmp_path / "parts"
    with pytest.raises(InterruptedRunError):
        train(config, directory=parts, watch=stop_at(110))
    newest = max((parts / "checkpoints").iterdir())
    (newest / "tensors.safetensors").write_bytes(b"")
    assert load_latest(parts).step == 100  # and it must still have all of its replay
    with pytest.raises(InterruptedRunError):
        train(config, directory=parts, watch=stop_at(146))
    train(config, directory=parts)
    one, other = (load_latest(tmp_path / name).arrays for name in ("whole", "parts"))
    assert all(np.array_equal(one[name], other[name]) for name in one)
    name = "metrics.jsonl"
    assert (parts / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
