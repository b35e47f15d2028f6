"""Beyond the paper: what its readers ask next."""

from lff.experiments.measured import DRIFT, FEATURES, Q_VALUES, RETURN
from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import AsGood, Better

CHEETAH, WALKER = "dmc/cheetah-run", "dmc/walker-run"
NOISES = (0.0, 0.03, 0.1, 0.3)
SIGMAS = (0.001, 0.01, 0.1)
UPDATES = (1, 2, 4)
RATES = (3e-4, 1e-3)
BASIS_RATES = (3e-5, 3e-4, 3e-3)


def noise_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return MLP, LFF, and LFF with decay of B; each is played under noise afterwards."""
    from lff.experiments.jobs.after_training import NoiseTestJob
    from lff.experiments.state import Variant, sizes, train_grid
    from lff.regularizers import BasisRule

    variants = {
        "MLP": Variant(net="mlp"),
        "LFF": Variant(),
        "LFF, B decays": Variant(agent={"regularizers": (BasisRule(decay=1e-2),)}),
    }
    episodes = 1 if scale == "smoke" else 5
    return tuple(
        Cell(cell.variant, cell.task, NoiseTestJob(cell.job, noises=NOISES, episodes=episodes))
        for cell in train_grid(sizes(scale, laptop_tasks=(CHEETAH, WALKER)), variants)
    )


def normalization_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return σ on raw and on normalised observations, and the advisor's σ."""
    from lff.experiments.advised import advised_sigmas
    from lff.experiments.state import Variant, sizes, train_grid

    size = sizes(scale, laptop_tasks=(CHEETAH, WALKER))
    variants = {
        f"σ={sigma:g}{', normalised' if normalize else ''}": Variant(
            preset={"sigma": sigma}, agent={"normalize_obs": normalize}
        )
        for sigma in SIGMAS
        for normalize in (False, True)
    }
    cells = train_grid(size, variants)
    for task in size.tasks:
        actor, critic = advised_sigmas(task)
        own = {"advised σ": Variant(actor_sigma=actor, critic_sigma=critic)}
        cells += train_grid(size.only(task), own)
    return cells


def front_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return LFF, the rival's front, deep Fourier features, and the MLP."""
    from lff.experiments.state import Variant, deep_fourier, sizes, train_grid

    variants = {
        "MLP": Variant(net="mlp"),
        "LFF": Variant(),
        "rival front": Variant(net="ffn"),
        "deep Fourier": Variant(net="mlp", change=deep_fourier),
    }
    return train_grid(sizes(scale, laptop_tasks=(CHEETAH, WALKER)), variants)


def layer_norm_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return layer norm and observation statistics, with and without LFF."""
    from lff.experiments.state import Variant, sizes, train_grid
    from lff.regularizers import LayerNorm

    variants = {}
    for name, net in (("MLP", "mlp"), ("LFF", "lff")):
        for extra, agent in (
            ("", {}),
            (" + layer norm", {"regularizers": (LayerNorm(),)}),
            (" + statistics", {"normalize_obs": True}),
        ):
            variants[name + extra] = Variant(net=net, agent=agent)
    return train_grid(sizes(scale, laptop_tasks=(CHEETAH, WALKER)), variants)


def updates_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return one, two and four updates a step at two learning rates."""
    from lff.experiments.state import Variant, sizes, train_grid

    variants = {
        f"{name}, {count} updates, rate {rate:g}": Variant(
            net=net,
            preset={"lr": rate},
            run={"updates_per_step": count},
        )
        for count in UPDATES
        for rate in RATES
        for name, net in (("MLP", "mlp"), ("LFF", "lff"))
    }
    return train_grid(sizes(scale, laptop_tasks=(CHEETAH,), laptop_steps=20_000), variants)


def critics_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return one critic and two."""
    from lff.experiments.state import Variant, sizes, train_grid

    variants = {
        f"{name}, {count} critic{'s' * (count > 1)}": Variant(
            net=net,
            agent={"num_critics": count},
        )
        for count in (1, 2)
        for name, net in (("MLP", "mlp"), ("LFF", "lff"))
    }
    return train_grid(sizes(scale, laptop_tasks=(CHEETAH, WALKER)), variants)


def basis_rate_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return other learning rates for B."""
    from lff.experiments.state import Variant, sizes, train_grid
    from lff.regularizers import BasisRule

    variants = {
        f"rate of B {rate:g}": Variant(agent={"regularizers": (BasisRule(lr=rate),)})
        for rate in BASIS_RATES
    }
    return train_grid(sizes(scale, laptop_tasks=(CHEETAH,)), variants)


