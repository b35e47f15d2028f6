"""The native update in many combinations, under sanitizers, and on processors without AVX."""

import subprocess

import pytest

from lff.algos import SACConfig
from lff.native.build import FLAGS, SOURCES
from lff.native.shape import describe
from tests.native.cases import Case, check_distances, distances, draw_case, lff
from tests.native.test_update import LFF, REGULARIZED
from tests.system.programs import require

pytestmark = pytest.mark.system
SMALL = Case(
    SACConfig(actor=lff(20, dim=10), critic=lff(20, 16, dim=10), batch_size=24), obs=3, act=2
)
COMMON = [flag for flag in FLAGS if flag not in ("-O3", "-fPIC", "-shared")]


@pytest.fixture(scope="session")
def native_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("seed", range(20))
def test_a_combination_is_as_near_to_float64_as_eager(seed, monkeypatch, native_cache):
    require("g++", package="g++")
    monkeypatch.setenv("XDG_CACHE_HOME", str(native_cache))
    check_distances(distances(draw_case(seed)))


@pytest.mark.parametrize("case", [LFF, REGULARIZED], ids=["lff", "regularized"])
def test_avx2_is_as_near_to_float64_as_eager(case, monkeypatch, native_cache):
    monkeypatch.setenv("XDG_CACHE_HOME", str(native_cache))
    check_distances(distances(case, target="x86-64-v3"))


def run_driver(folder, case, name, *flags, compiler="g++", before=(), threads=2):
    """Build the update without Python, run it, and return all the numbers that it prints."""
    header = describe(case.build(), threads=threads).header()
    (folder / "shape.hpp").write_text(header)
    program = folder / f"{name}.out"  # a program named thread would be taken for the header
    places = [f"-I{SOURCES}", f"-I{folder}", str(SOURCES / "driver.cpp")]
    subprocess.run([compiler, *COMMON, *flags, *places, "-o", str(program)], check=True)
    done = subprocess.run([*before, str(program), "4"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split()]


@pytest.mark.parametrize(
    ("case", "kinds"),
    [
        (LFF, "address,undefined"),
        (REGULARIZED, "address,undefined"),
        (SMALL, "thread"),  # the larger ones compile for a minute
    ],
    ids=["lff", "regularized", "threads"],
)
def test_sanitizers_find_nothing(tmp_path, case, kinds):
    require("g++", package="g++")
    flags = (f"-fsanitize={kinds}", "-fno-sanitize-recover=all", "-g", "-O1", "-march=native")
    checked = run_driver(tmp_path, case, kinds.partition(",")[0], *flags)
    fast = run_driver(tmp_path, case, "fast", "-O3", "-march=native")
    assert checked == pytest.approx(fast, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("case", [LFF, REGULARIZED], ids=["lff", "regularized"])
def test_an_emulated_arm_and_plain_x86_agree_with_this_processor(tmp_path, case):
    emulator = require("qemu-aarch64", package="qemu-user")
    cross = require("aarch64-linux-gnu-g++", package="g++-aarch64-linux-gnu")
    here = run_driver(tmp_path, case, "here", "-O2", "-march=native")
    plain = run_driver(tmp_path, case, "plain", "-O2", "-march=x86-64")
    options = {"compiler": cross, "before": [emulator]}
    arm = run_driver(tmp_path, case, "arm", "-O2", "-static", **options)
    assert plain == pytest.approx(here, rel=1e-3, abs=1e-5)
    assert arm == pytest.approx(here, rel=1e-3, abs=1e-5)
