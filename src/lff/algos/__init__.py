"""Algorithms: one file each, config, losses, agent.  No environment, no loop, no logging."""

from lff.algos.base import ALGORITHMS, Agent, Algorithm, Spaces
from lff.algos.entropy import FixedAlpha, LearnedAlpha
from lff.algos.off_policy import NoTarget, PolyakTarget
from lff.algos.ppo import PPO, PPOConfig
from lff.algos.sac import SAC, SACConfig
from lff.algos.sac_pixels import PixelSACConfig
