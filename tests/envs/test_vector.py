import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from lff.core.errors import BadInputError, RunError
from lff.envs import make
from lff.envs.processes import Subprocesses
from lff.envs.vector import EnvSlot, FromGymnasium, InProcess
from tests.envs.timed import LIMIT, chain


def inside(task, count, *, seed=0):
    return InProcess(
        [EnvSlot(lambda s: make(task, seed=s), seed=seed, index=i) for i in range(count)]
    )


def play(envs, steps, *, seed=0):
    rng = np.random.default_rng(seed)
    return [
        envs.step(rng.uniform(-1, 1, (envs.num_envs, envs.action_dim)).astype(np.float32))
        for _ in range(steps)
    ]


def assert_same(some, others):
    for one, other in zip(some, others, strict=True):
        for name, a, b in zip(one._fields, one, other, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=name)
            assert a.dtype == b.dtype


def test_processes_do_what_this_process_does_and_both_can_be_resumed():
    # Hopper falls after some twenty steps: episodes end at different times
    near, far = inside("gym/Hopper-v5", 3), Subprocesses("gym/Hopper-v5", seed=0, num_envs=3)
    try:
        np.testing.assert_array_equal(near.reset(), far.reset())
        first = play(near, 40)
        assert_same(first, play(far, 40))
        assert any(m.terminated.any() for m in first)
        kept, also = near.get_state(), far.get_state()
        assert kept.keys() == also.keys()
        rest = play(near, 30, seed=1)
        assert_same(rest, play(far, 30, seed=1))
        fresh = inside("gym/Hopper-v5", 3)
        for envs in (fresh, far):  # the state of one is good for the other
            envs.set_state(also if envs is fresh else kept)
            assert_same(rest, play(envs, 30, seed=1))
    finally:
        far.close()


def test_what_cannot_save_its_state_is_played_again():
    task = "tests.faults.environments:swing"
    envs, other = inside(task, 2), inside(task, 2)
    envs.reset()
    play(envs, 50)  # 35 a episode: in the second one
    other.set_state(envs.get_state())
    assert_same(play(envs, 40, seed=1), play(other, 40, seed=1))


def test_a_restored_environment_that_does_not_repeat_itself_is_told(caplog):
    envs = inside("tests.faults.environments:swing", 1)
    envs.reset()
    play(envs, 3)
    state = envs.get_state()
    state["0/obs"] = state["0/obs"] + 1
    envs.set_state(state)
    assert "does not repeat itself" in caplog.text


def test_episodes_depend_on_seed_and_place_alone():
    one, other = inside("gym/Hopper-v5", 2, seed=3), inside("gym/Hopper-v5", 4, seed=3)
    first, more = one.reset(), other.reset()
    np.testing.assert_array_equal(first, more[:2])
    assert len({row.tobytes() for row in more}) == 4


def test_an_error_in_a_process_is_told_in_one_line():
    envs = Subprocesses("tests.faults.environments:raising", seed=0, num_envs=2, workers=1)
    try:
        envs.reset()
        with pytest.raises(RunError, match="ArithmeticError: the swing broke") as caught:
            play(envs, 200)
        assert "\n" not in str(caught.value)
    finally:
        envs.close()


def test_a_process_that_is_gone_is_told():
    envs = Subprocesses("probe/two-step", seed=0, num_envs=2, workers=1)
    try:
        envs.reset()
        envs._children[0].kill()
        with pytest.raises(RunError, match="ended with exit code -9"):
            play(envs, 2)
    finally:
        envs.close()


@pytest.mark.parametrize("mode", [*AutoresetMode])
@pytest.mark.parametrize("count", [1, 4])
def test_every_mode_of_gymnasium_tells_the_same_story(mode, count):
    """Valid steps, environment by environment, are those of an environment stepped by hand."""
    envs = FromGymnasium(
        SyncVectorEnv([lambda: chain(seed=0)] * count, autoreset_mode=mode), seed=0
    )
    start = envs.reset()
    moments = play(envs, 60)
    for i in range(count):
        obs, age = start[i], 0
        for moment in moments:
            if not moment.valid[i]:
                assert mode is AutoresetMode.NEXT_STEP
                assert (moment.reward[i], moment.frames[i]) == (0, 0)
                obs = moment.obs[i]
                continue
            age += 1
            ended = moment.terminated[i] or moment.truncated[i]
            assert moment.truncated[i] == (age == LIMIT)
            assert moment.reward[i] == 1
            if not moment.terminated[i]:  # V(k) = 1 + γ V(k + 1)
                np.testing.assert_allclose(obs, 1 + 0.9 * moment.next_obs[i], rtol=1e-5)
            obs, age = moment.obs[i], 0 if ended else age
    both = np.array([m.truncated for m in moments]), np.array([m.terminated for m in moments])
    assert all(ends.any(axis=0).all() for ends in both)


def test_what_is_no_vector_for_us_is_refused():
    discrete = SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")])
    with pytest.raises(BadInputError, match="bounded Box"):
        FromGymnasium(discrete, seed=0)
