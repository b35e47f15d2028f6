"""Algorithms: one file each, config, losses, agent.  No environment, no loop, no logging."""

from lff.algos.base import ALGORITHMS as ALGORITHMS
from lff.algos.base import Agent as Agent
from lff.algos.base import Algorithm as Algorithm
from lff.algos.base import Spaces as Spaces
from lff.algos.entropy import FixedAlpha as FixedAlpha
from lff.algos.entropy import LearnedAlpha as LearnedAlpha
from lff.algos.off_policy import NoTarget as NoTarget
from lff.algos.off_policy import PolyakTarget as PolyakTarget
from lff.algos.ppo import PPO as PPO
from lff.algos.ppo import PPOConfig as PPOConfig
from lff.algos.sac import SAC as SAC
from lff.algos.sac import SACConfig as SACConfig
from lff.algos.sac_pixels import PixelSACConfig as PixelSACConfig
