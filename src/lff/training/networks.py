"""Networks by the names they have in the paper's figures, for given sizes."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from lff.core.checks import check_choice
from lff.data import Augmentation, NoAugmentation, RandomCrop, RandomTranslate
from lff.envs.views import PixelView
from lff.nn import (
    AUTHORS_UNMATCHED_FRONT,
    FFN,
    ConcatMLPTrunk,
    ConstantControl,
    Fourier,
    Fourier2d,
    Front,
    Identity,
    LinearControl,
    LogUniformFourier,
    MatchedConv1x1,
    MatchedMLP,
    MatchedSimBa,
    MLPTrunk,
    NetConfig,
    NoFront,
    PixelEncoderConfig,
    TanhControl,
)
from lff.nn.trunks import Activation

NetName = Literal[
    "lff",
    "mlp",
    "mlp-2",
    "fixed-b",
    "no-concat",
    "log-uniform",
    "mlp-concat",
    "linear",
    "constant",
    "tanh",
    "ffn",
    "ffn-published",
    "simba",
    "simba-1",
]
PixelNetName = Literal[
    "lff", "cnn", "cnn-vanilla", "cnn-readme", "fixed-b", "no-concat", "per-frame"
]
AugmentationName = Literal["crop", "translate", "none"]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Sizes of the networks of a preset, from state."""

    hidden_dim: int
    """Width of the hidden layers."""
    fourier_dim: int
    """Number of Fourier features F."""
    sigma: float
    """Standard deviation of B at the start."""
    layers: int = 2
    """Hidden layers behind the front."""
    activation: Activation = "relu"
    """Nonlinearity of the hidden layers."""
    mlp: Literal["exact", "paper", "readme", "hidden"] = "exact"
    """Width of the MLP's first layer: of LFF's size, as a source says, or as the other two."""

    def net(self, name: str) -> NetConfig:
        """Return a network by its name; matched widths are resolved when it is built.

        lff, fixed-b, no-concat, log-uniform, linear    the front before the hidden layers
        mlp, mlp-concat                                 a hidden layer in the front's place
        mlp-2                                           only the hidden layers, as deep as LFF
        constant, tanh, ffn                             the front; widths that match LFF's size
        ffn-published                                   40 sines per input, as its authors have it
        simba, simba-1                                  two residual blocks, or one, of LFF's size
        """
        check_choice("net", name, get_args(NetName))
        hidden = (self.hidden_dim,) * self.layers
        trunk = MLPTrunk(hidden=hidden, activation=self.activation)
        size, sigma = self.fourier_dim, self.sigma
        lff = Fourier(fourier_dim=size, sigma=sigma)
        like = NetConfig(lff, trunk)
        fronts: dict[str, Front] = {
            "lff": lff,
            "fixed-b": replace(lff, trainable=False),
            "no-concat": replace(lff, concat_input=False),
            "log-uniform": LogUniformFourier(fourier_dim=size),
            "linear": LinearControl(fourier_dim=size, sigma=sigma),
            "ffn-published": FFN(),
        }
        matched: dict[str, Front] = {
            "mlp-2": Identity(),
            "constant": ConstantControl(fourier_dim=size),
            "tanh": TanhControl(fourier_dim=size, sigma=sigma),
            "ffn": FFN(features=size),
        }
        if name in fronts:
            return NetConfig(fronts[name], trunk)
        if name in matched:
            return NetConfig(matched[name], MatchedMLP(like=like, layers="shallow"))
        if name in ("simba", "simba-1"):
            return NetConfig(trunk=MatchedSimBa(like=like, blocks=1 if name == "simba-1" else 2))
        layers: Literal["plain", "concat"] = "plain" if name == "mlp" else "concat"
        if self.mlp == "hidden":
            kind = MLPTrunk if layers == "plain" else ConcatMLPTrunk
            return NetConfig(trunk=kind(hidden=(self.hidden_dim,) * 3, activation=self.activation))
        return NetConfig(trunk=MatchedMLP(like=like, rule=self.mlp, layers=layers))


@dataclass(frozen=True, kw_only=True)
class PixelSizes:
    """Sizes of images and networks of a preset, from pixels."""

    size: int = 100
    """Side of the stored images."""
    render_size: int | None = None
    """Side of the drawn ones, if they are cropped."""
    augmentation: AugmentationName = "crop"
    """Change of a batch: crop a window, or place the image on a black one."""
    cropped_size: int = 84
    """Side after the augmentation: of the window, or of the black image."""
    frame_stack: int = 3
    """Frames per observation."""
    fast_render: bool = False
    """Draw without multisampling, shadows and reflections."""
    camera: int | None = None
    """Number of the task's camera; None for the paper's."""
    num_filters: int = 32
    """Channels of each convolution."""
    num_layers: int = 4
    """Number of convolutions."""
    feature_dim: int = 50
    """Width of the encoder's output."""
    hidden_dim: int = 1024
    """Width of the two hidden layers of actor and critics."""
    fourier_dim: int = 64
    """Number of Fourier features F at a pixel."""
    sigma: float = 0.1
    """Standard deviation of B at the start."""
    cnn: Literal["exact", "readme"] = "exact"
    """The 1x1 convolution of the net ``cnn``: of LFF's size, or the authors' 32 channels."""

    @property
    def view(self) -> PixelView:
        """Size, frames and camera of the observations."""
        return PixelView(
            size=self.size,
            frame_stack=self.frame_stack,
            render_size=self.render_size,
            fast_render=self.fast_render,
            camera=self.camera,
        )

    def augment(self) -> Augmentation:
        """Return the augmentation of batches."""
        check_choice("augmentation", self.augmentation, get_args(AugmentationName))
        if self.augmentation == "crop":
            return RandomCrop(size=self.cropped_size)
        if self.augmentation == "translate":
            return RandomTranslate(size=self.cropped_size)
        return NoAugmentation()

    def encoder(self, name: str) -> PixelEncoderConfig:
        """Return the encoder by the name of its front."""
        check_choice("net for pixels", name, get_args(PixelNetName))
        front = Fourier2d(
            fourier_dim=self.fourier_dim,
            sigma=self.sigma,
            trainable=name != "fixed-b",
            concat_input=name != "no-concat",
            per_frame=name == "per-frame",
        )
        lff = PixelEncoderConfig(
            front=front,
            feature_dim=self.feature_dim,
            num_layers=self.num_layers,
            num_filters=self.num_filters,
        )
        if name == "cnn-vanilla":
            return replace(lff, front=NoFront())
        if name == "cnn-readme" or (name == "cnn" and self.cnn == "readme"):
            return replace(lff, front=AUTHORS_UNMATCHED_FRONT)
        return replace(lff, front=MatchedConv1x1(like=front)) if name == "cnn" else lff

    def behind(self) -> NetConfig:
        """Return the network of actor and critics behind the encoder."""
        return NetConfig(trunk=MLPTrunk(hidden=(self.hidden_dim, self.hidden_dim)))
