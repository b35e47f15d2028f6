"""``lff stress``: will this critic survive bootstrapping?  Its numbers beside three references."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console

from lff.cli.experiment import bars, completed
from lff.cli.output import Force, Json, check_out, print_table
from lff.core.checks import EvenSize, check_scale, checked
from lff.core.config import TYPE_KEY, from_dict, parse_part, tag_of
from lff.core.errors import BadInputError
from lff.experiments.stress.networks import FOURIER_DIM, SIGMA, Subject, find_network, ours
from lff.experiments.stress.plan import LR
from lff.experiments.stress.run import RUNS, stress
from lff.regularizers import REGULARIZERS
from lff.stats.stress import Measured, StressReport


def stress_command(words: Sequence[str]) -> None:
    """Stress a critic: lff stress --help."""
    tyro.cli(command, prog="lff stress", args=completed(words))


def command(
    network: Annotated[str | None, tyro.conf.arg(metavar="PACKAGE.MODULE:FUNCTION")] = None,
    /,
    *,
    net: str | None = None,
    sigma: float | None = None,
    fourier_dim: int | None = None,
    with_: Annotated[
        tuple[str, ...], tyro.conf.arg(name="with", metavar="NAME[:KEY=VALUE,...]")
    ] = (),
    lr: float = LR,
    quick: bool = False,
    dir: Path = RUNS,
    out: Path | None = None,
    force: Force = False,
    as_json: Json = False,
    workers: int | None = None,
    ray: Annotated[str | None, tyro.conf.arg(metavar="ADDRESS|here")] = None,
    rerun_references: bool = False,
    references: Path | None = None,
) -> None:
    """Measure how a critic network behaves under ten stresses, beside an MLP, an MLP with layer
    norm, and LFF; write a page. Some minutes on two cores; finished jobs are not run again.

    Args:
        network: a function of yours, (in_features, out_features) -> nn.Module; its inputs are
            observation and action side by side. It is imported and called.
        net: one of our networks instead, as in lff train --net: mlp, mlp-2, lff, ffn, simba, ...
        sigma: σ of it, 0.01 if not given.
        fourier_dim: number of Fourier features of it, 128 if not given.
        with_: regularizers of it, as in --with layer-norm dropout:p=0.1.
        lr: learning rate of the critics in SAC.
        quick: three seeds and shorter runs, about a minute.
        dir: where jobs keep their files and results.
        out: the page, .html; in dir if not given.
        workers: jobs at a time, one thread each; as many as there are cores if not given.
        ray: run the jobs as Ray tasks: alone it starts Ray on this machine, with an address it
            joins a cluster, whose nodes must share dir.
        rerun_references: run the reference networks here, too.
        references: folder of the references' tables; they are written there if they are run.
    """
    if workers is not None and workers < 1:
        raise BadInputError("workers", workers, "1 or more", "leave it out for all cores")
    if out is not None:
        check_out(out, force=force, suffix=".html")
    subject = choose(network, net, sigma, fourier_dim, with_)
    say = Console(stderr=True, highlight=False, soft_wrap=True, markup=False).print
    with bars(dir) as show:
        report = stress(
            subject,
            lr=lr,
            quick=quick,
            dir=dir,
            workers=workers,
            ray=ray,
            rerun_references=rerun_references,
            references_dir=references,
            show=show,
            say=say,
        )
    page = out or (None if as_json else dir / f"{_slug(report)}.html")
    if page is not None:
        from lff.report.stress_page import write_stress_page

        write_stress_page(report, page)
    if as_json:
        print(json.dumps(report.to_json(), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print_report(report)
        print(f"\n{page}")


def choose(
    network: str | None,
    net: str | None,
    sigma: float | None,
    fourier_dim: int | None,
    with_: Sequence[str],
) -> Subject:
    """Return the network that the options name."""
    if (network is None) == (net is None):
        remedy = "lff stress my_package.nets:make_critic, or lff stress --net lff"
        raise BadInputError("network", network or net, "a function of yours or --net", remedy)
    if network is not None:
        given = {"--sigma": sigma, "--fourier-dim": fourier_dim, "--with": with_ or None}
        for option, value in given.items():
            if value is not None:
                remedy = "drop it, or let your function do it"
                raise BadInputError(option, value, "given for --net only", remedy)
        return find_network(network)
    assert net is not None
    regularizers = tuple(_regularizer(text) for text in with_)
    return ours(
        net,
        sigma=check_scale("sigma", SIGMA if sigma is None else sigma),
        fourier_dim=checked(
            EvenSize, "fourier_dim", FOURIER_DIM if fourier_dim is None else fourier_dim
        ),
        regularizers=regularizers,
    )


def _regularizer(text: str) -> Any:
    name, values = parse_part(text)
    cls = REGULARIZERS.find(name)
    return from_dict(cls, {TYPE_KEY: tag_of(cls), **values})


def print_report(report: StressReport) -> None:
    """Print one row for each stress, then what to do."""
    quick = ", quick: wide intervals" if report.is_quick else ""
    seeds = f"{report.seeds} seeds, lr {report.lr:g}, {report.parameters:,} parameters"
    print(f"{report.name}: {seeds}{quick}\n")
    names = [*report.stresses[0].references]
    rows = [
        (
            f"{one.title}{f', {one.unit}' if one.unit else ''}",
            one.grade,
            shown(one.measured),
            *(shown(one.references[name]) for name in names),
        )
        for one in report.stresses
    ]
    print_table(("stress", "grade", report.name, *names), rows)
    print(f"\n{report.summary}")


def shown(number: Measured) -> str:
    """Return a number with its interval, short.

    >>> shown(Measured(1234.5, 1200.0, 1270.0, ()))
    '1.23e+03 [1.2e+03, 1.27e+03]'
    """
    return f"{number.estimate:.3g} [{number.low:.3g}, {number.high:.3g}]"


def _slug(report: StressReport) -> str:
    words = re.sub(r"[^A-Za-z0-9.]+", "-", report.name).strip("-.")[:80]
    rate = "" if report.lr == LR else f"-lr{report.lr:g}"
    return words + rate + "-quick" * report.is_quick
