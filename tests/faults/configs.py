from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    """A run's config, importable by a child."""

    seed: int = 0
