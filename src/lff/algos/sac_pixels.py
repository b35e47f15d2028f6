"""Soft actor-critic from pixels with augmented batches (SAC + RAD; Laskin et al., 2020).

The losses and the update are those of :mod:`lff.algos.sac`.  What differs:

1. Actor and critics share one encoder, front and convolutions.  The critics train it; the gradient
   of the actor stops at the encoder's output, which both read once.
2. The next action is chosen from the output of the critics' encoder, its value from that of the
   target's.
3. Batches come augmented from the replay.  Acting and values take images as the environment gives
   them and apply the augmentation's deterministic form.
4. The encoder of the target may have a Polyak coefficient of its own.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call

from lff.algos.base import Options, Probe, Spaces
from lff.algos.off_policy import Actions, Obs, Polyak, PolyakTarget, Tensors
from lff.algos.sac import SAC, SACConfig
from lff.core.config import within
from lff.core.errors import BadInputError
from lff.data import Augmentation, Batch, FrameReplay, Memory, NoAugmentation, augment
from lff.nn import LearnedFourierFeatures2d, PixelCritic, PixelEncoderConfig, PixelHead
from lff.nn.parts import Rng

ENCODER, HEAD, CRITICS = "encoder.", "head.", "head.net."
"""How the names of the encoder's, the critics' head's and the critics' own weights begin."""
PREVIEWED = 8
"""Observations of a preview."""


@dataclass(frozen=True, kw_only=True)
class PixelSACConfig(SACConfig):
    """SAC + RAD; ``actor`` and ``critic`` are the networks behind the shared encoder."""

    tag: ClassVar[str] = "sac-pixels"
    encoder: PixelEncoderConfig
    """Images -> features, for both networks."""
    augmentation: Augmentation = NoAugmentation()  # noqa: RUF009  frozen
    """Random change of the images of a batch; acting uses its deterministic form."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.normalize_obs:
            remedy = "leave it out: the encoder scales bytes by 1/255"
            raise BadInputError("normalize_obs", self.normalize_obs, "off for images", remedy)

    def build(self, spaces: Spaces, **options: Unpack[Options]) -> "PixelSAC":
        return PixelSAC(self, spaces, **options)

    def memory(self, spaces: Spaces, capacity: int) -> Memory:
        sizes: dict[str, Any] = {"obs_shape": image_shape(spaces), "action_dim": spaces.action}
        return FrameReplay(capacity, **sizes, augmentation=self.augmentation)


class PixelSAC(SAC):
    """The agent: SAC behind a shared encoder; it overrides what depends on that."""

    config: PixelSACConfig

    def _build(self, generator: Rng) -> tuple[nn.Module, nn.Module]:
        config, (channels, *sides) = self.config, image_shape(self.spaces)
        height, width = (config.augmentation.out_size(side) for side in sides)
        shape, size, encoder = (channels, height, width), self.spaces.action, config.encoder
        options: dict[str, Any] = {"action_dim": size, "generator": generator}
        critics = PixelCritic(
            encoder, config.critic, config.num_critics, obs_shape=shape, **options
        )
        net = config.actor.build(encoder.feature_dim, 2 * size, generator=generator)
        actor = PixelHead(encoder, critics.encoder.maps_width, net, generator=generator)
        return actor, critics

    @property
    def critics(self) -> PixelCritic:
        """Encoder and critics."""
        network = self.critic.network
        assert isinstance(network, PixelCritic)
        return network

    def preprocess(self, obs: Obs) -> Obs:
        """Apply the augmentation's deterministic form."""
        return self.config.augmentation.center(obs)

    def encode(self, parameters: Tensors, obs: Obs) -> Float[Tensor, "*batch features"]:
        maps: Tensor = functional_call(self.critics.encoder, within(parameters, ENCODER), (obs,))
        return maps

    def q(
        self,
        parameters: Tensors | None,
        features: Float[Tensor, "*batch features"],
        action: Actions,
        masks: Tensors | None = None,
    ) -> Float[Tensor, "critic *batch"]:
        whole = self.critic.parameters if parameters is None else parameters
        tensors = within({**whole, **(masks or {})}, HEAD)
        output: Tensor = functional_call(self.critics.head, tensors, (features, action))
        return output.squeeze(-1)

    def inputs(self, batch: Batch) -> list[Probe]:
        obs, action = self.preprocess(batch.obs.to(self.device)), batch.action.to(self.device)
        critics = self.critics
        with torch.inference_mode():
            maps = critics.encoder(obs)
        return [
            Probe("critic", critics.encoder.front, (obs / 255,)),
            Probe("actor", self.actor.network, (maps,)),
            Probe("critic", critics.head, (maps, action)),
        ]

    def _average(self) -> dict[str, Polyak]:
        """Return what moves the target; the encoder's part apart if it has its own coefficient."""
        target, count = self.config.target, self.critic.adam.count
        if not isinstance(target, PolyakTarget) or target.encoder_tau is None:
            return super()._average()
        body = {n: p for n, p in self.critic.parameters.items() if n.startswith(CRITICS)}
        rest = {n: p for n, p in self.critic.parameters.items() if n not in body}
        parts = {"tau": (target.tau, body), "encoder_tau": (target.encoder_tau, rest)}
        return {
            name: Polyak(self.target, leaders, tau=tau, period=target.period, count=count)
            for name, (tau, leaders) in parts.items()
        }

    def preview(
        self, memory: FrameReplay, generator: torch.Generator
    ) -> dict[str, list[NDArray[Any]]]:
        """Return images (height, width, 3) in rows, so that a wrong camera is noticed.

        raw         the newest frame as the environment drew it
        augmented   the same as it comes in a batch
        acting      the same as the policy is given it
        motion      the difference between the newest frame and the oldest of the stack
        waves       three sines of a Fourier front, as red, green and blue
        """
        batch = memory.peek(PREVIEWED, generator)
        raw, channels = batch.obs, memory.frame_channels
        changed, _ = augment(self.config.augmentation, raw, batch.next_obs, generator)
        centered = self.preprocess(raw)
        rows = {
            "raw": raw[:, -channels:],
            "augmented": changed[:, -channels:],
            "acting": centered[:, -channels:],
            "motion": 127.5 + (raw[:, -channels:].float() - raw[:, :channels].float()) / 2,
        }
        front = self.critics.encoder.front
        if isinstance(front, LearnedFourierFeatures2d):
            with torch.inference_mode():
                waves = front((centered / 255).to(front.B))[:, :channels]
            rows["waves"] = 127.5 * (1 + waves)
        return {name: [_rgb(image) for image in images] for name, images in rows.items()}


def image_shape(spaces: Spaces) -> tuple[int, int, int]:
    """Return (channels, height, width), or refuse vectors."""
    if len(spaces.obs) != 3:
        remedy = "use a task of dmc-pixels/, or lff train sac"
        raise BadInputError("the observation", spaces.obs, "(channels, height, width)", remedy)
    channels, height, width = spaces.obs
    return channels, height, width


def _rgb(image: Tensor) -> NDArray[Any]:
    """Return (channel, height, width) as (height, width, 3) bytes; grey becomes three channels."""
    pixels = image.clamp(0, 255).to(torch.uint8).permute(1, 2, 0)
    return (pixels if pixels.shape[2] == 3 else pixels[:, :, :1].expand(-1, -1, 3)).numpy()
