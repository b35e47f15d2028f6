"""Soft actor-critic (Haarnoja et al., 2018) as in the paper's starting code base.

    y      = r + γ (1 - terminated) (min_i Q̄_i(s', a') - α log π(a'|s')) [+ noise],   a' ~ π(s')
    L_Q    = Σ_i mean (Q_i(s, a) - y)²
    L_π    = mean (α log π(a|s) - min_i Q_i(s, a)),                                    a ~ π(s)
    L_α    = mean α (-log π(a|s) - H̄),   H̄ = -|A|

Implementation details:

1. log σ_π is squashed by tanh into [-5, 2], not clamped.
2. The losses of the critics are summed, not averaged, and not halved.
3. α itself, not log α, multiplies the gap in L_α, as in the authors' code; log α is learned.
4. The target follows the critics every second critic update.
5. The order is critic, actor, α, target; the actor sees the critics just updated.
6. The critics are not differentiated by their weights in the actor step.
7. Noise and dropout masks are drawn outside and passed in, so that the update is a pure function
   of its inputs and one graph for the compiler: :meth:`SAC.update` changes its tensors in place and
   has no branches on data.
8. Regularizers (``lff.regularizers``) are called when a network has been built, when its optimizer
   is made, and in the critic loss.  Functional regularization takes the place of the target
   network: the bootstrap is from the critics, and θ̄ is the lagging copy.
9. Observations are normalised inside the agent if asked for (``lff.algos.normalize``); callers and
   replay hold them as the environment gave them.
10. From images (SAC + RAD) actor and critics share front and convolutions, the encoder.  Critics
    train them; the gradient of the actor stops at the maps, which both read once.  The next action
    is chosen from the critics' encoding, its value from the target's.  Batches come
    augmented; whoever acts or asks for values gives images as the environment does, and the agent
    takes the augmentation's deterministic form.
"""

import math
from collections.abc import Mapping

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.func import functional_call, grad

from lff.algos.alpha import LearnedAlpha
from lff.algos.normalize import RunningNorm
from lff.algos.sac_config import SACConfig as SACConfig
from lff.algos.sac_losses import Noise as Noise
from lff.algos.sac_losses import actor_loss, alpha_gradient, bootstrap, critic_loss
from lff.algos.squashed import split_head, squash
from lff.algos.state import fill, kept_buffers
from lff.algos.target import Follower, PolyakTarget
from lff.core.errors import BadInputError
from lff.data import Batch
from lff.nn import Ensemble, PixelCritic, pixel_actor
from lff.optim import Adam, Rule
from lff.regularizers import (
    draw_masks,
    dropout_of,
    penalty,
    power_steps,
    rules,
    spectral_vectors,
    update_masks,
    wrap,
)
from lff.regularizers.base import Role

CRITICS_BODY = "head.net."
"""How the names of the critics' own weights begin, in an agent that sees; the rest is the encoder.
"""


