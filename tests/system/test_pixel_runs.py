"""Runs from pixels with real images, as a user starts them: train, kill, resume, look, play."""

import json
import os
import random
import signal
import time

import numpy as np
import pytest
import torch
from PIL import Image

import lff
from lff.algos.sac_pixels import PREVIEWED
from lff.core import BadInputError
from lff.core.errors import InterruptedRunError
from lff.core.seeding import env_seed
from lff.data import FrameReplay
from lff.envs import make
from lff.store import load_latest, read_rows
from lff.training import train
from lff.training.contact_sheet import FILE, MARGIN, TITLE_WIDTH
from tests.cli.conftest import cli as cli
from tests.faults import commands
from tests.system.programs import require_opengl
from tests.training.runs import tiny_pixels

pytestmark = pytest.mark.system

TASK = "dmc-pixels/cartpole-swingup"
SIZES = "--size size=36 cropped_size=32 num_filters=4 --hidden-dim 16 --fourier-dim 8"
SCHEDULE = "--batch-size 4 --steps 320 --warmup-steps 80 --eval-every 200 --eval-episodes 1"
WORDS = ["train", "sac", "--env", TASK, *SIZES.split(), *SCHEDULE.split()]
WORDS += ["--log-every", "40", "--checkpoint-every", "64", "--reference-episodes", "1"]
WORDS += ["--dir", "run"]


@pytest.fixture(scope="module", autouse=True)
def _backend():
    require_opengl()


