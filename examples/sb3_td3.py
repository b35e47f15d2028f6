"""Stable-Baselines3's TD3 with the sizes, rates and schedule of one of our configs."""

import numpy as np
from sb3_sac import EpisodeSeeds
from sb3_sac import Peer as SACPeer
from stable_baselines3 import TD3
from stable_baselines3.common.noise import NormalActionNoise

from lff.algos import Spaces
from lff.core.seeding import env_seed
from lff.envs import make
from lff.training import RunConfig


class Peer(TD3):
    """SB3 has one rate for both networks, and adds the exploration noise in the warm-up too."""

    def __init__(self, run: RunConfig):
        self.run, self.config = run, run.algo
        algo = run.algo
        assert algo.actor_lr == algo.critic_lr
        assert algo.target.period == 1
        env = EpisodeSeeds(make(run.env, seed=env_seed(run.seed, "train")), run.seed)
        obs, action = Spaces.of(env).obs_dim, Spaces.of(env).action
        super().__init__(
            "MlpPolicy",
            env,
            learning_rate=algo.critic_lr,
            buffer_size=min(algo.replay_capacity, run.steps),
            learning_starts=algo.warmup_steps,
            batch_size=algo.batch_size,
            tau=algo.target.tau,
            gamma=algo.gamma,
            gradient_steps=algo.updates_per_step,
            action_noise=NormalActionNoise(np.zeros(action), np.full(action, algo.exploration)),
            policy_delay=algo.actor_period,
            target_policy_noise=algo.smoothing,
            target_noise_clip=algo.smoothing_clip,
            policy_kwargs={
                "n_critics": algo.num_critics,
                "net_arch": {
                    "pi": list(algo.actor.hidden(obs, action)),
                    "qf": list(algo.critic.hidden(obs + action, 1)),
                },
            },
            seed=run.seed,
            device="cpu",
        )

    curve = SACPeer.curve
