"""The gridworlds as environments: Gymnasium's checker, and chances and rewards of the exact MDP."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from lff.core.errors import BadInputError
from lff.envs.grid import COLOURS, PIXELS, GridEnv, make_grid16, make_lava
from lff.tabular import evaluate, greedy, solve


@pytest.mark.parametrize("name", ["LavaGrid-v0", "Grid16SmoothObs-v0"])
@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.filterwarnings("ignore:.*render_fps.*|.*not within.*:UserWarning")
def test_gymnasiums_checker_is_content(name):
    env = gymnasium.make(f"lff.envs.grid:lff/{name}", render_mode="rgb_array")
    assert isinstance(env.unwrapped, GridEnv)
    check_env(env.unwrapped)


def test_steps_have_the_chances_and_rewards_of_the_mdp():
    env = make_grid16()
    mdp = env.task.mdp
    obs, info = env.reset(seed=0)
    np.testing.assert_array_equal(obs, env.task.obs[info["state"]])
    counts = np.zeros((2, 256))
    rng = np.random.default_rng(0)
    start = info["state"]
    for _ in range(4_000):
        env._at, env._time = start, 0
        action = int(rng.integers(2))
        _, reward, terminated, _, info = env.step(action)
        counts[action, info["state"]] += 1
        assert reward == mdp.R[start, action]
        assert not terminated
    share = counts / counts.sum(axis=1, keepdims=True)
    assert np.abs(share - mdp.P.matrix()[start, :2]).max() < 0.02


def test_an_episode_ends_after_its_steps_and_seeds_repeat_it():
    env = make_grid16(sampling="deterministic")
    told = []
    for _ in range(2):
        env.reset(seed=3)
        env.action_space.seed(3)
        steps = [env.step(env.action_space.sample()) for _ in range(50)]
        assert [truncated for *_, truncated, _ in steps] == [False] * 49 + [True]
        told.append([info["state"] for *_, info in steps])
    assert told[0] == told[1]


def test_returns_of_walks_are_those_of_the_exact_solution():
    env = make_lava(size=8, seed=1)
    mdp = env.task.mdp
    policy = greedy(solve(mdp))
    expected = float((policy * evaluate(mdp, policy)).sum(axis=-1) @ mdp.start)
    returns = []
    for episode in range(300):
        _, info = env.reset(seed=episode)
        total, at = 0.0, info["state"]
        for time in range(100):  # 0.9^100 is nothing
            _, reward, _, _, info = env.step(int(policy[at].argmax()))
            total, at = total + 0.9**time * reward, info["state"]
        returns.append(total)
    error = np.std(returns) / np.sqrt(len(returns))
    assert abs(np.mean(returns) - expected) < 4 * error + 1e-3


def test_the_picture_shows_tiles_and_the_agent():
    env = make_lava(size=8, seed=1, render_mode="rgb_array")
    _, info = env.reset(seed=0)
    picture = env.render()
    assert picture.shape == (8 * PIXELS, 8 * PIXELS, 3)
    for tile, colour in COLOURS.items():
        cells = int((picture[::PIXELS, ::PIXELS] == colour).all(axis=-1).sum())
        assert cells == int(env.task.grid.at(tile).sum())
    row, column = divmod(info["state"], 8)
    assert picture[PIXELS * row + 4, PIXELS * column + 4].tolist() == [33, 33, 33]
    assert make_lava(size=8).render() is None


def test_bad_use_is_told():
    env = make_lava(size=8)
    with pytest.raises(BadInputError, match="call reset"):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(BadInputError, match="action must be an integer from 0 to 4, got 5"):
        env.step(5)
    with pytest.raises(BadInputError, match="render_mode must be rgb_array"):
        make_lava(size=8, render_mode="human")
