"""Playing environments and comparing what was seen."""

import numpy as np


def actions_for(env, steps, *, seed=0):
    shape = (steps, *env.action_space.shape)
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def play(env, actions):
    """Step through the actions, resetting at ends; return one row of numbers per action."""
    rows, over = [], False
    for action in actions:
        if over:
            obs, _ = env.reset()
            rows.append((obs, 0.0, False, False))
            over = False
            continue
        obs, reward, terminated, truncated, _ = env.step(action)
        rows.append((obs, reward, terminated, truncated))
        over = terminated or truncated
    return rows


def assert_same(left, right):
    assert len(left) == len(right)
    for step, (a, b) in enumerate(zip(left, right, strict=True)):
        np.testing.assert_array_equal(a[0], b[0], err_msg=f"observation of step {step}")
        assert a[1:] == b[1:], f"step {step}"


def assert_plain(state):
    """A state must fit a safetensors file: a flat dict of arrays of plain numbers."""
    for name, value in state.items():
        assert isinstance(name, str)
        assert isinstance(value, np.ndarray)
        assert value.dtype.kind in "biuf", name
