"""Beyond the paper: at its σ the layer is its own linear control, at initialisation."""

from typing import Any

from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import AsGood

FIXED, TRAINED, NETS = "B fixed", "B trained", "networks of 512"
SMALL = (1e-4, 1e-3, 3e-3)
LINEAR, CONSTANT, MLP = "linear control", "constant control", "MLP"


def lff(sigma: float) -> str:
    """Return how an arm is called."""
    return f"LFF σ = {sigma:g}"


def cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return the layer with x concatenated, B trained and not, and what it is compared with."""
    from lff.experiments.jobs.deep_kernels import DeepKernelJob, NetKernelJob
    from lff.nn import Fourier, Identity, LinearControl, MLPTrunk, NetConfig

    small: dict[str, Any] = (
        {"draws": 2, "sizes": (32,), "fourier_dim": 64} if scale == "smoke" else {}
    )
    size: dict[str, Any] = {"hidden": 2} | small
    found = []
    for task in (FIXED, TRAINED):
        for sigma in (*SMALL, 0.1):
            job = DeepKernelJob(
                front="fourier", sigma=sigma, concat=True, trainable=task == TRAINED, **size
            )
            found.append(Cell(lff(sigma), task, job))
    found.append(Cell(LINEAR, TRAINED, DeepKernelJob(front="linear", sigma=1e-3, **size)))
    found.append(Cell(CONSTANT, FIXED, DeepKernelJob(front="constant", **size)))
    found += [Cell(MLP, task, DeepKernelJob(**size)) for task in (FIXED, TRAINED)]
    width = 16 if scale == "smoke" else 512
    hidden = MLPTrunk(hidden=(width, width))
    fronts = {lff(s): Fourier(fourier_dim=width, sigma=s) for s in (1e-3, 0.1)}
    nets = {name: NetConfig(front, hidden) for name, front in fronts.items()}
    nets[LINEAR] = NetConfig(LinearControl(fourier_dim=width, sigma=1e-3), hidden)
    nets[MLP] = NetConfig(Identity(), MLPTrunk(hidden=(width,) * 3))
    draws = 2 if scale == "smoke" else 5
    found += [Cell(name, NETS, NetKernelJob(net=net, draws=draws)) for name, net in nets.items()]
    return tuple(found)


def equal(
    name: str, text: str, arm: str, than: str, metric: str, share: float, *tasks: str
) -> AsGood:
    """Return a claim that two arms have the same eigenvalue."""
    return AsGood(name=name, text=text, arm=arm, than=than, metric=metric, share=share, tasks=tasks)


FIRST, TAIL, SHAPE = "eigenvalue, k = 1", "eigenvalue, k = 16", "k = 16 over k = 1"

EXPERIMENTS = (
    Experiment(
        name="new-t1",
        title="Is the layer at the paper's σ more than linear, at initialisation?",
        source="beyond the paper",
        whole_at="laptop",
        cells=cells,
        metrics=(
            ("eigenvalue", "eigenvalue"),
            ("first eigenvalue", FIRST),
            ("tail eigenvalue", TAIL),
            ("tail over first", SHAPE),
        ),
        claims=(
            equal(
                "N-T1a",
                "With B trained, LFF at σ = 0.001 equals its linear control to 1 % at k = 1.",
                lff(1e-3),
                LINEAR,
                FIRST,
                0.01,
                TRAINED,
            ),
            equal("N-T1b", "The same at k = 16.", lff(1e-3), LINEAR, TAIL, 0.01, TRAINED),
            equal(
                "N-T1c",
                "Below the floor σ hardly counts: 0.003 equals 0.0001 to 10 % at k = 16.",
                lff(3e-3),
                lff(1e-4),
                TAIL,
                0.1,
                FIXED,
                TRAINED,
            ),
            equal(
                "N-T1d",
                "With B fixed, σ = 0.001 equals constant features to 2 % at k = 16.",
                lff(1e-3),
                CONSTANT,
                TAIL,
                0.02,
                FIXED,
            ),
            equal(
                "N-T1e",
                "With B fixed, the shape at σ = 0.001 is the MLP's within 30 %.",
                lff(1e-3),
                MLP,
                SHAPE,
                0.3,
                FIXED,
            ),
            equal(
                "N-T1f",
                "With B fixed, the shape at σ = 0.1 is the MLP's within 30 %.",
                lff(0.1),
                MLP,
                SHAPE,
                0.3,
                FIXED,
            ),
            equal(
                "N-T1g",
                "With B trained, the shape at σ = 0.001 is the MLP's within 30 %.",
                lff(1e-3),
                MLP,
                SHAPE,
                0.3,
                TRAINED,
            ),
            equal(
                "N-T1h",
                "In networks of width 512, σ = 0.001 equals the linear control to 1 % at k = 16.",
                lff(1e-3),
                LINEAR,
                TAIL,
                0.01,
                NETS,
            ),
            equal(
                "N-T1i",
                "There too, the shape at σ = 0.001 is the MLP's within 30 %.",
                lff(1e-3),
                MLP,
                SHAPE,
                0.3,
                NETS,
            ),
        ),
        panels=(
            Panel(metric="eigenvalue", log=True, x="frequency k", log_x=True),
            Panel(metric=SHAPE, kind="bars", log=True),
        ),
        notes="Two hidden ReLU layers of infinite width behind F = 1024 features and x; 256 points "
        "of the circle; eigenvalues over n and over k(x, x); 10 draws of B. The MLP and the "
        "constant control have no draws. How much the gradient of B weighs depends on the "
        "parameterisation: it is the NTK's here, and torch's in the networks of width 512 (64 "
        "points, 5 networks as the agents build them; the MLP has three hidden layers).",
    ),
)
