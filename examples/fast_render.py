"""Fast rendering beside faithful rendering: the paper's four tasks, faithful above, fast below.

    python examples/fast_render.py [--out runs/fast_render]

Needs the extras dmc and video.  The images are the agent's observations, 100 x 100, enlarged.
"""

import argparse
from pathlib import Path

import numpy as np
from PIL import Image

from lff.envs import PAPER_PIXEL_TASKS, PixelView, make

ENLARGED = 3
GAP = 4


def observed(task: str, *, fast: bool, size: int) -> np.ndarray:
    """Return the last image of a short episode of random actions: size x size x 3."""
    env = make(task, seed=1, view=PixelView(size=size, frame_stack=1, fast_render=fast))
    obs, _ = env.reset()
    for action in np.random.default_rng(0).uniform(-1, 1, (20, *env.action_space.shape)):
        obs, *_ = env.step(action)
    env.close()
    return obs.transpose(1, 2, 0)


def sheet(size: int) -> np.ndarray:
    """Return the images of all tasks side by side, white between them."""
    frame = ((GAP, GAP), (GAP, GAP), (0, 0))
    rows = []
    for fast in (False, True):
        images = [observed(task, fast=fast, size=size) for task in PAPER_PIXEL_TASKS]
        large = [p.repeat(ENLARGED, axis=0).repeat(ENLARGED, axis=1) for p in images]
        rows.append(np.hstack([np.pad(p, frame, constant_values=255) for p in large]))
    return np.vstack(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the four tasks, faithful and fast.")
    parser.add_argument("--out", type=Path, default=Path("runs/fast_render"), help="folder")
    parser.add_argument("--size", type=int, default=100, help="side of an image in pixels")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "fast_render.png"
    Image.fromarray(sheet(arguments.size)).save(path, optimize=True)
    print("figure:", path)


if __name__ == "__main__":
    main()
