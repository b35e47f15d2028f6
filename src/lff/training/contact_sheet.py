"""The first observations of a run from pixels as one image, so that a wrong camera is noticed."""

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from lff.store import write_bytes

FILE = "contact_sheet.png"
SHEET_AT = 16
"""Actions after which it is drawn."""
MARGIN = 4
TITLE_WIDTH = 64
LEAST_SIDE = 96
"""Smaller images are enlarged by a whole factor."""


def write_sheet(folder: Path, rows: Mapping[str, list[np.ndarray]]) -> None:
    """Write rows of images (:meth:`Agent.preview`) into the run directory, once."""
    path = folder / FILE
    if not path.exists():
        write_bytes(path, draw_sheet(rows))


def draw_sheet(rows: Mapping[str, list[np.ndarray]]) -> bytes:
    """Return a PNG with a titled row for each name."""
    large = {name: [_enlarged(one) for one in images] for name, images in rows.items()}
    side = max(one.shape[0] for images in large.values() for one in images) + MARGIN
    columns = max(len(images) for images in large.values())
    sheet = Image.new("RGB", (TITLE_WIDTH + side * columns, side * len(large)), "white")
    pen = ImageDraw.Draw(sheet)
    for row, (name, images) in enumerate(large.items()):
        pen.text((MARGIN, row * side + MARGIN), name, fill="black")
        for column, one in enumerate(images):
            sheet.paste(Image.fromarray(one), (TITLE_WIDTH + column * side, row * side))
    file = io.BytesIO()
    sheet.save(file, "PNG")
    return file.getvalue()


def _enlarged(image: np.ndarray) -> np.ndarray:
    factor = -(-LEAST_SIDE // image.shape[0])
    return np.ascontiguousarray(image.repeat(factor, axis=0).repeat(factor, axis=1))
