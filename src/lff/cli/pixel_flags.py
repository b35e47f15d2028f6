"""The flags of ``lff train`` for tasks seen through a camera."""

import dataclasses
from dataclasses import dataclass
from typing import Any, cast, get_args

from lff.cli.run_flags import NetworkFlags
from lff.core.checks import check_choice
from lff.core.errors import BadInputError
from lff.envs.views import PixelView
from lff.training.pixel_presets import AugmentationName, PixelNetName, PixelPreset

STATE_ONLY = ("actor_net", "critic_net", "actor_sigma", "critic_sigma")
"""Flags that give actor and critics fronts of their own: from pixels they share one."""


@dataclass(frozen=True, kw_only=True)
class PixelFlags:
    """What a camera shows and how batches are changed, for dmc-pixels/; else left as they are."""

    image_size: int | None = None
    """side of the stored pictures, instead of the preset's."""
    frame_stack: int | None = None
    """pictures per observation, instead of the preset's."""
    camera: int | None = None
    """number of the task's camera; 0 as in the paper if not given."""
    fast_render: bool | None = None
    """draw without multisampling, shadows and reflections, instead of as the preset says."""
    augmentation: AugmentationName | None = None
    """random crop, random translation or none, instead of the preset's."""
    seen_size: int | None = None
    """side after the augmentation, instead of the preset's."""
    num_filters: int | None = None
    """channels of each convolution, instead of the preset's."""

    def given(self) -> dict[str, Any]:
        """Return the flags that were used."""
        return {n: v for n, v in dataclasses.asdict(self).items() if v is not None}

    def refuse(self, env: str) -> None:
        """Refuse them on a task without a camera."""
        for name, value in self.given().items():
            flag = "--" + name.replace("_", "-")
            remedy = "drop it, or use a task of dmc-pixels/"
            raise BadInputError(flag, value, f"used with dmc-pixels/..., not {env}", remedy)

    def change(self, preset: PixelPreset) -> PixelPreset:
        """Return a preset with these flags; without augmentation the networks see all."""
        given = self.given()
        given.pop("camera", None)
        if "image_size" in given:
            given["size"] = given.pop("image_size")
            given.setdefault("render_size", None)
        if given.get("augmentation") == "none":
            given.setdefault("seen_size", given.get("size", preset.size))
        return dataclasses.replace(preset, **given)

    def view(self, preset: PixelPreset) -> PixelView:
        """Return what the camera shows."""
        return dataclasses.replace(preset.view, camera=self.camera)


def pixel_net(name: str) -> PixelNetName:
    """Return the name of an encoder, or raise."""
    check_choice("net for pixels", name, get_args(PixelNetName))
    return cast(PixelNetName, name)


def refuse_state_flags(networks: NetworkFlags, env: str) -> None:
    """Refuse flags that mean nothing on a task seen through a camera."""
    for name in STATE_ONLY:
        value = getattr(networks, name)
        if value is not None:
            flag = "--" + name.replace("_", "-")
            remedy = "drop it: actor and critics share one encoder"
            raise BadInputError(flag, value, f"left out for {env}", remedy)
