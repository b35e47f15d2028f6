"""SAC + RAD as in the code base that the paper starts from, written anew: nothing clever.

Replay with two whole copies of every stacked observation, a crop of one image after another,
float32; eager modules, ``.backward()`` and ``torch.optim.Adam``, images in torch's default layout.
Actor and critics have an encoder each whose convolutions are the same parameters, computed again
by each; the actor's loss is differentiated by the critics' weights too, and cut at the maps.
Actor, temperature and targets move at every second update, the encoder's target by another rate.

Two things are ours, so that both can be compared number by number: B is left out of weight decay,
and the target moves at the second of two updates (the published loop moves it at the first).
"""

import copy
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lff.algos import PixelSACConfig
from lff.algos.sac_pixels import PixelSAC
from lff.data import RandomCrop, RandomTranslate
from lff.nn import Conv1x1, Fourier2d, PixelCritic, PixelEncoderConfig, PixelHead
from lff.regularizers import WeightDecay

LOG_STD_MAX = 2.0
FLOOR = 1e-6
"""What the published code adds inside the logarithm of 1 - tanh²."""
Tensors = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


class Buffer:
    """Whole observations, twice."""

    def __init__(self, capacity: int, obs_shape: tuple[int, int, int], action_dim: int) -> None:
        shape = (capacity, *obs_shape)
        self.obs, self.next_obs = np.empty(shape, np.uint8), np.empty(shape, np.uint8)
        self.actions = np.empty((capacity, action_dim), np.float32)
        self.rewards = np.empty((capacity, 1), np.float32)
        self.not_terminated = np.empty((capacity, 1), np.float32)
        self.total = 0

    def nbytes(self) -> int:
        return sum(x.nbytes for x in vars(self).values() if isinstance(x, np.ndarray))

    def add(self, obs, action, reward: float, next_obs, *, terminated: bool) -> None:
        place = self.total % len(self.obs)
        np.copyto(self.obs[place], obs)
        np.copyto(self.actions[place], action)
        np.copyto(self.rewards[place], reward)
        np.copyto(self.next_obs[place], next_obs)
        np.copyto(self.not_terminated[place], not terminated)
        self.total += 1

    def sample(
        self, size: int, generator: torch.Generator, augmentation: RandomCrop | RandomTranslate
    ) -> Tensors:
        """Return obs, action, reward, next_obs and 1 - terminated, all float32."""
        filled = min(self.total, len(self.obs))
        index = torch.randint(filled, (size,), generator=generator).numpy()
        corners = augmentation.draw(size, self.obs.shape[2:], generator)
        one_by_one = crop if isinstance(augmentation, RandomCrop) else translate
        return (
            torch.as_tensor(one_by_one(self.obs[index], augmentation.size, corners.obs)).float(),
            torch.as_tensor(self.actions[index]),
            torch.as_tensor(self.rewards[index]),
            torch.as_tensor(
                one_by_one(self.next_obs[index], augmentation.size, corners.next_obs)
            ).float(),
            torch.as_tensor(self.not_terminated[index]),
        )


def crop(images: np.ndarray, size: int, corners: np.ndarray) -> np.ndarray:
    out = np.empty((*images.shape[:2], size, size), images.dtype)
    for number, (image, y, x) in enumerate(zip(images, *corners, strict=True)):
        out[number] = image[:, y : y + size, x : x + size]
    return out


def translate(images: np.ndarray, size: int, corners: np.ndarray) -> np.ndarray:
    height, width = images.shape[2:]
    out = np.zeros((*images.shape[:2], size, size), images.dtype)
    for image, canvas, y, x in zip(images, out, *corners, strict=True):
        canvas[:, y : y + height, x : x + width] = image
    return out


