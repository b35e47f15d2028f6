"""A front of somebody else's package works in NetConfig, and through from_dict if trusted."""

from dataclasses import dataclass

import pytest
import torch
from torch import nn

from lff.core import BadInputError, from_dict, to_dict
from lff.core.config import tag_of
from lff.nn import FRONTS, PIXEL_FRONTS, TRUNKS, Front, MatchedMLP, MLPTrunk, NetConfig
from lff.regularizers import REGULARIZERS


@dataclass(frozen=True)
class Doubled(Front):
    times: int = 2

    def build(self, in_features, *, generator=None):  # noqa: ARG002
        layer = nn.Upsample(scale_factor=self.times)
        layer.out_features = self.times * in_features
        return layer


def test_a_users_front_is_read_back_only_if_trusted():
    config = NetConfig(front=Doubled(), trunk=MLPTrunk((8,)))
    data = to_dict(config)
    assert data["front"]["type"] == f"{__name__}:Doubled"
    with pytest.raises(BadInputError, match="--trust"):
        from_dict(NetConfig, data)
    assert from_dict(NetConfig, data, trust=(__name__.partition(".")[0],)) == config
    assert config.build(3, 1)(torch.zeros(1, 4, 3)).shape == (1, 4, 1)
    assert NetConfig(trunk=MatchedMLP(like=config)).hidden(3, 1) == (6, 6)
    assert not config.front.trains_basis


@pytest.mark.parametrize("registry", [FRONTS, PIXEL_FRONTS, TRUNKS, REGULARIZERS])
def test_tags_are_those_of_the_classes(registry):
    assert {tag: tag_of(registry[tag]) for tag in registry} == {tag: tag for tag in registry}
