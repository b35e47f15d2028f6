"""``lff.train`` and ``lff.load(...).evaluate``: the command line from Python, one line each."""

import pytest

import lff
from lff.core import BadInputError
from lff.store import read_json

SHORT = {"steps": 160, "warmup_steps": 100, "eval_episodes": 1, "reference_episodes": 0}


def test_the_function_trains_what_the_command_trains(tmp_path, cli, capsys):
    options = {"net": "mlp", "seed": 3, "with_": ["layer-norm"], "critic_sigma": None, **SHORT}
    run = lff.train("gym/Pendulum-v1", dir="mine", **options, **{"target.tau": 0.01})
    assert run.status == "finished"
    assert "\n  step 160: return " in capsys.readouterr().out
    words = "--net mlp --seed 3 --with layer-norm --steps 160 --warmup-steps 100 --eval-episodes 1"
    words += " --reference-episodes 0 --target.tau 0.01"
    command = f"train sac --env gym/Pendulum-v1 --dir theirs {words}"
    assert cli(*command.split()).code == 0
    for name in ("metrics.jsonl", "config.json"):
        assert (tmp_path / "mine" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes()
    stored = read_json(tmp_path / "mine" / "run.json")["command"]
    assert stored == f"lff train sac --env gym/Pendulum-v1 --dir mine {words}".split()

    found = lff.load("mine").evaluate(episodes=2, seed=1)
    played = cli("play", "mine", "--episodes", "2", "--seed", "1").out
    for number, value in enumerate(found.returns):
        assert f"  episode {number}: return {value:.1f}, 200 actions\n" in played
    assert f"  mean {sum(found.returns) / 2:.1f} ± " in played
    assert str(found) in played
    assert found.lengths == (200, 200)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"nett": "lff"}, r"options must be those of lff train sac --help-all, .*--nett"),
        ({"steps": "many"}, r"options must be those of lff train sac --help-all, .*--steps"),
        ({"sigma": -1}, r"sigma must be a finite number >= 0, got -1.0"),
    ],
    ids=["name", "type", "value"],
)
def test_bad_options_raise_and_leave_nothing(options, says, tmp_path, cli, capsys):
    with pytest.raises(BadInputError, match=says):
        lff.train("probe/action", dir="run", **options)
    assert capsys.readouterr() == ("", "")
    assert not list(tmp_path.iterdir())


def test_a_number_of_episodes_is_positive(tmp_path, cli):
    lff.train("probe/action", dir="run", **SHORT)
    with pytest.raises(BadInputError, match="episodes must be"):
        lff.load("run").evaluate(episodes=0)
