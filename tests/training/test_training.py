import dataclasses
import json
import math
import re
import signal
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import torch

from lff.algos import FixedAlpha, NoTarget, PolyakTarget, SACConfig, Spaces
from lff.algos.crossq import CrossQConfig
from lff.algos.td3 import TD3Config
from lff.core.errors import BadInputError, InterruptedRunError, NonFiniteError
from lff.data import Replay
from lff.envs import PAPER_TASKS, make
from lff.nn import Fourier, MLPTrunk, NetConfig
from lff.regularizers import FunctionalRegularization
from lff.store import RunDir, load_latest, read_rows
from lff.training import RunConfig, train, worth_compiling
from lff.training.diagnostics import (
    BATCH_SIZE,
    DivergenceWatch,
    _histogram,
    network_metrics,
)
from lff.training.loop import to_tensors
from lff.training.networks import NetName
from lff.training.presets import PresetName, preset
from tests.training.runs import NET, small

ROOT = Path(__file__).parents[2]


def files(folder):
    """Everything that must be equal for equal runs."""
    final = load_latest(folder)
    return (folder / "metrics.jsonl").read_bytes(), final.arrays


def assert_equal_runs(one, other):
    (rows, tensors), (rows_other, tensors_other) = files(one), files(other)
    assert rows == rows_other
    assert tensors.keys() == tensors_other.keys()
    for name, value in tensors.items():
        assert np.array_equal(value, tensors_other[name]), name


