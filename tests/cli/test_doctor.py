"""``lff doctor``: a table or JSON, and exit code 1 only if a needed thing failed."""

import json

NAMES = [
    "python",
    "packages",
    "torch",
    "compile",
    "cuda",
    "mujoco",
    "step",
    "rendering",
    "memory",
    "directory",
    "cache",
    "threads",
    "extras",
]


def test_report_and_exit_codes(cli, tmp_path):
    ended = cli("doctor", "--dir", tmp_path / "runs", "--json")
    assert ended.code == 0, ended.out
    checks = json.loads(ended.out)
    assert [check["name"] for check in checks] == NAMES
    for check in checks:
        assert check["status"] in ("ok", "warning")
        assert check["status"] == "ok" or check["remedy"]
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("")
    ended = cli("doctor", "--dir", tmp_path / "file" / "runs", "--env", "probe/action")
    assert ended.code == 1
    assert "failed" in ended.out
    assert "use another --dir" in " ".join(ended.out.split())
