"""``lff play RUN``: play a run's policy, print the returns, write a video."""

from contextlib import closing
from pathlib import Path

import numpy as np
import tyro

from lff.cli.files import check_out
from lff.core.checks import check_size
from lff.runs.load import load
from lff.runs.play import Player
from lff.runs.video import new_video, require_writer, stride
from lff.store import write_bytes


def play(
    run: tyro.conf.Positional[Path],
    /,
    *,
    episodes: int = 1,
    seed: int = 0,
    sample: bool = False,
    video: Path | None = None,
    checkpoint: str = "latest",
    force: bool = False,
) -> None:
    """Play a run's policy on its task and print the returns; nothing in the run is changed.

    Args:
        run: the run directory; the run may still be going on.
        episodes: how many episodes.
        seed: of the episodes' starts (and of the actions with --sample).
        sample: draw the actions from the policy instead of taking its mean.
        video: also write the episodes as .mp4 or .gif (needs OpenGL and the extra video).
        checkpoint: latest, final, or the step of a kept checkpoint.
        force: replace the video if it is there.
    """
    check_size("episodes", episodes)
    if video is not None:
        require_writer(video)
        check_out(video, force=force)
    policy = load(run, checkpoint=int(checkpoint) if checkpoint.isdecimal() else checkpoint)
    returns = []
    with closing(Player(policy, seed=seed, sample=sample, render=video is not None)) as player:
        every = stride(player.fps)
        film = None if video is None else new_video(video, fps=player.fps / every)
        print(f"{run}: {policy.config.env}, step {policy.step:,}")  # noqa: T201
        for number in range(episodes):
            rewards = [*player.episode(number, film=film.add if film else None, every=every)]
            returns.append(sum(rewards))
            text = f"return {returns[-1]:.1f}, {len(rewards)} actions"
            print(f"  episode {number}: {text}")  # noqa: T201
    if episodes > 1:
        print(f"  mean {np.mean(returns):.1f} ± {np.std(returns):.1f} over episodes")  # noqa: T201
    if video is not None and film is not None:
        write_bytes(video, film.finish())
        print(f"{video}: {player.fps / every:.3g} frames a second")  # noqa: T201
