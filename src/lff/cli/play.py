"""``lff play RUN``: watch what a run has learned."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import numpy as np
import tyro

from lff.cli.export import check_out
from lff.core.checks import check_size
from lff.core.errors import BadInputError
from lff.core.seeding import env_seed, stream_seed
from lff.envs import Env, make
from lff.runs.video import Frame, Video, new_video, require_writer, stride
from lff.store import write_bytes
from lff.training.load import Policy, load

DEFAULT_FPS = 30.0
"""For environments that do not say how fast they are."""


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
    config = policy.config
    env = make(
        config.env,
        seed=env_seed(seed, "play"),
        action_repeat=config.action_repeat,
        render=video is not None,
        view=config.view,
    )
    returns = []
    try:
        fps = float(env.metadata.get("render_fps") or DEFAULT_FPS) / config.action_repeat
        every = stride(fps)
        camera = None if video is None else new_video(video, fps=fps / every)
        print(f"{run}: {config.env}, step {policy.step:,}")  # noqa: T201
        for episode in range(episodes):
            steps = _episode(policy, env, seed, episode, sample=sample, camera=camera, every=every)
            rewards = [*steps]
            returns.append(sum(rewards))
            text = f"return {returns[-1]:.1f}, {len(rewards)} actions"
            print(f"  episode {episode}: {text}")  # noqa: T201
    finally:
        env.close()
    if episodes > 1:
        print(f"  mean {np.mean(returns):.1f} ± {np.std(returns):.1f} over episodes")  # noqa: T201
    if video is not None and camera is not None:
        write_bytes(video, camera.finish())
        print(f"{video}: {fps / every:.3g} pictures a second")  # noqa: T201


def _episode(
    policy: Policy,
    env: Env,
    seed: int,
    episode: int,
    *,
    sample: bool,
    camera: Video | None,
    every: int,
) -> Iterator[float]:
    """Play one episode, and yield its rewards."""
    obs, _ = env.reset(seed=env_seed(seed, f"play/{episode}"))
    for step in itertools.count():
        if camera is not None and step % every == 0:
            camera.add(_picture(env))
        draw = stream_seed(seed, f"action/{episode}/{step}") if sample else None
        action = policy.act(obs, sample=sample, seed=draw)
        obs, reward, terminated, truncated, _ = env.step(action)
        yield reward
        if terminated or truncated:
            return


def _picture(env: Env) -> Frame:
    try:
        return np.asarray(env.render(), np.uint8)
    except (ImportError, gymnasium.error.Error) as error:  # a library of the task's own is missing
        remedy = " ".join(str(error).split())
        raise BadInputError("video", str(env), "of a task that can be drawn here", remedy) from None
