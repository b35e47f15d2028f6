"""Equal tuning: every network of the comparison gets the same search over its learning rate."""

from typing import Any

from lff.experiments.grids import Training
from lff.experiments.measured import Q_VALUES, RETURN
from lff.experiments.spec import Arm, Experiment
from lff.stats.metrics import Role

CHEETAH, FINGER = "dmc/cheetah-run", "dmc/finger-spin"
RATES = (3e-4, 1e-3, 3e-3)
NETS: dict[str, tuple[Role, dict[str, Any]]] = {
    "MLP": ("baseline", {"net": "mlp"}),
    "MLP-2": ("baseline", {"net": "mlp-2"}),
    "MLP + layer norm": ("rival", {"net": "mlp", "regularize": ("layer-norm",)}),
    "MLP + normalised observations": ("rival", {"net": "mlp", "normalize_obs": True}),
    "LFF": ("ours", {"net": "lff"}),
}
"""Networks of equal size; MLP-2 has LFF's depth."""


EXPERIMENTS = (
    Experiment(
        name="tuning",
        title="Which learning rate suits each network best?",
        arms={
            f"{name}, rate {rate:g}": Arm(role, {**fields, "lr": rate})
            for name, (role, fields) in NETS.items()
            for rate in RATES
        },
        grid=Training(
            laptop=(CHEETAH, FINGER), steps=60_000, seeds=2, first_seed=100, looks=24, episodes=5
        ),
        metrics=(RETURN, *Q_VALUES),
        notes="No verdicts: two seeds, which no other study uses. A network's rate is the one with "
        "the highest mean return over the curve, averaged over seeds and both tasks; `why` takes "
        "it. Registered 2026-11-18, before the first run.",
    ),
)
