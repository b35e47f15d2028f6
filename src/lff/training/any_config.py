"""The config of any training run; a stored one says by its type which it is."""

from lff.training.config import TrainConfig
from lff.training.ppo_config import PPOTrainConfig

AnyTrainConfig = TrainConfig | PPOTrainConfig
