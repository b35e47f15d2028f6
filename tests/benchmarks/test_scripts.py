"""Every benchmark of training runs, briefly, and ends with one JSON object."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.programs import require

FOLDER = Path(__file__).parents[2] / "benchmarks"


def run(script, *arguments):
    command = [sys.executable, str(FOLDER / f"{script}.py"), "--rounds", "1", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_peers_take_turns():
    options = ("--sizes", "64", "--clock", "cpu", "--compile", "off", "--peers", "sb3")
    found = run("sac_peers", "--seconds", "0.1", *options)
    check_peers(found, {"sb3_64"}, ours="lff_64")
    assert found["threads"] == {"64": 1}


@pytest.mark.system
def test_peers_of_ppo_take_turns():
    options = ("--threads", "1", "--eager", "--peers", "sb3", "cleanrl")
    found = run("ppo_peers", "--seconds", "0.1", *options)
    check_peers(found, {"sb3", "cleanrl"})


def check_peers(found, names, *, ours="lff"):
    rates = found["steps_per_second"]
    assert found["ratios"].keys() == names == rates.keys() - {ours}
    for name, speed in found["ratios"].items():  # one round: its ratio is that of the rates
        assert speed == pytest.approx(rates[ours] / rates[name], rel=0.1)


def test_help_starts_about_as_fast_as_python():
    found = run("start_up", "--only", "help")
    assert found["ratios"].keys() == {"help"}
    assert 1 < found["ratios"]["help"] <= 15
    assert found["met"] == {"help": True}


def test_the_update_and_the_overhead_are_measured():
    found = run("sac_update", "--sizes", "16", "--steps", "200", "--eager", "--threads", "1")
    ratios = found["ratios"]
    share = ratios["gflops_16"] / ratios["peak_gflops_16"]
    assert 0 < share < 1
    assert 0 < ratios["check_share"] < 1
    assert ratios["overhead"] == pytest.approx(ratios["checkpoint_share"] + ratios["check_share"])


def test_the_cost_of_the_layer_in_a_host_is_measured():
    found = run("plugin_cost", "--hosts", "sb3", "--updates", "2")
    check_costs(found, {"sb3"})


@pytest.mark.system
def test_the_cost_of_the_layer_in_every_other_host_is_measured():
    hosts = ("sbx", "torchrl", "tianshou")
    check_costs(run("plugin_cost", "--updates", "2", "--hosts", *hosts), {*hosts})


def check_costs(found, hosts):
    assert found["ratios"].keys() == found["cpu"].keys() == hosts
    for host, ratio in found["cpu"].items():  # one round: its ratio is that of the times
        numbers = found["hosts"][host]["cpu"]
        assert ratio == pytest.approx(numbers["lff_ms"] / numbers["mlp_ms"], rel=0.05)
        assert found["met"][host] == (ratio <= found["goal"] == 1.25)


@pytest.mark.system
def test_two_runs_go_side_by_side():
    found = run("side_by_side", "--seconds", "0.1", "--eager")
    rates = found["steps_per_second"]
    expected = rates["together"] / rates["alone"]
    assert found["ratios"]["side_by_side"] == pytest.approx(expected, rel=0.1)


@pytest.mark.system
def test_launchers_are_measured():
    found = run("launchers", "--jobs", "4", "--steps", "50", "--launchers", "local")
    cost = found["launchers"]["local"]["per_job"] / found["interpreter"]
    assert found["ratios"]["job_local"] == pytest.approx(cost, rel=0.01)
    rates = found["jobs_per_hour"]
    assert found["ratios"]["two_workers"] == pytest.approx(rates["two"] / rates["one"], rel=0.01)


def test_seeds_together_are_measured():
    found = run("fqi", "--steps", "4", "--widths", "64", "--eager")
    assert found["ratios"].keys() == {"mlp_64", "lff_64"} == found["met"].keys()
    assert all(ratio > 1 for ratio in found["ratios"].values())


def test_kernels_are_measured():
    found = run("ntk", "--points", "16", "--width", "32", "--threads", "1")
    assert found["ratios"].keys() >= {"lff", "layer norm", "tied weights", "convolution"}
    assert found["ratios"]["lff"] > 1
    assert found["largest_difference"] < 1e-4
    assert found["memory"].keys() == {"ours", "ours, 256 points", "loop"}


def test_batches_of_images_are_measured():
    found = run("pixel_batches", "--capacity", "300", "--settings", "crop_100")
    assert found["ratios"].keys() == {"crop_100_batch", "crop_100_scaled"}
    assert found["ratios"]["crop_100_batch"] > 1
    assert found["memory"] == {"ours": 3.07, "peer": 18.0}


@pytest.mark.system
def test_learning_from_images_is_measured():
    found = run("pixel_peers", "--settings", "20", "--eager", "--parts", "step", "breakdown")
    assert found["ratios"].keys() == {"step_20"} == found["cpu"].keys()
    seconds, parts = found["seconds"], found["shares"]["step_20"]
    for who in ("ours", "rad"):  # a round has two steps; a reset may come between them
        assert seconds[f"step_20_{who}"] > 0
        assert parts[who].keys() == {"act", "environment", "store", "sample", "update"}
    assert found["shares"]["pass_20"].keys() >= {"embedding", "heads", "optimizer"}


def test_updates_from_images_are_measured():
    found = run("pixel_peers", "--settings", "20", "--eager", "--parts", "update", "memory")
    times = found["seconds"]
    cpu, *_ = found["cpu"]["update_20"]  # one round: its ratio is that of the times
    assert cpu == pytest.approx(times["update_20_rad"] / times["update_20_ours"], rel=0.05)
    assert found["peak_mib"]["20"].keys() == {"eager", "rad"}


@pytest.mark.system
def test_images_are_measured():
    found = run("rendering", "--sizes", "84", "--tasks", "cheetah-run")
    rates = found["frames_per_second"]["cheetah-run_84"]
    assert found["ratios"]["cheetah-run_84"] == pytest.approx(
        rates["fast"] / rates["faithful"], rel=0.01
    )
    assert found["met"] == {"cheetah-run_84": True}
    assert 0 < found["difference"]["cheetah-run_84"] < 10


@pytest.mark.system
def test_all_peers_take_turns_compiled():
    require("g++", package="g++")
    peers = ("sb3", "sbx", "cleanrl", "leanrl")
    options = ("--sizes", "256", "--threads", "1", "--peers", *peers)
    found = run("sac_peers", "--seconds", "0.1", *options)
    check_peers(found, {f"{peer}_256" for peer in peers}, ours="lff_256")
