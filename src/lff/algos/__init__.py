"""Algorithms: one file each, config, losses, agent.  No environment, no loop, no logging."""

from lff.algos.alpha import FixedAlpha as FixedAlpha
from lff.algos.alpha import LearnedAlpha as LearnedAlpha
from lff.algos.ppo import PPO as PPO
from lff.algos.ppo_config import PPOConfig as PPOConfig
from lff.algos.sac import SAC as SAC
from lff.algos.sac import Noise as Noise
from lff.algos.sac import SACConfig as SACConfig
from lff.algos.target import NoTarget as NoTarget
from lff.algos.target import PolyakTarget as PolyakTarget
