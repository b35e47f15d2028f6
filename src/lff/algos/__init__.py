"""Algorithms: one file each, config, losses, agent.  No environment, no loop, no logging."""

from lff.algos.parts import sac_parts as sac_parts
from lff.algos.sac import SAC as SAC
from lff.algos.sac import FixedAlpha as FixedAlpha
from lff.algos.sac import LearnedAlpha as LearnedAlpha
from lff.algos.sac import Noise as Noise
from lff.algos.sac import NoTarget as NoTarget
from lff.algos.sac import PolyakTarget as PolyakTarget
from lff.algos.sac import SACConfig as SACConfig
