import copy
import ctypes
import math
import os

import numpy as np
import pytest
import torch

from lff.algos import FixedAlpha, NoTarget, SACConfig
from lff.algos.base import Exploration
from lff.core import BadInputError
from lff.data import Batch
from lff.native import NativeSAC, supports
from lff.nn import MLPTrunk, NetConfig
from lff.nn.fronts import ConstantControl, LinearControl, TanhControl
from lff.regularizers import (
    BasisRule,
    Dropout,
    FunctionalRegularization,
    LayerNorm,
    SpectralNorm,
    WeightDecay,
)
from tests.native.cases import ROWS, Case, check_distances, distances, lff, mlp

LFF = Case(SACConfig(actor=lff(40, 40), critic=lff(40, 40), batch_size=40), obs=5, act=2)
PAIR = Case(LFF.config, obs=5, act=2, threads=2)
ODD = Case(
    SACConfig(
        actor=mlp(137, 32, 5),
        critic=mlp(37),
        batch_size=33,
        num_critics=1,
        alpha=FixedAlpha(),
        target=NoTarget(),
        target_noise=0.3,
        normalize_obs=True,
    ),
    obs=41,
    act=17,
)
REGULARIZED = Case(
    SACConfig(
        actor=NetConfig(ConstantControl(fourier_dim=14), MLPTrunk((40, 20))),
        critic=NetConfig(LinearControl(fourier_dim=20, sigma=0.1), MLPTrunk((33, 17))),
        batch_size=64,
        regularizers=(
            LayerNorm(),
            WeightDecay(coefficient=0.1, kind="decoupled"),
            BasisRule(lr=1e-3, decay=0.1, kind="l1", anchor=0.3),
        ),
    ),
    obs=7,
    act=3,
)
FIXED = Case(
    SACConfig(
        actor=lff(20, dim=10, trainable=False),
        critic=lff(40, 30, dim=34, trainable=False, concat_input=False),
        batch_size=20,
        num_critics=3,
    ),
    obs=3,
    act=1,
)
TANH = Case(
    SACConfig(
        actor=NetConfig(TanhControl(fourier_dim=14, sigma=0.2), MLPTrunk((20,))),
        critic=NetConfig(TanhControl(fourier_dim=20, sigma=0.5), MLPTrunk((33, 17))),
        batch_size=20,
    ),
    obs=3,
    act=2,
)
CASES = {"lff": LFF, "pair": PAIR, "odd": ODD, "regularized": REGULARIZED, "fixed": FIXED}
CASES |= {"tanh": TANH}


@pytest.mark.parametrize("name", CASES)
def test_single_steps_are_as_near_to_float64_as_eager_ones(name):
    check_distances(distances(CASES[name]))


def play(case, steps, *, start=None, seed=3):
    """Return an agent after some updates, from its start or another state."""
    agent = case.build()
    if start is not None:
        agent.load_state(start)
    native = NativeSAC(agent, threads=case.threads)
    replay = case.replay(torch.Generator().manual_seed(2))
    for step in steps:
        generator = torch.Generator().manual_seed(100 * seed + step)
        index, noise = native.draw_index(ROWS, generator), native.draw_noise(generator)
        native.update(replay, index, noise, actor=step % 3 > 0)
    return agent


def same_bits(one, two):
    other = two.state()
    return all(torch.equal(value, other[name]) for name, value in one.state().items())


def test_the_same_steps_give_the_same_bits_also_on_two_threads_and_after_a_resume():
    whole = play(LFF, range(20))
    assert same_bits(whole, play(LFF, range(20)))
    assert same_bits(whole, play(PAIR, range(20)))  # no sum is split between threads
    half = {name: value.clone() for name, value in play(LFF, range(9)).state().items()}
    assert same_bits(whole, play(LFF, range(9, 20), start=half))


def test_a_forked_child_computes_what_its_parent_does():
    agent = PAIR.build()
    native = NativeSAC(agent, threads=2)
    replay = PAIR.replay(torch.Generator().manual_seed(2))
    generator = torch.Generator().manual_seed(0)
    index, noise = native.draw_index(ROWS, generator), native.draw_noise(generator)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # the threads have stayed with the parent
        metrics = native.update(replay, index, noise)
        os.write(write, repr(metrics).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 10_000).decode() == repr(native.update(replay, index, noise))


def test_draws_are_those_of_the_eager_agent():
    agent = LFF.build()
    native = NativeSAC(agent)
    ours, theirs = (torch.Generator().manual_seed(5) for _ in range(2))
    for _ in range(2):
        for a, b in zip(
            native.draw_noise(ours), agent.draw(theirs, native.shape.batch)[:3], strict=True
        ):
            assert torch.equal(a, b)
        expected = torch.randint(ROWS, (40,), generator=theirs)
        assert torch.equal(native.draw_index(ROWS, ours), expected)


@pytest.mark.parametrize("name", ["lff", "odd", "regularized", "fixed", "tanh"])
def test_acting_equals_the_eager_policy_alone_and_in_a_batch(name):
    case = CASES[name]
    agent = case.build()
    generator = torch.Generator().manual_seed(0)
    agent.observe(torch.randn(20, case.obs, generator=generator).numpy())
    native = NativeSAC(agent)
    obs = torch.randn(11, case.obs, generator=generator)
    noise = torch.randn(11, case.act, generator=generator)
    for eps in (None, noise):
        expected = agent.act(obs, Exploration(eps))
        found = native.act_batch(obs.numpy(), None if eps is None else eps.numpy())
        torch.testing.assert_close(torch.from_numpy(found), expected, rtol=1e-5, atol=1e-6)
        for row in range(11):
            alone = native.act(obs[row].numpy(), None if eps is None else eps[row])
            assert np.array_equal(alone, found[row])


