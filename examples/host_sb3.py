"""SAC of Stable-Baselines3 on Pendulum-v1, with LFF or its own MLP of equal size."""

from dataclasses import asdict

from hosts import ACT, BATCH, FOURIER, OBS, RATE, TASK, WARMUP, played, widths
from stable_baselines3 import SAC

from lff.plugins.sb3 import LFFSACPolicy


def train(algorithm, lff_policy, variant, seed, steps, every, **options):
    """Train a SAC with the interface of Stable-Baselines3."""
    critic, actor = widths(variant, OBS + ACT, 1), widths(variant, OBS, 2 * ACT)
    kwargs = {"net_arch": {"pi": [*actor], "qf": [*critic]}}
    if variant == "LFF":
        kwargs["fourier"] = asdict(FOURIER)
    rates = {"learning_rate": RATE, "batch_size": BATCH, "learning_starts": WARMUP}
    policy = lff_policy if variant == "LFF" else "MlpPolicy"
    options |= {"policy_kwargs": kwargs, "buffer_size": steps, "seed": seed}
    model = algorithm(policy, TASK, **rates, **options)
    for step in range(every, steps + 1, every):
        model.learn(every, reset_num_timesteps=False)
        yield step, lambda obs: model.predict(obs, deterministic=True)[0]


@played
def run(variant, seed, steps, every):
    return train(SAC, LFFSACPolicy, variant, seed, steps, every, device="cpu")