EXPERIMENTS = (
    Experiment(
        name="new-noise",
        title="Does LFF withstand noise on the observations at test time?",
        source="beyond the paper",
        cells=noise_cells,
        metrics=(*RETURN, *((f"return at noise {n:g}", f"return at noise {n:g}") for n in NOISES)),
        claims=(
            *(
                Better(
                    name=f"N-noise/{noise:g}",
                    text=f"Under noise of {noise:g} LFF has the higher return.",
                    arm="LFF",
                    than="MLP",
                    metric=f"return at noise {noise:g}",
                    statistic="last",
                )
                for noise in NOISES
            ),
            *(
                Better(
                    name=f"N-decay/{noise:g}",
                    text=f"Under noise of {noise:g} decay of B helps.",
                    arm="LFF, B decays",
                    than="LFF",
                    metric=f"return at noise {noise:g}",
                    statistic="last",
                )
                for noise in NOISES[1:]
            ),
        ),
        panels=(
            Panel(metric="return"),
            *(Panel(metric=f"return at noise {n:g}", kind="bars") for n in NOISES),
        ),
    ),
    Experiment(
        name="new-normalization",
        title="Is σ easier to choose on normalised observations, or by the advisor?",
        source="beyond the paper",
        cells=normalization_cells,
        metrics=(*RETURN, *DRIFT),
        claims=(
            *(
                Better(
                    name=f"N-norm/{sigma:g}",
                    text=f"At σ = {sigma:g} normalised observations learn better.",
                    arm=f"σ={sigma:g}, normalised",
                    than=f"σ={sigma:g}",
                )
                for sigma in SIGMAS
            ),
            *(
                AsGood(
                    name=f"N-advice/{sigma:g}",
                    text=f"The advised σ is as good as {sigma:g}.",
                    arm="advised σ",
                    than=f"σ={sigma:g}",
                )
                for sigma in SIGMAS
            ),
        ),
        panels=(Panel(metric="return"),),
    ),
    Experiment(
        name="new-fronts",
        title="Is LFF better than its rivals: their sine layer, deep Fourier features?",
        source="beyond the paper",
        cells=front_cells,
        metrics=(*RETURN, *FEATURES),
        claims=tuple(
            Better(
                name=f"N-front/{name}", text=f"LFF learns better than {name}.", arm="LFF", than=name
            )
            for name in ("rival front", "deep Fourier", "MLP")
        ),
        panels=(Panel(metric="return"), Panel(metric="dormant units, critics")),
    ),
    Experiment(
        name="new-layer-norm",
        title="Is normalisation as good as LFF, and do they add up?",
        source="beyond the paper",
        cells=layer_norm_cells,
        metrics=(*RETURN, *Q_VALUES),
        claims=(
            Better(
                name="N-ln/a",
                text="LFF is better than an MLP with layer norm.",
                arm="LFF",
                than="MLP + layer norm",
            ),
            Better(
                name="N-ln/b",
                text="LFF with layer norm is better than an MLP with it.",
                arm="LFF + layer norm",
                than="MLP + layer norm",
            ),
            Better(
                name="N-ln/c",
                text="LFF is better than an MLP on normalised observations.",
                arm="LFF",
                than="MLP + statistics",
            ),
            Better(
                name="N-ln/d",
                text="LFF on normalised observations is better than an MLP on them.",
                arm="LFF + statistics",
                than="MLP + statistics",
            ),
        ),
        panels=(Panel(metric="return"),),
    ),
    Experiment(
        name="new-updates",
        title="Can one learn more aggressively with LFF: more updates, larger rates?",
        source="beyond the paper, by its conclusion",
        cells=updates_cells,
        metrics=(*RETURN, *Q_VALUES),
        claims=tuple(
            Better(
                name=f"N-updates/{count}-{rate:g}",
                text=f"With {count} updates a step at a rate of {rate:g} LFF learns better.",
                arm=f"LFF, {count} updates, rate {rate:g}",
                than=f"MLP, {count} updates, rate {rate:g}",
            )
            for count in UPDATES
            for rate in RATES
        ),
        panels=(Panel(metric="return"), Panel(metric="largest |Q|", log=True)),
    ),
    Experiment(
        name="new-critics",
        title="Does LFF need two critics?",
        source="beyond the paper",
        cells=critics_cells,
        metrics=(*RETURN, *Q_VALUES),
        claims=(
            AsGood(
                name="N-critics/LFF",
                text="With LFF one critic is as good as two.",
                arm="LFF, 1 critic",
                than="LFF, 2 critics",
            ),
            AsGood(
                name="N-critics/MLP",
                text="With an MLP one critic is as good as two.",
                arm="MLP, 1 critic",
                than="MLP, 2 critics",
            ),
        ),
        panels=(Panel(metric="return"), Panel(metric="Q bias")),
    ),
    Experiment(
        name="new-basis-rate",
        title="Does B want a learning rate of its own?",
        source="beyond the paper",
        cells=basis_rate_cells,
        metrics=(*RETURN, *DRIFT),
        claims=tuple(
            Better(
                name=f"N-basis/{rate:g}",
                text=f"A rate of {rate:g} for B is better than that of the network, 0.0003.",
                arm=f"rate of B {rate:g}",
                than="rate of B 0.0003",
            )
            for rate in (BASIS_RATES[0], BASIS_RATES[2])
        ),
        panels=(Panel(metric="return"), Panel(metric="std of B, critics", log=True)),
    ),
)
