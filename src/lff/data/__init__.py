"""Data on its way from environment to agent."""

from lff.data.augment import Augmentation as Augmentation
from lff.data.augment import NoAugmentation as NoAugmentation
from lff.data.augment import RandomCrop as RandomCrop
from lff.data.augment import RandomTranslate as RandomTranslate
from lff.data.augment import augment as augment
from lff.data.batch import Batch as Batch
from lff.data.frames import FrameReplay as FrameReplay
from lff.data.memory import Memory as Memory
from lff.data.replay import Replay as Replay