def test_equal_seeds_give_equal_runs_and_others_do_not(tmp_path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        train(small("probe/action", steps=200, seed=seed), directory=tmp_path / name)
    assert_equal_runs(tmp_path / "a", tmp_path / "b")
    assert files(tmp_path / "a")[0] != files(tmp_path / "c")[0]


def test_evaluation_and_logging_never_change_training(tmp_path):
    quiet = small("probe/action", steps=200, eval_every=200, log_every=200, checkpoint_every=200)
    busy = small("probe/action", steps=200, eval_every=20, log_every=10, checkpoint_every=30)
    train(quiet, directory=tmp_path / "quiet")
    train(busy, directory=tmp_path / "busy")
    one, other = (load_latest(tmp_path / name).arrays for name in ("quiet", "busy"))
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_running_again_does_nothing(tmp_path):
    train(small("probe/action", steps=150), directory=tmp_path / "run")
    before = files(tmp_path / "run")[0]
    train(small("probe/action", steps=150), directory=tmp_path / "run")
    assert files(tmp_path / "run")[0] == before


def test_another_config_in_the_same_directory_is_refused(tmp_path):
    train(small("probe/action", steps=150), directory=tmp_path / "run")
    with pytest.raises(BadInputError, match="seed"):
        train(small("probe/action", steps=150, seed=1), directory=tmp_path / "run")


TD3 = TD3Config(actor=NET, critic=NET, batch_size=16, actor_lr=1e-3, critic_lr=1e-3)
CROSSQ = CrossQConfig(actor=NET, critic=NET, batch_size=16, actor_lr=1e-3, critic_lr=1e-3)


@pytest.mark.parametrize(
    ("env", "stops", "eval_every", "algo"),
    [
        ("dmc/cheetah-run", (130, 210, 310), 450, None),
        ("gym/Pendulum-v1", (130, 310), 300, None),
        ("gym/Hopper-v5", (130, 210, 310), 300, None),
        ("gym/Hopper-v5", (130, 211, 310), 300, TD3),
        ("gym/Pendulum-v1", (130, 310), 300, TD3),
        ("gym/Hopper-v5", (130, 211, 310), 300, CROSSQ),
    ],
    ids=["cheetah", "pendulum", "hopper", "td3-hopper", "td3-pendulum", "crossq-hopper"],
)
def test_interrupted_and_resumed_equals_uninterrupted(env, stops, eval_every, algo, tmp_path):
    """Pendulum cannot save its state: it goes on to the start of the next episode, then stops."""
    config = small(env, algo=algo, steps=450, warmup_steps=150, eval_every=eval_every)
    train(config, directory=tmp_path / "whole")

    def stop_at(step):
        def watch(run, event):
            if event == "step" and run.progress.env_step == step:
                signal.raise_signal(signal.SIGTERM)

        return watch

    for step in stops:
        with pytest.raises(InterruptedRunError, match="run the same command to continue"):
            train(config, directory=tmp_path / "parts", watch=stop_at(step))
    train(config, directory=tmp_path / "parts")
    assert_equal_runs(tmp_path / "whole", tmp_path / "parts")


def test_a_finished_run_can_be_extended(tmp_path):
    config = small("probe/action", steps=150, eval_every=1000)
    train(config, directory=tmp_path / "run")
    longer = dataclasses.replace(config, steps=250)
    train(longer, directory=tmp_path / "run", may_differ=("steps",))
    assert load_latest(tmp_path / "run").step == 250
    assert RunDir(tmp_path / "run").status == "finished"


PROBES = ("constant", "observation", "two-step", "action", "observation-action")


@pytest.mark.parametrize("name", PROBES)
def test_the_agent_finds_the_known_values(name, tmp_path, unchecked):
    """Q at random states and actions of its own policy, against the closed form."""
    net = NetConfig(Fourier(fourier_dim=32, sigma=0.1), MLPTrunk((64, 64)))
    algo = SACConfig(
        actor=net,
        critic=net,
        batch_size=64,
        actor_lr=3e-3,
        critic_lr=3e-3,
        alpha=FixedAlpha(value=1e-3),
        target=PolyakTarget(tau=0.05, period=1),  # quick, for the few updates there are
    )
    config = small(f"probe/{name}", algo=algo, steps=600, eval_every=5000, checkpoint_every=5000)
    env = make(f"probe/{name}", seed=0)
    train(config, directory=tmp_path / "run")
    agent = algo.build(Spaces((1,), 1))
    agent.load_state(to_tensors(load_latest(tmp_path / "run").arrays, "agent/"))
    errors = []
    for seed in range(20):
        obs, _ = env.reset(seed=seed)
        action = agent.act(torch.from_numpy(obs))
        q = agent.value(torch.from_numpy(obs), action).item()
        errors.append(abs(q - env.optimal_value(float(obs[0]), gamma=algo.gamma)))
    assert np.mean(errors) < 0.15, errors


class Broken(gymnasium.Env):
    """Gives a NaN after some steps."""

    def __init__(self, what):
        self.observation_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
        self.action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)
        self.what, self.count = what, 0

    def reset(self, *, seed=None, options=None):  # noqa: ARG002
        super().reset(seed=seed)
        return np.zeros(2, np.float32), {}

    def step(self, action):  # noqa: ARG002
        self.count += 1
        bad = self.count >= 180
        obs = np.full(2, math.nan if bad and self.what == "observation" else 0.1, np.float32)
        reward = math.inf if bad and self.what == "reward" else 1.0
        return obs, reward, False, self.count % 20 == 0, {}


@pytest.mark.parametrize("compile", ["off", "native"])
@pytest.mark.parametrize("what", ["observation", "reward"])
def test_a_nan_of_the_environment_stops_the_run_and_keeps_the_checkpoint(what, compile, tmp_path):
    config = small("own", steps=400, checkpoint_every=100, compile=compile)
    with pytest.raises(NonFiniteError, match=f"non-finite {what} at step 179"):
        train(config, directory=tmp_path / "run", env_fn=lambda _seed: Broken(what))
    assert load_latest(tmp_path / "run").step >= 100


def test_a_nan_in_the_weights_stops_within_one_update_and_is_named(tmp_path):
    def watch(run, event):
        if event == "step" and run.progress.env_step == 200:
            run.agent.networks["actor"].front.B.data[0, 0] = math.nan

    config = small("probe/action", steps=400, checkpoint_every=150)
    with pytest.raises(NonFiniteError, match=r"at step 200, first in actor/front\.B"):
        train(config, directory=tmp_path / "run", watch=watch)
    assert load_latest(tmp_path / "run").step == 150


