"""Equal tuning: every network gets the same search over its learning rate; studies at those rates.

``tuning`` and ``rivals-tuning`` search; :func:`best_rates` is the rule that chooses; ``CHOSEN``
holds what it chose, and from then on ``why`` and ``rivals`` are experiments.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from lff.core.errors import BadInputError
from lff.experiments.grids import Training
from lff.experiments.measured import EPISODE, Q_VALUES, RETURN
from lff.experiments.spec import Arm, Experiment, Panel
from lff.stats.curves import Curves
from lff.stats.kinds import Better
from lff.stats.metrics import Role
from lff.stats.tables import Row

CHEETAH, FINGER, WALK = "dmc/cheetah-run", "dmc/finger-spin", "dmc/walker-walk"
RATES = (3e-4, 1e-3, 3e-3)
Nets = Mapping[str, tuple[Role, dict[str, Any]]]
LFF, NORM, OBS_NORM = "LFF", "MLP + layer norm", "MLP + normalised observations"
SIMBA, CROSSQ, LFF_NORM = "SimBa", "CrossQ", "LFF + layer norm"
NETS: Nets = {
    "MLP": ("baseline", {"net": "mlp"}),
    "MLP-2": ("baseline", {"net": "mlp-2"}),
    NORM: ("rival", {"net": "mlp", "regularize": ("layer-norm",)}),
    OBS_NORM: ("rival", {"net": "mlp", "normalize_obs": True}),
    LFF: ("ours", {"net": "lff"}),
}
"""Networks of equal size; MLP-2 has LFF's depth."""
RIVALS: Nets = {
    SIMBA: ("rival", {"actor": "simba-1", "critic": "simba", "normalize_obs": True}),
    CROSSQ: ("rival", {"algo": "crossq", "net": "mlp-2"}),
    LFF_NORM: ("rival", {"net": "lff", "regularize": ("layer-norm",)}),
}
"""Rivals of equal size; scales and shifts of batch and layer norms come on top, as in MLP's."""
CHOSEN: dict[str, float] = {}
"""The rate of each network by :func:`best_rates`, from the complete tables of `tuning` and
`rivals-tuning`; a network that is not here has not been tuned yet."""
TUNED: dict[str, Any] = {"steps": 60_000, "looks": 24, "episodes": 5}


def best_rates(rows: Iterable[Row], nets: Collection[str]) -> dict[str, float]:
    """Return the rate of each network from the table of a search over rates.

    It is the one with the highest mean return over the curve, averaged over seeds, then over tasks;
    the smaller one of two equal ones.  A rate with a run without one finite return is not chosen.
    """
    curves = Curves(rows, metric=RETURN)
    arms = {(name, rate): named(name, rate) for name in nets for rate in RATES}
    seeds = {tuple(curves.seeds(arm, t)) for arm in arms.values() for t in curves.tasks}
    if len(seeds) != 1 or not all(seeds):
        remedy = "run the missing jobs first"
        raise BadInputError("table", sorted(seeds), "of the same seeds for all arms", remedy)

    def score(name: str, rate: float) -> float:
        means = [curves.values(arms[name, rate], task, "mean") for task in curves.tasks]
        score = sum(sum(values) / len(values) for values in means) / len(means)
        return -math.inf if math.isnan(score) else score

    return {name: max(RATES, key=lambda rate: score(name, rate)) for name in nets}


def named(name: str, rate: float) -> str:
    """Return the name of an arm of a search."""
    return f"{name}, rate {rate:g}"


def at_rates(nets: Nets, rates: Mapping[str, float]) -> dict[str, Arm]:
    """Return the arms of networks at the rates chosen for them."""
    return {name: Arm(role, {**fields, "lr": rates[name]}) for name, (role, fields) in nets.items()}


def search(name: str, title: str, nets: Nets, user: str) -> Experiment:
    """Return the search over the rates of these networks."""
    return Experiment(
        name=name,
        title=title,
        arms={
            named(net, rate): Arm(role, {**fields, "lr": rate})
            for net, (role, fields) in nets.items()
            for rate in RATES
        },
        grid=Training(laptop=(CHEETAH, FINGER), seeds=2, first_seed=100, **TUNED),
        metrics=(RETURN, *Q_VALUES),
        notes="No verdicts: two seeds, which no other study uses. A network's rate is the one with "
        f"the highest mean return over the curve, averaged over seeds and both tasks; `{user}` "
        "takes it. Registered 2026-11-18, before the first run.",
    )