class Encoder(nn.Module):
    """Front, convolutions, projection and layer norm."""

    def __init__(self, config: PixelEncoderConfig, channels: int, size: int) -> None:
        super().__init__()
        front, self.concat, self.scale, self.front = config.front, False, 1.0, None
        width = channels
        if isinstance(front, Fourier2d):
            self.front = nn.Conv2d(channels, front.fourier_dim // 2, 1, bias=False)
            self.front.requires_grad_(front.trainable)
            self.scale, self.concat = 2 * math.pi, front.concat_input
            width = front.fourier_dim + channels * front.concat_input
        elif isinstance(front, Conv1x1):
            self.front = nn.Conv2d(channels, front.channels, 1)
            self.scale, width = front.scale, front.channels
        self.waves = isinstance(front, Fourier2d)
        filters = config.num_filters
        self.convs = nn.ModuleList([nn.Conv2d(width, filters, 3, stride=2)])
        for _ in range(config.num_layers - 1):
            self.convs.append(nn.Conv2d(filters, filters, 3, stride=1))
        side = (size - 3) // 2 + 1 - 2 * (config.num_layers - 1)
        self.fc = nn.Linear(filters * side * side, config.feature_dim)
        self.ln = nn.LayerNorm(config.feature_dim)

    def embed(self, x):
        if self.front is None:
            return x
        y = self.scale * self.front(x)
        if not self.waves:
            return torch.relu(y)
        return torch.cat([torch.sin(y), torch.cos(y), *([x] if self.concat else [])], dim=1)

    def forward_conv(self, obs):
        if obs.max() > 1.0:
            obs = obs / 255.0
        x = self.embed(obs)
        for conv in self.convs:
            x = torch.relu(conv(x))
        return x.reshape(x.size(0), -1)

    def forward(self, obs, detach=False):  # noqa: FBT002
        h = self.forward_conv(obs)
        if detach:
            h = h.detach()
        return self.ln(self.fc(h))

    def tie(self, other: "Encoder") -> None:
        """Use the other's front and convolutions."""
        self.front, self.convs = other.front, other.convs


def mlp(width: int, hidden: tuple[int, ...], out: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for size in hidden:
        layers += [nn.Linear(width, size), nn.ReLU()]
        width = size
    return nn.Sequential(*layers, nn.Linear(width, out))


class Actor(nn.Module):
    def __init__(self, config: PixelSACConfig, channels: int, size: int, action_dim: int) -> None:
        super().__init__()
        self.log_std_min = config.log_std_min
        self.encoder = Encoder(config.encoder, channels, size)
        self.trunk = mlp(config.encoder.feature_dim, config.actor.trunk.hidden, 2 * action_dim)

    def forward(self, obs, noise=None, detach=False, floor=FLOOR):  # noqa: FBT002
        """Return the action and its log-probability; the mean action without noise."""
        mu, log_std = self.trunk(self.encoder(obs, detach=detach)).chunk(2, dim=-1)
        span = LOG_STD_MAX - self.log_std_min
        log_std = self.log_std_min + 0.5 * span * (torch.tanh(log_std) + 1)
        if noise is None:
            return torch.tanh(mu), None
        log_prob = (-0.5 * noise.pow(2) - log_std).sum(-1, keepdim=True)
        log_prob = log_prob - 0.5 * math.log(2 * math.pi) * noise.size(-1)
        action = torch.tanh(mu + noise * log_std.exp())
        squeezed = torch.log(torch.relu(1 - action.pow(2)) + floor)
        return action, log_prob - squeezed.sum(-1, keepdim=True)


class Critic(nn.Module):
    def __init__(self, config: PixelSACConfig, channels: int, size: int, action_dim: int) -> None:
        super().__init__()
        self.encoder = Encoder(config.encoder, channels, size)
        width, hidden = config.encoder.feature_dim + action_dim, config.critic.trunk.hidden
        self.qs = nn.ModuleList(mlp(width, hidden, 1) for _ in range(config.num_critics))

    def forward(self, obs, action, detach=False):  # noqa: FBT002
        x = torch.cat([self.encoder(obs, detach=detach), action], dim=1)
        return [q(x) for q in self.qs]


class Agent:
    """Networks, optimizers and one update."""

    def __init__(
        self, config: PixelSACConfig, obs_shape: tuple[int, int, int], action_dim: int
    ) -> None:
        self.config, self.target_entropy, self.step = config, -float(action_dim), 0
        self.floor = FLOOR
        self.channels, side = obs_shape[0], config.augmentation.out_size(obs_shape[1])
        sizes = (config, self.channels, side, action_dim)
        self.actor, self.critic = Actor(*sizes), Critic(*sizes)
        self.actor.encoder.tie(self.critic.encoder)
        self.target = copy.deepcopy(self.critic)
        self.log_alpha = torch.tensor(math.log(config.alpha.initial), requires_grad=True)
        self.actor_optimizer = self._adam(self.actor, config.actor_lr)
        self.critic_optimizer = self._adam(self.critic, config.critic_lr)
        self.alpha_optimizer = torch.optim.Adam(
            [self.log_alpha], lr=config.alpha.lr, betas=(config.alpha.beta1, 0.999)
        )

    def _adam(self, network: Actor | Critic, lr: float) -> torch.optim.Adam:
        decay = [r.coefficient for r in self.config.regularizers if isinstance(r, WeightDecay)]
        front = network.encoder.front
        basis = [front.weight] if network.encoder.waves else []
        others = [p for p in network.parameters() if all(p is not b for b in basis)]
        groups = [{"params": others, "weight_decay": sum(decay)}]
        if basis:
            groups.append({"params": basis})
        return torch.optim.Adam(groups, lr=lr)

    def load(self, agent: PixelSAC) -> None:
        """Take over the weights, targets and temperature of an agent of ours."""
        copy_networks(self, agent.networks["actor"], agent.critics)
        target = copy.deepcopy(agent.critics)
        target.load_state_dict(agent.target, strict=False)
        copy_critic(self.target, target)
        with torch.no_grad():
            self.log_alpha.copy_(agent.alpha.log_alpha)

    def act(self, obs: np.ndarray, noise: Tensor | None = None) -> np.ndarray:
        """Return a sampled action for one observation of the environment, or the mean."""
        obs = self.config.augmentation.center(obs)
        with torch.no_grad():
            x = torch.FloatTensor(obs).unsqueeze(0)
            action, _ = self.actor(x, None if noise is None else noise[None])
            return action.numpy().flatten()

    def update(self, batch: Tensors, next_noise: Tensor, noise: Tensor) -> dict[str, Tensor]:
        """Do one update of a batch as :class:`Buffer` gives it; return the losses."""
        losses = {"critic": self.update_critic(batch, next_noise)}
        if self.step % self.config.actor_period == 0:
            losses["actor"], losses["alpha"] = self.update_actor_and_alpha(batch[0], noise)
        self.step += 1
        target = self.config.target
        if self.step % target.period == 0:
            soft_update(self.critic.qs, self.target.qs, target.tau)
            soft_update(self.critic.encoder, self.target.encoder, target.encoder_tau)
        return losses

    def update_critic(self, batch: Tensors, noise: Tensor) -> Tensor:
        obs, action, reward, next_obs, not_terminated = batch
        with torch.no_grad():
            next_action, log_prob = self.actor(next_obs, noise, floor=self.floor)
            target_v = torch.stack(self.target(next_obs, next_action)).amin(0)
            target_v = target_v - self.log_alpha.exp() * log_prob
            target_q = reward + not_terminated * self.config.gamma * target_v
        loss = sum(F.mse_loss(q, target_q) for q in self.critic(obs, action))
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()
        return loss.detach()

    def update_actor_and_alpha(self, obs: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        action, log_prob = self.actor(obs, noise, detach=True, floor=self.floor)
        q = torch.stack(self.critic(obs, action, detach=True)).amin(0)
        loss = (self.log_alpha.exp().detach() * log_prob - q).mean()
        self.actor_optimizer.zero_grad()
        loss.backward()
        self.actor_optimizer.step()
        alpha_loss = (self.log_alpha.exp() * (-log_prob - self.target_entropy).detach()).mean()
        self.alpha_optimizer.zero_grad()
        alpha_loss.backward()
        self.alpha_optimizer.step()
        return loss.detach(), alpha_loss.detach()


def soft_update(net: nn.Module, target: nn.Module, tau: float) -> None:
    for p, t in zip(net.parameters(), target.parameters(), strict=True):
        t.data.copy_(tau * p.data + (1 - tau) * t.data)


@torch.no_grad()
def copy_networks(theirs: Agent, actor: PixelHead, critic: PixelCritic) -> None:
    """Give a peer the tensors of networks of ours."""
    copy_critic(theirs.critic, critic)
    _copy_head(theirs.actor.encoder, actor)
    _copy_linears(theirs.actor.trunk, actor.net)


@torch.no_grad()
def copy_critic(theirs: Critic, critic: PixelCritic) -> None:
    """Give one critic of a peer's the tensors of ours."""
    encoder, source = theirs.encoder, critic.encoder
    if encoder.waves:
        encoder.front.weight.copy_(source.front.B[:, :, None, None])
    elif encoder.front is not None:
        encoder.front.load_state_dict(source.front.conv.state_dict())
    convs = [layer for layer in source.convolutions if isinstance(layer, nn.Conv2d)]
    for conv, ours in zip(encoder.convs, convs, strict=True):
        conv.load_state_dict(ours.state_dict())
    _copy_head(encoder, critic.head)
    for index, q in enumerate(theirs.qs):
        _copy_linears(q, critic.head.net.member(index))


def _copy_head(encoder: Encoder, head: PixelHead) -> None:
    encoder.fc.load_state_dict(head.project.state_dict())
    encoder.ln.load_state_dict(head.norm.state_dict())


def _copy_linears(theirs: nn.Module, ours: nn.Module) -> None:
    layers, others = (
        [m for m in net.modules() if isinstance(m, nn.Linear)] for net in (theirs, ours)
    )
    for layer, other in zip(layers, others, strict=True):
        layer.load_state_dict(other.state_dict())
