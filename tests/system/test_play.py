"""A video of a trained policy: needs an OpenGL library, which pip cannot install."""

import subprocess
import sys

import av
import pytest
from PIL import Image

from lff.core import BadInputError
from lff.envs import rendering
from lff.training import train
from tests.training.runs import small

pytestmark = pytest.mark.system


@pytest.mark.parametrize("suffix", ["mp4", "gif"])
def test_play_writes_a_video(suffix, tmp_path):
    try:
        rendering.choose_backend()
    except BadInputError as error:
        pytest.fail(str(error))
    train(small("gym/HalfCheetah-v5", steps=120, action_repeat=20), directory=tmp_path / "run")
    out = tmp_path / f"play.{suffix}"
    command = [sys.executable, "-c", "from lff.cli.main import main; main()"]
    words = ["play", str(tmp_path / "run"), "--video", str(out)]
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "50 actions" in done.stdout
    if suffix == "gif":
        with Image.open(out) as image:
            assert image.size == (480, 480)
            durations = []
            for index in range(image.n_frames):  # equal pictures in a row become one, shown longer
                image.seek(index)
                durations.append(image.info["duration"])
        assert len(durations) > 5
        assert sum(durations) == 50 * 1000  # 20 frames a second, 20 of them an action
        return
    with av.open(str(out)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(frames) == 50
    assert min(frame.std() for frame in frames) > 5
    assert (frames[0] != frames[-1]).any()
