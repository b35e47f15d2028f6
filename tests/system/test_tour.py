"""The notebook for students runs from its first step to its tenth."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "examples" / "tour.ipynb"


@pytest.mark.system
@pytest.mark.filterwarnings("ignore")
def test_the_tour_runs(tmp_path):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    steps = [cell.source.splitlines()[0] for cell in notebook.cells if cell.cell_type == "markdown"]
    assert [step.split(".")[0] for step in steps[1:]] == [f"## {i}" for i in range(1, 11)]
    settings = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=settings).execute()
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    assert len(outputs) == 10
    assert all(output.output_type != "error" for cell in outputs for output in cell)