def broken(place, value):
    """Return a batch, a state and the noise with one number replaced."""
    agent = LFF.build()
    generator = torch.Generator().manual_seed(7)
    replay = LFF.replay(generator)
    noise = agent.draw(generator, LFF.config.batch_size)
    state = {name: tensor.clone() for name, tensor in agent.state().items()}
    where = replay._asdict() | state
    where[place].view(-1)[3] = value
    return replay, state, noise


PLACES = (
    "obs",
    "next_obs",
    "reward",
    "action",
    "actor/trunk.0.weight",
    "actor/trunk.4.bias",
    "actor/front.B",
    "critic/stacked.trunk.2.weight",
    "critic/stacked.front.B",
    "target/stacked.trunk.4.weight",
)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e30])
@pytest.mark.parametrize("place", PLACES)
def test_what_is_not_finite_shows_in_the_losses_as_in_eager(place, value):
    replay, state, noise = broken(place, value)
    eager, agent = LFF.build(), LFF.build()
    native = NativeSAC(agent)
    index = torch.arange(40)
    for one in (eager, agent):
        one.load_state(state)
    theirs = eager.update(Batch(*(column[index] for column in replay)), noise)
    ours = native.update(replay, index, noise)
    for name, expected in theirs.items():
        assert math.isfinite(ours[name]) == math.isfinite(expected), name


def functions(x):
    library = NativeSAC(LFF.build())._library
    padded = np.zeros(-(-len(x) // 16) * 16, np.float32)
    padded[: len(x)] = x
    out = [np.empty_like(padded) for _ in range(4)]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (padded, *out)]
    library.lff_functions(*pointers, len(padded))
    return [array[: len(x)] for array in out]


def test_sines_are_right_for_any_phase():
    pick = np.random.default_rng(0)
    sizes = 10 ** pick.uniform(-6, 12, 20_000)
    x = (pick.choice([-1, 1], 20_000) * sizes).astype(np.float32)
    x = np.concatenate([x, np.float32(np.pi / 2) * np.arange(-500, 500, dtype=np.float32)])
    sine, cosine, _, _ = functions(x)
    np.testing.assert_allclose(sine, np.sin(x.astype(float)), atol=1.5e-7, rtol=0)
    np.testing.assert_allclose(cosine, np.cos(x.astype(float)), atol=1.5e-7, rtol=0)
    for odd in functions(np.array([np.nan, np.inf, -np.inf], np.float32))[:2]:
        assert np.isnan(odd).all()


def test_tanh_and_exp_are_right():
    x = np.linspace(-80, 80, 40_001).astype(np.float32)
    _, _, tanh, exp = functions(x)
    np.testing.assert_allclose(tanh, np.tanh(x.astype(float)), atol=2e-7, rtol=2e-7)
    np.testing.assert_allclose(exp, np.exp(x.astype(float)), rtol=3e-7)
    assert np.isnan(functions(np.array([np.nan], np.float32))[2]).all()


@pytest.mark.parametrize(
    "regularizer", [Dropout(p=0.1), SpectralNorm(), FunctionalRegularization()]
)
def test_what_is_not_covered_is_named(regularizer):
    config = SACConfig(actor=mlp(8), critic=mlp(8, 8), regularizers=(regularizer,))
    agent = Case(config, obs=3, act=1).build()
    assert type(regularizer).__name__ in supports(agent)
    with pytest.raises(BadInputError, match=type(regularizer).__name__):
        NativeSAC(agent)


def test_other_nonlinearities_and_devices_are_named():
    net = NetConfig(trunk=MLPTrunk((8,), activation="tanh"))
    agent = Case(SACConfig(actor=net, critic=mlp(8)), obs=3, act=1).build()
    assert "Tanh" in supports(agent)
    assert supports(LFF.build()) is None


def test_no_compiler_is_named(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(BadInputError, match=r"no C\+\+ compiler.*install g\+\+"):
        NativeSAC(LFF.build())


def test_wide_layers_count_as_not_covered_on_request():
    assert supports(LFF.build(), widest=8) == "layers wider than 8"


def test_rows_that_are_not_there_are_refused():
    agent = LFF.build()
    native = NativeSAC(agent)
    before = copy.deepcopy(agent.state())
    replay = LFF.replay(torch.Generator().manual_seed(2))
    noise = native.draw_noise(torch.Generator().manual_seed(2))
    for wrong in (-1, ROWS):
        index = torch.zeros(40, dtype=torch.int64)
        index[7] = wrong
        with pytest.raises(BadInputError, match="below 400"):
            native.update(replay, index, noise)
    index, narrow = torch.zeros(40, dtype=torch.int64), replay._replace(obs=replay.obs[:, :1])
    for wrong in ((replay, index[:39], noise), (replay, index, agent.draw(torch.Generator(), 39))):
        with pytest.raises(BadInputError, match="of shape"):
            native.update(*wrong)
    with pytest.raises(BadInputError, match="like the agent's"):
        native.update(narrow._replace(obs=narrow.obs.contiguous()), index, noise)
    assert all(torch.equal(value, before[name]) for name, value in agent.state().items())
