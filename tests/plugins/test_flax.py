"""Flax and SBX: equal to the layer of torch in value and gradient; SAC in JAX with our networks."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import stable_baselines3
import torch
from gymnasium import spaces
from sbx import PPO, SAC
from stable_baselines3 import HerReplayBuffer

from lff import LearnedFourierFeatures, audit
from lff.core.errors import BadInputError
from lff.nn import LearnedFourierFeatures2d
from lff.nn.phases import measure_phases
from lff.plugins import sb3
from lff.plugins.flax import (
    FourierFeatures,
    FourierVectorCritic,
    LFFSACPolicy,
    adamw_sparing_b,
    torch_layers,
)
from tests.auditing.agents import problems
from tests.plugins.goals import PointToGoal

FOURIER = {"fourier_dim": 128, "sigma": 0.02}


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def build(**policy_kwargs):
    kwargs = {"fourier": FOURIER, "net_arch": [16, 16]} | policy_kwargs
    options = {"learning_starts": 30, "buffer_size": 200, "batch_size": 16}
    return SAC(LFFSACPolicy, "Pendulum-v1", policy_kwargs=kwargs, seed=0, **options)


@pytest.mark.parametrize(("trainable", "concat_input"), [(True, True), (False, False)])
def test_value_and_gradient_equal_those_of_torch(trainable, concat_input):
    choices = {"trainable": trainable, "concat_input": concat_input}
    theirs = LearnedFourierFeatures(5, 32, sigma=0.3, **choices)
    ours = FourierFeatures(fourier_dim=32, sigma=0.3, **choices)
    x, weight = draw(7, 5), draw(7, theirs.out_features, seed=1)
    B = theirs.B.detach().numpy()

    def loss(B, x):
        return (ours.apply({"params": {"B": B}}, x) * weight).sum()

    np.testing.assert_allclose(
        ours.apply({"params": {"B": B}}, x), theirs(torch.tensor(x)).detach(), atol=1e-6
    )
    slope_B, slope_x = jax.grad(loss, argnums=(0, 1))(B, x)
    inputs = torch.tensor(x, requires_grad=True)
    (theirs(inputs) * torch.tensor(weight)).sum().backward()
    np.testing.assert_allclose(slope_x, inputs.grad, rtol=1e-5, atol=1e-5)
    expected = theirs.B.grad if trainable else torch.zeros_like(theirs.B)
    np.testing.assert_allclose(slope_B, expected, rtol=1e-5, atol=1e-4)


def test_on_the_last_axis_of_images_it_is_the_layer_per_pixel():
    theirs = LearnedFourierFeatures2d(9, 16, sigma=0.1)
    images = abs(draw(2, 9, 6, 6)) / 3
    ours = FourierFeatures(fourier_dim=16, sigma=0.1)
    variables = {"params": {"B": theirs.B.detach().numpy()}}
    actual = ours.apply(variables, images.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    np.testing.assert_allclose(actual, theirs(torch.tensor(images)).detach(), atol=1e-6)


def config(**changes):
    from lff import Fourier

    return Fourier(**FOURIER | changes)


def dense(tree, x, *, last):
    """The Dense layers of one critic, by hand."""
    for i in range(last + 1):
        x = x @ tree[f"Dense_{i}"]["kernel"] + tree[f"Dense_{i}"]["bias"]
        x = np.maximum(x, 0) if i < last else x
    return x


@pytest.mark.system
def test_sac_of_sbx_is_built_trained_saved_and_loaded(tmp_path):
    model = build()
    report = audit(model, show=False)
    assert report.ok, str(report)
    assert len(report.layers) == 5
    assert [layer.in_optimizers for layer in report.layers] == [1, 1, 1, 0, 0]
    assert [layer.is_target for layer in report.layers] == [False] * 3 + [True] * 2
    model.learn(230)
    report = audit(model, show=False)
    assert report.ok, str(report)
    assert [layer.steps for layer in report.layers][:3] == [200, 200, 200]

    obs, action = draw(16, 3), draw(16, 1, seed=1)
    state = model.policy.qf_state
    q = model.policy.qf.apply(state.params, obs, action, rngs={"dropout": jax.random.key(0)})
    both = np.concatenate([obs, action], axis=1)
    tree = jax.tree_util.tree_map(np.asarray, state.params["params"]["VmapFourierCritic_0"])
    for i in range(2):  # each critic: the layer of torch on its B, then its weights
        member = jax.tree_util.tree_map(lambda leaf: leaf[i], tree)  # noqa: B023
        layer = LearnedFourierFeatures(4, **FOURIER)
        layer.B.data = torch.tensor(member["FourierFeatures_0"]["B"])
        features = layer(torch.tensor(both)).detach().numpy()
        expected = dense(member["ContinuousCritic_0"], features, last=2)
        np.testing.assert_allclose(q[i], expected, rtol=1e-5, atol=1e-6)

    actions = model.predict(obs, deterministic=True)[0]
    model.save(tmp_path / "model.zip")
    again = SAC.load(tmp_path / "model.zip")
    np.testing.assert_array_equal(again.predict(obs, deterministic=True)[0], actions)


@pytest.mark.system
def test_weight_decay_on_a_fixed_b_is_found_and_spared():
    fixed = {"fourier": {**FOURIER, "trainable": False}, "optimizer_kwargs": {"weight_decay": 0.1}}
    report = audit(build(**fixed, optimizer_class=optax.adamw), show=False)
    assert {check for check, _ in problems(report)} == {"optimizer"}
    assert len(problems(report)) == 3
    assert "weight decay 0.1 shrinks it" in str(report)
    report = audit(build(**fixed, optimizer_class=adamw_sparing_b), show=False)
    assert report.ok, str(report)


def test_each_critic_has_its_own_b_and_decay_moves_all_but_it():
    critics = FourierVectorCritic(fourier=config(trainable=False), net_arch=[8])
    inputs = jnp.zeros((1, 3)), jnp.zeros((1, 1))
    variables = jax.jit(critics.init)(jax.random.key(0), *inputs)
    ((name, layer),) = torch_layers(critics, variables, *inputs).items()
    assert name == "VmapFourierCritic_0.FourierFeatures_0"
    assert layer.B.shape == (2, 64, 4)
    assert layer.B.std().item() == pytest.approx(0.02, rel=0.2)
    assert not torch.equal(layer.B[0], layer.B[1])
    nothing = jax.tree_util.tree_map(jnp.zeros_like, variables)
    for make, moves in ((adamw_sparing_b, False), (optax.adamw, True)):
        rule = make(0.1, weight_decay=0.5)
        updates, _ = rule.update(nothing, rule.init(variables), variables)
        tree = updates["params"]["VmapFourierCritic_0"]
        weights = variables["params"]["VmapFourierCritic_0"]["ContinuousCritic_0"]["Dense_0"]
        np.testing.assert_allclose(
            tree["ContinuousCritic_0"]["Dense_0"]["kernel"], -0.05 * weights["kernel"], rtol=1e-5
        )
        assert bool(tree["FourierFeatures_0"]["B"].any()) == moves


@pytest.mark.system
def test_a_critic_that_appends_the_action_behind_the_waves_is_found():
    """As with a features extractor: the front sees s alone."""
    import flax.linen as nn
    from sbx.common.policies import ContinuousCritic

    class Behind(nn.Module):
        net_arch: tuple = (8,)
        n_critics: int = 1
        use_layer_norm: bool = False
        dropout_rate: float | None = None
        activation_fn: object = nn.relu

        @nn.compact
        def __call__(self, obs, action):
            features = FourierFeatures(**FOURIER)(obs)
            return ContinuousCritic(net_arch=self.net_arch)(features, action)[None]

    policy = LFFSACPolicy(
        spaces.Box(-1, 1, (3,)), spaces.Box(-1, 1, (1,)), lambda _: 1e-3, fourier=FOURIER
    )
    policy.vector_critic_class = functools.partial(Behind)
    policy.build(jax.random.PRNGKey(0), lambda _: 1e-3, 1e-3)
    report = audit(policy, show=False)
    assert problems(report) == [("action", "critic.FourierFeatures_0")]


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        ({"fourier": 256}, "fourier must be a dict"),
        ({"fourier": {"fourier_dim": 7, "sigma": 0.1}}, "even"),
        ({"networks": "critics"}, "networks must be one of"),
    ],
)
def test_bad_choices_are_told_in_one_line(kwargs, words):
    with pytest.raises(BadInputError, match=words):
        build(**kwargs)
    with pytest.raises(BadInputError, match="even"):
        FourierFeatures(fourier_dim=3, sigma=0.1)


def test_dictionaries_are_concatenated_and_the_audit_reads_the_buffer():
    options = {"replay_buffer_class": HerReplayBuffer, "buffer_size": 100, "learning_starts": 50}
    model = SAC(LFFSACPolicy, PointToGoal(), policy_kwargs={"net_arch": [16]}, seed=0, **options)
    assert all(layer.phases is None for layer in audit(model, show=False).layers)
    model.learn(24)
    report = audit(model, show=False)
    assert report.ok, str(report)
    assert [(layer.in_features, layer.spread.expected) for layer in report.layers[:2]] == [
        (6, 0.01),
        (8, 0.01),
    ]
    buffer = model.replay_buffer
    parts = [buffer.observations[name][:24, 0] for name in sorted(buffer.obs_shape)]
    x = torch.as_tensor(np.concatenate(parts, axis=1)).float()
    B = torch.tensor(
        np.asarray(model.policy.actor_state.params["params"]["FourierFeatures_0"]["B"])
    )
    layer = LearnedFourierFeatures(6, 256, sigma=0.01)
    layer.B = torch.nn.Parameter(B)
    assert report.layers[0].phases == measure_phases(layer, x)


def test_policies_of_another_algorithm_or_library_are_refused():
    with pytest.raises(BadInputError, match=r"one for sbx\.PPO, got 'lff\.plugins\.flax\.LFFSAC"):
        PPO(LFFSACPolicy, "Pendulum-v1")
    with pytest.raises(BadInputError, match=r"one for stable_baselines3\.SAC, got 'lff.plugins.fl"):
        stable_baselines3.SAC(LFFSACPolicy, "Pendulum-v1")
    with pytest.raises(BadInputError, match=r"one for sbx\.SAC, got 'lff\.plugins\.sb3\.LFFSACPol"):
        SAC(sb3.LFFSACPolicy, "Pendulum-v1")
