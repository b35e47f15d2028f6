"""A training job of seconds."""

from lff.algos import SACConfig
from lff.experiments.jobs.training import TrainJob
from lff.nn import Fourier, MLPTrunk, NetConfig
from tests.training.runs import run_config

NET = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk(hidden=(8, 8)))


def small_train_job(*, env="probe/two-step", steps=300, **options):
    algo = SACConfig(actor=NET, critic=NET, batch_size=16, warmup_steps=50)
    schedule = {"log_every": 50, "eval_every": 100, "eval_episodes": 1, "checkpoint_every": 100}
    return TrainJob(run_config(env, algo, steps=steps, **schedule, **options), reference_episodes=1)
