"""``lff report`` as a user types it."""

import subprocess
import sys

import pytest

from lff.stats import write_table
from tests.report import tables
from tests.report.runs import make_run


@pytest.fixture
def results(tmp_path):
    rows = [row for row in tables.rows(tasks=tables.TASKS[:1]) if "[" not in row.metric]
    write_table(tmp_path / "results/laptop/fig8.csv", rows, provenance=tables.PROVENANCE)
    return tmp_path / "results"


def test_an_experiment(cli, results, tmp_path):
    done = cli("report", "fig8")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("fig8.html: fig8 at scale laptop, ")
    text = (tmp_path / "fig8.html").read_text()
    assert "Does LFF learn without a target network" in text
    assert cli("report", "fig8", "--scale", "laptop", "--out", "other.html").code == 0
    assert (tmp_path / "other.html").read_text() == text


def test_runs(cli, tmp_path):
    make_run(tmp_path / "a")
    make_run(tmp_path / "b", seed=1)
    assert cli("report", "a").out == "a.html: a, 18 rows of metrics\n"
    assert cli("report", "a", "b").out == "runs.html: a, b, 36 rows of metrics\n"
    assert (tmp_path / "runs.html").exists()


def test_a_site_of_all_experiments(cli, results, tmp_path):
    from lff.experiments import list_experiments

    done = cli("report", "--all", "--out", "out")
    assert done.code == 0, done.err
    assert "1 of " in done.out
    text = (tmp_path / "out/index.html").read_text()
    for name in list_experiments():
        assert (f"lff experiment run {name} " in text) == (name != "fig8")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"fig8.html", "index.html"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fig88"], "did you mean fig8?"),
        (["fig9"], "lff experiment run fig9"),
        (["fig8", "--scale", "smoke"], "--scale smoke"),
        ([], "name an experiment or a run directory"),
        (["--all", "fig8"], "empty with --all"),
        (["fig8", "fig9"], "lff report --all"),
        (["."], "a run directory"),
        (["fig8", "--out", "mine.txt"], "use --force"),
    ],
)
def test_mistakes_take_one_line_and_leave_nothing(words, message, cli, results, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    before = sorted(tmp_path.iterdir())
    done = cli("report", *words)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_it_starts_without_torch(results, tmp_path):
    code = (
        "import sys; from lff.cli.main import main; "
        "sys.argv = ['lff', 'report', 'fig8']; main(); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
