"""``lff export RUN --out FILE``: the policy for use without this package."""

from pathlib import Path

import tyro

from lff.core.errors import BadInputError
from lff.runs.export import Format, export, require_onnx
from lff.store import write_bytes
from lff.training.load import load

FORMATS: dict[str, Format] = {".onnx": "onnx", ".pt2": "pt2"}


def export_command(
    run: tyro.conf.Positional[Path],
    /,
    *,
    out: Path,
    native: bool = False,
    force: bool = False,
) -> None:
    """Write a run's mean-action policy as ONNX or as torch's archive; no lff is needed to use it.

    Input "obs" (batch, obs), output "action" (batch, action), float32, any batch.

    Args:
        run: the run directory; the run may still be going on.
        out: the file; .onnx needs the extra export, .pt2 is read by torch.export.load.
        native: actions in the simulator's own range, instead of [-1, 1].
        force: replace the file if it is there.
    """
    kind = FORMATS.get(out.suffix)
    if kind is None:
        raise BadInputError("out", str(out), "a .onnx or .pt2 file", "use policy.onnx, say")
    check_out(out, force=force)
    if kind == "onnx":
        require_onnx()
    policy = load(run)
    data = export(policy, kind, native=native)
    write_bytes(out, data)
    agent = policy.agent
    shape = " x ".join(map(str, agent.obs_shape))
    what = f"{shape} numbers in, {agent.action_dim} out, {len(data):,} bytes"
    print(f"{out}: the policy of {run} at step {policy.step:,}, {what}")  # noqa: T201


def check_plot(out: Path, *, force: bool) -> None:
    """Check the file of a figure, which must be a PNG, as :func:`check_out` does."""
    if out.suffix != ".png":
        raise BadInputError("plot", str(out), "a .png file", "use curves.png, say")
    check_out(out, force=force)


def check_out(out: Path, *, force: bool) -> None:
    """Raise, before any work is done, if a file cannot or must not be written."""
    if out.is_dir():
        raise BadInputError("file", str(out), "no folder", "name a file in it")
    if out.exists() and not force:
        raise BadInputError("file", str(out), "a new file", "use another name, or --force")
    if not out.parent.is_dir():
        raise BadInputError("file", str(out), "in a folder that is there", "make the folder first")
