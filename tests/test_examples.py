"""Every example runs, briefly, as a user would start it."""

import json
import math
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import lff.experiments
from lff.core.errors import BadInputError
from lff.experiments.jobs.hosts import HostJob
from lff.report.explorer import read_critics
from lff.stats import read_table

ROOT = Path(__file__).parents[1]


def run(script, *arguments, cwd):
    command = [sys.executable, str(ROOT / "examples" / f"{script}.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


STUDIES = {"fig1": "C-1a", "drop-in": "", "host-sb3": "H-sb3", "peer-sb3": "P-sb3"}
SLOW = {
    "fig2": "C-2a",
    "peer-sb3-ppo": "P-sb3-ppo",
    "peer-sb3-td3-long": "P-sb3-td3-long",
    **{f"host-{host}": f"H-{host}" for host in ("sbx", "torchrl", "tianshou")},
}


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        *STUDIES.items(),
        *(pytest.param(*study, marks=pytest.mark.system) for study in SLOW.items()),
    ],
)
def test_a_study_ends_in_a_table_verdicts_and_a_figure(name, claim, tmp_path):
    result = lff.experiments.run(name, "smoke", dir=tmp_path / "runs", results=tmp_path)
    rows = read_table(tmp_path / "smoke" / f"{name}.csv")
    assert rows == result.table
    assert {row.experiment for row in rows} == {name}
    assert len({row.seed for row in rows}) >= 2
    assert result.figure(as_paper=True).axes
    if claim:
        assert claim in result.verdicts
    if len({row.seed for row in rows}) < 5:
        outcomes = {verdict.outcome for verdict in result.verdicts.values()}
        assert outcomes <= {"undecided here", "no signal", "not run"}
    if name.startswith("host"):
        arms = [(row.seed, row.variant, row.step) for row in rows if row.variant in ("MLP", "LFF")]
        assert arms == [(seed, variant, 204) for seed in (0, 1) for variant in ("MLP", "LFF")]
        assert all(-2000 < row.value < 0 for row in rows)


def test_a_study_names_the_extra_of_a_library_that_is_missing(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    monkeypatch.delitem(sys.modules, "host_sb3", raising=False)
    job = HostJob("host_sb3", "MLP", (0,), 204, 204)
    with pytest.raises(BadInputError, match=r"pip install 'learned-fourier-features\[peers\]'"):
        list(job.run(tmp_path, lambda *_: None))


@pytest.mark.system
def test_fast_and_faithful_pictures_side_by_side(tmp_path):
    done = run("fast_render", "--size", "20", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with Image.open(tmp_path / "runs/fast_render/fast_render.png") as sheet:
        assert sheet.size == (4 * 68, 2 * 68)
        faithful, fast = np.split(np.asarray(sheet, int), 2)
    assert 0 < np.abs(faithful - fast).mean() < 10


@pytest.mark.system
def test_the_contact_sheet_of_a_task(tmp_path):
    done = run("contact_sheet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with Image.open(tmp_path / "runs/contact_sheet/contact_sheet.png") as sheet:
        assert sheet.size == (64 + 8 * 116, 5 * 116)  # 56 pixels, enlarged twice, and a margin


def test_critics_of_the_explorer(tmp_path):
    size = ("--size", "8", "--width", "8", "--iterations", "1", "--steps", "2")
    done = run("explorer_critics", "--out", str(tmp_path / "critics.json"), *size, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    counts = re.findall(r"(\d+) parameters", done.stdout)
    assert len(counts) == 7
    assert len({*counts}) == 1  # the MLP is matched
    made = json.loads((tmp_path / "critics.json").read_text())
    assert {*made} == {*read_critics()}
    assert [{*critic} for critic in made["critics"]] == [{*read_critics()["critics"][0]}] * 7
    assert made["critics"][1]["shapes"] == [[10, 8], [1, 8], [8, 8], [1, 8], [8, 5], [1, 5]]


@pytest.mark.system  # needs OpenGL
def test_the_race_is_a_film_small_enough_for_a_readme(tmp_path):
    words = ("--out", str(tmp_path), "--steps", "400", "--seconds", "1")
    done = run("race", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "LFF: return" in done.stdout
    with Image.open(tmp_path / "race.gif") as film:
        assert film.size == (480, 206)
        assert film.n_frames == 13  # 12.5 a second
        assert film.info["duration"] == 80
        halves = [np.asarray(film.convert("RGB"))[:, i : i + 240] for i in (0, 240)]
    assert len({half.tobytes() for half in halves}) == 2
    assert (tmp_path / "race.gif").stat().st_size < 1.5e6


def test_bad_steps_exit_with_2_and_leave_nothing(tmp_path):
    done = run("no_target", "--steps", "0", cwd=tmp_path)
    assert done.returncode == 2
    assert "got 0" in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_drop_in_really_changes_three_lines():
    before = (ROOT / "examples/pendulum_dqn.py").read_text()
    after = (ROOT / "examples/drop_in.py").read_text()

    def body(text, name):
        lines = text.split(f"class {name}(nn.Module):\n")[1].split("\n\n\n")[0].splitlines()
        return [line.split("  #")[0].rstrip() for line in lines]

    old, new = body(before, "QNetwork"), body(after, "FourierQNetwork")
    assert len([line for line in new if line not in old]) == 3


def test_the_demo_says_what_it_saw_and_draws_it(tmp_path):
    small = ("--env", "probe/observation-action", "--steps", "400")
    done = run("no_target", *small, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    seen = dict(re.findall(r"(MLP|LFF): largest .Q. ([\d.e+-]+), return", done.stdout))
    assert seen.keys() == {"MLP", "LFF"}
    orders = math.log10(float(seen["MLP"]) / float(seen["LFF"]))
    told = re.search(r"ends ([\d.]+) orders of magnitude (above|below) LFF's", done.stdout)
    assert float(told[1]) == pytest.approx(abs(orders), abs=0.06)
    picture = tmp_path / "runs" / "no_target" / "no_target.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    again = run("no_target", *small, cwd=tmp_path)
    assert again.stdout == done.stdout


def test_critics_of_other_libraries_are_theirs():
    from stable_baselines3 import SAC

    made = runpy.run_path(str(ROOT / "examples/stress_networks.py"))
    theirs = SAC("MlpPolicy", "Pendulum-v1", device="cpu").critic.qf0
    ours = made["sb3_critic"](4, 1)
    assert str(ours) == str(theirs)
    shapes = [tuple(p.shape) for p in made["cleanrl_critic"](4, 1).parameters()]
    assert shapes == [(256, 4), (256,), (256, 256), (256,), (1, 256), (1,)]
    ours.load_state_dict(theirs.state_dict())
    copy = made["cleanrl_critic"](4, 1)
    copy.load_state_dict(dict(zip(copy.state_dict(), ours.state_dict().values(), strict=True)))
    x = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    assert torch.equal(copy(x), theirs(x))  # the two libraries' critics are one function
