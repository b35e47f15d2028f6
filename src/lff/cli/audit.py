"""``lff audit RUN``: the audit of a run's Fourier layers."""

import sys
from pathlib import Path

import tyro

from lff.auditing import audit
from lff.core.exit_codes import ExitCode
from lff.runs.load import load, replay_sample


def audit_command(run: tyro.conf.Positional[Path], /, *, checkpoint: str = "latest") -> None:
    """Audit the Fourier layers of a run's networks; exit code 1 if something is wrong.

    The table has σ (at the start) beside the spread of B (now); a spread that training has moved
    is a note, not a problem.  Phases are those of the last observations in the run's replay.

    Args:
        run: the run directory; the run may still be going on.
        checkpoint: latest, final, or the step of a kept checkpoint.
    """
    policy = load(run, checkpoint=int(checkpoint) if checkpoint.isdecimal() else checkpoint)
    print(f"{run}: {policy.config.env}, step {policy.step:,}")  # noqa: T201
    report = audit(policy.agent, replay_sample(policy), show=False)
    if not report.layers:
        print("ok: no Fourier layer in these networks, nothing to audit")  # noqa: T201
        return
    print(report)  # noqa: T201
    if not report.ok:
        sys.exit(ExitCode.FAILED)
