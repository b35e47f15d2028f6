"""How fast is a batch of augmented images, and what memory does its replay take?

    python benchmarks/pixel_batches.py [--rounds 31] [--capacity 2000]

Ours stores each frame once, copies only the windows of a crop and hands over uint8.  The peer does
it as RAD does: observation and next observation stored whole, a fancy index for the batch, a crop
of one image after another, float32 tensors; its encoder then looks for the largest value and
divides by 255.  Both draw the same transitions and corners, and their batches are compared bit for
bit first.  ``batch`` is the ratio of the times until the batch is there, ``scaled`` until the
scaled floats are that the first layer reads.  Sizes of the paper and smaller ones, one thread,
taking turns.  The last line is one JSON object.
"""

import argparse
import json

import numpy as np
import torch
from interleaved import measure
from rad_style import Buffer, Tensors
from torch import Tensor
from turns import median_and_quartiles

from lff.data import Batch, FrameReplay, RandomCrop, RandomTranslate

STACK, ACTIONS, EPISODE, PAPER = 3, 6, 250, 100_000
Augmentation = RandomCrop | RandomTranslate
SETTINGS: dict[str, tuple[int, int, Augmentation]] = {
    "crop_100": (100, 128, RandomCrop(size=84)),
    "translate_100": (100, 128, RandomTranslate(size=108)),
    "crop_56": (56, 64, RandomCrop(size=48)),
}
"""Side of an image, batch size, augmentation."""


def fill(capacity: int, side: int, augmentation: Augmentation) -> tuple[FrameReplay, Buffer]:
    """Give both the same episodes of noise."""
    g = np.random.default_rng(0)
    shape = (3 * STACK, side, side)
    ours = FrameReplay(capacity, obs_shape=shape, action_dim=ACTIONS, augmentation=augmentation)
    theirs = Buffer(capacity, shape, ACTIONS)
    for number in range(capacity):
        if number % EPISODE == 0:
            obs = np.concatenate([g.integers(0, 256, (3, side, side), dtype=np.uint8)] * STACK)
            ours.begin(obs)
        frame = g.integers(0, 256, (3, side, side), dtype=np.uint8)
        next_obs = np.concatenate([obs[3:], frame])
        action, reward = g.standard_normal(ACTIONS).astype(np.float32), float(g.random())
        ours.add(obs, action, reward, next_obs, terminated=False)
        theirs.add(obs, action, reward, next_obs, terminated=False)
        obs = next_obs
    return ours, theirs


def compare(key: str, capacity: int, rounds: int) -> dict[str, tuple[float, list[float]]]:
    side, size, augmentation = SETTINGS[key]
    ours, theirs = fill(capacity, side, augmentation)
    generators = [torch.Generator().manual_seed(0) for _ in range(4)]

    def ours_batch(generator: torch.Generator = generators[0]) -> Batch:
        return ours.sample(size, generator)

    def ours_scaled() -> list[Tensor]:
        batch = ours_batch(generators[1])
        return [x.to(torch.float32) / 255 for x in (batch.obs, batch.next_obs)]

    def peer_batch(generator: torch.Generator = generators[2]) -> Tensors:
        return theirs.sample(size, generator, augmentation)

    def peer_scaled() -> list[Tensor]:
        obs, *_, next_obs, _ = peer_batch(generators[3])
        return [x / 255 if x.max() > 1 else x for x in (obs, next_obs)]

    for one, other in zip(ours_batch()[:-1], peer_batch()[:-1], strict=True):
        assert torch.equal(one.to(other.dtype), other.view_as(one)), "the batches differ"
    runs = {
        "ours_batch": ours_batch,
        "peer_batch": peer_batch,
        "ours_scaled": ours_scaled,
        "peer_scaled": peer_scaled,
    }
    times = measure(runs, rounds=rounds)
    found = {}
    for name in ("batch", "scaled"):
        pairs = zip(times[f"peer_{name}"], times[f"ours_{name}"], strict=True)
        found[name] = median_and_quartiles([a / b for a, b in pairs])
        ms = [1e3 * float(np.median(times[f"{who}_{name}"])) for who in ("ours", "peer")]
        ratio, spread = found[name]
        print(f"  {key}, {name}: {ratio:.2f}x, quartiles {spread}; {ms[0]:.2f} and {ms[1]:.2f} ms")
    return found


def memory() -> dict[str, float]:
    """GB for the paper's 100,000 transitions, from the sizes of what each one allocates."""
    per_thousand = Buffer(1000, (3 * STACK, 100, 100), ACTIONS).nbytes()
    ours = FrameReplay.bytes_needed(PAPER, action_dim=ACTIONS)
    return {"ours": round(ours / 1e9, 2), "peer": round(per_thousand * PAPER / 1000 / 1e9, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--capacity", type=int, default=2000, help="transitions in the replay")
    parser.add_argument("--settings", nargs="+", choices=[*SETTINGS], default=[*SETTINGS])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    ratios, spreads = {}, {}
    for key in arguments.settings:
        for name, (ratio, spread) in compare(key, arguments.capacity, arguments.rounds).items():
            ratios[f"{key}_{name}"], spreads[f"{key}_{name}"] = round(ratio, 3), spread
    gigabytes = memory()
    print(f"  100,000 transitions of 9x100x100: {gigabytes['ours']} GB, {gigabytes['peer']} GB")
    print(json.dumps({"ratios": ratios, "spread": spreads, "memory": gigabytes}))


if __name__ == "__main__":
    main()
