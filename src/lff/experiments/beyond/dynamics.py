"""The conclusion's untried idea: do high frequencies help where dynamics are learned?"""

from dataclasses import replace

from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import Better

TASKS = {"hopper": "dmc/hopper-hop", "finger": "dmc/finger-turn_hard"}
SIGMAS = (0.01, 0.1, 0.3, 1.0)
LARGE = SIGMAS[1:]
"""All but the first are beyond 1/(2π) of the distance of two normalised inputs, about 6."""
ONE, FAR = "one-step error", "error after 20 steps"


def cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return one job for each arm and task; each trains all seeds."""
    from lff.envs.dimensions import dimensions
    from lff.experiments.jobs.dynamics import DynamicsJob
    from lff.nn import Fourier, MLPTrunk, NetConfig, matched_mlp

    small = scale == "smoke"
    width = 16 if small else 256
    nets = {
        f"LFF σ={sigma:g}": NetConfig(
            Fourier(fourier_dim=width, sigma=sigma), MLPTrunk(hidden=(width, width))
        )
        for sigma in SIGMAS
    }
    found = []
    for task in TASKS.values():
        obs, action = dimensions(task)
        arms = {"MLP": matched_mlp(nets["LFF σ=0.01"], obs + action, obs)} | nets
        for arm, net in arms.items():
            job = DynamicsJob(env=task, net=net)
            if small:
                job = replace(
                    job, episodes=2, held_out=1, length=25, steps=6, batch=16, every=3, seeds=2
                )
            found.append(Cell(arm, task, job))
    return tuple(found)


def claim(
    name: str,
    text: str,
    sigma: float,
    metric: str,
    *tasks: str,
) -> Better:
    """Return the claim that LFF with this σ has a smaller error than the MLP at the end."""
    arm = f"LFF σ={sigma:g}"
    return Better(
        name=name,
        text=text,
        arm=arm,
        than="MLP",
        metric=metric,
        statistic="last",
        sign=-1,
        tasks=tasks or tuple(TASKS.values()),
    )


EXPERIMENTS = (
    Experiment(
        name="new-dynamics",
        title="Do high frequencies help to learn dynamics, and is the model better for it?",
        source="conclusion: said, not tried",
        whole_at="laptop",
        cells=cells,
        metrics=(
            (ONE, ONE),
            ("train error", "train error"),
            ("error after 1", "error after 1 step"),
            ("error after 5", "error after 5 steps"),
            ("error after 20", FAR),
        ),
        claims=(
            *(
                claim(
                    f"N-dyn/{short}-one-{sigma:g}",
                    f"σ={sigma:g} lowers the one-step error of a model of {short}.",
                    sigma,
                    ONE,
                    task,
                )
                for short, task in TASKS.items()
                for sigma in LARGE
            ),
            *(
                claim(
                    f"N-dyn/{short}-20-{sigma:g}",
                    f"σ={sigma:g} lowers the error of a model of {short} after 20 steps.",
                    sigma,
                    FAR,
                    task,
                )
                for short, task in TASKS.items()
                for sigma in LARGE
            ),
            claim("N-dyn/small-one", "The small σ lowers the one-step error.", 0.01, ONE),
            claim("N-dyn/small-20", "The small σ lowers the error after 20 steps.", 0.01, FAR),
        ),
        panels=(
            Panel(metric=ONE, log=True, x="gradient steps", line=1.0, line_label="mean change"),
            Panel(metric="error after 1 step", log=True, x="gradient steps"),
            Panel(metric="error after 5 steps", log=True, x="gradient steps"),
            Panel(metric=FAR, log=True, x="gradient steps"),
        ),
        notes="50,000 transitions of 250 episodes under uniform actions, each held for five steps, "
        "so that there are contacts; 50 more episodes to judge by. The data are the same for all "
        "seeds: intervals are over weights and batches. Inputs and changes are normalised by the "
        "training set, and σ is that of normalised inputs, which are about 6 apart. The one-step "
        "error is the mean square in standard deviations of the change, 1 for the mean change; "
        "after k steps it is the root mean square in standard deviations of the observation, with "
        "the recorded actions and the model's own predictions. Adam 1e-3, batches of 256, none "
        "tuned. Steps are gradient steps.",
    ),
)
