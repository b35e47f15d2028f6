"""Videos, read back by the libraries that wrote them."""

import io
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from lff.core import BadInputError
from lff.runs.play import new_video, require_writer, stride

COLORS = [(200, 30, 30), (30, 200, 30), (30, 30, 200)]


def write(name, *, fps, size=(49, 64)):
    video = new_video(Path(name), fps=fps)
    for color in COLORS:
        video.add(np.full((*size, 3), color, np.uint8))
    return io.BytesIO(video.finish())


def test_mp4_has_every_picture_at_its_time():
    with av.open(write("x.mp4", fps=25)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        assert container.streams.video[0].average_rate == 25
        assert container.streams.video[0].codec_context.name == "h264"
    assert [frame.shape for frame in frames] == [(48, 64, 3)] * 3
    for frame, color in zip(frames, COLORS, strict=True):
        np.testing.assert_allclose(frame.mean(axis=(0, 1)), color, atol=12)


def test_gif_has_every_picture_at_its_time():
    with Image.open(write("x.gif", fps=20)) as image:
        assert (image.n_frames, image.info["loop"], image.size) == (3, 0, (64, 49))
        for index, color in enumerate(COLORS):
            image.seek(index)
            assert image.info["duration"] == 50
            np.testing.assert_allclose(image.convert("RGB").getpixel((5, 5)), color, atol=2)


@pytest.mark.parametrize(("fps", "steps"), [(100, 2), (50, 1), (30, 1), (125, 3)])
def test_no_more_than_fifty_pictures_a_second(fps, steps):
    assert stride(fps) == steps


def test_a_missing_extra_is_one_line(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(BadInputError, match=r"pip install 'learned-fourier-features\[video\]'"):
        require_writer(Path("x.mp4"))
