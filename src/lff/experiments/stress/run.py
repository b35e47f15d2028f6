"""``lff.stress``: run the stresses of a network and compare it with the references."""

import datetime
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from lff.core.checks import check_positive
from lff.experiments.engine import Show, run_all
from lff.experiments.results import Table, find_table, record_path
from lff.experiments.spec import Experiment
from lff.experiments.stress.grading import stress_of, summarize
from lff.experiments.stress.networks import REFERENCES, Subject, as_subject, check, identity
from lff.experiments.stress.plan import LR, Size, experiment_of, references, size_of
from lff.experiments.stress.score import KINDS, curves_of
from lff.launch.records import origin, read_header
from lff.nn.called import Maker
from lff.stats.stress import StressReport
from lff.training.run import versions

RUNS = Path("runs/stress")
"""Where jobs keep their files unless another folder is named."""
COMMITTED = Path(__file__).parents[4] / "results" / "stress"
"""The tables of the references in a clone."""
Say = Callable[[str], None]


def stress(
    network: Maker | str | Subject,
    *,
    lr: float = LR,
    quick: bool = False,
    name: str | None = None,
    dir: Path | str = RUNS,
    workers: int | None = None,
    ray: str | None = None,
    rerun_references: bool = False,
    references_dir: Path | str | None = None,
    show: Show | None = None,
    say: Say = lambda _: None,
) -> StressReport:
    """Stress a critic network, and compare it with an MLP, an MLP with layer norm, and LFF.

    ::

        report = lff.stress(make_critic, lr=3e-4)
        report.summary, report.to_json()

    The same call again in the same folder computes nothing that is finished.  All networks have
    the same seeds, tasks and settings, and nothing is tuned for one.

    Args:
        network: a function ``(in_features, out_features) -> nn.Module``; its inputs are observation
            and action side by side.  Or its name, ``package.module:function``; or that of one of
            ours (``"lff"``).  A function that other processes cannot import, such as a lambda or
            one defined in a notebook, is stressed in this process, one job after the other.
        lr: learning rate of the critics in SAC.  The fits have that of Figure 2 (1e-3), and fitted
            Q-iteration that of Figure 13 (5e-3), whatever this is; the references 3e-4.
        quick: three seeds and shorter runs, about a minute on two cores.
        name: the network's name in the report; that of the function if None.
        dir: where jobs keep their files and results.
        workers: processes; as many as there are cores if None, 0 for this process.
        ray: run the jobs on Ray: "here", or the address of a cluster.
        rerun_references: run the references too, instead of reading their committed numbers.
        references_dir: where the references' tables are, and are written if they are run; the
            committed ones if None.
        show: called about twice a second with the state of all jobs and the time left.
        say: called with lines about what is run.

    Raises:
        BadInputError: the network raises, cannot be imported, lacks parameters, or its output has
            the wrong shape, is not finite, or does not depend on the action.
    """
    check_positive("lr", lr, remedy="use 3e-4")
    subject, size, folder = as_subject(network), size_of(quick=quick), Path(dir)
    check(subject)
    shown = name or subject.name
    if shown in REFERENCES:
        shown += " (this network)"
    if subject.is_local:
        workers, ray = 0, None
        say(f"{shown} cannot be imported by other processes: its jobs run in this one")
    options: dict[str, Any] = {"workers": workers, "ray": ray, "show": show, "say": say}
    others = _references(
        size,
        folder,
        Path(references_dir) if references_dir is not None else None,
        rerun=rerun_references,
        **options,
    )
    plan = experiment_of(
        f"stress-{identity(subject, lr)}", shown, {shown: subject}, lr=lr, size=size
    )
    mine = _run(plan, size, folder, folder / "results", **options)
    own = curves_of(mine.rows, shown)
    theirs = {arm: curves_of(others.rows, arm) for arm in references(size).arms}
    stresses = tuple(stress_of(kind, shown, own, theirs) for kind in KINDS)
    return StressReport(
        name=shown,
        lr=lr,
        is_quick=quick,
        seeds=size.seeds,
        parameters=subject.parameters,
        made={"date": datetime.datetime.now(datetime.UTC).date().isoformat(), **_machine()},
        references_made=_made(others),
        stresses=stresses,
        summary=summarize(stresses),
    )


def shipped_references() -> Path:
    """Return the folder of the committed tables: of a clone, else of the installed package."""
    if COMMITTED.is_dir():
        return COMMITTED
    return Path(str(resources.files("lff").joinpath("results", "stress")))


def _references(
    size: Size, folder: Path, where: Path | None, *, rerun: bool, **options: Any
) -> Table:
    """Return the table of the references; it is computed if asked for, or if it is missing."""
    plan = references(size)
    wanted = {cell.digest for cell in plan.cells(size.scale)}
    home = where or (folder / "references" if rerun else shipped_references())
    if not rerun:
        found = find_table(home, plan.name, size.scale)
        if found is not None and wanted == {*found.jobs}:
            return found
        options["say"](f"the references' table in {home} is missing or of another version: making")
        home = where or folder / "references"
    return _run(plan, size, folder, home, **options)


def _run(plan: Experiment, size: Size, folder: Path, results: Path, **options: Any) -> Table:
    (result,) = run_all([plan], size.scale, dir=folder, results=results, **options)
    return result.on_disk


def _machine() -> dict[str, str]:
    """Return versions and the class of this machine."""
    known = versions()
    here = {"processor": str(origin()["processor"])}
    return here | {key: known[key] for key in ("lff", "torch", "python") if key in known}


def _made(table: Table) -> Mapping[str, str]:
    """Return the same for a table, from its sidecar and the record of one of its jobs."""
    stored = table.sidecar.get("versions", {})
    made = {key: str(stored[key]) for key in ("lff", "torch", "python") if key in stored}
    records = (record_path(table.path.parents[1], digest) for digest in table.jobs)
    header = next((read_header(path) for path in records if path.exists()), {})
    commit = str(header.get("commit") or "unknown")[:7]
    return {"processor": str(header.get("processor", "unknown")), "commit": commit, **made}
