"""``lff play``, ``lff audit`` and ``lff export``: commands on the policy of a run."""

import sys
from contextlib import closing
from pathlib import Path

from lff.auditing import audit
from lff.cli.output import Checkpoint, Force, Run, Trust, check_out
from lff.core.checks import check_size
from lff.core.errors import BadInputError, ExitCode
from lff.runs.export import Format, export
from lff.runs.load import Policy, load, replay_sample
from lff.runs.play import Played, Player, new_video, require_writer, stride
from lff.store import write_bytes

FORMATS: dict[str, Format] = {".onnx": "onnx", ".pt2": "pt2"}


def _load(run: Path, checkpoint: str, trust: Trust) -> Policy:
    which = int(checkpoint) if checkpoint.isdecimal() else checkpoint
    policy = load(run, checkpoint=which, trust=trust)
    print(f"{run}: {policy.config.env}, step {policy.step:,}")
    return policy


def play_command(
    run: Run,
    /,
    *,
    episodes: int = 1,
    seed: int = 0,
    sample: bool = False,
    video: Path | None = None,
    checkpoint: Checkpoint = "latest",
    trust: Trust = (),
    force: Force = False,
) -> None:
    """Play a run's policy on its task and print the returns; nothing in the run is changed.

    Args:
        episodes: how many episodes.
        seed: of the episodes' starts (and of the actions with --sample).
        sample: draw the actions from the policy instead of taking its mean.
        video: also write the episodes as .mp4 or .gif (needs OpenGL and the extra video).
    """
    check_size("episodes", episodes)
    if video is not None:
        require_writer(video)
        check_out(video, force=force)
    policy = _load(run, checkpoint, trust)
    found: list[list[float]] = []
    with closing(Player(policy, seed=seed, sample=sample, render=video is not None)) as player:
        every = stride(player.fps)
        film = None if video is None else new_video(video, fps=player.fps / every)
        for number in range(episodes):
            rewards = [*player.episode(number, film=film.add if film else None, every=every)]
            found.append(rewards)
            print(f"  episode {number}: return {sum(rewards):.1f}, {len(rewards)} actions")
    if episodes > 1:
        print(f"  {Played.of(found)}")
    if video is not None and film is not None:
        write_bytes(video, film.finish())
        print(f"{video}: {player.fps / every:.3g} frames a second")


def audit_command(run: Run, /, *, checkpoint: Checkpoint = "latest", trust: Trust = ()) -> None:
    """Audit the Fourier layers of a run's networks; exit code 1 if something is wrong.

    The table has σ (at the start) beside the spread of B (now); a spread that training has moved
    is a note, not a problem.  Phases are those of the last observations in the run's replay.
    """
    policy = _load(run, checkpoint, trust)
    report = audit(policy.agent, replay_sample(policy), show=False)
    nothing = "ok: no Fourier layer in these networks, nothing to audit"
    print(report if report.layers else nothing)
    if report.layers and not report.ok:
        sys.exit(ExitCode.FAILED)


def export_command(
    run: Run, /, *, out: Path, native: bool = False, trust: Trust = (), force: Force = False
) -> None:
    """Write a run's mean-action policy as ONNX or as torch's archive; no lff is needed to use it.

    Input "obs" (batch, obs), output "action" (batch, action), float32, any batch.

    Args:
        out: the file; .onnx needs the extra export, .pt2 is read by torch.export.load.
        native: actions in the simulator's own range, instead of [-1, 1].
    """
    kind = FORMATS.get(out.suffix)
    if kind is None:
        raise BadInputError("out", str(out), "a .onnx or .pt2 file", "use for example policy.onnx")
    check_out(out, force=force)
    policy = load(run, trust=trust)
    data = export(policy, kind, native=native)
    write_bytes(out, data)
    spaces = policy.agent.spaces
    shape = " x ".join(map(str, spaces.obs))
    what = f"{shape} numbers in, {spaces.action} out, {len(data):,} bytes"
    print(f"{out}: the policy of {run} at step {policy.step:,}, {what}")
