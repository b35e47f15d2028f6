"""Short runs for tests: small agents on tasks that cost nothing."""

import dataclasses

import pytest
import torch

from lff.algos import PPOConfig, SACConfig, Spaces
from lff.envs import make
from lff.nn import Fourier, MLPTrunk, NetConfig
from lff.store import load_latest
from lff.training import Compute, RunConfig, Schedule, train
from lff.training.loop import to_tensors
from lff.training.presets import preset

NET = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((16, 16)))
TANH = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((16, 16), activation="tanh"))
MLP = NetConfig(trunk=MLPTrunk((16, 16), activation="tanh"))
SCHEDULE = {"log_every": 100, "eval_every": 600, "eval_episodes": 1, "checkpoint_every": 150}


def run_config(env, algo, **values):
    """Return a run; values go to the part whose field has their name."""
    parts = {"schedule": Schedule(), "compute": Compute(), "algo": algo}
    for name, part in parts.items():
        own = {f.name for f in dataclasses.fields(part)} & values.keys()
        parts[name] = dataclasses.replace(part, **{key: values.pop(key) for key in own})
    return RunConfig(env=env, **parts, **values)


def small(env="dmc/cheetah-run", *, algo=None, **options):
    """Return a run of SAC."""
    if algo is None:
        rates = {"actor_lr": 1e-3, "critic_lr": 1e-3}
        algo = SACConfig(actor=NET, critic=NET, batch_size=16, **rates)
    values = {"steps": 1200, "warmup_steps": 100} | SCHEDULE
    return run_config(env, algo, **(values | options))


def small_ppo(env="gym/Hopper-v5", *, agent=None, **options):
    """Return a run of PPO."""
    fields = {"rollout_steps": 120, "batch_size": 40, "epochs": 2, "lr": 1e-3}
    algo = PPOConfig(**({"actor": TANH, "critic": TANH} | fields | (agent or {})))
    values = {"steps": 600, "log_every": 100, "eval_every": 300, "eval_episodes": 1}
    return run_config(env, algo, **(values | {"checkpoint_every": 90} | options))


def tiny_pixels(task="dmc-pixels/cartpole-swingup", *, net="lff", **options):
    """Return forty actions of a tiny pixel agent."""
    sizes = {"size": 36, "cropped_size": 32, "num_filters": 4, "hidden_dim": 16, "fourier_dim": 8}
    values = {
        "steps": 320,
        "action_repeat": 8,
        "warmup_steps": 80,
        "log_every": 40,
        "eval_every": 320,
        "eval_episodes": 1,
        "checkpoint_every": 320,
        "batch_size": 4,
    }
    compute = {key: options.pop(key) for key in ("compile", "device") if key in options}
    config = preset("laptop", task).replace(**sizes, **(values | options)).config(net)
    return dataclasses.replace(config, compute=Compute(**compute))


def assert_learns_the_probe(algo, folder, *, steps, near):
    """Train on the task whose best action is half the observation and gives a return of 0."""
    task = "probe/observation-action"
    config = small(task, algo=algo, steps=steps, eval_every=5000, checkpoint_every=5000)
    train(config, directory=folder)
    agent = algo.build(Spaces((1,), 1))
    agent.load_state(to_tensors(load_latest(folder).arrays, "agent/"))
    env = make(task, seed=0)
    for seed in range(20):
        obs, _ = env.reset(seed=seed)
        action = agent.act(torch.from_numpy(obs))
        assert action.item() == pytest.approx(float(obs[0]) / 2, abs=near)
        assert agent.value(torch.from_numpy(obs), action).item() == pytest.approx(0, abs=near)
