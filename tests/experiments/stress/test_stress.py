"""The stress report: refusals, scores, grades, and the whole from Python and the command line."""

import json
import math
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import lff
from lff.cli.main import main
from lff.core.config import from_dict, to_dict
from lff.core.errors import BadInputError
from lff.experiments.jobs.stress_sac import WORST, StressSACJob
from lff.experiments.stress import grading, plan, run, score
from lff.experiments.stress.networks import REFERENCES, as_subject, find_network, ours
from lff.experiments.stress.score import KINDS, curves_of
from lff.launch.job import job_from_dict
from lff.nn import NetConfig
from lff.stats.stress import Measured
from lff.stats.tables import Row
from tests.experiments.stress import critics

ROOT = Path(__file__).parents[3]
TINY = plan.Size(
    "smoke",
    seeds=2,
    fit={"size": 6, "batch": 8, "steps": 4, "every": 2},
    fqi={"gradient_steps": (1, 2), "iterations": 2, "grids": 1},
    sac={"steps": 40, "warmup": 30, "evaluations": 1, "episodes": 1},
    cost={"turns": 1, "updates": 1},
)
MODULE = """
from torch import nn

def make_critic(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 8), nn.Tanh(), nn.Linear(8, outputs))

def blind(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, outputs), nn.Threshold(1e9, 0.0))
"""


@pytest.fixture(scope="module")
def references(tmp_path_factory):
    """The tables of the references at the tiny size."""
    folder = tmp_path_factory.mktemp("references")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "QUICK", TINY)
        lff.stress("mlp", quick=True, dir=folder / "runs", workers=0, references_dir=folder)
    return folder


@pytest.fixture
def tiny(monkeypatch, references, tmp_path):
    monkeypatch.setattr(plan, "QUICK", TINY)
    monkeypatch.chdir(tmp_path)
    return references


@pytest.mark.parametrize("why", critics.REFUSED)
@pytest.mark.usefixtures("unchecked")  # our own errors, not those of the shape checks
def test_what_cannot_be_stressed_is_refused_in_one_line(why):
    network, said = critics.REFUSED[why]
    with pytest.raises(BadInputError, match=said) as error:
        as_subject(network)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no_such_module.nets:make", "must be importable.*add --path"),
        ("math", "a function in a module"),
        ("math:pi", "the name of a callable.*define pi in math"),
        ("../nets:make", "a module and a name in it"),
        ("lff.nn.trunks:MLPTrunk", "a function that makes networks"),
    ],
)
def test_names_that_name_no_network_are_refused(name, said):
    with pytest.raises(BadInputError, match=said):
        find_network(name)


def test_a_module_instead_of_a_function_is_refused():
    with pytest.raises(BadInputError, match="a callable that makes networks"):
        as_subject(nn.Linear(2, 1))


def test_a_stored_config_imports_a_function_only_if_its_package_is_named():
    subject = find_network("tests.experiments.stress.critics:normed")
    data = to_dict(subject.net)
    assert data["trunk"]["type"] == "tests.experiments.stress.critics:normed"
    with pytest.raises(BadInputError, match="--trust tests"):
        from_dict(NetConfig, data)
    assert from_dict(NetConfig, data, trust=("tests",)) == subject.net
    job = StressSACJob(net=subject.net)
    assert job_from_dict(to_dict(job), trust=("tests",)) == job


def test_an_edited_function_is_another_network():
    one, two, again = (
        as_subject(lambda i, o, width=width: critics.mlp(i, o, width=width)) for width in (8, 16, 8)
    )
    assert run.identity(one, 3e-4) == run.identity(again, 3e-4) != run.identity(two, 3e-4)
    assert run.identity(one, 3e-4) != run.identity(one, 1e-3)


def test_a_made_network_has_weights_of_its_generator_and_leaves_the_global_one_alone():
    trunk = as_subject(lambda i, o: nn.Linear(i, o)).net.trunk
    before = torch.random.get_rng_state()
    one, two, three = (
        trunk.build(3, 2, generator=torch.Generator().manual_seed(seed)).weight
        for seed in (0, 0, 1)
    )
    assert torch.equal(one, two)
    assert not torch.equal(one, three)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_frozen_parameters_are_not_trained(tmp_path):
    subject = as_subject(critics.frozen)
    assert subject.parameters == critics.WIDTH + 1


def test_batch_norm_dropout_and_a_forward_of_its_own_work(tmp_path):
    subject = as_subject(critics.Mixed)
    size = {"steps": 40, "warmup": 30, "evaluations": 2, "episodes": 1}
    job = StressSACJob(net=subject.net, seed=1, **size)
    rows, again = (list(job.run(tmp_path, lambda *_: None)) for _ in range(2))
    assert rows == again  # dropout too is drawn from the seed
    assert all(math.isfinite(row.value) for row in rows)
    assert {row.metric for row in rows} >= {"return", "rank", "dormant", "learning time[7]"}


