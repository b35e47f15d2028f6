import dataclasses
import json
from dataclasses import dataclass, field

import numpy as np
import pytest

from lff.core import BadInputError, BusyError, RunError, StorageError, from_dict, to_json
from lff.store import RunDir, RunLock, find_run, load_latest, read_rows
from lff.store.atomic import sha256


@dataclass(frozen=True)
class Net:
    sigma: float = 0.01


@dataclass(frozen=True)
class Config:
    steps: int = 100
    seed: int = 0
    net: Net = field(default_factory=Net)


INFO = {"command": ["lff", "train"], "versions": {"torch": "2.13.0"}, "seed": 0}


def test_a_run_from_start_to_finish(tmp_path):
    run = RunDir(tmp_path / "runs" / "one")
    assert run.status == "empty"
    with run.start(Config(), info=INFO):
        assert run.status == "started"
        assert run.resume() is None
        run.metrics.append({"env_step": 1, "eval/return": 2.0})
        run.timing.append({"env_step": 1, "time/seconds": 0.1})
        ref = run.segments.append({"reward": np.ones(3)})
        run.save(50, {"w": np.ones(2)}, {"replay": [ref.to_json()]})
        assert run.status == "started"
        run.metrics.append({"env_step": 2, "eval/return": 3.0})
        run.save(100, {"w": np.ones(2)}, {}, final=True)
    assert run.status == "finished"
    assert run.config_file.read_text() == to_json(Config()) + "\n"
    assert from_dict(Config, run.config) == Config()
    digest = sha256(run.config_file.read_bytes())
    assert run.info == {"layout": 3, **INFO, "config_sha256": digest}
    assert run.csv_file.read_text() == "env_step,eval/return\n1,2.0\n2,3.0\n"
    assert sorted(path.name for path in run.path.iterdir()) == [
        ".lock",
        "checkpoints",
        "config.json",
        "evaluations",
        "metrics.csv",
        "metrics.jsonl",
        "replay",
        "run.json",
        "timing.jsonl",
    ]


def test_a_run_of_the_first_version_is_refused_before_anything_is_touched(tmp_path):
    run = RunDir(tmp_path)
    with run.start(Config(), info=INFO):
        run.save(100, {"w": np.ones(2)}, {}, final=True)
    run.info_file.write_text(json.dumps(INFO))  # as lff 0.1 wrote it
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    words = r"was written by lff 0\.1; version 0\.1 reads it: pip install"
    for look in (lambda: run.status, lambda: run.config, lambda: find_run(tmp_path)):
        with pytest.raises(StorageError, match=words):
            look()
    with pytest.raises(StorageError, match=words), run.start(Config(), info=INFO):
        pass
    assert before == {path: path.read_bytes() for path in before}


def test_resume_goes_back_to_the_checkpoint(tmp_path):
    run = RunDir(tmp_path)
    with run.start(Config(), info=INFO):
        refs = [run.segments.append({"x": np.ones(1)})]
        run.metrics.append({"env_step": 1})
        run.save(1, {}, {"replay": [refs[0].to_json()]})
        run.metrics.append({"env_step": 2})
        run.timing.append({"env_step": 2})
        run.segments.append({"x": np.ones(1)})
    with run.start(Config(), info={**INFO, "versions": {"torch": "2.14.0"}}):
        found = run.resume()
        assert found.step == 1
        assert [row["env_step"] for row in read_rows(run.metrics_file)] == [1]
        assert run.timing.position["bytes"] == run.timing.position["rows"] == 0
        assert run.segments.append({"x": np.ones(1)}).segment == 1
    assert run.info["versions"] == {"torch": "2.13.0"}
    assert [start["versions"] for start in run.info["restarts"]] == [{"torch": "2.14.0"}]
    assert run.drift({"torch": "2.14.0"}) == {"torch": ("2.13.0", "2.14.0")}


def test_resume_without_a_checkpoint_starts_over(tmp_path):
    run = RunDir(tmp_path)
    with run.start(Config(), info=INFO):
        run.metrics.append({"env_step": 1})
        run.segments.append({"x": np.ones(1)})
    with run.start(Config(), info=INFO):
        assert run.resume() is None
        assert run.metrics.position["bytes"] == run.metrics.position["rows"] == 0
        assert run.segments.append({"x": np.ones(1)}).segment == 0


def test_old_replay_goes_when_no_checkpoint_needs_it(tmp_path):
    run = RunDir(tmp_path)
    with run.start(Config(), info=INFO):
        refs = []
        for step in range(6):
            refs.append(run.segments.append({"x": np.full(1, step)}))
            run.save(step, {}, {"replay": [ref.to_json() for ref in refs[-2:]]})
            run.drop_replay_before(refs[-2:][0])
        # two checkpoints are kept, at 4 (segments 3, 4) and 5 (segments 4, 5)
        assert len([*run.replay.iterdir()]) == 3
        assert run.segments.read(refs[3:])["x"].tolist() == [3, 4, 5]


