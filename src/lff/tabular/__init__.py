"""Exact MDPs, gridworlds and fitted Q-iteration: tasks whose Q* is known."""

from lff.tabular.fqi import FQI as FQI
from lff.tabular.fqi import FQIConfig as FQIConfig
from lff.tabular.grid16 import ObservedMDP as ObservedMDP
from lff.tabular.grid16 import grid16_smooth as grid16_smooth
from lff.tabular.gridworld import Grid as Grid
from lff.tabular.gridworld import lava_grid as lava_grid
from lff.tabular.instruments import Instruments as Instruments
from lff.tabular.learner import Learner as Learner
from lff.tabular.mdp import MDP as MDP
from lff.tabular.mdp import Transitions as Transitions
from lff.tabular.solve import ReturnScale as ReturnScale
from lff.tabular.solve import evaluate as evaluate
from lff.tabular.solve import greedy as greedy
from lff.tabular.solve import policy_return as policy_return
from lff.tabular.solve import solve as solve
from lff.tabular.solve import state_values as state_values
from lff.tabular.solve import uniform_policy as uniform_policy
