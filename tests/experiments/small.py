"""A training job of seconds."""

from lff.algos import SACConfig
from lff.experiments.jobs.training import TrainJob
from lff.nn import Fourier, MLPTrunk, NetConfig
from lff.training import TrainConfig

NET = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk(hidden=(8, 8)))


def small_train_job(*, env="probe/two-step", steps=300, seed=0, **options):
    config = TrainConfig(
        env=env,
        algo=SACConfig(actor=NET, critic=NET, batch_size=16),
        steps=steps,
        seed=seed,
        warmup_steps=50,
        log_every=50,
        eval_every=100,
        eval_episodes=1,
        checkpoint_every=100,
        **options,
    )
    return TrainJob(config, reference_episodes=1)
