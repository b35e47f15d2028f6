"""Algorithms: one file each, config, losses, agent.  No environment, no loop, no logging."""

from lff.algos.base import ALGORITHMS, Agent, Algorithm, Spaces
from lff.algos.off_policy import NoTarget, PolyakTarget
from lff.algos.ppo import PPO, PPOConfig
from lff.algos.sac import SAC, FixedAlpha, LearnedAlpha, SACConfig
from lff.algos.sac_pixels import PixelSACConfig