def test_the_watch_warns_once_when_q_passes_what_rewards_can_give():
    config = SACConfig(actor=NET, critic=NET, gamma=0.9, alpha=FixedAlpha(value=0.5))
    agent = config.build(Spaces((3,), 3))
    watch = DivergenceWatch(agent)
    watch.reward(-2.0)
    limit = (2 + 0.5 * 3 * math.log(2)) / 0.1
    assert agent.value_limit(2.0) == pytest.approx(limit)
    assert not watch.passed(1.9, 1000)
    assert not watch.passed(limit - 0.01, 1000)
    assert watch.passed(limit + 0.01, 2001)
    text = watch.explain(torch.tensor([[1.0, -3.0], [21.0, -32.5]]))
    assert "at step 2,001: critic 2 of 2 says 32.5" in text
    assert not watch.passed(1e9, 3000)
    assert (watch.largest_reward, watch.seen_at) == (2.0, 2001)


def test_what_is_said_of_the_networks_by_hand(unchecked):
    config = SACConfig(actor=NET, critic=NET)
    agent = config.build(Spaces((3,), 2), generator=torch.Generator().manual_seed(0))
    replay = Replay(100, obs_dim=3, action_dim=2)
    rng = np.random.default_rng(0)
    for _ in range(100):
        obs, next_obs = rng.normal(size=(2, 3))
        replay.add(obs, rng.uniform(-1, 1, 2), 0.0, next_obs, terminated=False)
    batch = replay.sample(BATCH_SIZE, torch.Generator().manual_seed(1))
    metrics = network_metrics(agent.inputs(batch))
    B = agent.networks["critic"].stacked.front.B.numpy()
    assert B.shape == (2, 4, 5)
    assert metrics["lff/critic_B_std"] == pytest.approx(B.std(ddof=1), rel=1e-5)
    edges = np.linspace(-4, 4, 21) * B.std(ddof=1)
    assert metrics["lff/critic_B_histogram"] == np.histogram(B, edges)[0].tolist()
    x = torch.cat((batch.obs, batch.action), dim=-1).numpy()
    phases = np.abs(2 * np.pi * np.einsum("mfi,bi->mbf", B, x))
    for q in (5, 50, 95):
        expected = np.quantile(phases, q / 100)
        assert metrics[f"lff/critic_phase_q{q:02d}"] == pytest.approx(expected, rel=1e-3)
    actor = agent.networks["actor"]
    hidden = actor.trunk[:4](actor.front(batch.obs))
    values = np.linalg.svd(hidden.double().numpy(), compute_uv=False)
    rank = int(np.argmax(np.cumsum(values) / values.sum() >= 0.99)) + 1
    assert metrics["net/actor_effective_rank"] == rank


def test_the_histogram_keeps_what_lies_beyond():
    B = torch.zeros(1000)
    B[0], B[1] = 100.0, -100.0
    counts = _histogram(B, B.std().item())
    assert sum(counts) == 1000
    assert (counts[0], counts[-1]) == (1, 1)


def test_every_logged_metric_is_documented(tmp_path):
    kappa = FunctionalRegularization(kappa=1.0)  # its penalty is a metric of its own
    algo = SACConfig(actor=NET, critic=NET, batch_size=16, regularizers=(kappa,))
    train(small("probe/action", steps=200, algo=algo), directory=tmp_path / "run")
    names = {name for row in read_rows(tmp_path / "run" / "metrics.jsonl") for name in row}
    documented = set(re.findall(r"^\| `([^`]+)`", (ROOT / "docs/metrics.md").read_text(), re.M))
    assert names == documented


def test_metrics_hold_nothing_of_the_machine(tmp_path):
    train(small("probe/action", steps=150), directory=tmp_path / "run")
    text = (tmp_path / "run" / "metrics.jsonl").read_text()
    assert "second" not in text
    assert all("time" not in key for line in text.splitlines() for key in json.loads(line))
    assert "steps_per_second" in (tmp_path / "run" / "timing.jsonl").read_text()


