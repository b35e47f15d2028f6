"""One SAC per host library, with LFF or the host's own MLP of equal size, for Pendulum-v1.

Each function yields (environment steps, a function from observation to mean action).
"""

from lff import Fourier, MLPTrunk, NetConfig
from lff.nn import matched_mlp

TASK, OBS, ACT = "Pendulum-v1", 3, 1
FOURIER, HIDDEN = Fourier(fourier_dim=64, sigma=0.01), (64, 64)
RATE, BATCH, WARMUP = 1e-3, 64, 200


def widths(variant, in_features, out_features):
    """Hidden widths: those behind the front, or those of an MLP with as many parameters."""
    net = NetConfig(FOURIER, MLPTrunk(HIDDEN))
    return HIDDEN if variant == "LFF" else matched_mlp(net, in_features, out_features).trunk.hidden


def _train_in_pieces(model, steps, every):
    """Any model with the interface of Stable-Baselines3."""
    for step in range(every, steps + 1, every):
        model.learn(every, reset_num_timesteps=False)
        yield step, lambda obs: model.predict(obs, deterministic=True)[0]


def sb3(variant, seed, *, steps, every):
    from dataclasses import asdict

    from stable_baselines3 import SAC

    from lff.plugins.sb3 import LFFSACPolicy

    critic, actor = widths(variant, OBS + ACT, 1), widths(variant, OBS, 2 * ACT)
    options = {"net_arch": {"pi": [*actor], "qf": [*critic]}}
    policy = "MlpPolicy"
    if variant == "LFF":
        policy, options["fourier"] = LFFSACPolicy, asdict(FOURIER)
    common = {"learning_rate": RATE, "batch_size": BATCH, "learning_starts": WARMUP}
    model = SAC(
        policy, TASK, policy_kwargs=options, buffer_size=steps, seed=seed, device="cpu", **common
    )
    yield from _train_in_pieces(model, steps, every)


HOSTS = {"sb3": sb3}
