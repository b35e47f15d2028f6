"""Small agents with regularizers, and one update of them as anybody would write it."""

import torch
import torch.nn.functional as F

from lff import Fourier, MLPTrunk, NetConfig
from lff.algos import SACConfig, Spaces
from lff.algos.sac import squash
from tests.algos.batches import random_batch

OBS, ACT, SIZE = 5, 2, 12
TRUNK = MLPTrunk((10, 8))
NETS = {"lff": NetConfig(Fourier(fourier_dim=6, sigma=0.1), TRUNK), "mlp": NetConfig(trunk=TRUNK)}


def make(*regularizers, net="lff", seed=0, device="cpu", **options):
    network = NETS[net] if isinstance(net, str) else net
    config = SACConfig(
        actor=network,
        critic=network,
        batch_size=SIZE,
        actor_lr=2e-3,
        critic_lr=3e-3,
        regularizers=regularizers,
        **options,
    )
    generator = torch.Generator().manual_seed(seed)
    return config.build(Spaces((OBS,), ACT), generator=generator, device=device)


def draw_batch(seed=0, size=SIZE):
    generator = torch.Generator().manual_seed(seed)
    return random_batch(generator, size=size, obs=OBS, act=ACT)


def snapshot(agent):
    return {name: value.clone() for name, value in agent.state().items()}


def advance(agent, updates=1, seed=1):
    """Do updates with fixed batches and noise; return the last batch and noise."""
    g = torch.Generator().manual_seed(seed)
    for i in range(updates):
        batch, noise = draw_batch(i), agent.draw(g, SIZE)
        agent.update(batch, noise)
    return batch, noise


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[n], other[n]) for n in one)


class Net:
    """A network of two hidden layers in plain torch functions; ``member`` picks a stacked one."""

    def __init__(self, state, part, member=None):
        prefix = f"{part}/" if member is None else f"{part}/stacked."
        values = {n.removeprefix(prefix): v for n, v in state.items() if n.startswith(prefix)}
        self.values = {
            n: _one(n, v.detach(), member).clone().requires_grad_(v.is_floating_point())
            for n, v in values.items()
        }

    def __call__(self, x, *, masks=(1.0, 1.0), layer_norm=False, spectral=False):
        v = self.values
        if "front.B" in v:
            phase = 2 * torch.pi * x @ v["front.B"].T
            x = torch.cat((phase.sin(), phase.cos(), x), dim=-1)
        for i, mask in zip((0, 2), masks, strict=True):
            weight = v[f"trunk.{i}.weight"]
            if spectral and i == 2:
                weight = weight / (v["trunk.2.u"].detach() @ weight @ v["trunk.2.v"].detach())
            x = F.linear(x, weight, v[f"trunk.{i}.bias"])
            if layer_norm:
                scale, shift = v[f"trunk.{i + 1}.0.weight"], v[f"trunk.{i + 1}.0.bias"]
                centred = x - x.mean(-1, keepdim=True)
                spread = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
                x = scale * centred / spread + shift
            x = x.relu() * mask
        return F.linear(x, v["trunk.4.weight"], v["trunk.4.bias"])

    def gradients(self, loss):
        """Return the gradients by name; what the loss does not depend on has none."""
        names = [n for n, v in self.values.items() if n.rpartition(".")[2] not in ("u", "v")]
        found = torch.autograd.grad(loss, [self.values[n] for n in names], allow_unused=True)
        return dict(zip(names, found, strict=True))


def _one(name, value, member):
    """Member of a stacked tensor, in the layout of a plain layer."""
    if member is None:
        return value
    one = value[member]
    leaf = name.rpartition(".")[2]
    if leaf == "bias" or name.count(".") > 2:  # layer norms stand one level deeper
        return one[0]
    return one.mT if leaf == "weight" else one


def first_adam_step(value, gradient, lr):
    """Adam's first step from zero moments: m/(1-β₁) is the gradient, v/(1-β₂) its square."""
    return value - lr * gradient / (gradient.abs() + 1e-8)


def power_iterations(state):
    """Give every u and v of a state one power iteration, member by member."""
    for name in [n for n in state if n.endswith(".u")]:
        base = name.removesuffix("u")
        for m in range(len(state[name])) if "stacked" in name else (None,):
            W, u, v = state[f"{base}weight"], state[name], state[f"{base}v"]
            W, u, v = (W, u, v) if m is None else (W[m].T, u[m], v[m])
            u.copy_(W @ v / (W @ v).norm())
            v.copy_(W.T @ u / (W.T @ u).norm())
    return state


