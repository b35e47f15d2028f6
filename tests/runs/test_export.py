"""What export refuses; what it writes is tested in tests/cli/test_run_tools.py."""

import numpy as np
import pytest

import lff
from lff.core import BadInputError
from lff.core.errors import RunError
from lff.runs import export as exports
from lff.training import train
from tests.training.runs import small


def test_a_missing_extra_is_one_line(monkeypatch):
    monkeypatch.setattr(exports, "_NEEDED", ("json", "onnx_"))
    line = r"^export to \.onnx needs onnx_, which is not installed; "
    with pytest.raises(
        BadInputError, match=line + r"pip install 'learned-fourier-features\[export\]'$"
    ):
        exports.export(None, "onnx")


def test_a_file_that_acts_otherwise_is_not_handed_out(monkeypatch, tmp_path):
    train(small("probe/action", steps=101), directory=tmp_path / "run")
    policy = lff.load(tmp_path / "run")
    for error, good in ((9e-7, True), (2e-6, False), (np.nan, False)):
        monkeypatch.setattr(
            exports, "_pt2", lambda _, x, by=error: (b"file", policy.act(x).astype(float) + by)
        )
        if good:
            assert exports.export(policy, "pt2") == b"file"
        else:
            with pytest.raises(RunError, match=r"differs from the agent by .*; nothing written"):
                exports.export(policy, "pt2")
    with pytest.raises(BadInputError, match="format must be one of onnx, pt2"):
        exports.export(policy, "zip")
