"""Gymnasium's and Stable-Baselines3's checkers accept every family."""

import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_env_sb3

from lff.envs import PAPER_TASKS, make
from lff.envs.probe import PROBES

TASKS = (
    *PAPER_TASKS,
    "gym/HalfCheetah-v5",
    "gym/Humanoid-v5",
    "gym/Pendulum-v1",
    "gym/MountainCarContinuous-v0",
    *(f"probe/{name}" for name in PROBES),
    "tests.envs.homemade:plain",
)


@pytest.mark.parametrize("task", TASKS)
# the simulators set no bounds to their observations, and the checker minds
@pytest.mark.filterwarnings("ignore:.*A Box observation space m.*imum value is -?infinity")
def test_checkers_accept(task):
    check_env(make(task, seed=0), skip_render_check=True)
    check_env_sb3(make(task, seed=0))
