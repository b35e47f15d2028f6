"""Replay memories, rollouts and augmentation: data between environment and agent."""

from lff.data.augment import Augmentation, NoAugmentation, RandomCrop, RandomTranslate, augment
from lff.data.frames import FrameReplay
from lff.data.replay import Batch, Memory, Replay
