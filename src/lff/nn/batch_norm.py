"""Batch normalisation for networks whose update is a pure function of its tensors.

    y = s ⊙ (x - m) / √(v + ε) + t,    s = 1 and t = 0 at the start

m and v are the running statistics, two buffers that change only when their owner moves them.  So
acting, evaluation and export need not switch a mode.  In a loss the caller puts a tensor into the
buffer ``seen``, as dropout masks are put into theirs: the layer then normalises by the mean and the
(biased) variance of the batch, and writes both into that tensor.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

EPS = 1e-3
"""ε as CrossQ has it; torch has 1e-5."""


class BatchNorm(nn.Module):
    """Batch normalisation over the last axis but one, of one network or of a stack of them."""

    mean: Tensor
    var: Tensor
    seen: Tensor

    def __init__(self, width: int, *, members: int | None = None) -> None:
        super().__init__()
        shape = (width,) if members is None else (members, 1, width)
        self.weight, self.bias = nn.Parameter(torch.ones(shape)), nn.Parameter(torch.zeros(shape))
        self.register_buffer("mean", torch.zeros(shape))
        self.register_buffer("var", torch.ones(shape))
        self.register_buffer("seen", torch.empty(0), persistent=False)

    def forward(self, x: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch width"]:
        mean, var = self.mean, self.var
        if self.seen.numel():
            var, mean = torch.var_mean(x, dim=-2, correction=0, keepdim=self.mean.ndim == 3)
            self.seen.copy_(torch.stack((mean, var)).detach())
        return (x - mean) * (self.weight * (var + EPS).rsqrt()) + self.bias

    def blank(self) -> Float[Tensor, "2 *shape"]:
        """Return a tensor for ``seen``."""
        return self.mean.new_empty(2, *self.mean.shape)

    def move(self, seen: Float[Tensor, "2 *shape"], momentum: float) -> None:
        """Move the running statistics towards those of a batch, in place."""
        for running, batch in zip((self.mean, self.var), seen, strict=True):
            running.lerp_(batch, 1 - momentum)

    def member(self, index: int) -> "BatchNorm":
        """Return one member of a stacked layer as a plain one."""
        layer = BatchNorm(self.mean.shape[-1])
        tensors = {name: value[index, 0].clone() for name, value in self.state_dict().items()}
        layer.load_state_dict(tensors, assign=True)
        return layer.requires_grad_(self.weight.requires_grad)

    def extra_repr(self) -> str:
        return f"width={self.mean.shape[-1]}, eps={EPS:g}"
