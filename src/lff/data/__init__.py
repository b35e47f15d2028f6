"""Data on its way from environment to agent."""

from lff.data.batch import Batch as Batch
from lff.data.replay import Replay as Replay
