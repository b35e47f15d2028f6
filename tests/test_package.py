"""The package as a whole: what importing it costs, and that what it names is there."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import lff

ROOT = Path(__file__).parents[1]
HEAVY = ("gymnasium", "mujoco", "dm_control", "matplotlib", "ray", "scipy", "pandas", "rich")


def modules_after(statement):
    code = f"{statement}; import sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in run.stdout.split()}


@pytest.mark.parametrize("statement", ["import lff", "import lff; lff.LFF(3, 1)", "import lff.nn"])
def test_import_takes_torch_and_nothing_heavier(statement):
    assert not modules_after(statement) & set(HEAVY)


@pytest.mark.parametrize(
    "room", ["lff.core", "lff.stats", "lff.report", "lff.store", "lff.runs.read"]
)
def test_runs_tables_and_figures_need_no_torch(room):
    assert "torch" not in modules_after(f"import {room}")


def test_public_names_are_there():
    for name in lff.__all__:
        assert getattr(lff, name).__module__.startswith("lff.")
    assert set(lff.__all__) <= set(dir(lff))
    assert lff.nn.LFF is lff.LFF


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(AttributeError, match=r"no attribute 'LLF'; it has .*LFF"):
        lff.LLF  # noqa: B018


def test_constraints_pin_torch_and_admit_the_ranges():
    pins = dict(
        line.split("==")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    )
    assert pins["torch"] == "2.13.0"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = [r for group in (project["dependencies"], *extras) for r in group]
    names = {re.match(r"[\w-]+", r).group().lower() for r in wanted}
    assert {n.replace("_", "-") for n in names} - {"learned-fourier-features"} <= {
        n.lower().replace("_", "-") for n in pins
    }


def test_every_dependency_is_explained():
    text = (ROOT / "docs/dependencies.md").read_text().lower()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    for requirement in [r for group in (project["dependencies"], *extras) for r in group]:
        name = re.match(r"[\w-]+", requirement).group().lower()
        if name != "learned-fourier-features":
            assert f"`{name}`" in text, name


def test_the_start_page_links_every_page():
    start = (ROOT / "docs/index.md").read_text()
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert pages == {page for page in pages if f"({page})" in start}


def test_services_run_the_projects_own_commands():
    ci = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    (job,) = ci["jobs"].values()
    assert job["steps"][-1]["run"].endswith("bash .ci/run")
    assert (ROOT / ".ci/run").is_file()
    docs = yaml.safe_load((ROOT / ".readthedocs.yaml").read_text())
    assert (ROOT / docs["sphinx"]["configuration"]).is_file()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    (line, *_) = docs["build"]["jobs"]["post_create_environment"]
    assert {*re.search(r"\[(.*)\]", line)[1].split(",")} <= extras.keys()


def test_the_oldest_versions_are_those_of_pyproject():
    command = [sys.executable, ".ci/lower_bounds.py", "dmc"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    pins = dict(line.split("==") for line in done.stdout.split())
    assert (pins["torch"], pins["gymnasium"], pins["dm-control"]) == ("2.10", "1.2", "1.0.50")
