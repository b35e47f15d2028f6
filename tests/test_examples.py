"""Every example runs, briefly, as a user would start it."""

import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lff.stats import read_table

ROOT = Path(__file__).parents[1]
STUDIES = {"drop_in": "drop_in"}
HOSTS = ("sbx", "torchrl", "tianshou")


def run(script, *arguments, cwd):
    command = [sys.executable, str(ROOT / "examples" / f"{script}.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


@pytest.mark.parametrize(("script", "table"), STUDIES.items())
def test_study_writes_table_and_picture(script, table, tmp_path):
    done = run(script, "--steps", "200", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = read_table(tmp_path / "runs" / table / f"{table}.csv")
    assert {row.experiment for row in rows} == {table}
    assert len({row.seed for row in rows}) >= 5
    picture = tmp_path / "runs" / table / f"{table}.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert f"picture: runs/{table}/{table}.png" in done.stdout


@pytest.mark.parametrize(
    ("script", "name", "claim"),
    [("fig1_sigma", "fig1", "C-1a"), ("fig2_noise_filtering", "fig2", "C-2a")],
)
def test_a_figure_is_the_experiment(script, name, claim, tmp_path):
    done = run(script, "--scale", "smoke", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = read_table(tmp_path / "runs" / name / "smoke" / f"{name}.csv")
    assert {row.experiment for row in rows} == {name}
    assert (tmp_path / "runs" / name / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert claim in done.stdout


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


def test_bad_steps_exit_with_2_and_leave_nothing(tmp_path):
    done = run("drop_in", "--steps", "0", cwd=tmp_path)
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


def test_the_study_of_learning_ends_in_a_table_a_verdict_and_a_picture(tmp_path):
    done = run(
        "cheetah_run", "--env", "probe/action", "--steps", "240", "--seeds", "2", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    rows = read_table(tmp_path / "runs" / "cheetah" / "cheetah.csv")
    returns = [row for row in rows if row.metric == "return"]
    assert {(row.variant, row.seed) for row in returns} == {
        (v, s) for v in ("MLP", "LFF") for s in (0, 1)
    }
    assert sorted({row.step for row in returns}) == list(range(20, 260, 20))
    assert "inconclusive at this scale" in done.stdout  # two seeds decide nothing
    assert (tmp_path / "runs" / "cheetah" / "cheetah.png").exists()


@pytest.mark.parametrize(
    "host",
    ["sb3", *(pytest.param(name, marks=pytest.mark.system) for name in HOSTS)],
)
def test_the_study_of_a_host_ends_in_a_table_a_verdict_and_a_picture(host, tmp_path):
    short = ("--steps", "204", "--eval-every", "204", "--seeds", "2")
    done = run("host_learning", "--host", host, *short, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    name = f"host_{host}"
    rows = read_table(tmp_path / "runs" / name / f"{name}.csv")
    arms = [(row.seed, row.variant, row.step) for row in rows if row.variant in ("MLP", "LFF")]
    assert arms == [(seed, variant, 204) for seed in (0, 1) for variant in ("MLP", "LFF")]
    assert all(-2000 < row.value < 0 for row in rows)
    assert "inconclusive at this scale" in done.stdout  # two seeds decide nothing
    assert (tmp_path / "runs" / name / f"{name}.png").read_bytes().startswith(b"\x89PNG")