def results(folder):
    found = commands.results(folder)
    found[FILE] = (folder / "run" / FILE).read_bytes()
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a finished run."""
    folder = tmp_path_factory.mktemp("whole")
    code, errors = commands.lff(folder, WORDS)
    assert code == 0, errors
    return folder


def test_what_a_run_leaves(whole):
    run = whole / "run"
    rows = [*read_rows(run / "metrics.jsonl")]
    assert [r["env_step"] for r in rows if "eval/return" in r] == [200, 320]
    logged = [r for r in rows if "train/critic_loss" in r]
    # warm-up ends at 80; the actor learns in every second update, and its row is kept till then
    assert [r["env_step"] for r in logged] == [*range(120, 321, 40)]
    assert all("train/actor_loss" in r for r in logged)
    assert [r["updates"] for r in logged] == [(r["env_step"] - 80) // 8 for r in logged]
    config = json.loads((run / "config.json").read_text())
    assert config["algo"]["actor_period"] == 2
    assert config["view"]["size"] == 36
    last = load_latest(run)
    assert last.arrays["agent/adam/critic/count"] == 30
    assert last.arrays["agent/adam/actor/count"] == 15
    assert last.arrays["obs"].shape == (9, 36, 36)
    assert last.arrays["obs"].dtype == np.uint8


@pytest.mark.parametrize("seed", range(2))
def test_killed_at_random_moments_and_resumed_byte_for_byte(seed, whole, tmp_path):
    moments = random.Random(seed)
    for rows in sorted(moments.sample(range(1, 9), 3)):
        process = commands.start(tmp_path, WORDS)
        commands.wait_for_rows(process, tmp_path, rows)
        time.sleep(moments.uniform(0, 0.05))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    code, errors = commands.lff(tmp_path, WORDS)
    assert code == 0, errors
    assert results(tmp_path) == results(whole)


def test_a_signal_writes_a_checkpoint_within_the_episode(whole, tmp_path):
    process = commands.start(tmp_path, WORDS)
    commands.wait_for_rows(process, tmp_path, 3)
    os.kill(process.pid, signal.SIGTERM)
    code, errors = commands.end(process, tmp_path)
    assert code == 75, errors
    assert load_latest(tmp_path / "run").step < 320
    code, errors = commands.lff(tmp_path, WORDS)
    assert code == 0, errors
    assert results(tmp_path) == results(whole)


def run_tiny(folder, *, watch=None, **options):
    """Train a tiny agent; return its loop."""
    found = []

    def keep(run, event):
        found[:] = [run]
        if watch:
            watch(run, event)

    train(tiny_pixels(**options), directory=folder, watch=keep)
    return found[0]


def stored(loop):
    assert isinstance(loop.memory, FrameReplay)
    return loop.memory.since(0)


def test_evaluation_within_an_episode_changes_nothing(tmp_path):
    """B10: theirs evaluates on the environment it trains on, and stores a transition too many."""
    looked = run_tiny(tmp_path / "looked", eval_every=56)
    plain = run_tiny(tmp_path / "plain", eval_every=10**6)
    assert len([*(tmp_path / "looked/evaluations").iterdir()]) == 6
    one, other = stored(looked), stored(plain)
    assert one.keys() == other.keys()
    for name in one:
        assert np.array_equal(one[name], other[name]), name
    assert looked.memory.total == looked.progress.agent_step == 40
    for name, value in plain.agent.state().items():
        assert torch.equal(looked.agent.state()[name], value), name
    rows = [
        [r for r in read_rows(tmp_path / n / "metrics.jsonl") if "eval/return" not in r]
        for n in ("looked", "plain")
    ]
    assert rows[0] == rows[1]


def test_a_ring_smaller_than_the_run_and_both_checkpoints(tmp_path):
    # a ring of ten transitions has room for 74 frames; the run has 162
    options = {"replay_capacity": 10, "steps": 1280, "eval_every": 1280, "checkpoint_every": 128}
    held = []

    def count(run, event):
        if event == "saved":
            held.append(len([*run.run.replay.glob("*.safetensors")]))

    loop = run_tiny(tmp_path / "whole", watch=count, **options)
    assert len(loop.memory) == 10
    assert max(held) < 8  # of ten segments in all
    assert not (tmp_path / "whole/replay/segment-000000000.safetensors").exists()

    def stop(run, event):
        if event == "step" and run.progress.env_step == 1040:
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(InterruptedRunError):
        run_tiny(tmp_path / "parts", watch=stop, **options)
    newest = max((tmp_path / "parts/checkpoints").iterdir())
    (newest / "tensors.safetensors").write_bytes(b"")  # the one before has all of its replay
    run_tiny(tmp_path / "parts", **options)
    one, other = (load_latest(tmp_path / n).arrays for n in ("whole", "parts"))
    assert all(np.array_equal(one[name], other[name]) for name in one)
    name = "metrics.jsonl"
    assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_the_contact_sheet_is_drawn_once_and_changes_nothing(whole, tmp_path, monkeypatch):
    with Image.open(whole / "run" / FILE) as sheet:
        # 36 and 32 are enlarged by three, so that rows are 108 high; five rows for LFF
        side = 108 + MARGIN
        assert sheet.size == (TITLE_WIDTH + PREVIEWED * side, 5 * side)
        pixels = np.asarray(sheet)
    raw = pixels[:108, TITLE_WIDTH : TITLE_WIDTH + 108 : 3][::3]
    acting = pixels[2 * side : 2 * side + 96, TITLE_WIDTH : TITLE_WIDTH + 96 : 3][::3]
    assert raw.std() > 5
    np.testing.assert_array_equal(acting, raw[2:34, 2:34])
    drawn = run_tiny(tmp_path / "drawn")
    before = (tmp_path / "drawn" / FILE).stat().st_mtime_ns
    train(tiny_pixels(), directory=tmp_path / "drawn")  # finished: nothing is done again
    assert (tmp_path / "drawn" / FILE).stat().st_mtime_ns == before
    monkeypatch.setattr("lff.training.off_policy.SHEET_AT", 10**9)
    without = run_tiny(tmp_path / "without")
    assert not (tmp_path / "without" / FILE).exists()
    for name, value in without.agent.state().items():
        assert torch.equal(drawn.agent.state()[name], value), name


def test_a_loaded_policy_acts_on_images(whole):
    policy = lff.load(whole / "run")
    env = make(TASK, seed=env_seed(0, "look"), action_repeat=8, view=policy.config.view)
    try:
        obs, _ = env.reset()
    finally:
        env.close()
    action = policy.act(obs)
    assert action.shape == (1,)
    np.testing.assert_allclose(policy.act(np.stack([obs] * 3))[1], action, atol=1e-6)
    assert policy.q(obs, action).shape == (2,)
    assert not np.array_equal(policy.act(obs, sample=True, seed=1), action)
    with pytest.raises(BadInputError, match="obs must be"):
        policy.act(obs[:3])
    with pytest.raises(BadInputError, match="obs must be"):
        policy.act(obs[:, :32, :32])


@pytest.mark.parametrize("suffix", ["pt2", "onnx"])
def test_export_plays_as_the_agent(suffix, whole, tmp_path, cli):
    done = cli("export", whole / "run", "--out", f"policy.{suffix}")
    assert done.code == 0, done.err
    obs = np.random.default_rng(0).integers(256, size=(3, 9, 36, 36), dtype=np.uint8)
    if suffix == "pt2":
        program = torch.export.load(tmp_path / "policy.pt2").module()
        found = program(torch.from_numpy(obs)).numpy()
    else:
        import onnxruntime

        session = onnxruntime.InferenceSession(tmp_path / "policy.onnx")
        (found,) = session.run(["action"], {"obs": obs})
    np.testing.assert_allclose(found, lff.load(whole / "run").act(obs), atol=1e-6)


def test_the_tools_for_runs(whole, cli):
    run = whole / "run"
    shown = cli("show", run)
    assert "encoder pixel-encoder(" in shown.out
    assert "fourier-2d(" in shown.out
    assert "{" not in shown.out
    audited = cli("audit", run)
    assert audited.code == 0, audited.err
    assert "critic.encoder.front" in audited.out
    page = cli("report", run, "--out", "page.html")
    assert page.code == 0, page.err
    played = cli("play", run, "--video", "played.gif")
    assert played.code == 0, played.err
    assert "125 actions" in played.out
    refused = cli("spectrum", run)
    assert refused.code == 2
    assert "vectors for input" in refused.err
    assert refused.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--size", "size=36", "cropped_size=37"), "at most the image's side 36"),
        (("--size", "size=36", "cropped_size=12"), "at least 15 pixels"),
        (("--size", "size=36", "cropped_size=32", "augmentation=translate"),
         "at least the image's 36"),
        (("--size", "camera=7"), "camera"),
        (("--size", "sizes=36"), "did you mean size"),
        (("--size", "size=1000", "cropped_size=900", "--replay-capacity", "100000000",
          "--steps", "800000000"), "GB of memory for the replay"),
        (("--actor-net", "mlp"), "share one encoder"),
        (("--net", "mlp"), "net for pixels"),
        (("--preset", "paper-text"), "preset for sac-pixels"),
        (("--normalize-obs",), "off for images"),
        (("--env", "dmc/cartpole-swingup"), "a field of sac"),
        (("--env", "dmc-pixels/cartpole-swingap"), "did you mean"),
    ],
)  # fmt: skip
def test_bad_flags_are_one_line_and_leave_nothing(words, says, cli, tmp_path):
    done = cli(*WORDS, *words)
    assert done.code == 2
    assert says in done.err
    assert done.err.count("\n") == 1
    assert [*tmp_path.iterdir()] == []


def test_functional_regularization_takes_the_targets_place(cli, tmp_path):
    short = ["--steps", "120", "--eval-every", "120", "--reference-episodes", "0"]
    done = cli(*WORDS, *short, "--with", "functional:kappa=0.5", "weight-decay:coefficient=1e-4")
    assert done.code == 0, done.err
    rows = [*read_rows(tmp_path / "run/metrics.jsonl")]
    assert any("train/penalty" in row for row in rows)


def test_doctor_reckons_frames_once(cli):
    done = cli("doctor", "--env", "dmc-pixels/cheetah-run", "--json")
    checks = {check["name"]: check for check in json.loads(done.out)}
    assert "a replay of 100,000 takes 3.1 GB" in checks["memory"]["found"]
    assert checks["step"]["found"] == "dmc-pixels/cheetah-run, 90000 numbers observed"


@pytest.mark.parametrize("words", [("sigma",), ("tune", "--dir", "tuned")], ids=lambda w: w[0])
def test_tools_for_vectors_say_so(words, cli, tmp_path):
    done = cli(*words, "--env", TASK)
    assert done.code == 2
    assert "a task that observes numbers" in done.err
    assert done.err.count("\n") == 1
    assert [*tmp_path.iterdir()] == []