def test_numbers_that_are_not_finite_are_the_worst_and_finite():
    job = StressSACJob(net=REFERENCES["MLP"].net, steps=40, evaluations=2)
    values = {"|Q| over limit": math.inf, "return": WORST, "dormant": 1.0, "rank": 0.0}
    rows = [Row("stress", "one", plan.FREE, s, 40, m, v) for m, v in values.items() for s in (0, 1)]
    start = {"rank": 9.0, "input rank": 4.0, "dormant": 0.0}
    rows += [Row("stress", "one", plan.FREE, s, 0, m, v) for m, v in start.items() for s in (0, 1)]
    fit = {"signal error": math.nan, "noise share": math.nan, "scaled error": math.inf}
    fit |= {"shifted error": math.nan}
    rows += [
        Row("stress", "one", plan.FIT, s, step, m, v)
        for m, v in fit.items()
        for s in (0, 1)
        for step in (0, 20)
    ]
    curves = curves_of(rows, "one")
    kinds = {kind.key: kind.measure for kind in KINDS}
    assert kinds["q"](curves).estimate == pytest.approx(score.LARGEST)
    assert kinds["rank"](curves).estimate == 100
    assert kinds["dormant"](curves).estimate == 100
    assert kinds["noise"](curves).estimate == 100
    assert kinds["scale"](curves).estimate == pytest.approx(1e4)
    assert job.steps == 40


def test_the_noise_is_read_off_at_equal_signal_error():
    signal, share = {0: 1.0, 10: 0.4, 20: 0.025}, {0: 0.0, 10: 0.2, 20: 0.6}
    # log(0.4 / 0.1) is half of log(0.4 / 0.025)
    assert score.noise_share(signal, share, 0.1) == pytest.approx(0.4)
    assert score.noise_share(signal, share, 0.01) == 1.0  # not reached


def test_features_that_are_constant_from_the_start_have_lost_their_rank():
    values = [(0, "rank", 1.0), (0, "input rank", 4.0), (9, "rank", 1.0)]
    rows = [Row("stress", "one", plan.FREE, s, step, m, v) for step, m, v in values for s in (0, 1)]
    assert score.rank_loss(curves_of(rows, "one")) == [75.0, 75.0]


@pytest.mark.parametrize(
    ("better", "own", "said"),
    [
        ("lower", 0.5, "good"),
        ("lower", 1.2, "good"),
        ("lower", 3.0, "fair"),
        ("lower", 4.0, "poor"),
        ("lower", 9.0, "poor"),
        ("higher", 4.0, "good"),
        ("higher", 3.0, "fair"),
        ("higher", 1.2, "poor"),
    ],
)
def test_grades_compare_with_the_best_and_the_worst_reference(better, own, said):
    others = [Measured(x, x - 1, x + 0.3, ()) for x in (1.0, 2.0, 5.0)]
    assert grading.grade(Measured(own, own, own, ()), others, better) == said


@pytest.mark.parametrize(
    ("mean", "grade"), [(0.2, "good"), (1.0, "good"), (1.05, "fair"), (1.2, "poor")]
)
def test_references_that_do_not_differ_grade_their_like_as_fair(mean, grade):
    others = [Measured(1.0, 0.5, 1.5, ()), Measured(1.1, 0.6, 1.6, ())]
    assert grading.grade(Measured(mean, mean, mean, ()), others, "lower") == grade


def test_a_lambda_is_stressed_in_this_process_and_nothing_is_run_twice(tiny, tmp_path, monkeypatch):
    said = []
    report = lff.stress(
        lambda i, o: nn.Linear(i, o),
        quick=True,
        name="line",
        dir=tmp_path / "runs",
        references_dir=tiny,
        say=said.append,
    )
    assert said[0] == "line cannot be imported by other processes: its jobs run in this one"
    assert [one.key for one in report.stresses] == [kind.key for kind in KINDS]
    assert (report.name, report.seeds, report.parameters) == ("line", 2, 5)
    assert set(report.stresses[0].references) == {*REFERENCES}
    assert {"line", *REFERENCES} == {*report.stresses[2].lines}
    for one in report.stresses:
        numbers = [one.measured, *one.references.values()]
        assert all(np.isfinite([n.estimate, n.low, n.high, *n.values]).all() for n in numbers)
        assert one.measured.low <= one.measured.estimate <= one.measured.high
    json.dumps(report.to_json(), allow_nan=False)

    def fail(*_args, **_options):
        raise AssertionError("a job ran again")

    monkeypatch.setattr("lff.experiments.engine.launch_jobs", fail)
    again = lff.stress(
        lambda i, o: nn.Linear(i, o),
        quick=True,
        name="line",
        dir=tmp_path / "runs",
        references_dir=tiny,
    )
    assert again == report