def why(rates: Mapping[str, float]) -> Experiment:
    """Return the study of what LFF's gain comes from, each network at its own best rate."""
    linear = Arm("control", {"net": "linear", "lr": rates[LFF]})
    return Experiment(
        name="why",
        title="Does LFF's gain survive tuning, and is it depth, waves or the scale of the inputs?",
        registered="2026-11-18",
        arms={**at_rates(NETS, rates), "linear control": linear},
        grid=_grid(),
        metrics=(RETURN, EPISODE, *Q_VALUES),
        sentences={
            "W-1: At its best rate LFF learns better than the MLP at its own.": Better(
                LFF, than="MLP", scale="ratio", primary=True
            ),
            "W-2: It is not the depth: LFF learns better than MLP-2.": Better(
                LFF, than="MLP-2", scale="ratio"
            ),
            "W-3: It takes waves: LFF learns better than the linear control.": Better(
                LFF, than="linear control", scale="ratio"
            ),
            "W-4: It is not the scale of the inputs: LFF learns better than the MLP with "
            "normalised observations.": Better(LFF, than=OBS_NORM, scale="ratio"),
            "W-5: It is special: LFF learns better than the MLP with layer norm.": Better(
                LFF, than=NORM, scale="ratio"
            ),
        },
        panels=_panels(),
        notes=f"{_chosen(NETS, rates)} from `tuning`; the linear control has LFF's. Runs at 3e-4 "
        "are those of fig5.",
        whole_at="laptop",
    )


def rivals(rates: Mapping[str, float]) -> Experiment:
    """Return the comparison of LFF with other methods, each at its own best rate."""
    return Experiment(
        name="rivals",
        title="Does LFF learn better than SimBa and CrossQ at equal size and equal steps?",
        registered="2026-11-18",
        arms={**at_rates({LFF: NETS[LFF]}, rates), **at_rates(RIVALS, rates)},
        grid=_grid(),
        metrics=(RETURN, EPISODE, *Q_VALUES),
        sentences={
            "R-1: LFF learns better than SimBa's network.": Better(
                LFF, than=SIMBA, scale="ratio", primary=True
            ),
            "R-2: LFF learns better than CrossQ.": Better(LFF, than=CROSSQ, scale="ratio"),
            "R-3: Layer norm adds to LFF.": Better(LFF_NORM, than=LFF, scale="ratio"),
            "R-4: With layer norm, LFF learns better than SimBa's network.": Better(
                LFF_NORM, than=SIMBA, scale="ratio"
            ),
        },
        panels=_panels(),
        notes=f"{_chosen({LFF: NETS[LFF], **RIVALS}, rates)} from `tuning` and `rivals-tuning`. "
        "LFF's runs are those of `why`. Rivals have the preset's sizes and LFF's number of "
        "parameters, not their published sizes: the page on rivals lists what else differs.",
        whole_at="laptop",
    )


def _grid() -> Training:
    tasks = (CHEETAH, WALK, FINGER)
    return Training(laptop=tasks, seeds=8, first_seed=10, largest="laptop", **TUNED)


def _panels() -> tuple[Panel, ...]:
    return Panel(RETURN), Panel(RETURN, kind="profile"), Panel(RETURN, kind="middle")


def _chosen(nets: Collection[str], rates: Mapping[str, float]) -> str:
    """Return the rates in words."""
    return "Learning rates: " + ", ".join(f"{name} {rates[name]:g}" for name in nets)


EXPERIMENTS = (
    search("tuning", "Which learning rate suits each network best?", NETS, "why"),
    search("rivals-tuning", "Which learning rate suits each rival best?", RIVALS, "rivals"),
    *([why(CHOSEN)] if {*NETS} <= {*CHOSEN} else []),
    *([rivals(CHOSEN)] if {LFF, *RIVALS} <= {*CHOSEN} else []),
)
