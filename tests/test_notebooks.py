"""The notebooks in analyses/ run from top to bottom, quietly, with real figures, in the time a reader waits."""

import os
import time
from pathlib import Path
from typing import Any

import jupytext
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "analyses").glob("[0-9][0-9]_*.py"))
PLOTLY = "application/vnd.plotly.v1+json"
# seconds on an idle core; a loaded machine may take three times that
LONGEST = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the notebooks run; what one has stored, the next one finds."""
    return tmp_path_factory.mktemp("notebooks")


def outputs(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def executed(path: Path, folder: Path) -> Any:
    """The notebook with its outputs; a cell that fails raises."""
    notebook = jupytext.read(path)
    client = NotebookClient(
        notebook, timeout=3 * LONGEST, kernel_name="python3", resources={"metadata": {"path": folder}}
    )
    client.execute(env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"})
    return notebook


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path: Path, folder: Path) -> None:
    before = time.monotonic()
    found = outputs(executed(path, folder))
    assert time.monotonic() - before < 3 * LONGEST
    assert sum(PLOTLY in output.get("data", {}) for output in found) >= 2, "a notebook shows figures"
    said = "".join(output.text for output in found if output.output_type == "stream" and output.name == "stderr")
    assert "Warning" not in said
    assert "Traceback" not in said


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_a_percent_script_that_begins_with_a_title(path: Path) -> None:
    notebook = jupytext.read(path)
    assert notebook.metadata["kernelspec"]["name"] == "python3"
    assert notebook.cells[0].cell_type == "markdown"
    assert notebook.cells[0].source.startswith("# ")


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3


def test_the_warning_check_can_fail(folder: Path, tmp_path: Path) -> None:
    """A warning of a cell does come out as text on stderr, where the check looks for it."""
    (tmp_path / "00_warns.py").write_text("# %%\nimport warnings\nwarnings.warn('look')\n")
    (said,) = outputs(executed(tmp_path / "00_warns.py", folder))
    assert (said.output_type, said.name) == ("stream", "stderr")
    assert "UserWarning: look" in said.text
