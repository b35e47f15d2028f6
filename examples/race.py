"""Film the policies of two runs of Figure 5 side by side: same task, same seed, same steps.

    python examples/race.py [--out runs/race] [--seconds 5]

Trains the runs of ``fig5`` with an MLP and with LFF on cheetah-run again (minutes each; run again,
it takes the finished runs) and writes race.gif, small enough for a README: one palette of 64
colours, 12.5 frames a second.  Needs the extras dmc and video, and OpenGL.
"""

import itertools
from argparse import ArgumentParser
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from lff.experiments import find_experiment
from lff.runs.load import load
from lff.runs.play import Player
from lff.training import train

SIZE, BAR, FPS, COLORS = (240, 180), 26, 12.5, 64

parser = ArgumentParser(description=__doc__)
parser.add_argument("--out", type=Path, default=Path("runs/race"), help="folder to write to")
parser.add_argument("--steps", type=int, default=60_000, help="of each run; fig5 has 60,000")
parser.add_argument(
    "--seed",
    type=int,
    default=18,
    help="of both runs, 10 to 19; LFF's lead at the end is the median of the ten with 11 and 18",
)
parser.add_argument("--seconds", type=float, default=5.0, help="length of the film")
arguments = parser.parse_args()

font = ImageFont.load_default(size=14)


def labelled(frame: np.ndarray, text: str) -> np.ndarray:
    """Return a frame with a line of text above it."""
    image = Image.new("RGB", (SIZE[0], SIZE[1] + BAR), "white")
    image.paste(Image.fromarray(frame).resize(SIZE), (0, BAR))
    ImageDraw.Draw(image).text((8, 4), text, fill="black", font=font)
    return np.asarray(image)


films: list[list[np.ndarray]] = []
for cell in find_experiment("fig5").cells("laptop"):
    if (cell.task, cell.seed) != ("dmc/cheetah-run", arguments.seed):
        continue
    name, config = cell.variant, replace(cell.job.config, steps=arguments.steps)
    run = train(config, directory=arguments.out / name.lower())
    film: list[np.ndarray] = []
    total = 0.0
    with closing(Player(load(run.path), seed=0, render=True)) as player:
        every = max(1, round(player.fps / FPS))
        count = round(arguments.seconds * player.fps)
        shots: list[np.ndarray] = []
        for reward in itertools.islice(player.episode(0, film=shots.append, every=every), count):
            total += reward
            if len(shots) > len(film):
                film.append(labelled(shots[-1], f"{name}   return so far {total:.0f}"))
    films.append(film)
    print(f"{name}: return {total:.1f} in {count} steps after {config.steps:,} of training")
both = [Image.fromarray(np.concatenate(pair, axis=1)) for pair in zip(*films, strict=True)]
palette = both[len(both) // 2].quantize(
    COLORS
)  # one for all frames, without dithering: less to store
frames = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in both]
path = arguments.out / "race.gif"
frames[0].save(path, save_all=True, append_images=frames[1:], duration=round(1000 / FPS), loop=0)
print(f"film: {path}, {len(frames)} frames, {path.stat().st_size / 1e6:.2f} MB")
