"""load, compare, rerun, play, audit and export on real short runs."""

import json
import math
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch

import lff
from lff.cli.main import main
from lff.core import BadInputError, CorruptError
from lff.core.seeding import env_seed
from lff.envs import make
from lff.runs.load import replay_sample
from lff.runs.read import area, read_run
from lff.store import RunDir, RunLock, load_latest, read_rows, save
from lff.training import train
from lff.training.evaluate import evaluate
from tests.training.runs import small


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Three finished runs: the cheetah, a probe, and a pendulum whose actions are in [-2, 2]."""
    folder = tmp_path_factory.mktemp("runs")
    torch.set_num_threads(1)
    train(small(steps=320, eval_every=160), directory=folder / "cheetah")
    train(small("probe/action", steps=180, eval_every=60), directory=folder / "probe")
    train(small("gym/Pendulum-v1", steps=110), directory=folder / "pendulum")
    return folder


@pytest.fixture
def lff_command(monkeypatch, capsys):
    """Run the command line in this process; return exit code, output and errors."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["lff", *map(str, words)])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code
        return (code, *capsys.readouterr())

    return run


def rows_of(run):
    return [*read_rows(run / "metrics.jsonl")]


def snapshot(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def observations(count=6, width=17):
    return np.random.default_rng(0).normal(size=(count, width)).astype(np.float32)


# load


def test_the_loaded_policy_repeats_the_last_evaluation_bit_for_bit(home):
    policy = lff.load(home / "cheetah")
    assert (policy.step, policy.config.env, policy.checkpoint.path.name) == (
        320,
        "dmc/cheetah-run",
        "final",
    )
    again = evaluate(
        policy.agent,
        make("dmc/cheetah-run", seed=1),
        episodes=1,
        seed=0,
        env_step=320,
    )
    last = rows_of(home / "cheetah")[-1]
    assert {"env_step": 320, **again.metrics()} == last


def test_single_and_batch_agree_and_values_are_the_critics(home):
    policy, obs = lff.load(home / "cheetah"), observations()
    actions = policy.act(obs)
    assert (actions.shape, actions.dtype) == ((6, 6), np.float32)
    np.testing.assert_allclose(actions[2], policy.act(obs[2]), atol=1e-6)
    np.testing.assert_allclose(policy.act(obs.reshape(2, 3, 17)).reshape(6, 6), actions, atol=1e-6)
    q = policy.q(obs, actions)
    joined = torch.cat([torch.from_numpy(obs), torch.from_numpy(actions)], dim=-1)
    for critic in (0, 1):
        expected = policy.agent.networks["critic"].member(critic)(joined).squeeze(-1)
        np.testing.assert_allclose(q[critic], expected, rtol=1e-4, atol=1e-5)
    assert policy.q(obs[0], actions[0]).shape == (2,)


def test_samples_have_the_policys_law(home):
    policy, obs = lff.load(home / "cheetah"), observations(1)
    one = policy.act(obs, sample=True, seed=1)
    np.testing.assert_array_equal(one, policy.act(obs, sample=True, seed=1))
    assert not np.array_equal(one, policy.act(obs, sample=True, seed=2))
    assert not np.array_equal(policy.act(obs, sample=True), policy.act(obs, sample=True))
    before_tanh = np.arctanh(policy.act(np.repeat(obs, 4000, axis=0), sample=True, seed=0))
    mean = np.arctanh(policy.act(obs))
    error = before_tanh.std(axis=0) / math.sqrt(4000)
    assert (np.abs(before_tanh.mean(axis=0) - mean) < 5 * error).all()


def test_native_actions_are_in_the_simulators_range(home):
    policy, obs = lff.load(home / "pendulum"), observations(width=3)
    np.testing.assert_allclose(policy.act(obs, native=True), 2 * policy.act(obs), rtol=1e-6)
    assert [bound.item() for bound in policy.action_range] == [-2, 2]


def test_bad_observations_are_one_line(home):
    policy = lff.load(home / "cheetah")
    with pytest.raises(BadInputError, match=r"obs must be 17 wide.*got \(3,\)"):
        policy.act(np.zeros(3))
    with pytest.raises(BadInputError, match="array of numbers"):
        policy.act("left")
    with pytest.raises(BadInputError, match="of one batch shape"):
        policy.q(np.zeros((2, 17)), np.zeros((3, 6)))


def test_checkpoints_can_be_chosen(home):
    early = lff.load(home / "cheetah", checkpoint=300)
    assert early.step == 300
    late = lff.load(home / "cheetah", checkpoint="final")
    assert not np.array_equal(early.act(observations()), late.act(observations()))
    with pytest.raises(BadInputError, match=r"checkpoint must be latest or one.*use final, 300"):
        lff.load(home / "cheetah", checkpoint=7)


def test_a_damaged_checkpoint_is_passed_over_and_named(home, tmp_path, caplog):
    run = shutil.copytree(home / "cheetah", tmp_path / "run")
    for name, step in (("final", 300), ("step-000000300", None)):
        tensors = run / "checkpoints" / name / "tensors.safetensors"
        data = bytearray(tensors.read_bytes())
        data[len(data) // 2] ^= 1
        tensors.write_bytes(data)
        if step is None:
            shutil.rmtree(run / "checkpoints" / "step-000000150", ignore_errors=True)
            with pytest.raises(CorruptError, match=r"no checkpoint in .* is good"):
                lff.load(run)
        else:
            policy = lff.load(run)
            assert policy.step == step
            assert str(tensors) in policy.passed_over[0]
            assert str(tensors) in caplog.text


def test_a_run_that_goes_on_is_read_without_its_lock(home, tmp_path):
    run = shutil.copytree(home / "probe", tmp_path / "run")
    with RunLock(run):
        assert lff.load(run).step == 180


def test_a_run_without_a_checkpoint_says_when_to_come_back(home, tmp_path):
    run = shutil.copytree(home / "probe", tmp_path / "run")
    shutil.rmtree(run / "checkpoints")
    with pytest.raises(BadInputError, match="wait for the first; one is made every 150 steps"):
        lff.load(run)


def test_the_replay_gives_what_the_networks_see(home, tmp_path):
    obs, action = replay_sample(lff.load(home / "cheetah"), rows=100)
    assert (obs.shape, action.shape) == ((100, 17), (100, 6))
    run = shutil.copytree(home / "cheetah", tmp_path / "run")
    shutil.rmtree(run / "replay")
    assert replay_sample(lff.load(run)) is None


# the commands


def test_nothing_is_written_by_looking(home, lff_command):
    before = snapshot(home)
    for words in (("audit", home / "cheetah"), ("play", home / "probe")):
        assert lff_command(*words)[0] == 0
    assert lff_command("compare", home / "cheetah", home / "probe")[0] == 0
    assert snapshot(home) == before


@pytest.mark.parametrize(
    "words",
    [
        ("audit", "nowhere"),
        ("play", "nowhere"),
        ("rerun", "nowhere", "--dir", "new"),
        ("compare", "nowhere", "nowhere"),
        ("export", "nowhere", "--out", "policy.pt2"),
    ],
    ids=lambda words: words[0],
)
def test_a_wrong_directory_is_one_line_and_exit_code_2(words, lff_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, errors = lff_command(*words)
    assert code == 2
    assert errors == ("lff: run must be a run directory, got 'nowhere'; start one with lff train\n")
    assert not list(tmp_path.iterdir())


def test_audit_reports_start_and_now(home, lff_command):
    code, text, _ = lff_command("audit", home / "cheetah")
    assert code == 0, text
    B = load_latest(home / "cheetah").arrays["agent/critic/stacked.front.B"][1]
    row = next(line for line in text.splitlines() if "critic.stacked.front[1]" in line).split()
    assert row[3:5] == ["0.1", f"{np.sqrt(np.square(B).mean()):.3g}"]
    assert row[6:8] == ["1", "optimizer"]
    assert re.search(r"critic_target\.stacked\.front\[0\].* target ", text)
    assert "ok: 5 Fourier layer(s), nothing wrong" in text
    report = lff.audit(lff.load(home / "cheetah"), show=False)
    assert report.ok
    updates = 320 - 100  # one a step after the warm-up
    assert {layer.steps for layer in report.layers if not layer.is_target} == {updates}


def test_audit_of_a_broken_run_exits_with_1(home, lff_command, tmp_path):
    run = shutil.copytree(home / "cheetah", tmp_path / "run")
    found = load_latest(run)
    found.arrays["agent/actor/front.B"][:] = 0
    save(run, found.step, found.arrays, found.meta, final=True)
    code, text, _ = lff_command("audit", run)
    assert code == 1
    assert "PROBLEM [spread] actor.front" in text


def test_play_gives_the_returns_of_its_seeds(home, lff_command):
    code, text, _ = lff_command("play", home / "probe", "--episodes", 2, "--seed", 3)
    assert code == 0
    policy, env = lff.load(home / "probe"), make("probe/action", seed=0)
    expected = []
    for episode in range(2):
        obs, _ = env.reset(seed=env_seed(3, f"play/{episode}"))
        expected.append(env.step(policy.act(obs))[1])
    shown = re.findall(r"episode \d: return (-?[\d.]+), 1 actions", text)
    assert shown == [f"{value:.1f}" for value in expected]
    assert f"mean {np.mean(expected):.1f}" in text


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--video", "x.mov"), "a .mp4 or .gif file"),
        (("--video", "x.mp4"), "a probe does not draw images"),
        (("--episodes", "0"), "episodes must be a positive integer"),
        (("--checkpoint", "5"), "use final, 150"),
    ],
    ids=["kind", "probe", "episodes", "checkpoint"],
)
def test_play_refuses(options, says, home, lff_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, errors = lff_command("play", home / "probe", *options)
    assert (code, says in errors) == (2, True), errors
    assert not list(tmp_path.iterdir())


def test_rerun_is_equal_byte_for_byte(home, lff_command, tmp_path):
    code, text, _ = lff_command("rerun", home / "probe", "--dir", tmp_path / "again")
    assert code == 0
    assert "equal: metrics.jsonl is that of" in text
    files = [folder / "metrics.jsonl" for folder in (home / "probe", tmp_path / "again")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_rerun_names_the_first_row_that_differs(home, lff_command, tmp_path):
    run = shutil.copytree(home / "probe", tmp_path / "run")
    lines = (run / "metrics.jsonl").read_text().splitlines(keepends=True)
    row = json.loads(lines[2])
    name = "train/alpha" if "train/alpha" in row else "eval/return"
    lines[2] = json.dumps(row | {name: 7.5}, sort_keys=True) + "\n"
    (run / "metrics.jsonl").write_text("".join(lines))
    again = shutil.copytree(home / "probe", tmp_path / "again")  # done already: only compared
    code, text, _ = lff_command("rerun", run, "--dir", again)
    assert code == 1
    assert f"different: row 3, step {row['env_step']}: {name}: 7.5 there, {row[name]} here" in text


def test_rerun_with_another_seed_compares_nothing(home, lff_command, tmp_path):
    words = ("rerun", home / "probe", "--dir", tmp_path / "new", "--seed", 5)
    code, text, _ = lff_command(*words)
    assert code == 0
    assert "seed 5 instead of 0: nothing to compare" in text
    assert RunDir(tmp_path / "new").config["seed"] == 5
    code, _, errors = lff_command("rerun", home / "probe", "--dir", home / "probe")
    assert (code, "another directory" in errors) == (2, True)


def test_compare_shows_what_differs_and_what_came_of_it(home, lff_command):
    code, text, _ = lff_command("compare", home / "cheetah", home / "pendulum", "--json")
    assert code == 0
    data = json.loads(text)
    assert data["differences"] == {
        "env": ["dmc/cheetah-run", "gym/Pendulum-v1"],
        "schedule.eval_every": [160, 600],
        "steps": [320, 110],
    }
    assert (data["same_env"], data["auc_range"]) == (False, None)
    rows = rows_of(home / "cheetah")
    returns = [row["eval/return"] for row in rows if "eval/return" in row]
    result = data["results"][0]
    assert (result["last_return"], result["best_return"]) == (returns[-1], max(returns))
    assert result["q_max"] == max(row.get("train/q_max", 0) for row in rows)
    assert (
        result["critic_B_std"]
        == [r for r in rows if "lff/critic_B_std" in r][-1]["lff/critic_B_std"]
    )
    (timing,) = read_rows(home / "cheetah" / "timing.jsonl")
    assert result["steps_per_second"] == timing["steps_per_second"]
    assert result["steps"] == 320
    shown = lff_command("compare", home / "cheetah", home / "pendulum")[1]
    assert "different tasks (dmc/cheetah-run, gym/Pendulum-v1)" in shown
    assert re.search(rf"last eval/return +{returns[-1]:.4g} ", shown)


def test_compare_over_the_shared_steps(home, lff_command, tmp_path):
    shutil.copytree(home / "probe", tmp_path / "probe")
    code, text, _ = lff_command("compare", home / "probe", tmp_path / "probe", "--json")
    data = json.loads(text)
    assert (code, data["differences"], data["auc_range"]) == (0, {}, [60, 180])
    (_, a), (_, b), (_, c) = read_run(home / "probe").returns
    assert data["results"][0]["auc"] == pytest.approx((a + 2 * b + c) / 4)
    assert area([(0, 1.0), (10, 3.0)], 5, 5) == 2
    plot = tmp_path / "curves.png"
    code, text, _ = lff_command("compare", home / "probe", tmp_path / "probe", "--plot", plot)
    assert "the configs are equal" in text
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert lff_command("compare", home / "probe", tmp_path / "probe", "--plot", plot)[0] == 2
    assert lff_command("compare", home / "probe")[0] == 2


# export: in processes of their own, the second without lff

EXPORT = """
import sys
from lff.cli.main import main
for words in sys.argv[1].split(";"):
    sys.argv = ["lff", "export", *words.split()]
    main()
"""
USE = """
import sys, numpy as np, onnxruntime, torch
x = np.load("obs.npy")
for size in (1, 2, len(x)):
    session = onnxruntime.InferenceSession("policy.onnx")
    (found,) = session.run(["action"], {"obs": x[:size]})
    np.testing.assert_allclose(found, np.load("action.npy")[:size], rtol=0, atol=1e-6)
    found = torch.export.load("policy.pt2").module()(torch.from_numpy(x[:size]))
    np.testing.assert_allclose(found, np.load("action.npy")[:size], rtol=0, atol=1e-6)
x = np.load("obs3.npy")
found = torch.export.load("native.pt2").module()(torch.from_numpy(x))
np.testing.assert_allclose(found, np.load("native.npy"), rtol=0, atol=2e-6)
assert not [name for name in sys.modules if name.split(".")[0] == "lff"]
"""


def test_exported_policies_act_as_the_agent_does_without_this_package(home, tmp_path):
    words = (
        f"{home / 'cheetah'} --out policy.onnx",
        f"{home / 'cheetah'} --out policy.pt2",
        f"{home / 'pendulum'} --out native.pt2 --native",
    )
    command = [sys.executable, "-c", EXPORT, ";".join(words)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("17 numbers in, 6 out") == 2
    obs, obs3 = observations(50), observations(9, width=3)
    agent = lff.load(home / "cheetah").agent
    np.save(tmp_path / "obs.npy", obs)
    np.save(tmp_path / "obs3.npy", obs3)
    np.save(tmp_path / "action.npy", agent.act(torch.from_numpy(obs)).numpy())
    np.save(tmp_path / "native.npy", lff.load(home / "pendulum").act(obs3, native=True))
    isolated = [sys.executable, "-W", "ignore", "-c", USE]
    done = subprocess.run(isolated, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name in ("policy.onnx", "policy.pt2"):
        assert str(home).encode() not in (tmp_path / name).read_bytes()
        assert b"fourier.py" not in (tmp_path / name).read_bytes()


@pytest.mark.parametrize(
    ("out", "says"),
    [
        ("policy.zip", "a .onnx or .pt2 file"),
        ("here.pt2", "use another name, or --force"),
        ("no/policy.pt2", "create the folder first"),
    ],
    ids=["kind", "there", "folder"],
)
def test_export_refuses(out, says, home, lff_command, tmp_path):
    (tmp_path / "here.pt2").write_bytes(b"mine")
    code, _, errors = lff_command("export", home / "probe", "--out", tmp_path / out)
    assert (code, says in errors) == (2, True), errors
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"mine"]
