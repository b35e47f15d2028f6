"""Randomness from named streams derived from one seed.

    seed 0 -> "replay", "exploration", "evaluation/10000", …

A stream's numbers depend on the seed and its name alone, never on what other streams have drawn: so
evaluation and logging cannot change training, and a part added later cannot either.
"""

import hashlib

from lff.core.errors import BadInputError


def stream_seed(seed: int, name: str) -> int:
    """Return the 63-bit seed of a named stream.

    >>> stream_seed(0, "replay") == stream_seed(0, "replay") != stream_seed(1, "replay")
    True
    """
    if seed < 0:
        raise BadInputError("seed", seed, "an integer >= 0", "use 0")
    text = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return int.from_bytes(text[:8], "little") >> 1


def env_seed(seed: int, name: str) -> int:
    """Return a named stream's seed cut to the 31 bits that simulators take."""
    return stream_seed(seed, name) >> 32
