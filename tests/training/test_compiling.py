import os
from pathlib import Path

import pytest
import torch

from lff.core.errors import BadInputError, BadTypeError
from lff.native.build import cache_dir, find_compiler
from lff.training import train
from lff.training.compile import CACHE, INDUCTOR, compile_update, keep_cache
from tests.training.runs import small


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch, tmp_path):
    monkeypatch.delenv(CACHE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield
    os.environ.pop(CACHE, None)


def test_the_cache_is_the_users_unless_chosen(monkeypatch, tmp_path):
    assert cache_dir(INDUCTOR) == tmp_path / "cache" / "lff" / "inductor"
    assert keep_cache() == cache_dir(INDUCTOR)
    assert os.environ[CACHE] == str(cache_dir(INDUCTOR))
    assert cache_dir(INDUCTOR).is_dir()
    monkeypatch.setenv(CACHE, "elsewhere")
    assert keep_cache() == Path("elsewhere")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_dir(INDUCTOR) == Path.home() / ".cache" / "lff" / "inductor"


def test_a_cache_that_cannot_be_made_is_done_without(monkeypatch, tmp_path):
    (tmp_path / "cache").write_text("a file where a folder should be")
    keep_cache()
    assert CACHE not in os.environ


def test_without_a_compiler_the_remedy_is_told(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert find_compiler() is None
    with pytest.raises(BadInputError, match=r"no C\+\+ compiler.*--compile off"):
        compile_update(torch.sin)


def test_only_a_method_has_an_agent_of_its_own():
    with pytest.raises(BadTypeError, match=r"pass agent\.update"):
        compile_update(torch.sin)


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "", "cpu:0"])
def test_unknown_devices_are_refused(device):
    with pytest.raises(BadInputError, match="device"):
        small(device=device)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this is about machines without CUDA")
def test_a_device_that_is_not_there_is_refused_before_anything_is_written(tmp_path):
    config = small("probe/action", device="cuda")
    with pytest.raises(BadInputError, match="torch finds no CUDA"):
        train(config, directory=tmp_path / "run")
    assert not (tmp_path / "run").exists()
