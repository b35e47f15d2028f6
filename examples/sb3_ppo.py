"""Stable-Baselines3's PPO with the sizes, rates and schedule of one of our configs."""

import torch
from sb3_sac import EpisodeSeeds
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from lff.algos import Spaces
from lff.algos.base import GREEDY
from lff.core.seeding import env_seed
from lff.envs import make
from lff.training import RunConfig
from lff.training.evaluate import evaluate


class Peer(PPO):
    """SB3 does not halve the value loss, and clips the value in another way: leave that out."""

    def __init__(self, run: RunConfig):
        self.run, self.config = run, run.algo
        algo = run.algo
        assert algo.value_clip is None
        assert algo.advantage_norm == "minibatch"
        env = make(run.env, seed=env_seed(run.seed, "train/0"))
        env = EpisodeSeeds(env, run.seed, "train/0")
        obs, action = Spaces.of(env).obs_dim, Spaces.of(env).action
        super().__init__(
            "MlpPolicy",
            VecNormalize(DummyVecEnv([lambda: env]), gamma=algo.gamma),
            learning_rate=lambda left: algo.lr * left,
            n_steps=algo.rollout_steps,
            batch_size=algo.batch_size,
            n_epochs=algo.epochs,
            gamma=algo.gamma,
            gae_lambda=algo.gae_lambda,
            clip_range=algo.clip,
            vf_coef=algo.value_coef / 2,
            ent_coef=algo.entropy_coef,
            max_grad_norm=algo.max_grad_norm,
            policy_kwargs={
                "net_arch": {
                    "pi": list(algo.actor.hidden(obs, action)),
                    "vf": list(algo.critic.hidden(obs, 1)),
                }
            },
            seed=run.seed,
            device="cpu",
        )

    def curve(self):
        """Train; return (environment steps, mean return of the mean action)."""
        looks = Looks()
        self.learn(self.run.steps, callback=looks)
        return looks.found

    def return_at(self, step):
        """Evaluate as ours does."""
        result = evaluate(
            Player(self),
            make(self.run.env, seed=env_seed(self.run.seed, "evaluation")),
            episodes=self.run.schedule.eval_episodes,
            seed=self.run.seed,
            env_step=step,
        )
        return result.metrics()["eval/return"]


class Looks(BaseCallback):
    """Evaluates at our steps, in the middle of rollouts too."""

    def __init__(self):
        super().__init__()
        self.found = []

    def _on_step(self):
        run, step = self.model.run, self.num_timesteps
        every = run.schedule.eval_every
        if step <= run.steps and (step % every == 0 or step == run.steps):
            self.found.append((step, self.model.return_at(step)))
        return step < run.steps


class Player:
    """What our evaluation asks of an agent."""

    def __init__(self, model):
        self.model, self.config = model, model.config

    def explore(self, _, *, greedy):
        assert greedy
        return GREEDY

    def act(self, obs, _):
        seen = self.model.get_vec_normalize_env().normalize_obs(obs.numpy())
        return torch.from_numpy(self.model.predict(seen, deterministic=True)[0])

    def value(self, obs, _action):
        seen = self.model.get_vec_normalize_env().normalize_obs(obs.numpy())
        with torch.no_grad():
            return self.model.policy.predict_values(torch.from_numpy(seen)[None].float())[0]
