"""Every experiment runs, whole: jobs, table, verdicts.  Minutes on two cores."""

import json
import subprocess
import sys

import pytest

from lff.experiments import list_experiments
from lff.stats.fields import beside, read_fields
from lff.stats.tables import read_table

pytestmark = pytest.mark.system


def test_every_experiment_at_smoke_scale(tmp_path):
    names = list(list_experiments())
    command = [sys.executable, "-m", "lff", "experiment", "run", *names, "--scale", "smoke"]
    command += ["--dir", str(tmp_path / "runs"), "--results", str(tmp_path / "results")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    for name, experiment in list_experiments().items():
        rows = read_table(tmp_path / "results" / "smoke" / f"{name}.csv")
        assert {row.variant for row in rows} >= {c.variant for c in experiment.cells("smoke")}
        measured = {row.metric.partition("[")[0] for row in rows}
        assert measured <= {metric.title for metric in experiment.metrics}
        fields = read_fields(beside(tmp_path / "results" / "smoke" / f"{name}.csv"))
        drawn = measured | {one.metric for one in fields}
        assert {panel.metric.title for panel in experiment.panels} <= drawn, name
        for claim in experiment.claims:
            decided = ("supported here", "contradicted here")
            assert claim.judge(rows).outcome not in decided, claim.name
    sidecar = json.loads((tmp_path / "results" / "smoke" / "fig8.json").read_text())
    assert len(sidecar["jobs"]) == sidecar["planned"] == 16