class SAC:
    """The agent: networks, their optimizers, and one update."""

    def __init__(
        self,
        config: SACConfig,
        obs_dim: int | tuple[int, ...],
        action_dim: int,
        *,
        generator: torch.Generator | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        """Build actor, critics and target; the same generator state gives the same agent.

        ``obs_dim`` is the width of a vector, or (channels, height, width) of the environment's
        images.
        Everything is drawn on the CPU and then moved, so that a seed means the same everywhere.
        """
        self.config, self.device = config, torch.device(device)
        self.obs_shape = (obs_dim,) if isinstance(obs_dim, int) else tuple(obs_dim)
        self.obs_dim, self.action_dim = math.prod(self.obs_shape), action_dim
        self.target_entropy = -float(action_dim)
        self.actor, self.critic = self._build(generator)
        extra = config.regularizers
        self._networks: dict[Role, nn.Module] = {"actor": self.actor, "critic": self.critic}
        for role, network in self._networks.items():
            wrap(network, extra, role, generator=generator)
            network.to(self.device)
            network.requires_grad_(requires_grad=False)  # gradients come from torch.func
        self._actor: dict[str, Tensor] = dict(self.actor.named_parameters())
        self._critic: dict[str, Tensor] = dict(self.critic.named_parameters())
        self._leader = self._critic | spectral_vectors(self.critic)
        self._target = {name: p.clone() for name, p in self._leader.items()}
        self._spectral = [
            (network, tensors)
            for network, tensors in (
                (self.actor, self._actor | spectral_vectors(self.actor)),
                (self.critic, self._leader),
                (self.critic, self._target),
            )
            if spectral_vectors(network)
        ]
        alpha = config.alpha
        self._learns_alpha = isinstance(alpha, LearnedAlpha)
        start = alpha.initial if isinstance(alpha, LearnedAlpha) else alpha.value
        self.log_alpha = torch.tensor(math.log(start), device=self.device)
        self.actor_adam = Adam(self._actor, rules(self.actor, extra, "actor", lr=config.actor_lr))
        self.critic_adam = Adam(
            self._critic, rules(self.critic, extra, "critic", lr=config.critic_lr)
        )
        rule = Rule(0.0)
        if isinstance(alpha, LearnedAlpha):
            rule = Rule(alpha.lr, beta1=alpha.beta1)
        self.alpha_adam = Adam({"log_alpha": self.log_alpha}, {"log_alpha": rule})
        norm = RunningNorm(self.obs_dim, device=self.device) if config.normalize_obs else None
        self.norm = norm
        self._dropout = dropout_of(extra)
        self._functional = config.functional
        self._followers = self._follow()

    def _build(self, generator: torch.Generator | None) -> tuple[nn.Module, nn.Module]:
        """Return actor and critics."""
        config, size = self.config, self.action_dim
        if config.encoder is None:
            actor = config.actor.build(self.obs_dim, 2 * size, generator=generator)
            critic = Ensemble.build(
                config.critic,
                config.num_critics,
                in_features=self.obs_dim + size,
                out_features=1,
                generator=generator,
            )
            return actor, critic
        if len(self.obs_shape) != 3:
            remedy = "use a task of dmc-pixels/, or leave the encoder out"
            raise BadInputError(
                "the observation", self.obs_shape, "(channels, height, width)", remedy
            )
        channels, *sides = self.obs_shape
        height, width = (config.augmentation.out_size(side) for side in sides)
        critics = PixelCritic(
            config.encoder,
            config.critic,
            config.num_critics,
            obs_shape=(channels, height, width),
            action_dim=size,
            generator=generator,
        )
        maps = critics.encoder.maps_width
        head = pixel_actor(
            config.encoder, config.actor, maps_width=maps, action_dim=size, generator=generator
        )
        return head, critics

    def observe(self, obs: Shaped[Tensor, "..."]) -> None:
        """Take note of an observation; once per environment step.  Nothing unless normalising."""
        if self.norm is not None:
            self.norm.observe(obs.to(self.device))

    def settle(self, obs: Shaped[Tensor, "..."]) -> Shaped[Tensor, "..."]:
        """Return images of the environment as those of a batch are, without chance."""
        return obs if self.config.encoder is None else self.config.augmentation.settle(obs)

    def normalize(self, obs: Shaped[Tensor, "..."]) -> Shaped[Tensor, "..."]:
        """Return what the networks see of the environment's observation."""
        return self.settle(obs) if self.norm is None else self.norm(obs)

    def see(
        self, parameters: Mapping[str, Tensor], obs: Shaped[Tensor, "..."]
    ) -> Float[Tensor, "*batch seen"]:
        """Return what both networks are given: a normalised vector, or the maps of the encoder.

        Images are augmented already; ``parameters`` are the critics' or the target's.
        """
        if not isinstance(self.critic, PixelCritic):
            return obs if self.norm is None else self.norm(obs)
        maps: Tensor = functional_call(self.critic.encoder, _within(parameters, "encoder."), (obs,))
        return maps

    def act(
        self,
        obs: Shaped[Tensor, "..."],
        noise: Tensor | None = None,
        *,
        masks: Mapping[str, Tensor] | None = None,
    ) -> Tensor:
        """Return the mean action, or a sample if noise is given, on the CPU.

        Masks are those of :meth:`draw_acting_masks`; without them nothing is dropped.
        """
        with torch.inference_mode():
            x = self.see(self._critic, self.settle(obs.to(self.device)))
            drops = {name: mask.to(self.device) for name, mask in (masks or {}).items()}
            head = functional_call(self.actor, drops, (x,)) if drops else self.actor(x)
            mean, log_std = split_head(head, log_std_min=self.config.log_std_min)
            noisy = mean if noise is None else mean + log_std.exp() * noise.to(self.device)
            return noisy.tanh().cpu()

    def values(
        self, obs: Shaped[Tensor, "..."], action: Float[Tensor, "*batch act"]
    ) -> Float[Tensor, "critic *batch"]:
        """Return every critic's Q_i(s, a) on the CPU; nothing is dropped."""
        with torch.inference_mode():
            x = self.normalize(obs.to(self.device))
            output: Tensor = self.critic(x, action.to(self.device))
            return output.squeeze(-1).cpu()

    def value(
        self, obs: Shaped[Tensor, "..."], action: Float[Tensor, "*batch act"]
    ) -> Float[Tensor, "*batch"]:
        """Return min_i Q_i(s, a) on the CPU; nothing is dropped."""
        return self.values(obs, action).amin(dim=0)

    def q(
        self,
        parameters: Mapping[str, Tensor],
        seen: Float[Tensor, "batch seen"],
        action: Float[Tensor, "batch act"],
        masks: Mapping[str, Tensor] | None = None,
    ) -> Float[Tensor, "critic batch"]:
        """Return every critic's value under the given parameters, of what :meth:`see` gave."""
        tensors = {**parameters, **(masks or {})}
        network = self.critic
        if isinstance(network, PixelCritic):
            network, tensors = network.head, _within(tensors, "head.")
        output: Tensor = functional_call(network, tensors, (seen, action))
        return output.squeeze(-1)

    def policy(
        self,
        parameters: Mapping[str, Tensor],
        seen: Float[Tensor, "batch seen"],
        noise: Float[Tensor, "batch act"],
        masks: Mapping[str, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return sampled actions and their log-probabilities under the given parameters."""
        head = functional_call(self.actor, {**parameters, **(masks or {})}, (seen,))
        return squash(head, noise, log_std_min=self.config.log_std_min)

    def update(
        self, batch: Batch, noise: Noise, *, actor: bool = True
    ) -> dict[str, Float[Tensor, ""]]:
        """Do one critic, actor, temperature and target update in place; return metrics.

        Without ``actor`` actor and temperature stay (``actor_period``), and so do their metrics.
        """
        batch = Batch(*(x.to(self.device) for x in batch))
        with torch.no_grad():
            for network, tensors in self._spectral:
                power_steps(network, tensors)
            alpha = self.log_alpha.exp()
            target_q = self._targets(batch, noise, alpha)
            lagged_q = self._lagged(batch, noise)
            gradients, q = grad(self._loss_of_critic, has_aux=True)(
                self._critic, batch, target_q, lagged_q, noise.masks.get("critic")
            )
            self.critic_adam.step(gradients)
            metrics = {
                "train/critic_loss": critic_loss(q, target_q),
                "train/alpha": alpha,
                "train/q_mean": q.mean(),
                "train/q_max": q.abs().max(),
                "train/target_q_mean": target_q.mean(),
            }
            if actor:
                metrics |= self._update_actor(batch, noise, alpha)
            for follower in self._followers.values():
                follower.move()
            if lagged_q is not None:
                metrics["train/penalty"] = penalty(self.config.regularizers, q, lagged_q)
            return metrics

    def _update_actor(
        self, batch: Batch, noise: Noise, alpha: Tensor
    ) -> dict[str, Float[Tensor, ""]]:
        seen = self.see(self._critic, batch.obs)
        gradients, (loss, log_prob) = grad(self._loss_of_actor, has_aux=True)(
            self._actor, seen, noise, alpha
        )
        self.actor_adam.step(gradients)
        if self._learns_alpha:
            slope = alpha_gradient(alpha, log_prob, self.target_entropy)
            self.alpha_adam.step({"log_alpha": slope})
        return {"train/actor_loss": loss, "train/entropy": -log_prob.mean()}

    def _loss_of_critic(
        self,
        parameters: Mapping[str, Tensor],
        batch: Batch,
        target_q: Tensor,
        lagged_q: Tensor | None,
        masks: Mapping[str, Tensor] | None,
    ) -> tuple[Tensor, Tensor]:
        q = self.q(parameters, self.see(parameters, batch.obs), batch.action, masks)
        loss = critic_loss(q, target_q)
        if lagged_q is not None:
            loss = loss + penalty(self.config.regularizers, q, lagged_q)
        return loss, q

    def _loss_of_actor(
        self, parameters: Mapping[str, Tensor], seen: Tensor, noise: Noise, alpha: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        masks = noise.masks
        action, log_prob = self.policy(parameters, seen, noise.action, masks.get("actor"))
        q = self.q(self._critic, seen, action, masks.get("actor_critic"))
        loss = actor_loss(q, log_prob, alpha)
        return loss, (loss, log_prob)

    def _targets(self, batch: Batch, noise: Noise, alpha: Tensor) -> Tensor:
        masks = noise.masks
        seen = self.see(self._critic, batch.next_obs)
        next_action, next_log_prob = self.policy(
            self._actor, seen, noise.next_action, masks.get("next_actor")
        )
        source = self._critic
        if isinstance(self.config.target, PolyakTarget) and self._functional is None:
            source = self._target
            if self.config.encoder is not None:
                seen = self.see(source, batch.next_obs)
        next_q = self.q(source, seen, next_action, masks.get("next_critic"))
        extra = self.config.target_noise * noise.target if self.config.target_noise else 0.0
        return bootstrap(
            batch, next_q, next_log_prob, alpha=alpha, gamma=self.config.gamma, noise=extra
        )

    def _lagged(self, batch: Batch, noise: Noise) -> Tensor | None:
        """Return the lagging critics' values, if a regularizer holds the critics to them."""
        if not any(regularizer.penalizes for regularizer in self.config.regularizers):
            return None
        seen = self.see(self._target, batch.obs)
        return self.q(self._target, seen, batch.action, noise.masks.get("critic"))

    def _follow(self) -> dict[str, Follower]:
        """Return what moves the target network or the lagging copy; nothing if nothing does."""
        target, count = self.config.target, self.critic_adam.count
        if self._functional is not None:  # a copy of the weights needs their singular vectors too
            lag = self._functional.lag
            whole = Follower(self._target, self._leader, share=1.0, period=lag, count=count)
            return {"share": whole}
        if not isinstance(target, PolyakTarget):
            return {}
        parts = {"share": (target.tau, self._critic)}
        if target.encoder_tau is not None:
            seeing = {n: p for n, p in self._critic.items() if not n.startswith(CRITICS_BODY)}
            body = {n: p for n, p in self._critic.items() if n not in seeing}
            parts = {"share": (target.tau, body), "encoder_share": (target.encoder_tau, seeing)}
        return {
            name: Follower(self._target, leaders, share=tau, period=target.period, count=count)
            for name, (tau, leaders) in parts.items()
        }

    def draw_noise(self, generator: torch.Generator, *, batch_size: int | None = None) -> Noise:
        """Draw the random numbers of one update, on the CPU, and move them to the device."""
        size = self.config.batch_size if batch_size is None else batch_size
        action, next_action = torch.randn(2, size, self.action_dim, generator=generator)
        target = torch.randn(size, generator=generator)
        masks = update_masks(self._networks, self._dropout, generator, size=size)
        moved = {
            name: {key: mask.to(self.device) for key, mask in part.items()}
            for name, part in masks.items()
        }
        to = self.device
        return Noise(action.to(to), next_action.to(to), target.to(to), moved)

    def draw_acting_masks(
        self, generator: torch.Generator, *, batch: tuple[int, ...] = ()
    ) -> dict[str, Tensor]:
        """Draw what :meth:`act` drops: nothing, and no number, unless dropout acts (a bug)."""
        dropout = self._dropout.get("actor")
        if dropout is None or not dropout.when_acting:
            return {}
        return draw_masks(self.actor, generator, batch=batch)

    def state(self) -> dict[str, Tensor]:
        """Return every tensor that makes up the agent, by name: what a checkpoint holds."""
        parts = {
            "actor": {**self._actor, **kept_buffers(self.actor)},
            "critic": {**self._critic, **kept_buffers(self.critic)},
            "target": self._target,
            "follower": {name: follower.share for name, follower in self._followers.items()},
            "alpha": {"log": self.log_alpha},
            "adam/actor": self.actor_adam.state(),
            "adam/critic": self.critic_adam.state(),
            "adam/alpha": self.alpha_adam.state(),
            "norm": {} if self.norm is None else self.norm.state(),
        }
        return {
            f"{part}/{n}": value for part, values in parts.items() for n, value in values.items()
        }

    def load_state(self, tensors: Mapping[str, Tensor]) -> None:
        """Copy a checkpoint's tensors into the agent, in place."""
        fill(self.state(), tensors)


def _within(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors of one part of a network, by their names in it."""
    start = len(prefix)
    return {name[start:]: value for name, value in tensors.items() if name.startswith(prefix)}
