"""``lff card``: its numbers, their check by a rerun, and that a stranger cannot mark it up."""

import json
import re

import numpy as np
import pytest
from markdown_it import MarkdownIt
from PIL import Image

import lff
from lff.report.card import block, card_text, span
from lff.runs.read import read_run
from lff.stats.intervals import t_interval
from lff.store import read_rows
from lff.store.atomic import seal
from lff.store.run_dir import CONFIG_HASH

SHORT = {"steps": 160, "warmup_steps": 100, "eval_every": 80, "eval_episodes": 3, "log_every": 40}


@pytest.fixture
def run(tmp_path, cli, capsys):
    lff.train("gym/Pendulum-v1", dir="run", reference_episodes=2, **SHORT)
    capsys.readouterr()
    return tmp_path / "run"


def test_a_card_has_the_numbers_of_the_run_and_a_rerun_verifies_them(run, tmp_path, cli):
    assert cli("card", "run").out == "run-card.md: the card of run; its curve is run-card.png\n"
    card = tmp_path / "run-card.md"
    text = card.read_text()
    rows = [row for row in read_rows(run / "metrics.jsonl") if "eval/return" in row]
    returns = json.loads((run / "evaluations" / "000000160.json").read_text())["returns"]
    found = t_interval(returns)
    assert found.estimate == pytest.approx(np.mean(returns))
    assert f"**{found.estimate:.1f} [{found.low:.1f}, {found.high:.1f}]**, 3 episodes" in text
    curve = [f"{r['env_step']},{r['eval/return']!r},{r['eval/return_std']!r}" for r in rows]
    assert "```csv\nenv_step,return,std over episodes\n" + "\n".join(curve) + "\n```" in text
    assert re.search(r"^- random policy: -\d+\.\d, 2 episodes$", text, re.MULTILINE)
    assert "lff train sac --env gym/Pendulum-v1 --dir run --reference-episodes 2" in text
    shown = re.search(r"```json\n(.*?)```", text, re.DOTALL)[1]
    assert json.loads(shown) == read_run(run).config
    assert '\n  "algo.critic.trunk.hidden": [256, 256],\n' in shown
    audited = text.partition("## Audit")[2].partition("## Config")[0]
    assert re.search(r"^actor.* 0\.01 ", audited, re.MULTILINE)
    with Image.open(tmp_path / "run-card.png") as image:
        assert image.size[0] > 400

    again = cli("rerun", "run", "--dir", "again", "--card", "run-card.md")
    assert (again.code, again.err) == (0, "")
    assert again.out.endswith("byte for byte\nequal: run-card.md, byte for byte\n")

    line = next(line for line in text.splitlines() if line.startswith("- last evaluation"))
    card.write_text(text.replace(line, line.replace("**-", "**-1", 1)))
    again = cli("rerun", "run", "--dir", "again", "--card", "run-card.md")
    assert again.code == 1
    number = text.splitlines().index(line) + 1
    assert f"different: run-card.md, line {number}: b" in again.out


def test_what_is_there_is_kept_and_other_files_are_refused(run, tmp_path, cli):
    (tmp_path / "run-card.md").write_text("mine")
    assert cli("card", "run").code == 2
    assert (tmp_path / "run-card.md").read_text() == "mine"
    assert "a .md file" in cli("card", "run", "--out", "card.html").err
    assert cli("rerun", "run", "--dir", "new", "--card", "none.md").err == (
        "lff: card must be the card of a finished run, got 'none.md'; write it: lff card RUN\n"
    )
    assert not (tmp_path / "new").exists()


def test_a_strangers_run_cannot_mark_up_its_card(run, tmp_path):
    bad = "x`` ``` <script>alert(1)</script> [a](http://b) ![c](http://d)\n# e\x1b[31m | *f*"
    config = json.loads((run / "config.json").read_text())
    config["env"] = bad
    config["algo"]["type"] = f"````\n{bad}"
    (run / "config.json").write_text(json.dumps(config))
    info = json.loads((run / "run.json").read_text())
    info |= {"command": ["lff", bad], "versions": {bad: bad}}
    del info["sha256"], info[CONFIG_HASH]
    (run / "run.json").write_text(json.dumps(seal(info)))
    text = card_text(read_run(run, name=bad), audit=bad, figure="a b).png")
    assert "\x1b" not in text
    tokens = MarkdownIt("commonmark").parse(text)
    inner = [child for token in tokens for child in token.children or ()]
    assert not [
        t for t in (*tokens, *inner) if t.type in ("html_block", "html_inline", "link_open")
    ]
    (image,) = (t for t in inner if t.type == "image")
    assert image.attrs["src"] == "a%20b%29.png"
    titles = [t for t in tokens if t.type == "heading_open"]
    assert [t.tag for t in titles] == ["h1", "h2", "h2", "h2", "h2"]
    assert len([t for t in tokens if t.type == "fence"]) == 5


def test_spans_and_blocks_cannot_be_ended_from_inside():
    html = MarkdownIt("commonmark").render(
        f"{span('a``b`')}\n\n{block('x' * 3 + chr(10) + '````')}"
    )
    assert html == (
        '<p><code>a``b`</code></p>\n<pre><code class="language-text">xxx\n````\n</code></pre>\n'
    )
