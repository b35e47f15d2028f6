"""Exact MDPs, gridworlds and fitted Q-iteration: tasks whose Q* is known."""

from lff.tabular.fqi import FQI, FQIConfig
from lff.tabular.gridworld import Grid, ObservedMDP, grid16_smooth, lava_grid
from lff.tabular.instruments import Instruments
from lff.tabular.learner import Learner
from lff.tabular.mdp import (
    MDP,
    ReturnScale,
    Transitions,
    evaluate,
    greedy,
    policy_return,
    solve,
    state_values,
    uniform_policy,
)
