"""``lff explore`` as a user types it."""

import subprocess
import sys

from lff.report.explorer import explorer_page


def test_it_writes_one_page_and_replaces_it(cli, tmp_path):
    for _ in range(2):
        done = cli("explore")
        assert (done.code, done.out) == (0, "explore.html: open it in a browser\n")
    assert (tmp_path / "explore.html").read_text(encoding="utf-8") == explorer_page()
    assert [path.name for path in tmp_path.iterdir()] == ["explore.html"]


def test_a_file_of_another_kind_stays(cli, tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    done = cli("explore", "--out", "mine.txt")
    assert done.code == 2
    assert "use --force" in done.err
    assert done.err.count("\n") == 1
    assert mine.read_text() == "mine"
    assert cli("explore", "--out", "mine.txt", "--force").code == 0
    assert mine.read_text(encoding="utf-8") == explorer_page()


def test_it_starts_without_torch(tmp_path):
    code = (
        "import sys; from lff.cli.main import main; "
        "sys.argv = ['lff', 'explore']; main(); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
