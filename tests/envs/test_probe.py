"""Probes: what they say their values are is what playing them gives."""

import numpy as np
import pytest

from lff.core import BadInputError
from lff.envs import make
from lff.envs.probe import BEST_ACTION, PROBES
from tests.envs.rollout import actions_for, assert_plain, assert_same, play

GAMMA = 0.9


def discounted(env, first_action):
    """Play an action, then the optimal ones; return the discounted sum of rewards."""
    total, discount, action, terminated = 0.0, 1.0, first_action, False
    while not terminated:
        obs, reward, terminated, truncated, _ = env.step(np.array([action]))
        assert not truncated
        total += discount * reward
        discount *= GAMMA
        action = env.probe.best(float(obs[0]))
    return total


@pytest.mark.parametrize("name", PROBES)
@pytest.mark.parametrize("action", [-1.0, -0.3, 0.5, 1.0])
def test_value_is_what_playing_gives(name, action):
    env = make(f"probe/{name}", seed=0)
    for _ in range(5):
        obs = float(env.reset()[0][0])
        q = env.optimal_q(obs, action, gamma=GAMMA)
        assert discounted(env, action) == pytest.approx(q, abs=1e-6)
        assert q <= env.optimal_value(obs, gamma=GAMMA)


def test_values_in_closed_form():
    value = {name: probe.value for name, probe in PROBES.items()}
    assert value["constant"](0.0, gamma=GAMMA) == 1.0
    assert value["observation"](-1.0, gamma=GAMMA) == -1.0
    assert value["two-step"](0.0, gamma=GAMMA) == GAMMA
    assert value["two-step"](1.0, gamma=GAMMA) == 1.0
    assert value["action"](0.0, gamma=GAMMA) == 0.0
    assert PROBES["action"].q(0.0, BEST_ACTION - 0.5, gamma=GAMMA) == -0.25
    assert PROBES["observation-action"].q(0.8, 0.0, gamma=GAMMA) == pytest.approx(-0.16)
    assert value["observation-action"](0.8, gamma=GAMMA) == 0.0


@pytest.mark.parametrize("name", PROBES)
def test_restored_probe_continues_bit_for_bit(name):
    first, second = make(f"probe/{name}", seed=1), make(f"probe/{name}", seed=2)
    first.reset()
    actions = actions_for(first, 20)
    if name == "two-step":
        first.step(actions[0])
    assert_plain(first.get_state())
    second.set_state(first.get_state())
    assert_same(play(first, actions), play(second, actions))


def test_seeds():
    starts = [make("probe/observation-action", seed=s).reset()[0][0] for s in (0, 1, 0)]
    assert starts[0] == starts[2] != starts[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "probe/two_step"}, "did you mean probe/two-step"),
        ({"task": "probe/action", "action_repeat": 2}, "the known values hold for 1"),
        ({"task": "probe/action", "render": True}, "does not draw images"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(BadInputError, match=message):
        make(seed=0, **arguments)
