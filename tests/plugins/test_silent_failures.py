"""Each way in which a host silently loses the paper is provoked in it, and the audit tells."""

from functools import partial

import pytest
import torch
from stable_baselines3 import PPO, SAC, TD3
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from lff import LearnedFourierFeatures, audit
from lff.auditing import findings
from tests.auditing.agents import make, problems

SIGMA = 0.02


class Extractor(BaseFeaturesExtractor):
    """What people write first: the layer as a features extractor."""

    layer = LearnedFourierFeatures

    def __init__(self, space):
        fourier = self.layer(space.shape[0], 128, sigma=SIGMA)
        super().__init__(space, fourier.out_features)
        self.fourier = fourier

    def forward(self, obs):
        return self.fourier(obs)


class InLinear(LearnedFourierFeatures):
    """The layer as many write it: B is the weight of a Linear without bias."""

    def register_basis(self, in_features, rows, **options):
        super().register_basis(in_features, rows, **options)
        self.linear = nn.Linear(in_features, rows, bias=False)
        self.linear.weight = self._parameters.pop("B")

    @property
    def B(self):
        return self.linear.weight


class ExtractorInLinear(Extractor):
    layer = InLinear


def build(algorithm, extractor=Extractor, **options):
    kwargs = {"features_extractor_class": extractor, "net_arch": [8]}
    kwargs |= options.pop("policy_kwargs", {})
    return algorithm("MlpPolicy", "Pendulum-v1", policy_kwargs=kwargs, device="cpu", **options)


@pytest.mark.parametrize("algorithm", [SAC, TD3])
def test_a_features_extractor_alone(algorithm):
    model = build(algorithm, buffer_size=100)
    report = audit(model, show=False)
    assert problems(report) == [("action", "policy.critic.features_extractor.fourier")]
    assert "observation alone" in str(report)
    assert audit(model.policy, show=False).findings[-1].check == "action"


def test_a_shared_encoder_that_only_the_actor_trains():
    model = build(SAC, buffer_size=100, policy_kwargs={"share_features_extractor": True})
    found = problems(audit(model, show=False))
    assert ("shared", "policy.actor.features_extractor.fourier") in found
    assert "only the actor's loss trains it" in str(audit(model, show=False))


def test_an_encoder_that_both_losses_train_is_no_fault():
    """As PPO has it: one optimizer for everything."""
    assert audit(build(PPO, n_steps=8, batch_size=8), show=False).ok


def test_orthogonal_initialisation_of_a_b_that_is_a_linear():
    report = audit(build(PPO, ExtractorInLinear, n_steps=8, batch_size=8), show=False)
    assert {check for check, _ in problems(report)} == {"spread"}
    assert "orthogonal initialisation with gain 1.41" in str(report)
    kept = build(
        PPO, ExtractorInLinear, n_steps=8, batch_size=8, policy_kwargs={"ortho_init": False}
    )
    assert audit(kept, show=False).ok


def test_resampled_parameters():
    """TorchRL's rule for the copies of a single critic; in TorchRL itself: test_torchrl.py."""
    q = make(sigma=SIGMA)
    low, high = q.front.B.min().item(), q.front.B.max().item()
    nn.init.uniform_(q.front.B, low, high)
    report = audit({"q": q, "optimizer": torch.optim.Adam(q.parameters())}, show=False)
    assert problems(report) == [("spread", "q.front")]
    assert "pass a list" in str(report)


def test_a_fixed_b_that_weight_decay_shrinks():
    q = make(sigma=SIGMA, trainable=False)
    kept = torch.optim.AdamW(q.parameters(), weight_decay=0.1)
    assert audit({"q": q, "optimizer": kept}, show=False).ok  # a buffer is in no optimizer
    B = q.front.B
    del q.front.B
    q.front.B = nn.Parameter(B, requires_grad=False)  # as hosts that know parameters alone do
    decayed = torch.optim.AdamW(q.parameters(), weight_decay=0.1)
    report = audit({"q": q, "optimizer": decayed}, show=False)
    assert problems(report) == [("optimizer", "q.front")]
    assert "weight decay 0.1 shrinks it" in str(report)
    moved = torch.optim.Adam([q.front.B.requires_grad_()])
    report = audit({"q": q, "optimizer": moved}, show=False)
    assert problems(report) == [("optimizer", "q.front")]
    assert "which will move it" in str(report)


def test_weight_decay_on_a_learned_b_is_remarked():
    q = make(sigma=SIGMA)
    optimizer = torch.optim.AdamW(q.parameters(), weight_decay=0.05)
    report = audit({"q": q, "optimizer": optimizer}, show=False)
    assert report.ok
    assert [(f.check, f.layer) for f in report.findings] == [("optimizer", "q.front")]
    assert "weight decay 0.05 pulls B" in str(report)


@pytest.mark.parametrize(
    ("check", "provoke"),
    [
        ("_action_findings", partial(test_a_features_extractor_alone, SAC)),
        ("_judge_spread", test_orthogonal_initialisation_of_a_b_that_is_a_linear),
        ("_judge_spread", test_resampled_parameters),
        ("_encoder_findings", test_a_shared_encoder_that_only_the_actor_trains),
        ("_decay_findings", test_a_fixed_b_that_weight_decay_shrinks),
        ("_decay_findings", test_weight_decay_on_a_learned_b_is_remarked),
    ],
)
def test_without_its_check_a_failure_goes_unseen(check, provoke, monkeypatch):
    """The tests above can fail: each does when the audit no longer looks."""
    nothing = ("", False) if check == "_judge_spread" else []
    monkeypatch.setattr(findings, check, lambda *_: nothing)
    with pytest.raises(AssertionError):
        provoke()
