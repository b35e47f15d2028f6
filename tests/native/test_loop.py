"""Whole runs by the native update: resume, evaluation, errors, and where it is not possible."""

import dataclasses
import json
import math
import signal

import pytest
import torch

from lff.algos import SACConfig, Spaces
from lff.core.errors import BadInputError, InterruptedRunError, NonFiniteError
from lff.native.sac import config_gap, paying_threads, supports
from lff.regularizers import Dropout, LayerNorm, SpectralNorm
from lff.store import load_latest, read_rows
from lff.store.atomic import seal
from lff.training import train
from lff.training.networks import NetName
from lff.training.presets import preset
from lff.training.run import choose_compilation, native_gap
from tests.native.cases import Case, mlp
from tests.training.runs import small
from tests.training.test_training import TD3, assert_equal_runs


def native(env="gym/Hopper-v5", **options):
    values = {"steps": 330, "warmup_steps": 150, "normalize_obs": True, "eval_every": 160}
    return small(env, **(values | {"compile": "native"} | options))


def at_step(step, act):
    """Return a watch that acts once."""

    def watch(loop, event):
        if event == "step" and loop.progress.env_step == step:
            act(loop)

    return watch


def test_interrupted_and_resumed_equals_uninterrupted(tmp_path):
    train(native(), directory=tmp_path / "whole")
    stop = lambda _loop: signal.raise_signal(signal.SIGTERM)  # noqa: E731
    for step in (140, 211, 290):
        with pytest.raises(InterruptedRunError):
            train(native(), directory=tmp_path / "parts", watch=at_step(step, stop))
    train(native(), directory=tmp_path / "parts")
    assert_equal_runs(tmp_path / "whole", tmp_path / "parts")
    for path in (tmp_path / "whole" / "evaluations").iterdir():
        assert path.read_bytes() == (tmp_path / "parts" / "evaluations" / path.name).read_bytes()
    (row,) = read_rows(tmp_path / "whole" / "timing.jsonl")
    shares = [row[f"share/{name}"] for name in ("environment", "acting", "update", "evaluation")]
    assert all(share > 0 for share in shares)
    assert sum(shares) < 1


def test_evaluations_do_not_change_training(tmp_path):
    for name, every in (("often", 40), ("once", 10_000)):
        train(native(eval_every=every), directory=tmp_path / name)
    one, other = (load_latest(tmp_path / name).arrays for name in ("often", "once"))
    assert all((one[name] == other[name]).all() for name in one)


def test_the_first_update_and_evaluation_are_those_of_the_eager_loop(tmp_path):
    config = native(steps=151, warmup_steps=150)
    eager = dataclasses.replace(config, compute=dataclasses.replace(config.compute, compile="off"))
    rows = []
    for name, one in (("native", config), ("eager", eager)):
        train(one, directory=tmp_path / name)
        rows.append([*read_rows(tmp_path / name / "metrics.jsonl")])
    one, other = (load_latest(tmp_path / name).arrays for name in ("native", "eager"))
    for name, value in other.items():
        if name.startswith("stream/") or "adam/" not in name:
            torch.testing.assert_close(
                torch.from_numpy(one[name]), torch.from_numpy(value), rtol=1e-4, atol=2e-5
            )
    ours, theirs = (row[-1] for row in rows)
    assert ours["eval/return"] == pytest.approx(theirs["eval/return"], rel=1e-3)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("place", ["actor/trunk.0.weight", "critic/stacked.trunk.2.weight"])
def test_weights_that_are_not_finite_end_in_the_error_of_the_eager_loop(place, value, tmp_path):
    def spoil(loop):
        loop.agent.state()[place].view(-1)[3] = value

    messages = []
    for how in ("native", "off"):
        config = native(compile=how)
        with pytest.raises(NonFiniteError) as caught:
            train(config, directory=tmp_path / how, watch=at_step(200, spoil))
        messages.append(str(caught.value).replace(str(tmp_path / how), "RUN"))
    assert messages[0] == messages[1]


def test_a_resume_with_other_native_code_says_so_before_the_first_step(tmp_path):
    folder, said = tmp_path / "run", []

    def stop(loop):
        loop._interrupt()

    def listen(loop, event):
        if event in ("warning", "step"):
            said.append((event, loop.warning))

    with pytest.raises(InterruptedRunError):
        train(native(), directory=folder, watch=at_step(200, stop))
    info = json.loads((folder / "run.json").read_text())
    assert info["computed"]["by"] == "native"
    assert info["computed"].keys() == {"by", "key", "target", "compiler"}
    info["computed"]["key"] = "0" * 32
    del info["sha256"]
    (folder / "run.json").write_text(json.dumps(seal(info)))
    train(native(), directory=folder, watch=listen)
    event, text = said[0]
    assert event == "warning"
    assert "bits will differ" in text


def test_what_is_not_covered_is_refused_in_one_line(tmp_path):
    config = native(regularizers=(Dropout(p=0.1),))
    with pytest.raises(BadInputError, match="Dropout"):
        train(config, directory=tmp_path / "run")
    with pytest.raises(BadInputError, match="TD3"):
        train(small(algo=TD3, compile="native"), directory=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_auto_takes_native_where_it_can(monkeypatch, tmp_path):
    long = small(steps=3_000)
    assert choose_compilation(long) == "native"
    assert choose_compilation(small(steps=600)) == "off"
    assert "too short" in native_gap(small(steps=600))
    dropping = small(steps=20_000, regularizers=(Dropout(p=0.1),))
    assert choose_compilation(dropping) == "graph"
    assert "Dropout" in native_gap(dropping)
    assert "device" in native_gap(small(steps=3_000, device="cuda"))
    (tmp_path / "lff").touch()  # no folder can be made there
    with monkeypatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert choose_compilation(long) == "off"
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert choose_compilation(long) == "off"


@pytest.mark.parametrize(("width", "threads"), [(128, 1), (256, 2)])
def test_a_second_thread_is_for_wide_layers(width, threads):
    config = SACConfig(actor=mlp(16), critic=mlp(width))
    assert paying_threads(Case(config, obs=3, act=1).build(), 2) == threads


@pytest.mark.parametrize("name", NetName.__args__)
@pytest.mark.parametrize("regularizer", [None, LayerNorm(), Dropout(p=0.1), SpectralNorm()])
def test_a_config_and_its_agent_give_the_same_answer(name, regularizer):
    algo = preset("laptop", "dmc/cheetah-run").config(name).algo
    algo = dataclasses.replace(algo, regularizers=(regularizer,) if regularizer else ())
    if "simba" in name and isinstance(regularizer, LayerNorm | Dropout):  # it has norms of its own
        with pytest.raises(BadInputError, match="use another trunk"):
            algo.build(Spaces((17,), 6))
        return
    agent = algo.build(Spaces((17,), 6))
    assert (config_gap(algo, 512) is None) == (supports(agent, widest=512) is None)


def test_planning_draws_no_weights(monkeypatch):
    monkeypatch.setattr(SACConfig, "build", None)
    assert native_gap(small(steps=3_000)) is None
