"""A made-up table in the shape of Figure 8's, and an experiment with claims to judge it by."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from lff.experiments.spec import Arm, Experiment, Panel
from lff.stats import RETURN, Better, Kind, Metric, Row, Verdict, adjust

VARIANTS = {
    "MLP, no target": 60.0,
    "LFF, no target": 310.0,
    "LFF, target": 280.0,
    "linear control, no target": 120.0,
    "MLP + layer norm, no target": 220.0,
}
ROLES = ("baseline", "ours", "ours", "control", "rival")
ARMS = {name: Arm(role) for name, role in zip(VARIANTS, ROLES, strict=True)}
Q_MAX = Metric("train/q_max", "largest |Q|", "lower", peak=True)
Q_ERROR = Metric("eval/q_minus_return", "Q minus return")
B_STD = Metric("lff/critic_B_std", "std of B")
B_BINS = Metric("lff/critic_B_histogram", "entries of B")
LFF = "LFF, no target"
TASKS = ("dmc/cheetah-run", "dmc/walker-run")
SEEDS = range(5)
STEPS = range(2_000, 24_001, 2_000)
HOSTILE = (
    "\"><script>document.title='owned'</script><img src=x onerror=document.title='owned'>&amp;$x$"
)


def above(arm, than):
    """A claim that one variant ends above another on the first task."""
    return Better(arm, than=than, statistic="last", tasks=TASKS[:1])


@dataclass(frozen=True)
class Given(Kind):
    """A claim whose verdict is made up."""

    verdict: Verdict

    @property
    def arms(self):
        return ()

    def judge(self, _):
        return self.verdict


def experiment(**changes):
    """Return an experiment like Figure 8's."""
    made = Experiment(
        name="fig8",
        title="Does LFF learn without a target network, where an MLP diverges?",
        source="Figure 8",
        whose="paper, empirical",
        quote='Section 5.2: "MLPs consistently fail to learn"',
        arms=ARMS,
        grid=lambda *_: (),
        metrics=(RETURN, Q_MAX, Q_ERROR, B_STD, B_BINS),
        panels=(
            Panel(RETURN),
            Panel(Q_MAX, log=True, line=100.0, line_label="1/(1-γ)"),
        ),
        sentences={
            "C-8a: LFF without a target beats the MLP.": above(LFF, "MLP, no target"),
            "C-8b: The linear control beats LFF.": above("linear control, no target", LFF),
            "C-8c: LFF learns faster without its target.": above(LFF, "LFF, target"),
            "C-8d: It holds on the humanoid too.": Given(
                Verdict("no signal", "no arm ends above the random policy",
                        ("dmc/cheetah-run: 12.3 [10.1, 14.5], n=5", "random policy 7.2 ± 1.1")),
            ),
        },
        notes="Two of the paper's four tasks, and networks of a tenth of its width.",
    )  # fmt: skip
    return dataclasses.replace(made, **changes)


def rows(*, tasks=TASKS, variants=VARIANTS):
    """Return the rows, the same on every call; one seed of the MLP leaves the finite numbers."""
    rng = np.random.default_rng(0)
    found = []

    def add(variant, task, seed, step, metric, value):
        found.append(Row("fig8", variant, task, seed, step, metric, float(value)))

    for seed in SEEDS:
        for task in tasks:
            for variant, level in variants.items():
                height = level * (1 + 0.12 * rng.standard_normal())
                mlp = variant.startswith("MLP, no")
                for step in STEPS:
                    share = step / STEPS[-1]
                    add(
                        variant,
                        task,
                        seed,
                        step,
                        "return",
                        height / (1 + math.exp(6 - 12 * share)) + 6 * rng.random(),
                    )
                    growth = 10 ** ((6 if mlp else 1.4) * share + 0.2 * rng.standard_normal())
                    lost = mlp and seed == 3 and share > 0.9
                    add(variant, task, seed, step, "largest |Q|", math.inf if lost else growth)
                    add(variant, task, seed, step, "Q minus return", growth - 10 * share)
                    if variant.startswith("LFF"):
                        add(variant, task, seed, step, "std of B", 0.01 + 0.05 * share**0.5)
                if variant.startswith("LFF"):
                    for step in (STEPS[0], STEPS[-1]):
                        width = 1 if step == STEPS[0] else 0.7
                        for i, x in enumerate(np.linspace(-3.8, 3.8, 20)):
                            add(
                                variant,
                                task,
                                seed,
                                step,
                                f"entries of B[{i}]",
                                round(400 * math.exp(-((x / width) ** 2) / 2)),
                            )
            add("random policy", task, seed, 0, "return", 7 + rng.random())
            add("zero policy", task, seed, 0, "return", 0.5)
    return found  # fmt: skip


def verdicts(made, table):
    """Return the verdicts by name, corrected as those of a study without a primary claim."""
    return adjust({claim.name: claim.judge(table) for claim in made.claims}, None)


PROVENANCE = {
    "command": "lff experiment run fig8 --scale laptop",
    "versions": {"lff": "0.1.0", "python": "3.11.7", "torch": "2.13.0+cpu"},
    "jobs": 50,
}
