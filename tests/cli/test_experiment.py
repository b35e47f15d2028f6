import json
import subprocess
import sys
from pathlib import Path

import pytest

from lff.cli.experiment import parse_shard
from lff.core.errors import BadInputError
from lff.experiments import list_experiments
from lff.stats.tables import read_table

WITHOUT_TORCH = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "gymnasium", "mujoco", "dm_control"):
            raise ImportError(f"{name} is not to be imported")
sys.meta_path.insert(0, Refuse())
from lff.cli.main import main
main()
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    folder = tmp_path_factory.mktemp("experiments")
    return {"dir": folder / "runs", "results": folder / "results"}


def options(places, *names):
    return [word for name in names for word in (f"--{name}", str(places[name]))]


@pytest.fixture(scope="module")
def fig1(places):
    command = [sys.executable, "-m", "lff", "experiment", "run", "fig1", "--scale", "smoke"]
    command += ["--workers", "2", *options(places, "dir", "results")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def test_a_run_says_what_it_will_take_and_ends_in_table_and_verdicts(fig1, places):
    assert "3 jobs at scale smoke" in fig1.stderr
    assert "0 are done, 3 to do" in fig1.stderr
    assert "C-1a: σ = 1 fits the sixteen noisy points faster" in fig1.stdout
    assert "post hoc; claim: paper, empirical" in fig1.stdout
    assert "small scale, not the paper's numbers" in fig1.stdout
    rows = read_table(places["results"] / "smoke" / "fig1.csv")
    assert {row.variant for row in rows} == {"LFF σ=0.01", "LFF σ=0.1", "LFF σ=1"}
    made_by = json.loads((places["results"] / "smoke" / "fig1.json").read_text())
    assert made_by["command"] == "lff experiment run fig1 --scale smoke"
    assert len(made_by["jobs"]) == made_by["planned"] == 3


def test_running_again_does_nothing_and_keeps_every_byte(fig1, places, cli):
    table = places["results"] / "smoke" / "fig1.csv"
    before = table.read_bytes()
    out = cli("experiment", "run", "fig1", "--scale", "smoke", *options(places, "dir", "results"))
    assert "3 are done, 0 to do" in out.err
    assert table.read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [("verdict", "fig1"), ("verdict", "--all"), ("verdict", "--all", "--markdown"), ("list",)],
)
def test_tables_are_judged_without_torch(fig1, places, words):
    command = [sys.executable, "-c", WITHOUT_TORCH, "experiment", *words]
    command += options(places, "results") if words[0] == "verdict" else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "fig1" in done.stdout


def test_two_shards_make_one_table(fig1, places, tmp_path, cli):
    own = {"dir": tmp_path / "runs", "results": tmp_path / "results"}
    words = ["experiment", "run", "fig1", "--scale", "smoke", *options(own, "dir", "results")]
    first = cli(*words, "--shard", "0/2")
    assert "1 of them in other shards" in first.err
    assert "2 of 3 jobs" in first.out
    assert "incomplete table: 2 of 3 jobs are there" in first.out
    assert "supported" not in first.out
    assert "undecided" not in first.out
    cli(*words, "--shard", "1/2")
    tables = [p["results"] / "smoke" / "fig1.csv" for p in (own, places)]
    assert tables[0].read_bytes() == tables[1].read_bytes()


def test_status_lists_every_experiment(fig1, places, cli):
    out = cli("experiment", "status", "--json", *options(places, "dir", "results"))
    found = {line["name"]: line for line in json.loads(out.out)}
    assert found.keys() == list_experiments().keys()
    assert found["fig1"]["jobs"]["smoke"] == [3, 3]
    assert found["fig1"]["scale"] == "smoke"
    assert set(found["fig1"]["verdicts"]) == {"C-1a", "C-1b", "C-1c", "C-1d"}
    assert found["fig8"]["jobs"]["laptop"] == [0, 96]
    assert found["fig8"]["verdicts"] == {}


def test_status_says_what_a_missing_table_waits_for(places, cli):
    out = cli("experiment", "status", "fig8", *options(places, "dir", "results"))
    assert out.out.splitlines()[1].split(maxsplit=5)[5].strip() == "96 laptop jobs missing"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "fig88"), "did you mean fig8?"),
        (("run",), "one or more names"),
        (("run", "fig1", "--workers", "0"), "workers must be 1 or more"),
        (("run", "fig1", "--shard", "2/2"), "shard must be i/n"),
        (("verdict", "fig8", "--results", "nowhere"), "in a clone"),
        (("verdict",), "--all"),
    ],
)
def test_bad_input_is_told_in_one_line(words, message, cli):
    out = cli("experiment", *words)
    assert out.code == 2
    assert message in out.err
    assert len(out.err.strip().splitlines()) == 1


def test_shards():
    assert parse_shard(None) == (0, 1)
    assert parse_shard("1/3") == (1, 3)
    with pytest.raises(BadInputError):
        parse_shard("a/b")


@pytest.mark.parametrize(
    "words",
    [("verdict", "fig1"), ("verdict", "--all"), ("power", "--all"), ("plot", "fig1")],
    ids=" ".join,
)
def test_outside_a_clone_the_error_says_where_the_tables_are(words, cli, tmp_path):
    done = cli("experiment", *words)
    assert done.code == 2
    assert done.err == (
        "lff: results must be a folder with tables, got 'results'; the committed tables are not in "
        "the package but in the source repository: run this in a clone, or name its folder by "
        "--results; lff experiment run makes new ones\n"
    )
    assert not list(tmp_path.iterdir())
    clone = Path(__file__).parents[2] / "results"
    assert cli("experiment", "verdict", "fig1", "--results", clone).code == 0