def test_another_config_is_refused_with_the_fields_that_differ(tmp_path):
    with RunDir(tmp_path).start(Config(), info=INFO):
        pass
    other = Config(seed=1, net=Net(sigma=0.1))
    with (
        pytest.raises(BadInputError) as caught,
        RunDir(tmp_path).start(other, info=INFO),
    ):
        pass
    message = str(caught.value)
    assert "net.sigma (0.01 there, 0.1 here), seed (0 there, 1 here)" in message
    assert "use another --dir" in message
    assert caught.value.exit_code == 2
    assert from_dict(Config, RunDir(tmp_path).config) == Config()


def test_a_config_older_than_a_field_is_the_same_run(tmp_path):
    """A field that was added since, at its default, makes no other run of it."""
    run = RunDir(tmp_path)
    with run.start(Config(), info=INFO):
        run.save(100, {}, {}, final=True)
    older = json.loads(run.config_file.read_text())
    del older["seed"], older["net"]["sigma"]
    run.config_file.write_text(json.dumps(older))
    with pytest.raises(BadInputError, match=r"net\.sigma \(0\.01 there, 0\.1 here\)"):
        run.start(Config(net=Net(sigma=0.1)), info=INFO).__enter__()
    with run.start(Config(), info=INFO):
        assert run.status == "finished"
    assert run.config_file.read_text() == to_json(Config()) + "\n"


def test_a_finished_run_is_extended(tmp_path):
    run = RunDir(tmp_path)
    with run.start(Config(), info=INFO):
        run.save(100, {}, {"n": 1}, final=True)
    longer = dataclasses.replace(Config(), steps=200)
    with run.start(longer, info=INFO, may_differ=("steps",)):
        assert run.status == "started"
        assert run.resume().step == 100
        run.save(200, {}, {"n": 2}, final=True)
    assert run.status == "finished"
    assert run.config["steps"] == 200
    assert load_latest(tmp_path).meta["n"] == 2


def test_a_folder_that_is_no_run_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with (
        pytest.raises(BadInputError, match=r"thesis\.tex.*use another --dir"),
        RunDir(tmp_path).start(Config(), info=INFO),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_checkpoints_without_a_config_are_left_alone(tmp_path):
    run = RunDir(tmp_path)
    with run.start(Config(), info=INFO):
        run.save(1, {}, {})
    run.config_file.unlink()
    with pytest.raises(BadInputError, match="dir must be"), run.start(Config(), info=INFO):
        pass
    assert load_latest(tmp_path).step == 1


def test_a_start_that_was_killed_early_is_started_again(tmp_path):
    for folder in ("checkpoints", "replay", "evaluations"):
        (tmp_path / folder).mkdir()
    (tmp_path / ".lock").touch()
    (tmp_path / ".config.json.123456.tmp-lff").write_text("{")
    with RunDir(tmp_path).start(Config(), info=INFO) as run:
        assert run.status == "started"
    assert not [*tmp_path.glob(".*tmp-lff")]


def test_a_held_directory_is_busy(tmp_path):
    run = RunDir(tmp_path)
    with (
        run.start(Config(), info=INFO),
        pytest.raises(BusyError, match="is in use by pid"),
        RunDir(tmp_path).start(Config(), info=INFO),
    ):
        pass
    with RunLock(tmp_path):  # and free again afterwards
        pass


def test_writing_needs_a_start(tmp_path):
    run = RunDir(tmp_path)
    with pytest.raises(RunError, match="not open for writing"):
        run.metrics.append({"env_step": 1})
    with pytest.raises(RunError, match="not open for writing"):
        run.segments.append({"x": np.ones(1)})
    with pytest.raises(RunError, match="not open for writing"):
        run.save(1, {}, {})


def test_secrets_stay_out_of_the_command(tmp_path):
    command = [
        "lff",
        "train",
        "--api-key",
        "s1",
        "--wandb-token=s2",
        "WANDB_API_KEY=s3",
        "--seed",
        "1",
    ]
    with RunDir(tmp_path).start(Config(), info={"command": command}) as run:
        pass
    assert run.info["command"] == [
        *("lff", "train", "--api-key", "***", "--wandb-token=***", "WANDB_API_KEY=***"),
        *("--seed", "1"),
    ]
    assert not any(secret in json.dumps(run.info) for secret in ("s1", "s2", "s3"))


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(StorageError, match="cannot create"),
        RunDir(tmp_path / "file" / "run").start(Config(), info=INFO),
    ):
        pass


def test_evaluations_are_plain_and_those_after_the_checkpoint_go(tmp_path):
    run = RunDir(tmp_path)
    with run.start(Config(), info=INFO):
        run.write_evaluation(10, {"returns": (1.0, float("nan")), "seeds": (3, 4)})
        run.save(10, {}, {})
        run.write_evaluation(20, {"returns": (2.0, np.float32(0.5))})
        (run.evaluations / "notes.json").write_text("{}")
    assert json.loads((run.evaluations / "000000010.json").read_text()) == {
        "env_step": 10,
        "returns": [1.0, None],
        "seeds": [3, 4],
    }
    with run.start(Config(), info=INFO):
        run.resume()
    assert sorted(p.name for p in run.evaluations.iterdir()) == ["000000010.json", "notes.json"]
