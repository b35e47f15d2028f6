"""Figures 14, 15, 17 and 18: σ, the Fourier dimension, and how far B moves."""

from typing import Any

from lff.experiments.grids import STUDY, Training
from lff.experiments.measured import ACTOR_STD, CRITIC_STD, DRIFT, EPISODE, HISTOGRAMS, RETURN
from lff.experiments.spec import Arm, Experiment, Panel, baseline, ours
from lff.stats.claim import Kind
from lff.stats.kinds import Better, Equivalent, Point, Slope
from lff.stats.metrics import Metric

CHEETAH = ("dmc/cheetah-run",)
LOW, PAPERS, OURS = 1e-4, 0.0028, 0.01  # 0.0028 has the paper's 2πσ√(F/2) at F = 128
SIGMAS = (LOW, PAPERS, OURS, 0.1, 1.0)
SIZES = (32, 64, 128, 256)
ROLES = {"critics": CRITIC_STD, "actor": ACTOR_STD}
FLAT = 25.0
DEFAULT = 'Figure 14: "σ=0.001 is a good default across all of these state-based environments."'
LARGE: dict[str, Any] = {"hidden_dim": 256, "fourier_dim": 256, "batch_size": 256}
NOTES = "The runs with σ = 0.01, and the MLP's, are seeds 10 to 14 of fig5."


def trained(sigma: float) -> str:
    """Return the name of an arm."""
    return f"LFF σ={sigma:g}"


def sigma_arms(*sigmas: float) -> dict[str, Arm]:
    """Return LFF with each σ."""
    return {trained(sigma): ours(sigma=sigma) for sigma in sigmas}


def ends(role: str, metric: Metric) -> dict[str, Kind]:
    """Return what the paper says of B at the end, in section 3.1 and in appendix G."""
    last: dict[str, Any] = {"metric": metric, "statistic": "last"}
    return {
        f"C-17c/{role}: B of the {role} ends within 20 % of σ = {PAPERS:g}.": Equivalent(
            trained(PAPERS),
            than=PAPERS,
            **last,
            quote='Section 3.1: "its variance remains quite similar to the initial σ²"',
        ),
        f"C-17a/{role}: B of the {role} ends ten times wider than σ = {PAPERS:g} or more.": Better(
            trained(PAPERS),
            than=10 * PAPERS,
            **last,
            scale="ratio",
            quote='Appendix G: "generally increases from σ = 0.001 or σ = 0.003 to about 0.1"',
        ),
    }


EXPERIMENTS = (
    Experiment(
        name="fig14",
        title="How much does σ matter?",
        source="Figure 14",
        whose="paper, empirical",
        registered="2026-11-18",
        arms={**sigma_arms(*SIGMAS), "LFF, fixed B": ours(net="fixed-b")},
        grid=Training(laptop=CHEETAH, **STUDY),
        metrics=(RETURN, EPISODE, *DRIFT),
        sentences={
            "C-14a: Up to 0.01 σ does not matter: the return changes by less than 25 points per "
            "decade.": Slope(
                tuple(Point(sigma, trained(sigma)) for sigma in SIGMAS[:3]),
                log_x=True,
                margin=FLAT,
                primary=True,
                whose="ours",
            ),
            "C-14b: σ at the paper's phases is better than 1.": Better(
                trained(PAPERS), than=trained(1.0), scale="ratio", quote=DEFAULT
            ),
            "C-14c: σ at the paper's phases is better than 0.1.": Better(
                trained(PAPERS), than=trained(0.1), scale="ratio", quote=DEFAULT
            ),
            "C-14d: Training B is better than fixing it.": Better(
                trained(OURS), than="LFF, fixed B", scale="ratio", whose="ours"
            ),
        },
        panels=(Panel(RETURN), Panel(CRITIC_STD, log=True)),
        notes=NOTES,
    ),
    Experiment(
        name="fig17",
        title="How far does B move in training: does Adam erase σ?",
        source="Figures 17 and 18",
        whose="paper, empirical",
        registered="2026-11-18",
        arms=sigma_arms(LOW, PAPERS, OURS),
        grid=Training(laptop=CHEETAH, **STUDY),
        metrics=(RETURN, *DRIFT, *HISTOGRAMS),
        sentences={
            **ends("critics", CRITIC_STD),
            **ends("actor", ACTOR_STD),
            **{
                f"C-17b/{role}: Where B of the {role} ends does not depend on σ: {LOW:g} against "
                f"{PAPERS:g}, within 20 %.": Equivalent(
                    trained(LOW),
                    than=trained(PAPERS),
                    metric=metric,
                    statistic="last",
                    whose="ours",
                )
                for role, metric in ROLES.items()
            },
        },
        panels=(
            Panel(CRITIC_STD, log=True),
            Panel(ACTOR_STD, log=True),
            *(Panel(metric, kind="histogram") for metric in reversed(HISTOGRAMS)),
        ),
        notes="Histograms count entries in twenty bins from -4 to 4 standard deviations of their "
        f"own time: they show the shape, the curves above them the width. {NOTES}",
    ),
    Experiment(
        name="fig15",
        title="How much do the Fourier dimension and the size of the networks matter?",
        source="Figure 15",
        whose="paper, empirical",
        registered="2026-11-18",
        arms={
            **{f"LFF F={size}": ours(fourier_dim=size) for size in SIZES},
            "MLP, 256": baseline(net="mlp", **LARGE),
            "LFF, 256": ours(**LARGE),
        },
        grid=Training(laptop=CHEETAH, **STUDY),
        metrics=(RETURN, EPISODE),
        sentences={
            "C-15: A larger F is better.": Slope(
                tuple(Point(float(size), f"LFF F={size}") for size in SIZES),
                log_x=True,
                primary=True,
                quote='Figure 15: "A Fourier dimension of 1024 is a good default across all of '
                'these state-based environments."',
            ),
            "C-15b: What holds at 128 holds at 256: LFF learns better than the MLP there.": Better(
                "LFF, 256", than="MLP, 256", scale="ratio", whose="ours"
            ),
        },
        notes=f"The hidden layers keep their width of 128, but for the last two arms. {NOTES}",
    ),
)
