from pathlib import Path

import pytest

from lff.core import BadInputError
from lff.stats import Published, read_published

TABLE = Path(__file__).parents[2] / "results/published.csv"
HEADER = "task,algorithm,env_steps,score,spread,seeds,source\n"


def test_the_committed_scores_are_facts_with_sources():
    scores = read_published(TABLE)
    assert len(scores) == 44
    assert scores[3] == Published(
        task="cheetah-run",
        algorithm="SAC pytorch_sac 2x1024",
        env_steps=100_000,
        score=213,
        spread=67,
        seeds=3,
        source="denisyarats/pytorch_sac@81c5b53 data/sac.csv",
    )
    by_eye = [s for s in scores if s.source.startswith("authors' poster by eye")]
    assert {(s.algorithm, s.spread) for s in by_eye} == {
        ("LFF paper LFF", None),
        ("LFF paper MLP", None),
    }
    assert {s.task for s in scores} > {"walker-run", "quadruped-walk", "HalfCheetah-v4"}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("walker-run,SAC,100,1,,3,", "line 2: source must be at least one item"),
        ("walker-run,SAC,0,1,,3,there", "env_steps must be a positive integer"),
        ("walker-run,SAC,100,nan,,3,there", "score must be a finite number"),
        ("walker-run,SAC,100,1,-2,3,there", "spread must be a finite number >= 0"),
        ("walker-run,SAC,many,1,,3,there", "seven fields.*line 2"),
        ("walker-run,SAC,100", "seven fields"),
        ("walker-run,SAC,9,1,,3,there\nwalker-run,SAC,9,2,,3,there", "given once"),
    ],
)
def test_a_bad_line_is_refused(tmp_path, line, says):
    path = tmp_path / "published.csv"
    path.write_text(f"{HEADER}{line}\n")
    with pytest.raises(BadInputError, match=says):
        read_published(path)


def test_another_table_is_refused(tmp_path):
    path = tmp_path / "published.csv"
    path.write_text("task,score\nwalker-run,1\n")
    with pytest.raises(BadInputError, match="its columns must be task, algorithm"):
        read_published(path)
