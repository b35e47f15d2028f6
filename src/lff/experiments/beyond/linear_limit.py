"""Beyond the paper: at its σ the layer is its own linear control, at initialisation."""

from collections.abc import Mapping
from typing import Any

from lff.experiments.spec import Arm, Cell, Experiment, Panel, ScaleName, baseline, control, ours
from lff.stats.kinds import Equivalent
from lff.stats.metrics import Metric

FIXED, TRAINED, NETS = "B fixed", "B trained", "networks of 512"
SIGMAS = (1e-4, 1e-3, 3e-3, 0.1)
LINEAR, CONSTANT, MLP = "linear control", "constant control", "MLP"
EIGENVALUE = Metric("eigenvalue")
FIRST = Metric("first eigenvalue", "eigenvalue, k = 1")
TAIL = Metric("tail eigenvalue", "eigenvalue, k = 16")
SHAPE = Metric("tail over first", "k = 16 over k = 1")


def lff(sigma: float) -> str:
    """Return the name of an arm."""
    return f"LFF σ = {sigma:g}"


def grid(arms: Mapping[str, Arm], scale: ScaleName) -> tuple[Cell, ...]:
    """Return the layer with x concatenated, B trained and not, and what it is compared with."""
    from lff.experiments.jobs.deep_kernels import DeepKernelJob, NetKernelJob
    from lff.nn import Fourier, Identity, LinearControl, MLPTrunk, NetConfig

    small = scale == "smoke"
    size: dict[str, Any] = {"draws": 2, "sizes": (32,), "fourier_dim": 64} if small else {}
    width, draws = (16, 2) if small else (512, 5)
    cells = [
        Cell(
            lff(sigma),
            task,
            DeepKernelJob(
                front="fourier",
                sigma=sigma,
                concat=True,
                trainable=task == TRAINED,
                hidden=2,
                **size,
            ),
        )
        for task in (FIXED, TRAINED)
        for sigma in SIGMAS
    ]
    for name, task in ((LINEAR, TRAINED), (CONSTANT, FIXED), (MLP, FIXED), (MLP, TRAINED)):
        cells.append(Cell(name, task, DeepKernelJob(hidden=2, **arms[name].fields, **size)))
    hidden = MLPTrunk(hidden=(width, width))
    nets = {
        lff(1e-3): NetConfig(Fourier(fourier_dim=width, sigma=1e-3), hidden),
        lff(0.1): NetConfig(Fourier(fourier_dim=width, sigma=0.1), hidden),
        LINEAR: NetConfig(LinearControl(fourier_dim=width, sigma=1e-3), hidden),
        MLP: NetConfig(Identity(), MLPTrunk(hidden=(width,) * 3)),
    }
    cells += [Cell(name, NETS, NetKernelJob(net=net, draws=draws)) for name, net in nets.items()]
    return tuple(cells)


def equal(arm: str, than: str, metric: Metric, share: float, *tasks: str) -> Equivalent:
    """Return a claim that two arms have the same eigenvalue."""
    return Equivalent(
        arm, than=than, metric=metric, margin=1 + share, scale="log", on_at_least=2, tasks=tasks
    )


EXPERIMENTS = (
    Experiment(
        name="new-t1",
        title="Is the layer at the paper's σ more than linear, at initialisation?",
        whole_at="laptop",
        arms={
            **{lff(sigma): ours() for sigma in SIGMAS},
            LINEAR: control(front="linear", sigma=1e-3),
            CONSTANT: control(front="constant"),
            MLP: baseline(),
        },
        grid=grid,
        metrics=(EIGENVALUE, FIRST, TAIL, SHAPE),
        sentences={
            "N-T1a: "
            "With B trained, LFF at σ = 0.001 equals its linear control to 1 % at k = 1.": equal(
                lff(1e-3), LINEAR, FIRST, 0.01, TRAINED
            ),
            "N-T1b: The same at k = 16.": equal(lff(1e-3), LINEAR, TAIL, 0.01, TRAINED),
            "N-T1c: Below the floor σ hardly counts: 0.003 equals 0.0001 to 10 % at k = 16.": equal(
                lff(3e-3), lff(1e-4), TAIL, 0.1, FIXED, TRAINED
            ),
            "N-T1d: With B fixed, σ = 0.001 equals constant features to 2 % at k = 16.": equal(
                lff(1e-3), CONSTANT, TAIL, 0.02, FIXED
            ),
            "N-T1e: With B fixed, the shape at σ = 0.001 is the MLP's within 30 %.": equal(
                lff(1e-3), MLP, SHAPE, 0.3, FIXED
            ),
            "N-T1f: With B fixed, the shape at σ = 0.1 is the MLP's within 30 %.": equal(
                lff(0.1), MLP, SHAPE, 0.3, FIXED
            ),
            "N-T1g: With B trained, the shape at σ = 0.001 is the MLP's within 30 %.": equal(
                lff(1e-3), MLP, SHAPE, 0.3, TRAINED
            ),
            "N-T1h: In networks of width 512, σ = 0.001 equals the linear control to 1 % at "
            "k = 16.": equal(lff(1e-3), LINEAR, TAIL, 0.01, NETS),
            "N-T1i: There too, the shape at σ = 0.001 is the MLP's within 30 %.": equal(
                lff(1e-3), MLP, SHAPE, 0.3, NETS
            ),
        },
        panels=(
            Panel(EIGENVALUE, log=True, x="frequency k", log_x=True),
            Panel(SHAPE, kind="bars", log=True),
        ),
        notes="Two hidden ReLU layers of infinite width behind F = 1024 features and x; 256 points "
        "of the circle; eigenvalues over n and over k(x, x); 10 draws of B. The MLP and the "
        "constant control have no draws. How much the gradient of B weighs depends on the "
        "parameterisation: it is the NTK's here, and torch's in the networks of width 512 (64 "
        "points, 5 networks as the agents build them; the MLP has three hidden layers).",
    ),
)
