"""The notebook with the paper's figures, run from start to end on a real server."""

import time
from pathlib import Path

import nbformat
import pytest
import swe_ci
from conftest import COUNTS, SPLIT
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "paper-figures.ipynb"


def ran(server: str, split: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """The number of its pictures, and what it says."""
    monkeypatch.setenv("SWE_CI_SERVER", server)
    monkeypatch.setenv("SWE_CI_SPLIT", split)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    outputs = [output for cell in cells for output in cell.outputs]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    said = [output.text for output in outputs if output.output_type == "stream"]
    return len(pictures), "".join(said)


def test_the_notebook_draws_every_figure(
    client: swe_ci.Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The style of code is measured after a run's end.
    for _ in range(120):
        if len(client.figure("style-wins", split=SPLIT)):
            break
        time.sleep(5)
    assert ran(address, SPLIT, monkeypatch) == (10, "")


def test_the_notebook_says_what_it_cannot_draw(
    bare_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It is the other server's.
    monkeypatch.delenv("SWE_CI_TOKEN", raising=False)
    pictures, said = ran(bare_address, COUNTS, monkeypatch)
    # The results of the paper are drawn anyway.
    assert pictures == 1
    without = ["the leaderboard", "rank-by-gamma", "zero-regression", "style-wins"]
    for what in [*without, "evoscore-gamma"]:
        assert f"Nothing to draw: the split {COUNTS} has no numbers for {what}.\n" in said


def test_the_notebook_is_kept_without_outputs() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code")
