"""Film the policies of two runs side by side: same task, same seed, same number of steps.

    python examples/race.py [--out runs/race] [--steps 60000] [--seconds 5]

Trains SAC with an MLP and with LFF on cheetah-run (preset ``laptop``, minutes each; run again, it
takes the finished runs) and writes race.gif, small enough for a README: one palette of 64 colours,
12.5 frames a second.  Needs the extras dmc and video, and OpenGL.
"""

import itertools
from argparse import ArgumentParser
from contextlib import closing
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import lff
from lff.runs.play import Player

SIZE, BAR, FPS, COLORS = (240, 180), 26, 12.5, 64

parser = ArgumentParser(description=__doc__)
parser.add_argument("--out", type=Path, default=Path("runs/race"), help="folder to write to")
parser.add_argument("--env", default="dmc/cheetah-run")
parser.add_argument("--steps", type=int, default=60_000, help="environment steps per run")
parser.add_argument(
    "--seed",
    type=int,
    default=11,
    help="of both runs; 11 has the median gap at the end of the ten seeds of fig5",
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
for name in ("mlp", "lff"):
    run = lff.train(
        arguments.env,
        net=name,
        preset="laptop",
        steps=arguments.steps,
        seed=arguments.seed,
        dir=arguments.out / name,
    )
    film: list[np.ndarray] = []
    total = 0.0
    with closing(Player(lff.load(run.path), seed=0, render=True)) as player:
        every = max(1, round(player.fps / FPS))
        count = round(arguments.seconds * player.fps)
        shots: list[np.ndarray] = []
        for reward in itertools.islice(player.episode(0, film=shots.append, every=every), count):
            total += reward
            if len(shots) > len(film):
                film.append(labelled(shots[-1], f"{name.upper()}   return so far {total:.0f}"))
    films.append(film)
    print(f"{name}: return {total:.1f} in {count} steps after {arguments.steps:,} of training")
both = [Image.fromarray(np.concatenate(pair, axis=1)) for pair in zip(*films, strict=True)]
palette = both[len(both) // 2].quantize(
    COLORS
)  # one for all frames, without dithering: less to store
frames = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in both]
path = arguments.out / "race.gif"
frames[0].save(path, save_all=True, append_images=frames[1:], duration=round(1000 / FPS), loop=0)
print(f"film: {path}, {len(frames)} frames, {path.stat().st_size / 1e6:.2f} MB")
