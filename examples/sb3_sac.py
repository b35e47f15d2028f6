"""Stable-Baselines3's SAC with the sizes, rates and schedule of one of our configs."""

import torch
from gymnasium import Wrapper
from stable_baselines3 import SAC

from lff.algos import Spaces
from lff.algos.base import GREEDY
from lff.core.seeding import env_seed
from lff.envs import make
from lff.training import RunConfig
from lff.training.evaluate import evaluate


class EpisodeSeeds(Wrapper):
    """Starts every training episode from the seed that ours has there."""

    def __init__(self, env, seed, name="train"):
        super().__init__(env)
        self.seed, self.name, self.episode = seed, name, -1

    def reset(self, **_):
        self.episode += 1
        return self.env.reset(seed=env_seed(self.seed, f"{self.name}/{self.episode}"))


class Defaults(SAC):
    """SB3's SAC as it comes, on our task, episodes and schedule of evaluations."""

    def __init__(self, run: RunConfig, **options):
        self.run, self.config = run, run.algo
        env = EpisodeSeeds(make(run.env, seed=env_seed(run.seed, "train")), run.seed)
        super().__init__("MlpPolicy", env, seed=run.seed, device="cpu", **options)

    def curve(self):
        """Train; yield (environment steps, mean return of the mean action)."""
        run, every = self.run, self.run.schedule.eval_every
        env = make(run.env, seed=env_seed(run.seed, "evaluation"))
        for step in range(every, run.steps + 1, every):
            self.learn(every, reset_num_timesteps=False)
            result = evaluate(
                Player(self),
                env,
                episodes=run.schedule.eval_episodes,
                seed=run.seed,
                env_step=step,
            )
            yield step, result.metrics()["eval/return"]


class Peer(Defaults):
    """SB3 has one rate for all and, at one update a step, ignores target_update_interval."""

    def __init__(self, run: RunConfig):
        config, spaces = run.algo, Spaces.of(make(run.env, seed=0))
        obs, action = spaces.obs_dim, spaces.action
        super().__init__(
            run,
            learning_rate=config.critic_lr,
            buffer_size=min(config.replay_capacity, run.steps),
            learning_starts=config.warmup_steps,
            batch_size=config.batch_size,
            gamma=config.gamma,
            ent_coef=f"auto_{config.alpha.initial}",
            policy_kwargs={
                "net_arch": {
                    "pi": list(config.actor.hidden(obs, 2 * action)),
                    "qf": list(config.critic.hidden(obs + action, 1)),
                }
            },
        )

    def _update_learning_rate(self, optimizers):
        super()._update_learning_rate(optimizers)
        self.ent_coef_optimizer.param_groups[0]["lr"] = self.config.alpha.lr

    def train(self, gradient_steps, batch_size=64):
        moves = (self._n_updates + 1) % self.config.target.period == 0
        self.tau = self.config.target.tau if moves else 0.0
        super().train(gradient_steps, batch_size)


class Player:
    """What our evaluation asks of an agent."""

    def __init__(self, model):
        self.model, self.config = model, model.config

    def explore(self, _, *, greedy):
        assert greedy
        return GREEDY

    def act(self, obs, _):
        return torch.from_numpy(self.model.predict(obs.numpy(), deterministic=True)[0])

    def value(self, obs, action):
        with torch.no_grad():
            return torch.cat(self.model.critic(obs[None], action[None])).amin()
