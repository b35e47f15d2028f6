"""The single files run with the layer and without, and three lines are all that lies between."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

from lff import audit
from lff.nn import BasisLayer

FOLDER = Path(__file__).parents[1] / "examples" / "single_file"
MARK = re.compile(r"^(\s*)(.*?)  # LFF (new|was (.*))$")
SHORT = {
    "sac": {"total_steps": 90, "learning_starts": 60, "batch_size": 16, "hidden": 16},
    "ppo": {"total_steps": 460, "num_steps": 115, "epochs": 1, "hidden": 16},
}


def load(text, name):
    module = ModuleType(name)
    sys.modules[name] = module  # dataclasses look their module up
    exec(compile(text, name, "exec"), vars(module))
    return module


def without(text):
    """Undo the change, line by line, as the marks say."""
    lines, changed = [], 0
    for line in text.splitlines():
        found = MARK.match(line)
        changed += found is not None
        if found is None:
            lines.append(line)
        elif found[4]:
            before = found[2].partition(" = ")[0]
            lines.append(f"{found[1]}{before} = {found[4]}")
    return "\n".join(lines), changed


@pytest.mark.parametrize("name", SHORT)
def test_three_lines_are_the_whole_change(name, monkeypatch, capsys):
    text = (FOLDER / f"{name}.py").read_text()
    plain, changed = without(text)
    assert changed == 3
    assert len(text.splitlines()) - len(plain.splitlines()) == 1
    sizes = []
    for version, source in (("with", text), ("before", plain)):
        monkeypatch.setitem(sys.modules, f"single_{name}_{version}", None)
        module = load(source, f"single_{name}_{version}")
        agent, returns = module.main(module.Args(fourier_dim=64, sigma=0.02, **SHORT[name]))
        layers = [
            m
            for part in agent.values()
            if isinstance(part, torch.nn.Module)
            for m in part.modules()
            if isinstance(m, BasisLayer)
        ]
        sizes.append(len(layers))
        if layers:
            report = audit(agent, show=False)
            assert report.ok, str(report)
            critics = [layer for layer in report.layers if not layer.is_target]
            assert all(layer.in_optimizers == 1 and layer.steps > 0 for layer in critics)
    assert sizes == [{"sac": 4, "ppo": 1}[name], 0]
    if name == "ppo":  # four episodes of 200 steps do not fit, an end does
        assert all(value <= 0 for value in returns)


def test_advantages_by_hand():
    module = load((FOLDER / "ppo.py").read_text(), "single_ppo_by_hand")
    args = module.Args(gamma=0.5, gae_lambda=0.5)
    reward = torch.tensor([[1.0], [2.0], [3.0]])
    value = torch.tensor([[0.5], [0.25], [1.0]])
    next_value = torch.tensor([[0.25], [4.0], [2.0]])  # the second step hit the time limit
    ended = torch.tensor([[False], [True], [False]])
    third = 3 + 0.5 * 2 - 1
    second = 2 + 0.5 * 4 - 0.25
    first = 1 + 0.5 * 0.25 - 0.5 + 0.25 * second
    actual = module.advantages(reward, value, next_value, ended, args)
    torch.testing.assert_close(actual, torch.tensor([[first], [second], [third]]))


def test_the_twenty_line_dqn_runs_and_has_twenty_lines(capsys):
    text = (FOLDER / "dqn.py").read_text()
    body = text.split("STEPS = 6000\n")[1].splitlines()
    assert len(body) <= 23
    module = load(text.replace("STEPS = 6000", "STEPS = 150"), "single_dqn")
    assert "return" in capsys.readouterr().out
    report = audit({"q": module.q, "target": module.target, "o": module.optimizer}, show=False)
    assert report.ok, str(report)
    assert report.layers[0].steps == 150
