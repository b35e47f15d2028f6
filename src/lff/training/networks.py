"""Networks by the names they have in the paper's figures, for given sizes."""

from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

from lff import nn
from lff.core.checks import check_choice
from lff.data import Augmentation, NoAugmentation, RandomCrop, RandomTranslate
from lff.envs.views import PixelView
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
    fourier_dim: int
    sigma: float
    layers: int = 2
    """Hidden layers behind the front."""
    activation: Activation = "relu"
    mlp: Literal["exact", "paper", "readme", "hidden"] = "exact"
    """Width of the MLP's first layer: of LFF's size, as a source says, or as the other two."""

    def net(self, name: str) -> nn.NetConfig:
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
        trunk = nn.MLPTrunk(hidden=hidden, activation=self.activation)
        size, sigma = self.fourier_dim, self.sigma
        lff = nn.Fourier(fourier_dim=size, sigma=sigma)
        like = nn.NetConfig(lff, trunk)
        fronts: dict[str, nn.Front] = {
            "lff": lff,
            "fixed-b": replace(lff, trainable=False),
            "no-concat": replace(lff, concat_input=False),
            "log-uniform": nn.LogUniformFourier(fourier_dim=size),
            "linear": nn.LinearControl(fourier_dim=size, sigma=sigma),
            "ffn-published": nn.FFN(),
        }
        matched: dict[str, nn.Front] = {
            "mlp-2": nn.Identity(),
            "constant": nn.ConstantControl(fourier_dim=size),
            "tanh": nn.TanhControl(fourier_dim=size, sigma=sigma),
            "ffn": nn.FFN(features=size),
        }
        if name in fronts:
            return nn.NetConfig(fronts[name], trunk)
        if name in matched:
            return nn.NetConfig(matched[name], nn.MatchedMLP(like=like, layers="shallow"))
        if name.startswith("simba"):
            blocks = 1 if name == "simba-1" else 2
            return nn.NetConfig(trunk=nn.MatchedSimBa(like=like, blocks=blocks))
        if self.mlp != "hidden":
            layers: Literal["plain", "concat"] = "plain" if name == "mlp" else "concat"
            return nn.NetConfig(trunk=nn.MatchedMLP(like=like, rule=self.mlp, layers=layers))
        kind = nn.MLPTrunk if name == "mlp" else nn.ConcatMLPTrunk
        return nn.NetConfig(trunk=kind((self.hidden_dim,) * 3, activation=self.activation))


@dataclass(frozen=True, kw_only=True)
class PixelSizes(PixelView):
    """Sizes of images and networks of a preset, from pixels."""

    augmentation: AugmentationName = "crop"
    """Change of a batch: crop a window, or place the image on a black one."""
    cropped_size: int = 84
    """Side after the augmentation: of the window, or of the black image."""
    num_filters: int = 32
    """Channels of each convolution."""
    num_layers: int = 4
    feature_dim: int = 50
    """Width of the encoder's output."""
    hidden_dim: int = 1024
    """Width of the two hidden layers of actor and critics."""
    fourier_dim: int = 64
    sigma: float = 0.1
    cnn: Literal["exact", "readme"] = "exact"
    """The 1x1 convolution of the net ``cnn``: of LFF's size, or the authors' 32 channels."""

    @property
    def view(self) -> PixelView:
        """Size, frames and camera of the observations."""
        return PixelView(**{field.name: getattr(self, field.name) for field in fields(PixelView)})

    def augment(self) -> Augmentation:
        """Return the augmentation of batches."""
        check_choice("augmentation", self.augmentation, get_args(AugmentationName))
        if self.augmentation == "crop":
            return RandomCrop(size=self.cropped_size)
        if self.augmentation == "translate":
            return RandomTranslate(size=self.cropped_size)
        return NoAugmentation()

    def encoder(self, name: str) -> nn.PixelEncoderConfig:
        """Return the encoder by the name of its front."""
        check_choice("net for pixels", name, get_args(PixelNetName))
        front = nn.Fourier2d(
            fourier_dim=self.fourier_dim,
            sigma=self.sigma,
            trainable=name != "fixed-b",
            concat_input=name != "no-concat",
            per_frame=name == "per-frame",
        )
        lff = nn.PixelEncoderConfig(
            front=front,
            feature_dim=self.feature_dim,
            num_layers=self.num_layers,
            num_filters=self.num_filters,
        )
        if name == "cnn-vanilla":
            return replace(lff, front=nn.NoFront())
        if name == "cnn-readme" or (name == "cnn" and self.cnn == "readme"):
            return replace(lff, front=nn.AUTHORS_UNMATCHED_FRONT)
        return replace(lff, front=nn.MatchedConv1x1(like=front)) if name == "cnn" else lff

    def behind(self) -> nn.NetConfig:
        """Return the network of actor and critics behind the encoder."""
        return nn.NetConfig(trunk=nn.MLPTrunk(hidden=(self.hidden_dim, self.hidden_dim)))
