"""``lff export RUN --out FILE``: the policy for use without this package."""

from pathlib import Path

import tyro

from lff.cli.files import check_out
from lff.core.errors import BadInputError
from lff.runs.export import Format, export, require_onnx
from lff.runs.load import load
from lff.store import write_bytes

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
    shape = " x ".join(map(str, agent.spaces.obs))
    what = f"{shape} numbers in, {agent.spaces.action} out, {len(data):,} bytes"
    print(f"{out}: the policy of {run} at step {policy.step:,}, {what}")  # noqa: T201