@pytest.mark.parametrize("task", PAPER_TASKS)
@pytest.mark.parametrize("name", PresetName.__args__)
def test_every_preset_trains_every_task(task, name, tmp_path):
    """Sizes shrunk, σ kept."""
    chosen = preset(name, task)
    tiny = chosen.replace(hidden_dim=8, fourier_dim=8, batch_size=8, mlp="exact")
    algo = tiny.config("mlp", actor="lff").algo
    config = small(task, algo=algo, steps=2000, warmup_steps=20, eval_every=10_000)
    assert algo.actor.front.sigma == chosen.sizes.sigma
    finished = []

    def watch(run, event):
        finished.append(run.progress.updates)
        if run.progress.updates == 40:
            signal.raise_signal(signal.SIGTERM)  # before the final evaluation of 1,000 steps

    with pytest.raises(InterruptedRunError):
        train(config, directory=tmp_path / "run", watch=watch)
    assert 40 in finished


def test_presets_are_those_of_the_sources():
    table, text = (preset(n, "dmc/cheetah-run") for n in ("paper-table", "paper-text"))
    assert (table.sizes.sigma, table.sizes.fourier_dim, table.fields["critic_lr"]) == (
        0.003,
        64,
        1e-4,
    )
    assert (text.sizes.sigma, text.sizes.fourier_dim) == (0.001, 1024)
    assert preset("paper-text", "dmc/quadruped-run").sizes.sigma == 0.01
    assert preset("authors-readme", "dmc/walker-run").fields["actor_lr"] == 3e-4
    default = preset("default", "gym/Pendulum-v1").config().algo
    assert (default.batch_size, default.warmup_steps, default.target.period) == (256, 1_000, 1)
    assert default.actor_lr == default.critic_lr == default.alpha.lr == 3e-4
    assert default.critic.trunk.hidden == (256, 256)
    laptop = preset("laptop", "dmc/walker-run").config()
    assert laptop.algo.actor.trunk.hidden == (128, 128)
    assert (laptop.algo.batch_size, laptop.algo.critic.front.sigma) == (128, 0.01)


def test_a_preset_refuses_a_value_that_nothing_takes():
    with pytest.raises(BadInputError, match="did you mean sigma"):
        preset("laptop", "dmc/walker-run").replace(sigm=0.1)


@pytest.mark.parametrize("name", NetName.__args__)
def test_every_network_by_name(name):
    net = preset("laptop", "dmc/cheetah-run").sizes.net(name)
    assert net.build(23, 1)(torch.zeros(4, 23)).shape == (4, 1)


def test_short_runs_are_not_compiled():
    run = lambda steps: small(steps=steps, warmup_steps=5000)  # noqa: E731
    assert not worth_compiling(run(12_000))
    assert worth_compiling(run(13_000))
    assert worth_compiling(run(100_000))


def test_a_run_builds_two_simulators(tmp_path, monkeypatch):
    made = []
    counted = lambda *a, **k: made.append(1) or make(*a, **k)  # noqa: E731
    monkeypatch.setattr("lff.training.run.make", counted)
    config = small("probe/action", steps=200, eval_every=50)
    train(config, directory=tmp_path / "run", reference_episodes=2)
    assert len(made) == 2


@pytest.mark.parametrize("options", [{"steps": 0}, {"warmup_steps": 0}, {"seed": -1}], ids=str)
def test_bad_schedules(options):
    with pytest.raises(BadInputError, match=next(iter(options))):
        small(**options)


def test_no_target_and_configs_travel():
    algo = SACConfig(actor=NET, critic=NET, target=NoTarget())
    config = RunConfig(env="probe/action", algo=algo, steps=10)
    from lff.core import from_dict, to_dict

    assert from_dict(RunConfig, to_dict(config)) == config
