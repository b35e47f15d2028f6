"""Interface of every agent: spaces, state, target networks."""

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box

from lff.algos import Agent, PPOConfig, Spaces
from lff.algos.base import GREEDY
from lff.core import BadInputError
from lff.envs import make as make_env
from lff.nn import MLPTrunk, NetConfig
from lff.regularizers import SpectralNorm
from tests.algos.pixel_agents import advance, make_pixel_agent
from tests.regularizers.agents import ACT, OBS, make

NET = NetConfig(trunk=MLPTrunk((8,)))
AGENTS = {
    "sac": make,
    "sac-pixels": make_pixel_agent,
    "ppo": lambda: PPOConfig(actor=NET, critic=NET).build(Spaces((OBS,), ACT)),
}
agents = pytest.mark.parametrize("build", AGENTS.values(), ids=AGENTS.keys())


class Imaged:
    """What a single environment with image observations shows of itself."""

    observation_space = Box(0, 255, (9, 84, 84), np.uint8)
    action_space = Box(-1.0, 1.0, (2, 3), np.float32)


def test_spaces_of_environments():
    env = make_env("probe/observation-action", seed=0)
    assert Spaces.of(env) == Spaces(env.observation_space.shape, env.action_space.shape[0])
    assert Spaces.of(Imaged()) == Spaces((9, 84, 84), 6)
    assert Spaces.of(Imaged()).obs_dim == 9 * 84 * 84


def test_spaces_of_a_vector_environment_are_those_of_one():
    single, vector = gymnasium.make("Pendulum-v1"), gymnasium.make_vec("Pendulum-v1", num_envs=3)
    assert Spaces.of(single) == Spaces.of(vector) == Spaces((3,), 1)
    for n in (*Spaces.of(vector).obs, Spaces.of(vector).action):
        assert type(n) is int  # they are written into a checkpoint's manifest
    single.close()
    vector.close()


@agents
def test_load_state_refuses_other_names_and_shapes(build):
    agent = build()
    assert isinstance(agent, Agent)
    before = {name: value.clone() for name, value in agent.state().items()}
    name = next(n for n, value in before.items() if n.startswith("actor/") and value.ndim == 2)
    other = {n: value + 1 for n, value in before.items()}
    for wrong in (other[name].T.contiguous(), other[name][:1], other[name][None]):
        with pytest.raises(BadInputError, match=f"checkpoint must be of this agent.*{name}"):
            agent.load_state(other | {name: wrong})
    with pytest.raises(BadInputError, match=name):
        agent.load_state({n: value for n, value in other.items() if n != name})
    with pytest.raises(BadInputError, match="unheard/of"):
        agent.load_state(other | {"unheard/of": torch.zeros(1)})
    for n, value in agent.state().items():
        assert torch.equal(value, before[n]), n  # nothing was copied


@agents
def test_load_state_copies_into_the_same_memory(build):
    agent = build()
    places = {name: value.data_ptr() for name, value in agent.state().items()}
    agent.load_state({name: value.clone() for name, value in agent.state().items()})
    assert {name: value.data_ptr() for name, value in agent.state().items()} == places


@pytest.mark.parametrize("build", [make, make_pixel_agent], ids=["sac", "sac-pixels"])
def test_the_target_network_shares_memory_with_the_state(build):
    agent = build(SpectralNorm())
    network, state = agent.networks["critic_target"], agent.state()
    parameters = dict(network.named_parameters())
    assert parameters
    for name, parameter in parameters.items():
        assert parameter.data_ptr() == state[f"target/{name}"].data_ptr(), name
        assert parameter.data_ptr() != state[f"critic/{name}"].data_ptr(), name
        assert not parameter.requires_grad
    vectors = {name: x for name, x in network.named_buffers() if name.endswith((".u", ".v"))}
    assert vectors
    for name, vector in vectors.items():
        assert vector.data_ptr() == state[f"target/{name}"].data_ptr(), name


def test_the_target_network_follows_the_updates():
    agent = make_pixel_agent()
    network = agent.networks["critic_target"]
    before = {name: value.clone() for name, value in network.named_parameters()}
    advance(agent, 2)
    for name, value in network.named_parameters():
        assert torch.equal(value, agent.target[name]), name
    assert any(not torch.equal(value, before[n]) for n, value in network.named_parameters())


@agents
def test_exploration_is_drawn_outside(build):
    agent = build()
    g = torch.Generator().manual_seed(0)
    before = g.get_state()
    assert agent.explore(g, (3,), greedy=True) == GREEDY
    assert torch.equal(g.get_state(), before)
    assert agent.explore(g, (3,)).noise.shape == (3, agent.spaces.action)
    assert agent.explore(g).noise.shape == (agent.spaces.action,)
