"""The long run: is LFF's gain a head start or a higher end?"""

from lff.experiments.grids import STUDY, Training
from lff.experiments.measured import EPISODE, Q_VALUES, RETURN
from lff.experiments.spec import Experiment, Panel, baseline, ours
from lff.stats.kinds import Better, Equivalent

EXPERIMENTS = (
    Experiment(
        name="long",
        title="Is LFF's gain a head start or a higher end?",
        source="Figure 5, longer than the other studies here",
        registered="2026-11-18",
        arms={"MLP": baseline(net="mlp"), "LFF": ours()},
        grid=Training(
            laptop=("dmc/cheetah-run", "dmc/finger-spin"),
            largest="laptop",
            **STUDY | {"steps": 250_000, "looks": 25},
        ),
        metrics=(RETURN, EPISODE, *Q_VALUES),
        sentences={
            "L-1: A higher end: after 250,000 steps LFF's return is higher than the MLP's.": Better(
                "LFF", than="MLP", statistic="last", scale="ratio", primary=True
            ),
            "L-2: A head start alone: after 250,000 steps the MLP is as good as LFF, within a "
            "factor of 1.2.": Equivalent("LFF", than="MLP", statistic="last"),
            "L-3: Over 250,000 steps LFF's return is higher.": Better(
                "LFF", than="MLP", scale="ratio"
            ),
        },
        panels=(Panel(RETURN), Panel(RETURN, kind="middle")),
        notes="Five seeds, 10 to 14, the fewest that the rules judge; evaluation every 10,000 "
        "steps. The end is one evaluation of five episodes.",
    ),
)
