"""The notebook for students has its outputs, and runs again from its first step to its tenth."""

import itertools
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "examples" / "tour.ipynb"


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def words(cells):
    """What was printed or returned; pictures and chaos aside."""
    texts = [
        [o.get("text") or o.get("data", {}).get("text/plain") for o in c.outputs] for c in cells
    ]
    return [text for i, text in enumerate(texts, start=1) if i in (1, 3, 5, 7, 8)]


def test_every_step_was_executed_in_order():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    steps = [cell.source.splitlines()[0] for cell in notebook.cells if cell.cell_type == "markdown"]
    assert [step.split(".")[0] for step in steps[1:]] == [f"## {i}" for i in range(1, 11)]
    cells = code(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, 11))
    outputs = list(itertools.chain.from_iterable(cell.outputs for cell in cells))
    assert {output.output_type for output in outputs} <= {
        "stream",
        "execute_result",
        "display_data",
    }
    pictures = sum("image/png" in output.get("data", {}) for output in outputs)
    assert pictures == 5  # fit, kernel, spectrum, iteration, policy
    assert all(cell.outputs for cell in cells)


@pytest.mark.system
@pytest.mark.filterwarnings("ignore")
def test_the_tour_runs_again_and_says_the_same(tmp_path):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    before = words(code(notebook))
    settings = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=1200, kernel_name="python3", resources=settings).execute()
    assert words(code(notebook)) == before
