"""The first observations of a run from pixels as one picture, so that a wrong camera is seen.

raw         the newest frame as the environment drew it
augmented   the same as it comes in a batch
acting      the same as the policy sees it, without chance
motion      how the newest frame differs from the oldest of the stack
waves       three sines of the Fourier front, as red, green and blue; for LFF alone
"""

import io
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from lff.algos import SAC
from lff.core.seeding import stream_seed
from lff.data import FrameReplay
from lff.data.augment import augment
from lff.nn import LearnedFourierFeatures2d, PixelCritic
from lff.store import write_bytes

FILE = "contact_sheet.png"
SHEET_AT = 16
"""Actions after which it is drawn."""
MOMENTS = 8
MARGIN = 4
TITLE_WIDTH = 64
LEAST_SIDE = 96
"""Smaller pictures are enlarged by a whole factor."""


def keep_sheet(folder: Path, agent: SAC, replay: FrameReplay, *, seed: int) -> None:
    """Write the sheet into the run directory, once; draws come from a stream of its own."""
    path = folder / FILE
    if not path.exists():
        generator = torch.Generator().manual_seed(stream_seed(seed, "contact sheet"))
        write_bytes(path, draw_sheet(sheet_rows(agent, replay, generator)))


def sheet_rows(
    agent: SAC, replay: FrameReplay, generator: torch.Generator
) -> dict[str, list[np.ndarray]]:
    """Return the pictures of each row, (height, width, 3) uint8."""
    batch = replay.sample(MOMENTS, generator)
    raw = batch.obs
    channels = replay.frame_channels
    changed, _ = augment(agent.config.augmentation, raw, batch.next_obs, generator)
    settled = agent.settle(raw)
    motion = 127.5 + (raw[:, -channels:].float() - raw[:, :channels].float()) / 2
    rows = {
        "raw": raw[:, -channels:],
        "augmented": changed[:, -channels:],
        "acting": settled[:, -channels:],
        "motion": motion,
    }
    front = agent.critic.encoder.front if isinstance(agent.critic, PixelCritic) else None
    if isinstance(front, LearnedFourierFeatures2d):
        with torch.inference_mode():
            waves = front((settled / 255).to(front.B))[:, :channels]
        rows["waves"] = 127.5 * (1 + waves)
    return {name: [_picture(one) for one in pictures] for name, pictures in rows.items()}


def draw_sheet(rows: dict[str, list[np.ndarray]]) -> bytes:
    """Return a PNG with a titled row for each name."""
    from PIL import Image, ImageDraw

    large = {name: [_enlarged(one) for one in pictures] for name, pictures in rows.items()}
    side = max(one.shape[0] for pictures in large.values() for one in pictures) + MARGIN
    columns = max(len(pictures) for pictures in large.values())
    sheet = Image.new("RGB", (TITLE_WIDTH + side * columns, side * len(large)), "white")
    pen = ImageDraw.Draw(sheet)
    for row, (name, pictures) in enumerate(large.items()):
        pen.text((MARGIN, row * side + MARGIN), name, fill="black")
        for column, one in enumerate(pictures):
            sheet.paste(Image.fromarray(one), (TITLE_WIDTH + column * side, row * side))
    file = io.BytesIO()
    sheet.save(file, "PNG")
    return file.getvalue()


def _picture(image: Tensor) -> np.ndarray:
    """Return (channel, height, width) as (height, width, 3) bytes; grey becomes three channels."""
    pixels: np.ndarray = image.clamp(0, 255).to(torch.uint8).permute(1, 2, 0).numpy()
    return pixels if pixels.shape[2] == 3 else np.repeat(pixels[:, :, :1], 3, axis=2)


def _enlarged(picture: np.ndarray) -> np.ndarray:
    factor = -(-LEAST_SIDE // picture.shape[0])
    return np.ascontiguousarray(picture.repeat(factor, axis=0).repeat(factor, axis=1))
