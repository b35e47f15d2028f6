"""Other libraries: does LFF help inside them, and do our agents learn as well as theirs?

Hosts train their own SAC, with LFF or their own MLP of equal size, at the same rates.  Peers have
the tasks, episodes, sizes, rates, schedule and evaluations of ours; initial weights, the order of
minibatches and the form of the losses are each library's own.  The value loss of PPO is not clipped
in either, since the two clip it in different ways.
"""

from collections.abc import Mapping
from typing import Any

from lff.experiments.grids import Around, Each, Training
from lff.experiments.spec import Arm, Cell, Experiment, ScaleName, baseline, ours, rival
from lff.stats.kinds import Better, Equivalent

HOSTS = {"sb3": "Stable-Baselines3", "sbx": "SBX", "torchrl": "TorchRL", "tianshou": "Tianshou"}


def host_grid(host: str) -> Any:
    """Return the grid of a host: both arms of a seed before the next seed."""

    def cells(arms: Mapping[str, Arm], scale: ScaleName) -> tuple[Cell, ...]:
        from lff.experiments.jobs.hosts import HostJob

        seeds, steps, every = (2, 204, 204) if scale == "smoke" else (5, 3_000, 500)
        return tuple(
            Cell(name, "Pendulum-v1", HostJob(f"host_{host}", name, (seed,), steps, every), seed)  # type: ignore[arg-type]
            for seed in range(seeds)
            for name in arms
        )

    return cells


FIRST_TASKS = ("gym/Pendulum-v1", "gym/HalfCheetah-v5", "dmc/cheetah-run", "dmc/walker-walk")
"""Tasks that people try first."""
EQUAL = Equivalent("lff", than="sb3", scale="difference", margin=0.2)


def peer(name: str, sentence: str, claim: Any, grid: Training, **fields: Any) -> Experiment:
    """Return the experiment that trains our agent beside Stable-Baselines3's."""
    algo = fields.get("algo", "sac").upper()
    return Experiment(
        name=name,
        title=f"Does our {algo} learn as well as Stable-Baselines3's?",
        arms={
            "sb3": rival(net="mlp", then=Around("peer"), **fields),
            "lff": ours(net="mlp", **fields),
        },
        grid=grid,
        sentences={sentence: claim},
    )


def td3(name: str, steps: int, first_seed: int = 0) -> Experiment:
    """Return our TD3 beside theirs on Pendulum-v1."""
    sentence = (
        f"P{name.removeprefix('peer')}: Our TD3 learns as well as theirs: their mean returns over "
        "the curve differ by at most 20 % of the task's span."
    )
    task = ("gym/Pendulum-v1",)
    size: dict[str, Any] = {"steps": steps, "episodes": 5, "looks": 10, "first_seed": first_seed}
    grid = Training(laptop=task, largest="laptop", **size)
    fields = {"algo": "td3", "hidden_dim": 64, "lr": 1e-3, "warmup_steps": 1_000}
    return peer(name, sentence, EQUAL, grid, **fields)


EXPERIMENTS = (
    *(
        Experiment(
            name=f"host-{host}",
            title=f"Does LFF help inside {title}?",
            arms={"MLP": baseline(), "LFF": ours()},
            grid=host_grid(host),
            sentences={f"H-{host}: LFF helps inside {title}.": Better("LFF", than="MLP")},
            whole_at="laptop",
        )
        for host, title in HOSTS.items()
    ),
    Experiment(
        name="drop-in",
        title="What do three changed lines do in a user's own agent?",
        whose="paper, empirical",
        source='§5, "only changing a few lines of code"',
        arms={"MLP": baseline(variant="MLP"), "LFF σ=0.01": ours(variant="LFF")},
        grid=Each(
            "host",
            {"pendulum": {}},
            size={"script": "drop_in", "seeds": (0, 1, 2, 3, 4), "steps": 4_000, "every": 200},
            small={"seeds": (0, 1), "steps": 200},
        ),
    ),
    peer(
        "peer-sb3",
        "P-sb3: Our SAC learns better than theirs.",
        Better("lff", than="sb3"),
        Training(
            laptop=("dmc/cheetah-run",),
            steps=50_000,
            episodes=5,
            looks=10,
            largest="laptop",
            native=False,
        ),
    ),
    peer(
        "peer-sb3-ppo",
        "P-sb3-ppo: Our PPO learns as well as theirs.",
        EQUAL,
        Training(laptop=("gym/HalfCheetah-v5", "gym/Hopper-v5"), episodes=5, largest="laptop"),
        algo="ppo",
        value_clip=None,
    ),
    td3("peer-sb3-td3", 10_000),
    td3("peer-sb3-td3-long", 30_000, first_seed=5),
    Experiment(
        name="default",
        title="Does the preset `default` learn as well as Stable-Baselines3's SAC does by default?",
        registered="2026-11-18",
        arms={
            "SB3": rival(net="mlp", then=Around("peer", {"defaults": True})),
            "MLP": baseline(net="mlp"),
            "LFF": ours(net="lff"),
        },
        grid=Training(
            laptop=FIRST_TASKS,
            steps=60_000,
            first_seed=10,
            looks=24,
            episodes=5,
            preset="default",
            largest="laptop",
        ),
        sentences={
            "D-a: On each of four tasks LFF by the preset has at least 0.8 of what "
            "Stable-Baselines3's defaults gain over the random policy.": Better(
                "LFF", than="SB3", share=0.8, on_at_least=4, primary=True
            ),
            "D-b: So has the MLP by the preset.": Better(
                "MLP", than="SB3", share=0.8, on_at_least=4
            ),
            "D-c: LFF learns better than the MLP of equal size by the preset.": Better(
                "LFF", than="MLP"
            ),
        },
        notes="Mean return over 60,000 steps, so early learning. The preset's rates are those of "
        "the other library: 3e-4 for all, batches of 256, hidden layers of 256, a target that "
        "moves at every update. Warm-up is 1,000 steps instead of 100; the temperature starts at "
        "0.1 instead of 1. Pilots on Pendulum-v1 (seeds 100 and 101) found the warm-up of 5,000 "
        "of the preset `laptop` and its target, which moves at every second update, to be what "
        "made it later. The preset is the same for all networks.",
    ),
)
