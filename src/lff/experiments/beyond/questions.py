"""Beyond the paper: the questions of its readers."""

from lff.experiments.grids import Around, Training
from lff.experiments.measured import (
    CRITIC_STD,
    DORMANT,
    DRIFT,
    FEATURES,
    Q_ERROR,
    Q_MAX,
    Q_VALUES,
    RETURN,
)
from lff.experiments.spec import Arm, Experiment, Panel, baseline, ours, rival
from lff.stats.kinds import Better, Equivalent
from lff.stats.metrics import Metric, Role

CHEETAH, WALKER = "dmc/cheetah-run", "dmc/walker-run"
GRID = Training(laptop=(CHEETAH, WALKER))
NOISES = {noise: Metric(f"return at noise {noise:g}") for noise in (0.0, 0.03, 0.1, 0.3)}
NOISY = Around("noise-test", {"noises": tuple(NOISES)}, small={"episodes": 1})
SIGMAS = (0.001, 0.01, 0.1)
UPDATES = (1, 2, 4)
RATES = (3e-4, 1e-3)
BASIS_RATES = (3e-5, 3e-4, 3e-3)
NETS: dict[str, tuple[Role, str]] = {"MLP": ("baseline", "mlp"), "LFF": ("ours", "lff")}


EXPERIMENTS = (
    Experiment(
        name="new-noise",
        title="Does LFF withstand noise on the observations at test time?",
        arms={
            "MLP": baseline(net="mlp"),
            "LFF": ours(),
            "LFF, B decays": ours(regularize=("basis:decay=0.01",)),
        },
        grid=Training(laptop=(CHEETAH, WALKER), then=NOISY),
        metrics=(RETURN, *NOISES.values()),
        sentences={
            **{
                f"N-noise/{noise:g}: Under noise of {noise:g} LFF has the higher return.": Better(
                    "LFF", than="MLP", metric=metric, statistic="last"
                )
                for noise, metric in NOISES.items()
            },
            **{
                f"N-decay/{noise:g}: Under noise of {noise:g} decay of B helps.": Better(
                    "LFF, B decays", than="LFF", metric=metric, statistic="last"
                )
                for noise, metric in [*NOISES.items()][1:]
            },
        },
        panels=(Panel(RETURN), *(Panel(metric, kind="bars") for metric in NOISES.values())),
    ),
    Experiment(
        name="new-normalization",
        title="Is σ easier to choose on normalised observations, or by the advisor?",
        arms={
            **{
                f"σ={sigma:g}{', normalised' * normalize}": ours(
                    sigma=sigma, normalize_obs=normalize
                )
                for sigma in SIGMAS
                for normalize in (False, True)
            },
            "advised σ": ours(advised=True),
        },
        grid=GRID,
        metrics=(RETURN, *DRIFT),
        sentences={
            **{
                f"N-norm/{sigma:g}: At σ = {sigma:g} normalised observations learn better.": Better(
                    f"σ={sigma:g}, normalised", than=f"σ={sigma:g}"
                )
                for sigma in SIGMAS
            },
            **{
                f"N-advice/{sigma:g}: The advised σ is as good as {sigma:g}.": Equivalent(
                    "advised σ", than=f"σ={sigma:g}"
                )
                for sigma in SIGMAS
            },
        },
    ),
    Experiment(
        name="new-fronts",
        title="Is LFF better than its rivals: their sine layer, deep Fourier features?",
        arms={
            "MLP": baseline(net="mlp"),
            "LFF": ours(),
            "rival front": rival(net="ffn"),
            "rival front, as published": rival(net="ffn-published"),
            "deep Fourier": rival(net="deep-fourier"),
        },
        grid=GRID,
        metrics=(RETURN, *FEATURES),
        sentences={
            f"N-front/{name}: LFF learns better than {name}.": Better("LFF", than=name)
            for name in ("rival front", "rival front, as published", "deep Fourier", "MLP")
        },
        panels=(Panel(RETURN), Panel(DORMANT)),
    ),
    Experiment(
        name="new-updates",
        title="Can one learn more aggressively with LFF: more updates, larger rates?",
        source="beyond the paper, by its conclusion",
        arms={
            f"{name}, {count} updates, rate {rate:g}": Arm(
                role, {"net": net, "lr": rate, "updates_per_step": count}
            )
            for count in UPDATES
            for rate in RATES
            for name, (role, net) in NETS.items()
        },
        grid=Training(laptop=(CHEETAH,), steps=20_000),
        metrics=(RETURN, *Q_VALUES),
        sentences={
            f"N-updates/{count}-{rate:g}: "
            f"With {count} updates a step at a rate of {rate:g} LFF learns better.": Better(
                f"LFF, {count} updates, rate {rate:g}", than=f"MLP, {count} updates, rate {rate:g}"
            )
            for count in UPDATES
            for rate in RATES
        },
        panels=(Panel(RETURN), Panel(Q_MAX, log=True)),
    ),
    Experiment(
        name="new-critics",
        title="Does LFF need two critics?",
        arms={
            f"{name}, {count} critic{'s' * (count > 1)}": Arm(
                role, {"net": net, "num_critics": count}
            )
            for count in (1, 2)
            for name, (role, net) in NETS.items()
        },
        grid=GRID,
        metrics=(RETURN, *Q_VALUES),
        sentences={
            "N-critics/LFF: With LFF one critic is as good as two.": Equivalent(
                "LFF, 1 critic", than="LFF, 2 critics"
            ),
            "N-critics/MLP: With an MLP one critic is as good as two.": Equivalent(
                "MLP, 1 critic", than="MLP, 2 critics"
            ),
        },
        panels=(Panel(RETURN), Panel(Q_ERROR)),
    ),
    Experiment(
        name="new-basis-rate",
        title="Does B want a learning rate of its own?",
        arms={f"rate of B {r:g}": ours(regularize=(f"basis:lr={r}",)) for r in BASIS_RATES},
        grid=Training(laptop=(CHEETAH,)),
        metrics=(RETURN, *DRIFT),
        sentences={
            f"N-basis/{rate:g}: "
            f"A rate of {rate:g} for B is better than that of the network, 0.0003.": Better(
                f"rate of B {rate:g}", than="rate of B 0.0003"
            )
            for rate in (BASIS_RATES[0], BASIS_RATES[2])
        },
        panels=(Panel(RETURN), Panel(CRITIC_STD, log=True)),
    ),
)