def test_a_user_module_by_path_from_the_command_line(tiny, tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "my_nets.py").write_text(MODULE)
    # a process of its own: --path changes where modules are found; its workers find them too
    program = (
        "import sys; from lff.cli.main import main; from lff.experiments.stress import plan; "
        "from tests.experiments.stress.test_stress import TINY; plan.QUICK = TINY; main()"
    )
    options = ["--quick", "--json", "--workers", "1", "--references", str(tiny), "--dir", "runs"]
    words = ["stress", "my_nets:make_critic", "--path", "code", *options]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, "-c", program, *words, "--out", "page.html"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    data = json.loads(ended.stdout)
    assert data["name"] == "my_nets:make_critic"
    assert data["parameters"] == 5 * 8 + 9
    assert data["is_quick"]
    assert "my_nets:make_critic" in (tmp_path / "page.html").read_text()


def test_refusals_of_the_command_line_are_one_line_and_exit_2(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    lines = {
        ("stress",): "a function of yours or --net",
        ("stress", "--net", "mpl"): "did you mean mlp",
        ("stress", "nowhere.nets:make"): "must be importable",
        ("stress", "math:pi"): "the name of a callable",
        ("stress", "math:sqrt", "--sigma", "0.1"): "given for --net only",
        ("stress", "--net", "lff", "--lr", "0"): "lr must be",
        ("stress", "--net", "lff", "--out", "card.txt"): "a .html file",
        ("stress", "--net", "mlp", "--workers", "0"): "1 or more",
    }
    for words, said in lines.items():
        with pytest.raises(SystemExit) as end:
            main(words)
        error = capsys.readouterr().err
        assert end.value.code == 2, (words, error)
        assert said in error
        assert error.count("\n") == 1


def test_the_table_of_the_command_line(tiny, capsys, monkeypatch):
    words = ["stress", "--net", "lff", "--sigma", "0.1", "--with", "layer-norm", "--quick"]
    main([*words, "--workers", "1", "--references", str(tiny), "--dir", "runs"])
    out = capsys.readouterr().out
    assert out.startswith("LFF, sigma 0.1 + layer norm: 2 seeds, lr 0.0003")
    for kind in KINDS:
        assert kind.title in out
    assert re.search(r"Poor under|poor under none", out)
    page = Path(out.splitlines()[-1])
    assert page == Path("runs/LFF-sigma-0.1-layer-norm-quick.html")
    assert page.exists()


@pytest.mark.parametrize("size", [plan.QUICK, plan.DEFAULT], ids=lambda size: size.scale)
def test_committed_references_are_those_of_the_plan(size):
    table = run.find_table(run.shipped_references(), "references", size.scale)
    wanted = {cell.digest for cell in plan.references(size).cells(size.scale)}
    assert table is not None
    assert {*table.jobs} == wanted
    for arm in REFERENCES:
        curves = curves_of(table.rows, arm)
        for kind in KINDS:
            assert len(kind.measure(curves).values) == size.seeds


def test_the_wheel_holds_the_references_where_they_are_looked_up(monkeypatch, tmp_path):
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert built["targets"]["wheel"]["force-include"] == {
        f"results/stress/{part}": f"lff/results/stress/{part}"
        for part in ("jobs", "laptop", "smoke")
    }
    assert run.shipped_references() == ROOT / "results" / "stress"
    monkeypatch.setattr(run, "COMMITTED", tmp_path / "nowhere")
    assert run.shipped_references() == Path(lff.__file__).parent / "results" / "stress"


def test_names_of_ours_say_what_they_are():
    from lff.regularizers import Dropout, LayerNorm

    assert ours("lff").name == "LFF, sigma 0.01"
    assert ours("mlp", regularizers=(LayerNorm(),)).name == "MLP + layer norm"
    assert ours("simba").name == "simba"
    assert ours("lff", fourier_dim=64).name == "LFF, sigma 0.01, F 64"
    assert ours("mlp", regularizers=(Dropout(p=0.3),)).name == "MLP + dropout p 0.3"


@dataclass
class Maker:
    width: int

    def __call__(self, inputs, outputs):
        return critics.mlp(inputs, outputs, width=self.width)


def test_sac_runs_with_a_network_of_the_users_that_the_native_update_may_ask_for(tmp_path):
    net = as_subject(critics.mlp).net
    with torch.device("meta"):  # as the native update does to learn its shape
        assert net.build(4, 1).trunk[0].weight.shape == (critics.WIDTH, 4)
    job = StressSACJob(net=net, steps=40, warmup=20, evaluations=2, episodes=1)
    rows = [*job.run(tmp_path, lambda *_: None)]
    assert [row.step for row in rows if row.metric == "return"] == [20, 40]


def test_any_callable_makes_a_network():
    narrow, wide = (as_subject(Maker(width)) for width in (8, 16))
    assert narrow.is_local
    assert (narrow.parameters, wide.parameters) == (121, 369)
    assert narrow.net.trunk.fingerprint != wide.net.trunk.fingerprint


def test_a_function_of_the_working_directory_runs_in_this_process(tmp_path, monkeypatch):
    (tmp_path / "found_here.py").write_text(
        "from torch import nn\ndef make(i, o):\n    return nn.Linear(i, o)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    import found_here

    assert as_subject(found_here.make).is_local
    monkeypatch.syspath_prepend(str(tmp_path))
    assert not as_subject(found_here.make).is_local