class Reference:
    """The first update of an agent by hand: hooks say what a regularizer changes."""

    def __init__(self, agent, batch, noise, *, call=None, online=False, penalty=None):
        before = power_iterations(snapshot(agent))
        call = call or {}
        how = lambda name, member=None: {  # noqa: E731
            k: (v(name, member) if callable(v) else v) for k, v in call.items()
        }
        config, alpha = agent.config, agent.alpha.log_alpha.exp()
        self.actor = Net(before, "actor")
        members = range(config.num_critics)
        self.critics = [Net(before, "critic", m) for m in members]
        targets = [Net(before, "critic" if online else "target", m) for m in members]
        ask = lambda net, obs, action, name, m: net(  # noqa: E731
            torch.cat((obs, action), -1), **how(name, m)
        )[:, 0]
        with torch.no_grad():
            head = self.actor(batch.next_obs, **how("next_actor"))
            action, log_prob = squash(head, noise.next_action)
            q = [ask(t, batch.next_obs, action, "next_critic", m) for m, t in enumerate(targets)]
            value = torch.stack(q).amin(0) - alpha * log_prob
            y = batch.reward + config.gamma * ~batch.terminated * value
        self.critic_gradients = []
        for m, critic in enumerate(self.critics):
            q = ask(critic, batch.obs, batch.action, "critic", m)
            loss = (q - y).square().mean()
            if penalty is not None:
                lagged = ask(Net(before, "target", m), batch.obs, batch.action, "critic", m)
                loss = loss + penalty * (q - lagged.detach()).square().mean()
            self.critic_gradients.append(critic.gradients(loss))
        self._call, self._batch, self._noise, self._alpha = how, batch, noise, alpha
        self._ask, self._before = ask, before

    def actor_gradients(self, agent):
        """Gradients of the actor loss under the critics that the agent has now."""
        after = snapshot(agent)
        critics = [Net(after, "critic", m) for m in range(agent.config.num_critics)]
        head = self.actor(self._batch.obs, **self._call("actor"))
        action, log_prob = squash(head, self._noise.action)
        q = [
            self._ask(c, self._batch.obs, action, "actor_critic", m) for m, c in enumerate(critics)
        ]
        loss = (self._alpha * log_prob - torch.stack(q).amin(0)).mean()
        return self.actor.gradients(loss)


def assert_first_step(agent, reference, *, change=None):
    """Compare the agent's first moments, (1 - β₁) times the gradient, and parameters with Adam's
    first step by hand.

    ``change(role, name, value, gradient, lr)`` returns what a regularizer makes of them.
    """
    change = change or (lambda *given: given[2:])
    after = agent.state()
    groups = [("actor", None, reference.actor, reference.actor_gradients(agent))]
    groups += [
        ("critic", m, net, gradients)
        for m, (net, gradients) in enumerate(
            zip(reference.critics, reference.critic_gradients, strict=True)
        )
    ]
    for role, member, net, gradients in groups:
        now, moments = (Net(after, part, member) for part in (role, f"adam/{role}/first"))
        lr = agent.config.actor_lr if role == "actor" else agent.config.critic_lr
        for name, gradient in gradients.items():
            value, slope, rate = change(role, name, net.values[name].detach(), gradient, lr)
            torch.testing.assert_close(
                moments.values[name].detach(), 0.1 * slope, msg=f"moment of {role} {name}"
            )
            expected = first_adam_step(value, slope, rate)
            torch.testing.assert_close(
                now.values[name].detach(), expected, rtol=1e-6, atol=1e-8, msg=f"{role} {name}"
            )


def moved(agent, updates=3):
    """Move an agent off its start so that copies and weights differ; its moments become fresh."""
    advance(agent, updates, seed=9)
    for adam in (agent.actor.adam, agent.critic.adam, agent.alpha.adam):
        for value in (*adam.first.values(), *adam.second.values(), adam.count):
            value.zero_()
        adam._prepare()
    for average in agent._averages.values():
        average._prepare()  # it goes by the count of the critics' steps
    return agent
