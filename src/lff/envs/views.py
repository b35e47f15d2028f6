"""Pixel observations: size, frames, camera and rendering."""

from dataclasses import dataclass
from typing import Annotated

from lff.core.checks import Config, Count, Interval, Size, validate
from lff.core.errors import BadInputError

SIDE = Interval("[1, 1024]", "use 100 or 84, say")
FIRST_CAMERA = 0


@dataclass(frozen=True, kw_only=True)
class PixelView(Config):
    """The observation of a task with images: the last frames, stacked, the newest last.

    >>> PixelView().shape
    (9, 100, 100)
    """

    size: Annotated[int, SIDE] = 100
    """Side of the observation in pixels, 1 to 1024; the paper's Table 2 has 100."""
    frame_stack: Size = 3
    """Frames per observation: 3 in the paper.  One per step, however often it repeats actions."""
    camera: Count | None = None
    """Number of the task's camera.  None: the paper's, 0 on every task (DrQ and FFN look at the
    quadruped through camera 2)."""
    render_size: Annotated[int, SIDE] | None = None
    """Side of the frame as rendered, cut to ``size`` around the centre.  None: as ``size``.
    The authors render 108 and cut to 100 where they augment by translation."""
    fast_render: bool = False
    """Render without multisampling, shadows and reflections: many times faster without a GPU, and a
    somewhat different image."""

    def __post_init__(self) -> None:
        validate(self)
        if self.render_size is not None and self.render_size < self.size:
            raise BadInputError(
                "render_size", self.render_size, f"size={self.size} or more", "draw larger"
            )

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of an observation: channels (red, green, blue of each frame), rows, columns."""
        return 3 * self.frame_stack, self.size, self.size

    @property
    def drawn_size(self) -> int:
        """Side of a frame before it is cut."""
        return self.size if self.render_size is None else self.render_size

    @property
    def camera_id(self) -> int:
        """Number of the camera."""
        return FIRST_CAMERA if self.camera is None else self.camera
